import { afterEach, describe, expect, test } from 'vitest';
import { defineFunction, type Handler, type RunContext } from '../../../src/functions/define-function.js';
import { batches, logs, runs, steps } from '../../../src/functions/run.js';
import { type BatchEnd, RunFailedError } from '../../../src/operations/functions/functions-api.js';
import { minute, second } from '../../../src/shared/duration.js';
import { mortal, processOver, stopAll, world } from '../../support/function-processes.js';

afterEach(stopAll);

const never = (): Promise<never> => new Promise(() => undefined);
const work = <Out>(handler: Handler<undefined, Out>, options: object = {}) =>
  defineFunction<undefined, undefined, Out>({ name: 'work', ...options }, handler);

describe('what a handler reports', () => {
  test('is there within a second, with the last progress', async () => {
    const own = world();
    const fn = work((_, run) => {
      run.progress({ done: 1 });
      run.progress({ done: 2 });
      run.log.info('one');
      run.log.error('two');
      return never();
    });
    const functions = await processOver(own, [fn]);
    const run = await functions.enqueue(fn);
    await own.clock.settle();
    expect((await run.status()).progress).toBeUndefined();
    await own.clock.advance(second);
    expect((await run.status()).progress).toEqual({ done: 2 });
    const at = new Date(own.clock.now() - second);
    expect(await run.log()).toEqual([
      { at, level: 'info', text: 'one' },
      { at, level: 'error', text: 'two' },
    ]);
  });

  test('is stored with the outcome, and a later attempt adds to it', async () => {
    const own = world();
    const fn = work(
      (_, run) => {
        run.log.info(`attempt ${run.attempt}`);
        run.progress(run.attempt);
        if (run.attempt === 1) throw new Error('again');
      },
      { retry: { delay: '1m', jitter: 0 } },
    );
    const functions = await processOver(own, [fn]);
    const run = await functions.enqueue(fn);
    await own.clock.settle();
    expect((await run.log()).map(({ text }) => text)).toEqual(['attempt 1']);
    await own.clock.advance(minute);
    expect((await run.log()).map(({ text }) => text)).toEqual(['attempt 1', 'attempt 2']);
    expect(await run.status()).toMatchObject({ state: 'succeeded', progress: 2 });
    await functions.discard({});
    await expect(run.log()).rejects.toMatchObject({ type: 'run_not_found' });
    expect((await own.storage.read((view) => view.list(logs)))._unsafeUnwrap()).toEqual([]);
  });

  test('is bounded: the oldest lines go, long ones are cut', async () => {
    const own = world();
    const fn = work(async (_, run) => {
      for (let n = 0; n < 50_000; n += 1) run.log.info(`line ${n} of many`);
      await never();
    });
    const long = defineFunction({ name: 'long' }, (_: undefined, run) => run.log.info('x'.repeat(100_000)));
    const functions = await processOver(own, [fn, long]);
    const run = await functions.enqueue(fn);
    await own.clock.advance(second);
    const lines = await run.log();
    const size = lines.reduce((sum, { text }) => sum + text.length, 0);
    expect(lines.at(-1)?.text).toBe('line 49999 of many');
    expect(size).toBeLessThanOrEqual(64 * 1024);
    expect(size).toBeGreaterThan(63 * 1024);
    const other = await functions.enqueue(long);
    await other.result();
    expect((await other.log())[0]?.text).toHaveLength(8192);
  });

  test.each([
    ['what is not JSON', () => new Map() as never, 'the progress is not JSON: the value is a Map'],
    ['what is too large', () => 'x'.repeat(5000), 'the progress has 5002 bytes of JSON: at most 4096 are kept'],
  ])('refuses %s as progress', async (_, value, message) => {
    const fn = work((__, run) => run.progress(value()));
    const functions = await processOver(world(), [fn]);
    await expect((await functions.enqueue(fn)).result()).rejects.toThrow(message);
  });

  test('survives a write that failed', async () => {
    const own = world();
    let isFailing = false;
    const failing = { ...own.storage, write: (task: never) => own.storage.write(task) } as typeof own.storage;
    const flaky = {
      ...failing,
      read: (task: never) => own.storage.read(task),
      waitForChange: (...args: never) => own.storage.waitForChange(...(args as [never, never, never])),
      write: (task: Parameters<typeof own.storage.write>[0]) =>
        own.storage.write((tx) => {
          if (isFailing) throw new Error('not now');
          return task(tx) as never;
        }),
    } as typeof own.storage;
    const fn = work((_, run) => {
      run.log.info('kept');
      return never();
    });
    const functions = await processOver({ ...own, storage: flaky }, [fn]);
    const run = await functions.enqueue(fn);
    await own.clock.settle();
    isFailing = true;
    await own.clock.advance(3 * second);
    isFailing = false;
    await own.clock.advance(3 * second);
    expect((await run.log()).map(({ text }) => text)).toEqual(['kept']);
  });
});

