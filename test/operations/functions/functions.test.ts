import { setImmediate } from 'node:timers/promises';
import { errAsync, ResultAsync } from 'neverthrow';
import { afterEach, describe, expect, test } from 'vitest';
import { flaky, type ManualClock, manualClock, memoryStorage, rerunning } from '../../../adapters/memory/index.js';
import {
  defineFunction,
  type FunctionDefinition,
  type Handler,
  NonRetryableError,
  RetryAfterError,
  type Schema,
  Snooze,
} from '../../../src/functions/define-function.js';
import { runs } from '../../../src/functions/run.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import {
  type Functions,
  type FunctionsError,
  RunFailedError,
} from '../../../src/operations/functions/functions-api.js';
import type { Storage } from '../../../src/ports/storage.js';
import { day, hour, minute, second } from '../../../src/shared/duration.js';
import { mortal, processOver, stopAll, type World, world } from '../../support/function-processes.js';

afterEach(stopAll);

const never = (): Promise<never> => new Promise(() => undefined);
const typeOf = (error: unknown): string => (error as FunctionsError).type;
const plain = <Out>(handler: Handler<{ n: number }, Out>, options: object = {}) =>
  defineFunction<{ n: number }, { n: number }, Out>({ name: 'work', ...options }, handler);

describe('a run', () => {
  test('has its result, and its record says what happened', async () => {
    const own = world();
    const double = plain(({ n }) => 2 * n);
    const functions = await processOver(own, [double]);
    const run = await functions.enqueue(double, { n: 21 }, { meta: { tenant: 'a' } });
    expect(await run.result()).toBe(42);
    expect(await run.status()).toEqual({
      id: run.id,
      function: 'work',
      version: 1,
      state: 'succeeded',
      priority: 50,
      attempt: 1,
      interruptions: 0,
      enqueuedAt: new Date(own.clock.now()),
      dueAt: new Date(own.clock.now()),
      startedAt: new Date(own.clock.now()),
      endedAt: new Date(own.clock.now()),
      input: { n: 21 },
      result: 42,
      parent: null,
      batch: null,
      meta: { tenant: 'a' },
      error: null,
    });
    expect(run.isNew).toBe(true);
    expect(run.id).toMatch(/^work\/\d+$/);
  });

  test.each([
    ['delay', { delay: '10m' }],
    ['runAt', { runAt: new Date(Date.UTC(2026, 0, 1, 0, 10)) }],
  ])('waits for its %s', async (_name, options) => {
    const own = world();
    const work = plain((_input, run) => run.dueAt.getTime());
    const functions = await processOver(own, [work]);
    const run = await functions.enqueue(work, { n: 1 }, options);
    await own.clock.advance(10 * minute - 1);
    expect((await run.status()).state).toBe('scheduled');
    await own.clock.advance(1);
    expect(await run.result()).toBe(Date.UTC(2026, 0, 1, 0, 10));
  });

  test('is cancelled when it has not begun within its ttl', async () => {
    const own = world();
    const work = plain(() => undefined);
    const functions = await processOver(own, [work], { starts: false });
    const run = await functions.enqueue(work, { n: 1 }, { ttl: '1m' });
    await own.clock.advance(2 * minute);
    await functions.start();
    await own.clock.settle();
    expect(await run.status()).toMatchObject({ state: 'cancelled', attempt: 0, error: { message: 'expired' } });
  });

  test('is not cancelled once it has begun, though its process has died of it meanwhile', async () => {
    const own = world();
    const { storage, kill } = mortal(own.storage);
    const dying = await processOver({ ...own, storage }, [plain(never)]);
    const run = await dying.enqueue(plain(never), { n: 1 }, { ttl: '10s' });
    await own.clock.settle();
    kill();
    const heir = await processOver(own, [plain(() => 'done')]);
    await own.clock.advance(minute);
    expect(await (await heir.run(run.id))?.status()).toMatchObject({ state: 'succeeded', interruptions: 1 });
  });

  test('begins by priority, then by due time, then in the order of the enqueues', async () => {
    const own = world();
    const begun: number[] = [];
    const work = plain(({ n }) => {
      begun.push(n);
    });
    const functions = await processOver(own, [work], { starts: false, concurrency: 1 });
    await functions.enqueue(work, { n: 4 });
    await functions.enqueue(work, { n: 5 });
    await functions.enqueue(work, { n: 6 }, { priority: 1 });
    await functions.enqueue(work, { n: 1 }, { priority: 100 });
    await functions.enqueue(work, { n: 3 }, { priority: 60, delay: 20 });
    await functions.enqueue(work, { n: 2 }, { priority: 60, delay: 10 });
    await own.clock.advance(second);
    await functions.start();
    await own.clock.settle();
    expect(begun).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('begins before one that is enqueued after it, also while its process starts', async () => {
    const storage = memoryStorage();
    let turn: Promise<void> | undefined;
    // As in a durable store, what is written in one turn of the event loop is committed together.
    const endOfTurn = (): Promise<void> => {
      turn ??= setImmediate().then(() => {
        turn = undefined;
      });
      return turn;
    };
    const write: Storage['write'] = (work) => new ResultAsync(endOfTurn().then(() => storage.write(work)));
    const own = world({ ...storage, write });
    const began: number[] = [];
    const work = plain(({ n }) => {
      began.push(n);
      return never();
    });
    const functions = await processOver(own, [work], { concurrency: 1 });
    for (const n of [1, 2, 3]) await functions.enqueue(work, { n });
    await own.clock.settle();
    expect(began).toEqual([1]);
  });

  test('never runs beside more others than the process takes', async () => {
    const own = world();
    let now = 0;
    let most = 0;
    const work = plain(async () => {
      now += 1;
      most = Math.max(most, now);
      await own.clock.sleep(second, new AbortController().signal);
      now -= 1;
    });
    const functions = await processOver(own, [work], { concurrency: 3 });
    await Promise.all(Array.from({ length: 5 }, (_none, n) => functions.enqueue(work, { n })));
    await functions.enqueueMany(
      work,
      Array.from({ length: 5 }, (_none, n) => ({ n })),
    );
    await own.clock.advance(10 * second);
    expect(await functions.list({ state: 'succeeded' })).toHaveLength(10);
    expect(most).toBe(3);
  });

  test('keeps inputs and results of any size up to a mebibyte', async () => {
    const own = world();
    const echo = defineFunction<string, string, string>({ name: 'echo' }, (input) => input);
    const functions = await processOver(own, [echo]);
    for (const length of [0, 1, 511, 512, 513, 5000, 1024 * 1024 - 2]) {
      const run = await functions.enqueue(echo, 'x'.repeat(length));
      expect((await run.result()).length).toBe(length);
      expect(((await run.status()).input as string).length).toBe(length);
    }
    await expect(functions.enqueue(echo, 'x'.repeat(1024 * 1024))).rejects.toMatchObject({ type: 'too_large' });
  });

  test.each<[string, unknown, string]>([
    ['a date', new Date(0), 'the result is not JSON: the value is a Date'],
    ['a list with a hole', [1, undefined], 'the result is not JSON: [1] is undefined'],
    ['a number that JSON has not', { a: { b: Number.NaN } }, 'the result is not JSON: a.b is NaN'],
    ['a big integer', 1n, 'the result is not JSON: the value is a bigint'],
    ['too long', 'x'.repeat(1024 * 1024), 'at most 1048576 are kept'],
  ])('fails without a retry when its result is %s', async (_name, result, message) => {
    const own = world();
    const work = plain(() => result);
    const functions = await processOver(own, [work]);
    const run = await functions.enqueue(work, { n: 1 });
    await expect(run.result()).rejects.toThrow(message);
    expect(await run.status()).toMatchObject({ state: 'failed', attempt: 1 });
  });
});

describe('a failure', () => {
  test('is tried again after 1, 5, 25 and 125 seconds, and then final', async () => {
    const own = world();
    const calls: [number, boolean, number][] = [];
    const work = plain((_input, { attempt, isLastAttempt }) => {
      calls.push([attempt, isLastAttempt, own.clock.now() - Date.UTC(2026, 0, 1)]);
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    });
    const functions = await processOver(own, [work]);
    const run = await functions.enqueue(work, { n: 1 });
    await own.clock.advance(hour);
    expect(calls).toEqual([
      [1, false, 0],
      [2, false, second],
      [3, false, 6 * second],
      [4, false, 31 * second],
      [5, true, 156 * second],
    ]);
    const failure = await run.result().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RunFailedError);
    expect(failure).toMatchObject({
      runId: run.id,
      outcome: 'failed',
      error: { message: 'refused', code: 'ECONNREFUSED' },
    });
    expect((await run.status()).error?.stack).toContain('functions.test.ts');
  });

  test.each<[string, () => Error, object, number, number]>([
    ['that is not to be retried ends the run', () => new NonRetryableError('no'), {}, 1, 0],
    ['names the wait', () => new RetryAfterError('slow down', '90s'), {}, 2, 90 * second],
    ['names a time', () => new RetryAfterError('slow down', new Date(Date.UTC(2026, 0, 1, 1))), {}, 2, hour],
    [
      'names no time, and waits by the rule',
      () => new RetryAfterError('no', new Date(Number.NaN)),
      { delay: '7s', jitter: 0 },
      2,
      7 * second,
    ],
    ['waits by a list', () => new Error('no'), { backoff: ['7s'] }, 2, 7 * second],
    ['waits by a function', () => new Error('no'), { attempts: 2, backoff: () => 3000 }, 2, 3 * second],
    ['stops by a function', () => new Error('no'), { backoff: () => 'stop' }, 1, 0],
    [
      'of the function itself stops',
      () => new Error('no'),
      {
        backoff: () => {
          throw new Error('broken');
        },
      },
      1,
      0,
    ],
  ])('%s', async (_name, error, retry, attempts, after) => {
    const own = world();
    const times: number[] = [];
    const work = plain(
      () => {
        times.push(own.clock.now() - Date.UTC(2026, 0, 1));
        throw error();
      },
      { retry: { attempts: 2, ...retry } },
    );
    const functions = await processOver(own, [work]);
    const run = await functions.enqueue(work, { n: 1 });
    await own.clock.advance(day);
    expect(await run.status()).toMatchObject({ state: 'failed', attempt: attempts });
    expect(times.at(-1)).toBe(after);
  });

  test('of what is thrown, whatever it is, is recorded', async () => {
    const own = world();
    const thrown: unknown[] = ['text', undefined, 7, { a: 1 }, Symbol('s'), Object.create(null)];
    const work = plain(
      ({ n }) => {
        throw thrown[n];
      },
      { retry: { attempts: 1 } },
    );
    const functions = await processOver(own, [work]);
    for (const n of thrown.keys()) await functions.enqueue(work, { n });
    await own.clock.settle();
    const ended = await functions.list();
    expect(ended.map(({ state }) => state)).toEqual(thrown.map(() => 'failed'));
    expect(ended.at(-1)?.error?.message).toBe('text');
  });

  test('does not count when the handler puts the run off', async () => {
    const own = world();
    let calls = 0;
    const work = plain(
      (_input, { attempt }) => {
        calls += 1;
        if (calls < 4) throw new Snooze('1h');
        return attempt;
      },
      { retry: { attempts: 1 } },
    );
    const functions = await processOver(own, [work]);
    const run = await functions.enqueue(work, { n: 1 });
    await own.clock.advance(3 * hour);
    expect(await run.result()).toBe(1);
  });
});

describe('a timeout', () => {
  test('aborts the handler; what ends in five seconds has timed out, and is tried again', async () => {
    const own = world();
    const reasons: unknown[] = [];
    const work = plain(
      (_input, { signal, attempt }) =>
        attempt === 2
          ? 'done'
          : new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                reasons.push((signal.reason as Error).name);
                reject(signal.reason as Error);
              });
            }),
      { timeout: '30s' },
    );
    const functions = await processOver(own, [work]);
    const run = await functions.enqueue(work, { n: 1 });
    await own.clock.advance(30 * second);
    expect(await run.status()).toMatchObject({ state: 'scheduled', error: { name: 'timed_out' } });
    await own.clock.advance(second);
    expect(await run.result()).toBe('done');
    expect(reasons).toEqual(['timed_out']);
  });

  test('gives up a handler that does not end, which keeps its slot until it does', async () => {
    const own = world();
    let end = (): void => undefined;
    const stuck = plain(
      ({ n }) =>
        n === 1
          ? new Promise<void>((resolve) => {
              end = resolve;
            })
          : undefined,
      {
        timeout: '30s',
        retry: { attempts: 1 },
      },
    );
    const functions = await processOver(own, [stuck], { concurrency: 1 });
    const run = await functions.enqueue(stuck, { n: 1 });
    const next = await functions.enqueue(stuck, { n: 2 });
    await own.clock.advance(35 * second);
    expect(await run.status()).toMatchObject({ state: 'timed_out', error: { name: 'TimedOut' } });
    await own.clock.advance(hour);
    expect((await next.status()).state).toBe('queued');
    end();
    await own.clock.settle();
    expect((await next.status()).state).toBe('succeeded');
    expect((await run.status()).state).toBe('timed_out');
  });
});

