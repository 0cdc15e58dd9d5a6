import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { afterEach, describe, expect, test } from 'vitest';
import { memoryStorage, rerunning } from '../../../adapters/memory/index.js';
import { limitNames } from '../../../src/functions/admission.js';
import {
  defineFunction,
  type FunctionDefinition,
  type FunctionPolicy,
  policyOf,
} from '../../../src/functions/define-function.js';
import { pauses, queueName, readyKey, runs, type StoredRun, started } from '../../../src/functions/run.js';
import type { Functions } from '../../../src/operations/functions/functions-api.js';
import { newRun } from '../../../src/operations/functions/stored-runs.js';
import { UnderWay } from '../../../src/operations/functions/under-way.js';
import type { Storage, WriteView } from '../../../src/ports/storage.js';
import { processes } from '../../../src/queue/process.js';
import { hour, minute, second } from '../../../src/shared/duration.js';
import { encodeKey } from '../../../src/storage/records.js';
import { processOver, stopAll, type World, world } from '../../support/function-processes.js';

/*
 * Which runs a process starts: compared with a model that looks at every run, one after the other.
 */

afterEach(stopAll);

interface Input {
  readonly key: string;
  readonly host: string;
}
type Fn = FunctionDefinition<Input, void>;

const byKey = ({ key }: Input): string => key;
const byHost = ({ host }: Input): string => host;

/** Functions with limits and rates of every kind, two of which share a scope, and one without. */
function functionsWith(handler: (input: Input) => Promise<void>): readonly Fn[] {
  const define = (name: string, options: object): Fn =>
    defineFunction<Input, Input, void>({ name, timeout: false, ...options }, handler);
  return [
    define('one', { concurrency: { limit: 1, key: byKey } }),
    define('two', { concurrency: [{ limit: 2, key: byKey }, { limit: 3 }] }),
    define('shared', { concurrency: [{ limit: 2, key: byHost, scope: 'hosts' }], priority: 60 }),
    define('sharing', {
      concurrency: [
        { limit: 1, key: byKey },
        { limit: 2, key: byHost, scope: 'hosts' },
      ],
    }),
    define('paced', { rate: { limit: 1, per: '1h', burst: 2, key: byKey } }),
    define('all', { concurrency: 2, rate: { limit: 3, per: '1h' } }),
    define('free', { version: 2 }),
  ];
}

const policiesOf = (fns: readonly Fn[]): ReadonlyMap<string, FunctionPolicy> =>
  new Map(fns.map((fn) => [fn.name, policyOf(fn) as FunctionPolicy]));
const isKeyed = ({ limits, rates }: FunctionPolicy): boolean => [...limits, ...rates].some(({ key }) => key);

/** The order in which the runs of one function become due. */
const inOrder = (one: StoredRun, other: StoredRun): number =>
  (encodeKey(readyKey(one)) as string) < (encodeKey(readyKey(other)) as string) ? -1 : 1;

/** Counts every run, without an index, a page or a memory. */
class Model {
  readonly counts = new Map<string, number>();
  readonly draws = new Map<string, number>();

  constructor(
    readonly policies: ReadonlyMap<string, FunctionPolicy>,
    readonly paused: readonly { readonly function: string; readonly key?: string }[],
    live: readonly StoredRun[],
  ) {
    for (const run of live) this.count(run);
  }

  names(run: StoredRun): string[] {
    const plain = (this.policies.get(run.function) as FunctionPolicy).limits.filter(({ key }) => key === undefined);
    return [...new Set([...plain.map(({ scope }) => scope), ...(run.limits ?? [])])];
  }

