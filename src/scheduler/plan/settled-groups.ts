import type { Job } from '../../jobs/document/job.js';
import { type Allocation, isClientTerminal } from '../allocation.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Deployment } from '../deployment/deployment.js';
import { isCurrent, taintOf } from '../reconcile/situation.js';

/** The inputs that decide whether a job is settled. */
interface Settling {
  readonly job: Job;
  readonly allocations: readonly Allocation[];
  readonly cluster: Cluster;
  /** The job's newest deployment, if any. */
  readonly deployment: Deployment | undefined;
}

/**
 * The number of allocations of each group if the job is settled: each group has its count, all of the current
 * version, running on healthy nodes with no transition requested, and no deployment is active. Undefined for any other job. The full
 * comparison returns the same result for a settled job, many times slower.
 */
export function settledGroups({
  job,
  allocations,
  cluster,
  deployment,
}: Settling): ReadonlyMap<string, number> | undefined {
  if (job.Stop || !isOver(deployment, job)) return undefined;
  const counts = countsAtWork(job, allocations, cluster);
  if (counts === undefined) return undefined;
  for (const { Name, Count } of job.TaskGroups) {
    if ((counts.get(Name) ?? 0) !== Count) return undefined;
    counts.set(Name, Count);
  }
  return counts.size === job.TaskGroups.length ? counts : undefined;
}

/** Undefined if any allocation is not simply running. */
function countsAtWork(job: Job, allocations: readonly Allocation[], cluster: Cluster): Map<string, number> | undefined {
  const counts = new Map<string, number>();
  // Allocations of a group are mostly adjacent: they are counted in a local number.
  let group = '';
  let count = 0;
  for (const allocation of allocations) {
    if (isPast(allocation, job)) continue;
    if (!isAtWork(allocation, job) || taintOf(cluster, allocation.NodeID) !== 'none') return undefined;
    if (allocation.TaskGroup !== group) {
      if (count > 0) counts.set(group, (counts.get(group) ?? 0) + count);
      group = allocation.TaskGroup;
      count = 0;
    }
    count += 1;
  }
  if (count > 0) counts.set(group, (counts.get(group) ?? 0) + count);
  return counts;
}

/** For a service, allocations that were requested to stop and have stopped. */
function isPast(allocation: Allocation, { Type }: Job): boolean {
  return Type === 'service' && allocation.DesiredStatus !== 'run' && isClientTerminal(allocation);
}

/** Whether there is no deployment, or a successful one of the current version without unpromoted canaries. */
function isOver(deployment: Deployment | undefined, job: Job): boolean {
  if (deployment === undefined) return true;
  if (deployment.JobVersion !== job.Version || deployment.JobCreateIndex !== job.CreateIndex) return false;
  const promoted = Object.values(deployment.TaskGroups).every(
    (state) => state.Promoted || state.PlacedCanaries === null,
  );
  return deployment.Status === 'successful' && promoted;
}

function isAtWork(allocation: Allocation, job: Job): boolean {
  const { DesiredStatus, ClientStatus, AllocStates, DesiredTransition } = allocation;
  if (DesiredStatus !== 'run' || (ClientStatus !== 'running' && ClientStatus !== 'pending')) return false;
  if (!isCurrent(allocation, job) || AllocStates !== undefined) return false;
  const { Migrate, Reschedule, ForceReschedule, MigrateDisablePlacement } = DesiredTransition;
  return (Migrate ?? Reschedule ?? ForceReschedule ?? MigrateDisablePlacement ?? false) === false;
}
