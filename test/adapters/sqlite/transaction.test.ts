import { err } from 'neverthrow';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { type SqliteHandle, type SqliteStorage, sqliteStorage } from '../../../adapters/sqlite/index.js';
import { createFunctions, defineFunction, type Functions, type RunFailedError } from '../../../src/functions.js';
import { createEngine, type Engine, type EngineTransaction, hostPrincipal, orThrow } from '../../../src/index.js';
import { deliveries, isUnfinished } from '../../../src/notifications/delivery/delivery.js';
import { fileOpener } from './sqlite-files.js';

const openFile = fileOpener();

const fulfil = defineFunction<{ order: number }, { order: number }, number>({ name: 'fulfil' }, ({ order }) => order);

const diskFull = { type: 'storage_failed', reason: 'full', message: 'the disk is full' } as const;

let handle: SqliteHandle;
/** Writes run, and nothing of them is stored. */
let isFull = false;
let engine: Engine;
let functions: Functions;
let delivery: ReturnType<typeof recordingDelivery>;
const opened: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  handle = openFile(':memory:', false);
  handle.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, paid TEXT)');
  const own = orThrow(await sqliteStorage(handle));
  const storage: SqliteStorage = {
    ...own,
    write: (work) => (isFull ? own.write((view) => work(view).andThen(() => err(diskFull))) : own.write(work)),
  };
  const clock = systemClock();
  delivery = recordingDelivery({ clock });
  engine = createEngine({ storage, clock, ids: randomIds(), delivery });
  functions = createFunctions(engine, [fulfil]);
  const box = engine.as(hostPrincipal);
  await orThrow(box.workspaces.put('ws-shop', { name: 'shop', organization: 'acme' }));
  await orThrow(box.eventTypes.put('order.paid', { description: 'An order was paid' }));
  await orThrow(
    box.notifications.create('ws-shop', {
      destinationType: 'generic',
      name: 'books',
      url: 'https://hooks.example.net/books',
      enabled: true,
      delivery: { eventTypes: ['order.paid'] },
    }),
  );
  opened.push(async () => {
    await functions.stop();
    await engine.stop();
    await storage.close();
  });
});
afterAll(() => Promise.all(opened.map((close) => close())));

const orders = () => handle.prepare('SELECT id FROM orders').all();
const insert = (id: number) => (sql: { run(text: string, ...values: unknown[]): void }) =>
  sql.run('INSERT INTO orders (id) VALUES (?)', id);
const pay = (id: number, more: (tx: EngineTransaction) => unknown = () => undefined) =>
  engine.transaction((tx) => {
    tx.alongside(insert(id));
    more(tx);
    return {
      run: functions.in(tx).enqueue(fulfil, { order: id }),
      event: tx.as(hostPrincipal).notifications.send('ws-shop', { trigger: 'order.paid', data: { order: id } }),
    };
  });
const sent = () => delivery.requests.flatMap(({ body }) => JSON.parse(body).data?.order ?? []);
const unsent = async () =>
  orThrow(
    await engine.storage.read(
      (view) => view.list(deliveries).filter(({ record }) => isUnfinished(record.state)).length,
    ),
  );
const events = async () => (await orThrow(engine.as(hostPrincipal).events.list('ws-shop'))).items;

describe('an order, its run and its event', () => {
  test('are stored together', async () => {
    await functions.start();
    engine.start();
    const { run, event } = await pay(1);
    expect(orders()).toEqual([{ id: 1 }]);
    expect(await run.result()).toBe(1);
    expect(event.deliveryIds).toHaveLength(1);
    await expect.poll(sent).toEqual([1]);
  });

  test('are not there when a row of the host is refused, whose error is its own', async () => {
    await functions.start();
    engine.start();
    await pay(1);
    const refused = await pay(1).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      message: expect.stringMatching(/^UNIQUE constraint failed: orders\.id/),
      code: expect.any(String),
    });
    expect(orders()).toEqual([{ id: 1 }]);
    expect(await functions.list()).toHaveLength(1);
    expect(await events()).toHaveLength(1);
    // Nothing holds the slots that they had.
    for (let n = 0; n < 40; n += 1) await pay(1).catch(() => undefined);
    expect(await (await pay(2)).run.result()).toBe(2);
    await expect.poll(sent).toEqual([1, 2]);
  });

  test('are not there when one of the calls is refused', async () => {
    const refused = pay(1, (tx) => tx.as(hostPrincipal).jobs.dispatch('unknown'));
    await expect(refused).rejects.toMatchObject({ type: 'job_not_found' });
    expect(orders()).toEqual([]);
    expect(await functions.list()).toEqual([]);
    expect(await events()).toEqual([]);
  });

  test('share the transaction with other rows, of calls and of the transaction, in their order', async () => {
    const seen: string[] = [];
    await engine.transaction((tx) => {
      tx.alongside(() => seen.push('first'));
      tx.alongside(insert(1));
      return functions.in(tx).enqueue(fulfil, { order: 1 }, { alongside: () => seen.push('of the call') });
    });
    expect(seen).toEqual(['first', 'of the call']);
    await engine.transaction((tx) => tx.alongside((sql) => sql.run('UPDATE orders SET paid = ?', 'yes')));
    expect(handle.prepare('SELECT id, paid FROM orders').all()).toEqual([{ id: 1, paid: 'yes' }]);
    const wrong = engine.transaction((tx) => tx.alongside((sql) => sql.run('COMMIT')));
    await expect(wrong).rejects.toThrow('COMMIT is not allowed');
  });
});

