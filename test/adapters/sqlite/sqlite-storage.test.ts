import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { afterAll, describe, expect, test } from 'vitest';
import { type SqliteHandle, type SqliteStatement, sqliteStorage } from '../../../adapters/sqlite/index.js';
import { sumOfDocument } from '../../../adapters/sqlite/sqlite-rows.js';
import type { Storage } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';
import {
  assertFailed,
  commit,
  errorOf,
  look,
  never,
  refuse,
  store,
  type Thing,
  things,
  valueFrom,
} from '../../conformance/storage/storage-subject.js';
import { patience } from '../../support/patience.js';
import { fileOpener, scratchFolder } from './sqlite-files.js';

const folder = scratchFolder();
afterAll(() => folder.remove());

const openFile = fileOpener();

let files = 0;
const newPath = () => folder.path(`${files++}.db`);
const open = async (path: string, options = {}) => valueFrom(await sqliteStorage(path, options));

/** A store as the first format kept it: two rows, one index. */
const firstFormat = `
  CREATE TABLE signalbox_store (id INTEGER PRIMARY KEY CHECK (id = 1), format INTEGER NOT NULL);
  CREATE TABLE signalbox_tables (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, changed_at INTEGER NOT NULL,
    definition TEXT NOT NULL, generation INTEGER NOT NULL);
  CREATE TABLE signalbox_indexes (id INTEGER PRIMARY KEY AUTOINCREMENT, table_id INTEGER NOT NULL, name TEXT NOT NULL,
    UNIQUE (table_id, name));
  CREATE TABLE signalbox_rows_1 (rid INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE, created INTEGER NOT NULL,
    modified INTEGER NOT NULL, entries TEXT NOT NULL, doc TEXT NOT NULL);
  CREATE TABLE signalbox_entries_1 (entry TEXT PRIMARY KEY, rid INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO signalbox_store VALUES (1, 1);
  INSERT INTO signalbox_tables VALUES (1, 'things', 4, 'abc', 1);
  INSERT INTO signalbox_indexes VALUES (1, 1, 'byRank');
  INSERT INTO signalbox_rows_1 VALUES (1, 'sa ', 2, 4, '{"1":"sz "}', '{"key":["a"],"rank":["z"]}');
  INSERT INTO signalbox_rows_1 VALUES (2, 'sb ', 3, 3, '{"1":"sy "}', '{"key":["b"],"rank":["y"]}');
  INSERT INTO signalbox_entries_1 VALUES ('sz  sa ', 1), ('sy  sb ', 2);`;

/** A file that holds some rows, closed. */
async function storedFile(): Promise<string> {
  const path = newPath();
  const storage = await open(path);
  await store(storage, ...Array.from({ length: 200 }, (_, i) => ({ key: [i], rank: [-i], text: 'x'.repeat(500) })));
  await storage.close();
  return path;
}

