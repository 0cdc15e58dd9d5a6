import fc from 'fast-check';
import { errAsync, ok } from 'neverthrow';
import { afterEach, describe, expect, test } from 'vitest';
import { memoryStorage, recordingDelivery, rerunning } from '../../../adapters/memory/index.js';
import {
  defineFunction,
  type FunctionDefinition,
  type Handler,
  Snooze,
} from '../../../src/functions/define-function.js';
import { functionCounts, hasEnded, runs, type StoredRun, steps } from '../../../src/functions/run.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import type {
  BatchEnd,
  EnqueueOptions,
  Functions,
  FunctionsError,
} from '../../../src/operations/functions/functions-api.js';
import type { Storage } from '../../../src/ports/storage.js';
import { hour, minute, second } from '../../../src/shared/duration.js';
import { processOver, stopAll, type World, world } from '../../support/function-processes.js';

afterEach(stopAll);

/** The beginning of a test. */
const began = Date.UTC(2026, 0, 1);

const plain = <Out>(handler: Handler<{ n: number }, Out>, options: object = {}) =>
  defineFunction<{ n: number }, { n: number }, Out>({ name: 'work', ...options }, handler);

interface Keyed {
  readonly key: string;
  readonly host?: string;
}
const keyed = (handler: Handler<Keyed, unknown>, options: object = {}) =>
  defineFunction<Keyed, Keyed, unknown>(
    { name: 'sync', concurrency: { limit: 1, key: ({ key }) => key }, ...options },
    handler,
  );

/** Notes the inputs with which a handler was called, and how many seconds after the beginning of the test. */
function noting({ clock }: World) {
  const calls: [unknown, number][] = [];
  const handler = (input: unknown): void => {
    calls.push([input, (clock.now() - began) / second]);
  };
  return { calls, handler };
}

describe('debounce', () => {
  test('runs once with the last input, when the key has been quiet for the wait', async () => {
    const own = world();
    const { calls, handler } = noting(own);
    const work = plain(handler);
    const functions = await processOver(own, [work]);
    const debounce = { key: 'a', wait: '30s' };
    const first = await functions.enqueue(work, { n: 1 }, { debounce });
    expect(first.isNew).toBe(true);
    for (const n of [2, 3]) {
      await own.clock.advance(20 * second);
      const again = await functions.enqueue(work, { n }, { debounce });
      expect([again.id, again.isNew]).toEqual([first.id, false]);
    }
    expect((await first.status()).dueAt).toEqual(new Date(began + 70 * second));
    const other = await functions.enqueue(work, { n: 9 }, { debounce: { key: 'b', wait: '1s' } });
    expect(other.isNew).toBe(true);
    await own.clock.advance(10 * minute);
    expect(calls).toEqual([
      [{ n: 9 }, 41],
      [{ n: 3 }, 70],
    ]);
  });

  test('never waits longer than max after the first enqueue', async () => {
    const own = world();
    const { calls, handler } = noting(own);
    const work = plain(handler);
    const functions = await processOver(own, [work]);
    for (let n = 0; n < 20; n += 1) {
      await functions.enqueue(work, { n }, { debounce: { key: 'a', wait: '30s', max: '60s' } });
      await own.clock.advance(10 * second);
    }
    await own.clock.advance(10 * minute);
    // The seventh begins the next wait.
    expect(calls).toEqual([
      [{ n: 5 }, 60],
      [{ n: 11 }, 120],
      [{ n: 17 }, 180],
      [{ n: 19 }, 220],
    ]);
  });

  test('a run that has started gets a new one, also between its attempts', async () => {
    const own = world();
    const work = plain(({ n }) => {
      if (n === 1) throw new Error('later');
    });
    const functions = await processOver(own, [work]);
    const first = await functions.enqueue(work, { n: 1 }, { debounce: { key: 'a', wait: 0 } });
    await own.clock.settle();
    expect((await first.status()).state).toBe('scheduled');
    const second_ = await functions.enqueue(work, { n: 2 }, { debounce: { key: 'a', wait: '30s' } });
    expect([second_.isNew, second_.id === first.id]).toEqual([true, false]);
  });

  test('a run that is due and has no slot yet is moved too, but not past max', async () => {
    const own = world();
    const work = plain(() => undefined);
    const functions = await processOver(own, [work], { starts: false });
    const debounce = { key: 'a', wait: '30s', max: '1m' };
    const run = await functions.enqueue(work, { n: 1 }, { debounce });
    await own.clock.advance(45 * second);
    await functions.enqueue(work, { n: 2 }, { debounce });
    expect(await run.status()).toMatchObject({ state: 'scheduled', dueAt: new Date(began + minute), input: { n: 2 } });
    await own.clock.advance(45 * second);
    await functions.enqueue(work, { n: 3 }, { debounce });
    expect(await run.status()).toMatchObject({ state: 'queued', dueAt: new Date(began + minute), input: { n: 3 } });
  });

  test('the last call decides priority, meta and ttl; a long input replaces a short one and the other way round', async () => {
    const own = world();
    const echo = defineFunction<string, string, number>({ name: 'echo' }, (input) => input.length);
    const functions = await processOver(own, [echo]);
    const call = (length: number, options: EnqueueOptions = {}) =>
      functions.enqueue(echo, 'x'.repeat(length), { ...options, debounce: { key: 'a', wait: '30s' } });
    const run = await call(10, { priority: 9, meta: { by: 'first' }, ttl: '31s' });
    await call(2000);
    expect((await run.status()).input).toHaveLength(2000);
    await call(20, { meta: { by: 'third' } });
    await own.clock.advance(30 * second);
    expect(await run.status()).toMatchObject({
      state: 'succeeded',
      result: 20,
      priority: 50,
      meta: { by: 'third' },
      input: 'x'.repeat(20),
    });
    await call(5, { ttl: '10s' });
    const expired = await call(5, { ttl: '20s' });
    await own.clock.advance(20 * second);
    expect(await expired.status()).toMatchObject({ state: 'cancelled', error: { message: 'expired' } });
  });

  test('the limits of the moved run are those of its last input', async () => {
    const own = world();
    const begun: string[] = [];
    const sync = keyed(async ({ key }, { signal }) => {
      begun.push(key);
      await own.clock.sleep(minute, signal);
    });
    const functions = await processOver(own, [sync]);
    await functions.enqueue(sync, { key: 'a' });
    await functions.enqueue(sync, { key: 'a' }, { debounce: { key: 'x', wait: '1s' } });
    await functions.enqueue(sync, { key: 'b' }, { debounce: { key: 'x', wait: '1s' } });
    await own.clock.advance(2 * second);
    expect(begun).toEqual(['a', 'b']);
  });

  test('a cancelled run is followed by a new one', async () => {
    const own = world();
    const work = plain(() => undefined);
    const functions = await processOver(own, [work]);
    const first = await functions.enqueue(work, { n: 1 }, { debounce: { key: 'a', wait: '30s' } });
    expect(await first.cancel()).toBe(true);
    expect((await functions.enqueue(work, { n: 1 }, { debounce: { key: 'a', wait: '30s' } })).isNew).toBe(true);
  });

  test('is one run however many call at once', async () => {
    const own = world(rerunning(memoryStorage()));
    const { calls, handler } = noting(own);
    const work = plain(handler);
    const functions = await processOver(own, [work]);
    const debounce = { key: 'a', wait: '1s' };
    const found = await Promise.all(
      Array.from({ length: 50 }, (_none, n) => functions.enqueue(work, { n }, { debounce })),
    );
    expect(found.filter(({ isNew }) => isNew)).toHaveLength(1);
    await own.clock.advance(minute);
    expect(calls).toEqual([[{ n: 49 }, 1]]);
  });

  test.each<[string, object, RegExp]>([
    ['no key', { debounce: { wait: '1s' } }, /debounce.key is missing/],
    ['no wait', { debounce: { key: 'a' } }, /debounce.wait is missing/],
    ['an empty key', { debounce: { key: '', wait: '1s' } }, /debounce.key takes a string of 1 to 256/],
    ['a key that is too long', { debounce: { key: 'x'.repeat(257), wait: '1s' } }, /debounce.key takes/],
    ['a wait that is too long', { debounce: { key: 'a', wait: '401d' } }, /debounce.wait takes .*at most 400d/],
    ['an invalid wait', { debounce: { key: 'a', wait: 'soon' } }, /debounce.wait takes/],
    ['an unknown member', { debounce: { key: 'a', wait: '1s', leading: true } }, /no option debounce.leading/],
    ['a max below the wait', { debounce: { key: 'a', wait: '1m', max: '30s' } }, /debounce.max is at least wait/],
    ['unique', { debounce: { key: 'a', wait: '1s' }, unique: 'a' }, /debounce excludes unique/],
    ['delay', { debounce: { key: 'a', wait: '1s' }, delay: 1 }, /debounce excludes delay/],
    ['runAt', { debounce: { key: 'a', wait: '1s' }, runAt: new Date(began) }, /debounce excludes runAt/],
    ['delay with runAt', { delay: '1s', runAt: new Date(began) }, /delay excludes runAt/],
    ['an idempotency key', { debounce: { key: 'a', wait: '1s' }, idempotencyKey: 'a' }, /excludes idempotencyKey/],
  ])('refuses %s', async (_name, options, message) => {
    const own = world();
    const work = plain(() => undefined);
    const functions = await processOver(own, [work], { starts: false });
    await expect(functions.enqueue(work, { n: 1 }, options as EnqueueOptions)).rejects.toThrow(message);
    await expect(functions.enqueue(work, { n: 1 }, options as EnqueueOptions)).rejects.toThrow(TypeError);
    expect(await functions.list()).toEqual([]);
  });

  test('is not for enqueueMany', async () => {
    const own = world();
    const work = plain(() => undefined);
    const functions = await processOver(own, [work], { starts: false });
    const options = { debounce: { key: 'a', wait: '1s' } } as object;
    await expect(functions.enqueueMany(work, [{ n: 1 }], options)).rejects.toThrow(/no option debounce/);
    const both = { delay: '1s', runAt: new Date(began) };
    await expect(functions.enqueueMany(work, [{ n: 1 }], both)).rejects.toThrow(/delay excludes runAt/);
  });
});

