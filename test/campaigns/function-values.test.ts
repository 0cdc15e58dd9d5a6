import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  defineFunction,
  type Handler,
  type Json,
  NonRetryableError,
  RetryAfterError,
  Snooze,
} from '../../src/functions/define-function.js';
import { type Functions, FunctionsError, RunFailedError } from '../../src/operations/functions/functions-api.js';
import { second } from '../../src/shared/duration.js';
import { processOver, stopAll, type World, world } from '../support/function-processes.js';
import { hostileText } from '../support/hostile-values.js';

/*
 * Values and errors of every kind, wherever functions take them: each is kept as it is, or refused with a message, or fails its run;
 * none ends the process, and none stops the others. `SIGNALBOX_FUNCTION_VALUES=100000` for more of them.
 */
const count = Number(process.env['SIGNALBOX_FUNCTION_VALUES'] ?? 300);
const limit = { timeout: 60_000 + 50 * count };

let own: World;
let unhandled: unknown[];
const listen = (reason: unknown): void => {
  unhandled.push(reason);
};
beforeEach(() => {
  own = world();
  unhandled = [];
  process.on('unhandledRejection', listen);
});
afterEach(async () => {
  stopAll();
  // Rejections that nobody handles are announced after the microtasks of a turn.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', listen);
  expect(unhandled).toEqual([]);
});

const throwing = (): never => {
  throw new Error('do not touch');
};
const trapped: ProxyHandler<object> = {
  get: throwing,
  getPrototypeOf: throwing,
  ownKeys: throwing,
  has: throwing,
  getOwnPropertyDescriptor: throwing,
};

function cyclic(): unknown {
  const value: Record<string, unknown> = { list: [] };
  value['self'] = value;
  return value;
}

/** Few objects that are written as very many. */
function doubled(): unknown {
  let value: unknown = 'x';
  for (let depth = 0; depth < 60; depth += 1) value = { a: value, b: value };
  return value;
}

function deep(): unknown {
  let value: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) value = [value];
  return value;
}

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** JSON at the first look, something else at the second one. */
function changing(): unknown {
  let looks = 0;
  return {
    get member() {
      looks += 1;
      return looks === 1 ? 1 : 1n;
    },
  };
}

/** Values that cannot be kept as they are. */
const refused: readonly (readonly [string, () => unknown])[] = [
  ['a big integer', () => 1n],
  ['NaN', () => ({ n: Number.NaN })],
  ['an infinite number', () => [Number.POSITIVE_INFINITY]],
  ['a symbol', () => Symbol('s')],
  ['a member named by a symbol', () => ({ [Symbol('s')]: 1 })],
  ['a function', () => throwing],
  ['a method', () => ({ method: () => 1 })],
  ['a date', () => new Date(0)],
  ['an invalid date', () => [new Date(Number.NaN)]],
  ['a map', () => ({ map: new Map() })],
  ['bytes', () => Buffer.from('x')],
  ['a regular expression', () => /x/],
  ['an error', () => new Error('value')],
  ['an instance of a class without a name', () => new (class {})()],
  ['an object whose constructor is hostile', () => Object.create({ constructor: revoked({}) })],
  ['a boxed string', () => new String('x')],
  ['a list with a hole', () => new Array(3)],
  ['a list of very many holes', () => new Array(2 ** 32 - 1)],
  ['a list with toJSON', () => Object.assign([1], { toJSON: () => 'something else' })],
  ['an object with toJSON', () => ({ toJSON: () => 'something else' })],
  ['toJSON that throws', () => ({ toJSON: throwing })],
  [
    'a member that throws',
    () => ({
      a: {
        get b() {
          return throwing();
        },
      },
    }),
  ],
  [
    'a member that throws what has no message',
    () => ({
      get a() {
        throw null;
      },
    }),
  ],
  ['a proxy that throws', () => new Proxy({}, trapped)],
  ['a proxy of a list that throws', () => ({ list: new Proxy([1], trapped) })],
  ['a revoked proxy', () => revoked({})],
  ['a revoked list', () => [revoked([])]],
  ['a proxy without an end', () => new Proxy([], { get: (_, name) => (name === 'length' ? 2 ** 40 : 0) })],
  ['itself', cyclic],
  ['the same very often', doubled],
  ['what is nested very deep', deep],
  ['a long string', () => 'x'.repeat(1024 * 1024)],
  ['a string that is long once it is written', () => '\0'.repeat(200_000)],
  ['many members', () => Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`member ${n}`, n]))],
];