describe('a cancellation', () => {
  test('ends a queued run at once, a running one by its signal, and none that has ended', async () => {
    const own = world();
    const seen: string[] = [];
    const work = plain(
      (_input, { signal }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            seen.push((signal.reason as Error).name);
            resolve();
          });
        }),
    );
    const functions = await processOver(own, [work], { concurrency: 1 });
    const [running, queued] = [await functions.enqueue(work, { n: 1 }), await functions.enqueue(work, { n: 2 })];
    expect(await queued.cancel('not needed')).toBe(true);
    expect(await running.cancel('not needed')).toBe(true);
    await own.clock.settle();
    for (const run of [queued, running]) {
      expect(await run.status()).toMatchObject({ state: 'cancelled', error: { message: 'not needed' } });
      await expect(run.result()).rejects.toMatchObject({ outcome: 'cancelled' });
      expect(await run.cancel()).toBe(false);
    }
    expect(seen).toEqual(['cancelled']);
  });

  test('reaches a run in another process, and gives up a handler that does not heed it', async () => {
    const own = world();
    const work = plain(never);
    const first = await processOver(own, [work]);
    const second_ = await processOver(own, [work], { starts: false });
    const run = await first.enqueue(work, { n: 1 });
    expect(await (await second_.run(run.id))?.cancel('stop it')).toBe(true);
    await own.clock.advance(5 * second);
    expect(await run.status()).toMatchObject({ state: 'cancelled', error: { message: 'stop it' } });
  });

  test('by a filter takes all that match', async () => {
    const own = world();
    const work = plain(never);
    const functions = await processOver(own, [work], { concurrency: 1 });
    for (let n = 0; n < 5; n += 1) await functions.enqueue(work, { n }, { meta: { tenant: n < 3 ? 'a' : 'b' } });
    expect(await functions.cancel({ meta: { tenant: 'a' } })).toBe(3);
    await own.clock.advance(10 * second);
    expect((await functions.list({ state: 'cancelled' })).map(({ meta }) => meta['tenant'])).toEqual(['a', 'a', 'a']);
  });
});