describe('a pause of one key', () => {
  const sleeping = (own: World, begun: string[]) =>
    keyed(
      async ({ key, host }, { signal }) => {
        begun.push(host === undefined ? key : `${key}@${host}`);
        await own.clock.sleep(second, signal);
      },
      { concurrency: [{ limit: 4 }, { limit: 1, key: ({ key }: Keyed) => key }] },
    );

  test('holds its runs in all processes and lets other keys go on, until it is resumed', async () => {
    const own = world();
    const begun: string[] = [];
    const sync = sleeping(own, begun);
    const [first, other] = [await processOver(own, [sync]), await processOver(own, [sync])];
    const caller = await processOver(own, [sync], { starts: false });
    await caller.pause(sync, 'a');
    await caller.pause(sync, 'a');
    for (const functions of [first, other]) for (const key of ['a', 'b']) await functions.enqueue(sync, { key });
    await own.clock.advance(minute);
    expect(begun).toEqual(['b', 'b']);
    expect(await first.list({ state: 'queued' })).toHaveLength(2);
    await caller.resume(sync, 'b');
    await own.clock.advance(minute);
    expect(begun).toEqual(['b', 'b']);
    await caller.resume(sync, 'a');
    await own.clock.advance(minute);
    expect(begun).toEqual(['b', 'b', 'a', 'a']);
  });

  test('lets the run under way end', async () => {
    const own = world();
    const sync = sleeping(own, []);
    const functions = await processOver(own, [sync]);
    const run = await functions.enqueue(sync, { key: 'a' });
    await own.clock.settle();
    await functions.pause(sync, 'a');
    await own.clock.advance(second);
    expect((await run.status()).state).toBe('succeeded');
  });

  test('and of the function are independent', async () => {
    const own = world();
    const begun: string[] = [];
    const sync = sleeping(own, begun);
    const functions = await processOver(own, [sync]);
    await functions.pause(sync);
    await functions.pause(sync, '');
    await functions.enqueueMany(sync, [{ key: '' }, { key: 'b' }]);
    await own.clock.advance(minute);
    expect(begun).toEqual([]);
    await functions.resume(sync);
    await own.clock.advance(minute);
    expect(begun).toEqual(['b']);
    await functions.resume(sync, '');
    await own.clock.advance(minute);
    expect(begun).toEqual(['b', '']);
  });

  test('applies to any limit or rate of the function with a key', async () => {
    const own = world();
    const begun: string[] = [];
    const sync = keyed(({ key, host }) => void begun.push(`${key}@${host}`), {
      concurrency: { limit: 2, key: ({ key }: Keyed) => key },
      rate: { limit: 100, per: '1s', key: ({ host = '' }: Keyed) => host, scope: 'hosts' },
    });
    const functions = await processOver(own, [sync], { starts: false });
    await functions.pause(sync, 'down');
    const inputs = Array.from({ length: 300 }, () => ({ key: 'a', host: 'down' }));
    await functions.enqueueMany(sync, [...inputs, { key: 'a', host: 'up' }, { key: 'down', host: 'up' }]);
    await functions.start();
    await own.clock.advance(second);
    // Also behind three hundred of its own key.
    expect(begun).toEqual(['a@up']);
    await functions.resume(sync, 'down');
    await own.clock.advance(minute);
    expect(begun).toHaveLength(302);
  });

  test('of hundreds of keys does not starve the others', async () => {
    const own = world();
    const begun: string[] = [];
    const sync = sleeping(own, begun);
    const functions = await processOver(own, [sync], { starts: false });
    const keys = Array.from({ length: 400 }, (_none, at) => `k${1000 + at}`);
    for (const key of keys) await functions.pause(sync, key);
    await functions.enqueueMany(
      sync,
      [...keys, 'k1200x'].map((key) => ({ key })),
    );
    await functions.start();
    await own.clock.advance(second);
    expect(begun).toEqual(['k1200x']);
  });

  test.each<[string, (functions: Functions, fn: FunctionDefinition<Keyed>) => Promise<void>, RegExp]>([
    ['that is no string', (functions, fn) => functions.pause(fn, 7 as never), /key takes a string/],
    ['that is too long', (functions, fn) => functions.resume(fn, 'x'.repeat(257)), /key takes a string of at most 256/],
  ])('is refused for a key %s', async (_name, call, message) => {
    const own = world();
    const sync = sleeping(own, []);
    const functions = await processOver(own, [sync]);
    await expect(call(functions, sync)).rejects.toThrow(message);
  });

  test('is refused for a function without limits by key', async () => {
    const own = world();
    const work = plain(() => undefined, { concurrency: 3, rate: { limit: 1, per: '1s' } });
    const functions = await processOver(own, [work]);
    for (const call of [() => functions.pause(work, 'a'), () => functions.resume(work, 'a')])
      await expect(call()).rejects.toThrow(/work has no limit or rate with a key/);
  });
});

