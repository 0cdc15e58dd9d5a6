import { err, ok, type Result } from 'neverthrow';
import type { Job } from '../../jobs/document/job.js';
import { millisecondsFromNanos } from '../../shared/duration.js';
import { type Instant, isoFromInstant } from '../../shared/instant.js';
import { type Allocation, type DesiredTransition, isTerminalAllocation } from '../allocation.js';
import { type DrainMetadata, type DrainStrategy, isDraining, type Node } from '../node.js';
import { examinedPerStep, finish, type Steps } from '../steps.js';
import { type NodeRefused, nodeRefused } from './node-errors.js';
import { type NodeWrite, withNodeEvent } from './node-events.js';

/** Options of a drain. */
export interface DrainSpec {
  /** Nanoseconds; 0 means no deadline, a negative value ends everything at once. */
  readonly Deadline: number;
  /** Leaves the allocations of system jobs where they are. */
  readonly IgnoreSystemJobs: boolean;
}

interface DrainRequest {
  readonly spec: DrainSpec;
  /** Accessor ID of the caller's token; empty for the host. */
  readonly accessor: string;
  /** Stored with the drain, for display. */
  readonly meta: Readonly<Record<string, string>> | null;
}

/** Starts draining a node, or changes its drain; a changed drain keeps its start time. */
export function startDrain(node: Node, request: DrainRequest, write: NodeWrite): Result<Node, NodeRefused> {
  const { Deadline, IgnoreSystemJobs } = request.spec;
  if (!Number.isFinite(Deadline)) return err(nodeRefused('drain', 'Deadline must be a number of nanoseconds'));
  const { now } = write;
  const strategy = {
    Deadline,
    IgnoreSystemJobs,
    ForceDeadline: Deadline > 0 ? deadlineAt(now, Deadline) : null,
    StartedAt: node.DrainStrategy?.StartedAt ?? isoFromInstant(now),
  };
  const drained: Node = {
    ...node,
    DrainStrategy: strategy,
    SchedulingEligibility: 'ineligible',
    LastDrain: metadataOf(node, 'draining', request, write),
  };
  return ok(withNodeEvent(drained, { Subsystem: 'Drain', Message: 'Node drain strategy set' }, write));
}

/** Cancels the drain; the node stays ineligible unless requested otherwise. */
export function cancelDrain(
  node: Node,
  request: Omit<DrainRequest, 'spec'> & { readonly markEligible: boolean },
  write: NodeWrite,
): Node {
  const eligible = request.markEligible ? { SchedulingEligibility: 'eligible' as const } : {};
  const drain = isDraining(node)
    ? { DrainStrategy: null, LastDrain: metadataOf(node, 'canceled', request, write) }
    : {};
  const after = { ...node, ...drain, ...eligible };
  return withNodeEvent(after, { Subsystem: 'Drain', Message: 'Node drain strategy unset' }, write);
}

/** Marks the drain as complete: everything that had to leave has left. */
export function completeDrain(node: Node, write: NodeWrite): Node {
  const LastDrain = metadataOf(node, 'complete', { accessor: '', meta: null }, write);
  const after: Node = { ...node, DrainStrategy: null, LastDrain };
  return withNodeEvent(after, { Subsystem: 'Drain', Message: 'Node drain complete' }, write);
}

/** The latest time that a Date can represent. */
const latest = 8.64e15;

function deadlineAt(now: number, nanos: number): string {
  return isoFromInstant(Math.min(now + millisecondsFromNanos(nanos), latest));
}

function metadataOf(
  node: Node,
  Status: DrainMetadata['Status'],
  { accessor, meta }: Omit<DrainRequest, 'spec'>,
  { now }: NodeWrite,
): DrainMetadata {
  const at = isoFromInstant(now);
  const before = isDraining(node) ? node.LastDrain : undefined;
  return {
    StartedAt: before?.StartedAt ?? at,
    UpdatedAt: at,
    Status,
    AccessorID: accessor === '' ? (before?.AccessorID ?? '') : accessor,
    Meta: meta === null || Object.keys(meta).length === 0 ? (before?.Meta ?? null) : meta,
  };
}

/** A draining node, with the allocations that its agent has not finished with. */
export interface DrainedNode {
  readonly node: Node & { readonly DrainStrategy: DrainStrategy };
  readonly allocations: readonly Allocation[];
}

/** The state on which drains are decided. */
interface Drains {
  readonly nodes: readonly DrainedNode[];
  /** The job as currently registered; undefined when it was purged. */
  readonly jobOf: (allocation: Allocation) => Job | undefined;
  /** All live allocations of the allocation's job, on any node. */
  readonly liveOf: (allocation: Allocation) => readonly Allocation[];
  readonly now: Instant;
}