describe('silence', () => {
  const signs: readonly (readonly [string, (run: RunContext) => unknown])[] = [
    ['a heartbeat', (run) => run.heartbeat()],
    ['progress', (run) => run.progress(1)],
    ['a step', (run) => run.step(String(Math.random()), () => 1)],
  ];
  test.each(signs)('is broken by %s', async (_, sign) => {
    const own = world();
    const fn = work(
      async (__, run) => {
        for (let n = 0; n < 5; n += 1) {
          await own.clock.sleep(40 * second, run.signal);
          await sign(run);
        }
        return 'done';
      },
      { silence: '1m' },
    );
    const functions = await processOver(own, [fn]);
    const run = await functions.enqueue(fn);
    await own.clock.advance(4 * minute);
    expect(await run.status()).toMatchObject({ state: 'succeeded', attempt: 1 });
  });

  test('ends an attempt, and says so', async () => {
    const own = world();
    const reasons: string[] = [];
    const fn = work(
      async (_, run) => {
        await own.clock.sleep(30 * second, run.signal);
        run.heartbeat();
        await own.clock.sleep(10 * minute, run.signal);
        reasons.push(String((run.signal.reason as Error).name));
        throw new Error('aborted');
      },
      { silence: '1m', retry: { attempts: 1 } },
    );
    const functions = await processOver(own, [fn]);
    const run = await functions.enqueue(fn);
    await own.clock.advance(89 * second);
    expect((await run.status()).state).toBe('running');
    await own.clock.advance(second);
    expect(reasons).toEqual(['timed_out']);
    expect(await run.status()).toMatchObject({ state: 'timed_out', error: { message: 'aborted' } });
  });

  test('of a handler that never ends is told in its error', async () => {
    const own = world();
    const fn = work(() => never(), { silence: '1m', retry: { attempts: 1 } });
    const functions = await processOver(own, [fn]);
    const run = await functions.enqueue(fn);
    await own.clock.advance(2 * minute);
    expect((await run.status()).error?.message).toBe('the attempt gave no sign of life for 60000 ms');
  });
});