test('keys at their limit or rate do not starve the others, however many they are', async () => {
  const own = world();
  const begun: string[] = [];
  const sync = keyed(({ key }) => void begun.push(key), {
    concurrency: [{ limit: 3 }],
    rate: { limit: 1, per: '1h', key: ({ key }: Keyed) => key },
  });
  const functions = await processOver(own, [sync], { concurrency: 1 });
  const keys = Array.from({ length: 300 }, (_none, at) => `k${1000 + at}`);
  await functions.enqueueMany(
    sync,
    keys.flatMap((key) => [{ key }, { key }]),
  );
  await own.clock.advance(second);
  expect(begun).toHaveLength(300);
  await functions.enqueue(sync, { key: 'k1250x' });
  await own.clock.advance(second);
  expect(begun.slice(300)).toEqual(['k1250x']);
});

describe('a retry of many', () => {
  /** So many runs of which the first attempt has failed for good. */
  async function failedRuns(own: World, count: number) {
    const { calls, handler } = noting(own);
    let isBroken = true;
    const work = plain(
      (input) => {
        if (isBroken) throw new Error('down');
        handler(input);
      },
      { retry: { attempts: 1 } },
    );
    const functions = await processOver(own, [work], { concurrency: 1000 });
    await functions.enqueueMany(
      work,
      Array.from({ length: count }, (_none, n) => ({ n })),
    );
    await own.clock.settle();
    isBroken = false;
    return { functions, work, calls };
  }

  test('with a rate begins so many a second', async () => {
    const own = world();
    const { functions, calls } = await failedRuns(own, 7);
    await own.clock.advance(second);
    expect(await functions.retry({ state: 'failed' }, { rate: 2 })).toBe(7);
    expect(await functions.list({ state: 'scheduled' })).toHaveLength(6);
    await own.clock.advance(minute);
    expect(calls.map(([, at]) => at)).toEqual([1, 1.5, 2, 2.5, 3, 3.5, 4]);
  });

  test('keeps the rate over many writes, also when the store runs them again', async () => {
    const own = world(rerunning(memoryStorage()));
    const { functions, calls } = await failedRuns(own, 500);
    expect(await functions.retry({ state: 'failed' }, { rate: 50 })).toBe(500);
    await own.clock.advance(minute);
    expect(calls.map(([, at]) => at)).toEqual(Array.from({ length: 500 }, (_none, at) => at / 50));
  });

  test('with less than one a second', async () => {
    const own = world();
    const { functions, calls } = await failedRuns(own, 3);
    await functions.retry({}, { rate: 0.1 });
    await own.clock.advance(minute);
    expect(calls.map(([, at]) => at)).toEqual([0, 10, 20]);
  });

  test('without a rate begins all at once', async () => {
    const own = world();
    const { functions, calls } = await failedRuns(own, 3);
    expect(await functions.retry({}, {})).toBe(3);
    await own.clock.settle();
    expect(calls.map(([, at]) => at)).toEqual([0, 0, 0]);
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', 0.001])('refuses the rate %s', async (rate) => {
    const own = world();
    const { functions } = await failedRuns(own, 1);
    await expect(functions.retry({}, { rate: rate as number })).rejects.toThrow(
      /functions.retry: rate takes a number of/,
    );
    await expect(functions.retry({}, { speed: 5 } as object)).rejects.toThrow(/no option speed/);
    expect(await functions.list({ state: 'failed' })).toHaveLength(1);
  });
});

describe('a retry of a run with a key', () => {
  const failing = () =>
    plain(
      ({ n }) => {
        if (n === 1) throw new Error('down');
      },
      { retry: { attempts: 1 } },
    );

  test.each<[string, EnqueueOptions]>([
    ['unique', { unique: 'a' }],
    ['unique until the end', { unique: { key: 'a', until: 'ended' } }],
    ['debounce', { debounce: { key: 'a', wait: 0 } }],
  ])('is left out while a newer run of the same %s key waits', async (_name, options) => {
    const own = world();
    const work = failing();
    const functions = await processOver(own, [work]);
    const failed = await functions.enqueue(work, { n: 1 }, options);
    await own.clock.settle();
    await functions.pause(work);
    const newer = await functions.enqueue(work, { n: 2 }, options);
    expect(newer.isNew).toBe(true);
    expect(await functions.retry({ state: 'failed' })).toBe(0);
    expect((await failed.status()).state).toBe('failed');
    await functions.resume(work);
    await own.clock.settle();
    expect((await newer.status()).state).toBe('succeeded');
    expect(await functions.retry({ state: 'failed' })).toBe(1);
  });

  test('leads its unique key to it again, so that there are not two', async () => {
    const own = world();
    const work = failing();
    const functions = await processOver(own, [work]);
    const options = { unique: { key: 'a', until: 'ended' } } as const;
    const first = await functions.enqueue(work, { n: 1 }, options);
    await own.clock.settle();
    await functions.enqueue(work, { n: 2 }, options);
    await own.clock.settle();
    await functions.pause(work);
    expect(await functions.retry({ state: 'failed' })).toBe(1);
    const again = await functions.enqueue(work, { n: 3 }, options);
    expect([again.id, again.isNew]).toEqual([first.id, false]);
  });
});