export interface DrainDecision {
  /** Allocations that have to leave, and how. */
  readonly migrations: readonly { readonly allocation: Allocation; readonly transition: DesiredTransition }[];
  /** Nodes where only allocations of system jobs are left. Unless these are to stay, they are among the migrations. */
  readonly completed: readonly Node[];
  /** When to decide again if nothing changes before. */
  readonly next: Instant | undefined;
}

/**
 * Decides which allocations leave their nodes now. A service group gives up as many as its migrate block allows, counting healthy
 * ones on all nodes; batch work continues until the deadline; system jobs leave last.
 */
export function decideDrains({ nodes, jobOf, liveOf, now }: Drains): DrainDecision {
  const byId = new Map(nodes.flatMap(({ allocations }) => allocations.map((one) => [one.ID, one] as const)));
  const of = ({ ID }: DrainedAllocation): Allocation => byId.get(ID) as Allocation;
  const { departures, completed, next } = finish(
    drainsInSteps({
      nodes: nodes.map(({ node, allocations }) => ({ node, allocations: allocations.map(drainedAllocation) })),
      jobOf: (allocation) => jobOf(of(allocation)),
      liveOf: (allocation) => liveOf(of(allocation)).map(drainedAllocation),
      now,
    }),
  );
  const migrations = departures.map(({ allocation: { ID }, ends }) => {
    const allocation = byId.get(ID) as Allocation;
    return { allocation, transition: leaving(allocation, ends) };
  });
  return { migrations, completed, next };
}

/** The members of an allocation that drains consider. */
export interface DrainedAllocation
  extends Pick<Allocation, 'ID' | 'Namespace' | 'JobID' | 'JobType' | 'TaskGroup' | 'NodeID'> {
  /** Stopped, or requested to migrate: it will soon be unavailable. */
  readonly leaves: boolean;
  /** Since when its tasks have been running: infinity when they are not, minus infinity when it always counts as healthy. */
  readonly runsSince: Instant;
}

export function drainedAllocation(allocation: Allocation): DrainedAllocation {
  const { ID, Namespace, JobID, JobType, TaskGroup, NodeID } = allocation;
  const leaves = isTerminalAllocation(allocation) || allocation.DesiredTransition.Migrate === true;
  return { ID, Namespace, JobID, JobType, TaskGroup, NodeID, leaves, runsSince: runsSince(allocation) };
}

/** The members of a job that drains consider. */
export interface DrainedJob extends Pick<Job, 'Stop'> {
  readonly TaskGroups: readonly Pick<Job['TaskGroups'][number], 'Name' | 'Count' | 'Migrate'>[];
}

/** `Drains` in the form that the steps use. */
export interface DrainsInSteps {
  readonly nodes: readonly {
    readonly node: DrainedNode['node'];
    readonly allocations: Iterable<DrainedAllocation>;
  }[];
  readonly jobOf: (allocation: DrainedAllocation) => DrainedJob | undefined;
  /** All live allocations of the allocation's group, on any node. Those of other groups do not count. */
  readonly liveOf: (allocation: DrainedAllocation) => Iterable<DrainedAllocation>;
  readonly now: Instant;
}

/** An allocation that has to leave. */
export interface Departure {
  readonly allocation: DrainedAllocation;
  /** Batch work interrupted by the deadline is not restarted elsewhere. */
  readonly ends: boolean;
  /** Why it leaves: its node's deadline, a job that no longer wants it, or enough other healthy allocations of its group. */
  readonly because: 'node' | 'job' | 'count';
}

export interface Departures extends Pick<DrainDecision, 'completed' | 'next'> {
  readonly departures: readonly Departure[];
}

/** `decideDrains` in steps. */
export function* drainsInSteps(drains: DrainsInSteps): Steps<Departures> {
  let next = Number.POSITIVE_INFINITY;
  const departures = new Map<string, Departure>();
  const completed: Node[] = [];
  for (const { node, allocations } of drains.nodes) {
    yield;
    const deadline = deadlineOf(node.DrainStrategy);
    if (deadline > drains.now) next = Math.min(next, deadline);
    const done = yield* everyInSteps(allocations, ({ JobType }) => JobType === 'system');
    if (done) completed.push(node);
    if (!done && deadline > drains.now) continue;
    const spared = node.DrainStrategy.IgnoreSystemJobs;
    for (const allocation of yield* filteredInSteps(allocations, ({ leaves }) => !leaves)) {
      if (!(spared && allocation.JobType === 'system')) departures.set(allocation.ID, forced(allocation));
    }
  }
  for (const waiting of yield* waitingGroups(drains, departures)) {
    const chosen = yield* chooseOfGroup(drains, waiting, departures);
    for (const departure of chosen.departures) departures.set(departure.allocation.ID, departure);
    next = Math.min(next, chosen.next);
  }
  return { departures: [...departures.values()], completed, next: Number.isFinite(next) ? next : undefined };
}