  count(run: StoredRun): void {
    for (const name of this.names(run)) this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  isPaused(run: StoredRun): boolean {
    const keys = (run.limits ?? []).map((name) => name.slice(name.indexOf('=') + 1));
    return this.paused.some(
      ({ function: name, key }) => name === run.function && (key === undefined || keys.includes(key)),
    );
  }

  /** Whether the code may take it, apart from limits. */
  mayTake(run: StoredRun): boolean {
    const policy = this.policies.get(run.function) as FunctionPolicy;
    return run.state === 'queued' && run.version <= policy.version && !this.isPaused(run);
  }

  isHeld(run: StoredRun): boolean {
    const { limits, rates } = this.policies.get(run.function) as FunctionPolicy;
    const nameIn = (scope: string): string => run.limits?.find((name) => name.startsWith(`${scope}=`)) ?? scope;
    return (
      limits.some(({ scope, limit }) => (this.counts.get(nameIn(scope)) ?? 0) >= limit) ||
      rates.some(({ scope, burst }) => (this.draws.get(nameIn(scope)) ?? 0) >= burst)
    );
  }

  start(run: StoredRun): void {
    this.count(run);
    for (const { scope } of (this.policies.get(run.function) as FunctionPolicy).rates) {
      const name = run.limits?.find((each) => each.startsWith(`${scope}=`)) ?? scope;
      this.draws.set(name, (this.draws.get(name) ?? 0) + 1);
    }
  }

  /** The numbers of the runs that a process with so many slots starts: in each round the first of each key, in turns. */
  starts(queued: readonly StoredRun[], slots: number): Set<number> {
    const started = new Set<number>();
    const lastKey = new Map<string, string>();
    for (let before = -1; started.size < slots && started.size > before; ) {
      before = started.size;
      const room = slots - started.size;
      const groups = [...this.policies.values()].map((policy) => {
        const own = queued.filter((run) => run.function === policy.name && !started.has(run.number));
        const takable = own.filter((run) => this.mayTake(run)).toSorted(inOrder);
        if (!isKeyed(policy)) return takable.filter((run) => !this.isHeld(run)).slice(0, room);
        const heads = [...new Map(takable.toReversed().map((run) => [run.limits?.[0] ?? '', run])).entries()];
        const last = lastKey.get(policy.name) ?? '';
        heads.sort(([a], [b]) => Number(a <= last) - Number(b <= last) || (a < b ? -1 : 1));
        return heads
          .map(([, run]) => run)
          .filter((run) => !this.isHeld(run))
          .slice(0, room);
      });
      const first = groups.flat();
      first.sort((a, b) => b.priority - a.priority || a.dueAt - b.dueAt || a.number - b.number);
      for (const run of first) {
        if (started.size >= slots || this.isHeld(run)) continue;
        this.start(run);
        started.add(run.number);
        if (run.limits?.[0] !== undefined) lastKey.set(run.function, run.limits[0]);
      }
    }
    return started;
  }
}

const names = ['one', 'two', 'shared', 'sharing', 'paced', 'all', 'free'] as const;
const anyRun = fc.record({
  name: fc.constantFrom(...names),
  key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  host: fc.constantFrom('x', 'y'),
  priority: fc.constantFrom(10, 50, 90),
  /** How long it has been due, in seconds. */
  age: fc.nat(5),
  isNewer: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  /** Under way in another process. */
  isLive: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
});
type AnyRun = typeof anyRun extends fc.Arbitrary<infer T> ? T : never;
const anyPause = fc.record({ function: fc.constantFrom(...names), key: fc.constantFrom(undefined, 'a', 'b', 'x') });

const other = 'another-process';

function storedOf(own: World, policies: ReadonlyMap<string, FunctionPolicy>, given: AnyRun, number: number): StoredRun {
  const policy = policies.get(given.name) as FunctionPolicy;
  const at = own.clock.now() - given.age * second;
  const input = { key: given.key, host: given.host };
  const limits = limitNames(policy, input);
  const run: StoredRun = {
    ...newRun(policy, input, { number, now: at, dueAt: at }),
    ...(limits.length === 0 ? {} : { limits }),
    priority: given.priority,
    version: policy.version + Number(given.isNewer),
  };
  return given.isLive ? { ...run, state: 'running', holder: other, starts: 1, attempt: 1, startedAt: at } : run;
}

/** Stores the rows, and those under way as held by a process that lives. */
async function fill(own: World, given: readonly AnyRun[], paused: readonly { function: string; key?: string }[]) {
  const policies = policiesOf(functionsWith(() => Promise.resolve()));
  const stored: StoredRun[] = [];
  const written = await own.storage.write((tx) => {
    stored.splice(0);
    for (const each of given) stored.push(storedOf(own, policies, each, tx.nextIndex()));
    for (const run of stored) tx.put(runs, run);
    for (const pause of paused) tx.put(pauses, pause);
    const until = own.clock.now() + hour;
    const lease = { timeline: own.clock.timeline, leaseUntil: own.clock.monotonic() + hour, until };
    tx.put(processes, { queue: queueName, id: other, ...lease });
    return ok(undefined);
  });
  expect(written.isOk()).toBe(true);
  return stored;
}

const allRuns = async ({ storage }: World): Promise<StoredRun[]> =>
  (await storage.read((view) => view.list(runs).map(({ record }) => record)))._unsafeUnwrap();

const never = (): Promise<void> => new Promise(() => undefined);
const pauseOf = ({ function: name, key }: { function: string; key: string | undefined }) =>
  key === undefined ? { function: name } : { function: name, key };

describe('a process starts what a model starts that counts every run', () => {
  test.each([
    ['once', memoryStorage],
    ['several times', () => rerunning(memoryStorage())],
  ])('in writes whose work runs %s', async (_times, storageOf) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyRun, { maxLength: 40 }),
        fc.array(anyPause, { maxLength: 2 }),
        fc.integer({ min: 1, max: 24 }),
        async (given, paused, slots) => {
          const own = world(storageOf());
          const fns = functionsWith(never);
          const stored = await fill(own, given, paused.map(pauseOf));
          const [live, queued] = [true, false].map((isLive) =>
            stored.filter(({ holder }) => (holder !== null) === isLive),
          ) as [StoredRun[], StoredRun[]];
          const model = new Model(policiesOf(fns), paused.map(pauseOf), live);
          const expected = model.starts(queued, slots);
          await processOver(own, fns, { concurrency: slots });
          await own.clock.settle();
          const started = (await allRuns(own)).filter(({ state, holder }) => state === 'running' && holder !== other);
          expect(new Set(started.map(({ number }) => number))).toEqual(expected);
          stopAll();
        },
      ),
      { numRuns: 150 },
    );
  });
});