test('a function for rows that waits is refused, and nothing is stored', async () => {
  const late: unknown[] = [];
  // What a host without types may write.
  const waits: (sql: { run(text: string, ...values: unknown[]): void }) => unknown = async (sql) => {
    sql.run('INSERT INTO orders (id) VALUES (?)', 1);
    await Promise.resolve();
    try {
      sql.run('INSERT INTO orders (id) VALUES (?)', 2);
    } catch (error) {
      late.push(error);
    }
  };
  const doors: Readonly<Record<string, () => Promise<unknown>>> = {
    enqueue: () => functions.enqueue(fulfil, { order: 1 }, { alongside: waits as () => void }),
    transaction: () => pay(3, (tx) => tx.alongside(waits as () => void)),
    'a call of a transaction': () =>
      engine.transaction((tx) => functions.in(tx).enqueue(fulfil, { order: 1 }, { alongside: waits as () => void })),
  };
  for (const [door, open] of Object.entries(doors))
    await expect(open(), door).rejects.toMatchObject({ message: expect.stringContaining('must be synchronous') });
  expect(orders()).toEqual([]);
  expect(await functions.list()).toEqual([]);
  expect(late).toHaveLength(3);
});

test('an event is sent once, also beside a turn that looks for what a failed write may have claimed', async () => {
  engine.start();
  await pay(0);
  await expect.poll(sent).toEqual([0]);
  for (let n = 1; n <= 10; n += 1) {
    isFull = true;
    const lost = engine.as(hostPrincipal).notifications.send('ws-shop', { trigger: 'order.paid', data: { order: -1 } });
    isFull = false;
    expect((await lost).isErr()).toBe(true);
    for (let wait = 0; wait < n % 4; wait += 1) await new Promise(setImmediate);
    await pay(n);
  }
  await expect.poll(() => sent().at(-1)).toBe(10);
  await expect.poll(unsent).toBe(0);
  expect(sent()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

describe('the error of a row of the host is its own', () => {
  const refused = /^UNIQUE constraint failed: orders\.id/;

  test('through every door', async () => {
    await functions.start();
    const twice = defineFunction<number, number, number>({ name: 'twice', retry: { attempts: 1 } }, (id, run) =>
      run.commit(id, insert(id)),
    );
    const other = createFunctions(engine, [twice]);
    await other.start();
    handle.exec('INSERT INTO orders (id) VALUES (1)');
    const doors: Readonly<Record<string, () => Promise<unknown>>> = {
      enqueue: () => functions.enqueue(fulfil, { order: 1 }, { alongside: insert(1) }),
      enqueueMany: () => functions.enqueueMany(fulfil, [{ order: 1 }, { order: 2 }], { alongside: insert(1) }),
      'run.commit': async () =>
        (await other.enqueue(twice, 1)).result().catch(({ error }: RunFailedError) => Promise.reject(error)),
      'engine.as': () =>
        engine.transaction((tx) => {
          tx.alongside(insert(1));
          return tx.as(hostPrincipal).functions.enqueue('fulfil', { input: { order: 1 } });
        }),
      'engine.transaction': () => pay(1),
      'rows alone': () => engine.transaction((tx) => tx.alongside(insert(1))),
      'enqueue in a transaction': () =>
        engine.transaction((tx) => functions.in(tx).enqueue(fulfil, { order: 1 }, { alongside: insert(1) })),
    };
    for (const [door, open] of Object.entries(doors))
      await expect(open(), door).rejects.toMatchObject({ message: expect.stringMatching(refused) });
    expect(orders()).toEqual([{ id: 1 }]);
    expect(await functions.list({ function: 'fulfil' })).toEqual([]);
    await other.stop();
  });
});
