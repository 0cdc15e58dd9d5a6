import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../ports/clock.js';
import type { ReadView, Storage, StorageError, TableName } from '../../ports/storage.js';
import type { Milliseconds } from '../../shared/duration.js';
import { Slices } from './slices.js';

/** One answer of a query: the same object for every reader that it wakes, so that it can be printed once. */
export interface Answer<T> {
  /** Index of the last write that changed what the query looks at; at least 1. */
  readonly index: number;
  /** The result of the query at that index. */
  readonly value: T;
}

/** The index of an answer that nobody waits for, such as an error: greater than every index that a reader can have. */
export const atOnce = Number.MAX_SAFE_INTEGER;

export interface BlockingQuery<T> {
  /**
   * Equal keys mean equal queries: they share one run and one answer. Must name everything that `run` depends on. Asked for only
   * when a reader waits: a function where the key has to be printed.
   */
  readonly key: string | (() => string);
  /** The tables that can change the answer. */
  readonly tables: readonly TableName[];
  readonly run: (view: ReadView) => Answer<T>;
  /** `run` in steps, each in the view of its time, for a query that may look at many rows. The index is that of the first step. */
  readonly steps?: (current: () => ReadView) => Generator<void, Answer<T>>;
}

type Outcome<T> = Result<Answer<T>, StorageError>;

interface Waiter {
  readonly after: number;
  /** On the monotonic clock; infinite for a reader that waits for as long as it takes. */
  readonly deadline: Milliseconds;
  group: Group | undefined;
  /** Of the snapshot with which the wait began. */
  readonly mark: number;
  readonly whenRightsChanged: (() => void) | undefined;
  readonly resolve: (outcome: Outcome<unknown>) => void;
}

interface Group {
  readonly key: string;
  readonly query: BlockingQuery<unknown>;
  readonly waiters: Set<Waiter>;
  last: Answer<unknown>;
  /** The store index of the snapshot that gave `last`, and its mark. */
  ranAt: number;
  mark: number;
}

/** What is known of the snapshot in which a query ran. */
export interface Snapshot {
  readonly index: number;
  readonly mark: number;
}

/** How long a query waits for an index greater than `after`, and who is answered. */
interface ParkedWait<T> {
  readonly after: number;
  readonly deadline: Milliseconds;
  /** Receives a function that gives up the wait. */
  readonly whenCancelled?: ((cancel: () => void) => void) | undefined;
  /** Called before `resolve` when the answer is of a snapshot with another mark. */
  readonly whenRightsChanged?: (() => void) | undefined;
  /** Called once. */
  readonly resolve: (outcome: Outcome<T>) => void;
}

/**
 * Readers that wait for a change. A committed write runs each distinct query that watches one of the changed tables
 * once, whatever the number of its readers, and answers those whose index has passed, a slice per turn of the loop.
 */
export class ParkedQueries {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #tables: readonly TableName[];
  /** Equal for snapshots between which the rights of callers have not changed. */
  readonly markOf: (view: ReadView) => number;
  readonly #groups = new Map<string, Group>();
  #watching: AbortController | undefined;
  #alarm: { readonly at: Milliseconds; readonly controller: AbortController } | undefined;
  /**
   * Every change up to this index has been shown to the groups, but for readers that came with an older snapshot since: they see to it
   * themselves.
   */
  #seen = 0;
  #releases = 0;

  constructor(storage: Storage, clock: Clock, tables: readonly TableName[], markOf: (view: ReadView) => number) {
    this.markOf = markOf;
    this.#storage = storage;
    this.#clock = clock;
    this.#tables = tables;
  }

