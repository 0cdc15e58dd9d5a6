import { describe, expect, test } from 'vitest';
import { memoryStorage, recordingDelivery } from '../../adapters/memory/index.js';
import { testEngine } from '../../adapters/testing/index.js';
import { defineFunction, type FunctionDefinition } from '../../src/functions/define-function.js';
import { runs } from '../../src/functions/run.js';
import { createEngine } from '../../src/index.js';
import { createFunctions } from '../../src/operations/functions/create-functions.js';
import { minute, second } from '../../src/shared/duration.js';
import { processOver, world } from '../support/function-processes.js';

/*
 * Fleets of processes over one store in virtual time. `SIGNALBOX_FUNCTION_DEPLOYS=10000`, `SIGNALBOX_FUNCTION_KEYS=1000` and
 * `SIGNALBOX_FUNCTION_DAYS=365` for the long runs.
 */
const deploys = Number(process.env['SIGNALBOX_FUNCTION_DEPLOYS'] ?? 300);
const keys = Number(process.env['SIGNALBOX_FUNCTION_KEYS'] ?? 100);
/** Runs of each key: 100,000 in all for 1,000 keys. */
const each = keys < 1000 ? 20 : 100;
const days = Number(process.env['SIGNALBOX_FUNCTION_DAYS'] ?? 3);

/** Numbers that only look random: the same in each run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

test(`${deploys} deploys of two versions give no run into the wrong hands`, {
  timeout: 60_000 + deploys * 100,
}, async () => {
  const own = world();
  const random = numbers(7);
  const wrong: string[] = [];
  const done = new Map<number, number>();
  const version = (of: 1 | 2): FunctionDefinition<{ n: number; shape: number }, number> =>
    defineFunction<{ n: number; shape: number }, { n: number; shape: number }, number>(
      {
        name: 'work',
        version: of,
        migrate: (input) => ({ ...(input as { n: number; shape: number }), shape: of }),
        keep: { succeeded: { count: 1_000_000 } },
      },
      ({ n, shape }) => {
        if (shape > of) wrong.push(`${n} of version ${shape} in a process of version ${of}`);
        done.set(n, (done.get(n) ?? 0) + 1);
        return of;
      },
    );
  const versions = [version(1), version(2)] as const;
  const fleet = await Promise.all([0, 1].map(() => processOver(own, [versions[0]])));
  let asked = 0;
  for (let at = 0; at < deploys; at += 1) {
    const slot = Math.floor(random.next().value * fleet.length);
    const stopped = fleet[slot]?.stop({ deadline: random.next().value < 0.5 ? 0 : '1s' });
    await own.clock.advance(2 * second);
    await stopped;
    const of = random.next().value < 0.5 ? 0 : 1;
    const process = await processOver(own, [versions[of]]);
    fleet[slot] = process;
    // Most of them wait, and are taken by whoever is there then.
    for (let n = 0; n < 3; n += 1)
      await process.enqueue(versions[of], { n: asked++, shape: of + 1 }, n === 0 ? {} : { delay: n * 1500 });
    await own.clock.settle();
  }
  // The latest version takes what is left.
  await processOver(own, [versions[1]]);
  await own.clock.advance(minute);
  expect(wrong).toEqual([]);
  expect(done.size).toBe(asked);
  expect([...done.values()].every((times) => times === 1)).toBe(true);
});

describe('keys', () => {
  test(`${keys} with a limit of one take turns`, { timeout: 60_000 + keys * each * 50 }, async () => {
    const own = world();
    const ended: string[] = [];
    const underWay = new Map<string, number>();
    const work = defineFunction<{ key: string }, { key: string }, void>(
      {
        name: 'work',
        concurrency: { limit: 1, key: ({ key }) => key },
        keep: { succeeded: { count: 100 } },
      },
      async ({ key }) => {
        underWay.set(key, (underWay.get(key) ?? 0) + 1);
        expect(underWay.get(key)).toBe(1);
        await own.clock.sleep(second, new AbortController().signal);
        underWay.delete(key);
        ended.push(key);
      },
    );
    const functions = await processOver(own, [work], { concurrency: Math.ceil(keys / 10) });
    // The first keys ask for all of their runs before the last ones do.
    for (let key = 0; key < keys; key += 1)
      await functions.enqueueMany(
        work,
        Array.from({ length: each }, () => ({ key: `k${key}` })),
      );
    await own.clock.advance((each / 2) * 10 * second);
    const shares = new Map<string, number>();
    for (const key of ended) shares.set(key, (shares.get(key) ?? 0) + 1);
    const counts = Array.from({ length: keys }, (_, key) => shares.get(`k${key}`) ?? 0);
    const mean = ended.length / keys;
    expect(mean).toBeGreaterThan(each / 4);
    for (const count of counts) expect(Math.abs(count - mean)).toBeLessThanOrEqual(Math.max(1, mean / 10));
  });
});

test(`${days} days of a function of every minute do not let the store grow`, {
  timeout: 60_000 + days * 10_000,
}, async () => {
  const tick = defineFunction(
    { name: 'tick', cron: '* * * * *', keep: { succeeded: { count: 50 }, others: { count: 50 } } },
    () => undefined,
  );
  const box = await testEngine({ functions: [tick] });
  await box.advance('1d');
  const after = (await box.functions.list({ limit: 10_000 })).length;
  await box.advance(`${days}d`);
  const later = (await box.functions.list({ limit: 10_000 })).length;
  await box.stop();
  expect(after).toBeLessThan(400);
  expect(later).toBeLessThanOrEqual(after + 200);
});

test('a store that fails for a while loses nothing, and nothing is done twice that was recorded', async () => {
  const own = world(memoryStorage());
  const random = numbers(3);
  let isFailing = false;
  const storage = {
    ...own.storage,
    read: own.storage.read.bind(own.storage),
    waitForChange: own.storage.waitForChange.bind(own.storage),
    close: own.storage.close.bind(own.storage),
    write: ((work: (tx: never) => never) =>
      own.storage.write((tx) => {
        if (isFailing && random.next().value < 0.7) throw new Error('the disk is full');
        return work(tx as never);
      })) as typeof own.storage.write,
  };
  const engine = createEngine({
    storage,
    clock: own.clock,
    ids: own.ids,
    delivery: recordingDelivery({ clock: own.clock }),
  });
  const steps = new Map<string, number>();
  const work = defineFunction<number, number, number>(
    { name: 'work', retry: { attempts: 50, delay: 1 } },
    async (n, run) => {
      await run.step('once', () => {
        steps.set(run.id, (steps.get(run.id) ?? 0) + 1);
      });
      return n;
    },
  );
  const functions = createFunctions(engine, [work]);
  await functions.start();
  const accepted: string[] = [];
  for (let n = 0; n < 200; n += 1) {
    isFailing = n % 20 > 10;
    const run = await functions.enqueue(work, n).catch(() => undefined);
    if (run !== undefined) accepted.push(run.id);
    if (n % 10 === 0) await own.clock.advance(3 * second);
  }
  isFailing = false;
  await own.clock.advance(10 * minute);
  const stored = (await own.storage.read((view) => view.list(runs).map(({ record }) => record)))._unsafeUnwrap();
  expect(stored.filter(({ state }) => state !== 'succeeded')).toEqual([]);
  const ids = new Set(stored.map(({ number }) => `work/${number}`));
  expect(accepted.filter((id) => !ids.has(id))).toEqual([]);
  await functions.stop();
});
