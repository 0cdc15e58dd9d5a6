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
import { examinedPerStep, type Steps } from '../../scheduler/steps.js';
import type { Instant } from '../../shared/instant.js';
import { pagesOf } from '../records/pages.js';
import { changedSince, isTooOld, nextChanges } from '../records/scheduling/known-cluster.js';

/** Times on the current wall clock. */
export interface DrainTimes {
  readonly now: Instant;
  /** How the node is drained, with its deadline. */
  readonly strategyOf: (node: DrainedNode['node']) => DrainedNode['node']['DrainStrategy'];
  readonly runsSince: (allocation: DrainedAllocation) => Instant;
}

/** Records read in one step. */
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

/** The members of an allocation that drains use, and whether its node has finished with it. */
export interface KnownAllocation extends DrainedAllocation {
  readonly over: boolean;
}

export function knownAllocation(allocation: Allocation): KnownAllocation {
  return { ...drainedAllocation(allocation), over: isClientTerminal(allocation) };
}

/** Whether drains decide the same for both. */
function isSameAllocation(before: KnownAllocation | undefined, after: KnownAllocation | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return before.leaves === after.leaves && before.runsSince === after.runsSince;
}

export function jobKey({ Namespace, JobID }: Pick<Allocation, 'Namespace' | 'JobID'>): string {
  return `${Namespace}\u0000${JobID}`;
}

interface KnownNode {
  readonly node: DrainedNode['node'];
  /** Index of the last change of its row. */
  readonly modifyIndex: number;
  /** Allocations that its agent has not finished with, by ID; those of one job in the order of their IDs. */
  own: Map<string, KnownAllocation>;
}

/** The draining nodes, with the allocations that their agents have not finished with. */
class DrainedNodes {
  #nodes = new Map<string, KnownNode>();
  /** Index of the last change of any node at the time of the read. */
  #index = 0;

  clear(): void {
    this.#nodes.clear();
    this.#index = 0;
  }

  all(): Iterable<Pick<KnownNode, 'node'> & { readonly own: ReadonlyMap<string, KnownAllocation> }> {
    return this.#nodes.values();
  }

  /** Whether the node is unchanged since it was cached. */
  isSame(view: ReadView, nodeId: string): boolean {
    return view.get(nodes, [nodeId])?.modifyIndex === this.#nodes.get(nodeId)?.modifyIndex;
  }

  isNews(allocation: KnownAllocation): boolean {
    const node = this.#nodes.get(allocation.NodeID);
    return (
      node !== undefined && !isSameAllocation(node.own.get(allocation.ID), allocation.over ? undefined : allocation)
    );
  }

  put(allocation: KnownAllocation): void {
    const node = this.#nodes.get(allocation.NodeID);
    if (node === undefined) return;
    const known = node.own.has(allocation.ID);
    if (allocation.over) node.own.delete(allocation.ID);
    else node.own.set(allocation.ID, allocation);
    if (!known && !allocation.over) node.own = inOrder(node.own);
  }

