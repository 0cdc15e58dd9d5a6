import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { ok, type ResultAsync } from 'neverthrow';
import { afterAll, describe, expect, test } from 'vitest';
import { checkpointsByCommits } from '../../../adapters/sqlite/checkpoints.js';
import { alongside } from '../../../adapters/sqlite/host-rows.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { type LogSyncs, pooledSyncs, syncsByCommits } from '../../../adapters/sqlite/log-syncs.js';
import type { SqliteHandle } from '../../../adapters/sqlite/sqlite-handle.js';
import { SqliteStore } from '../../../adapters/sqlite/sqlite-store.js';
import { storageOver } from '../../../adapters/storage-kit/index.js';
import { storageConformance } from '../../conformance/storage/index.js';
import { commit, look, never, store, things, valueFrom } from '../../conformance/storage/storage-subject.js';
import { fileOpener, scratchFolder } from './sqlite-files.js';

const folder = scratchFolder();
afterAll(() => folder.remove());
const openFile = fileOpener();

/** Never on the event loop. */
const always = { fewWrites: 0, fastSync: 0, longestInPool: 60_000 };
const turn = () => new Promise((resolve) => setImmediate(resolve));

let opened = 0;
async function storageWith(syncsOn: (handle: SqliteHandle, path: string) => LogSyncs) {
  const path = folder.path(`${opened++}.db`);
  await valueFrom(await sqliteStorage(path)).close();
  const handle = openFile(path, false);
  handle.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const file = { path, checkpoints: checkpointsByCommits(handle), syncs: syncsOn(handle, path), ownsHandle: true };
  const store = new SqliteStore(handle, file);
  const storage = storageOver(store, { schedule: setImmediate, busyMs: 1000 });
  return { storage, host: store.host, handle, path };
}

const syncsWithinCommits = (handle: SqliteHandle): boolean =>
  Object.values(handle.prepare('PRAGMA synchronous').get() as object)[0] === 2;

/** A disk that answers when it is told to. */
function slowDisk() {
  const asked: { readonly writes: number; readonly confirm: () => void; readonly fail: () => void }[] = [];
  const syncs: LogSyncs = {
    sync: (writes) =>
      new Promise((resolve, reject) => {
        asked.push({ writes, confirm: resolve, fail: () => reject(new Error('EIO: i/o error, fdatasync')) });
      }),
    end: syncsByCommits.end,
  };
  return { asked, syncs };
}

/** Confirms the sync that is asked for next: the first use of a table in a write prepares it. */
async function confirmNext({ asked }: ReturnType<typeof slowDisk>): Promise<void> {
  const before = asked.length;
  await expect.poll(() => asked.length).toBe(before + 1);
  asked[before]?.confirm();
}

/** What has been settled so far, in order. */
function settledOf(named: Readonly<Record<string, PromiseLike<unknown>>>): string[] {
  const settled: string[] = [];
  for (const [name, promise] of Object.entries(named)) void promise.then(() => settled.push(name));
  return settled;
}

describe('a commit that is not on the disk yet', () => {
  test('is acknowledged to nobody and shown to nobody', async () => {
    const disk = slowDisk();
    const { storage } = await storageWith(() => disk.syncs);
    const { index } = valueFrom(await storage.read((view) => ({ index: view.index })));
    const settled = settledOf({
      write: store(storage, { key: ['a'] }),
      change: storage.waitForChange([things], index, never).then(() => look(storage, (view) => view.index)),
    });
    await turn();
    await turn();
    const read = look(storage, (view) => view.list(things).length);
    settled.push(...settledOf({ read }));
    void read.then((count) => settled.push(`read ${count}`));
    await turn();
    await turn();
    expect(settled).toEqual([]);
    disk.asked[0]?.confirm();
    expect(await read).toBe(1);
    await turn();
    expect(settled.toSorted()).toEqual(['change', 'read 1', 'write']);
    await storage.close();
  });

  test('is followed by one commit for all writes that came meanwhile', async () => {
    const disk = slowDisk();
    const { storage } = await storageWith(() => disk.syncs);
    const first = store(storage, { key: ['a'] });
    await turn();
    const ran: string[] = [];
    const later = ['b', 'c', 'd'].map((name) =>
      commit(storage, (view) => {
        ran.push(name);
        view.put(things, { key: [name] });
      }),
    );
    await turn();
    await turn();
    expect(ran).toEqual([]);
    disk.asked[0]?.confirm();
    await first;
    await turn();
    expect(ran).toEqual(['b', 'c', 'd']);
    expect(disk.asked.map(({ writes }) => writes)).toEqual([1, 3]);
    disk.asked[1]?.confirm();
    expect((await Promise.all(later)).map(({ index }) => index)).toEqual([3, 4, 5]);
    await storage.close();
  });

  test('is waited for by close', async () => {
    const disk = slowDisk();
    const { storage } = await storageWith(() => disk.syncs);
    const settled = settledOf({ write: store(storage, { key: ['a'] }) });
    await turn();
    void storage.close().then(() => settled.push('closed'));
    await turn();
    await turn();
    expect(settled).toEqual([]);
    disk.asked[0]?.confirm();
    await turn();
    await turn();
    expect(settled).toEqual(['write', 'closed']);
  });

  test('that the disk does not confirm ends the store: nobody gets an answer from it any more', async () => {
    const disk = slowDisk();
    const { storage, path } = await storageWith(() => disk.syncs);
    const failure = {
      type: 'storage_failed',
      reason: 'io',
      message:
        'The disk did not confirm a write (EIO: i/o error, fdatasync): restart the process to read the actual state.',
    };
    const errorOf = async (call: ResultAsync<unknown, unknown>) => (await call)._unsafeUnwrapErr();
    const put = (name: string) => storage.write((view) => ok(view.put(things, { key: [name] })));
    const first = errorOf(put('a'));
    await turn();
    const meanwhile = [errorOf(put('b')), errorOf(storage.read((view) => view.list(things)))];
    const woken = storage.waitForChange([things], 5, never);
    await turn();
    disk.asked[0]?.fail();
    expect(await Promise.all([first, ...meanwhile])).toEqual([failure, failure, failure]);
    expect(await errorOf(put('c'))).toEqual(failure);
    expect(await errorOf(storage.read((view) => view.index))).toEqual(failure);
    expect(disk.asked).toHaveLength(1);
    await storage.close();
    await woken;
    // What was committed is there, as after a crash of the process; what came later is not.
    const again = valueFrom(await sqliteStorage(path));
    expect(await look(again, (view) => view.list(things).map(({ record }) => record.key))).toEqual([['a']]);
    await again.close();
  });

  test('is none when nothing was changed', async () => {
    const disk = slowDisk();
    const { storage } = await storageWith(() => disk.syncs);
    await Promise.all([commit(storage, (view) => view.list(things)), confirmNext(disk)]);
    await commit(storage, (view) => view.list(things));
    expect(disk.asked).toHaveLength(1);
    await storage.close();
  });

  test('may hold rows of the host alone', async () => {
    const disk = slowDisk();
    const { storage, host, handle } = await storageWith(() => disk.syncs);
    handle.exec('CREATE TABLE orders (id TEXT)');
    await Promise.all([commit(storage, (view) => view.list(things)), confirmNext(disk)]);
    const own = alongside(storage, host, (sql) => sql.run('INSERT INTO orders VALUES (?)', 'o-1'));
    const settled = settledOf({ write: commit(own, (view) => view.list(things)) });
    await turn();
    await turn();
    expect(settled).toEqual([]);
    disk.asked[1]?.confirm();
    await turn();
    expect(settled).toEqual(['write']);
    await storage.close();
  });
});