describe('an idempotency key of a call that a unique key leads to an existing run', () => {
  test('leads to that run and its result for a day, when the inputs are the same', async () => {
    const own = world();
    let calls = 0;
    const work = plain(() => (calls += 1), { keep: { succeeded: { age: '1m', count: 1 } } });
    const functions = await processOver(own, [work]);
    const delayed = await functions.enqueue(work, { n: 1 }, { unique: 'a', delay: '2d' });
    await own.clock.advance(47 * hour);
    const call = () => functions.enqueue(work, { n: 1 }, { unique: 'a', idempotencyKey: 'k' });
    const late = await call();
    expect([late.id, late.isNew]).toEqual([delayed.id, false]);
    await own.clock.advance(23 * hour);
    await functions.enqueue(work, { n: 2 });
    await own.clock.advance(2 * minute);
    const again = await call();
    expect([again.id, again.isNew, await again.result()]).toEqual([delayed.id, false, 1]);
    const other = functions.enqueue(work, { n: 3 }, { idempotencyKey: 'k' });
    await expect(other).rejects.toMatchObject({ type: 'idempotency_mismatch' });
    await own.clock.advance(hour);
    expect((await call()).isNew).toBe(true);
  });

  test('is not stored when that run has another input', async () => {
    const own = world();
    const work = plain(() => undefined);
    const functions = await processOver(own, [work]);
    await functions.enqueue(work, { n: 1 }, { unique: 'a', delay: '1m' });
    const call = () => functions.enqueue(work, { n: 2 }, { unique: 'a', idempotencyKey: 'k' });
    expect((await call()).isNew).toBe(false);
    await own.clock.advance(minute);
    expect((await call()).isNew).toBe(true);
  });

  test('is one of at most a hundred', async () => {
    const own = world();
    const work = plain(() => undefined);
    const functions = await processOver(own, [work], { starts: false });
    const call = (at: number) => functions.enqueue(work, { n: 1 }, { unique: 'a', idempotencyKey: `k${at}` });
    for (let at = 0; at < 100; at += 1) await call(at);
    await expect(call(100)).rejects.toMatchObject({ type: 'too_large' });
    expect((await call(99)).isNew).toBe(false);
  });
});

describe('a full queue', () => {
  const tooMany = async (call: Promise<unknown>): Promise<void> => {
    const error = await call.catch((thrown: unknown) => thrown);
    const message = expect.stringMatching(/work has \d runs that have not ended and takes at most 3/);
    expect(error).toMatchObject({ type: 'queue_full', message });
  };

  test('refuses another run of the function, until one of them has ended', async () => {
    const own = world();
    const work = plain(({ n }, { signal }) => own.clock.sleep(n, signal));
    const other = plain(() => undefined, { name: 'other' });
    const functions = await processOver(own, [work, other], { maximumUnfinished: 3, concurrency: 2 });
    await functions.enqueue(work, { n: minute });
    await functions.enqueue(work, { n: hour });
    await functions.enqueue(work, { n: 0 }, { delay: '2h', unique: 'a' });
    await tooMany(functions.enqueue(work, { n: 1 }));
    await tooMany(functions.enqueue(work, { n: 1 }, { delay: '1h' }));
    await tooMany(functions.enqueueMany(work, [{ n: 1 }]));
    await own.clock.settle();
    expect(await functions.list()).toHaveLength(3);
    expect((await functions.enqueue(work, { n: 1 }, { unique: 'a' })).isNew).toBe(false);
    expect((await functions.enqueue(other, { n: 1 })).isNew).toBe(true);
    await own.clock.advance(minute);
    await tooMany(functions.enqueueMany(work, [{ n: 1 }, { n: 2 }]));
    expect((await functions.enqueue(work, { n: hour })).isNew).toBe(true);
    await tooMany(functions.enqueue(work, { n: 1 }));
  });

  test('counts exactly what has not ended, however it ends', async () => {
    const own = world(rerunning(memoryStorage()));
    const work = plain(
      ({ n }) => {
        if (n === 1) throw new Error('down');
      },
      { retry: { attempts: 1 } },
    );
    const functions = await processOver(own, [work], { maximumUnfinished: 3 });
    /** How many more can be enqueued: they wait for an hour, and are removed. */
    const room = async (): Promise<number> => {
      const added = [];
      for (;;) {
        const run = await functions
          .enqueue(work, { n: 0 }, { delay: '1h', meta: { added: 'yes' } })
          .catch(() => undefined);
        if (run === undefined) break;
        added.push(run);
      }
      expect(await functions.discard({ meta: { added: 'yes' } })).toBe(added.length);
      return added.length;
    };
    expect(await room()).toBe(3);
    await functions.enqueueMany(work, [{ n: 0 }, { n: 1 }, { n: 0 }]);
    await own.clock.settle();
    expect(await room()).toBe(3);
    await functions.pause(work);
    expect(await functions.retry({ state: 'failed' })).toBe(1);
    expect(await room()).toBe(2);
    expect(await functions.cancel({ state: 'queued' })).toBe(1);
    expect(await room()).toBe(3);
    const run = await functions.enqueue(work, { n: 0 }, { ttl: '1m' });
    await functions.enqueue(work, { n: 0 }, { debounce: { key: 'a', wait: '1m' } });
    await functions.enqueue(work, { n: 0 }, { debounce: { key: 'a', wait: '1m' } });
    expect(await room()).toBe(1);
    expect(await run.cancel()).toBe(true);
    expect(await run.cancel()).toBe(false);
    expect(await room()).toBe(2);
    await functions.resume(work);
    await own.clock.advance(2 * minute);
    expect(await room()).toBe(3);
    await own.clock.advance(100 * hour);
    expect(await room()).toBe(3);
  });

  test('has counted every run in the end, whatever was done with them', async () => {
    const enqueued = fc.record({
      n: fc.integer({ min: 0, max: 2 }),
      options: fc.constantFrom<EnqueueOptions>(
        {},
        { delay: '90s' },
        { ttl: '30s', delay: '1m' },
        { unique: 'a', idempotencyKey: 'k' },
        { unique: { key: 'a', until: 'ended' } },
        { debounce: { key: 'd', wait: '20s', max: '1m' } },
      ),
    });
    const filter = fc.constantFrom({}, { state: 'queued' }, { state: 'scheduled' }, { state: 'failed' }, { key: 'd' });
    const step = fc.oneof(
      enqueued.map(
        ({ n, options }) =>
          (functions: Functions, work: Work) =>
            functions.enqueue(work, { n }, options),
      ),
      fc.constant((functions: Functions, work: Work) => functions.enqueueMany(work, [{ n: 0 }, { n: 1 }])),
      filter.map((which) => (functions: Functions) => functions.cancel(which as object)),
      filter.map((which) => (functions: Functions) => functions.discard(which as object)),
      filter.map((which) => (functions: Functions) => functions.retry(which as object, { rate: 0.1 })),
      fc.constant((functions: Functions, work: Work) => functions.pause(work)),
      fc.constant((functions: Functions, work: Work) => functions.resume(work)),
      fc.constantFrom(1, 15, 45).map(
        (seconds) =>
          (_functions: Functions, _work: Work, { clock }: World) =>
            clock.advance(seconds * second),
      ),
    );
    type Work = FunctionDefinition<{ n: number }, void>;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const own = world();
        const work: Work = defineFunction<{ n: number }, { n: number }, void>(
          {
            name: 'work',
            retry: { attempts: 2, backoff: ['10s'], jitter: 0 },
            cron: { schedule: '* * * * *', overlap: 'queue', input: { n: 2 } },
            keep: { others: { count: 3 } },
          },
          async ({ n }, { signal }) => {
            if (n === 1) throw new Error('down');
            await own.clock.sleep(n * 40 * second, signal);
          },
        );
        const functions = await processOver(own, [work], { maximumUnfinished: 6, concurrency: 2 });
        for (const each of steps)
          await each(functions, work, own).catch((error: unknown) => {
            const refusals = ['queue_full', 'idempotency_mismatch'];
            if (!refusals.includes((error as Partial<FunctionsError>).type ?? '')) throw error;
          });
        await own.clock.settle();
        const [counted, stored] = await own.storage
          .read((view) => {
            const all = view.list(runs).map(({ record }) => record);
            const count = (is: (run: StoredRun) => boolean) => all.filter(is).length;
            const counts = {
              function: 'work',
              unfinished: count((run) => !hasEnded(run)),
              succeeded: count((run) => run.state === 'succeeded'),
              others: count((run) => hasEnded(run) && run.state !== 'succeeded'),
              cancelled: count((run) => run.state === 'cancelled'),
              timed_out: count((run) => run.state === 'timed_out'),
            };
            return [view.get(functionCounts, ['work'])?.record, counts] as const;
          })
          .unwrapOr([undefined, undefined]);
        void functions.stop({ deadline: 0 });
        const none = { function: 'work', unfinished: 0, succeeded: 0, others: 0, cancelled: 0, timed_out: 0 };
        expect({ ...none, ...counted }).toEqual(stored);
        expect(stored?.unfinished).toBeLessThanOrEqual(6);
      }),
      { numRuns: 60 },
    );
  });

  test('makes no launches of its schedules, and a retry leaves the rest', async () => {
    const own = world();
    let isBroken = true;
    const work = plain(
      ({ n }, { signal }) => {
        if (isBroken) throw new Error('down');
        return own.clock.sleep(n, signal);
      },
      {
        retry: { attempts: 1 },
        cron: { schedule: '* * * * *', overlap: 'allow', input: { n: 0 } },
      },
    );
    const functions = await processOver(own, [work], { maximumUnfinished: 3 });
    await functions.enqueueMany(work, [{ n: hour }, { n: hour }, { n: hour }]);
    await own.clock.settle();
    isBroken = false;
    await functions.enqueue(work, { n: hour });
    await tooMany(functions.retry({ state: 'failed' }));
    expect(await functions.list({ state: 'failed' })).toHaveLength(3);
    await functions.enqueueMany(work, [{ n: hour }, { n: hour }]);
    await own.clock.advance(10 * minute);
    expect(await functions.list()).toHaveLength(6);
  });
});