describe('keys', () => {
  test('unique: the run that has not begun; after that another one', async () => {
    const own = world();
    const work = plain(() => undefined);
    const functions = await processOver(own, [work], { starts: false });
    const first = await functions.enqueue(work, { n: 1 }, { unique: 'a' });
    const same = await functions.enqueue(work, { n: 2 }, { unique: 'a' });
    expect([same.id, same.isNew]).toEqual([first.id, false]);
    expect((await functions.enqueue(work, { n: 1 }, { unique: 'b' })).isNew).toBe(true);
    await functions.start();
    await own.clock.settle();
    expect((await functions.enqueue(work, { n: 3 }, { unique: 'a' })).isNew).toBe(true);
  });

  test('unique: a change that comes while the run is under way, or between its attempts, is not lost', async () => {
    const own = world();
    const work = plain(({ n }) => {
      if (n === 1) throw new Error('later');
    });
    const functions = await processOver(own, [work]);
    const first = await functions.enqueue(work, { n: 1 }, { unique: 'a' });
    await own.clock.settle();
    expect((await first.status()).state).toBe('scheduled');
    expect((await functions.enqueue(work, { n: 2 }, { unique: 'a' })).isNew).toBe(true);
  });

  test('unique until the end, or for a time', async () => {
    const own = world();
    const work = plain(({ n }, { signal }) => (n === 0 ? undefined : own.clock.sleep(minute, signal)));
    const functions = await processOver(own, [work]);
    await functions.enqueue(work, { n: 1 }, { unique: { key: 'a', until: 'ended' } });
    expect((await functions.enqueue(work, { n: 1 }, { unique: { key: 'a', until: 'ended' } })).isNew).toBe(false);
    await own.clock.advance(minute);
    expect((await functions.enqueue(work, { n: 1 }, { unique: { key: 'a', until: 'ended' } })).isNew).toBe(true);
    await functions.enqueue(work, { n: 0 }, { unique: { key: 'b', until: '10m' } });
    await own.clock.advance(9 * minute);
    expect((await functions.enqueue(work, { n: 0 }, { unique: { key: 'b', until: '10m' } })).isNew).toBe(false);
    await own.clock.advance(minute);
    expect((await functions.enqueue(work, { n: 0 }, { unique: { key: 'b', until: '10m' } })).isNew).toBe(true);
  });

  test('idempotency: the same run and result for a day; another input is refused', async () => {
    const own = world();
    let calls = 0;
    const work = plain(() => (calls += 1), { keep: { succeeded: { age: '1m', count: 1 } } });
    const functions = await processOver(own, [work]);
    const first = await functions.enqueue(work, { n: 1 }, { idempotencyKey: 'k' });
    expect(await first.result()).toBe(1);
    await own.clock.advance(23 * hour);
    await functions.enqueue(work, { n: 9 });
    await own.clock.settle();
    const again = await functions.enqueue(work, { n: 1 }, { idempotencyKey: 'k' });
    expect([again.id, again.isNew, await again.result()]).toEqual([first.id, false, 1]);
    const mismatch = functions.enqueue(work, { n: 2 }, { idempotencyKey: 'k' });
    expect(typeOf(await mismatch.catch((error: unknown) => error))).toBe('idempotency_mismatch');
    await own.clock.advance(hour);
    expect((await functions.enqueue(work, { n: 2 }, { idempotencyKey: 'k' })).isNew).toBe(true);
  });

  test('lead to one run however many ask at once', async () => {
    const own = world(rerunning(memoryStorage()));
    const work = plain(() => undefined);
    const functions = await processOver(own, [work]);
    const asked = Array.from({ length: 50 }, () => functions.enqueue(work, { n: 1 }, { idempotencyKey: 'k' }));
    const found = await Promise.all(asked);
    expect(new Set(found.map(({ id }) => id)).size).toBe(1);
    expect(found.filter(({ isNew }) => isNew)).toHaveLength(1);
  });
});

describe('inputs', () => {
  const positive: Schema<{ n: number }, { n: number }> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) =>
        (value as { n: number }).n > 0
          ? { value: { n: (value as { n: number }).n * 10 } }
          : { issues: [{ message: 'must be positive', path: ['n'] }] },
    },
  };

  test('are checked at the enqueue, and parsed for the handler', async () => {
    const own = world();
    const work = plain(({ n }) => n, { input: positive });
    const functions = await processOver(own, [work]);
    expect(await (await functions.enqueue(work, { n: 1 })).result()).toBe(10);
    await expect(functions.enqueue(work, { n: -1 })).rejects.toMatchObject({
      type: 'invalid_input',
      message: 'the input of work is refused: n: must be positive',
    });
    await expect(functions.enqueueMany(work, [{ n: 1 }, { n: -1 }])).rejects.toThrow('inputs[1]: ');
    expect(await functions.list()).toHaveLength(1);
  });

  test('are checked again by the code that runs them, without a retry', async () => {
    const own = world();
    const before = await processOver(own, [plain(() => 0)], { starts: false });
    const run = await before.enqueue(
      plain(() => 0),
      { n: -1 },
    );
    await processOver(own, [plain(() => 0, { input: positive })]);
    await own.clock.settle();
    expect(await run.status()).toMatchObject({ state: 'failed', attempt: 1, error: { name: 'InvalidInput' } });
  });

  test('of an earlier version are migrated, and those of a later one wait for code that knows them', async () => {
    const own = world();
    const [one, two] = [1, 2].map((version) =>
      plain(({ n }) => n, {
        version,
        migrate: (input: unknown, from: number) => ({ n: (input as { n: number }).n + from * 100 }),
      }),
    ) as [FunctionDefinition<{ n: number }, number>, FunctionDefinition<{ n: number }, number>];
    const old = await processOver(own, [one]);
    const next = await processOver(own, [two], { starts: false });
    const later = await next.enqueue(two, { n: 1 });
    await own.clock.settle();
    expect((await later.status()).state).toBe('queued');
    await old.stop();
    const earlier = await old.enqueue(one, { n: 5 });
    await next.start();
    expect(await Promise.all([later.result(), earlier.result()])).toEqual([1, 105]);
  });

  test('of an earlier version do not wait behind those of a later one, however many', async () => {
    const own = world();
    const [one, two] = [1, 2].map((version) => plain(({ n }) => n, { version })) as [
      FunctionDefinition<{ n: number }, number>,
      FunctionDefinition<{ n: number }, number>,
    ];
    const next = await processOver(own, [two], { starts: false });
    await next.enqueueMany(
      two,
      Array.from({ length: 700 }, (_none, n) => ({ n })),
    );
    const old = await processOver(own, [one]);
    const run = await old.enqueue(one, { n: 5 });
    await own.clock.settle();
    expect((await run.status()).state).toBe('succeeded');
  });

  test.each([
    ['a date', { at: new Date(0) }, 'at is a Date'],
    ['undefined in a list', { list: [undefined] }, 'list[0] is undefined'],
    ['a map', { map: new Map() }, 'map is a Map'],
    [
      'a cycle',
      (() => {
        const a: Record<string, unknown> = {};
        a['a'] = a;
        return a;
      })(),
      'nested more than 200 deep',
    ],
  ])('that are not JSON are refused with their path: %s', async (_name, input, message) => {
    const own = world();
    const work = defineFunction<object, object, void>({ name: 'work' }, () => undefined);
    const functions = await processOver(own, [work]);
    const refused = await functions.enqueue(work, input).catch((error: unknown) => error);
    expect(typeOf(refused)).toBe('not_json');
    expect((refused as Error).message).toContain(message);
  });
});

