import { execFileSync } from 'node:child_process';
import { existsSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { threadedCheckpoints } from '../../../adapters/sqlite/checkpoints.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { driverOf } from '../../../adapters/sqlite/sqlite-handle.js';
import type { Storage } from '../../../src/ports/storage.js';
import { look, store, things, valueFrom } from '../../conformance/storage/storage-subject.js';
import { fileOpener, scratchFolder } from './sqlite-files.js';

const folder = scratchFolder();
afterAll(() => folder.remove());
const openFile = fileOpener();

const page = 4096;
const pagesOf = (path: string): number => (existsSync(path) ? statSync(path).size / page : 0);
const passes = async (check: () => boolean): Promise<boolean> => {
  for (let tries = 0; tries < 500 && !check(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 20));
  return check();
};

/** Adds rows of about 100 pages in all, in one write. */
async function addPages(storage: Storage, number: number): Promise<void> {
  const rows = Array.from({ length: 10 }, (_, at) => ({ key: [number, at], rank: [-at], text: 'x'.repeat(10 * page) }));
  await store(storage, ...rows);
}

test('the log is copied into the file beside the event loop', async () => {
  const path = folder.path('copied.db');
  const storage = valueFrom(await sqliteStorage(path));
  for (let number = 0; number < 12; number += 1) await addPages(storage, number);
  // By far fewer pages than those after which a commit would copy them.
  expect(await passes(() => pagesOf(path) > 900)).toBe(true);
  await storage.close();
});

test('the log of a store that is always busy stays short', async () => {
  const path = folder.path('busy.db');
  const handle = openFile(path, false);
  handle.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT)',
  );
  const checkpoints = threadedCheckpoints({ handle, path, driver: driverOf(undefined) });
  const put = handle.prepare('INSERT OR REPLACE INTO t VALUES (?, ?)');
  for (let number = 0; number < 400; number += 1) {
    put.run(number % 20, 'x'.repeat(100 * page));
    checkpoints.wrote(100);
    if (number % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // The commits alone would have let it grow to 16,000 pages.
  expect(pagesOf(`${path}-wal`)).toBeLessThan(16_000);
  await checkpoints.end();
  handle.close();
});

test('a closed store is one file with everything in it', async () => {
  const path = folder.path('closed.db');
  const storage = valueFrom(await sqliteStorage(path));
  for (let number = 0; number < 15; number += 1) await addPages(storage, number);
  await storage.close();
  expect([existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([false, false]);
  const again = valueFrom(await sqliteStorage(path));
  expect(await look(again, (view) => view.list(things).length)).toBe(150);
  await again.close();
});

test('rows that were read stay known: a checkpoint is no commit of another process', async () => {
  const path = folder.path('version.db');
  await valueFrom(await sqliteStorage(path)).close();
  const handle = openFile(path, false);
  const version = (): unknown => handle.prepare('PRAGMA data_version').get();
  handle.exec('PRAGMA journal_mode = WAL');
  const checkpoints = threadedCheckpoints({ handle, path, driver: driverOf(undefined) });
  handle.exec(`CREATE TABLE t (c TEXT); INSERT INTO t VALUES ('${'x'.repeat(500 * page)}')`);
  const before = version();
  checkpoints.wrote(1000);
  expect(await passes(() => pagesOf(path) > 400)).toBe(true);
  expect(version()).toEqual(before);
  await checkpoints.end();
  handle.close();
});

test('commits copy the log where there can be no thread', async () => {
  const handle = openFile(folder.path('fallback.db'), false);
  const limit = (): unknown => Object.values(handle.prepare('PRAGMA wal_autocheckpoint').get() as object)[0];
  const checkpoints = threadedCheckpoints({
    handle,
    path: folder.path('nowhere/fallback.db'),
    driver: driverOf(undefined),
  });
  expect(limit()).toBe(16_000);
  checkpoints.wrote(1000);
  expect(await passes(() => limit() === 1000)).toBe(true);
  checkpoints.wrote(1000);
  await checkpoints.end();
  handle.close();
});

test('the thread keeps no process alive, and a process that closes its store last ends by itself', async () => {
  const program = folder.path('ends.mjs');
  await build({
    stdin: {
      contents: `
        import { ok } from 'neverthrow';
        import { sqliteStorage } from './adapters/sqlite/index.ts';
        import { things } from './test/conformance/storage/storage-subject.ts';
        const [, , file, closes] = process.argv;
        const storage = (await sqliteStorage(file))._unsafeUnwrap();
        for (let n = 0; n < 15; n += 1) {
          const text = 'x'.repeat(${100 * page});
          (await storage.write((view) => ok(view.put(things, { key: [n], rank: [n], text }))))._unsafeUnwrap();
        }
        if (closes) await storage.close();
        process.stdout.write('done');`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  symlinkSync(join(process.cwd(), 'node_modules'), folder.path('node_modules'));
  for (const closes of ['', 'closes']) {
    const file = folder.path(`ends${closes}.db`);
    const printed = execFileSync(process.execPath, [program, file, closes], { encoding: 'utf8', timeout: 20_000 });
    expect(printed).toBe('done');
  }
});
