import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations, isClientTerminal } from '../../scheduler/allocation.js';
import { isDraining, type Node, nodes } from '../../scheduler/node.js';
import {
  type DrainedAllocation,
  type DrainedJob,
  type DrainedNode,
  type DrainsInSteps,
  deadlineOf,
  drainedAllocation,
} from '../../scheduler/nodes/decide-drain.js';
import { lookedAtInStep, type Steps } from '../../scheduler/steps.js';
import type { Instant } from '../../shared/instant.js';
import { pagesOf } from '../books/pages.js';
import { changedSince, isTooOld, nextChanges } from '../books/scheduling/allocation-changes.js';

/** An allocation as far as drains look at it, and whether its node has finished with it. */
export interface KnownAllocation extends DrainedAllocation {
  readonly over: boolean;
}

export function knownAllocation(allocation: Allocation): KnownAllocation {
  return { ...drainedAllocation(allocation), over: isClientTerminal(allocation) };
}

/** Times by the wall clock as it is set now. */
export interface DrainTimes {
  readonly now: Instant;
  /** How the node is drained, with its deadline. */
  readonly strategyOf: (node: DrainedNode['node']) => DrainedNode['node']['DrainStrategy'];
  readonly runsSince: (allocation: DrainedAllocation) => Instant;
}

interface KnownNode {
  readonly node: DrainedNode['node'];
  /** Index of the last change of its row. */
  readonly modifyIndex: number;
  /** Those that its agent has not finished with, by ID; those of a job in the order of their IDs. */
  own: Map<string, KnownAllocation>;
}

interface KnownJob {
  /** Undefined when it was purged. */
  job: DrainedJob | undefined;
  /** Index of the last change of its row; undefined when it was purged. */
  modifyIndex: number | undefined;
  /** Live allocations that stay, by group and ID. */
  readonly groups: Map<string, Map<string, KnownAllocation>>;
}

/** Records that are read in one step. */
const readInStep = 16;
/** Changes of allocations that a write catches up with. More of them are read in steps before it. */
const changesInWrite = 64;

/**
 * What the drain loop knows of the allocations on drained nodes, and of those of the services that wait to leave them: a few members of
 * each, as of a write. A look reads what has changed since then, whatever the size of the jobs.
 */
export class KnownDrains {
  /** Index of the last write of the allocations that is known; undefined while nothing is known. */
  #index: number | undefined;
  #nodesIndex = 0;
  #jobsIndex = 0;
  #nodes = new Map<string, KnownNode>();
  readonly #jobs = new Map<string, KnownJob>();
  #changed = true;

  /** Something is known that a decision may depend on and that nothing was decided on yet, or not all of that was written. */
  get changed(): boolean {
    return this.#changed;
  }

  /** As things are, nothing is to be written. */
  noteSettled(): void {
    this.#changed = false;
  }

  /** Everything is read anew at the next look. */
  forget(): void {
    this.#index = undefined;
    this.#nodesIndex = 0;
    this.#jobsIndex = 0;
    this.#nodes.clear();
    this.#jobs.clear();
    this.#changed = true;
  }