/** Errors that are hard to record. */
const thrown: readonly (readonly [string, () => unknown])[] = [
  ['nothing', () => undefined],
  ['null', () => null],
  ['a symbol', () => Symbol('s')],
  ['a string', () => 'text'],
  ['a long string', () => 'x'.repeat(5_000_000)],
  ['a big integer', () => 1n],
  ['an object without a prototype', () => Object.create(null)],
  ['an object that throws', () => ({ toString: throwing, toJSON: throwing })],
  ['a function', () => throwing],
  ['itself', cyclic],
  ['the same very often', doubled],
  ['a proxy that throws', () => new Proxy({}, trapped)],
  ['a proxy of an error that throws', () => new Proxy(new Error('x'), trapped)],
  ['a revoked proxy', () => revoked(new Error('x'))],
  ['a frozen error', () => Object.freeze(new Error('frozen'))],
  ['a long message', () => new Error('x'.repeat(5_000_000))],
  [
    'an error that is its own cause',
    () => {
      const error = new Error('x');
      error.cause = error;
      return error;
    },
  ],
  [
    'very many errors',
    () =>
      new AggregateError(
        Array.from({ length: 10_000 }, () => new Error('x')),
        'many',
      ),
  ],
  ...['message', 'name', 'stack', 'code', 'cause'].flatMap((name): [string, () => unknown][] => [
    [`a ${name} that throws`, () => Object.defineProperty(new Error('x'), name, { get: throwing })],
    ...[null, undefined, 1n, Symbol('s'), {}, Object.create(null), cyclic(), '\ud800', '\0'].map(
      (value): [string, () => unknown] => [
        `a ${name} that is ${typeof value}`,
        () => Object.defineProperty(new Error('x'), name, { value }),
      ],
    ),
  ]),
  ['a put-off that throws', () => Object.defineProperty(new Snooze(1), 'wait', { get: throwing })],
  ['a wait that throws', () => Object.defineProperty(new RetryAfterError('x', 1), 'wait', { get: throwing })],
  ['a put-off to no time', () => new Snooze(new Date(Number.NaN))],
  ['a put-off for no time', () => new Snooze('soon')],
  ['a wait that is no time', () => new RetryAfterError('x', new Date(Number.NaN))],
  ['a wait with a hostile date', () => new RetryAfterError('x', Object.assign(new Date(), { getTime: throwing }))],
  [
    'an error that says it is final',
    () => Object.defineProperty(new NonRetryableError('x'), 'stack', { get: throwing }),
  ],
  ['a failed call that throws', () => new Proxy(new RunFailedError('work/1', 'failed', null), trapped)],
];

/** A function whose handler the test gives. */
const work = (handler: Handler<Json, unknown>) =>
  defineFunction<unknown, Json, unknown>({ name: 'work', retry: { attempts: 2, delay: 1 } }, handler);

/** A process of this function, which must still work in the end. */
async function lively(
  handler: Handler<Json, unknown>,
  body: (functions: Functions, fn: ReturnType<typeof work>) => Promise<void>,
): Promise<void> {
  const fn = work(handler);
  const healthy = defineFunction<{ n: number }, { n: number }, number>({ name: 'healthy' }, ({ n }) => n + 1);
  const functions = await processOver(own, [fn, healthy], { concurrency: 2 });
  await body(functions, fn);
  const run = await functions.enqueue(healthy, { n: 1 });
  await own.clock.settle();
  expect(await run.result()).toBe(2);
}