describe('a call', () => {
  const double = defineFunction<number, number, number>({ name: 'double' }, (n) => 2 * n);

  test('gives the result of the other function, whose run knows its parent', async () => {
    const parent = work(async (_, run) => (await run.call('a', double, 4)) + (await run.call('b', double, 5)));
    const functions = await processOver(world(), [parent, double]);
    const run = await functions.enqueue(parent);
    expect(await run.result()).toBe(18);
    const called = await functions.list({ function: 'double' });
    expect(called.map((each) => [each.parent, each.input])).toEqual([
      [run.id, 5],
      [run.id, 4],
    ]);
    expect((await run.status()).parent).toBeNull();
  });

  test('needs no slot, and shows that it waits', async () => {
    const own = world();
    let goOn = (): void => undefined;
    const slow = defineFunction<undefined, undefined, string>({ name: 'slow' }, async () => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      return 'done';
    });
    const parent = work((_, run) => run.call('it', slow));
    const functions = await processOver(own, [parent, slow], { concurrency: 1 });
    const run = await functions.enqueue(parent);
    await own.clock.settle();
    expect((await run.status()).state).toBe('waiting');
    const [called] = await functions.list({ function: 'slow' });
    expect(called?.state).toBe('running');
    expect(await functions.explain(run.id)).toEqual({ reason: 'child', message: `it waits for ${called?.id}` });
    goOn();
    expect(await run.result()).toBe('done');
  });

  test('gives up the place within a limit, and gets one again before new runs', async () => {
    const own = world();
    const order: string[] = [];
    const child = defineFunction<undefined, undefined, void>(
      { name: 'child', concurrency: { limit: 1, scope: 'crm' } },
      () => void order.push('child'),
    );
    const parent = defineFunction<number, number, void>(
      { name: 'parent', concurrency: { limit: 1, scope: 'crm' } },
      async (n, run) => {
        order.push(`begins ${n}`);
        await run.call('child', child);
        order.push(`ends ${n}`);
      },
    );
    const functions = await processOver(own, [parent, child], { concurrency: 1 });
    const batch = await functions.enqueueMany(parent, [1, 2]);
    await batch.ended();
    expect(order.filter((each) => each.startsWith('ends'))).toEqual(['ends 1', 'ends 2']);
    expect(order).toHaveLength(6);
  });

  test('of several at once waits without a slot for all of them', async () => {
    const parent = work(async (_, run) => {
      const results = await Promise.all([1, 2, 3, 4, 5].map((n) => run.call(`double ${n}`, double, n)));
      return results.reduce((sum, n) => sum + n, 0);
    });
    const functions = await processOver(world(), [parent, double], { concurrency: 1 });
    expect(await (await functions.enqueue(parent)).result()).toBe(30);
  });

  test('does not count against the timeout or the silence', async () => {
    const own = world();
    const slow = defineFunction<undefined, undefined, void>({ name: 'slow' }, () =>
      own.clock.sleep(10 * minute, new AbortController().signal),
    );
    const parent = work((_, run) => run.call('it', slow), { timeout: '1m', silence: '30s' });
    const functions = await processOver(own, [parent, slow]);
    const run = await functions.enqueue(parent);
    await own.clock.advance(10 * minute);
    expect(await run.status()).toMatchObject({ state: 'succeeded', attempt: 1 });
  });

  test('that failed fails its parent without another attempt, and is made again by a retry', async () => {
    const own = world();
    let isBroken = true;
    const child = defineFunction<undefined, undefined, string>({ name: 'child', retry: { attempts: 1 } }, () => {
      if (isBroken) throw new Error('broken');
      return 'mended';
    });
    const parent = work((_, run) => run.call('it', child));
    const functions = await processOver(own, [parent, child]);
    const run = await functions.enqueue(parent);
    await expect(run.result()).rejects.toThrow(/the run work\/\d+ failed: the run child\/\d+ failed: broken/);
    expect((await run.status()).attempt).toBe(1);
    isBroken = false;
    expect(await functions.retry({ function: 'work' })).toBe(1);
    expect(await run.result()).toBe('mended');
  });

  test('can be caught', async () => {
    const child = defineFunction<undefined, undefined, void>({ name: 'child', retry: { attempts: 1 } }, () => {
      throw new Error('broken');
    });
    const parent = work(async (_, run) => {
      try {
        await run.call('it', child);
        return 'fine';
      } catch (error) {
        return error instanceof RunFailedError ? `${error.outcome}: ${error.error?.message}` : 'other';
      }
    });
    const functions = await processOver(world(), [parent, child]);
    expect(await (await functions.enqueue(parent)).result()).toBe('failed: broken');
  });

  test('is not repeated by a later attempt', async () => {
    const own = world();
    let called = 0;
    const child = defineFunction<undefined, undefined, number>({ name: 'child' }, () => ++called);
    const parent = work(
      async (_, run) => {
        const n = await run.call('it', child);
        if (run.attempt < 3) throw new Error('later');
        return n;
      },
      { retry: { delay: 1 } },
    );
    const functions = await processOver(own, [parent, child]);
    const run = await functions.enqueue(parent);
    await own.clock.advance(minute);
    expect(await run.result()).toBe(1);
    expect(called).toBe(1);
  });

  test('outlives the process of its parent, which is not to blame', async () => {
    const own = world();
    const first = mortal(own.storage);
    let goOn = (): void => undefined;
    const child = defineFunction<undefined, undefined, string>(
      { name: 'child' },
      () =>
        new Promise((resolve) => {
          goOn = () => resolve('done');
        }),
    );
    const parent = work((_, run) => run.call('it', child));
    const declared = defineFunction({ name: 'child' });
    const doomed = await processOver({ ...own, storage: first.storage }, [parent, declared]);
    const other = await processOver(own, [child]);
    const run = await doomed.enqueue(parent);
    await own.clock.settle();
    first.kill();
    goOn();
    const next = await processOver(own, [parent, child]);
    await own.clock.advance(minute);
    const seen = await next.run<string>(run.id);
    expect(await seen?.result()).toBe('done');
    expect(await seen?.status()).toMatchObject({ attempt: 1, interruptions: 0 });
    expect(await other.list({ function: 'child' })).toHaveLength(1);
  });

  test('is handed back by a stop, and goes on elsewhere', async () => {
    const own = world();
    const slow = defineFunction<undefined, undefined, string>({ name: 'slow' }, async (_, run) => {
      await own.clock.sleep(minute, run.signal);
      return 'done';
    });
    const parent = work((_, run) => run.call('it', slow));
    const functions = await processOver(own, [parent, slow]);
    const run = await functions.enqueue(parent);
    await own.clock.settle();
    const stopped = functions.stop({ deadline: '5m' });
    await own.clock.advance(minute);
    expect(await stopped).toEqual({ ended: 1, handedBack: 1 });
    const next = await processOver(own, [parent, slow]);
    await own.clock.advance(second);
    expect(await (await next.run(run.id))?.result()).toBe('done');
  });

  test('is cancelled with its parent, down to the last one', async () => {
    const own = world();
    const leaf = defineFunction<undefined, undefined, void>({ name: 'leaf' }, (_, run) =>
      own.clock.sleep(10 * minute, run.signal),
    );
    const middle = defineFunction<undefined, undefined, void>({ name: 'middle' }, (_, run) => run.call('leaf', leaf));
    const top = work((_, run) => run.call('middle', middle));
    const functions = await processOver(own, [top, middle, leaf]);
    const run = await functions.enqueue(top);
    await own.clock.settle();
    expect(await run.cancel('enough')).toBe(true);
    await own.clock.advance(10 * second);
    const all = await functions.list();
    expect(all.map(({ function: name, state }) => [name, state])).toEqual([
      ['leaf', 'cancelled'],
      ['middle', 'cancelled'],
      ['work', 'cancelled'],
    ]);
  });

  test('of a run that was discarded comes to an end', async () => {
    const own = world();
    const child = defineFunction<undefined, undefined, void>({ name: 'child' });
    const parent = work((_, run) => run.call('it', child));
    const functions = await processOver(own, [parent, child]);
    const run = await functions.enqueue(parent);
    await own.clock.settle();
    expect(await functions.discard({ function: 'child' })).toBe(1);
    await expect(run.result()).rejects.toThrow('was cancelled: discarded');
  });

  test.each<[string, (run: RunContext) => Promise<unknown>, RegExp]>([
    [
      'a name twice',
      async (run) => [await run.call('a', double, 1), await run.call('a', double, 1)],
      /used twice in one attempt/,
    ],
    ['another input', (run) => run.call('a', double, (() => 1) as never), /the input of double is not JSON/],
    [
      'an unknown function',
      (run) => run.call('a', defineFunction<void>({ name: 'unknown' })),
      /unknown is not among the definitions/,
    ],
    ['no name', (run) => run.call('', double, 1), /the name of a step is a string/],
  ])('refuses %s', async (_, call, message) => {
    const parent = work(async (__, run) => void (await call(run)), { retry: { attempts: 1 } });
    const functions = await processOver(world(), [parent, double]);
    await expect((await functions.enqueue(parent)).result()).rejects.toThrow(message);
  });

  test('leaves nothing behind when all is removed', async () => {
    const own = world();
    const parent = work(async (_, run) => run.call('it', double, 1));
    const functions = await processOver(own, [parent, double]);
    await (await functions.enqueue(parent)).result();
    expect(await functions.discard({})).toBe(2);
    expect((await own.storage.read((view) => [...view.list(steps), ...view.list(runs)]))._unsafeUnwrap()).toEqual([]);
  });
});