describe('explain', () => {
  const never = (): Promise<never> => new Promise(() => undefined);
  const declaredWork = (version = 1) => plain(() => undefined, { version });

  test('a run that is due later, also between attempts', async () => {
    const own = world();
    const work = plain(() => {
      throw new Error('the mail server is busy');
    });
    const functions = await processOver(own, [work]);
    const delayed = await functions.enqueue(work, { n: 1 }, { delay: '1m' });
    expect(await functions.explain(delayed.id)).toEqual({
      reason: 'scheduled',
      message: 'it is due at 2026-01-01T00:01:00.000Z',
    });
    const failed = await functions.enqueue(work, { n: 1 });
    await own.clock.settle();
    expect(await functions.explain(failed.id)).toEqual({
      reason: 'scheduled',
      message: 'it is due at 2026-01-01T00:00:01.000Z: attempt 1 failed (Error: the mail server is busy)',
    });
  });

  test('a run behind others, when all slots are taken', async () => {
    const own = world();
    const work = plain(never);
    const functions = await processOver(own, [work], { concurrency: 1 });
    const first = await functions.enqueue(work, { n: 1 });
    const next = await functions.enqueue(work, { n: 2 });
    const last = await functions.enqueue(work, { n: 3 }, { priority: 1 });
    await own.clock.advance(minute);
    expect(await functions.explain(next.id)).toMatchObject({
      reason: 'behind',
      message: expect.stringContaining('it is next'),
    });
    expect(await functions.explain(last.id)).toMatchObject({
      reason: 'behind',
      message: expect.stringMatching(/^1 run of work comes first/),
    });
    expect(await functions.explain(first.id)).toMatchObject({
      reason: 'held',
      message: expect.stringMatching(/^it is under way in process .* since 2026-01-01T00:00:00.000Z, attempt 1$/),
    });
  });

  test('a run that a limit or a rate keeps back', async () => {
    const own = world();
    const limited = keyed(never);
    const paced = plain(() => undefined, { name: 'paced', rate: { limit: 1, per: '1m' } });
    const functions = await processOver(own, [limited, paced]);
    const runs = [];
    for (let at = 0; at < 2; at += 1) {
      runs.push(await functions.enqueue(limited, { key: 'a' }));
      runs.push(await functions.enqueue(paced, { n: at }));
    }
    await own.clock.advance(10 * second);
    expect(await functions.explain(runs[2]?.id ?? '')).toEqual({
      reason: 'limit',
      message: 'the limit of 1 at once is reached (sync:key=a)',
    });
    expect(await functions.explain(runs[3]?.id ?? '')).toEqual({
      reason: 'rate',
      message: 'the rate is used up until 2026-01-01T00:01:00.000Z (rate:paced:all)',
    });
    const elsewhere = await processOver(own, [], { starts: false });
    expect(await elsewhere.explain(runs[2]?.id ?? '')).toMatchObject({
      reason: 'behind',
      message: expect.stringContaining('its limits are not known here'),
    });
  });

  test('a run that is paused, with its function or its key', async () => {
    const own = world();
    const sync = keyed(never);
    const functions = await processOver(own, [sync]);
    await functions.pause(sync, 'a');
    const run = await functions.enqueue(sync, { key: 'a' });
    expect(await functions.explain(run.id)).toEqual({ reason: 'paused', message: "the key 'a' of sync is paused" });
    await functions.pause(sync);
    expect(await functions.explain(run.id)).toEqual({ reason: 'paused', message: 'sync is paused' });
  });

  test('a run that no process can take: none has the function, with a handler, in this version', async () => {
    const own = world();
    const caller = await processOver(own, [declaredWork(2)], { starts: false });
    const run = await caller.enqueue(declaredWork(2), { n: 1 });
    expect(await caller.explain(run.id)).toEqual({ reason: 'no_process', message: 'no process runs work' });
    await processOver(own, [plain(() => undefined, { name: 'other' })]);
    await processOver(own, [defineFunction<{ n: number }>({ name: 'work' })]);
    expect(await caller.explain(run.id)).toMatchObject({ reason: 'no_process' });
    const old = await processOver(own, [declaredWork(1)]);
    await own.clock.advance(minute);
    for (const functions of [old, caller])
      expect(await functions.explain(run.id)).toEqual({
        reason: 'version',
        message: 'it needs version 2 of work or a later one, and the processes run version 1',
      });
    await old.stop();
    expect(await caller.explain(run.id)).toMatchObject({ reason: 'no_process' });
  });

  test('a run whose processes were killed', async () => {
    const own = world();
    let isDead = false;
    const dead = () => errAsync({ type: 'storage_failed', reason: 'closed', message: 'killed' } as const);
    const storage: Storage = {
      ...own.storage,
      read: (work) => (isDead ? dead() : own.storage.read(work)),
      write: (work) => (isDead ? dead() : own.storage.write(work)),
    };
    await processOver({ ...own, storage }, [declaredWork()]);
    isDead = true;
    const caller = await processOver(own, [declaredWork()], { starts: false });
    await own.clock.advance(minute);
    const run = await caller.enqueue(declaredWork(), { n: 1 });
    expect(await caller.explain(run.id)).toMatchObject({ reason: 'behind' });
    await own.clock.advance(minute);
    expect(await caller.explain(run.id)).toEqual({
      reason: 'no_process',
      message: 'the processes that ran work have given no sign of life since 2026-01-01T00:00:00.000Z',
    });
    // An idle process is known for as long as it is there.
    const heir = await processOver(own, [declaredWork()]);
    await own.clock.advance(hour);
    expect((await run.status()).state).toBe('succeeded');
    await heir.pause(declaredWork());
    const other = await caller.enqueue(declaredWork(), { n: 1 });
    expect(await heir.explain(other.id)).toMatchObject({ reason: 'paused' });
  });

  test('a run that has ended, and one that is not there', async () => {
    const own = world();
    const work = declaredWork();
    const functions = await processOver(own, [work]);
    const run = await functions.enqueue(work, { n: 1 });
    await run.result();
    expect(await functions.explain(run.id)).toEqual({
      reason: 'held',
      message: 'it has ended (succeeded) at 2026-01-01T00:00:00.000Z and waits for nothing',
    });
    for (const id of ['work/999999', 'work', '', 7 as never])
      await expect(functions.explain(id)).rejects.toMatchObject({ type: 'run_not_found' });
  });

  test('a run that runs alone because its process has died of it', async () => {
    const own = world();
    let isDead = false;
    const dead = () => errAsync({ type: 'storage_failed', reason: 'closed', message: 'killed' } as const);
    const storage: Storage = {
      ...own.storage,
      read: (work) => (isDead ? dead() : own.storage.read(work)),
      write: (work) => (isDead ? dead() : own.storage.write(work)),
    };
    const work = plain(never);
    const dying = await processOver({ ...own, storage }, [work]);
    const runs = [await dying.enqueue(work, { n: 1 }), await dying.enqueue(work, { n: 2 })];
    await own.clock.settle();
    isDead = true;
    const heir = await processOver(own, [work]);
    await own.clock.advance(minute);
    expect(await heir.explain(runs[1]?.id ?? '')).toEqual({
      reason: 'behind',
      message: 'a process ended while it ran, so it runs alone: another such run is under way',
    });
  });
});