const places: readonly (readonly [string, (value: unknown) => Handler<Json, unknown>])[] = [
  // In a list: a promise looks for a method of what it is resolved with, and rejects when that throws.
  ['result', (value) => () => [value]],
  ['value of a step', (value) => (_, run) => run.step('step', () => [value])],
  [
    'progress',
    (value) => (_, run) => {
      run.progress(value as Json);
    },
  ],
];

describe('a value that cannot be kept', () => {
  test.each(refused)('%s: is refused as an input, before anything is stored', async (_, make) => {
    await lively(
      () => undefined,
      async (functions, fn) => {
        const enqueued = functions.enqueue(fn, make());
        await expect(enqueued).rejects.toBeInstanceOf(FunctionsError);
        await expect(enqueued).rejects.toMatchObject({ type: expect.stringMatching(/^(not_json|too_large)$/) });
        await expect(functions.enqueueMany(fn, [1, make()])).rejects.toThrow(/inputs\[1\]/);
        expect(await functions.list()).toEqual([]);
      },
    );
  });

  test.each(places)('fails its run as a %s, at once and with a message', limit, async (_, using) => {
    const made = refused.map(([, make]) => make);
    await lively(
      (n, run) => using(made[n as number]?.())(n, run),
      async (functions, fn) => {
        const batch = await functions.enqueueMany(fn, [...made.keys()]);
        await own.clock.advance(second);
        for (const [at, run] of batch.runs.entries()) {
          const { state, attempt, error } = await run.status();
          const told = error?.message ?? '';
          const shown = { of: refused[at]?.[0], state, attempt, name: error?.name };
          expect(shown).toEqual({ of: refused[at]?.[0], state: 'failed', attempt: 1, name: 'NonRetryableError' });
          expect(told).toMatch(/is not JSON|characters|is nested/);
          expect(told.length).toBeLessThan(400);
        }
      },
    );
  });

  test.each(refused)('%s: is refused as an input of a call', async (_, make) => {
    const called = defineFunction<unknown, unknown, unknown>({ name: 'called' }, () => 1);
    const parent = defineFunction({ name: 'parent', retry: { attempts: 1 } }, (_none, run) =>
      run.call('call', called, make()),
    );
    const functions = await processOver(own, [called, parent]);
    const run = await functions.enqueue(parent);
    await own.clock.settle();
    expect(await run.status()).toMatchObject({
      state: 'failed',
      error: { message: expect.stringMatching(/input of called/) },
    });
  });

  test.each(refused)('%s: is written to the log, or not', async (_, make) => {
    await lively(
      (_none, run) => {
        run.log.info(make() as string);
        return 'over';
      },
      async (functions, fn) => {
        const run = await functions.enqueue(fn, 1);
        await own.clock.settle();
        expect(await run.result()).toBe('over');
        expect(await run.log()).toHaveLength(1);
      },
    );
  });
});

test('what is looked at is what is kept, also of a member that changes', async () => {
  await lively(
    (input) => input,
    async (functions, fn) => {
      const run = await functions.enqueue(fn, changing());
      await own.clock.settle();
      expect(await run.result()).toEqual({ member: 1 });
    },
  );
});

test('changes of an input, a result or the value of a step after it was given have no effect', async () => {
  const given: Record<string, unknown> = { n: 1 };
  const result: Record<string, unknown> = { n: 1 };
  const value: Record<string, unknown> = { n: 1 };
  await lively(
    async (input, run) => {
      (input as Record<string, unknown>)['n'] = 'changed by the handler';
      await run.step('step', () => {
        setImmediate(() => {
          value['n'] = 2n;
        });
        return value;
      });
      setImmediate(() => {
        result['n'] = 2n;
      });
      return result;
    },
    async (functions, fn) => {
      const enqueued = [functions.enqueue(fn, given)];
      given['n'] = 2;
      enqueued.push(functions.enqueue(fn, given));
      given['n'] = 3n;
      const [first, second] = await Promise.all(enqueued);
      await own.clock.settle();
      expect((await first?.status())?.input).toEqual({ n: 1 });
      expect((await second?.status())?.input).toEqual({ n: 2 });
      expect(await first?.result()).toEqual({ n: 1 });
      expect(given).toEqual({ n: 3n });
    },
  );
});

