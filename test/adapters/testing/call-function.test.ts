import { expect, test } from 'vitest';
import { defineFunction, type FunctionDefinition, NonRetryableError } from '../../../adapters/functions/index.js';
import { callFunction } from '../../../adapters/testing/index.js';

const double = defineFunction<number, number, number>({ name: 'double' }, (n) => 2 * n);
const pays = defineFunction<{ order: string }, { order: string }, string>({ name: 'pays' }, async ({ order }, run) => {
  run.log.info(`pays ${order}`);
  run.progress({ at: 1 });
  run.heartbeat();
  const payment = await run.step('pay', () => `payment of ${order}`);
  const n = await run.call('double', double, 21);
  return run.commit(`${payment} ${n}`, (sql) => sql.run('INSERT INTO paid (id) VALUES (?)', order));
});

test('a function is called without an engine, and shows what it did', async () => {
  expect(await callFunction(pays, { order: 'a' })).toEqual({
    result: 'payment of a 42',
    steps: { pay: 'payment of a', double: 42 },
    log: [{ level: 'info', text: 'pays a' }],
    progress: { at: 1 },
    rows: [{ text: 'INSERT INTO paid (id) VALUES (?)', values: ['a'] }],
  });
});

test('finished steps are not done again', async () => {
  const { result } = await callFunction(pays, { order: 'a' }, { attempt: 2, steps: { pay: 'before', double: 1 } });
  expect(result).toBe('before 1');
});

test('has the context of a run', async () => {
  const shows = defineFunction({ name: 'shows', retry: { attempts: 2 } }, (_: undefined, run) =>
    [run.id, run.attempt, run.isLastAttempt, run.meta['a'] ?? null, run.signal.aborted].map(String),
  );
  expect((await callFunction(shows)).result).toEqual(['shows/1', '1', 'false', 'null', 'false']);
  const options = { attempt: 2, meta: { a: 'b' }, signal: AbortSignal.abort() };
  expect((await callFunction(shows, undefined, options)).result).toEqual(['shows/1', '2', 'true', 'b', 'true']);
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  [
    'what the handler throws',
    () => callFunction(defineFunction({ name: 'f' }, () => Promise.reject(new NonRetryableError('no')))),
    /^no$/,
  ],
  ['an input that is not JSON', () => callFunction(double, new Map() as never), /the input of double is not JSON/],
  [
    'a result that is not JSON',
    () =>
      callFunction(
        defineFunction({ name: 'f' }, () => new Date() as never),
        undefined as never,
      ),
    /the result is not JSON/,
  ],
  ['a function without a handler', () => callFunction(defineFunction({ name: 'f' })), /f has no handler here/],
  [
    'what is no function',
    () => callFunction({ name: 'f', version: 1 } as FunctionDefinition<undefined>),
    /not made by defineFunction/,
  ],
])('rejects with %s', async (_, call, message) => {
  await expect(call()).rejects.toThrow(message);
});

test('refuses an input as an enqueue does', async () => {
  const input = {
    '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'never' }] }) },
  } as const;
  const picky = defineFunction<string, string>({ name: 'picky', input }, () => undefined);
  await expect(callFunction(picky, 'x')).rejects.toMatchObject({ type: 'invalid_input' });
});