describe('a batch', () => {
  const fails = defineFunction<number, number, void>({ name: 'fails', retry: { attempts: 1 } }, (n) => {
    if (n % 2 === 1) throw new Error('odd');
  });
  const ends: BatchEnd[] = [];
  const summary = defineFunction<BatchEnd>({ name: 'summary' }, (end) => void ends.push(end));
  afterEach(() => ends.splice(0));

  test('ends when all have ended, however, and is followed once', async () => {
    const own = world();
    const functions = await processOver(own, [fails, summary]);
    const batch = await functions.enqueueMany(fails, [1, 2, 3, 4, 5], { then: summary });
    const counts = await batch.ended();
    expect(counts).toMatchObject({ succeeded: 2, failed: 3, running: 0, total: 5 });
    await own.clock.settle();
    expect(ends).toEqual([{ batch: batch.id, counts }]);
    await functions.retry({ batch: batch.id });
    await own.clock.settle();
    expect(await batch.ended()).toMatchObject({ failed: 3, total: 5 });
    expect(ends).toHaveLength(1);
  });

  test('without runs is over at once', async () => {
    const own = world();
    const functions = await processOver(own, [fails, summary]);
    const batch = await functions.enqueueMany(fails, [], { then: summary });
    expect(await batch.ended()).toMatchObject({ total: 0 });
    await own.clock.settle();
    expect(ends.map(({ counts }) => counts.total)).toEqual([0]);
  });

  test('is cancelled as a whole, and ends', async () => {
    const own = world();
    const functions = await processOver(own, [fails, summary]);
    const batch = await functions.enqueueMany(fails, [1, 2, 3], { delay: '1h', then: summary });
    await functions.discard({ batch: batch.id, function: 'fails', state: 'running' });
    expect(await batch.cancel('no longer needed')).toBe(3);
    expect(await batch.ended()).toMatchObject({ cancelled: 3, scheduled: 0 });
    expect((await batch.runs[0]?.status())?.error?.message).toBe('no longer needed');
    await own.clock.settle();
    expect(ends).toHaveLength(1);
  });

  test('whose runs are discarded ends, too, and leaves nothing behind', async () => {
    const own = world();
    const functions = await processOver(own, [fails, summary]);
    const batch = await functions.enqueueMany(fails, [2, 4], { delay: '1h', then: summary });
    expect(await functions.discard({ batch: batch.id })).toBe(2);
    await own.clock.settle();
    expect(ends.map(({ counts }) => counts.cancelled)).toEqual([2]);
    expect((await own.storage.read((view) => view.list(batches)))._unsafeUnwrap()).toEqual([]);
    await expect(batch.ended()).rejects.toMatchObject({ type: 'run_not_found' });
  });

  test('that does not end in time says so', async () => {
    const own = world();
    const functions = await processOver(own, [fails]);
    const batch = await functions.enqueueMany(fails, [2], { delay: '1h' });
    const ended = batch.ended({ timeout: '1m' });
    const failed = expect(ended).rejects.toMatchObject({ name: 'TimeoutError' });
    await own.clock.advance(minute);
    await failed;
  });

  test('is counted by all processes', async () => {
    const own = world();
    const one = await processOver(own, [fails, summary], { concurrency: 2 });
    await processOver(own, [fails, summary], { concurrency: 2 });
    const batch = await one.enqueueMany(
      fails,
      Array.from({ length: 50 }, (_, n) => n),
      { then: summary },
    );
    expect(await batch.ended()).toMatchObject({ succeeded: 25, failed: 25, total: 50 });
    await own.clock.settle();
    expect(ends).toHaveLength(1);
  });

  test('refuses what is not a definition to follow it', async () => {
    const functions = await processOver(world(), [fails]);
    await expect(functions.enqueueMany(fails, [1], { then: 'summary' as never })).rejects.toThrow(/then/);
    await expect(functions.enqueueMany(fails, [1], { then: summary })).rejects.toThrow(
      'summary is not among the definitions',
    );
  });
});

test('an outcome with rows of the host needs a store that has them', async () => {
  const fn = work((_, run) => run.commit(1, () => undefined));
  const functions = await processOver(world(), [fn]);
  await expect((await functions.enqueue(fn)).result()).rejects.toThrow(
    'run.commit needs a store that has the tables of the host',
  );
});
