import fc from 'fast-check';
import { errAsync } from 'neverthrow';
import { expect, test } from 'vitest';
import {
  flaky,
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  rerunning,
  sequentialIds,
  sometimes,
} from '../../adapters/memory/index.js';
import {
  functionCounts,
  hasEnded,
  idempotencyTime,
  interruptionLimit,
  runId,
  runKeys,
  runs,
  type StoredRun,
  steps,
  values,
} from '../../src/functions/run.js';
import {
  createFunctions,
  defineFunction,
  type EnqueueOptions,
  type Functions,
  type RunContext,
} from '../../src/functions.js';
import { createEngine } from '../../src/index.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Storage } from '../../src/ports/storage.js';
import { hour, minute, second } from '../../src/shared/duration.js';
import type { Table } from '../../src/shared/table.js';

/*
 * Whatever callers and processes do in whatever order, over a store that repeats and fails writes: each accepted run ends once, no run
 * is under way twice, and nothing is left of what is removed.
 */

const attempts = 3;
const slots = 3;

interface Input {
  /** How long an attempt takes: some longer than the timeout. */
  readonly takes: number;
  /** Attempts that fail. */
  readonly failures: number;
  /** Ends its process. */
  readonly isPoison: boolean;
  /** Makes the input longer than what is stored in the row. */
  readonly padding: string;
}

/** A process from its start to its end. */
interface Life {
  readonly functions: Functions;
  isDead: boolean;
}

type Command = readonly [name: string, act: (w: World) => Promise<void>];

class World {
  readonly clock: ManualClock = manualClock();
  readonly storage = rerunning(memoryStorage(), (write) => write % 3);
  readonly #ids = sequentialIds();
  readonly lives: (Life | undefined)[] = Array.from({ length: slots }, () => undefined);
  /** Enqueues and asks; its store never fails. */
  readonly caller: Functions = this.#functionsOf(undefined, this.clock, this.storage);
  /** Runs that were accepted and not seen to have ended. */
  readonly open = new Set<string>();
  /** Rows of runs that have ended. */
  readonly ended = new Map<string, string>();
  readonly keyed = new Map<string, { readonly id: string; readonly at: number }>();
  readonly faults: string[] = [];
  /** No more writes fail. */
  isCalm = false;
  readonly #underWay = new Map<string, Life>();
  readonly #doneSteps = new Map<string, number>();

