import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { sqliteStorage } from '../../adapters/sqlite/index.js';
import { connect } from '../../src/client/index.js';
import { variables } from '../../src/variables/variable.js';
import { endAll, signalbox } from '../adapters/cli/cli-process.js';
import { commit } from '../conformance/storage/storage-subject.js';

/*
 * A server is killed while it encrypts what a store holds in the clear, again and again. `SIGNALBOX_ENCRYPTION_KILLS=100` for more. When a
 * start comes to its end, everything is readable and the files do not contain the plain form of any secret.
 */
const kills = Number(process.env['SIGNALBOX_ENCRYPTION_KILLS'] ?? 4);
const count = 2000;

const folder = mkdtempSync(join(tmpdir(), 'signalbox-encryption-'));
afterAll(() => {
  endAll();
  rmSync(folder, { recursive: true, force: true });
});
const path = join(folder, 'store.sqlite');
const secretOf = (at: number): string => `plain-${at}-${'v'.repeat((at * 61) % 1500)}-secret`;

function leftInFiles(): number {
  const files = ['', '-wal', '-shm'].map((ending) => path + ending).filter((file) => existsSync(file));
  const bytes = files.map((file) => readFileSync(file, 'latin1')).join('');
  return Array.from({ length: count }, (_, at) => `plain-${at}-`).filter((secret) => bytes.includes(secret)).length;
}

const lastWrite = (): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.mtimeMs ?? 0;

async function fill(): Promise<void> {
  const storage = (await sqliteStorage(path))._unsafeUnwrap();
  for (let from = 0; from < count; from += 100) {
    await commit(storage, (view) => {
      for (let at = from; at < from + 100; at += 1) {
        const items = { plain: JSON.stringify({ password: secretOf(at) }) };
        const times = { CreateIndex: view.index, ModifyIndex: view.index, CreateTime: 1, ModifyTime: 1 };
        view.put(variables, { Namespace: 'default', Path: `app/${at}`, items, ...times, lock: null });
      }
    });
  }
  await storage.close();
}

it('a kill during the encryption leaves nothing half done for ever', async () => {
  await fill();
  const keys = join(folder, 'keys');
  await signalbox(['new-key', keys]).ended;
  const start = () =>
    signalbox([
      'serve',
      ...['--listen', '127.0.0.1:0', '--access', 'open', '--no-runner', '--encryption-key-file', keys],
      ...['--store', `sqlite:${path}`],
    ]);
  let during = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const server = start();
    const began = lastWrite();
    // The first change of the files shows that the encryption is under way; each kill comes a little later after it.
    await Promise.race([expect.poll(lastWrite, { interval: 2 }).not.toBe(began), server.origin().catch(() => '')]);
    await new Promise((resolve) => setTimeout(resolve, kill * 15));
    if (!/were encrypted/.test(server.error())) during += 1;
    server.process.kill('SIGKILL');
    await server.ended;
  }
  expect(during).toBeGreaterThan(0);
  const server = start();
  const box = connect({ url: await server.origin() });
  expect(leftInFiles()).toBe(0);
  for (const at of [0, 1, 999, count - 1]) {
    const { value } = (await box.variables.read(`app/${at}`))._unsafeUnwrap();
    expect(value?.Items).toEqual({ password: secretOf(at) });
  }
}, 240_000);