  /** Reads the nodes if any has changed, and the allocations of new ones. Returns whether it did. */
  *read(view: () => ReadView): Steps<boolean> {
    const index = view().tableIndex(nodes);
    if (index === this.#index) return false;
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
    this.#index = index;
    return true;
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
}

function isDrained(node: Node): node is DrainedNode['node'] {
  return isDraining(node);
}

function inOrder<T>(map: ReadonlyMap<string, T>): Map<string, T> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function openOn(nodeId: string) {
  const keyOf = ({ Namespace, JobID, ID }: Allocation) => [nodeId, Namespace, JobID, ID] as const;
  return { index: 'open_by_node', prefix: [nodeId], size: readInStep, keyOf };
}

interface KnownService {
  /** Undefined when it was purged. */
  job: DrainedJob | undefined;
  /** Index of the last change of its row; undefined when it was purged. */
  modifyIndex: number | undefined;
  /** Live allocations that do not have to leave, by group and ID. */
  readonly groups: Map<string, Map<string, KnownAllocation>>;
}

/** Services with allocations that wait to leave draining nodes, each with its allocations that stay, on any node. */
class WaitingServices {
  /** By job key. */
  readonly #services = new Map<string, KnownService>();
  /** Index of the last change of any job at the time of the read. */
  #jobsIndex = 0;

  clear(): void {
    this.#services.clear();
    this.#jobsIndex = 0;
  }

  jobOf(allocation: DrainedAllocation): DrainedJob | undefined {
    return this.#services.get(jobKey(allocation))?.job;
  }

  /** The staying allocations of the allocation's group. */
  stayingOf(allocation: DrainedAllocation): Iterable<KnownAllocation> {
    return this.#services.get(jobKey(allocation))?.groups.get(allocation.TaskGroup)?.values() ?? [];
  }

  /** Whether no job has changed since the read. */
  isCurrent(view: ReadView): boolean {
    return view.tableIndex(jobs) === this.#jobsIndex;
  }

  /** Whether the job is unchanged since it was cached. */
  isSame(view: ReadView, allocation: DrainedAllocation): boolean {
    const known = this.#services.get(jobKey(allocation));
    return (
      known !== undefined && view.get(jobs, [allocation.Namespace, allocation.JobID])?.modifyIndex === known.modifyIndex
    );
  }

  isNews(allocation: KnownAllocation): boolean {
    const service = this.#services.get(jobKey(allocation));
    if (service === undefined) return false;
    const before = service.groups.get(allocation.TaskGroup)?.get(allocation.ID);
    return !isSameAllocation(before, allocation.leaves ? undefined : allocation);
  }

  put(allocation: KnownAllocation): void {
    const service = this.#services.get(jobKey(allocation));
    if (service !== undefined) putStaying(service, allocation);
  }

  /**
   * Limits the cache to the wanted services, given by job key with one of their allocations; `onChange` is called when a cached job has
   * changed. Returns whether allocations of new services were read, during which others may have changed.
   */
  *read(view: () => ReadView, wanted: ReadonlyMap<string, DrainedAllocation>, onChange: () => void): Steps<boolean> {
    for (const key of this.#services.keys()) if (!wanted.has(key)) this.#services.delete(key);
    const index = view().tableIndex(jobs);
    const before = this.#services.size;
    let at = 0;
    for (const [key, one] of wanted) {
      at += 1;
      const known = this.#services.get(key);
      if (known === undefined) this.#services.set(key, yield* readService(view, one));
      else if (index !== this.#jobsIndex && readAgain(view(), one, known)) onChange();
      if (at % readInStep === 0) yield;
    }
    this.#jobsIndex = index;
    return this.#services.size > before;
  }
}

function* readService(view: () => ReadView, allocation: DrainedAllocation): Steps<KnownService> {
  const { Namespace, JobID } = allocation;
  const row = view().get(jobs, [Namespace, JobID]);
  const job = row && drainedJob(row.record);
  const read: KnownService = { job, modifyIndex: row?.modifyIndex, groups: new Map() };
  for (const page of pagesOf(view, allocations, openOf(allocation))) {
    for (const one of page) putStaying(read, knownAllocation(one));
    yield;
  }
  return read;
}

/** Re-reads the job; returns whether it has changed. */
function readAgain(view: ReadView, { Namespace, JobID }: DrainedAllocation, known: KnownService): boolean {
  const row = view.get(jobs, [Namespace, JobID]);
  if (row?.modifyIndex === known.modifyIndex) return false;
  known.job = row && drainedJob(row.record);
  known.modifyIndex = row?.modifyIndex;
  return true;
}

function putStaying({ groups }: KnownService, allocation: KnownAllocation): void {
  const { ID, TaskGroup, leaves } = allocation;
  const group = groups.get(TaskGroup);
  if (leaves) group?.delete(ID);
  else if (group === undefined) groups.set(TaskGroup, new Map([[ID, allocation]]));
  else group.set(ID, allocation);
}

function drainedJob({ Stop, TaskGroups }: Job): DrainedJob {
  return { Stop, TaskGroups: TaskGroups.map(({ Name, Count, Migrate }) => ({ Name, Count, Migrate })) };
}

function openOf({ Namespace, JobID }: DrainedAllocation) {
  const prefix = [Namespace, JobID, 'open'];
  const keyOf = ({ ID }: Allocation) => [...prefix, ID] as const;
  return { index: 'current_by_job', prefix, size: readInStep, keyOf };
}