describe('a launch while the run of the one before is under way, with overlap queue', () => {
  /** Launches of each minute that take as long as `takes` says at their beginning; when they were due and when they began, in seconds. */
  function minutely(own: World, takes: { time: number }) {
    const begun: [number, number][] = [];
    const work = defineFunction<void, void, void>(
      { name: 'minutely', cron: { schedule: '* * * * *', overlap: 'queue' }, timeout: false },
      async (_input, run) => {
        begun.push([(run.dueAt.getTime() - began) / second, (own.clock.now() - began) / second]);
        await own.clock.sleep(takes.time, run.signal);
      },
    );
    return { begun, work };
  }

  test('waits for its end; one waits at most, further ones are not made', async () => {
    const own = world();
    const takes = { time: 210 * second };
    const { begun, work } = minutely(own, takes);
    const functions = await processOver(own, [work]);
    await own.clock.advance(250 * second);
    // Due at 60 and 120; those of 180 and 240 found one waiting.
    expect(begun).toEqual([[60, 60]]);
    const waiting = await functions.list({ state: 'queued' });
    expect(waiting.map(({ dueAt }) => dueAt)).toEqual([new Date(began + 2 * minute)]);
    expect(await functions.explain(waiting[0]?.id ?? '')).toMatchObject({
      reason: 'behind',
      message: expect.stringMatching(/^it waits for the end of minutely\/\d+, the launch before$/),
    });
    takes.time = 0;
    await own.clock.advance(60 * second);
    expect(begun).toEqual([
      [60, 60],
      [120, 270],
      [300, 300],
    ]);
  });

  test('begins when the one before is cancelled while it waits itself, or is discarded, from any process', async () => {
    for (const end of ['cancel', 'discard'] as const) {
      const own = world();
      const { begun, work } = minutely(own, { time: 0 });
      const functions = await processOver(own, [work]);
      const caller = await processOver(own, [], { starts: false });
      await functions.pause(work);
      await own.clock.advance(130 * second);
      const launched = await functions.list();
      expect(launched).toHaveLength(2);
      expect(await caller[end]({ to: launched[0]?.enqueuedAt as Date })).toBe(1);
      await functions.resume(work);
      await own.clock.settle();
      expect(begun).toEqual([[120, 130]]);
    }
  });

  test.each(['cancel', 'discard'] as const)(
    'waits for the one under way also after a %s of the one between',
    async (end) => {
      const own = world();
      const { begun, work } = minutely(own, { time: 1000 * second });
      const functions = await processOver(own, [work]);
      await own.clock.advance(130 * second);
      expect(await functions[end]({ state: 'queued' })).toBe(1);
      await own.clock.advance(200 * second);
      expect(begun).toHaveLength(1);
      expect((await functions.list({ state: 'queued' })).map(({ dueAt }) => dueAt)).toEqual([
        new Date(began + 3 * minute),
      ]);
    },
  );

  test('waits between the attempts of the one before too, and survives the end of the process', async () => {
    const own = world();
    const begun: number[] = [];
    const define = (isBroken: boolean) =>
      defineFunction<void, void, void>(
        {
          name: 'minutely',
          cron: { schedule: '* * * * *', overlap: 'queue' },
          retry: { attempts: 2, backoff: ['3m'], jitter: 0 },
        },
        (_input, run) => {
          begun.push((run.dueAt.getTime() - began) / second);
          if (isBroken) throw new Error('down');
        },
      );
    const first = await processOver(own, [define(true)]);
    await own.clock.advance(150 * second);
    expect(begun).toEqual([60]);
    await first.stop();
    await processOver(own, [define(false)]);
    await own.clock.advance(89 * second);
    expect(begun).toEqual([60]);
    await own.clock.advance(second);
    // The second attempt at 240, then the launch that waited, then that of 240.
    expect(begun.slice(0, 3)).toEqual([60, 240, 120]);
  });
});

