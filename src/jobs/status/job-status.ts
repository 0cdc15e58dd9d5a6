import type { Job, JobStatus } from '../document/job.js';
import { isLauncher, isParameterized, isPeriodic } from '../job-record.js';
import type { RunOutcome } from '../runs/job-run.js';

/** Facts about the work of a job. They are functions, evaluated lazily, because the first of them decides for most jobs. */
interface WorkOfJob {
  /** Whether a deployment is active. */
  hasActiveDeployment(): boolean;
  /** Whether an allocation is neither stopped by the scheduler nor finished on its node. */
  hasLiveAllocation(): boolean;
  /** Whether an evaluation is pending or blocked. */
  hasOpenEvaluation(): boolean;
  hasAnyEvaluation(): boolean;
}

/**
 * The status of a job (job interface, Status): parents and system jobs run until they are stopped; the others run while
 * an allocation is live or a deployment active, are pending while an evaluation is open, and are dead otherwise.
 */
export function jobStatusOf(
  job: Pick<Job, 'Type' | 'ParameterizedJob' | 'Dispatched' | 'Periodic' | 'Stop'>,
  work: WorkOfJob,
): JobStatus {
  if (job.Type === 'system' || isParameterized(job) || isPeriodic(job)) return job.Stop ? 'dead' : 'running';
  if (work.hasLiveAllocation() || work.hasActiveDeployment()) return 'running';
  if (work.hasOpenEvaluation()) return 'pending';
  return job.Stop || work.hasAnyEvaluation() ? 'dead' : 'pending';
}

/** The members shown for one allocation. */
interface StatusAllocation {
  readonly ID: string;
  readonly Group: string;
  readonly ClientStatus: string;
  readonly NodeID: string;
  readonly DeploymentStatus: { readonly Canary: boolean; readonly Healthy: boolean | null };
  readonly JobVersion: number;
  readonly FollowupEvalID: string;
  readonly HasPausedTask: boolean;
}

/** The members shown for the newest deployment. */
export interface StatusDeployment {
  readonly ID: string;
  readonly IsActive: boolean;
  readonly JobVersion: number;
  readonly Status: string;
  readonly StatusDescription: string;
  readonly AllAutoPromote: boolean;
  readonly RequiresPromotion: boolean;
}

/** A job with its current activity (job interface, jobs statuses). */
export interface JobStatusEntry {
  readonly ID: string;
  readonly Namespace: string;
  readonly Name: string;
  readonly Type: string;
  readonly NodePool: string;
  readonly Datacenters: readonly string[];
  readonly Priority: number;
  readonly Version: number;
  readonly SubmitTime: number;
  readonly ModifyIndex: number;
  /** Null when there is none, and for parents of instances. */
  readonly Allocs: readonly StatusAllocation[] | null;
  /** The number of desired instances of all groups together. */
  readonly GroupCountSum: number;
  /** The statuses of its instances; null for jobs that are not parents. */
  readonly ChildStatuses: readonly string[] | null;
  readonly ParentID: string;
  readonly LatestDeployment: StatusDeployment | null;
  readonly Stop: boolean;
  readonly IsPack: boolean;
  readonly Status: string;
  /** How it ended; absent while it is not dead, for jobs that launch others, and where only Nomad's own members are shown. */
  readonly Outcome?: RunOutcome;
}

/** A job's activity, read from other tables. */
interface JobActivity {
  readonly allocations: readonly StatusAllocation[];
  readonly childStatuses: readonly string[];
  readonly deployment: StatusDeployment | null;
  readonly outcome?: RunOutcome | undefined;
}

export function jobStatusEntry(job: Job, activity: JobActivity): JobStatusEntry {
  const { allocations, childStatuses, deployment, outcome } = activity;
  const launches = isLauncher(job);
  return {
    ID: job.ID,
    Namespace: job.Namespace,
    Name: job.Name,
    Type: job.Type,
    NodePool: job.NodePool,
    Datacenters: job.Datacenters,
    Priority: job.Priority,
    Version: job.Version,
    SubmitTime: job.SubmitTime,
    ModifyIndex: job.ModifyIndex,
    Allocs: launches || allocations.length === 0 ? null : allocations,
    GroupCountSum: job.TaskGroups.reduce((sum, { Count }) => sum + Count, 0),
    ChildStatuses: launches ? childStatuses : null,
    ParentID: job.ParentID,
    LatestDeployment: launches ? null : deployment,
    Stop: job.Stop,
    IsPack: job.Meta !== null && Object.hasOwn(job.Meta, 'pack.name'),
    Status: job.Status,
    ...(outcome === undefined ? {} : { Outcome: outcome }),
  };
}