/** What happens to a fleet. */
const anyStep = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('enqueue' as const), run: anyRun, at: fc.nat(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('many' as const),
      runs: fc.array(anyRun, { minLength: 2, maxLength: 6 }),
      at: fc.nat(1),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('end' as const), which: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('pause' as const), pause: anyPause }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('resume' as const), pause: anyPause }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('time' as const), minutes: fc.integer({ min: 1, max: 2 }) }) },
);

describe('in a fleet, whatever is enqueued, ends, is paused or continued', () => {
  test.each([
    ['once', memoryStorage],
    ['several times', () => rerunning(memoryStorage())],
  ])(
    'no limit is exceeded, nothing waits that may start, and of a key the first one starts first, in writes whose work runs %s',
    async (_times, storageOf) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(anyStep, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 }),
          fc.integer({ min: 1, max: 2 }),
          fc.constantFrom(2, 100),
          async (story, size, slots) => {
            const own = world(storageOf());
            const ends: (() => void)[] = [];
            const fns = functionsWith(() => new Promise((end) => ends.push(end)));
            const policies = policiesOf(fns);
            const fleet: Functions[] = [];
            for (let at = 0; at < size; at += 1) fleet.push(await processOver(own, fns, { concurrency: slots }));
            let paused: { function: string; key?: string }[] = [];
            for (const together of story) {
              const before = await allRuns(own);
              await Promise.all(
                together.map(async (step) => {
                  const functions = fleet['at' in step ? step.at % size : 0];
                  const fnOf = (name: string): Fn => fns.find((fn) => fn.name === name) as Fn;
                  if (functions === undefined) return;
                  if (step.type === 'enqueue') {
                    const { name, key, host, priority } = step.run;
                    await functions.enqueue(fnOf(name), { key, host }, { priority });
                  } else if (step.type === 'many') {
                    const [{ name } = { name: 'one' }] = step.runs;
                    await functions.enqueueMany(
                      fnOf(name),
                      step.runs.map(({ key, host }) => ({ key, host })),
                    );
                  } else if (step.type === 'end') ends.splice(step.which % Math.max(1, ends.length), 1)[0]?.();
                  else if (step.type === 'time') await own.clock.advance(step.minutes * minute);
                  else {
                    const { function: name, key } = step.pause;
                    const isKnown = key === undefined || isKeyed(policies.get(name) as FunctionPolicy);
                    if (isKnown)
                      await (step.type === 'pause'
                        ? functions.pause(fnOf(name), key)
                        : functions.resume(fnOf(name), key));
                  }
                }),
              );
              await own.clock.settle();
              paused = (
                await own.storage.read((view) => view.list(pauses).map(({ record }) => record))
              )._unsafeUnwrap() as never;
              check({ policies, paused, before, after: await allRuns(own), slots: slots * size });
            }
            stopAll();
            for (const end of ends) end();
          },
        ),
        { numRuns: 40 },
      );
    },
  );
});

