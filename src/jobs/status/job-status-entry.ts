import type { Job } from '../document/job.js';
import { isLauncher } from '../job-record.js';
import type { RunOutcome } from '../runs/run-outcome.js';

/** What is shown of one allocation. */
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

/** What is shown of the newest deployment. */
export interface StatusDeployment {
  readonly ID: string;
  readonly IsActive: boolean;
  readonly JobVersion: number;
  readonly Status: string;
  readonly StatusDescription: string;
  readonly AllAutoPromote: boolean;
  readonly RequiresPromotion: boolean;
}

/** A job with what it is doing at present (job interface, jobs statuses). */
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
  /** Null when there is none, and for jobs that only make instances. */
  readonly Allocs: readonly StatusAllocation[] | null;
  /** Instances that are wanted, of all groups together. */
  readonly GroupCountSum: number;
  /** The statuses of its instances; null for jobs that make none. */
  readonly ChildStatuses: readonly string[] | null;
  readonly ParentID: string;
  readonly LatestDeployment: StatusDeployment | null;
  readonly Stop: boolean;
  readonly IsPack: boolean;
  readonly Status: string;
  /** How it ended; absent while it is not dead, for jobs that launch others, and where only Nomad's own members are shown. */
  readonly Outcome?: RunOutcome;
}

/** What a job is doing, as it was read from other tables. */
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