test('runs that are enqueued together are all stored, or none', async () => {
  const own = world();
  const work = plain(({ n }) => {
    if (n === 3) throw new NonRetryableError('three');
  });
  const functions = await processOver(own, [work]);
  const batch = await functions.enqueueMany(
    work,
    Array.from({ length: 250 }, (_none, n) => ({ n })),
  );
  expect(batch.runs).toHaveLength(250);
  await own.clock.settle();
  expect(await batch.counts()).toMatchObject({ total: 250, succeeded: 249, failed: 1 });
  expect(await functions.list({ batch: batch.id, state: 'failed' })).toMatchObject([{ error: { message: 'three' } }]);
  expect(new Set(batch.runs.map(({ id }) => id)).size).toBe(250);
});

describe('steps', () => {
  test('are done once in a run, whatever becomes of its attempts', async () => {
    const own = world();
    const done: string[] = [];
    const work = plain(async (_input, run) => {
      const paid = await run.step('pay', () => {
        done.push('pay');
        return { receipt: run.attempt };
      });
      await run.step('nothing', () => {
        done.push('nothing');
      });
      if (run.attempt < 3) throw new Error('later');
      return paid;
    });
    const functions = await processOver(own, [work]);
    const run = await functions.enqueue(work, { n: 1 });
    await own.clock.advance(minute);
    expect(await run.result()).toEqual({ receipt: 1 });
    expect(done).toEqual(['pay', 'nothing']);
  });

  test('have one name each, and values that are JSON', async () => {
    const own = world();
    const work = plain(async ({ n }, run) => {
      await run.step('a', () => (n === 1 ? new Date() : 1));
      await run.step('a', () => 1);
    });
    const functions = await processOver(own, [work]);
    const [first, twice] = [await functions.enqueue(work, { n: 1 }), await functions.enqueue(work, { n: 2 })];
    await expect(first.result()).rejects.toThrow("the value of the step 'a' is not JSON: the value is a Date");
    await expect(twice.result()).rejects.toThrow("the step 'a' is used twice in one attempt");
  });
});

describe('several processes', () => {
  test('share the runs, each run once', async () => {
    const own = world();
    const calls: number[] = [];
    const work = plain(({ n }) => {
      calls.push(n);
    });
    const processes = [await processOver(own, [work]), await processOver(own, [work]), await processOver(own, [work])];
    await Promise.all(Array.from({ length: 90 }, (_none, n) => (processes[n % 3] as Functions).enqueue(work, { n })));
    await own.clock.settle();
    expect(calls.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 90 }, (_none, n) => n));
  });

  test('a result is there for who waits in another one', async () => {
    const own = world();
    const work = plain(({ n }) => n);
    const caller = await processOver(own, [plain(() => 0)], { starts: false });
    const run = await caller.enqueue(work, { n: 7 });
    const waiting = run.result({ timeout: '1m' });
    await processOver(own, [work]);
    expect(await waiting).toBe(7);
  });

  test('a process that has only the declaration leaves its runs to others', async () => {
    const own = world();
    const declared = defineFunction<{ n: number }, { n: number }, number>({ name: 'work' });
    const caller = await processOver(own, [declared]);
    const run = await caller.enqueue(declared, { n: 7 });
    await own.clock.advance(hour);
    expect((await run.status()).state).toBe('queued');
    await processOver(own, [plain(({ n }) => n)]);
    expect(await run.result()).toBe(7);
  });

  test('a run that begins with its enqueue in an idle process stays there, and times out in time', async () => {
    const own = world();
    let calls = 0;
    const work = plain(
      ({ n }, { signal }) => {
        calls += 1;
        return own.clock.sleep(n, signal);
      },
      { timeout: '61s', retry: { attempts: 1 } },
    );
    const first = await processOver(own, [work]);
    await first.enqueue(work, { n: 0 });
    await own.clock.advance(10);
    await processOver(own, [work]);
    await own.clock.settle();
    const run = await first.enqueue(work, { n: minute });
    await own.clock.advance(minute);
    expect(await run.status()).toMatchObject({ state: 'succeeded', interruptions: 0 });
    const late = await first.enqueue(work, { n: hour });
    await own.clock.advance(61 * second);
    expect(await late.status()).toMatchObject({ state: 'timed_out', interruptions: 0 });
    expect(calls).toBe(3);
  });

  test('what a killed process ran is taken over when its lease ends, as an interruption', async () => {
    const own = world();
    const { storage, kill } = mortal(own.storage);
    const dying = await processOver({ ...own, storage }, [plain(never)]);
    const run = await dying.enqueue(plain(never), { n: 1 });
    await own.clock.settle();
    kill();
    await processOver(own, [plain((_input, { attempt }) => attempt)]);
    await own.clock.advance(29 * second);
    expect((await run.status().catch(() => undefined))?.state).toBeUndefined();
    const heir = await processOver(own, [plain((_input, { attempt }) => attempt)]);
    await own.clock.advance(2 * second);
    expect(await (await heir.run(run.id))?.status()).toMatchObject({
      state: 'succeeded',
      attempt: 1,
      interruptions: 1,
    });
  });

  test('the third process that dies of a run is the last; what ran beside it succeeds', async () => {
    const own = world();
    let kill = (): void => undefined;
    const work = plain(({ n }) => {
      if (n > 20) return undefined;
      if (n !== 10) return own.clock.sleep(second, new AbortController().signal);
      kill();
      return never();
    });
    const caller = await processOver(own, [work], { starts: false });
    const all = await Promise.all(Array.from({ length: 20 }, (_none, n) => caller.enqueue(work, { n })));
    const [poison] = all.splice(10, 1);
    for (let life = 0; life < 6; life += 1) {
      const dying = mortal(own.storage);
      kill = dying.kill;
      const heir = await processOver({ ...own, storage: dying.storage }, [work]);
      // Other runs come and go meanwhile.
      for (let n = 21; n < 61; n += 1) {
        await heir.enqueue(work, { n }).catch(() => undefined);
        await own.clock.advance(second);
      }
      dying.kill();
    }
    const ended = { state: 'failed', interruptions: 3, error: { name: 'ProcessDied' } };
    expect(await poison?.status()).toMatchObject(ended);
    for (const run of all) expect((await run.status()).state).toBe('succeeded');
  });

  test('a process that was paused past its lease records nothing of what was taken from it', async () => {
    const own = world();
    let end = (_result: string): void => undefined;
    let signal: AbortSignal | undefined;
    const slow = plain((_input, run) => {
      signal = run.signal;
      return new Promise<string>((resolve) => {
        end = resolve;
      });
    });
    let isPaused = false;
    const resumed: (() => void)[] = [];
    const paused: Storage = {
      ...own.storage,
      read: (work) => own.storage.read(work),
      write: (work) =>
        isPaused
          ? errAsync({ type: 'storage_failed', reason: 'busy', message: 'paused' } as const)
          : own.storage.write(work),
    };
    const first = await processOver({ ...own, storage: paused }, [slow]);
    const run = await first.enqueue(slow, { n: 1 });
    await own.clock.settle();
    isPaused = true;
    await processOver(own, [plain(() => 'by the second')]);
    await own.clock.advance(minute);
    expect(await run.status()).toMatchObject({ state: 'succeeded', result: 'by the second' });
    isPaused = false;
    for (const resume of resumed) resume();
    await own.clock.advance(minute);
    expect((signal?.reason as Error | undefined)?.name).toBe('lost');
    end('by the first');
    await own.clock.settle();
    expect((await run.status()).result).toBe('by the second');
  });

  test('a process that is paused between its claim and the handler does not call it after its lease', async () => {
    const own = world();
    const answers: (() => void)[] = [];
    let isPaused = false;
    const paused: Storage = {
      ...own.storage,
      read: (work) => own.storage.read(work),
      write: (work) => {
        const written = own.storage.write(work);
        if (!isPaused) return written;
        return new ResultAsync(
          Promise.resolve(written).then((result) => new Promise((go) => answers.push(() => go(result)))),
        );
      },
    };
    const calls: string[] = [];
    const first = await processOver({ ...own, storage: paused }, [plain(() => void calls.push('first'))]);
    await own.clock.settle();
    isPaused = true;
    const enqueued = first.enqueue(
      plain(() => undefined),
      { n: 1 },
    );
    await own.clock.settle();
    await processOver(own, [plain(() => void calls.push('second'))]);
    await own.clock.advance(minute);
    expect(calls).toEqual(['second']);
    isPaused = false;
    for (const answer of answers) answer();
    expect(await (await enqueued).status()).toMatchObject({ state: 'succeeded', interruptions: 1 });
    await own.clock.advance(minute);
    expect(calls).toEqual(['second']);
  });

  test('a process that enqueues before its loop has woken from a pause still learns what it has lost', async () => {
    const own = world();
    const frozen: (() => void)[] = [];
    let isPaused = false;
    const thawed = <T>(value: T): T | Promise<T> =>
      isPaused ? new Promise((resolve) => frozen.push(() => resolve(value))) : value;
    const clock: World['clock'] = {
      ...own.clock,
      sleep: (time, signal) => own.clock.sleep(time, signal).then(thawed),
      sleepUntil: (time, signal) => own.clock.sleepUntil(time, signal).then(thawed),
    };
    const storage: Storage = {
      ...own.storage,
      waitForChange: (tables, after, signal) => own.storage.waitForChange(tables, after, signal).then(thawed),
    };
    let signal: AbortSignal | undefined;
    const slow = plain(({ n }, run) => {
      if (n > 1) return undefined;
      signal = run.signal;
      return never();
    });
    const first = await processOver({ ...own, clock, storage }, [slow]);
    await own.clock.settle();
    const run = await first.enqueue(slow, { n: 1 });
    await own.clock.settle();
    isPaused = true;
    await processOver(own, [plain(() => 'by the second')]);
    await own.clock.advance(minute);
    expect((await run.status()).result).toBe('by the second');
    isPaused = false;
    await first.enqueue(slow, { n: 2 });
    for (const thaw of frozen) thaw();
    await own.clock.settle();
    expect((signal?.reason as Error | undefined)?.name).toBe('lost');
  });
});