function check({
  policies,
  paused,
  before,
  after,
  slots,
}: {
  readonly policies: ReadonlyMap<string, FunctionPolicy>;
  readonly paused: readonly { function: string; key?: string }[];
  readonly before: readonly StoredRun[];
  readonly after: readonly StoredRun[];
  readonly slots: number;
}): void {
  const live = after.filter(({ state }) => state === 'running');
  const model = new Model(policies, paused, live);
  for (const { limits } of policies.values())
    for (const { scope, limit } of limits)
      for (const [name, count] of model.counts)
        if (name === scope || name.startsWith(`${scope}=`)) expect(count, name).toBeLessThanOrEqual(limit);
  // What a rate has left is not looked at: only functions without one.
  const isPaced = (run: StoredRun): boolean => (policies.get(run.function)?.rates.length ?? 0) > 0;
  const waiting = after.filter((run) => model.mayTake(run) && !isPaced(run)).toSorted(inOrder);
  const heads = new Map(waiting.toReversed().map((run) => [`${run.function} ${run.limits?.[0] ?? ''}`, run]));
  if (live.length < slots)
    for (const run of heads.values()) expect(model.isHeld(run), `${run.function}/${run.number} waits`).toBe(true);
  const begun = new Set(after.filter(({ startedAt }) => startedAt !== null).map(({ number }) => number));
  const waited = before.filter(({ state, number }) => state === 'queued' && begun.has(number));
  for (const run of waited) {
    const first = heads.get(`${run.function} ${run.limits?.[0] ?? ''}`);
    // One that was there before it, and could have been taken all the time.
    const wasThere =
      first !== undefined && before.some(({ number, state }) => number === first.number && state === 'queued');
    if (wasThere && paused.length === 0) expect(inOrder(run, first), `${first.number} before ${run.number}`).toBe(-1);
  }
}

describe('a run of a limited function', () => {
  const keyed = (options: object = {}): Fn =>
    defineFunction<Input, Input, void>({ name: 'one', concurrency: { limit: 1, key: byKey }, ...options }, never);
  const rowsOf = async ({ storage }: World) =>
    (await storage.read((view) => view.list(runs).map((row) => ({ ...row, record: row.record }))))._unsafeUnwrap();
  /** Of each run: whether it is under way, and whether it was stored in one write. */
  const beginnings = async (own: World) =>
    (await rowsOf(own)).map(({ record, createIndex, modifyIndex }) =>
      record.state === 'running' ? (createIndex === modifyIndex ? 'at once' : 'later') : record.state,
    );
  const input = (key: string): Input => ({ key, host: 'x' });

  test('begins in the write that enqueues it when it is known that its limit has room', async () => {
    const own = world();
    const one = keyed();
    const functions = await processOver(own, [one]);
    // The first one is counted by a turn.
    for (const key of ['a', 'b', 'b', 'c', 'a', 'd']) {
      await functions.enqueue(one, input(key));
      await own.clock.settle();
    }
    expect(await beginnings(own)).toEqual(['later', 'at once', 'queued', 'at once', 'queued', 'at once']);
  });

  test('also beside others that are enqueued at the same time', async () => {
    const own = world();
    const one = keyed();
    const functions = await processOver(own, [one]);
    await functions.enqueue(one, input('z'));
    await own.clock.settle();
    await Promise.all(['a', 'a', 'b', 'b', 'c'].map((key) => functions.enqueue(one, input(key))));
    await own.clock.settle();
    expect(await beginnings(own)).toEqual(['later', 'at once', 'queued', 'at once', 'queued', 'at once']);
  });

  test('is counted by a turn after another process has changed a run', async () => {
    const own = world();
    const one = keyed();
    const functions = await processOver(own, [one]);
    const beside = await processOver(own, [one], { concurrency: 1 });
    await functions.enqueue(one, input('a'));
    await own.clock.settle();
    await beside.enqueue(one, input('b'));
    await functions.enqueue(one, input('b'));
    await own.clock.settle();
    expect((await beginnings(own)).filter((each) => each === 'queued')).toHaveLength(1);
  });

  test.each([
    ['function', undefined],
    ['key', 'a'],
  ])('waits while its %s is paused', async (_what, key) => {
    const own = world();
    const one = keyed();
    const functions = await processOver(own, [one]);
    await functions.enqueue(one, input('z'));
    await own.clock.settle();
    await functions.pause(one, key);
    await functions.enqueue(one, input('a'));
    await own.clock.settle();
    expect(await beginnings(own)).toEqual(['later', 'queued']);
  });
});