  /** `work` keeps all of its runs for the time of a case, `few` hardly any. */
  #functionsOf(life: (() => Life) | undefined, clock: Clock, storage: Storage): Functions {
    const delivery = recordingDelivery({ clock: this.clock });
    const engine = createEngine({ storage, clock, ids: this.#ids, delivery });
    return createFunctions(
      engine,
      definitionsOf((input, run) => this.#handle(life?.(), clock, input, run)),
    );
  }

  async start(slot: number, failing: number): Promise<void> {
    if (this.lives[slot] !== undefined) return;
    const never = new Promise<never>(() => undefined);
    const after = <T>(value: T): T | Promise<never> => (life.isDead ? never : value);
    const clock: Clock = {
      ...this.clock,
      sleep: (time, signal) => this.clock.sleep(time, signal).then(after),
      sleepUntil: (time, signal) => this.clock.sleepUntil(time, signal).then(after),
    };
    const fails = sometimes(failing, this.clock.now() + slot);
    const shaky = flaky(this.storage, {
      write: { calls: (n) => !this.isCalm && fails(n), when: slot === 0 ? 'before' : 'after', error: full },
    });
    const closed = () => errAsync({ type: 'storage_failed', reason: 'closed', message: 'killed' } as const);
    const storage: Storage = {
      read: (work) => (life.isDead ? closed() : shaky.read(work)),
      write: (work) => (life.isDead ? closed() : shaky.write(work)),
      waitForChange: (tables, index, signal) => shaky.waitForChange(tables, index, signal),
      close: () => shaky.close(),
    };
    const life: Life = { functions: this.#functionsOf(() => life, clock, storage), isDead: false };
    this.lives[slot] = life;
    // A start reads and writes, too: a service tries again.
    for (let tries = 0; tries < 100; tries += 1) {
      if (
        await life.functions.start().then(
          () => true,
          () => false,
        )
      )
        return;
    }
  }

  kill(slot: number): void {
    const life = this.lives[slot];
    if (life !== undefined) life.isDead = true;
    this.lives[slot] = undefined;
  }

  async stop(slot: number, deadline: number): Promise<void> {
    const stopped = this.lives[slot]?.functions.stop({ deadline });
    await this.clock.advance(deadline + 2 * second);
    await stopped;
    this.lives[slot] = undefined;
  }

  async #handle(life: Life | undefined, clock: Clock, input: Input, run: RunContext): Promise<number> {
    if (life === undefined) throw new Error('a process that only enqueues runs nothing');
    const other = this.#underWay.get(run.id);
    if (other !== undefined && !other.isDead) this.faults.push(`${run.id} is under way twice`);
    if (run.attempt > attempts) this.faults.push(`${run.id} has attempt ${run.attempt}`);
    this.#underWay.set(run.id, life);
    try {
      if (input.isPoison) {
        this.kill(this.lives.indexOf(life));
        await clock.sleep(1, never);
      }
      const first = await run.step('first', () => {
        this.#doneSteps.set(run.id, run.attempt);
        return { attempt: run.attempt, padding: input.padding };
      });
      await clock.sleep(input.takes, run.signal);
      run.signal.throwIfAborted();
      if (run.attempt <= input.failures) throw new Error('not yet');
      return first.attempt;
    } finally {
      if (this.#underWay.get(run.id) === life) this.#underWay.delete(run.id);
    }
  }

  async enqueue(slot: number, { name, count, input, key, ...options }: Order): Promise<void> {
    const by = this.lives[slot]?.functions ?? this.caller;
    const definition = declared[name];
    const keys = key === undefined ? {} : { [key.kind]: key.key };
    try {
      if (count > 1) {
        const batch = await by.enqueueMany(
          definition,
          Array.from({ length: count }, () => input),
          options,
        );
        for (const { id } of batch.runs) this.open.add(id);
        return;
      }
      const { id, isNew } = await by.enqueue(definition, input, { ...options, ...keys });
      this.#checkKey(name, key, id);
      if (isNew || !this.ended.has(id)) this.open.add(id);
    } catch (error) {
      expect(error).toMatchObject({ type: 'storage_failed' });
    }
  }

  #checkKey(name: string, key: Order['key'], id: string): void {
    if (key?.kind !== 'idempotencyKey') return;
    const known = this.keyed.get(`${name} ${key.key}`);
    const isCurrent = known !== undefined && this.clock.now() < known.at + idempotencyTime;
    if (isCurrent && known.id !== id) this.faults.push(`the key ${key.key} leads to ${known.id} and to ${id}`);
    if (!isCurrent) this.keyed.set(`${name} ${key.key}`, { id, at: this.clock.now() });
  }

  /** What a caller has removed is gone with its keys. */
  async discard(state: 'succeeded' | 'failed' | 'queued' | 'scheduled'): Promise<void> {
    const before = await this.rows(runs);
    await this.caller.discard({ state });
    const left = new Set((await this.rows(runs)).map(runId));
    for (const id of before.map(runId)) if (!left.has(id)) this.forget(id);
  }

  forget(id: string): void {
    this.open.delete(id);
    this.ended.delete(id);
    for (const [key, known] of this.keyed) if (known.id === id) this.keyed.delete(key);
  }

  async retry(): Promise<void> {
    for (const run of await this.rows(runs)) {
      if (!hasEnded(run) || run.state === 'succeeded') continue;
      this.ended.delete(runId(run));
      this.open.add(runId(run));
    }
    await this.caller.retry({});
  }

  async cancelSome(at: number): Promise<void> {
    const all = await this.rows(runs);
    const run = all[at % Math.max(1, all.length)];
    if (run !== undefined) await (await this.caller.run(runId(run)))?.cancel();
  }

  async rows<R>(table: Table<R>): Promise<R[]> {
    return (await this.storage.read((view) => view.list(table).map(({ record }) => record)))._unsafeUnwrap();
  }

  async check(): Promise<void> {
    await this.clock.settle();
    const all = await this.rows(runs);
    const byNumber = new Map(all.map((run) => [run.number, run]));
    expect(this.faults).toEqual([]);
    for (const run of all) this.#checkRun(run);
    const present = new Set(all.map(runId));
    for (const id of this.open) if (id.startsWith('work/')) expect(present.has(id), `${id} is there`).toBe(true);
    for (const { run } of [...(await this.rows(steps)), ...(await this.rows(values)), ...(await this.rows(runKeys))])
      expect(byNumber.has(run), `${run} is there`).toBe(true);
    for (const { kind, run } of await this.rows(values)) expect(byNumber.get(run)?.apart).toContain(kind);
    const counts = new Map((await this.rows(functionCounts)).map((row) => [row.function, row]));
    for (const name of ['work', 'few']) {
      const over = all.filter((run) => run.function === name && hasEnded(run));
      const succeeded = over.filter(({ state }) => state === 'succeeded').length;
      const { succeeded: counted = 0, others = 0 } = counts.get(name) ?? {};
      expect({ name, succeeded: counted, others }).toEqual({ name, succeeded, others: over.length - succeeded });
    }
  }

  #checkRun(run: StoredRun): void {
    const id = runId(run);
    expect(run.attempt).toBeLessThanOrEqual(attempts);
    expect(run.attempt).toBeGreaterThanOrEqual(0);
    expect(run.interruptions).toBeLessThanOrEqual(interruptionLimit);
    expect(run.holder !== null, `${id} ${run.state}`).toBe(run.state === 'running');
    expect(run.endedAt !== null, `${id} ${run.state}`).toBe(hasEnded(run));
    if (!hasEnded(run)) expect(this.ended.has(id), `${id} had ended`).toBe(false);
    else {
      const row = JSON.stringify(run);
      expect(row).toBe(this.ended.get(id) ?? row);
      this.ended.set(id, row);
      this.open.delete(id);
    }
  }

  /** The processes that are left work off all that is due; then fresh ones, one after the other, until all has ended. */
  async finish(): Promise<void> {
    this.isCalm = true;
    await this.clock.advance(hour);
    await this.check();
    const isLate = (run: StoredRun): boolean => !hasEnded(run) && run.dueAt < this.clock.now() - 5 * minute;
    if (this.lives.some((life) => life !== undefined))
      expect((await this.rows(runs)).filter(isLate).map(runId)).toEqual([]);
    for (let slot = 0; slot < slots; slot += 1) this.kill(slot);
    for (let life = 0; life < 100 && (await this.rows(runs)).some((run) => !hasEnded(run)); life += 1) {
      await this.start(0, 0);
      await this.clock.advance(10 * minute);
      await this.check();
    }
    expect((await this.rows(runs)).filter((run) => !hasEnded(run)).map(runId)).toEqual([]);
  }
}

interface Order extends Omit<EnqueueOptions, 'alongside' | 'unique' | 'idempotencyKey'> {
  readonly name: 'work' | 'few';
  readonly count: number;
  readonly input: Input;
  readonly key: { readonly kind: 'unique' | 'idempotencyKey'; readonly key: string } | undefined;
}

const never = new AbortController().signal;
const full = { type: 'storage_failed', reason: 'full', message: 'the disk is full' } as const;

function definitionsOf(handler?: (input: Input, run: RunContext) => Promise<number>) {
  const shared = { retry: { attempts, backoff: 'fixed', delay: 10 * second }, timeout: 30 * second } as const;
  const keep = { succeeded: { count: 2 }, others: { count: 1, age: '1h' } };
  return [
    defineFunction<Input, Input, number>({ name: 'work', ...shared, keep: { succeeded: { age: '300d' } } }, handler),
    defineFunction<Input, Input, number>({ name: 'few', ...shared, keep }, handler),
  ] as const;
}
const [work, few] = definitionsOf();
const declared = { work, few };

const input: fc.Arbitrary<Input> = fc.record({
  takes: fc.constantFrom(0, 0, 100, 5 * second, minute),
  failures: fc.constantFrom(0, 0, 1, 2, 3),
  isPoison: fc.integer({ min: 0, max: 19 }).map((n) => n === 0),
  padding: fc.constantFrom('', 'x'.repeat(600)),
});
/** A key has one input, so that a repeated call is never refused. */
const plainInput: Input = { takes: 0, failures: 0, isPoison: false, padding: '' };
const slot = fc.nat(slots - 1);
const optionally = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });

