import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Client, connect } from '../../../src/client/index.js';
import { patience } from '../../support/patience.js';
import { type Child, endAll, signalbox, temporaryFolder } from '../cli/cli-process.js';
import { typed } from '../cli/typed-commands.js';
import { type PostgresServer, postgresServer } from './postgres-server.js';

/* The command line on a database. */

const url = inject('postgres');
afterEach(endAll);

const newSchema = (): string => `s${randomUUID().replaceAll('-', '')}`;
const storeAt = (schema: string, at = url): string => `${at}?schema=${schema}`;

function serving(
  store: string,
  options: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Child {
  const own = ['serve', '--listen', '127.0.0.1:0', '--access', 'open', '--store', store];
  return signalbox([...own, ...options], environment);
}

async function boxOf(child: Child): Promise<Client> {
  return connect({ url: await child.origin() });
}

/** Ends with what it has printed. */
async function ended(child: Child): Promise<{ code: number | null; out: string; error: string }> {
  const { code } = await child.ended;
  return { code, out: child.out(), error: child.error() };
}

const namespaces = async (box: Client): Promise<readonly string[]> =>
  (await box.namespaces.list())._unsafeUnwrap().value.map(({ Name }) => Name);

describe('signalbox serve', () => {
  test('keeps what it has accepted, and shows it to every server on the schema', async () => {
    const store = storeAt(newSchema());
    const one = serving(store, ['--no-runner']);
    const first = await boxOf(one);
    const second = await boxOf(serving(store, ['--no-runner']));
    (await first.namespaces.put('a'))._unsafeUnwrap();
    expect(await namespaces(second)).toEqual(['a', 'default']);
    one.process.kill('SIGKILL');
    await one.ended;
    (await second.namespaces.put('b'))._unsafeUnwrap();
    expect(await namespaces(await boxOf(serving(store, ['--no-runner'])))).toEqual(['a', 'b', 'default']);
    // Another schema is another store.
    expect(await namespaces(await boxOf(serving(storeAt(newSchema()), ['--no-runner'])))).toEqual(['default']);
    expect(one.error()).toContain('Secrets are stored unencrypted');
    expect(one.error()).not.toContain('in memory');
  });

  test('finds its tasks again in the directory of its node', async () => {
    const store = storeAt(newSchema());
    const directory = join(temporaryFolder(), 'work');
    const options = ['--set', `node.directory=${directory}`];
    const one = serving(store, options);
    const first = await boxOf(one);
    const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/sleep', args: ['300'] } };
    const job = { ID: 'long', Type: 'service', TaskGroups: [{ Name: 'g', Tasks: [task] }] } as const;
    (await first.jobs.register(job))._unsafeUnwrap();
    const running = async (box: Client) =>
      (await box.jobs.allocations('long'))._unsafeUnwrap().value.map(({ ID, ClientStatus }) => [ID, ClientStatus]);
    await expect.poll(() => running(first)).toEqual([[expect.any(String), 'running']]);
    const before = await running(first);
    one.process.kill('SIGKILL');
    await one.ended;
    const second = await boxOf(serving(store, options));
    const stats = async () => (await second.allocations.stats(String(before[0]?.[0]))).isOk();
    await expect.poll(stats, { timeout: patience }).toBe(true);
    expect(await running(second)).toEqual(before);
    expect(existsSync(directory)).toBe(true);
  });

  test('says what to install when the driver is missing', async () => {
    const folder = temporaryFolder();
    const hook = `export const resolve = (name, context, next) => { if (name === "pg") throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" }); return next(name, context); }`;
    const loader = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;
    writeFileSync(join(folder, 'without-pg.mjs'), loader);
    const child = serving(storeAt(newSchema()), [], { NODE_OPTIONS: `--import ${join(folder, 'without-pg.mjs')}` });
    expect(await ended(child)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/the store cannot be opened: .*npm install pg/),
    });
  });

  test.each([
    ['a database that is not there', (at: URL) => (at.pathname = '/none'), /database "none" does not exist/],
    ['a role that is not there', (at: URL) => (at.username = 'nobody'), /role "nobody" does not exist/],
  ])('does not start with %s', async (_name, change, message) => {
    const at = new URL(storeAt(newSchema()));
    change(at);
    const printed = await typed('', {}, 'serve', '--listen', '127.0.0.1:0', '--store', at.href);
    expect(printed).toMatchObject({ code: 1, error: expect.stringMatching(message) });
  });
});

