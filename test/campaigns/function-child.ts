import { type BatchEnd, createFunctions, defineFunction, type Functions } from '../../adapters/functions/index.js';
import { hostPrincipal } from '../../src/index.js';
import { engineOver, pause, say } from '../support/children.js';

/*
 * One process of the campaign of kills: enqueues in every way, runs what is there, whoever enqueued it, and prints a line for
 * whatever it asks, gets and does.
 */

/** The input of a run of `work`. `order` is its row in the host's table, `key` its idempotency key. */
export interface WorkInput {
  readonly kind: 'quick' | 'slow' | 'fails' | 'held';
  readonly order?: string;
  readonly key?: string;
}

/** What the process does: enqueue and run, enqueue in transactions and run, only run, or run and hold what it runs until its end is asked for. */
export type ChildMode = 'enqueue' | 'together' | 'run' | 'hold';

const [, , file = '', life = '', mode = '', unanswered = '[]'] = process.argv;

const keep = { succeeded: { age: '7d', count: 1_000_000 }, others: { age: '7d', count: 1_000_000 } } as const;
export const work = defineFunction<WorkInput, WorkInput, string>(
  { name: 'work', keep, retry: { attempts: 5, backoff: 'fixed', delay: 50 } },
  async ({ kind }, run) => {
    say('began', run.id, Date.now());
    if (kind === 'held' && mode === 'hold') {
      run.signal.addEventListener('abort', () => say('aborted', run.id, (run.signal.reason as Error).name));
      await pause(1000);
    }
    await run.step('first', () => {
      say('did', run.id, 'first');
    });
    if (kind === 'slow') await pause(50);
    if (kind === 'fails' && run.attempt < 3) throw new Error('not yet');
    await run.step(kind === 'held' ? life : 'second', async () => {
      say('did', run.id, 'second');
      await pause(1);
    });
    say('returned', run.id);
    return life;
  },
);
const poison = defineFunction({ name: 'poison', keep, retry: { attempts: 5 } }, () => process.exit(7));

/** Calls another function, and records its outcome with a row of the host. */
const parent = defineFunction<void, void, void>(
  { name: 'parent', keep, retry: { attempts: 5, backoff: 'fixed', delay: 50 } },
  async (_, run) => {
    await run.call('child', work, { kind: 'quick' });
    run.commit(undefined, (sql) => sql.run('INSERT INTO paid (id) VALUES (?)', run.id));
  },
);
const summary = defineFunction<BatchEnd>({ name: 'summary', keep }, () => undefined);

/** `unanswered`: idempotency keys of calls that got no answer, because their process was killed. */
async function enqueueAll(to: Functions, keys: readonly string[]): Promise<void> {
  for (const key of keys) await withKey(to, key);
  for (let n = 0; ; n += 1) {
    const way = ways[n % ways.length];
    await way?.(to, n).catch((error: unknown) => say('refused', String(error)));
    await pause(10);
  }
}

async function withKey(to: Functions, key: string): Promise<void> {
  say('asked', key);
  const run = await to.enqueue(work, { kind: 'quick', key }, { idempotencyKey: key });
  say('accepted', run.id);
  say('answered', key, run.id);
}

const ways: readonly ((to: Functions, n: number) => Promise<unknown>)[] = [
  (to, n) => withKey(to, `${life}-${n}`),
  async (to) => {
    const batch = await to.enqueueMany(
      work,
      ['quick', 'slow', 'fails', 'quick', 'slow'].map((kind) => ({ kind }) as WorkInput),
    );
    for (const { id } of batch.runs) say('accepted', id);
  },
  async (to) => {
    const batch = await to.enqueueMany(parent, [undefined, undefined], { then: summary });
    for (const { id } of batch.runs) say('accepted', id);
  },
  async (to) => {
    const run = await to.enqueue(work, { kind: 'slow' }, { delay: 100 });
    say('accepted', run.id);
  },
  async (to, n) => {
    const asked = Date.now();
    const run = await to.enqueue(work, { kind: n % 2 === 0 ? 'quick' : 'slow' }, { unique: `unique ${n % 5}` });
    say('accepted', run.id);
    say('unique', run.id, asked);
  },
  async (to, n) => {
    const order = `${life}-${n}`;
    const run = await to.enqueue(
      work,
      { kind: n % 4 === 0 ? 'fails' : 'quick', order },
      { alongside: (sql) => sql.run('INSERT INTO orders (id) VALUES (?)', order) },
    );
    say('accepted', run.id);
  },
  async (to, n) => {
    const orders = [0, 1, 2].map((at) => `${life}-${n}-${at}`);
    const batch = await to.enqueueMany(
      work,
      orders.map((order) => ({ kind: 'quick', order }) as const),
      {
        alongside: (sql) => {
          for (const order of orders) sql.run('INSERT INTO orders (id) VALUES (?)', order);
        },
      },
    );
    for (const { id } of batch.runs) say('accepted', id);
  },
];

/** Orders, each with two runs and an event, all of them or nothing; some are refused by the table of orders. */
async function placeOrders(to: Functions): Promise<void> {
  for (let n = 0; ; n += 1) {
    const order = `${life}-${n}`;
    const rows = n % 3 === 2 ? [order, order] : [order, `${order}-again`];
    const placed = engine.transaction((tx) => {
      for (const row of rows) tx.alongside((sql) => sql.run('INSERT INTO orders (id) VALUES (?)', row));
      const joined = to.in(tx);
      return {
        one: joined.enqueue(work, { kind: 'quick', order }),
        event: tx.as(hostPrincipal).notifications.send('ws-shop', { trigger: 'order.paid', data: { order } }),
        more: joined.enqueueMany(work, [{ kind: 'slow', order: `${order}-again` }]),
      };
    });
    await placed.then(
      ({ one, more }) => {
        for (const { id } of [one, ...more.runs]) say('accepted', id);
      },
      (error: Error) => {
        if (!error.message.startsWith('UNIQUE constraint failed')) say('refused', String(error));
      },
    );
  }
}

const { engine } = await engineOver(file);
const functions = createFunctions(engine, [work, poison, parent, summary], { lease: '1s', concurrency: 64 });
await functions.start();
// Functions that wait do not keep their process alive: a server's sockets do. This process has none.
setInterval(() => undefined, 1000);
say('ready');
if (mode === 'enqueue') await enqueueAll(functions, JSON.parse(unanswered) as string[]);
if (mode === 'together') await placeOrders(functions);