/** The requested transition of an allocation that leaves. */
export function leaving({ DesiredTransition: before }: Allocation, ends: boolean): DesiredTransition {
  return ends ? { ...before, Migrate: true, MigrateDisablePlacement: true } : { ...before, Migrate: true };
}

/** The time by which everything has to leave; infinity without a deadline, minus infinity for a forced drain. */
export function deadlineOf({ Deadline, ForceDeadline }: DrainStrategy): Instant {
  if (Deadline < 0) return Number.NEGATIVE_INFINITY;
  return ForceDeadline === null ? Number.POSITIVE_INFINITY : Date.parse(ForceDeadline);
}

function forced(allocation: DrainedAllocation): Departure {
  const ends = allocation.JobType === 'batch' || allocation.JobType === 'sysbatch';
  return { allocation, ends, because: 'node' };
}

type Known = ReadonlyMap<string, unknown>;

/** Allocations of services that wait to leave, by group. */
function* waitingGroups({ nodes, now }: DrainsInSteps, taken: Known): Steps<Iterable<DrainedAllocation[]>> {
  const groups = new Map<string, DrainedAllocation[]>();
  for (const { node, allocations } of nodes) {
    yield;
    if (deadlineOf(node.DrainStrategy) <= now) continue;
    const waits = (one: DrainedAllocation): boolean => one.JobType === 'service' && !one.leaves && !taken.has(one.ID);
    for (const allocation of yield* filteredInSteps(allocations, waits)) {
      const key = `${allocation.Namespace}\u0000${allocation.JobID}\u0000${allocation.TaskGroup}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [allocation]);
      else group.push(allocation);
    }
  }
  return groups.values();
}

interface Gradual {
  readonly departures: readonly Departure[];
  /** When more may leave; infinity when time alone changes nothing. */
  readonly next: Instant;
}

/** Chooses as many allocations of a service group as may be missing at a time. */
function* chooseOfGroup(drains: DrainsInSteps, waiting: readonly DrainedAllocation[], taken: Known): Steps<Gradual> {
  const [first] = waiting;
  if (first === undefined) return { departures: [], next: Number.POSITIVE_INFINITY };
  const job = drains.jobOf(first);
  const group = job?.TaskGroups.find(({ Name }) => Name === first.TaskGroup);
  // Allocations that the job no longer wants, so none of them has to stay.
  if (job === undefined || job.Stop || group === undefined) {
    return { departures: waiting.map((one) => migrating(one, 'job')), next: Number.POSITIVE_INFINITY };
  }
  const stays = ({ ID, TaskGroup, leaves }: DrainedAllocation): boolean =>
    TaskGroup === first.TaskGroup && !leaves && !taken.has(ID);
  const least = millisecondsFromNanos(group.Migrate?.MinHealthyTime ?? 0);
  let healthy = 0;
  let next = Number.POSITIVE_INFINITY;
  for (const { runsSince: since } of yield* filteredInSteps(drains.liveOf(first), stays)) {
    if (since + least <= drains.now) healthy += 1;
    else next = Math.min(next, since + least);
  }
  const mayLeave = healthy - (group.Count - (group.Migrate?.MaxParallel ?? 1));
  const departures = waiting.slice(0, Math.max(0, mayLeave)).map((one) => migrating(one, 'count'));
  return { departures, next };
}

function migrating(allocation: DrainedAllocation, because: Departure['because']): Departure {
  return { allocation, ends: false, because };
}

/**
 * Since when the allocation counts as available, for a migrate block without a minimum healthy time. Its health decides where it is known;
 * outside deployments, the start of its tasks.
 */
function runsSince(allocation: Allocation): Instant {
  const known = allocation.DeploymentStatus?.Healthy ?? null;
  if (known !== null) return Number.NEGATIVE_INFINITY;
  if (allocation.DeploymentID || allocation.ClientStatus !== 'running') return Number.POSITIVE_INFINITY;
  const starts = Object.values(allocation.TaskStates ?? {}).map(({ StartedAt }) => Date.parse(StartedAt ?? ''));
  // Minus infinity for an empty list.
  return Math.max(...starts.filter((at) => !Number.isNaN(at)));
}

function* everyInSteps<T>(items: Iterable<T>, holds: (item: T) => boolean): Steps<boolean> {
  let at = 0;
  for (const item of items) {
    at += 1;
    if (at % examinedPerStep === 0) yield;
    if (!holds(item)) return false;
  }
  return true;
}

function* filteredInSteps<T>(items: Iterable<T>, holds: (item: T) => boolean): Steps<readonly T[]> {
  const found: T[] = [];
  let at = 0;
  for (const item of items) {
    at += 1;
    if (at % examinedPerStep === 0) yield;
    if (holds(item)) found.push(item);
  }
  return found;
}
