import type { Job } from '../document/job.js';
import { isLauncher } from '../job-record.js';

/*
 * How a run ended, for people and for notifications. Statuses alone do not show it: an allocation that was stopped or reached its
 * maximum run duration is `complete`, and a job is `dead` whatever became of it. The descriptions below are part of the rule.
 */

/** How an allocation or the run of a job ended. */
export type RunOutcome = 'succeeded' | 'failed' | 'stopped' | 'timed_out' | 'lost';

/** The outcomes as people read them. */
export const outcomeWords: Readonly<Record<RunOutcome, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  stopped: 'stopped',
  timed_out: 'timed out',
  lost: 'lost',
};

/** The description of an allocation that `max_run_duration` ended. Its status is `complete`, as in Nomad. */
export const exceededDuration = 'Allocation exceeded its maximum run duration';

/** The description of a batch allocation that was stopped before its work was done. Its status is `complete`, as in Nomad. */
export const stoppedEarly = 'Stopped before its tasks had completed';

/** The description of an allocation that its node ended without the server. Its status is `failed`. */
export const lostServer = 'Stopped because its node had lost the server';

/** The members of an allocation, or of its list entry, that an outcome depends on. */
export interface EndedAllocation {
  readonly JobType?: string;
  readonly DesiredStatus: string;
  readonly ClientStatus: string;
  readonly ClientDescription?: string;
}

/** The outcome of an allocation; undefined while its node has not finished with it. */
export function allocationOutcome(allocation: EndedAllocation): RunOutcome | undefined {
  const { ClientStatus, ClientDescription = '' } = allocation;
  switch (ClientStatus) {
    case 'lost':
      return 'lost';
    case 'failed':
      return ClientDescription === lostServer ? 'lost' : 'failed';
    case 'complete':
      if (ClientDescription === exceededDuration) return 'timed_out';
      return wasStopped(allocation) ? 'stopped' : 'succeeded';
    default:
      return undefined;
  }
}

/**
 * Batch work may be stopped after its end, so its description decides. Services run until they are stopped, and agents that
 * describe nothing leave only the scheduler's wish.
 */
function wasStopped({ JobType, DesiredStatus, ClientDescription = '' }: EndedAllocation): boolean {
  if (ClientDescription === stoppedEarly) return true;
  const isUnclear = JobType === 'service' || JobType === 'system' || ClientDescription === '';
  return isUnclear && DesiredStatus !== 'run';
}

/** One allocation of a job, or its list entry. */
export interface AllocationOfRun extends EndedAllocation {
  readonly Name: string;
  readonly NodeID: string;
  readonly TaskGroup: string;
  readonly CreateIndex: number;
}

/** What the outcome of a job depends on, beside its allocations. */
export type EndedJob = Pick<Job, 'ID' | 'Type' | 'Status' | 'Stop' | 'ParameterizedJob' | 'Dispatched' | 'Periodic'> & {
  readonly TaskGroups: readonly { readonly Name: string; readonly Count: number }[];
};

/**
 * The outcome of a job that is dead, from the last allocation of each of its instances: an earlier one that failed and was replaced
 * does not count. The worst outcome wins, in the order of `severity`. Undefined while the job lives, and for jobs that only launch others.
 */
export function runOutcome(job: EndedJob, allocations: readonly AllocationOfRun[]): RunOutcome | undefined {
  if (job.Status !== 'dead' || isLauncher(job)) return undefined;
  // An instance without an end: the job was stopped before, or it never found a place.
  const withoutEnd: RunOutcome = job.Stop ? 'stopped' : 'failed';
  const outcomes = lastAllocations(job, allocations).map(
    (allocation) => (allocation === undefined ? undefined : allocationOutcome(allocation)) ?? withoutEnd,
  );
  // All nodes may have been unfit for a job that was stopped.
  return severity.find((outcome) => outcomes.includes(outcome)) ?? (job.Stop ? 'stopped' : 'succeeded');
}

const severity: readonly RunOutcome[] = ['failed', 'timed_out', 'lost', 'stopped', 'succeeded'];

/** The last allocation of each instance; undefined for an instance that never had one. */
function lastAllocations(job: EndedJob, allocations: readonly AllocationOfRun[]): (AllocationOfRun | undefined)[] {
  const everywhere = job.Type === 'system' || job.Type === 'sysbatch';
  const last = new Map<string, AllocationOfRun>();
  for (const allocation of allocations) {
    const slot = everywhere ? `${allocation.TaskGroup} ${allocation.NodeID}` : allocation.Name;
    const known = last.get(slot);
    if (known === undefined || known.CreateIndex < allocation.CreateIndex) last.set(slot, allocation);
  }
  if (everywhere) {
    const groups = new Set(job.TaskGroups.map(({ Name }) => Name));
    return [...last.values()].filter(({ TaskGroup }) => groups.has(TaskGroup));
  }
  return job.TaskGroups.flatMap((group) =>
    Array.from({ length: group.Count }, (_, index) => last.get(`${job.ID}.${group.Name}[${index}]`)),
  );
}