describe('syncs beside the event loop', () => {
  test('begin with the second commit; from then on commits do not wait for the disk', async () => {
    const { storage, handle } = await storageWith((opening, path) => pooledSyncs(opening, path, always));
    expect(syncsWithinCommits(handle)).toBe(true);
    for (let number = 0; number < 20; number += 1) await store(storage, { key: [number] });
    expect(syncsWithinCommits(handle)).toBe(false);
    expect(await look(storage, (view) => view.list(things).length)).toBe(20);
    await storage.close();
  });

  test('are made by the commits when the log cannot be opened', async () => {
    const { storage, handle } = await storageWith((opening) => pooledSyncs(opening, '/does/not/exist', always));
    await store(storage, { key: ['a'] });
    await store(storage, { key: ['b'] });
    expect(syncsWithinCommits(handle)).toBe(true);
    await storage.close();
  });

  test.each([
    ['beside it', always],
    ['on it', { ...always, fewWrites: 2, fastSync: 60_000 }],
  ])('fail with what the system says: %s', async (name, terms) => {
    const path = folder.path(`pipe ${name}`);
    execFileSync('mkfifo', [`${path}-wal`]);
    const said: string[] = [];
    const syncs = pooledSyncs(handleThatRecords(said), path, terms);
    expect(syncs.sync(1)).toBeUndefined();
    expect(said).toEqual(['PRAGMA synchronous = NORMAL']);
    await expect(syncs.sync(1)).rejects.toThrow('EINVAL');
    await syncs.end();
  });

  test('are made by the event loop while other work of the process keeps all threads of the pool', async () => {
    const { storage } = await storageWith((opening, path) =>
      pooledSyncs(opening, path, { ...always, longestInPool: 20 }),
    );
    await store(storage, { key: ['a'] });
    const pipe = folder.path('nobody writes');
    execFileSync('mkfifo', [pipe]);
    const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);
    const stuck = Array.from({ length: threads }, () => open(pipe));
    for (let number = 0; number < 3; number += 1) await store(storage, { key: [number] });
    expect(await look(storage, (view) => view.list(things).length)).toBe(4);
    // Opened for both, it waits for nobody and lets the readers go.
    const writer = openSync(pipe, 'r+');
    for (const reader of await Promise.all(stuck)) await reader.close();
    closeSync(writer);
    await store(storage, { key: ['z'] });
    await storage.close();
  });

  test('are made by the event loop for few writes on a fast disk', async () => {
    const path = folder.path('fast');
    writeFileSync(`${path}-wal`, '');
    const syncs = pooledSyncs(handleThatRecords([]), path, { ...always, fewWrites: 4, fastSync: 60_000 });
    expect(syncs.sync(1)).toBeUndefined();
    expect(syncs.sync(3)).toBeUndefined();
    const four = syncs.sync(4);
    expect(four).toBeInstanceOf(Promise);
    await four;
    await syncs.end();
  });
});

/** Each sync takes a turn or two of the event loop. */
const beside: LogSyncs = {
  sync: () =>
    turn()
      .then(turn)
      .then(() => undefined),
  end: syncsByCommits.end,
};

describe('a file whose commits are confirmed later', () => {
  storageConformance(test, { open: async () => (await storageWith(() => beside)).storage });
});

function handleThatRecords(said: string[]): SqliteHandle {
  const refuse = (): never => {
    throw new Error('nothing is asked here');
  };
  return { exec: (sql) => void said.push(sql), prepare: refuse, close: () => undefined };
}