test('starts at the same time are one, and a stop that comes meanwhile ends it', async () => {
  const own = world();
  const work = plain(() => 1);
  const functions = await processOver(own, [work], { starts: false });
  const intervals = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = intervals();
  for (let time = 0; time < 20; time += 1) {
    const starts = [functions.start(), functions.start()];
    expect(starts[0]).toBe(starts[1]);
    await functions.stop();
    await Promise.all(starts);
    await own.clock.settle();
  }
  // Others of the test run may come and go.
  expect(intervals()).toBeLessThan(before + 10);
  const run = await functions.enqueue(work, { n: 1 });
  await own.clock.settle();
  expect((await run.status()).state).toBe('queued');
});

describe('a stop', () => {
  test('waits for handlers until its deadline, then aborts them, and hands back what does not end', async () => {
    const own = world();
    const work = plain(({ n }, { signal }) =>
      n === 1
        ? own.clock.sleep(10 * second, new AbortController().signal)
        : n === 2
          ? own.clock.sleep(hour, signal)
          : never(),
    );
    const functions = await processOver(own, [work]);
    const all = [1, 2, 3].map((n) => functions.enqueue(work, { n }));
    const [short, heeds, stuck] = await Promise.all(all);
    await own.clock.settle();
    const stopped = functions.stop({ deadline: '25s' });
    const late = await functions.enqueue(work, { n: 1 });
    await own.clock.advance(30 * second);
    expect(await stopped).toEqual({ ended: 2, handedBack: 1 });
    expect((await short?.status())?.state).toBe('succeeded');
    expect((await heeds?.status())?.state).toBe('succeeded');
    expect(await stuck?.status()).toMatchObject({ state: 'queued', attempt: 0, interruptions: 0 });
    expect((await late.status()).state).toBe('queued');
  });

  test('can be followed by another start', async () => {
    const own = world();
    const work = plain(() => 'done');
    const functions = await processOver(own, [work]);
    // The second call waits for the end of the first one, and so does the start.
    const stops = Promise.all([functions.stop(), functions.stop()]);
    await functions.start();
    expect(await stops).toEqual([
      { ended: 0, handedBack: 0 },
      { ended: 0, handedBack: 0 },
    ]);
    const run = await functions.enqueue(work, { n: 1 });
    await own.clock.settle();
    expect((await run.status()).state).toBe('succeeded');
  });

  test('leaves nothing that another process would have to wait for', async () => {
    const own = world();
    const first = await processOver(own, [plain(never)]);
    const run = await first.enqueue(plain(never), { n: 1 });
    const stopped = first.stop({ deadline: 0 });
    await own.clock.advance(second);
    await stopped;
    await processOver(own, [plain(() => 'done')]);
    await own.clock.settle();
    expect((await run.status()).state).toBe('succeeded');
  });
});

