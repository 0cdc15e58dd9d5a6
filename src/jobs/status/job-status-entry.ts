import type { Job } from '../document/job.js';
import { isLauncher } from '../job-record.js';
import type { RunOutcome } from '../runs/run-outcome.js';

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
