import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { type PostgresStorage, postgresStorage } from '../../../adapters/postgres/index.js';
import { runs as runRows } from '../../../src/functions/run.js';
import { createFunctions, defineFunction, type Functions } from '../../../src/functions.js';
import { createEngine, type Engine, type EngineTransaction, hostPrincipal, orThrow } from '../../../src/index.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { events as eventRows } from '../../../src/notifications/events/event.js';
import { NotCommittedError } from '../../../src/operations/context/shared-write.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { parameterizedJob } from '../../operations/jobs/world.js';
import { runEvent } from '../../operations/notifications/engine-setup.js';

const url = inject('postgres');
const pool = new pg.Pool({ connectionString: url, max: 60 });
afterAll(() => pool.end());

const fulfil = defineFunction<{ order: number }, { order: number }, number>({ name: 'fulfil' }, ({ order }) => order);

let storage: PostgresStorage;
let engine: Engine;
let functions: Functions;
let delivery: ReturnType<typeof recordingDelivery>;
let orders: string;
let schema: string;

async function engineOver(own: PostgresStorage) {
  const clock = systemClock();
  const sends = recordingDelivery({ clock });
  const made = createEngine({ storage: own, clock, ids: randomIds(), delivery: sends });
  return { made, sends, functions: createFunctions(made, [fulfil]) };
}

beforeEach(async () => {
  schema = `t${randomUUID().replaceAll('-', '')}`;
  orders = `orders_${schema}`;
  await pool.query(`CREATE TABLE ${orders} (id int PRIMARY KEY, paid text)`);
  storage = orThrow(await postgresStorage(url, { schema }));
  ({ made: engine, sends: delivery, functions } = await engineOver(storage));
  const box = engine.as(hostPrincipal);
  await orThrow(box.workspaces.put('ws-shop', { name: 'shop', organization: 'acme' }));
  await orThrow(box.eventTypes.put('order.paid', { description: 'An order was paid' }));
  await orThrow(box.jobs.register(parameterizedJob('invoice') as never));
  await orThrow(
    box.notifications.create('ws-shop', {
      destinationType: 'generic',
      name: 'books',
      url: 'https://hooks.example.net/books',
      enabled: true,
      delivery: { eventTypes: ['order.paid'] },
    }),
  );
});

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await functions.stop();
  await engine.stop();
  await storage.close();
});

const idsIn = async () => (await pool.query(`SELECT id FROM ${orders} ORDER BY id`)).rows.map(({ id }) => id);
const instances = async () =>
  orThrow(await storage.read((view) => view.list(jobs, { prefix: ['default'], textPrefix: 'invoice/' }).length));
const events = async () => orThrow(await storage.read((view) => view.list(eventRows).length));
const runs = async () => orThrow(await storage.read((view) => view.list(runRows).length));
const all = async () => ({
  orders: await idsIn(),
  instances: await instances(),
  events: await events(),
  runs: await runs(),
});

/** A transaction of the host with an order. */
async function order(id: number): Promise<pg.PoolClient> {
  const client = await pool.connect();
  ends.push(() => client.release(true));
  await client.query('BEGIN');
  await client.query(`INSERT INTO ${orders} VALUES ($1)`, [id]);
  return client;
}

const insert = (id: number) => (sql: { run(text: string, ...values: never[]): void }) =>
  sql.run(`INSERT INTO ${orders} VALUES ($1)`, ...([id] as never[]));
const paid = (id: number) => ({ trigger: 'order.paid', data: { order: id } });
const isOpen = async (client: pg.ClientBase) =>
  (await client.query('SELECT now() <> statement_timestamp() AS open')).rows[0].open;

/** Both ways of committing rows of the host with operations. */
const ways: readonly [string, (tx: EngineTransaction, id: number) => Promise<(tx: EngineTransaction) => void>][] = [
  ['alongside', async (_tx, id) => (tx) => tx.alongside(insert(id))],
  [
    'commitWith',
    async (_tx, id) => {
      const client = await order(id);
      return (tx) => tx.commitWith(client);
    },
  ],
];