  /**
   * Reads what has changed, each step from the view that is current then. What is read of new nodes and jobs may be newer than the rest: the
   * write of a decision finds out, because the rest has changed then.
   */
  *refreshed(view: () => ReadView, times: DrainTimes): Steps<void> {
    do {
      yield* this.#caughtUp(view);
      yield* this.#readNodes(view);
      if (!this.#changed && view().tableIndex(jobs) === this.#jobsIndex) return;
    } while (yield* this.#readJobs(view, times));
  }

  /** What is decided on. */
  drains({ strategyOf, runsSince, now }: DrainTimes): DrainsInSteps {
    const present = (one: KnownAllocation): DrainedAllocation => ({ ...one, runsSince: runsSince(one) });
    return {
      nodes: [...this.#nodes.values()].map(({ node, own }) => ({
        node: { ...node, DrainStrategy: strategyOf(node) },
        allocations: { [Symbol.iterator]: () => own.values() },
      })),
      jobOf: (allocation) => this.#jobs.get(jobKey(allocation))?.job,
      liveOf: (allocation) =>
        mapped(this.#jobs.get(jobKey(allocation))?.groups.get(allocation.TaskGroup)?.values() ?? [], present),
      now,
    };
  }

  /**
   * Allocations that have changed since they were known, as they are in a write; undefined when those are too many for it, or not all that
   * has changed.
   */
  newsIn(view: ReadView): readonly KnownAllocation[] | undefined {
    if (this.#index === undefined || isTooOld(view, this.#index)) return undefined;
    const rows = view.list(allocations, changedSince(this.#index, changesInWrite + 1));
    if (rows.length > changesInWrite) return undefined;
    return rows.map(({ record }) => knownAllocation(record)).filter((one) => this.#isNews(one));
  }

  /** The node is as it was decided on. */
  isSameNode(view: ReadView, nodeId: string): boolean {
    return view.get(nodes, [nodeId])?.modifyIndex === this.#nodes.get(nodeId)?.modifyIndex;
  }

  /** The job is as it was decided on. */
  isSameJob(view: ReadView, allocation: DrainedAllocation): boolean {
    const known = this.#jobs.get(jobKey(allocation));
    return (
      known !== undefined && view.get(jobs, [allocation.Namespace, allocation.JobID])?.modifyIndex === known.modifyIndex
    );
  }

  /** Takes what a successful write has found and changed. */
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

  *#readNodes(view: () => ReadView): Steps<void> {
    const index = view().tableIndex(nodes);
    if (index === this.#nodesIndex) return;
    const present = new Map<string, KnownNode>();
    const query = { index: 'draining', size: readInStep, keyOf: ({ ID }: Node) => [ID] as const };
    for (const page of pagesOf(view, nodes, query)) {
      for (const { ID } of page) {
        const known = yield* this.#readNode(view, ID);
        if (known !== undefined) present.set(ID, known);
      }
      yield;
    }
    this.#nodes = present;
    this.#nodesIndex = index;
    this.#changed = true;
  }

  *#readNode(view: () => ReadView, nodeId: string): Steps<KnownNode | undefined> {
    const row = view().get(nodes, [nodeId]);
    if (row === undefined || !isDrained(row.record)) return undefined;
    const { record: node, modifyIndex } = row;
    const before = this.#nodes.get(nodeId);
    if (before !== undefined) return { node, modifyIndex, own: before.own };
    const own = new Map<string, KnownAllocation>();
    for (const page of pagesOf(view, allocations, openOn(nodeId))) {
      for (const allocation of page) own.set(allocation.ID, knownAllocation(allocation));
      yield;
    }
    return { node, modifyIndex, own };
  }

  /** Gives whether the allocations of a job were read, during which others may have changed. */
  *#readJobs(view: () => ReadView, times: DrainTimes): Steps<boolean> {
    const wanted = yield* this.#waitingJobs(times);
    for (const key of this.#jobs.keys()) if (!wanted.has(key)) this.#jobs.delete(key);
    const index = view().tableIndex(jobs);
    const before = this.#jobs.size;
    let at = 0;
    for (const [key, one] of wanted) {
      at += 1;
      const known = this.#jobs.get(key);
      if (known === undefined) this.#jobs.set(key, yield* readJob(view, one));
      else if (index !== this.#jobsIndex) this.#readAgain(view(), one, known);
      if (at % readInStep === 0) yield;
    }
    this.#jobsIndex = index;
    return this.#jobs.size > before;
  }

  #readAgain(view: ReadView, { Namespace, JobID }: DrainedAllocation, known: KnownJob): void {
    const row = view.get(jobs, [Namespace, JobID]);
    if (row?.modifyIndex === known.modifyIndex) return;
    known.job = row && drainedJob(row.record);
    known.modifyIndex = row?.modifyIndex;
    this.#changed = true;
  }

  /** Services with allocations that wait to leave, by the key of the job, each with one of them. */
  *#waitingJobs({ strategyOf, now }: DrainTimes): Steps<ReadonlyMap<string, DrainedAllocation>> {
    const wanted = new Map<string, DrainedAllocation>();
    let at = 0;
    for (const { node, own } of this.#nodes.values()) {
      if (deadlineOf(strategyOf(node)) <= now) continue;
      for (const allocation of own.values()) {
        at += 1;
        if (at % lookedAtInStep === 0) yield;
        if (allocation.JobType !== 'service' || allocation.leaves) continue;
        const key = jobKey(allocation);
        if (!wanted.has(key)) wanted.set(key, allocation);
      }
    }
    return wanted;
  }

  #put(allocation: KnownAllocation): void {
    if (!this.#isNews(allocation)) return;
    this.#changed = true;
    const job = this.#jobs.get(jobKey(allocation));
    if (job !== undefined) putStaying(job, allocation);
    const node = this.#nodes.get(allocation.NodeID);
    if (node === undefined) return;
    const known = node.own.has(allocation.ID);
    if (allocation.over) node.own.delete(allocation.ID);
    else node.own.set(allocation.ID, allocation);
    if (!known && !allocation.over) node.own = inOrder(node.own);
  }

  /** Something that a decision may depend on is different from what is known. */
  #isNews(allocation: KnownAllocation): boolean {
    const { ID, NodeID, TaskGroup, leaves, over } = allocation;
    const job = this.#jobs.get(jobKey(allocation));
    if (job !== undefined && !isSame(job.groups.get(TaskGroup)?.get(ID), leaves ? undefined : allocation)) return true;
    const node = this.#nodes.get(NodeID);
    return node !== undefined && !isSame(node.own.get(ID), over ? undefined : allocation);
  }
}

function* readJob(view: () => ReadView, allocation: DrainedAllocation): Steps<KnownJob> {
  const { Namespace, JobID } = allocation;
  const row = view().get(jobs, [Namespace, JobID]);
  const job = row && drainedJob(row.record);
  const read: KnownJob = { job, modifyIndex: row?.modifyIndex, groups: new Map() };
  for (const page of pagesOf(view, allocations, openOf(allocation))) {
    for (const one of page) putStaying(read, knownAllocation(one));
    yield;
  }
  return read;
}

function isSame(before: KnownAllocation | undefined, after: KnownAllocation | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return before.leaves === after.leaves && before.runsSince === after.runsSince;
}

function putStaying({ groups }: KnownJob, allocation: KnownAllocation): void {
  const { ID, TaskGroup, leaves } = allocation;
  const group = groups.get(TaskGroup);
  if (leaves) group?.delete(ID);
  else if (group === undefined) groups.set(TaskGroup, new Map([[ID, allocation]]));
  else group.set(ID, allocation);
}

function drainedJob({ Stop, TaskGroups }: Job): DrainedJob {
  return { Stop, TaskGroups: TaskGroups.map(({ Name, Count, Migrate }) => ({ Name, Count, Migrate })) };
}

function isDrained(node: Node): node is DrainedNode['node'] {
  return isDraining(node);
}

export function jobKey({ Namespace, JobID }: Pick<Allocation, 'Namespace' | 'JobID'>): string {
  return `${Namespace}\u0000${JobID}`;
}

function* mapped<T, U>(items: Iterable<T>, change: (item: T) => U): Iterable<U> {
  for (const item of items) yield change(item);
}

function inOrder<T>(map: ReadonlyMap<string, T>): Map<string, T> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function openOn(nodeId: string) {
  const keyOf = ({ Namespace, JobID, ID }: Allocation) => [nodeId, Namespace, JobID, ID] as const;
  return { index: 'open_by_node', prefix: [nodeId], size: readInStep, keyOf };
}

function openOf({ Namespace, JobID }: DrainedAllocation) {
  const prefix = [Namespace, JobID, 'open'];
  const keyOf = ({ ID }: Allocation) => [...prefix, ID] as const;
  return { index: 'current_by_job', prefix, size: readInStep, keyOf };
}
