import { afterAll, expect, test } from 'vitest';
import { createFunctions, defineFunction, type Functions } from '../../../adapters/functions/index.js';
import { memoryStorage, recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { createFunctions as createInCore } from '../../../src/functions.js';
import { createEngine } from '../../../src/index.js';

interface Task {
  readonly what: string;
  readonly value?: unknown;
}

const module = (name: string): URL => new URL(`./modules/${name}.mjs`, import.meta.url);
const thread = defineFunction<Task, Task, unknown>({
  name: 'thread',
  thread: module('thread'),
  retry: { attempts: 2, delay: 1 },
  timeout: '30s',
});
const short = defineFunction<Task>({
  name: 'short',
  thread: module('thread'),
  retry: { attempts: 1 },
  timeout: '500ms',
});
const double = defineFunction<number, number, number>({ name: 'double' }, (n) => 2 * n);
const missing = defineFunction({ name: 'missing', thread: module('missing'), retry: { attempts: 1 } });
const noDefault = defineFunction({ name: 'no-default', thread: module('no-default') });

const engine = createEngine({
  storage: memoryStorage(),
  clock: systemClock(),
  ids: randomIds(),
  delivery: recordingDelivery(),
});
let functions: Functions;
const opened = (async () => {
  functions = createFunctions(engine, [thread, short, double, missing, noDefault], { concurrency: 2 });
  await functions.start();
})();
afterAll(async () => {
  await functions.stop({ deadline: 0 });
});

async function ran(what: string, value?: unknown) {
  await opened;
  const run = await functions.enqueue(thread, { what, value }, { meta: { a: 'b' } });
  await run.result().catch(() => undefined);
  return { run, record: await run.status() };
}

test.each<[string, unknown, unknown]>([
  ['double', 21, 42],
  ['report', 3, 'reported'],
  ['step', { a: 1 }, { a: 1 }],
  ['call', 4, 8],
])('a handler in a thread can %s', async (what, value, result) => {
  expect((await ran(what, value)).record).toMatchObject({ state: 'succeeded', result });
});

test('has the context of the run, and reports through it', async () => {
  const { run, record } = await ran('context');
  expect(record.result).toEqual({ id: run.id, attempt: 1, isLast: false, meta: { a: 'b' }, dueAt: true });
  const reported = await ran('report', 7);
  expect(reported.record.progress).toEqual({ at: 7 });
  expect((await reported.run.log()).map(({ text }) => text)).toEqual(['from the thread']);
});

test.each<[string, unknown, object]>([
  ['failing step', undefined, { state: 'failed', attempt: 2, error: { name: 'TypeError', message: 'in the step' } }],
  ['commit', undefined, { state: 'failed', attempt: 1, error: { message: 'run.commit is not possible in a thread' } }],
  [
    'exit',
    undefined,
    { state: 'failed', attempt: 2, error: { message: 'the thread ended with code 3 before its handler' } },
  ],
  ['uncaught', undefined, { state: 'failed', attempt: 2, error: { message: 'outside of the handler' } }],
  ['function', undefined, { state: 'failed', attempt: 1 }],
  [
    'progress',
    undefined,
    { state: 'failed', error: { message: 'the progress has 5002 bytes of JSON: at most 4096 are kept' } },
  ],
  ['throw', { name: 'NonRetryableError', message: 'no' }, { state: 'failed', attempt: 1, error: { message: 'no' } }],
  ['throw', { name: 'RetryAfterError', message: 'later', more: { wait: 1 } }, { state: 'failed', attempt: 2 }],
  ['throw', { name: 'Error', message: 'm', more: { code: 'ECONNRESET' } }, { error: { code: 'ECONNRESET' } }],
])('a handler in a thread that fails: %s', async (what, value, record) => {
  expect((await ran(what, value)).record).toMatchObject(record);
});

test.each([null, undefined, 1, 'text', [], {}, { type: 'log', level: 'no such level' }, { type: 'worked', id: 0 }])(
  'a module that sends the message %o itself does not end the process',
  async (value) => {
    const { record } = await ran('message', value as never);
    expect(['succeeded', 'failed']).toContain(record.state);
  },
);

test.each(['message', 'name', 'stack', 'code', 'wait'])(
  'an error of a thread whose %s cannot be read fails its run',
  async (part) => {
    const { record } = await ran('hostile error', part);
    expect(record).toMatchObject({ state: 'failed', error: { message: 'something that cannot be read was thrown' } });
  },
);

test('aborts by its signal, and a thread that does not end is ended', async () => {
  await opened;
  const [waiting, spinning] = [
    await functions.enqueue(short, { what: 'wait' }),
    await functions.enqueue(short, { what: 'spin' }),
  ];
  await waiting.result().catch(() => undefined);
  // On a busy machine the thread may be ended before it has begun.
  expect(await waiting.status()).toMatchObject({
    state: 'timed_out',
    error: { name: expect.stringMatching(/^timed_out$|^TimedOut$/) },
  });
  await spinning.result().catch(() => undefined);
  const { state, error } = await spinning.status();
  expect([state, error?.message]).toEqual(['timed_out', 'the attempt took longer than 500 ms']);
  // Both slots are free again.
  const tasks = [1, 2, 3, 4].map((value) => ({ what: 'double', value }));
  expect(await (await functions.enqueueMany(thread, tasks)).ended()).toMatchObject({ succeeded: 4 });
});

test('says which file is missing, or has no handler', async () => {
  await opened;
  await expect((await functions.enqueue(missing)).result()).rejects.toThrow(/missing\.mjs/);
  await expect((await functions.enqueue(noDefault)).result()).rejects.toThrow(/no-default\.mjs is not a function/);
});

test('is refused where it would not run', () => {
  expect(() => createInCore(engine, [thread])).toThrow(
    'thread runs in a thread, which only createFunctions of signalbox/functions has',
  );
  expect(() => defineFunction({ name: 'both', thread: module('thread') }, () => undefined)).toThrow(
    'has a handler and a thread',
  );
  expect(() => defineFunction({ name: 'text', thread: './thread.mjs' as never })).toThrow(/thread .*a URL/);
});