test('schedules refuse an overlap that there is not', () => {
  expect(() => defineFunction({ name: 'x', cron: { schedule: '* * * * *', overlap: 'cancel' as never } })).toThrow(
    /overlap takes .*queue/,
  );
});

test('a launch that was cancelled while it waited for the one before can be retried', async () => {
  const own = world();
  const work = defineFunction<void, void, void>(
    { name: 'minutely', cron: { schedule: '* * * * *', overlap: 'queue' } },
    (_input, { signal }) => own.clock.sleep(80 * second, signal),
  );
  const functions = await processOver(own, [work]);
  await own.clock.advance(130 * second);
  expect(await functions.cancel({ state: 'queued' })).toBe(1);
  await own.clock.advance(15 * second);
  expect(await functions.retry({ state: 'cancelled' })).toBe(1);
  await own.clock.settle();
  expect(await functions.list({ state: 'running' })).toHaveLength(1);
});

describe('a filter by key', () => {
  test('selects runs by a key of a limit or rate, and by the key with which they were enqueued', async () => {
    const own = world();
    const sync = keyed(() => undefined, {
      concurrency: [{ limit: 1, key: ({ key }: Keyed) => key }, { limit: 9 }],
      rate: { limit: 1, per: '1s', key: ({ host = '' }: Keyed) => host, scope: 'hosts' },
    });
    const functions = await processOver(own, [sync], { starts: false });
    const a = await functions.enqueue(sync, { key: 'a', host: 'x=y' });
    const b = await functions.enqueue(sync, { key: 'b' }, { unique: 'u' });
    const c = await functions.enqueue(sync, { key: 'c' }, { idempotencyKey: 'i' });
    const d = await functions.enqueue(sync, { key: 'd' }, { debounce: { key: 'a', wait: '1m' } });
    const of = async (key: string) => (await functions.list({ key })).map(({ id }) => id);
    expect(await of('a')).toEqual([d.id, a.id]);
    expect(await of('x=y')).toEqual([a.id]);
    expect(await of('u')).toEqual([b.id]);
    expect(await of('i')).toEqual([c.id]);
    for (const key of ['y', 'sync:key', 'sync:key=a', 'none']) expect(await of(key)).toEqual([]);
    expect(await functions.cancel({ key: 'c' })).toBe(1);
    await expect(functions.list({ key: 7 as never })).rejects.toThrow(/key takes a string/);
  });
});

describe('what is too much is refused', () => {
  const far = new Date(began + 401 * 24 * hour);

  test.each<[string, EnqueueOptions, RegExp]>([
    ['a delay', { delay: '401d' }, /delay takes .* at most 400d/],
    ['a time', { runAt: far }, /runAt is at most 400 days from now/],
    ['a ttl', { ttl: '401d' }, /ttl takes .* at most 400d/],
    ['the time of a unique key', { unique: { key: 'a', until: '401d' } }, /unique takes/],
    ['a unique key', { unique: 'x'.repeat(257) }, /unique takes a key of 1 to 256/],
    ['an idempotency key', { idempotencyKey: 'x'.repeat(257) }, /idempotencyKey takes a string of 1 to 256/],
    [
      'meta',
      { meta: Object.fromEntries(Array.from({ length: 17 }, (_none, at) => [`m${at}`, ''])) },
      /meta takes at most 16 entries/,
    ],
    ['a value of meta', { meta: { a: 'x'.repeat(257) } }, /meta takes .* at most 256/],
    ['priority', { priority: 101 }, /priority takes a whole number from 1 to 100/],
  ])('%s', async (_name, options, message) => {
    const own = world();
    const work = plain(() => undefined);
    const functions = await processOver(own, [work], { starts: false });
    await expect(functions.enqueue(work, { n: 1 }, options)).rejects.toThrow(message);
    const { unique: _, idempotencyKey: __, ...many } = options;
    if (Object.keys(many).length > 0)
      await expect(functions.enqueueMany(work, [{ n: 1 }], many)).rejects.toThrow(message);
    expect(await functions.list()).toEqual([]);
  });

  test('a timeout, inputs of a schedule, a key of a limit, and inputs at once', async () => {
    const own = world();
    expect(() => plain(() => undefined, { timeout: '8d' })).toThrow(/timeout takes .* at most 7d/);
    const long = 'x'.repeat(16 * 1024 * 1024);
    const text = (options: object) =>
      defineFunction<string, string, void>({ name: 'text', ...options }, () => undefined);
    expect(() => text({ cron: { schedule: '@daily', input: long } })).toThrow(
      /input takes JSON of at most 16777216 bytes/,
    );
    const functions = await processOver(own, [text({}), keyed(() => undefined)], { starts: false });
    for (const input of [long, new Date(0) as never])
      await expect(functions.schedule(text({}), { id: 'a', schedule: '@daily', input })).rejects.toThrow(
        /input takes JSON/,
      );
    await expect(
      functions.enqueue(
        keyed(() => undefined),
        { key: 'x'.repeat(257) },
      ),
    ).rejects.toThrow(/gives no key: the key of sync:key is a string of at most 256 characters/);
    const many = Array.from({ length: 10_001 }, () => 'x');
    await expect(functions.enqueueMany(text({}), many)).rejects.toThrow(/at most 10000/);
  });
});