describe('history', () => {
  test('is bounded by number and by age, for successes and others apart', async () => {
    const own = world();
    const work = plain(
      ({ n }) => {
        if (n < 0) throw new NonRetryableError('no');
      },
      {
        keep: { succeeded: { count: 3, age: '1d' }, others: { count: 2, age: '30d' } },
      },
    );
    const functions = await processOver(own, [work]);
    for (let n = 0; n < 10; n += 1) {
      await functions.enqueue(work, { n });
      await functions.enqueue(work, { n: -1 });
      await own.clock.advance(2 * minute);
    }
    await functions.enqueue(work, { n: 10 });
    await own.clock.settle();
    const states = (await functions.list()).map(({ state }) => state);
    expect(states.filter((state) => state === 'succeeded')).toHaveLength(3);
    expect(states.filter((state) => state === 'failed')).toHaveLength(2);
    await own.clock.advance(2 * day);
    await functions.enqueue(work, { n: -1 });
    await own.clock.settle();
    expect((await functions.list()).map(({ state }) => state)).not.toContain('succeeded');
  });

  test('keeps a run for as long as an idempotency key leads to it, also beyond the number', async () => {
    const own = world();
    const work = plain(({ n }) => n, { keep: { succeeded: { count: 1 } } });
    const functions = await processOver(own, [work]);
    const asked = [1, 2, 3].map((n) => functions.enqueue(work, { n }, { idempotencyKey: `${n}` }));
    const ids = (await Promise.all(asked)).map(({ id }) => id);
    await own.clock.advance(2 * minute);
    await functions.enqueue(work, { n: 4 });
    await own.clock.advance(2 * minute);
    await functions.enqueue(work, { n: 5 });
    await own.clock.settle();
    const again = await Promise.all([1, 2, 3].map((n) => functions.enqueue(work, { n }, { idempotencyKey: `${n}` })));
    expect(again.map(({ id }) => id)).toEqual(ids);
    await own.clock.advance(day);
    await functions.enqueue(work, { n: 6 });
    await own.clock.settle();
    expect(await functions.list()).toHaveLength(1);
  });

  test('can be asked for, retried and discarded by filters', async () => {
    const own = world();
    let isBroken = true;
    const work = plain(({ n }) => {
      if (isBroken) throw Object.assign(new NonRetryableError('down'), n % 2 === 0 ? { code: 'ECONNREFUSED' } : {});
    });
    const functions = await processOver(own, [work]);
    for (let n = 0; n < 6; n += 1) await functions.enqueue(work, { n });
    await own.clock.settle();
    const failed = await functions.list({ state: 'failed' });
    expect(failed).toHaveLength(6);
    expect(await functions.list({ limit: 2, after: failed[1]?.id ?? '' })).toEqual(failed.slice(2, 4));
    isBroken = false;
    expect(await functions.retry({ error: 'ECONNREFUSED' })).toBe(3);
    await own.clock.settle();
    expect(await functions.list({ state: 'succeeded' })).toHaveLength(3);
    expect(await functions.discard({ state: ['failed'] })).toBe(3);
    expect(await functions.list()).toHaveLength(3);
    const gone = failed.find(({ error }) => error?.code === undefined);
    expect(await functions.run(gone?.id ?? '')).toBeUndefined();
  });

  test('a result that is no longer kept is told, never waited for', async () => {
    const own = world();
    const work = plain(() => 1);
    const functions = await processOver(own, [work], { starts: false });
    const run = await functions.enqueue(work, { n: 1 });
    const waiting = run.result();
    expect(await functions.discard({ function: 'work' })).toBe(1);
    await expect(waiting).rejects.toMatchObject({ type: 'run_not_found' });
    await expect(run.result()).rejects.toMatchObject({ type: 'run_not_found' });
  });
});

describe('waiting for a result', () => {
  test('ends when the store is closed', async () => {
    const own = world();
    const work = plain(never);
    const functions = await processOver(own, [work]);
    const waiting = (await functions.enqueue(work, { n: 1 })).result().catch(typeOf);
    await own.clock.settle();
    await own.storage.close();
    await own.clock.advance(2 * second);
    expect(await waiting).toBe('storage_failed');
  });

  test('ends with what another process has recorded of a run that was taken from this one', async () => {
    const own = world();
    let end = (_result: string): void => undefined;
    const slow = plain(
      () =>
        new Promise<string>((resolve) => {
          end = resolve;
        }),
    );
    let isPaused = false;
    const busy = { type: 'storage_failed', reason: 'busy', message: 'paused' } as const;
    const storage: Storage = {
      ...own.storage,
      write: (work) => (isPaused ? errAsync(busy) : own.storage.write(work)),
    };
    const first = await processOver({ ...own, storage }, [slow]);
    const run = await first.enqueue(slow, { n: 1 });
    const waiting = run.result();
    await own.clock.settle();
    isPaused = true;
    await processOver(own, [plain(() => 'by the second')]);
    await own.clock.advance(minute);
    end('by the first');
    isPaused = false;
    await own.clock.advance(minute);
    expect(await waiting).toBe('by the second');
  });

  test('ends with its timeout and with its signal', async () => {
    const own = world();
    const work = plain(never);
    const functions = await processOver(own, [work]);
    const run = await functions.enqueue(work, { n: 1 });
    const waiting = run.result({ timeout: '10s' }).catch((error: unknown) => (error as Error).name);
    await own.clock.advance(10 * second);
    expect(await waiting).toBe('TimeoutError');
    const controller = new AbortController();
    const aborted = run.result({ signal: controller.signal }).catch((error: unknown) => error);
    controller.abort('enough');
    expect(await aborted).toBe('enough');
  });
});

describe('schedules', () => {
  test('that are never due are refused, and replace what was declared before', async () => {
    const own = world();
    const report = (schedule: string) => defineFunction({ name: 'report', cron: schedule }, () => undefined);
    const before = await processOver(own, [report('0 0 * * *')]);
    await before.stop();
    const after = await processOver(own, [report('0 0 30 2 *')]);
    await own.clock.advance(3 * day);
    expect(await after.list()).toEqual([]);
    const scheduled = after.schedule(report('0 0 * * *'), { id: 'never', schedule: '0 0 30 2 *' });
    await expect(scheduled).rejects.toThrow('has no launch after now');
  });

  const nightly = (launches: Date[], options: object, handler: Handler<void, unknown> = () => undefined) =>
    defineFunction<void, void, unknown>({ name: 'nightly', ...options }, (input, run) => {
      launches.push(run.dueAt);
      return handler(input, run);
    });
  const at = (text: string) => new Date(`${text}Z`);

  test('launch by the clocks of their zone, in the process that is there', async () => {
    const own = { ...world(), clock: manualClock(Date.UTC(2026, 2, 27, 12)) };
    const launches: Date[] = [];
    const work = nightly(launches, { cron: { schedule: '30 2 * * *', timeZone: 'Europe/Berlin' } });
    await processOver(own, [work]);
    await processOver(own, [work]);
    await own.clock.advance(4 * day);
    // On March 29th the clocks of Berlin skip from 2 to 3.
    expect(launches).toEqual([at('2026-03-28T01:30:00'), at('2026-03-30T00:30:00'), at('2026-03-31T00:30:00')]);
  });

  test.each([
    ['five fields', '30 2 * * *', ['2026-03-28T02:30:00', '2026-03-29T02:30:00']],
    ['six fields, which begin with seconds', '15 30 2 * * *', ['2026-03-28T02:30:15', '2026-03-29T02:30:15']],
    ['seven fields, which end with a year', '15 30 2 28 3 * 2026', ['2026-03-28T02:30:15']],
    ['a name', '@daily', ['2026-03-28T00:00:00', '2026-03-29T00:00:00']],
  ])('have %s, in the code and as data', async (_, schedule, expected) => {
    const own = { ...world(), clock: manualClock(Date.UTC(2026, 2, 27, 12)) };
    const declared: Date[] = [];
    const added: Date[] = [];
    const data = nightly(added, { name: 'data' });
    const functions = await processOver(own, [nightly(declared, { cron: schedule }), data]);
    await functions.schedule(data, { id: 'a', schedule });
    await own.clock.advance(2 * day);
    expect(declared).toEqual(expected.map(at));
    expect(added).toEqual(expected.map(at));
  });

  test('of six fields launch as often as they say', async () => {
    const own = { ...world(), clock: manualClock(Date.UTC(2026, 2, 27, 12)) };
    const launches: Date[] = [];
    await processOver(own, [nightly(launches, { cron: '*/10 * * * * *' })]);
    await own.clock.advance(60 * second);
    expect(launches.map((launch) => launch.getUTCSeconds())).toEqual([10, 20, 30, 40, 50, 0]);
  });

  test.each([
    [undefined, ['2026-01-04T02:00:00', '2026-01-05T02:00:00']],
    ['skip', ['2026-01-05T02:00:00']],
    [
      'all',
      [
        '2026-01-01T02:00:00',
        '2026-01-02T02:00:00',
        '2026-01-03T02:00:00',
        '2026-01-04T02:00:00',
        '2026-01-05T02:00:00',
      ],
    ],
  ])('that were due while no process ran follow the rule %s', async (missed, expected) => {
    const own = world();
    const launches: Date[] = [];
    const cron = { schedule: '0 2 * * *', ...(missed === undefined ? {} : { missed }) };
    const before = await processOver(own, [nightly(launches, { cron })]);
    await before.stop();
    await own.clock.advance(3 * day + 12 * hour);
    await processOver(own, [nightly(launches, { cron: { ...cron, overlap: 'allow' } })]);
    await own.clock.settle();
    await own.clock.advance(day);
    expect(launches).toEqual(expected.map(at));
  });

  test('launch no run beside the one before, unless they are told to', async () => {
    const own = world();
    for (const [overlap, expected] of [
      ['skip', 1],
      ['allow', 3],
    ] as const) {
      const launches: Date[] = [];
      const work = nightly(launches, { name: overlap, cron: { schedule: '* * * * *', overlap } }, never);
      await processOver(own, [work]);
      await own.clock.advance(3 * minute);
      expect(launches).toHaveLength(expected);
    }
  });

  test('keep their next launch at a deploy; changed ones follow the new code, and removed ones end', async () => {
    const own = world();
    const launches: Date[] = [];
    const first = await processOver(own, [nightly(launches, { cron: '0 2 * * *' })]);
    await own.clock.advance(hour);
    await first.stop();
    const second_ = await processOver(own, [nightly(launches, { cron: '0 2 * * *' })]);
    await own.clock.advance(2 * hour);
    expect(launches).toEqual([at('2026-01-01T02:00:00')]);
    await second_.stop();
    const third = await processOver(own, [nightly(launches, { cron: '0 5 * * *' })]);
    await own.clock.advance(day);
    expect(launches).toHaveLength(2);
    await third.stop();
    await processOver(own, [nightly(launches, {})]);
    await own.clock.advance(7 * day);
    expect(launches).toHaveLength(2);
  });

  test('of a later version are left to it', async () => {
    const own = world();
    const [before, after]: [Date[], Date[]] = [[], []];
    await processOver(own, [nightly(after, { version: 2, cron: '0 5 * * *' })]);
    await processOver(own, [nightly(before, { version: 1, cron: '0 2 * * *' })]);
    await own.clock.advance(day);
    expect([before.length, after]).toEqual([0, [at('2026-01-01T05:00:00')]]);
  });

  test('that are data are added, changed and removed', async () => {
    const own = world();
    const seen: number[] = [];
    const work = plain(({ n }) => {
      seen.push(n);
    });
    const functions = await processOver(own, [work]);
    await functions.schedule(work, { id: 'a', schedule: '0 * * * *', input: { n: 1 } });
    await functions.schedule(work, { id: 'b', schedule: '30 * * * *', input: { n: 2 } });
    await own.clock.advance(2 * hour);
    expect(seen).toEqual([2, 1, 2, 1]);
    await functions.schedule(work, { id: 'b', schedule: '30 * * * *', input: { n: 3 } });
    expect([await functions.unschedule(work, 'a'), await functions.unschedule(work, 'a')]).toEqual([true, false]);
    await own.clock.advance(hour);
    expect(seen.slice(4)).toEqual([3]);
    await expect(functions.schedule(work, { id: 'a', schedule: 'soon', input: { n: 1 } })).rejects.toThrow(
      'cron expression',
    );
  });

  test('of a year cost no history', async () => {
    const own = world();
    const launches: Date[] = [];
    const functions = await processOver(own, [nightly(launches, { cron: '0 2 * * *' })]);
    await own.clock.advance(365 * day);
    expect(launches).toHaveLength(365);
    expect((await functions.list()).length).toBeLessThan(4);
  });
});

