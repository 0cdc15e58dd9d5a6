import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { loadDriver, type SqliteHandle } from '../../../adapters/sqlite/sqlite-handle.js';
import { sqliteStorage } from '../../../adapters/sqlite/sqlite-storage.js';
import type { Storage } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';
import { compareRates, type Measured, type Slice, sampleDocument } from './store-slices.js';

type Document = ReturnType<typeof sampleDocument>;

const documents = table<Document>('documents', (document) => [document.Namespace, document.ID], {
  byTime: { version: 1, key: (document) => [document.SubmitTime] },
});

/** Small rows for lists: what a page of a hundred entries costs. */
interface Stub {
  readonly id: string;
  readonly status: string;
  readonly at: number;
}

const stubs = table<Stub>('stubs', (stub) => [stub.id], { byAt: { version: 1, key: (stub) => [stub.at] } });

const ROWS = 10_000;

/**
 * The SQLite storage against the bare driver on the same disk: durable single writes, 64 writers at once against bulk
 * transactions, point reads with parsing and pages of a hundred rows.
 */
export async function run(): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  const driver = await loadDriver(undefined);
  if (typeof driver !== 'function') throw new Error(driver.message);
  const storage = (await sqliteStorage(join(folder, 'ours.db')))._unsafeUnwrap();
  const raw = rawStore(driver(join(folder, 'raw.db'), false));
  try {
    const measured = [
      await compareRates('store.sqlite.write1', writers(storage, 1), raw.single, { min: 0.85 }),
      await compareRates('store.sqlite.write64', writers(storage, 64), raw.bulk, { min: 0.45 }),
    ];
    await fill(storage);
    raw.fill();
    measured.push(
      await compareRates('store.sqlite.read', reads(storage), raw.reads, { min: 0.7 }, { clock: 'cpu' }),
      await compareRates('store.sqlite.list100', lists(storage), raw.lists, { min: 0.6 }, { clock: 'cpu' }),
    );
    return measured;
  } finally {
    await storage.close();
    raw.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

let serial = 0;

/** Random-looking keys, as identifiers are: they land all over the key tree. */
function nextId(): string {
  serial++;
  return `${((serial * 2_654_435_761) % 4_294_967_296).toString(36)}-${serial}`;
}

function writers(storage: Storage, count: number): Slice {
  return async (milliseconds) => {
    const end = performance.now() + milliseconds;
    let done = 0;
    const write = async () => {
      while (performance.now() < end) {
        const document = sampleDocument(nextId(), serial);
        (await storage.write((view) => ok(view.put(documents, document))))._unsafeUnwrap();
        done++;
      }
    };
    await Promise.all(Array.from({ length: count }, write));
    return done;
  };
}

async function fill(storage: Storage): Promise<void> {
  for (let from = 0; from < ROWS; from += 500) {
    const filled = await storage.write((view) => {
      for (let i = from; i < from + 500; i++) {
        view.put(documents, sampleDocument(`job-${i}`, i));
        view.put(stubs, stub(i));
      }
      return ok(null);
    });
    filled._unsafeUnwrap();
  }
}

function stub(i: number): Stub {
  return { id: `job-${i}`, status: 'running', at: (i * 7919) % ROWS };
}

function reads(storage: Storage): Slice {
  let next = 0;
  return async (milliseconds) => {
    const end = performance.now() + milliseconds;
    let done = 0;
    while (performance.now() < end) {
      next = (next + 7919) % ROWS;
      const key = ['default', `job-${next}`];
      const read = await storage.read((view) => view.get(documents, key)?.record.Priority);
      if (read._unsafeUnwrap() !== 50) throw new Error('the row is missing');
      done++;
    }
    return done;
  };
}

function lists(storage: Storage): Slice {
  let next = 0;
  return async (milliseconds) => {
    const end = performance.now() + milliseconds;
    let done = 0;
    while (performance.now() < end) {
      next = (next + 7919) % (ROWS - 100);
      const from = [next];
      const page = await storage.read((view) => view.list(stubs, { index: 'byAt', from, limit: 100 }));
      if (page._unsafeUnwrap().length !== 100) throw new Error('rows are missing');
      done++;
    }
    return done;
  };
}

/** What a careful program would do with the driver and no storage in between. */
function rawStore(handle: SqliteHandle) {
  handle.exec('PRAGMA journal_mode = WAL');
  handle.exec('PRAGMA synchronous = FULL');
  handle.exec(`CREATE TABLE docs (rid INTEGER PRIMARY KEY, ns TEXT, id TEXT, at INTEGER, made INTEGER, changed INTEGER, doc TEXT, UNIQUE (ns, id));
    CREATE INDEX docs_at ON docs (at);
    CREATE TABLE stubs (rid INTEGER PRIMARY KEY, id TEXT UNIQUE, at INTEGER, made INTEGER, changed INTEGER, doc TEXT);
    CREATE INDEX stubs_at ON stubs (at)`);
  const insert = handle.prepare('INSERT INTO docs (ns, id, at, made, changed, doc) VALUES (?, ?, ?, 1, 1, ?)');
  const insertStub = handle.prepare('INSERT INTO stubs (id, at, made, changed, doc) VALUES (?, ?, 1, 1, ?)');
  const get = handle.prepare('SELECT made, changed, doc FROM docs WHERE ns = ? AND id = ?');
  const page = handle.prepare('SELECT made, changed, doc FROM stubs WHERE at >= ? ORDER BY at LIMIT 100');
  const begin = handle.prepare('BEGIN IMMEDIATE');
  const commit = handle.prepare('COMMIT');
  const put = (document: Document) =>
    insert.run(document.Namespace, document.ID, document.SubmitTime, JSON.stringify(document));

  const inTransactionsOf =
    (size: number): Slice =>
    (milliseconds) => {
      const end = performance.now() + milliseconds;
      let done = 0;
      while (performance.now() < end) {
        begin.run();
        for (let i = 0; i < size; i++) put(sampleDocument(nextId(), serial));
        commit.run();
        done += size;
      }
      return done;
    };
  let next = 0;
  const repeat =
    (operation: () => void): Slice =>
    (milliseconds) => {
      const end = performance.now() + milliseconds;
      let done = 0;
      for (; performance.now() < end; done++) operation();
      return done;
    };

  return {
    single: inTransactionsOf(1),
    bulk: inTransactionsOf(1000),
    fill() {
      begin.run();
      for (let i = 0; i < ROWS; i++) {
        put(sampleDocument(`job-${i}`, i));
        insertStub.run(`job-${i}`, stub(i).at, JSON.stringify(stub(i)));
      }
      commit.run();
    },
    reads: repeat(() => {
      next = (next + 7919) % ROWS;
      const found = get.get('default', `job-${next}`) as { doc: string };
      if ((JSON.parse(found.doc) as Document).Priority !== 50) throw new Error('the row is missing');
    }),
    lists: repeat(() => {
      next = (next + 7919) % (ROWS - 100);
      if (page.all(next).length !== 100) throw new Error('rows are missing');
    }),
    close: () => handle.close(),
  };
}