const order = fc
  .record({
    name: fc.constantFrom<Order['name']>('work', 'few'),
    count: fc.constantFrom(1, 1, 1, 5, 30),
    input,
    key: optionally(
      fc.record({
        kind: fc.constantFrom<'unique' | 'idempotencyKey'>('unique', 'idempotencyKey'),
        key: fc.constantFrom('a', 'b', 'c', 'd'),
      }),
    ),
    delay: optionally(fc.constantFrom(0, second, minute, hour)),
    ttl: optionally(fc.constantFrom(second, minute, hour)),
    priority: optionally(fc.integer({ min: 1, max: 100 })),
  })
  .map(
    ({ key, input: given, delay, ttl, priority, ...rest }): Order => ({
      ...rest,
      key,
      input: key === undefined ? given : plainInput,
      ...(delay === undefined ? {} : { delay }),
      ...(ttl === undefined ? {} : { ttl }),
      ...(priority === undefined ? {} : { priority }),
    }),
  );

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(slot, order)
      .map(([at, asked]) => named(`enqueue in ${at} ${JSON.stringify(asked)}`, (w) => w.enqueue(at, asked))),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(10, second, 20 * second, minute, 30 * minute)
      .map((by) => named(`advance ${by}`, (w) => w.clock.advance(by))),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(-hour, -minute, minute, hour).map((by) => named(`step ${by}`, (w) => w.clock.step(by))),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(slot, fc.constantFrom(0, 0.1, 0.3))
      .map(([at, failing]) => named(`start ${at}, failing ${failing}`, (w) => w.start(at, failing))),
  },
  { weight: 2, arbitrary: slot.map((at) => named(`kill ${at}`, async (w) => w.kill(at))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(slot, fc.constantFrom(0, 25 * second))
      .map(([at, deadline]) => named(`stop ${at} in ${deadline}`, (w) => w.stop(at, deadline))),
  },
  { weight: 1, arbitrary: fc.nat(1000).map((at) => named(`cancel ${at}`, (w) => w.cancelSome(at))) },
  {
    weight: 1,
    arbitrary: fc.constant(
      named('cancel the queued', async (w) => void (await w.caller.cancel({ state: ['queued', 'running'] }))),
    ),
  },
  { weight: 1, arbitrary: fc.constant(named('retry', (w) => w.retry())) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('succeeded' as const, 'failed' as const, 'queued' as const, 'scheduled' as const)
      .map((state) => named(`discard ${state}`, (w) => w.discard(state))),
  },
);

function named(name: string, act: Command[1]): Command {
  return Object.assign([name, act] as const, { [fc.toStringMethod]: () => name });
}

test('each accepted run ends once, and nothing is left of what is removed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 30 }), async (commands) => {
      const w = new World();
      for (const [, act] of commands) {
        await act(w);
        await w.check();
      }
      await w.finish();
      await w.check();
    }),
    { numRuns: 60 },
  );
});