describe('limits', () => {
  /** The most that were under way at once, of all and of each key. */
  function watched(clock: ManualClock) {
    const now = new Map<string, number>();
    const most = new Map<string, number>();
    const starts: { readonly key: string; readonly at: number }[] = [];
    const count = (key: string, change: number): void => {
      now.set(key, (now.get(key) ?? 0) + change);
      most.set(key, Math.max(most.get(key) ?? 0, now.get(key) ?? 0));
    };
    const handler: Handler<{ key: string }, void> = async ({ key }, { signal }) => {
      starts.push({ key, at: clock.now() });
      for (const name of [key, 'all']) count(name, 1);
      await clock.sleep(second, signal);
      for (const name of [key, 'all']) count(name, -1);
    };
    return { most, starts, handler };
  }

  test('hold over all processes, for the function and for each key', async () => {
    const own = world();
    const { most, handler } = watched(own.clock);
    const keyed = defineFunction<{ key: string }, { key: string }, void>(
      { name: 'sync', concurrency: [{ limit: 3 }, { limit: 1, key: ({ key }) => key }] },
      handler,
    );
    const processes = [await processOver(own, [keyed]), await processOver(own, [keyed])];
    for (let n = 0; n < 40; n += 1) await (processes[n % 2] as Functions).enqueue(keyed, { key: `k${n % 4}` });
    await own.clock.advance(minute);
    expect(await processes[0]?.list({ state: 'succeeded' })).toHaveLength(40);
    expect(Object.fromEntries(most)).toEqual({ all: 3, k0: 1, k1: 1, k2: 1, k3: 1 });
  });

  test('of one scope are one limit, also of several functions', async () => {
    const own = world();
    const { most, handler } = watched(own.clock);
    const [one, two] = ['one', 'two'].map((name) =>
      defineFunction<{ key: string }, { key: string }, void>(
        { name, concurrency: { limit: 2, scope: 'crm' } },
        handler,
      ),
    ) as [FunctionDefinition<{ key: string }, void>, FunctionDefinition<{ key: string }, void>];
    const functions = await processOver(own, [one, two]);
    for (let n = 0; n < 6; n += 1) for (const fn of [one, two]) await functions.enqueue(fn, { key: fn.name });
    await own.clock.advance(minute);
    expect(most.get('all')).toBe(2);
    expect(await functions.list({ state: 'succeeded' })).toHaveLength(12);
  });

  test('let keys take turns, however many runs one of them has', async () => {
    const own = world();
    const { starts, handler } = watched(own.clock);
    const fair = defineFunction<{ key: string }, { key: string }, void>(
      { name: 'fair', concurrency: [{ limit: 2 }, { limit: 2, key: ({ key }) => key }] },
      handler,
    );
    const functions = await processOver(own, [fair], { starts: false });
    await functions.enqueueMany(
      fair,
      Array.from({ length: 30 }, () => ({ key: 'big' })),
    );
    for (const key of ['b', 'c', 'd']) await functions.enqueueMany(fair, [{ key }, { key }]);
    await functions.start();
    await own.clock.advance(6 * second);
    const first = starts.slice(0, 12).map(({ key }) => key);
    for (const key of ['b', 'c', 'd']) expect(first.filter((each) => each === key)).toHaveLength(2);
  });

  test('of a rate let no more start in a time, and lose none', async () => {
    const own = world();
    const { starts, handler } = watched(own.clock);
    const paced = defineFunction<{ key: string }, { key: string }, void>(
      { name: 'paced', rate: { limit: 6, per: '1m', burst: 2 } },
      handler,
    );
    const functions = await processOver(own, [paced]);
    await functions.enqueueMany(
      paced,
      Array.from({ length: 8 }, () => ({ key: 'a' })),
    );
    await own.clock.advance(5 * minute);
    const begun = starts.map(({ at }) => at - Date.UTC(2026, 0, 1));
    expect(begun).toEqual([0, 0, 10, 20, 30, 40, 50, 60].map((seconds) => seconds * second));
  });

  test('of a rate for each key do not hold up other keys', async () => {
    const own = world();
    const { starts, handler } = watched(own.clock);
    const paced = defineFunction<{ key: string }, { key: string }, void>(
      { name: 'paced', rate: { limit: 1, per: '1h', key: ({ key }) => key } },
      handler,
    );
    const functions = await processOver(own, [paced]);
    await functions.enqueueMany(
      paced,
      ['a', 'a', 'b', 'c', 'c'].map((key) => ({ key })),
    );
    await own.clock.advance(minute);
    expect(starts.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    await own.clock.advance(2 * hour);
    expect(starts.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'a', 'c']);
  });

  test('need keys that are strings', async () => {
    const own = world();
    const odd = defineFunction<{ key: string }>({ name: 'odd', concurrency: { limit: 1, key: (() => 7) as never } });
    const functions = await processOver(own, [odd]);
    await expect(functions.enqueue(odd, { key: 'a' })).rejects.toMatchObject({ type: 'invalid_input' });
  });
});

