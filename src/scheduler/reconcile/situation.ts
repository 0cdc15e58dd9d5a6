import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Instant } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Evaluation } from '../evaluation.js';
import { isDraining } from '../node.js';
import { without } from './intents.js';

/** The source of IDs for new records. */
export interface SchedulingIds {
  next(kind: 'allocation' | 'evaluation' | 'deployment'): string;
}

/** The condition of an allocation's node. */
export type Taint = 'none' | 'draining' | 'disconnected' | 'down' | 'missing';

/** The context of reconciliation: the job, its versions, the nodes and the time. */
export interface JobSituation {
  /** As currently registered; undefined when it was purged. */
  readonly job: Job | undefined;
  readonly evaluation: Evaluation;
  readonly now: Instant;
  readonly ids: SchedulingIds;
  readonly cluster: Cluster;
  /** The job version that the allocation runs; undefined when that version is no longer kept. */
  readonly jobOf: (allocation: Allocation) => Job | undefined;
  /** The allocation's group in its own version, or the current one when that version is no longer kept. */
  readonly groupOf: (allocation: Allocation) => TaskGroup | undefined;
}

export function situationOf(
  snapshot: {
    readonly job: Job | undefined;
    readonly versions: ReadonlyMap<number, Job>;
    readonly cluster: Cluster;
  },
  evaluation: Evaluation,
  now: Instant,
  ids: SchedulingIds,
): JobSituation {
  const { job, versions, cluster } = snapshot;
  const groups = new Map<Job, ReadonlyMap<string, TaskGroup>>();
  const jobOf = (allocation: Allocation): Job | undefined =>
    job !== undefined && isCurrent(allocation, job) ? job : versions.get(allocation.JobVersion);
  const groupIn = (version: Job | undefined, name: string): TaskGroup | undefined => {
    if (version === undefined) return undefined;
    let known = groups.get(version);
    if (known === undefined) {
      known = new Map(version.TaskGroups.map((group) => [group.Name, group]));
      groups.set(version, known);
    }
    return known.get(name);
  };
  const groupOf = (allocation: Allocation): TaskGroup | undefined =>
    groupIn(jobOf(allocation), allocation.TaskGroup) ?? groupIn(job, allocation.TaskGroup);
  return { job, evaluation, now, ids, cluster, jobOf, groupOf };
}

/** Whether the allocation runs the current version of the job. */
export function isCurrent(allocation: Allocation, job: Job): boolean {
  return allocation.JobVersion === job.Version && allocation.JobCreateIndex === job.CreateIndex;
}

/** Whether it runs an older version, or belongs to a registration before a purge. */
export function isOlder(allocation: Allocation, job: Job): boolean {
  return allocation.JobVersion < job.Version || allocation.JobCreateIndex < job.CreateIndex;
}

export function taintOf(cluster: Cluster, nodeId: string): Taint {
  const node = cluster.nodeOf(nodeId);
  if (node === undefined) return 'missing';
  if (node.Status === 'down') return 'down';
  if (node.Status === 'disconnected') return 'disconnected';
  return isDraining(node) ? 'draining' : 'none';
}

/** The allocations of one group, divided by their treatment; each is in at most one list. */
export interface GroupSets {
  /** Allocations that count towards the group's count. */
  readonly untainted: readonly Allocation[];
  readonly migrating: readonly Allocation[];
  readonly lost: readonly Allocation[];
  readonly disconnecting: readonly Allocation[];
  /** Allocations that are replaced now, by the reschedule policy. */
  readonly replacedNow: readonly Allocation[];
}

export function withoutFrom(sets: GroupSets, removed: readonly Allocation[]): GroupSets {
  return {
    untainted: without(sets.untainted, removed),
    migrating: without(sets.migrating, removed),
    lost: without(sets.lost, removed),
    disconnecting: without(sets.disconnecting, removed),
    replacedNow: without(sets.replacedNow, removed),
  };
}