describe('files that are refused', () => {
  test('a newer format is too new, and the file stays as it is', async () => {
    const path = await storedFile();
    const raw = openFile(path, false);
    raw.exec('UPDATE signalbox_store SET format = 99');
    raw.close();
    const before = readFileSync(path);
    assertFailed(await sqliteStorage(path), 'too_new');
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('a folder, a device and a file in no folder: what is wrong and what to do', async () => {
    const parent = folder.path('');
    const cases = [
      [parent, `is a folder: name a file in it, such as ${join(parent, 'signalbox.db')}.`],
      ['/dev/null', '/dev/null is not a regular file: name a regular or a new file.'],
      [folder.path('none/x.db'), `The folder ${folder.path('none')} does not exist: create it, or name a file in`],
    ] as const;
    for (const [path, message] of cases) {
      const refused = await sqliteStorage(path);
      assertFailed(refused, 'io');
      expect(errorOf(refused)).toMatchObject({ message: expect.stringContaining(message) });
    }
  });

  test.each([
    ['a few letters', Buffer.from('hello')],
    ['a text', Buffer.from('no database at all\n'.repeat(1000))],
    ['zeros', Buffer.alloc(8192)],
    ['a header and nothing else', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(4080, 0xff)])],
  ])('%s: corrupt, and the file stays as it is', async (_, bytes) => {
    const path = newPath();
    writeFileSync(path, bytes);
    assertFailed(await sqliteStorage(path), 'corrupt');
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test('a file whose middle is damaged: corrupt, and it stays as it is', async () => {
    const path = await storedFile();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 8192);
    writeFileSync(path, bytes);
    assertFailed(await sqliteStorage(path), 'corrupt');
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test('a file that was cut off: corrupt, and it stays as it is', async () => {
    const path = await storedFile();
    const bytes = readFileSync(path).subarray(0, 20_000);
    writeFileSync(path, bytes);
    assertFailed(await sqliteStorage(path), 'corrupt');
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test('damage that the opening did not look for shows in the operation that meets it', async () => {
    const path = await storedFile();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 8192);
    writeFileSync(path, bytes);
    const storage = await open(path, { checkPages: false });
    assertFailed(await storage.read((view) => view.list(things).map((row) => row.record.key)), 'corrupt');
    await storage.close();
  });

  // Flipped bits leave pages, JSON and lengths as they are: only a checksum shows them.
  const damages: readonly (readonly [string, string])[] = [
    ['a document that is no JSON', "UPDATE signalbox_rows_1 SET doc = '{' WHERE rid = 7"],
    ['a letter of a document', "UPDATE signalbox_rows_1 SET doc = replace(doc, 'xxxx', 'xxyx') WHERE rid = 7"],
    ['an index of a row', 'UPDATE signalbox_rows_1 SET modified = modified - 1 WHERE rid = 7'],
  ];
  const damaged = async (change: string): Promise<string> => {
    const path = await storedFile();
    const raw = openFile(path, false);
    raw.exec(change);
    raw.close();
    return path;
  };

  test.each<readonly [string, string]>([
    ...damages,
    ['a key', "UPDATE signalbox_rows_1 SET place = 'n1' WHERE rid = 7"],
    ['an index entry', "UPDATE signalbox_entries_1 SET entry = entry || 'x' WHERE rid = 7"],
    ['a lost index entry', 'DELETE FROM signalbox_entries_1 WHERE rid = 7'],
    ['an index entry too many', "INSERT INTO signalbox_entries_1 VALUES ('n1 n1', 7)"],
    ['the index of a table', 'UPDATE signalbox_tables SET noted_at = 1'],
  ])('%s that is not what was written is found when the file is opened', async (_, change) => {
    assertFailed(await sqliteStorage(await damaged(change)), 'corrupt');
  });

  test.each(damages)(
    '%s that is not what was written is an error when it is read, not a wrong answer',
    async (_, change) => {
      const storage = await open(await damaged(change), { checkPages: false });
      assertFailed(await storage.read((view) => view.get(things, [6])), 'corrupt');
      assertFailed(await storage.read((view) => view.list(things).length), 'corrupt');
      assertFailed(await storage.write((view) => ok(view.get(things, [6]))), 'corrupt');
      expect(await look(storage, (view) => view.get(things, [7])?.record.key)).toEqual([7]);
      await storage.close();
    },
  );

  test('a file of the first format is brought up to date, with what it holds', async () => {
    const path = newPath();
    const raw = openFile(path, false);
    raw.exec(firstFormat);
    raw.close();
    const storage = await open(path);
    const found = await look(storage, (view) =>
      view.list(things, { index: 'byRank' }).map((row) => [row.record.key, row.createIndex, row.modifyIndex]),
    );
    expect(found).toEqual([
      [['b'], 3, 3],
      [['a'], 2, 4],
    ]);
    expect((await store(storage, { key: ['c'] })).index).toBe(5);
    await storage.close();
    await (await open(path)).close();
  });

  test('a database whose texts are UTF-16 would order keys wrongly', async () => {
    const path = newPath();
    const raw = openFile(path, false);
    raw.exec("PRAGMA encoding = 'UTF-16le'");
    raw.exec('CREATE TABLE t (a)');
    raw.close();
    expect(errorOf(await sqliteStorage(path)).message).toMatch(/UTF-16/);
  });

  test('a folder that is not there, and a folder in place of a file', async () => {
    assertFailed(await sqliteStorage(folder.path('nowhere/a.db')), 'io');
    mkdirSync(folder.path('folder.db'));
    expect((await sqliteStorage(folder.path('folder.db'))).isErr()).toBe(true);
  });

  test('a driver that this Node does not have', async () => {
    if (process.getBuiltinModule?.('node:sqlite') !== undefined) return;
    expect(errorOf(await sqliteStorage(newPath(), { driver: 'node:sqlite' })).message).toMatch(/Node 22/);
  });

  test('a file that a crash left with its rollback journal is recovered, not refused', async () => {
    const path = await storedFile();
    const raw = openFile(path, false);
    raw.exec('PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1');
    raw.exec("BEGIN; UPDATE signalbox_rows_1 SET doc = 'half'");
    const crashed = newPath();
    copyFileSync(path, crashed);
    copyFileSync(`${path}-journal`, `${crashed}-journal`);
    raw.exec('ROLLBACK');
    raw.close();
    const storage = await open(crashed);
    expect(await look(storage, (view) => view.list(things).map((row) => row.record.key[0]).length)).toBe(200);
    await storage.close();
  });

  test('a new file and those beside it are for their owner alone', async () => {
    const path = newPath();
    const storage = await open(path);
    await store(storage, { key: ['a'] });
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    await storage.close();
  });

  test('an empty file is a new store', async () => {
    const path = newPath();
    writeFileSync(path, '');
    const storage = await open(path);
    await store(storage, { key: ['a'] });
    await storage.close();
    expect(statSync(path).size).toBeGreaterThan(0);
  });
});

describe('a connection of the caller', () => {
  test('keeps its own tables, and stays open', async () => {
    const handle = openFile(newPath(), false);
    handle.exec('CREATE TABLE mine (a); INSERT INTO mine VALUES (1)');
    const storage = valueFrom(await sqliteStorage(handle));
    await store(storage, { key: ['a'] });
    await storage.close();
    expect(handle.prepare('SELECT count(*) AS n FROM mine').get()).toMatchObject({ n: 1 });
    handle.close();
  });

  test.each([
    ['full', 2],
    ['relaxed', 1],
  ] as const)('is set to the durability that was asked for: %s', async (durability, synchronous) => {
    const handle = openFile(newPath(), false);
    const storage = valueFrom(await sqliteStorage(handle, { durability }));
    expect(handle.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous });
    expect(handle.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    await storage.close();
    handle.close();
  });

  test('a transaction that the caller left open fails the write, and the next one succeeds', async () => {
    const handle = openFile(newPath(), false);
    const storage = valueFrom(await sqliteStorage(handle));
    handle.exec('BEGIN');
    assertFailed(await storage.write((view) => ok(view.put(things, { key: ['a'] }))), 'io');
    assertFailed(await storage.read((view) => view.index), 'io');
    handle.exec('ROLLBACK');
    await store(storage, { key: ['b'] });
    expect(await look(storage, (view) => view.list(things).length)).toBe(1);
    await storage.close();
    handle.close();
  });
});

describe('failures', () => {
  test('a full disk fails the write as full, and leaves what was there', async () => {
    const handle = openFile(newPath(), false);
    const storage = valueFrom(await sqliteStorage(handle));
    await store(storage, { key: ['a'], rank: [1] });
    const { page_count } = handle.prepare('PRAGMA page_count').get() as { page_count: number };
    handle.exec(`PRAGMA max_page_count = ${page_count + 2}`);
    const big = 'x'.repeat(100_000);
    const results = await Promise.all(
      [1, 2, 3].map((i) => storage.write((view) => ok(view.put(things, { key: [i], text: big })))),
    );
    for (const result of results) assertFailed(result, 'full');
    expect(await look(storage, (view) => view.list(things).map((row) => row.record.key))).toEqual([['a']]);
    handle.exec('PRAGMA max_page_count = 100000');
    const { index } = await store(storage, { key: ['b'], text: big });
    expect(await look(storage, (view) => [view.index, view.tableIndex(things)])).toEqual([index, index]);
    await storage.close();
    handle.close();
  });

  test('a full disk fails no read, also of a table that has never been written', async () => {
    const handle = openFile(newPath(), false);
    const storage = valueFrom(await sqliteStorage(handle));
    const { page_count } = handle.prepare('PRAGMA page_count').get() as { page_count: number };
    handle.exec(`PRAGMA max_page_count = ${page_count}`);
    expect(await look(storage, (view) => view.get(things, ['a']))).toBeUndefined();
    expect(await look(storage, (view) => view.list(things, { index: 'byRank' }))).toEqual([]);
    assertFailed(await storage.write((view) => ok(view.put(things, { key: ['a'] }))), 'full');
    await storage.close();
    handle.close();
  });

  test('a commit that fails fails all of its batch, and nothing of it is visible', async () => {
    const raw = openFile(newPath(), false);
    const failing = { commits: false, writing: false };
    const storage = valueFrom(await sqliteStorage(failingCommits(raw, failing)));
    const first = await store(storage, { key: ['a'] });
    failing.commits = true;
    const waiting = storage.waitForChange([things], first.index, never);
    const results = await Promise.all([
      storage.write((view) => ok(view.put(things, { key: ['b'] }))),
      storage.write(() => refuse('decided on what was never committed')),
      storage.write((view) => ok(view.list(things).length)),
    ]);
    failing.commits = false;
    for (const result of results) assertFailed(result, 'io');
    expect(await look(storage, (view) => [view.index, view.list(things).length])).toEqual([first.index, 1]);
    const later = await store(storage, { key: ['c'] });
    expect(later.index).toBe(first.index + 1);
    expect(await waiting).toBe(later.index);
    await storage.close();
    raw.close();
  });

  test('while another process writes, a write waits without blocking this one', async () => {
    const path = newPath();
    const storage = await open(path, { busyMs: patience });
    await store(storage, { key: ['a'] });
    const other = openFile(path, false);
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const writing = store(storage, { key: ['b'] });
    await expect.poll(() => turns, { interval: 1 }).toBeGreaterThan(3);
    expect(await look(storage, (view) => view.list(things).length)).toBe(1);
    other.exec('COMMIT');
    other.close();
    await writing;
    clearInterval(timer);
    expect(await look(storage, (view) => view.list(things).length)).toBe(2);
    await storage.close();
  });

  test('a lock that is never released fails the write as busy', async () => {
    const path = newPath();
    const storage = await open(path, { busyMs: 40 });
    await store(storage, { key: ['a'] });
    const other = openFile(path, false);
    other.exec('BEGIN IMMEDIATE');
    assertFailed(await storage.write((view) => ok(view.put(things, { key: ['b'] }))), 'busy');
    other.exec('COMMIT');
    other.close();
    await store(storage, { key: ['c'] });
    await storage.close();
  });

  test('a file that another process has locked as it makes it opens once the lock is gone', async () => {
    const path = newPath();
    const other = openFile(path, false);
    other.exec('BEGIN EXCLUSIVE; CREATE TABLE other (id)');
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const opening = open(path, { busyMs: patience });
    await expect.poll(() => turns, { interval: 1 }).toBeGreaterThan(3);
    other.exec('COMMIT');
    other.close();
    const storage = await opening;
    clearInterval(timer);
    await store(storage, { key: ['a'] });
    await storage.close();
  });

  test('a file that stays locked is refused as busy', async () => {
    const path = newPath();
    const other = openFile(path, false);
    other.exec('BEGIN EXCLUSIVE; CREATE TABLE other (id)');
    assertFailed(await sqliteStorage(path, { busyMs: 40 }), 'busy');
    other.exec('COMMIT');
    other.close();
    await (await open(path)).close();
  });
});

/** What another process does when it stores a document in place of the only row's. */
function rewritten(doc: string): string {
  return `UPDATE signalbox_rows_1 SET doc = '${doc}', doc_sum = ${sumOfDocument(doc, 2, 2)}`;
}

describe('snapshots', () => {
  test('a commit of another process between two accesses of a read is invisible: the read runs again', async () => {
    const path = newPath();
    const storage = await open(path);
    await store(storage, { key: ['a'], text: '0', rank: [0] });
    const other = openFile(path, false);
    let runs = 0;
    const seen = await look(storage, (view) => {
      runs++;
      const first = view.get(things, ['a']);
      // Another connection commits in the middle of the first run.
      if (runs === 1) other.exec(rewritten('{"key":["a"],"text":"1"}'));
      const second = view.get(things, ['a']);
      return [first?.record.text, second?.record.text, view.list(things)[0]?.record.text];
    });
    expect(seen).toEqual(['1', '1', '1']);
    expect(runs).toBe(2);
    // With the snapshot held from the start, the commit in the middle stays outside.
    const held = await look(storage, (view) => {
      const { index } = view;
      const first = view.get(things, ['a']);
      other.exec(rewritten('{"key":["a"],"text":"2"}'));
      return [index, first?.record.text, view.get(things, ['a'])?.record.text];
    });
    expect(held).toEqual([2, '1', '1']);
    other.close();
    await storage.close();
  });
});

describe('group commit', () => {
  test('writes that wait together share one commit', async () => {
    const raw = openFile(newPath(), false);
    const failing = { commits: false, writing: false };
    const counted = failingCommits(raw, failing);
    const storage = valueFrom(await sqliteStorage(counted));
    await store(storage, { key: ['first'] });
    const before = counted.commits();
    await Promise.all(Array.from({ length: 64 }, (_, i) => store(storage, { key: [i] })));
    expect(counted.commits() - before).toBeLessThan(8);
    await storage.close();
    raw.close();
  });
});

describe('tables that change between versions of a program', () => {
  const plain = table<Thing>('versioned', (thing) => thing.key);
  const ranked = table<Thing>('versioned', (thing) => thing.key, {
    byRank: { version: 1, key: (thing) => thing.rank },
  });
  const texted = table<Thing>('versioned', (thing) => thing.key, {
    byRank: { version: 2, key: (thing) => (thing.text === undefined ? undefined : [thing.text]) },
  });
  const order = (storage: Storage, of: typeof ranked) =>
    look(storage, (view) => view.list(of, { index: 'byRank' }).map((row) => row.record.key[0]));

  test('an index that is dropped and declared again is whole', async () => {
    const path = newPath();
    for (let round = 0; round < 3; round++) {
      const old = await open(path);
      await commit(old, (view) => view.put(ranked, { key: [`old ${round}`], rank: [-round] }));
      await old.close();
      const next = await open(path);
      await commit(next, (view) => {
        view.put(plain, { key: [`new ${round}`], rank: [-round, 'new'] });
        view.remove(plain, ['old 0']);
      });
      await next.close();
    }
    const storage = await open(path);
    expect(await order(storage, ranked)).toEqual(['old 2', 'new 2', 'old 1', 'new 1', 'new 0']);
    await storage.close();
  });

  const lazily = (of: typeof ranked, lazy: number): typeof ranked =>
    table<Thing>(
      'versioned',
      of.key,
      Object.fromEntries(Object.entries(of.indexes).map(([n, i]) => [n, { ...i, lazy }])),
    );

  test.each([
    ['whole indexes', ranked, texted],
    ['late rows', lazily(ranked, 3), lazily(texted, 4)],
    ['late rows in one of them', ranked, lazily(texted, 100)],
  ])('two processes with different definitions both see right lists: %s', async (_what, byRank, byText) => {
    const path = newPath();
    const [one, other] = [await open(path), await open(path)];
    for (let i = 0; i < 5; i++) {
      await commit(one, (view) => view.put(byRank, { key: [i], rank: [-i], text: `t${i}` }));
      await commit(other, (view) => view.put(byText, { key: [i + 100], rank: [-i - 100], text: `t${9 - i}` }));
    }
    expect(await order(one, byRank)).toEqual([104, 103, 102, 101, 100, 4, 3, 2, 1, 0]);
    expect(await order(other, byText)).toEqual([0, 1, 2, 3, 4, 104, 103, 102, 101, 100]);
    await commit(other, (view) => view.remove(byText, [3]));
    await commit(one, (view) => view.put(byRank, { key: [104], rank: [0.5], text: 'a' }));
    expect(await order(one, byRank)).toEqual([103, 102, 101, 100, 4, 2, 1, 0, 104]);
    expect(await order(other, byText)).toEqual([104, 0, 1, 2, 4, 103, 102, 101, 100]);
    await one.close();
    await other.close();
    // Opening checks every row and every entry.
    await (await open(path)).close();
  });

  test('an index is kept as it is until its version changes, whatever the text of its function', async () => {
    const path = newPath();
    const first = await open(path);
    await commit(first, (view) => view.put(ranked, { key: ['a'], rank: [1] }));
    await first.close();
    let computed = 0;
    const bundled = table<Thing>('versioned', (thing) => thing.key, {
      byRank: {
        version: 1,
        key: (thing) => {
          computed += 1;
          return thing.rank;
        },
      },
    });
    const second = await open(path);
    expect(await order(second, bundled)).toEqual(['a']);
    expect(computed).toBe(0);
    await second.close();
  });

  test('an index that nobody uses any more is dropped in the end', async () => {
    const path = newPath();
    const storage = await open(path, { durability: 'relaxed' });
    await commit(storage, (view) => view.put(ranked, { key: ['old'], rank: [1], text: 'z' }));
    const indexes = () => {
      const raw = openFile(path, true);
      const kept = raw.prepare('SELECT version FROM signalbox_indexes ORDER BY version').all();
      const behind = raw.prepare('SELECT count(*) AS n FROM signalbox_behind').get() as { n: number };
      raw.close();
      return [...(kept as { version: number }[]).map(({ version }) => version), behind.n];
    };
    for (let from = 0; from < 5200; from += 400) {
      await commit(storage, (view) => {
        for (let i = from; i < from + 400; i += 1) view.put(texted, { key: [i], rank: [-i], text: 'x' });
      });
      if (from === 0) expect(indexes()).toEqual([1, 2, 400]);
    }
    expect(indexes()).toEqual([2, 0]);
    const all = await order(storage, ranked);
    expect([all.length, all[0], all.at(-1)]).toEqual([5201, 5199, 'old']);
    await storage.close();
    await (await open(path, { checkPages: true })).close();
  });

  test('a definition that fails on a stored record fails its own write only', async () => {
    const storage = await open(newPath());
    await commit(storage, (view) => view.put(plain, { key: ['a'] }));
    const broken = table<Thing>('versioned', (thing) => thing.key, {
      byRank: { version: 1, key: (thing) => [(thing.rank as readonly string[])[0] as string] },
    });
    const [failing, fine] = await Promise.allSettled([
      (async () => storage.read((view) => view.list(broken)))(),
      commit(storage, (view) => view.put(plain, { key: ['b'] })),
    ]);
    expect(failing.status).toBe('rejected');
    expect(fine.status).toBe('fulfilled');
    expect(await look(storage, (view) => view.list(plain).length)).toBe(2);
    await storage.close();
  });
});

/** The connection, with commits of writes that can be made to fail as a broken disk makes them fail. */
function failingCommits(
  handle: SqliteHandle,
  failing: { commits: boolean; writing: boolean },
): SqliteHandle & { commits(): number } {
  let commits = 0;
  const watched = (sql: string, statement: SqliteStatement): SqliteStatement => ({
    get: (...values) => statement.get(...values),
    all: (...values) => statement.all(...values),
    run(...values) {
      if (sql === 'BEGIN IMMEDIATE') failing.writing = true;
      if (sql === 'COMMIT' && failing.writing) {
        failing.writing = false;
        commits++;
        if (failing.commits) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' });
      }
      return statement.run(...values);
    },
  });
  return {
    exec: (sql) => handle.exec(sql),
    prepare: (sql) => watched(sql, handle.prepare(sql)),
    close: () => handle.close(),
    commits: () => commits,
  };
}

describe('a batch that is rolled back', () => {
  const first = table<{ readonly id: string }>('first_of_two', ({ id }) => [id]);
  const second = table<{ readonly id: string }>('second_of_two', ({ id }) => [id]);

  test('takes back the tables that it made, whatever the order in which they are made again', async () => {
    const storage = await open(newPath());
    let runs = 0;
    const written = await storage.write((view) => {
      runs += 1;
      // The second run has changed something when it meets a table that is not there yet: all is rolled back and runs again.
      const order = runs <= 2 ? [first, second] : [second, first];
      for (const each of order) view.put(each, { id: each.name });
      return err('no');
    });
    expect(written._unsafeUnwrapErr()).toBe('no');
    expect(runs).toBeGreaterThan(2);
    await storage.write((view) => {
      for (const each of [second, first]) view.put(each, { id: each.name });
      return ok(undefined);
    });
    const stored = await storage.read((view) =>
      [first, second].map((each) => view.list(each).map((row) => row.record.id)),
    );
    expect(stored._unsafeUnwrap()).toEqual([['first_of_two'], ['second_of_two']]);
    await storage.close();
  });

  test('does so even when the file made other tables meanwhile', async () => {
    const path = newPath();
    const [one, two] = [await open(path), await open(path)];
    const refused = await one.write((view) => {
      view.put(first, { id: 'refused' });
      return err('no');
    });
    expect(refused.isErr()).toBe(true);
    await two.write((view) => ok(view.put(second, { id: 'theirs' })));
    await one.write((view) => ok(view.put(first, { id: 'ours' })));
    const stored = await one.read((view) => [first, second].map((each) => view.list(each).map((row) => row.record.id)));
    expect(stored._unsafeUnwrap()).toEqual([['ours'], ['theirs']]);
    await Promise.all([one.close(), two.close()]);
  });
});