test('a paused function starts nothing, in no process, until it is resumed', async () => {
  const own = world();
  let calls = 0;
  const work = plain(({ n }) => {
    calls += 1;
    return n;
  });
  const [first, other] = [await processOver(own, [work]), await processOver(own, [work])];
  await own.clock.settle();
  await other.pause(work);
  const run = await first.enqueue(work, { n: 1 });
  await own.clock.advance(hour);
  expect([(await run.status()).state, calls]).toEqual(['queued', 0]);
  await other.resume(work);
  expect([await run.result(), calls]).toEqual([1, 1]);
});

test('waiting for a result that is over while the store is being read rejects, and does not end the process', async () => {
  const own = world();
  const storage: Storage = {
    ...own.storage,
    read: (work) =>
      ResultAsync.fromSafePromise(new Promise((resolve) => setTimeout(resolve, 1))).andThen(() =>
        own.storage.read(work),
      ),
  };
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
  try {
    const work = plain(never);
    const functions = await processOver({ ...own, storage }, [work], { starts: false });
    const run = await functions.enqueue(work, { n: 1 });
    const waiting = run.result({ signal: AbortSignal.abort('before') }).catch((error: unknown) => error);
    expect(await waiting).toBe('before');
    expect(unhandled).toEqual([]);
  } finally {
    process.removeListener('unhandledRejection', note);
    for (const other of others) process.on('unhandledRejection', other);
  }
});

test('a row that cannot be read is logged each second, and does not end the process', async () => {
  const own = world();
  let isBroken = true;
  const storage: Storage = {
    ...own.storage,
    write: (work) =>
      own.storage.write((view) => {
        if (isBroken && view.list(runs, { index: 'live' }).length > 0) throw new Error('the row is broken');
        return work(view);
      }),
  };
  const work = plain(() => 'done');
  const functions = await processOver({ ...own, storage }, [work]);
  await own.clock.settle();
  const run = await functions.enqueue(work, { n: 1 });
  await own.clock.advance(3 * second);
  expect((await run.status()).state).toBe('running');
  isBroken = false;
  await own.clock.advance(second);
  expect(await run.result()).toBe('done');
});

describe('a store that fails', () => {
  const failure = { type: 'storage_failed', reason: 'full', message: 'the disk is full' } as const;

  test.each(['before', 'after'] as const)('%s it has written loses no run and records each once', async (when) => {
    const inner = memoryStorage();
    for (let at = 2; at <= 13; at += 1) {
      const own = world(inner);
      const storage = flaky(inner, { write: { calls: [at], when, error: failure } });
      const calls = new Map<number, number>();
      const work = defineFunction<{ n: number }, { n: number }, number>({ name: `work-${when}-${at}` }, ({ n }) => {
        calls.set(n, (calls.get(n) ?? 0) + 1);
        return n;
      });
      const functions = await processOver({ ...own, storage }, [work], { concurrency: 2 });
      const accepted: { n: number; run: Awaited<ReturnType<typeof functions.enqueue<{ n: number }, number>>> }[] = [];
      for (let n = 0; n < 5; n += 1) {
        const run = await functions.enqueue(work, { n }).catch((error: unknown) => {
          expect(typeOf(error)).toBe('storage_failed');
          return undefined;
        });
        if (run !== undefined) accepted.push({ n, run });
      }
      await own.clock.advance(10 * second);
      for (const { n, run } of accepted) expect(await run.result({ timeout: 1 })).toBe(n);
      expect(accepted.length).toBeGreaterThan(3);
      expect((await functions.list({ function: work.name, state: ['running', 'queued'] })).length).toBe(0);
      await functions.stop();
    }
  });
});

test.each<[string, () => unknown, string]>([
  ['no name', () => defineFunction({} as never), 'name'],
  ['a bad name', () => defineFunction({ name: 'no spaces' }), 'name'],
  ['an unknown option', () => defineFunction({ name: 'a', retries: 3 } as never), 'retries'],
  ['an unknown retry', () => defineFunction({ name: 'a', retry: { attempts: 0 } }), 'attempts'],
  ['a bad timeout', () => defineFunction({ name: 'a', timeout: '8d' }), 'timeout'],
  ['a bad duration', () => defineFunction({ name: 'a', retry: { delay: 'soon' } }), 'delay'],
  ['a handler that is none', () => defineFunction({ name: 'a' }, 1 as never), 'handler'],
  ['a cron that is none', () => defineFunction({ name: 'a', cron: 'at night' }), 'cron'],
  ['a cron of six fields with a year', () => defineFunction({ name: 'a', cron: '30 2 1 1 * 2027' }), 'cron'],
  [
    'an unknown zone',
    () => defineFunction({ name: 'a', cron: { schedule: '@daily', timeZone: 'Berlin' } }),
    'timeZone',
  ],
  [
    'two crons of one id',
    () => defineFunction({ name: 'a', cron: [{ schedule: '@daily' }, { schedule: '@hourly' }] }),
    'id',
  ],
  ['a limit of none', () => defineFunction({ name: 'a', concurrency: 0 }), 'concurrency'],
  ['a rate without a time', () => defineFunction({ name: 'a', rate: { limit: 1 } as never }), 'per'],
])('definitions with %s are refused', (_name, define, what) => {
  expect(define).toThrow(TypeError);
  expect(define).toThrow(what);
});

test('calls with wrong arguments are refused before anything is stored', async () => {
  const own = world();
  const work = plain(() => undefined);
  const other = defineFunction<{ n: number }>({ name: 'other' });
  const functions = await processOver(own, [work]);
  const enqueue = functions.enqueue.bind(functions) as (...args: unknown[]) => Promise<unknown>;
  for (const args of [
    [{ name: 'work', version: 1 }, { n: 1 }],
    [other, { n: 1 }],
    [work, { n: 1 }, { dealy: 1 }],
    [work, { n: 1 }, { delay: -1 }],
    [work, { n: 1 }, { delay: '401d' }],
    [work, { n: 1 }, { priority: 0 }],
    [work, { n: 1 }, { runAt: new Date(Number.NaN) }],
    [work, { n: 1 }, { unique: '' }],
    [work, { n: 1 }, { unique: { key: 'a', until: 'soon' } }],
    [work, { n: 1 }, { idempotencyKey: 'x'.repeat(257) }],
    [work, { n: 1 }, { meta: Object.fromEntries(Array.from({ length: 17 }, (_none, n) => [n, ''])) }],
    [work, { n: 1 }, { alongside: () => undefined }],
  ])
    await expect(enqueue(...args)).rejects.toThrow(TypeError);
  expect(await functions.list()).toEqual([]);
  expect(() => createFunctions(undefined as never, [work, work])).toThrow('two definitions have the name work');
});
