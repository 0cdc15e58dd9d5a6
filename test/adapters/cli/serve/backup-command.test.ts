import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../../../src/client/index.js';
import { endAll, signalbox } from '../cli-process.js';
import { typed } from '../typed-commands.js';

let folder: string;
let store: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-backup-'));
  store = join(folder, 'store.sqlite');
});
afterEach(() => {
  endAll();
  rmSync(folder, { recursive: true, force: true });
});

const serving = (path: string) =>
  signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open', '--no-runner', '--store', `sqlite:${path}`]);
const backup = (...words: readonly string[]) => typed('', {}, 'backup', '--store', `sqlite:${store}`, ...words);
const leftovers = () => readdirSync(folder).filter((name) => name.endsWith('.new') || name.endsWith('-journal'));

describe('signalbox backup', () => {
  it('copies the store of a running server, which the copy can be served from', async () => {
    const box = connect({ url: await serving(store).origin() });
    const put = (name: string) => box.namespaces.put(name);
    (await put('before'))._unsafeUnwrap();
    const file = join(folder, 'copy.sqlite');
    let writing = true;
    const writes = (async () => {
      for (let at = 0; writing; at += 1) (await put(`during-${at}`))._unsafeUnwrap();
    })();
    const printed = await backup(file);
    writing = false;
    await writes;
    expect(printed).toMatchObject({ code: 0, out: `${file} is written, ${statSync(file).size} bytes\n` });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(leftovers()).toEqual([]);
    (await put('after'))._unsafeUnwrap();

    const restored = connect({ url: await serving(file).origin() });
    const { value } = (await restored.namespaces.list())._unsafeUnwrap();
    const names = value.map(({ Name }) => Name);
    expect(names).toContain('before');
    expect(names).not.toContain('after');
    const during = names.filter((name) => name.startsWith('during-')).length;
    for (let at = 0; at < during; at += 1) expect(names).toContain(`during-${at}`);
  });

  it('copies the store of a server that was killed', async () => {
    const server = serving(store);
    const box = connect({ url: await server.origin() });
    (await box.namespaces.put('kept'))._unsafeUnwrap();
    server.process.kill('SIGKILL');
    await server.ended;
    const file = join(folder, 'copy.sqlite');
    expect((await backup(file)).code).toBe(0);
    const restored = connect({ url: await serving(file).origin() });
    const { value } = (await restored.namespaces.list())._unsafeUnwrap();
    expect(value.map(({ Name }) => Name)).toContain('kept');
  });

  it('replaces no file unless it is told to, and never the store', async () => {
    const server = serving(store);
    await server.origin();
    const file = join(folder, 'copy.sqlite');
    writeFileSync(file, 'earlier');
    expect(await backup(file)).toMatchObject({ code: 1, error: expect.stringContaining('exists already') });
    expect(readFileSync(file, 'utf8')).toBe('earlier');
    expect((await backup('-force', file)).code).toBe(0);
    expect(statSync(file).size).toBeGreaterThan(1000);
    const link = join(folder, 'link');
    symlinkSync(store, link);
    for (const own of [store, link, `${store}-wal`]) {
      expect(await backup('--force', own)).toMatchObject({
        code: 2,
        error: expect.stringContaining('the store itself'),
      });
    }
    expect((await backup('--force', folder)).error).toContain('is not a regular file');
    expect(leftovers()).toEqual([]);
  });

  it.each<[string, (file: string) => Promise<{ code: number; error: string }>, number, RegExp]>([
    ['no file', () => backup(), 2, /expected one FILE/],
    ['two files', (file) => backup(file, 'b'), 2, /expected one FILE/],
    ['an unknown option', (file) => backup('--what', file), 2, /--what/],
    ['a store that is not there', (file) => backup(file), 1, /there is no store at/],
    ['a store in memory', (file) => typed('', {}, 'backup', '--store', 'memory', file), 2, /store in memory/],
  ])('says what is wrong with %s', async (_name, run, code, message) => {
    const file = join(folder, 'copy.sqlite');
    expect(await run(file)).toMatchObject({ code, error: expect.stringMatching(message) });
    expect(existsSync(file)).toBe(false);
  });

  it('refuses a file that is no store, and leaves nothing behind', async () => {
    const file = join(folder, 'copy.sqlite');
    writeFileSync(store, 'not a database, but long enough to be read as one '.repeat(20));
    expect(await backup(file)).toMatchObject({ code: 1, error: expect.stringContaining('cannot be copied') });
    rmSync(store);
    // The driver that this Node has.
    const driver = "process.getBuiltinModule?.('node:sqlite')?.DatabaseSync ?? require('better-sqlite3')";
    const made = `new (${driver})(${JSON.stringify(store)}).exec('CREATE TABLE other (a)')`;
    execFileSync(process.execPath, ['-e', made]);
    expect(await backup(file)).toMatchObject({
      code: 1,
      error: expect.stringContaining('contains no Signalbox store'),
    });
    expect(await backup(join(folder, 'none/copy'))).toMatchObject({ error: expect.stringContaining('no folder') });
    expect(readdirSync(folder)).toEqual(['store.sqlite']);
  });
});
