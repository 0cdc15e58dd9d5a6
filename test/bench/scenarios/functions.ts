import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { loadDriver, type SqliteHandle } from '../../../adapters/sqlite/sqlite-handle.js';
import { sqliteStorage } from '../../../adapters/sqlite/sqlite-storage.js';
import { createFunctions, defineFunction } from '../../../src/functions.js';
import { createEngine } from '../../../src/index.js';
import { asCost, compareRates, type Measured, type Slice } from './store-slices.js';

const callers = 64;

/**
 * Functions that do nothing, from the enqueue to the recorded end, by 64 callers over SQLite: processor time of a run, against two
 * statements in shared transactions, written for this one purpose.
 */
export async function run(): Promise<readonly Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  const driver = await loadDriver(undefined);
  if (typeof driver !== 'function') throw new Error(driver.message);
  const storage = (await sqliteStorage(join(folder, 'ours.db')))._unsafeUnwrap();
  const clock = systemClock();
  const engine = createEngine({ storage, clock, ids: randomIds(), delivery: recordingDelivery({ clock }) });
  const noop = defineFunction<{ n: number }, { n: number }>({ name: 'noop' }, () => undefined);
  const keyed = defineFunction<{ n: number }, { n: number }>(
    { name: 'keyed', concurrency: { limit: 1, key: ({ n }) => `key ${n % 1000}` } },
    () => undefined,
  );
  const functions = createFunctions(engine, [noop, keyed], { concurrency: callers });
  await functions.start();
  const floor = queueByHand(driver(join(folder, 'raw.db'), false));
  try {
    let next = 0;
    const toEnd = (fn: typeof noop): Slice =>
      inParallel(async () => {
        next += 1;
        const enqueued = await functions.enqueue(fn, { n: next });
        await enqueued.result();
      });
    const byHand = inParallel(floor.runToEnd);
    const measured = await compareRates('functions.sqlite', toEnd(noop), byHand, {}, { clock: 'cpu' });
    // The floor of this row is the one above without the limit.
    const limited = await compareRates('functions.sqlite, 1,000 keys', toEnd(keyed), toEnd(noop), {}, { clock: 'cpu' });
    return [{ ...asCost(measured), limit: { max: limit } }, asCost(limited)];
  } finally {
    await functions.stop();
    await storage.close();
    floor.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const limit = 30;

function inParallel(runToEnd: (n: number) => Promise<void>): Slice {
  return async (milliseconds) => {
    const end = performance.now() + milliseconds;
    let done = 0;
    const caller = async (): Promise<void> => {
      while (performance.now() < end) {
        await runToEnd(done);
        done += 1;
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return done;
  };
}

/** A queue of runs that are stored when they are enqueued and when they have ended: all that waits shares one synced transaction. */
function queueByHand(handle: SqliteHandle) {
  handle.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  handle.exec(
    'CREATE TABLE runs (number INTEGER PRIMARY KEY, function TEXT, state TEXT, due INTEGER, started INTEGER, ended INTEGER, input TEXT)',
  );
  handle.exec("CREATE INDEX ready ON runs (function, due) WHERE state = 'queued'");
  const insert = handle.prepare("INSERT INTO runs VALUES (?, 'noop', 'running', ?, ?, NULL, ?)");
  const update = handle.prepare("UPDATE runs SET state = 'succeeded', ended = ? WHERE number = ?");
  let waiting: { readonly write: () => void; readonly resolve: () => void }[] = [];
  let isPlanned = false;
  let numbers = 0;

  const flush = (): void => {
    isPlanned = false;
    const taken = waiting;
    waiting = [];
    handle.exec('BEGIN IMMEDIATE');
    for (const { write } of taken) write();
    handle.exec('COMMIT');
    for (const { resolve } of taken) resolve();
  };
  const write = (work: () => void): Promise<void> =>
    new Promise((resolve) => {
      waiting.push({ write: work, resolve });
      if (isPlanned) return;
      isPlanned = true;
      setImmediate(flush);
    });

  return {
    runToEnd: async (n: number): Promise<void> => {
      numbers += 1;
      const number = numbers;
      const now = Date.now();
      await write(() => insert.run(number, now, now, JSON.stringify({ n })));
      await write(() => update.run(Date.now(), number));
    },
    close: () => handle.close(),
  };
}