  get size(): number {
    let size = 0;
    for (const group of this.#groups.values()) size += group.waiters.size;
    return size;
  }

  /**
   * Waits until the query's index is greater than `after`, or until the deadline, which gives the last answer.
   * `snapshot` is the one in which `current` was read.
   */
  park<T>(
    query: BlockingQuery<T>,
    { current, snapshot }: { readonly current: Answer<T>; readonly snapshot: Snapshot },
    { after, deadline, whenCancelled, whenRightsChanged, resolve }: ParkedWait<T>,
  ): void {
    const { mark } = snapshot;
    const answered = resolve as Waiter['resolve'];
    const waiter: Waiter = { after, deadline, group: undefined, mark, whenRightsChanged, resolve: answered };
    const group = this.#join(query, current, snapshot, waiter);
    if (group.last.index > after) {
      this.#finish(waiter, ok(group.last));
      return;
    }
    whenCancelled?.(() => {
      if (waiter.group !== undefined) this.#finish(waiter, ok(group.last));
    });
    if (this.#watching === undefined) this.#watch(snapshot.index);
    else if (this.#seen > snapshot.index) void this.#rerun([group]);
    this.#setAlarm(deadline);
  }

  /** How often all readers were answered. One that came before and is still reading must not wait after that. */
  get releases(): number {
    return this.#releases;
  }

  /** Answers every reader with what it has; the engine is stopping. */
  release(): void {
    this.#releases += 1;
    for (const group of [...this.#groups.values()]) {
      for (const waiter of [...group.waiters]) this.#finish(waiter, ok(group.last));
    }
    this.#rest();
  }

  #join<T>(query: BlockingQuery<T>, current: Answer<T>, { index, mark }: Snapshot, waiter: Waiter): Group {
    const key = typeof query.key === 'string' ? query.key : query.key();
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { key, query, waiters: new Set(), last: current, ranAt: index, mark };
      this.#groups.set(key, group);
    }
    group.waiters.add(waiter);
    waiter.group = group;
    return group;
  }

  #finish(waiter: Waiter, outcome: Outcome<unknown>): void {
    const group = waiter.group;
    if (group === undefined) return;
    waiter.group = undefined;
    group.waiters.delete(waiter);
    if (group.waiters.size === 0) this.#groups.delete(group.key);
    if (group.mark !== waiter.mark) waiter.whenRightsChanged?.();
    waiter.resolve(outcome);
    if (this.#groups.size === 0) this.#rest();
  }

  #rest(): void {
    this.#watching?.abort();
    this.#watching = undefined;
    this.#alarm?.controller.abort();
    this.#alarm = undefined;
  }

  #watch(snapshot: number): void {
    const controller = new AbortController();
    this.#watching = controller;
    this.#seen = snapshot;
    void this.#follow(controller.signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const reached = await this.#storage.waitForChange(this.#tables, this.#seen, signal);
      if (signal.aborted) return;
      if (reached <= this.#seen) {
        // The store was closed: nothing will change any more.
        this.release();
        return;
      }
      const shown = new Set(this.#groups.values());
      const index = await this.#rerun([...shown]);
      if (index === undefined || signal.aborted) continue;
      this.#seen = Math.max(this.#seen, index);
      // Those that came while the others were shown the change, with a snapshot from before it.
      const late = [...this.#groups.values()].filter((group) => group.ranAt < this.#seen && !shown.has(group));
      if (late.length > 0) void this.#rerun(late);
    }
  }

  /**
   * Runs the groups whose tables have changed since their last answer, in one snapshot, then answers their readers. Gives the index of the
   * snapshot; undefined when the store failed.
   */
  async #rerun(groups: readonly Group[]): Promise<number | undefined> {
    // The groups change only afterwards: the store may run this again.
    const ran = await this.#storage.read((view) => {
      const changed = groups.filter(({ query, ranAt }) => query.tables.some((table) => view.tableIndex(table) > ranAt));
      const answers = changed.map((group) => ({ group, answer: group.query.run(view) }));
      return { answers, index: view.index, mark: this.markOf(view) };
    });
    if (ran.isErr()) {
      for (const group of groups) {
        for (const waiter of [...group.waiters]) this.#finish(waiter, err(ran.error));
      }
      return undefined;
    }
    const { answers, index, mark } = ran.value;
    const older = answers.filter(({ group }) => group.ranAt < index);
    for (const { group, answer } of older) {
      if (answer.index !== group.last.index) group.last = answer;
      group.ranAt = index;
      group.mark = mark;
    }
    await this.#answer(older.map(({ group }) => group));
    return index;
  }

  async #answer(groups: readonly Group[]): Promise<void> {
    const slices = new Slices(this.#clock);
    for (const group of groups) {
      const answer = group.last;
      const outcome = ok(answer);
      for (const waiter of [...group.waiters]) {
        if (answer.index <= waiter.after) continue;
        this.#finish(waiter, outcome);
        if (slices.isFull()) await slices.next();
      }
    }
  }

  #setAlarm(deadline: Milliseconds): void {
    if (deadline === Number.POSITIVE_INFINITY) return;
    if (this.#groups.size === 0 || (this.#alarm !== undefined && this.#alarm.at <= deadline)) return;
    this.#alarm?.controller.abort();
    const controller = new AbortController();
    this.#alarm = { at: deadline, controller };
    void this.#clock.sleep(deadline - this.#clock.monotonic(), controller.signal).then(() => {
      if (!controller.signal.aborted) this.#expire();
    });
  }

  #expire(): void {
    this.#alarm = undefined;
    const now = this.#clock.monotonic();
    let next: Milliseconds | undefined;
    for (const group of [...this.#groups.values()]) {
      for (const waiter of [...group.waiters]) {
        if (waiter.deadline <= now) this.#finish(waiter, ok(group.last));
        else if (next === undefined || waiter.deadline < next) next = waiter.deadline;
      }
    }
    if (next !== undefined) this.#setAlarm(next);
  }
}