describe('counts of what is under way', () => {
  const policies = policiesOf(functionsWith(never));
  const policy = policies.get('one') as FunctionPolicy;
  const pair = (number: number, holder: string) => {
    const queued = { ...newRun(policy, null, { number, now: 0, dueAt: 0 }), limits: ['one:key=a'] };
    return { queued, begun: started(queued, holder, 0) };
  };
  const begin = (tx: WriteView, live: UnderWay, holder = 'here'): boolean => {
    const run = pair(tx.index, holder);
    const isBegun = live.begins(tx, policy, run);
    tx.put(runs, isBegun ? run.begun : run.queued);
    return isBegun;
  };
  /** Counts that contain all changes, of a store with one run of another key. */
  async function counted(storage: Storage): Promise<UnderWay> {
    const live = new UnderWay(policies);
    await storage.write((tx) => {
      const { queued, begun } = pair(tx.index, 'here');
      const other = { ...begun, limits: ['one:key=z'] };
      live.change(tx, queued, other);
      tx.put(runs, other);
      live.counted(tx, true);
      return ok(undefined);
    });
    return live;
  }

  test('let as many begin as the limit says, in one write or several', async () => {
    const storage = memoryStorage();
    const live = await counted(storage);
    const [first, second] = await Promise.all([1, 2].map(() => storage.write((tx) => ok(begin(tx, live)))));
    const third = await storage.write((tx) => ok(begin(tx, live)));
    expect([first, second, third].map((written) => written?._unsafeUnwrap().value)).toEqual([true, false, false]);
  });

  test('are not used after a write that failed, also when another one has got its index', async () => {
    const storage = memoryStorage();
    const live = await counted(storage);
    await storage.write((tx) => {
      expect(begin(tx, live)).toBe(true);
      return err('refused');
    });
    // In its place, another process begins a run of another key.
    await storage.write((tx) => {
      tx.put(runs, { ...pair(tx.index, 'there').begun, limits: ['one:key=y'] });
      return ok(undefined);
    });
    const next = await storage.write((tx) =>
      ok([begin(tx, live), ...['a', 'y', 'z'].map((key) => live.in(tx).of(`one:key=${key}`))]),
    );
    expect(next._unsafeUnwrap().value).toEqual([false, 0, 1, 1]);
  });

  test('are not used after a change by anybody else', async () => {
    const storage = memoryStorage();
    const live = await counted(storage);
    await storage.write((tx) => {
      tx.remove(runs, [2]);
      tx.put(runs, pair(tx.index, 'there').begun);
      return ok(undefined);
    });
    const next = await storage.write((tx) => ok([live.in(tx).of('one:key=a'), live.in(tx).of('one:key=z')]));
    expect(next._unsafeUnwrap().value).toEqual([1, 0]);
  });
});
