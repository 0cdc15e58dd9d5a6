import type { Job } from '../../jobs/document/job.js';
import type { MigrateStrategy } from '../../jobs/document/policies.js';
import { millisecondsFromNanos } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { type Allocation, type DesiredTransition, isTerminalAllocation } from '../allocation.js';
import type { DrainStrategy, Node } from '../node.js';

/** A node that is being emptied, with the allocations that its agent has not finished with. */
export interface DrainedNode {
  readonly node: Node & { readonly DrainStrategy: DrainStrategy };
  readonly allocations: readonly Allocation[];
}

/** What drains are decided on. */
interface Drains {
  readonly nodes: readonly DrainedNode[];
  /** The job as registered now; undefined when it was purged. */
  readonly jobOf: (allocation: Allocation) => Job | undefined;
  /** All live allocations of the allocation's job, on whatever node. */
  readonly liveOf: (allocation: Allocation) => readonly Allocation[];
  readonly now: Instant;
}

export interface DrainDecision {
  /** Allocations that have to leave, and how. */
  readonly migrations: readonly { readonly allocation: Allocation; readonly transition: DesiredTransition }[];
  /** Nodes that only allocations of system jobs are left on. Unless these are to stay, they are among the migrations. */
  readonly completed: readonly Node[];
  /** When to decide again, if nothing changes before. */
  readonly next: Instant | undefined;
}

/**
 * Which allocations leave their nodes now. A group of a service gives up as many as its migrate block allows, counting healthy
 * ones on all nodes; batch work continues until the deadline; system jobs leave after everything else.
 */
export function decideDrains(drains: Drains): DrainDecision {
  const moments: Instant[] = [];
  const migrations = new Map<string, DrainDecision['migrations'][number]>();
  const completed: Node[] = [];
  for (const drained of drains.nodes) {
    const deadline = deadlineOf(drained.node.DrainStrategy);
    if (deadline > drains.now && Number.isFinite(deadline)) moments.push(deadline);
    const done = drained.allocations.every(({ JobType }) => JobType === 'system');
    if (done) completed.push(drained.node);
    if (!done && deadline > drains.now) continue;
    for (const allocation of remaining(drained)) migrations.set(allocation.ID, forced(allocation));
  }
  const chosen = chooseGradually(drains, migrations);
  for (const allocation of chosen.allocations) migrations.set(allocation.ID, migrating(allocation));
  const next = Math.min(...moments, ...chosen.moments);
  return { migrations: [...migrations.values()], completed, next: Number.isFinite(next) ? next : undefined };
}

/** The instant by which everything has to leave; infinity without a deadline, minus infinity for a forced drain. */
function deadlineOf({ Deadline, ForceDeadline }: DrainStrategy): Instant {
  if (Deadline < 0) return Number.NEGATIVE_INFINITY;
  return ForceDeadline === null ? Number.POSITIVE_INFINITY : Date.parse(ForceDeadline);
}

/** Allocations that are not requested to migrate yet. */
function remaining({ node, allocations }: DrainedNode): readonly Allocation[] {
  const spared = node.DrainStrategy.IgnoreSystemJobs;
  return allocations.filter((allocation) => isWaiting(allocation) && !(spared && allocation.JobType === 'system'));
}

function isWaiting(allocation: Allocation): boolean {
  return !isTerminalAllocation(allocation) && allocation.DesiredTransition.Migrate !== true;
}

function migrating(allocation: Allocation) {
  return { allocation, transition: { ...allocation.DesiredTransition, Migrate: true } };
}

/** Batch work that was cut short by the deadline is not begun elsewhere. */
function forced(allocation: Allocation) {
  const { transition } = migrating(allocation);
  const ends = allocation.JobType === 'batch' || allocation.JobType === 'sysbatch';
  return { allocation, transition: ends ? { ...transition, MigrateDisablePlacement: true } : transition };
}

interface Gradual {
  readonly allocations: readonly Allocation[];
  readonly moments: readonly Instant[];
}

/** From each group of a service, as many allocations as may be missing at a time. */
function chooseGradually(drains: Drains, taken: ReadonlyMap<string, unknown>): Gradual {
  const groups = new Map<string, Allocation[]>();
  for (const { node, allocations } of drains.nodes) {
    if (deadlineOf(node.DrainStrategy) <= drains.now) continue;
    for (const allocation of allocations) {
      if (allocation.JobType !== 'service' || !isWaiting(allocation) || taken.has(allocation.ID)) continue;
      const key = JSON.stringify([allocation.Namespace, allocation.JobID, allocation.TaskGroup]);
      groups.set(key, [...(groups.get(key) ?? []), allocation]);
    }
  }
  const chosen = [...groups.values()].map((waiting) => chooseOfGroup(drains, waiting, taken));
  return {
    allocations: chosen.flatMap(({ allocations }) => allocations),
    moments: chosen.flatMap(({ moments }) => moments),
  };
}

function chooseOfGroup(drains: Drains, waiting: readonly Allocation[], taken: ReadonlyMap<string, unknown>): Gradual {
  const [first] = waiting;
  if (first === undefined) return { allocations: [], moments: [] };
  const job = drains.jobOf(first);
  const group = job?.TaskGroups.find(({ Name }) => Name === first.TaskGroup);
  // The job no longer wants these allocations, so none of them has to stay.
  if (job === undefined || job.Stop || group === undefined) return { allocations: waiting, moments: [] };
  const staying = drains
    .liveOf(first)
    .filter((allocation) => allocation.TaskGroup === first.TaskGroup && !isLeaving(allocation, taken))
    .map((allocation) => healthyFrom(allocation, group.Migrate));
  const healthy = staying.filter((since) => since <= drains.now).length;
  const moments = staying.filter((since) => since > drains.now && Number.isFinite(since));
  const mayLeave = healthy - (group.Count - (group.Migrate?.MaxParallel ?? 1));
  return { allocations: waiting.slice(0, Math.max(0, mayLeave)), moments };
}

/** Requested to migrate: it will not be available any more. */
function isLeaving(allocation: Allocation, taken: ReadonlyMap<string, unknown>): boolean {
  return isTerminalAllocation(allocation) || allocation.DesiredTransition.Migrate === true || taken.has(allocation.ID);
}

/**
 * From when on the allocation counts as able to work. Its health decides where it is known; outside of deployments, tasks that have
 * run for the time that the migrate block asks for.
 */
function healthyFrom(allocation: Allocation, migrate: MigrateStrategy | null): Instant {
  const known = allocation.DeploymentStatus?.Healthy ?? null;
  if (known !== null) return Number.NEGATIVE_INFINITY;
  if (allocation.DeploymentID || allocation.ClientStatus !== 'running') return Number.POSITIVE_INFINITY;
  const starts = Object.values(allocation.TaskStates ?? {}).map(({ StartedAt }) => Date.parse(StartedAt ?? ''));
  const latest = Math.max(...starts.filter((at) => !Number.isNaN(at)));
  return Number.isFinite(latest)
    ? latest + millisecondsFromNanos(migrate?.MinHealthyTime ?? 0)
    : Number.NEGATIVE_INFINITY;
}
