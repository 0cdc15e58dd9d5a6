import { afterEach, describe, expect, test } from 'vitest';
import { recordingDelivery } from '../../../adapters/memory/index.js';
import { defineFunction, type RunContext } from '../../../src/functions/define-function.js';
import { createEngine, settingsFrom } from '../../../src/index.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import type { EnqueueOptions, Functions } from '../../../src/operations/functions/functions-api.js';
import { day, second } from '../../../src/shared/duration.js';
import { processOver, stopAll, type World, world } from '../../support/function-processes.js';

afterEach(stopAll);

const mebibyte = 1024 * 1024;
/** A string whose JSON has so many bytes. */
const bytes = (count: number): string => 'x'.repeat(count - 2);
const one = (options: object = {}) =>
  defineFunction<unknown, unknown, void>({ name: 'one', ...options }, () => undefined);
const far = 400 * day;

/** What is still accepted, and what no longer is. */
describe('the largest value of an option is accepted, and the next one is not', () => {
  const key = (length: number): string => 'k'.repeat(length);
  const meta = (entries: number) => Object.fromEntries(Array.from({ length: entries }, (_, n) => [`m${n}`, 'v']));
  test.each<[string, EnqueueOptions, EnqueueOptions]>([
    ['idempotencyKey', { idempotencyKey: key(256) }, { idempotencyKey: key(257) }],
    ['unique', { unique: key(256) }, { unique: key(257) }],
    ['unique.key', { unique: { key: key(256) } }, { unique: { key: key(257) } }],
    ['unique.until', { unique: { key: 'a', until: far } }, { unique: { key: 'a', until: far + 1 } }],
    ['debounce.key', { debounce: { key: key(256), wait: 1 } }, { debounce: { key: key(257), wait: 1 } }],
    ['debounce.wait', { debounce: { key: 'a', wait: far } }, { debounce: { key: 'a', wait: far + 1 } }],
    ['debounce.max', { debounce: { key: 'a', wait: 1, max: far } }, { debounce: { key: 'a', wait: 1, max: far + 1 } }],
    ['delay', { delay: '400d' }, { delay: far + 1 }],
    ['ttl', { ttl: '400d' }, { ttl: far + 1 }],
    ['meta', { meta: meta(16) }, { meta: meta(17) }],
    ['a name in meta', { meta: { [key(256)]: '' } }, { meta: { [key(257)]: '' } }],
    ['a value in meta', { meta: { a: key(256) } }, { meta: { a: key(257) } }],
    ['priority', { priority: 100 }, { priority: 101 }],
    ['the lowest priority', { priority: 1 }, { priority: 0 }],
  ])('%s', async (_name, largest, larger) => {
    const functions = await processOver(world(), [one()], { starts: false });
    expect((await functions.enqueue(one(), 1, largest)).isNew).toBe(true);
    await expect(functions.enqueue(one(), 1, larger)).rejects.toBeInstanceOf(TypeError);
  });

  test('runAt', async () => {
    const own = world();
    const functions = await processOver(own, [one()], { starts: false });
    const at = (after: number): EnqueueOptions => ({ runAt: new Date(own.clock.now() + after) });
    expect((await functions.enqueue(one(), 1, at(far))).isNew).toBe(true);
    await expect(functions.enqueue(one(), 1, at(far + 1))).rejects.toThrow('runAt is at most 400 days from now');
  });

  test('timeout, and the name of a function', () => {
    for (const options of [{ timeout: '7d' }, { timeout: false }, { name: key(128) }])
      expect(() => one(options)).not.toThrow();
    for (const options of [{ timeout: 7 * day + 1 }, { timeout: 0 }, { name: key(129) }])
      expect(() => one(options)).toThrow(TypeError);
  });

  test.each(['concurrency', 'rate'])('a key of %s', async (member) => {
    const limit = { limit: 1, key: (input: unknown) => String(input) };
    const fn = one(member === 'rate' ? { rate: { ...limit, per: '1s' } } : { concurrency: limit });
    const functions = await processOver(world(), [fn], { starts: false });
    expect((await functions.enqueue(fn, key(256))).isNew).toBe(true);
    await expect(functions.enqueue(fn, key(257))).rejects.toThrow(/gives no key: .* at most 256 characters/);
  });

  test('the inputs of enqueueMany', async () => {
    const functions = await processOver(world(), [one()], { starts: false });
    const batch = await functions.enqueueMany(
      one(),
      Array.from({ length: 10_000 }, () => 1),
    );
    expect(batch.runs).toHaveLength(10_000);
    await expect(
      functions.enqueueMany(
        one(),
        Array.from({ length: 10_001 }, () => 1),
      ),
    ).rejects.toThrow('at most 10000');
  });
});

