import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseServeOptions } from '../../../../adapters/cli/serve/serve-options.js';
import { typed } from '../typed-commands.js';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const place = (store: string) =>
  parseServeOptions([], { environment: { SIGNALBOX_STORE: store }, file: null }).map(({ store: found }) => found.place);

describe('the setting store', () => {
  it.each([
    ['postgres://u@h/db', 'postgres://u@h/db', 'signalbox'],
    ['postgresql://u:pw@h:5433/db', 'postgresql://u:pw@h:5433/db', 'signalbox'],
    ['postgres://u@h/db?schema=team_a', 'postgres://u@h/db', 'team_a'],
    [
      'postgres://u@h/db?sslmode=verify-full&schema=b&sslrootcert=/ca.pem',
      'postgres://u@h/db?sslmode=verify-full&sslrootcert=%2Fca.pem',
      'b',
    ],
    ['postgres:///db?host=/run/postgresql', 'postgres:///db?host=/run/postgresql', 'signalbox'],
    ['postgres://[::1]:5432', 'postgres://[::1]:5432', 'signalbox'],
    ['postgres://u:a%23b%2Fc@h/db', 'postgres://u:a%23b%2Fc@h/db', 'signalbox'],
  ])('takes %s', (store, url, schema) => {
    expect(place(store)._unsafeUnwrap()).toEqual({ type: 'postgres', url, schema });
  });

  it.each([
    ['postgres:', /SIGNALBOX_STORE takes memory, sqlite:PATH or postgres:\/\/USER@HOST\/DATABASE/],
    ['mysql://u:secret@h/db', /takes memory/],
    ['postgres://u:secret@h:port/db', /takes memory/],
    ['postgres:/u:secret@h/db', /takes memory/],
    ['postgres://u:se#cret@h/db', /takes memory/],
    ['postgres://u:1/secret@h/db', /takes one host/],
    ['postgres://u:1#secret@h/db', /takes one host/],
    ['postgres://u:1?secret@h/db', /a parameter that is not known/],
    ['postgres://u:%E0secret@h/db', /takes one host/],
    ['postgres://u@h,i/db', /takes one host/],
    ['postgres://u@h/db?password=secret', /before the host/],
    ['postgres://h/db?user=u', /before the host/],
    ['postgres://u@h/db?target_session_attrs=any', /a parameter that is not known; known are schema, .*sslmode/],
    ['postgres://u@h/db?sslmode=verify_full', /takes as sslmode: disable, .*verify-full/],
    ['postgres://u@h/db?schema=', /takes as schema/],
    ['postgres://u@h/db?schema=pg_mine', /takes as schema/],
    [`postgres://u@h/db?schema=${'s'.repeat(64)}`, /takes as schema/],
  ])('refuses %s, and quotes no password', (store, message) => {
    const refused = place(store)._unsafeUnwrapErr();
    expect(refused).toMatch(message);
    expect(refused).not.toContain('secret');
  });

  it.each([
    ['--store', 'postgres://u:secret@h/db'],
    ['--store=postgres://u:secret@h/db'],
    ['--set', 'store=postgres://u:secret@h/db'],
  ])('takes no password from the command line: %s', (...args) => {
    const refused = parseServeOptions(args)._unsafeUnwrapErr();
    expect(refused).toMatch(/leave the password out of the URL, for PGPASSWORD .* or set the URL with SIGNALBOX_STORE/);
    expect(refused).not.toContain('secret');
    expect(parseServeOptions(['--store', 'postgres://u@h/db']).isOk()).toBe(true);
  });

  it('reads paths in the settings file relative to its folder', () => {
    const store = 'postgres://u@h/db?sslmode=verify-full&sslrootcert=ca.pem&sslkey=/own.key';
    const file = { path: '/etc/box/signalbox.json', content: { store, node: { directory: 'work' } } };
    const options = parseServeOptions([], { environment: {}, file })._unsafeUnwrap();
    const url = new URL((options.store.place as { url: string }).url);
    expect([url.searchParams.get('sslrootcert'), url.searchParams.get('sslkey')]).toEqual([
      '/etc/box/ca.pem',
      '/own.key',
    ]);
    expect(options.directory).toBe('/etc/box/work');
  });

  it.each([
    [[], null],
    [['--store', 'sqlite:x/y.db'], resolve('x/y.db-allocations')],
    [['--store', 'postgres://u@h/db'], resolve('signalbox-allocations')],
    [['--store', 'postgres://u@h/db', '--set', 'node.directory=/var/lib/box'], '/var/lib/box'],
    [['--store', 'sqlite:y.db', '--set', 'node.directory=z'], resolve('z')],
  ])('decides with %j where tasks are', (args, directory) => {
    expect(parseServeOptions(args)._unsafeUnwrap().directory).toBe(directory);
  });

  it('has a URL for notifications only with PostgreSQL', () => {
    const environment = { SIGNALBOX_STORE_LISTEN_URL: 'postgres://u:secret@direct/db' };
    const parsed = (store: string) => parseServeOptions(['--store', store], { environment, file: null });
    expect(parsed('postgres://u@pooler/db')._unsafeUnwrap().store.listenUrl).toBe('postgres://u:secret@direct/db');
    expect(parsed('sqlite:x')._unsafeUnwrapErr()).toMatch(
      /storeListenUrl \(SIGNALBOX_STORE_LISTEN_URL\) has no effect/,
    );
    const schema = {
      SIGNALBOX_STORE: 'postgres://u@h/db',
      SIGNALBOX_STORE_LISTEN_URL: 'postgres://u:secret@h/db?schema=a',
    };
    expect(parseServeOptions([], { environment: schema, file: null })._unsafeUnwrapErr()).toMatch(/takes no schema/);
  });

  it('is printed without its password', async () => {
    const environment = {
      SIGNALBOX_STORE: 'postgres://u:s3cret@h/db?schema=a',
      SIGNALBOX_STORE_LISTEN_URL: 'postgres://u:s3cret@direct/db',
    };
    const file = join(folder, 'box.json');
    writeFileSync(file, JSON.stringify({ store: environment.SIGNALBOX_STORE }));
    const printed = [
      await typed('', { environment }, 'config'),
      await typed('', { environment }, 'config', '--json'),
      await typed('', {}, 'config', '--config', file),
    ];
    for (const { code, out, error } of printed) {
      expect(code).toBe(0);
      expect(out).toContain('postgres://u:[hidden]@h/db?schema=a');
      expect(out + error).not.toContain('s3cret');
    }
    expect(JSON.parse(printed[1]?.out ?? '')).toMatchObject({ storeListenUrl: { value: '[hidden]' } });
  });
});

describe('commands that read a store', () => {
  const nobody = 'postgres://u:s3cret@127.0.0.1:1/db';
  it.each([
    ['export', 1, /the store cannot be opened: .*ECONNREFUSED/],
    ['serve', 1, /the store cannot be opened: The database server has not answered for 0.05 s: .*ECONNREFUSED/],
  ])('%s says that the server cannot be reached, and not with which password', async (command, code, message) => {
    const environment = { SIGNALBOX_STORE: nobody, SIGNALBOX_STORE_TIMEOUT: '50ms' };
    const printed = await typed('', { environment }, command);
    expect(printed).toMatchObject({ code, error: expect.stringMatching(message) });
    expect(printed.out + printed.error).not.toContain('s3cret');
  });

  it('serve says which file of the URL cannot be read', async () => {
    const environment = { SIGNALBOX_STORE: `${nobody}?sslmode=verify-full&sslrootcert=/none/ca.pem` };
    const printed = await typed('', { environment }, 'serve', '--listen', '127.0.0.1:0');
    expect(printed.error).toMatch(/the store cannot be opened: .*\/none\/ca\.pem/);
    expect(printed.error).not.toContain('s3cret');
  });
});
