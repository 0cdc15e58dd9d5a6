import type { ReadView } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import {
  type DrainedAllocation,
  type DrainedNode,
  type DrainsInSteps,
  deadlineOf,
} from '../../scheduler/nodes/decide-drain.js';
import { examinedPerStep, type Steps } from '../../scheduler/steps.js';
import type { Instant } from '../../shared/instant.js';
import { changedSince, isTooOld, nextChanges } from '../records/scheduling/known-cluster.js';
import { DrainedNodes } from './drained-nodes.js';
import { jobKey, type KnownAllocation, knownAllocation } from './known-allocation.js';
import { WaitingServices } from './waiting-services.js';

/** Times on the current wall clock. */
export interface DrainTimes {
  readonly now: Instant;
  /** How the node is drained, with its deadline. */
  readonly strategyOf: (node: DrainedNode['node']) => DrainedNode['node']['DrainStrategy'];
  readonly runsSince: (allocation: DrainedAllocation) => Instant;
}

/** Changes of allocations read in one step. */
const readInStep = 16;
/** The most changes of allocations that are read within a write. More are read in steps before it. */
const changesInWrite = 64;

/**
 * The drain loop's cache of allocations on drained nodes, and of those of services that wait to leave them: a few members of
 * each, as of a write. A check reads only the changes since then, independent of the size of the jobs.
 */
export class KnownDrains {
  /** Index of the last cached write of the allocations; undefined while nothing is cached. */
  #index: number | undefined;
  readonly #nodes = new DrainedNodes();
  readonly #services = new WaitingServices();
  #changed = true;

  /** Whether the cache has changes that no decision has taken into account, or whose decision is not fully written. */
  get changed(): boolean {
    return this.#changed;
  }

  /** Records that the current state requires no write. */
  noteSettled(): void {
    this.#changed = false;
  }

  /** Drops the cache: everything is read again at the next check. */
  forget(): void {
    this.#index = undefined;
    this.#nodes.clear();
    this.#services.clear();
    this.#noteChange();
  }

  /**
   * Reads the changes, each step from the then current view. New nodes and jobs may be newer than the rest: the
   * write of a decision detects this, because the rest has changed then.
   */
  *refreshed(view: () => ReadView, times: DrainTimes): Steps<void> {
    for (let hasNew = true; hasNew; ) {
      yield* this.#caughtUp(view);
      if (yield* this.#nodes.read(view)) this.#noteChange();
      if (!this.#changed && this.#services.isCurrent(view())) return;
      const waiting = yield* this.#waiting(times);
      hasNew = yield* this.#services.read(view, waiting, () => this.#noteChange());
    }
  }

  /** The inputs of the decision. */
  drains({ strategyOf, runsSince, now }: DrainTimes): DrainsInSteps {
    const present = (one: KnownAllocation): DrainedAllocation => {
      const since = runsSince(one);
      return since === one.runsSince ? one : { ...one, runsSince: since };
    };
    return {
      nodes: Array.from(this.#nodes.all(), ({ node, own }) => ({
        node: { ...node, DrainStrategy: strategyOf(node) },
        allocations: { [Symbol.iterator]: () => own.values() },
      })),
      jobOf: (allocation) => this.#services.jobOf(allocation),
      liveOf: (allocation) => mapped(this.#services.stayingOf(allocation), present),
      now,
    };
  }

  /**
   * Allocations that have changed since they were cached, as of the write; undefined when there are too many for one write, or when the
   * changes are incomplete.
   */
  newsIn(view: ReadView): readonly KnownAllocation[] | undefined {
    if (this.#index === undefined || isTooOld(view, this.#index)) return undefined;
    const rows = view.list(allocations, changedSince(this.#index, changesInWrite + 1));
    if (rows.length > changesInWrite) return undefined;
    return rows.map(({ record }) => knownAllocation(record)).filter((one) => this.#isNews(one));
  }

  /** Whether the node is unchanged since the decision. */
  isSameNode(view: ReadView, nodeId: string): boolean {
    return this.#nodes.isSame(view, nodeId);
  }

  /** Whether the job is unchanged since the decision. */
  isSameJob(view: ReadView, allocation: DrainedAllocation): boolean {
    return this.#services.isSame(view, allocation);
  }

  /** Adds the changes that a successful write found and made. */
  take(changed: readonly KnownAllocation[], index: number): void {
    for (const one of changed) this.#put(one);
    this.#index = index;
  }

  *#caughtUp(view: () => ReadView): Steps<void> {
    for (;;) {
      if (this.#index === undefined || isTooOld(view(), this.#index)) this.forget();
      this.#index ??= view().tableIndex(allocations);
      if (view().tableIndex(allocations) === this.#index) return;
      const changed = nextChanges(view(), this.#index, readInStep);
      for (const { record } of changed) this.#put(knownAllocation(record));
      this.#index = changed.at(-1)?.record.ModifyIndex ?? view().tableIndex(allocations);
      yield;
    }
  }

  /** Services with allocations that wait to leave, by job key, each with one of those allocations. */
  *#waiting({ strategyOf, now }: DrainTimes): Steps<ReadonlyMap<string, DrainedAllocation>> {
    const wanted = new Map<string, DrainedAllocation>();
    let at = 0;
    for (const { node, own } of this.#nodes.all()) {
      if (deadlineOf(strategyOf(node)) <= now) continue;
      for (const allocation of own.values()) {
        at += 1;
        if (at % examinedPerStep === 0) yield;
        if (allocation.JobType !== 'service' || allocation.leaves) continue;
        const key = jobKey(allocation);
        if (!wanted.has(key)) wanted.set(key, allocation);
      }
    }
    return wanted;
  }

  #noteChange(): void {
    this.#changed = true;
  }

  #put(allocation: KnownAllocation): void {
    if (!this.#isNews(allocation)) return;
    this.#noteChange();
    this.#services.put(allocation);
    this.#nodes.put(allocation);
  }

  /** Whether the allocation differs from the cache in a way that may change a decision. */
  #isNews(allocation: KnownAllocation): boolean {
    return this.#services.isNews(allocation) || this.#nodes.isNews(allocation);
  }
}

function* mapped<T, U>(items: Iterable<T>, change: (item: T) => U): Iterable<U> {
  for (const item of items) yield change(item);
}