describe('a clock that is set back', () => {
  /** Monotonic seconds until the condition holds, at most two hours. */
  async function secondsUntil(own: World, condition: () => boolean): Promise<number> {
    const from = own.clock.monotonic();
    await own.clock.advanceUntil(condition, 2 * hour);
    return (own.clock.monotonic() - from) / second;
  }

  test.each<[string, EnqueueOptions]>([
    ['a delay', { delay: '10m' }],
    ['a debounce', { debounce: { key: 'a', wait: '10m', max: '10m' } }],
  ])('makes the wait of %s no longer', async (_name, options) => {
    const own = world();
    const { calls, handler } = noting(own);
    const work = plain(handler);
    const functions = await processOver(own, [work]);
    await functions.enqueue(work, { n: 1 }, options);
    await own.clock.advance(5 * minute);
    await own.clock.step(-hour);
    expect(await secondsUntil(own, () => calls.length > 0)).toBe(300);
  });

  test('makes the wait for another attempt, of a snooze and of a slow retry no longer', async () => {
    const own = world();
    let calls = 0;
    const work = plain(
      ({ n }) => {
        calls += 1;
        if (calls === 1) throw n === 1 ? new Error('down') : new Snooze('10m');
      },
      { retry: { attempts: 2, backoff: ['10m'], jitter: 0 } },
    );
    const functions = await processOver(own, [work]);
    for (const n of [1, 2]) {
      calls = 0;
      await functions.enqueue(work, { n });
      await own.clock.advance(5 * minute);
      await own.clock.step(-hour);
      expect(await secondsUntil(own, () => calls === 2)).toBe(300);
    }
    await functions.pause(work);
    for (const n of [3, 4]) await (await functions.enqueue(work, { n })).cancel();
    await functions.retry({ state: 'cancelled' }, { rate: 0.01 });
    await functions.resume(work);
    await own.clock.settle();
    expect(calls).toBe(3);
    await own.clock.step(-hour);
    expect(await secondsUntil(own, () => calls === 4)).toBe(100);
  });

  test('before the start makes it begin again at most', async () => {
    const own = world();
    const { calls, handler } = noting(own);
    const work = plain(handler);
    const functions = await processOver(own, [work], { starts: false });
    await functions.enqueue(work, { n: 1 }, { delay: '10m' });
    await own.clock.step(-hour);
    await functions.start();
    await processOver(own, [work]);
    expect(await secondsUntil(own, () => calls.length > 0)).toBe(600);
  });

  test('keeps the time of runAt', async () => {
    const own = world();
    const { calls, handler } = noting(own);
    const work = plain(handler);
    const functions = await processOver(own, [work]);
    await functions.enqueue(work, { n: 1 }, { runAt: new Date(began + 10 * minute) });
    await own.clock.advance(5 * minute);
    await own.clock.step(-hour);
    expect(await secondsUntil(own, () => calls.length > 0)).toBe(65 * 60);
    expect(calls).toEqual([[{ n: 1 }, 600]]);
  });
});

describe('a run that a process without its code has enqueued', () => {
  const follow = (own: World, running: Set<string>, most: { at: number }, version = 1) =>
    defineFunction<BatchEnd>(
      { name: 'follow', version, concurrency: { limit: 1, key: ({ counts }) => `cancelled ${counts.cancelled}` } },
      async (_, run) => {
        running.add(run.id);
        most.at = Math.max(most.at, running.size);
        await own.clock.sleep(second, run.signal);
        running.delete(run.id);
      },
    );

  test('has its keys before it starts: batches that a call of the interface ends are followed within the limit', async () => {
    const own = world();
    const running = new Set<string>();
    const most = { at: 0 };
    const fn = follow(own, running, most);
    const work = plain(() => undefined);
    const sender = await processOver(own, [work, fn], { starts: false });
    for (let n = 0; n < 110; n += 1) await sender.enqueueMany(work, [{ n }], { then: fn, delay: '30d' });
    const { clock, storage, ids } = own;
    // A server that has none of the definitions.
    const server = createEngine({ storage, clock, ids, delivery: recordingDelivery({ clock }) });
    const cancelled = await server.as(hostPrincipal).functions.cancel('work', {});
    expect(cancelled._unsafeUnwrap()).toEqual({ count: 110 });
    expect(await sender.list({ function: 'follow', key: 'cancelled 1' })).toEqual([]);
    // Earlier code may not take them, and does not compute their keys.
    const later = follow(own, running, most, 2);
    await processOver(own, [later]);
    await own.clock.advance(10 * second);
    expect(most.at).toBe(1);
    expect(await sender.list({ function: 'follow', key: 'cancelled 1', limit: 200 })).toHaveLength(110);
    await own.clock.advance(130 * second);
    expect(await sender.list({ function: 'follow', state: 'succeeded', limit: 200 })).toHaveLength(110);
    expect(most.at).toBe(1);
  });

  test('waits for its version, and starts as it is where the function has no keys', async () => {
    const own = world();
    const [running, most] = [new Set<string>(), { at: 0 }];
    const work = plain(() => undefined);
    const sender = await processOver(own, [work, follow(own, running, most, 2)], { starts: false });
    const batch = await sender.enqueueMany(work, [{ n: 1 }], { then: follow(own, running, most, 2), delay: '30d' });
    const { clock, storage, ids } = own;
    const server = createEngine({ storage, clock, ids, delivery: recordingDelivery({ clock }) });
    await server.as(hostPrincipal).functions.cancelRun(batch.runs[0]?.id ?? '', {});
    const earlier = await processOver(own, [follow(own, running, most)]);
    await own.clock.advance(minute);
    expect((await sender.list({ function: 'follow' })).map(({ state }) => state)).toEqual(['queued']);
    await earlier.stop();
    await processOver(own, [defineFunction<BatchEnd>({ name: 'follow', version: 3 }, () => undefined)]);
    await own.clock.advance(minute);
    expect((await sender.list({ function: 'follow' })).map(({ state }) => state)).toEqual(['succeeded']);
  });
});

test('a chain of calls is cancelled to its end, also one that is deeper than the stack', async () => {
  const own = world();
  const deep = defineFunction<number>({ name: 'deep' }, () => undefined);
  const functions = await processOver(own, [deep], { starts: false });
  const first = await functions.enqueue(deep, 0);
  const from = Number(first.id.split('/')[1]);
  const depth = 10_000;
  await own.storage.write((view) => {
    const run = view.get(runs, [from])?.record as StoredRun;
    // As if each had called the next one, in a process that is gone.
    for (let n = 0; n <= depth; n += 1) {
      const number = n === 0 ? from : 1_000_000 + n;
      const parent = n === 0 ? {} : { parent: { run: n === 1 ? from : number - 1, function: 'deep', step: 'next' } };
      view.put(runs, { ...run, number, ...parent });
      const called = { number: 1_000_001 + n, function: 'deep' };
      if (n < depth) view.put(steps, { run: number, name: 'next', called });
    }
    return ok(undefined);
  });
  expect(await first.cancel()).toBe(true);
  expect(await functions.list({ state: 'queued' })).toEqual([]);
  expect(await functions.list({ state: 'cancelled', limit: 10_000 })).toHaveLength(10_000);
});

test('runs are found by a filter at the first look, also when the store reads in several runs', async () => {
  const over = world(rerunning(memoryStorage()));
  const work = defineFunction<number>({ name: 'work' }, () => undefined);
  const functions = await processOver(over, [work], { starts: false });
  for (let n = 0; n < 3; n += 1) await functions.enqueue(work, n);
  expect(await functions.list()).toHaveLength(3);
  expect(await functions.cancel({ function: 'work' })).toBe(3);
  expect(await functions.list({ state: 'cancelled' })).toHaveLength(3);
  expect(await functions.discard({ function: 'work' })).toBe(3);
});