describe.each(ways)('rows of the host and operations in one transaction: %s', (_name, way) => {
  const joined = (id: number) => way(undefined as never, id);

  test('an order, its run, its event and its job are stored together', async () => {
    await functions.start();
    engine.start();
    const join = await joined(1);
    const { run, event, job } = await engine.transaction((tx) => {
      join(tx);
      const box = tx.as(hostPrincipal);
      return {
        run: functions.in(tx).enqueue(fulfil, { order: 1 }),
        event: box.notifications.send('ws-shop', paid(1)),
        job: box.jobs.dispatch('invoice'),
      };
    });
    expect(await all()).toEqual({ orders: [1], instances: 1, events: 1, runs: 1 });
    expect(await run.result()).toBe(1);
    expect(event.deliveryIds).toHaveLength(1);
    expect(job.dispatchedJobId).toMatch(/^invoice\//);
    const sent = () => delivery.requests.flatMap(({ body }) => JSON.parse(body).data?.order ?? []);
    await expect.poll(sent).toEqual([1]);
  });

  test('are not there when one of the calls is refused', async () => {
    const join = await joined(1);
    const other = { refused: undefined as unknown };
    const refused = engine.transaction((tx) => {
      join(tx);
      const run = functions.in(tx).enqueue(fulfil, { order: 1 });
      run.catch((error: unknown) => {
        other.refused = error;
      });
      return [run, tx.as(hostPrincipal).jobs.dispatch('unknown')];
    });
    await expect(refused).rejects.toMatchObject({ type: 'job_not_found' });
    expect(other.refused).toBeInstanceOf(NotCommittedError);
    expect(await all()).toEqual({ orders: [], instances: 0, events: 0, runs: 0 });
  });

  test('processes that race lose no row of the host, and store none without its operation', async () => {
    const others = await Promise.all(
      [1, 2].map(async () => engineOver(orThrow(await postgresStorage(url, { schema })))),
    );
    ends.push(
      ...others.map(
        ({ made }) =>
          () =>
            made.storage.close(),
      ),
    );
    const engines = [{ made: engine, functions }, ...others];
    const numbers = Array.from({ length: 45 }, (_, at) => at + 1);
    await Promise.all(
      numbers.map(async (id) => {
        const { made, functions: own } = engines[id % 3] as (typeof engines)[number];
        const join = await joined(id);
        await made.transaction((tx) => {
          join(tx);
          if (id % 2 === 0) return own.in(tx).enqueue(fulfil, { order: id });
          return tx.as(hostPrincipal).notifications.send('ws-shop', paid(id));
        });
      }),
    );
    expect(await all()).toEqual({ orders: numbers, instances: 0, events: 23, runs: 22 });
  });
});

describe('one operation', () => {
  test('with statements alongside', async () => {
    const withOrder = (id: number) => ({ ...engine, storage: storage.alongside(insert(id) as never) });
    await orThrow(dispatchJob(withOrder(1), hostPrincipal, { jobId: 'invoice' }));
    await orThrow(sendNotificationEvent(withOrder(2), hostPrincipal, { workspaceId: 'ws-shop', event: runEvent() }));
    await functions.enqueue(fulfil, { order: 3 }, { alongside: insert(3) as never });
    expect(await all()).toEqual({ orders: [1, 2, 3], instances: 1, events: 1, runs: 1 });
    const again = Promise.resolve(dispatchJob(withOrder(1), hostPrincipal, { jobId: 'invoice' }));
    await expect(again).rejects.toMatchObject({ code: '23505' });
    await expect(functions.enqueue(fulfil, { order: 1 }, { alongside: insert(1) as never })).rejects.toMatchObject({
      code: '23505',
    });
    expect(await all()).toEqual({ orders: [1, 2, 3], instances: 1, events: 1, runs: 1 });
  });

  test('that finishes a transaction of the host', async () => {
    const finishing = async (id: number) => ({ ...engine, storage: storage.commitWith(await order(id)) });
    await orThrow(dispatchJob(await finishing(1), hostPrincipal, { jobId: 'invoice' }));
    const event = { workspaceId: 'ws-shop', event: runEvent() };
    await orThrow(sendNotificationEvent(await finishing(2), hostPrincipal, event));
    expect(await all()).toEqual({ orders: [1, 2], instances: 1, events: 1, runs: 0 });
    const client = await order(3);
    const refused = await dispatchJob({ ...engine, storage: storage.commitWith(client) }, hostPrincipal, {
      jobId: 'unknown',
    });
    expect(refused._unsafeUnwrapErr().type).toBe('job_not_found');
    expect(await isOpen(client)).toBe(true);
    await client.query('COMMIT');
    expect(await idsIn()).toEqual([1, 2, 3]);
  });
});

describe('a transaction of the host', () => {
  test('is open when the operations are refused, and can be finished with others', async () => {
    const client = await order(1);
    const attempt = (job: string) =>
      engine.transaction((tx) => {
        tx.commitWith(client);
        return tx.as(hostPrincipal).jobs.dispatch(job);
      });
    await expect(attempt('unknown')).rejects.toMatchObject({ type: 'job_not_found' });
    expect(await isOpen(client)).toBe(true);
    await attempt('invoice');
    expect(await all()).toEqual({ orders: [1], instances: 1, events: 0, runs: 0 });
  });

  test('is committed without any operation', async () => {
    const client = await order(1);
    await engine.transaction((tx) => tx.commitWith(client));
    expect(await idsIn()).toEqual([1]);
  });

  test('takes its statements on its own client, once', async () => {
    const client = await order(1);
    const refusals: [string, (tx: EngineTransaction) => unknown][] = [
      ['alongside after it', (tx) => [tx.commitWith(client), tx.alongside(insert(2))]],
      ['alongside before it', (tx) => [tx.alongside(insert(2)), tx.commitWith(client)]],
      ['a second one', (tx) => [tx.commitWith(client), tx.commitWith(client)]],
      ['a pool', (tx) => tx.commitWith(pool)],
    ];
    for (const [name, use] of refusals)
      await expect(
        engine.transaction((tx) => void use(tx)),
        name,
      ).rejects.toThrow(TypeError);
    const ofTheCall = engine.transaction((tx) => {
      tx.commitWith(client);
      return functions.in(tx).enqueue(fulfil, { order: 1 }, { alongside: insert(2) as never });
    });
    await expect(ofTheCall).rejects.toThrow(/make your statements on its client/);
    expect(await isOpen(client)).toBe(true);
    await client.query('ROLLBACK');
    expect(await all()).toEqual({ orders: [], instances: 0, events: 0, runs: 0 });
  });

  test('that has a deferred constraint fails at COMMIT with its own error, and nothing is stored', async () => {
    await pool.query(`CREATE TABLE lines_${schema} (of int REFERENCES ${orders} DEFERRABLE INITIALLY DEFERRED)`);
    const client = await order(1);
    await client.query(`INSERT INTO lines_${schema} VALUES (99)`);
    const refused = engine.transaction((tx) => {
      tx.commitWith(client);
      return functions.in(tx).enqueue(fulfil, { order: 1 });
    });
    await expect(refused).rejects.toMatchObject({ code: '23503' });
    expect(await isOpen(client)).toBe(false);
    expect(await all()).toEqual({ orders: [], instances: 0, events: 0, runs: 0 });
  });
});