describe('commands that read the store', () => {
  test('export writes what is there', async () => {
    const store = storeAt(newSchema());
    const box = await boxOf(serving(store, ['--no-runner']));
    (await box.namespaces.put('exported'))._unsafeUnwrap();
    const file = join(temporaryFolder(), 'out.jsonl');
    expect(await typed('', {}, 'export', '--store', store, '--out', file)).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toContain('exported');
  });

  test('export creates no store where there is none', async () => {
    const schema = newSchema();
    expect(await typed('', {}, 'export', '--store', storeAt(schema))).toMatchObject({
      code: 1,
      error: expect.stringContaining(`there is no store in the schema ${schema}`),
    });
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const { rows } = await admin.query('SELECT to_regnamespace($1) AS found', [schema]);
    await admin.end();
    expect(rows).toEqual([{ found: null }]);
  });

  test('backup names the tool of the database, and no password', async () => {
    const schema = newSchema();
    await boxOf(serving(storeAt(schema), ['--no-runner']));
    const at = new URL(storeAt(schema));
    at.password = 's3cret';
    const refused = await typed('', { environment: { SIGNALBOX_STORE: at.href } }, 'backup', 'copy');
    expect(refused).toMatchObject({
      code: 2,
      error: expect.stringContaining(`pg_dump --format=custom --schema='"${schema}"'`),
    });
    expect(refused.error).not.toContain('s3cret');
  });
});

describe('TLS and passwords', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-tls-'));
  const golden = join(import.meta.dirname, '../../golden/tls');
  const authority = encodeURIComponent(join(golden, 'authority.pem'));
  let server: PostgresServer;
  let admin: pg.Client;
  beforeAll(async () => {
    chmodSync(folder, 0o755);
    present('trusted');
    const tls = ['-c ssl=on', `-c ssl_cert_file=${folder}/server.pem`, `-c ssl_key_file=${folder}/server-key.pem`];
    server = await postgresServer(['-c fsync=off', ...tls]);
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query("CREATE ROLE box LOGIN PASSWORD 'right-pass%word' IN ROLE pg_monitor");
    await admin.query('GRANT CREATE ON DATABASE postgres TO box');
  });
  afterAll(async () => {
    await admin.end();
    server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The certificate that the server shows from now on. */
  function present(name: string): void {
    for (const [from, to] of [
      [`${name}.pem`, 'server.pem'],
      [`${name}-key.pem`, 'server-key.pem'],
    ] as const) {
      const path = join(folder, to);
      copyFileSync(join(golden, from), path);
      chmodSync(path, 0o600);
      if (process.getuid?.() === 0) chownSync(path, 65_534, 65_534);
    }
  }

  const exporting = async (parameters: string, at: string): Promise<string> =>
    (await typed('', { environment: { SIGNALBOX_STORE: `${at}?schema=none&${parameters}` } }, 'export')).error;
  // The store is looked for, so the server was reached.
  const reached = /there is no store in the schema none/;

  test.each([
    ['trusted', `sslmode=verify-full&sslrootcert=${authority}`, reached],
    ['trusted', 'sslmode=verify-full', /the store cannot be opened: .*certificate/],
    ['self-signed', `sslmode=verify-full&sslrootcert=${authority}`, /the store cannot be opened: .*certificate/],
    [
      'expired',
      `sslmode=verify-full&sslrootcert=${authority}`,
      /the store cannot be opened: .*certificate has expired/,
    ],
    ['wrong-host', `sslmode=verify-full&sslrootcert=${authority}`, /the store cannot be opened: .*altnames/],
    ['self-signed', 'sslmode=require', /the store cannot be opened: .*certificate/],
    ['self-signed', 'sslmode=no-verify', reached],
    ['self-signed', 'sslmode=disable', reached],
  ])('a certificate that is %s, with %s', async (certificate, parameters, message) => {
    present(certificate);
    await admin.query('SELECT pg_reload_conf()');
    await expect.poll(() => exporting(parameters, server.url)).toMatch(message);
  });

  test('a server without TLS is refused at once where TLS is asked for', async () => {
    const options = ['--store', `${url}?sslmode=verify-full`, '--set', 'storeTimeout=10m'];
    expect(await typed('', {}, 'serve', '--listen', '127.0.0.1:0', ...options)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/the store cannot be opened: .*does not support SSL/),
    });
  });

  test('the password comes from the environment or a file, and is not printed when it is wrong', async () => {
    const rules = await admin.query('SHOW hba_file');
    const path = rules.rows[0].hba_file as string;
    writeFileSync(path, `host all box 127.0.0.1/32 scram-sha-256\n${readFileSync(path, 'utf8')}`);
    await admin.query('SELECT pg_reload_conf()');
    const at = (password: string) => `postgres://box${password}@127.0.0.1:${server.port}/postgres`;
    const pass = join(temporaryFolder(), 'pgpass');
    writeFileSync(pass, `127.0.0.1:${server.port}:*:box:right-pass%word\n`, { mode: 0o600 });
    const printed = async (password: string, environment: Readonly<Record<string, string>> = {}) =>
      (await ended(signalbox(['export'], { SIGNALBOX_STORE: `${at(password)}?schema=none`, ...environment }))).error;
    await expect.poll(() => exporting('', at(''))).toMatch(/the server asks for a password, and none is given/);
    expect(await exporting('', at(':right-pass%25word'))).toMatch(reached);
    expect(await printed('', { PGPASSWORD: 'right-pass%word' })).toMatch(reached);
    expect(await printed('', { PGPASSFILE: pass })).toMatch(reached);
    const wrong = await exporting('', at(':wrong-password'));
    expect(wrong).toMatch(/has refused access \(28P01\)/);
    expect(wrong).not.toContain('wrong-password');
  });
});