/** What a handler does, and how its run ends. */
async function outcomeOf(handler: (run: RunContext) => unknown, own: World = world()) {
  const fn = defineFunction<unknown, unknown, unknown>({ name: 'work', retry: { attempts: 1 } }, (_, run) =>
    handler(run),
  );
  const functions = await processOver(own, [fn]);
  const run = await functions.enqueue(fn, 1);
  await own.clock.settle();
  return { functions, run, status: await run.status() };
}

describe('what a handler does is accepted up to its limit', () => {
  test('1,000 steps', async () => {
    const steps = (count: number) => async (run: RunContext) => {
      for (let n = 0; n < count; n += 1) await run.step(`step ${n}`, () => n);
    };
    expect((await outcomeOf(steps(1000))).status.state).toBe('succeeded');
    expect((await outcomeOf(steps(1001))).status).toMatchObject({
      state: 'failed',
      error: { message: 'a run has at most 1000 steps' },
    });
  });

  test('a name of a step of 256 characters', async () => {
    const named = (length: number) => (run: RunContext) => run.step('n'.repeat(length), () => 1);
    expect((await outcomeOf(named(256))).status.state).toBe('succeeded');
    expect((await outcomeOf(named(257))).status.error?.message).toContain('1 to 256 characters');
    expect((await outcomeOf(named(0))).status.error?.message).toContain('1 to 256 characters');
  });

  test('4 KiB of progress', async () => {
    const progress = (count: number) => (run: RunContext) => run.progress(bytes(count));
    expect((await outcomeOf(progress(4096))).status).toMatchObject({ state: 'succeeded', progress: bytes(4096) });
    expect((await outcomeOf(progress(4097))).status.error?.message).toBe(
      'the progress has 4097 bytes of JSON: at most 4096 are kept',
    );
  });

  test('1 KiB of the message and 8 KiB of the stack of an error: the rest is cut', async () => {
    const failing = (message: number, stack: number) => () => {
      const error = new Error('m'.repeat(message));
      error.stack = 's'.repeat(stack);
      throw error;
    };
    const kept = async (message: number, stack: number) => {
      const { error } = (await outcomeOf(failing(message, stack))).status;
      return [error?.message.length, error?.stack.length];
    };
    expect(await kept(1024, 8192)).toEqual([1024, 8192]);
    expect(await kept(1025, 8193)).toEqual([1024, 8192]);
  });

  test.each([['at once'], ['in the course of time']])('64 KiB of log %s: the oldest lines go', async (way) => {
    const line = (n: number) => String(n).padEnd(8192, '.');
    const own = world();
    const logging = async (count: number) => {
      const { run, functions } = await outcomeOf(async (context) => {
        for (let n = 0; n < count; n += 1) {
          context.log.info(line(n));
          if (way !== 'at once') await own.clock.sleep(2 * second, context.signal);
        }
      }, own);
      await own.clock.advance(2 * count * second);
      expect((await run.status()).state).toBe('succeeded');
      const lines = await run.log();
      await functions.stop();
      return lines.map(({ text }) => Number.parseInt(text, 10));
    };
    expect(await logging(8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await logging(9)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe('the size of a value', () => {
  /** A process with its setting. */
  function processWith(
    maximumValueBytes: number | undefined,
    definitions: Parameters<typeof createFunctions>[1],
  ): Functions {
    const { clock, storage, ids } = world();
    const settings = maximumValueBytes === undefined ? {} : { functions: { maximumValueBytes } };
    const engine = createEngine({ storage, clock, ids, delivery: recordingDelivery({ clock }) }, settings);
    return createFunctions(engine, definitions);
  }

  test.each([[undefined], [1024], [5000], [2 * mebibyte]])(
    'of inputs, results, values of steps and inputs of calls and schedules is bounded by the setting %s',
    async (setting) => {
      const most = setting ?? mebibyte;
      const own: Record<string, (size: number, run: RunContext) => unknown> = {
        result: (size) => bytes(size),
        step: async (size, run) => void (await run.step('large', () => bytes(size))),
        call: async (size, run) => void (await run.call('called', called, bytes(size))),
      };
      const called = defineFunction<string>({ name: 'called' }, () => undefined);
      const large = defineFunction<{ what: string; size: number }, { what: string; size: number }, unknown>(
        { name: 'large', retry: { attempts: 1 } },
        ({ what, size }, run) => own[what]?.(size, run),
      );
      const functions = processWith(setting, [large, called]);
      await functions.start();
      expect((await functions.enqueue(called, bytes(most))).isNew).toBe(true);
      const refused = `the input of called has ${most + 1} bytes of JSON: at most ${most} are kept`;
      await expect(functions.enqueue(called, bytes(most + 1))).rejects.toMatchObject({
        type: 'too_large',
        message: refused,
      });
      await expect(functions.enqueueMany(called, ['', bytes(most + 1)])).rejects.toThrow(
        `inputs[1]: ${refused.slice(4)}`,
      );
      for (const [what, name] of [
        ['result', 'result'],
        ['step', "value of the step 'large'"],
        ['call', 'input of called'],
      ] as const) {
        await (await functions.enqueue(large, { what, size: most })).result();
        const failed = await functions.enqueue(large, { what, size: most + 1 });
        await expect(failed.result()).rejects.toThrow(
          `the ${name} has ${most + 1} bytes of JSON: at most ${most} are kept`,
        );
      }
      const cron = (size: number) => ({ id: 'daily', schedule: '@daily', input: bytes(size) });
      await functions.schedule(called, cron(most));
      await expect(functions.schedule(called, cron(most + 1))).rejects.toMatchObject({ type: 'too_large' });
      const declares = (size: number) =>
        processWith(setting, [defineFunction<string>({ name: 'timed', cron: cron(size) }, () => undefined)]);
      expect(() => declares(most)).not.toThrow();
      expect(() => declares(most + 1)).toThrow(TypeError);
      await functions.stop({ deadline: 0 });
    },
  );

  test.each<[string, unknown, string]>([
    ['bytes, not characters', 'ä'.repeat(600), 'has 1202 bytes of JSON'],
    ['pairs of surrogates', '😀'.repeat(300), 'has 1202 bytes of JSON'],
    ['what JSON escapes', '\n'.repeat(600), 'has 1202 bytes of JSON'],
    ['the member that is large', { rows: 'x'.repeat(2000), total: 1 }, '2002 of them in rows:'],
    ['a member within another one', { a: { b: [1, { c: 'x'.repeat(2000) }] } }, '2002 of them in a.b[1].c:'],
    ['no member when none has most of it', { a: 'x'.repeat(600), b: 'x'.repeat(600) }, 'bytes of JSON: at most 1024'],
  ])('counts and names %s', async (_what, input, message) => {
    const functions = processWith(1024, [one()]);
    await expect(functions.enqueue(one(), input)).rejects.toThrow(message);
  });

  test('is a whole number from 1 KiB to 16 MiB', () => {
    for (const maximumValueBytes of [1024, 16 * mebibyte])
      expect(() => settingsFrom({ functions: { maximumValueBytes } })).not.toThrow();
    for (const maximumValueBytes of [1023, 16 * mebibyte + 1, 2000.5, Number.NaN, '2000' as never])
      expect(() => settingsFrom({ functions: { maximumValueBytes } })).toThrow(
        /functions.maximumValueBytes takes a whole number from 1024/,
      );
  });
});
