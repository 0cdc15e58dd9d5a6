import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { createEngine, orThrow } from 'signalbox';
import {
  type BatchEnd,
  createFunctions,
  defineFunction,
  type FunctionsError,
  NonRetryableError,
  RetryAfterError,
  type RunFailedError,
} from 'signalbox/functions';
import { randomIds, systemClock } from 'signalbox/node';
import { sqliteStorage } from 'signalbox/sqlite';
import { callFunction } from 'signalbox/testing';
import { undiciDelivery } from 'signalbox/undici';
import { z } from 'zod';

const file = process.argv[2] ?? 'service.sqlite';
const done: string[] = [];
const note = (text: string): void => void done.push(text);

interface Answer {
  readonly status: number;
  readonly id: string;
  readonly retryAfter: number;
}
let tries = 0;
const mail = {
  send: async ({ to }: { to: string; text: string }, { signal }: { signal: AbortSignal }): Promise<Answer> => {
    equal(signal.aborted, false);
    tries += 1;
    return { status: to.endsWith('.invalid') ? 400 : tries === 1 ? 429 : 200, id: `mail-${tries}`, retryAfter: 5 };
  },
};

const sendReceipt = defineFunction(
  {
    name: 'send-receipt',
    input: z.object({ to: z.email(), orderId: z.string() }),
    retry: { attempts: 8 },
    timeout: '30s',
    notify: 'ws-shop',
  },
  async ({ to, orderId }, run) => {
    const answer = await mail.send({ to, text: `Order ${orderId}` }, { signal: run.signal });
    if (answer.status === 429) throw new RetryAfterError('slow down', answer.retryAfter);
    if (answer.status === 400) throw new NonRetryableError('the address is refused');
    return { messageId: answer.id };
  },
);
const nightly = defineFunction(
  { name: 'nightly-report', cron: { schedule: '30 2 * * *', timeZone: 'Europe/Berlin' } },
  async (_, run) => {
    run.log.info(`total of ${run.dueAt.toISOString()}`);
  },
);
const syncAccount = defineFunction(
  {
    name: 'sync-account',
    input: z.object({ account: z.string() }),
    concurrency: [{ limit: 20 }, { limit: 1, key: ({ account }) => account }],
    rate: { limit: 100, per: '1m', scope: 'crm' },
  },
  async ({ account }, run) => {
    run.progress({ account });
  },
);
const fulfil = defineFunction(
  { name: 'fulfil', input: z.object({ orderId: z.string(), to: z.string() }) },
  async ({ orderId, to }, run) => {
    const payment = await run.step('pay', () => `paid ${orderId} in ${run.id}`);
    await run.step('ship', () => note(`ships ${orderId}`));
    const { messageId } = await run.call('receipt', sendReceipt, { to, orderId });
    return { payment, messageId };
  },
);
const summary = defineFunction<BatchEnd>({ name: 'import-summary' }, ({ counts }) =>
  note(`${counts.succeeded} of ${counts.total}`),
);
const resize = defineFunction<{ file: string }, { file: string }, string>({
  name: 'resize',
  thread: new URL('./resize.mjs', import.meta.url),
});

const storage = await orThrow(sqliteStorage(file));
const engine = createEngine({ storage, clock: systemClock(), ids: randomIds(), delivery: undiciDelivery() });
const functions = createFunctions(engine, [sendReceipt, nightly, syncAccount, fulfil, summary, resize]);
await functions.start();

// 1, 5, 9: typed, retried, called, with an idempotency key.
const orderId = 'a-17';
const run = await functions.enqueue(
  sendReceipt,
  { to: 'ada@example.net', orderId },
  { idempotencyKey: `receipt ${orderId}` },
);
const { messageId } = await run.result({ timeout: '1m' });
equal(messageId, 'mail-2');
const again = await functions.enqueue(
  sendReceipt,
  { to: 'ada@example.net', orderId },
  { idempotencyKey: `receipt ${orderId}` },
);
deepEqual([again.id, again.isNew], [run.id, false]);
await rejects(
  functions.enqueue(sendReceipt, { to: 'nobody', orderId }),
  (error: FunctionsError) => error.type === 'invalid_input',
);
const refused = await functions.enqueue(sendReceipt, { to: 'ada@example.invalid', orderId });
await rejects(refused.result(), (error: RunFailedError) => error.outcome === 'failed');

// 2, 6: cron and later.
const later = await functions.enqueue(nightly, undefined, { delay: '10m' });
equal((await later.status()).state, 'scheduled');
equal(await later.cancel(), true);

// 3, 7: limits for each key, once while it waits, debounced.
const account = 'acme';
const first = await functions.enqueue(syncAccount, { account }, { unique: account, delay: '1h' });
equal((await functions.enqueue(syncAccount, { account }, { unique: account })).id, first.id);
const debounced = await functions.enqueue(
  syncAccount,
  { account },
  { debounce: { key: account, wait: '30s', max: '5m' } },
);
match((await functions.explain(debounced.id)).message, /due/);

// 4, 5: steps, and the result of another function.
const order = await functions.enqueue(fulfil, { orderId, to: 'ada@example.net' });
const { payment } = await order.result({ timeout: '1m' });
equal(payment, `paid ${orderId} in ${order.id}`);

// 8: fan-out and join.
const accounts = ['a', 'b', 'c'];
const batch = await functions.enqueueMany(
  syncAccount,
  accounts.map((each) => ({ account: each })),
  { then: summary },
);
equal((await batch.ended({ timeout: '1m' })).succeeded, 3);

// A thread, bulk calls, and a function in a unit test.
equal(await (await functions.enqueue(resize, { file: 'a.png' })).result({ timeout: '1m' }), 'small a.png');
equal(await functions.retry({ function: 'send-receipt', state: 'failed', error: 'ECONNREFUSED' }, { rate: 50 }), 0);
equal((await callFunction(fulfil, { orderId: 'b', to: 'ada@example.net' })).steps['pay'], 'paid b in fulfil/1');
equal(await functions.cancel({ state: ['scheduled', 'queued'] }), 2);
while (!done.includes('3 of 3')) await new Promise((resolve) => setTimeout(resolve, 5));
await functions.stop({ deadline: '25s' });
await storage.close();
console.log(done.join(', '));