test('every error that is thrown is recorded, and its run ends', limit, async () => {
  const made = thrown.map(([, make]) => make);
  await lively(
    (n) => {
      throw made[n as number]?.();
    },
    async (functions, fn) => {
      const batch = await functions.enqueueMany(fn, [...made.keys()]);
      await own.clock.advance(30 * second);
      for (const [at, run] of batch.runs.entries()) {
        const { state, error } = await run.status();
        expect([thrown[at]?.[0], state]).toEqual([thrown[at]?.[0], 'failed']);
        const kept = [error?.name, error?.message, error?.stack];
        expect(kept.every((part) => typeof part === 'string')).toBe(true);
        expect(kept.join('').length).toBeLessThan(12_000);
      }
    },
  );
});

test.each(['step', 'call'] as const)('a %s that nobody waits for does not end the process', async (kind) => {
  const called = defineFunction({ name: 'called', retry: { attempts: 1 } }, throwing);
  const fn = defineFunction<void, void, string>({ name: 'parent' }, async (_, run) => {
    void (kind === 'step' ? run.step('step', throwing) : run.call('call', called));
    await own.clock.sleep(second, new AbortController().signal);
    return 'over';
  });
  const functions = await processOver(own, [fn, called]);
  const run = await functions.enqueue(fn);
  await own.clock.advance(5 * second);
  expect((await run.status()).state).toBe('succeeded');
});

describe('any JSON', () => {
  const json = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    hostileText,
    hostileText.map((name) => JSON.parse(`{${JSON.stringify(name)}:{"x":[-0]}}`) as unknown),
    fc.string({ maxLength: 2000, unit: 'binary' }),
    fc.dictionary(hostileText, fc.jsonValue({ maxDepth: 1 })),
  );

  test('comes back as it is, as an input, a result, the value of a step and a progress', limit, async () => {
    await lively(
      async (input, run) => {
        const value = await run.step('step', () => input);
        if (JSON.stringify(input).length <= 4096) run.progress(input);
        return value;
      },
      async (functions, fn) => {
        await fc.assert(
          fc.asyncProperty(json, async (value) => {
            const run = await functions.enqueue(fn, value);
            await own.clock.settle();
            const { input, result, progress } = await run.status();
            const text = JSON.stringify(value);
            expect(JSON.stringify(input)).toBe(text);
            expect(JSON.stringify(result)).toBe(text);
            if (text.length <= 4096) expect(JSON.stringify(progress)).toBe(text);
          }),
          { numRuns: count },
        );
      },
    );
  });

  test('and nothing else is taken as options: the call is refused, or the run is there', limit, async () => {
    const options = fc.record(
      Object.fromEntries(
        ['delay', 'runAt', 'priority', 'meta', 'ttl', 'idempotencyKey', 'unique', 'debounce', 'alongside'].map(
          (name) => [
            name,
            fc.oneof(
              json.map((value) => (): unknown => value),
              fc.constantFrom(...refused.map(([, make]) => make)),
            ),
          ],
        ),
      ),
      { requiredKeys: [] },
    );
    await lively(
      () => undefined,
      async (functions, fn) => {
        await fc.assert(
          fc.asyncProperty(options, async (makers) => {
            const given = Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, make?.()]));
            const run = await functions.enqueue(fn, 1, given as never).catch((error: unknown) => error as Error);
            if (run instanceof Error) expect(run.message).not.toBe('');
            else expect((await run.status()).id).toBe(run.id);
          }),
          { numRuns: count },
        );
      },
    );
  });
});
