import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { connect } from '../../../../src/client/index.js';
import { type Child, endAll, signalbox } from '../cli-process.js';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-rotation-'));
afterAll(() => {
  endAll();
  rmSync(folder, { recursive: true });
});

const keys = join(folder, 'keys');
const serve = (...more: readonly string[]): Child =>
  signalbox([
    'serve',
    ...['--listen', '127.0.0.1:0', '--access', 'open', '--no-runner'],
    ...['--store', `sqlite:${join(folder, 'store.sqlite')}`, ...more],
  ]);

async function stopped(server: Child): Promise<string> {
  server.process.kill('SIGTERM');
  await server.ended;
  return server.error();
}

/** Those that the files of the store contain. */
function inFiles(secrets: readonly string[]): string[] {
  const files = ['', '-wal', '-shm'].map((ending) => join(folder, `store.sqlite${ending}`));
  const bytes = files.map((file) => (existsSync(file) ? readFileSync(file, 'latin1') : '')).join('');
  return secrets.filter((secret) => bytes.includes(secret));
}

/** As an operator does it: each step is a start with another key file. */
test('encryption is turned on, a key is rotated, and the old one removed', async () => {
  const open = serve();
  const box = connect({ url: await open.origin() });
  (await box.variables.put('app/db', { items: { password: 'item-secret' } }))._unsafeUnwrap();
  const plain = Array.from({ length: 200 }, (_, at) => `plain-${at}-${'v'.repeat((at * 61) % 900)}-secret`);
  const stored = plain.map((password, at) => box.variables.put(`many/${at}`, { items: { password } }));
  for (const each of await Promise.all(stored)) each._unsafeUnwrap();
  expect(inFiles(plain)).toEqual(plain);
  open.process.kill('SIGKILL');
  await open.ended;
  expect(open.error()).toMatch(
    /^\{[^\n]*"level":"warn"[^\n]*"message":"Secrets are stored unencrypted[^\n]*--encryption-key-file[^\n]*\n$/,
  );

  await signalbox(['new-key', keys]).ended;
  const first = readFileSync(keys, 'utf8');
  const sealing = serve('--encryption-key-file', keys);
  await sealing.origin();
  expect(sealing.error()).toMatch(/"message":"Secrets in the store were encrypted with the first key","records":201/);
  expect(inFiles([...plain, 'item-secret'])).toEqual([]);
  await stopped(sealing);
  expect(inFiles([...plain, 'item-secret'])).toEqual([]);

  await signalbox(['new-key', keys]).ended;
  const [second = ''] = readFileSync(keys, 'utf8').split('\n');
  const rotating = serve('--encryption-key-file', keys);
  await rotating.origin();
  expect(await stopped(rotating)).toMatch(/were encrypted with the first key","records":201/);

  writeFileSync(keys, second);
  const rotated = serve('--encryption-key-file', keys);
  const { value } = (await connect({ url: await rotated.origin() }).variables.read('app/db'))._unsafeUnwrap();
  expect(value?.Items).toEqual({ password: 'item-secret' });
  expect(await stopped(rotated)).toBe('');

  writeFileSync(keys, first);
  const refused = serve('--encryption-key-file', keys);
  expect((await refused.ended).code).toBe(1);
  expect(refused.error()).toMatch(
    /1 notification configurations or variables \(such as variable app\/db in namespace default\)/,
  );
}, 240_000);
