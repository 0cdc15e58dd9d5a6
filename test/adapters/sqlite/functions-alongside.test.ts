import { errAsync } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { manualClock, recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { createFunctions, defineFunction, type HostRows } from '../../../src/functions.js';
import { createEngine } from '../../../src/index.js';
import type { Storage } from '../../../src/ports/index.js';
import { fileOpener } from './sqlite-files.js';

const openFile = fileOpener();

test('an order and its run are stored together or not at all, and the error of the host is its own', async () => {
  const handle = openFile(':memory:', false);
  handle.exec('CREATE TABLE orders (id TEXT PRIMARY KEY)');
  const storage = (await sqliteStorage(handle))._unsafeUnwrap();
  const clock = systemClock();
  const engine = createEngine({ storage, clock, ids: randomIds(), delivery: recordingDelivery() });
  const fulfil = defineFunction<{ order: string }, { order: string }, string>({ name: 'fulfil' }, ({ order }) => order);
  await using functions = createFunctions(engine, [fulfil]);
  await functions.start();
  const enqueue = (order: string) =>
    functions.enqueue(fulfil, { order }, { alongside: (sql) => sql.run('INSERT INTO orders (id) VALUES (?)', order) });

  const run = await enqueue('a');
  expect(await run.result()).toBe('a');
  await expect(enqueue('a')).rejects.toThrow(/^UNIQUE constraint failed: orders\.id/);
  const both = functions.enqueueMany(fulfil, [{ order: 'b' }, { order: 'c' }], {
    alongside: (sql) => {
      for (const order of ['b', 'a']) sql.run('INSERT INTO orders (id) VALUES (?)', order);
    },
  });
  await expect(both).rejects.toThrow(/^UNIQUE constraint failed: orders\.id/);
  expect(handle.prepare('SELECT id FROM orders').all()).toEqual([{ id: 'a' }]);
  expect(await functions.list()).toHaveLength(1);
  // The slot of a refused enqueue is free again.
  for (let n = 0; n < 40; n += 1) await enqueue('a').catch(() => undefined);
  expect(await (await enqueue('z')).result()).toBe('z');
});

test('an outcome and its rows are stored together or not at all, and a refused row fails the attempt with its own error', async () => {
  const handle = openFile(':memory:', false);
  handle.exec('CREATE TABLE paid (id TEXT PRIMARY KEY)');
  const storage = (await sqliteStorage(handle))._unsafeUnwrap();
  const engine = createEngine({ storage, clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() });
  const pay = defineFunction<string, string, string>({ name: 'pay', retry: { attempts: 2, delay: 1 } }, (id, run) =>
    run.commit(`paid ${id}`, (sql) => sql.run('INSERT INTO paid (id) VALUES (?)', id)),
  );
  const fails = defineFunction<string>({ name: 'fails', retry: { attempts: 1 } }, (id, run) => {
    run.commit(undefined, (sql) => sql.run('INSERT INTO paid (id) VALUES (?)', id));
    throw new Error('after all');
  });
  const twice = defineFunction<string>({ name: 'twice', retry: { attempts: 1 } }, (id, run) => {
    for (let n = 0; n < 2; n += 1) run.commit(undefined, (sql) => sql.run('INSERT INTO paid (id) VALUES (?)', id));
  });
  await using functions = createFunctions(engine, [pay, fails, twice]);
  await functions.start();
  expect(await (await functions.enqueue(pay, 'a')).result()).toBe('paid a');
  const second = await functions.enqueue(pay, 'a');
  await expect(second.result()).rejects.toThrow('UNIQUE constraint failed: paid.id');
  expect(await second.status()).toMatchObject({ attempt: 2, state: 'failed' });
  await expect((await functions.enqueue(fails, 'b')).result()).rejects.toThrow('after all');
  await expect((await functions.enqueue(twice, 'c')).result()).rejects.toThrow(
    'run.commit is called once in an attempt',
  );
  expect(handle.prepare('SELECT id FROM paid').all()).toEqual([{ id: 'a' }]);
  // Slots are free again, and a stop waits for what is being stored.
  const many = await functions.enqueueMany(
    pay,
    Array.from({ length: 100 }, (_, n) => `x${n}`),
  );
  await Promise.all(many.runs.map((run) => run.result()));
  expect(handle.prepare('SELECT count(*) AS n FROM paid').all()).toEqual([{ n: 101 }]);
  expect(await functions.stop()).toMatchObject({ handedBack: 0 });
});

test('an outcome with rows waits for a store that fails, and a stop does not wait for it', async () => {
  const handle = openFile(':memory:', false);
  handle.exec('CREATE TABLE paid (id TEXT PRIMARY KEY)');
  const storage = (await sqliteStorage(handle))._unsafeUnwrap();
  let isFailing = true;
  const failing = {
    read: storage.read.bind(storage),
    write: storage.write.bind(storage),
    waitForChange: storage.waitForChange.bind(storage),
    close: storage.close.bind(storage),
    alongside: (rows: HostRows): Storage => {
      const own = storage.alongside(rows);
      return {
        ...failing,
        write: (work) =>
          isFailing
            ? errAsync({ type: 'storage_failed', reason: 'io', message: 'the disk is full' } as const)
            : own.write(work),
      };
    },
  };
  const clock = manualClock();
  const engine = createEngine({ storage: failing, clock, ids: randomIds(), delivery: recordingDelivery({ clock }) });
  const pay = defineFunction<string, string, string>({ name: 'pay' }, (id, run) => {
    run.log.info(`pays ${id}`);
    return run.commit(`paid ${id}`, (sql) => sql.run('INSERT INTO paid (id) VALUES (?)', id));
  });
  await using functions = createFunctions(engine, [pay]);
  await functions.start();
  const run = await functions.enqueue(pay, 'a');
  await clock.advance(3000);
  expect((await run.status()).state).toBe('running');
  isFailing = false;
  await clock.advance(2000);
  expect(await run.result()).toBe('paid a');
  expect((await run.log()).map(({ text }) => text)).toEqual(['pays a']);
  isFailing = true;
  const other = await functions.enqueue(pay, 'b');
  await clock.settle();
  const stopped = functions.stop({ deadline: 0 });
  await clock.advance(5000);
  await stopped;
  expect((await other.status()).state).toBe('running');
  expect(handle.prepare('SELECT id FROM paid').all()).toEqual([{ id: 'a' }]);
});

describe('a full disk in a statement of the host', () => {
  const large = 'x'.repeat(200_000);
  const open = async () => {
    const handle = openFile(':memory:', false);
    handle.exec('CREATE TABLE paid (id TEXT PRIMARY KEY, receipt TEXT)');
    const storage = (await sqliteStorage(handle))._unsafeUnwrap();
    const clock = manualClock();
    const delivery = recordingDelivery({ clock });
    const engine = createEngine({ storage, clock, ids: randomIds(), delivery });
    const pagesLeft = (count: number): void => {
      const { page_count } = handle.prepare('PRAGMA page_count').get() as { page_count: number };
      handle.exec(`PRAGMA max_page_count = ${page_count + count}`);
    };
    return { handle, clock, engine, pagesLeft, paid: () => handle.prepare('SELECT id FROM paid').all() };
  };
  const rowOf =
    (id: string): HostRows =>
    (sql) =>
      sql.run('INSERT INTO paid (id, receipt) VALUES (?, ?)', id, large);

  test('is a failure of the store for an outcome, which is recorded when there is room', async () => {
    const { clock, engine, pagesLeft, paid } = await open();
    let calls = 0;
    const pay = defineFunction<string, string, string>({ name: 'pay', retry: { attempts: 1 } }, (id, run) => {
      calls += 1;
      return run.commit(`paid ${id}`, rowOf(id));
    });
    await using functions = createFunctions(engine, [pay]);
    await functions.start();
    pagesLeft(40);
    const run = await functions.enqueue(pay, 'a');
    await clock.advance(3000);
    expect((await run.status()).state).toBe('running');
    expect(paid()).toEqual([]);
    pagesLeft(10_000);
    await clock.advance(2000);
    expect(await run.result()).toBe('paid a');
    expect(paid()).toEqual([{ id: 'a' }]);
    expect(calls).toBe(1);
  });

  test('is a failure of the store for an enqueue and for a transaction', async () => {
    const { engine, pagesLeft, paid } = await open();
    const pay = defineFunction<string>({ name: 'pay' });
    const functions = createFunctions(engine, [pay]);
    await functions.enqueue(pay, 'first');
    pagesLeft(40);
    await expect(functions.enqueue(pay, 'a', { alongside: rowOf('a') })).rejects.toMatchObject({
      name: 'FunctionsError',
      type: 'storage_failed',
      cause: { reason: 'full' },
    });
    const together = engine.transaction((tx) => {
      tx.alongside(rowOf('b'));
      return functions.in(tx).enqueue(pay, 'b');
    });
    await expect(together).rejects.toMatchObject({ type: 'storage_failed', cause: { reason: 'full' } });
    expect(paid()).toEqual([]);
    expect(await functions.list()).toHaveLength(1);
    pagesLeft(10_000);
    await functions.enqueue(pay, 'a', { alongside: rowOf('a') });
    expect(paid()).toEqual([{ id: 'a' }]);
  });
});

test('statements that the transaction of the store refuses fail the attempt', async () => {
  const handle = openFile(':memory:', false);
  handle.exec('CREATE TABLE paid (id TEXT PRIMARY KEY)');
  const storage = (await sqliteStorage(handle))._unsafeUnwrap();
  const engine = createEngine({ storage, clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() });
  const refused: Readonly<Record<string, HostRows>> = {
    'must be synchronous': (async () => undefined) as HostRows,
    'COMMIT is not allowed': (sql) => sql.run('COMMIT'),
    'belong to the store': (sql) => sql.run('DELETE FROM signalbox_meta'),
  };
  const pay = defineFunction<string>({ name: 'pay', retry: { attempts: 1 } }, (way, run) =>
    run.commit(undefined, refused[way] as HostRows),
  );
  await using functions = createFunctions(engine, [pay]);
  await functions.start();
  for (const way of Object.keys(refused))
    await expect((await functions.enqueue(pay, way)).result({ timeout: '5s' })).rejects.toThrow(way);
});
