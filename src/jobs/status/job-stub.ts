import { table } from '../../shared/table.js';
import type { Job, Multiregion } from '../document/job.js';
import { isParameterized, isPeriodic } from '../job-record.js';
import type { RunOutcome } from '../runs/run-outcome.js';
import type { JobSummary } from './job-summary.js';

/** A job as a list shows it (job interface, JobListStub). Members that `Job` has, too, are the same as there. */
export interface JobListStub {
  readonly ID: string;
  readonly ParentID: string;
  readonly Name: string;
  readonly Namespace: string;
  readonly Datacenters: readonly string[];
  readonly NodePool: string;
  readonly Multiregion: Multiregion | null;
  readonly Type: string;
  readonly Priority: number;
  /** Whether it is periodic. */
  readonly Periodic: boolean;
  /** False for an instance. */
  readonly ParameterizedJob: boolean;
  readonly Stop: boolean;
  readonly Status: string;
  readonly StatusDescription: string;
  /** The numbers of its allocations and instances. */
  readonly JobSummary: JobSummary;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly JobModifyIndex: number;
  /** When the current version was registered, in Unix nanoseconds. */
  readonly SubmitTime: number;
  /** Present only if requested and not empty. */
  readonly Meta?: Readonly<Record<string, string>>;
  /** How it ended; absent while it is not dead, for jobs that launch others, and where only Nomad's own members are shown. */
  readonly Outcome?: RunOutcome;
}

/**
 * Every job as a list shows it, without its meta: a list relays the row's JSON and never reads a job's document. Written with
 * the job and its summary, ordered like jobs.
 */
export const jobStubs = table<JobListStub>('job_stubs', (stub) => [stub.Namespace, stub.ID]);

/** `outcome`: undefined omits it. */
export function jobListStub(
  job: Job,
  summary: JobSummary | undefined,
  withMeta: boolean,
  outcome?: RunOutcome,
): JobListStub {
  return {
    ID: job.ID,
    ParentID: job.ParentID,
    Name: job.Name,
    Namespace: job.Namespace,
    Datacenters: job.Datacenters,
    NodePool: job.NodePool,
    Multiregion: job.Multiregion,
    Type: job.Type,
    Priority: job.Priority,
    Periodic: isPeriodic(job),
    ParameterizedJob: isParameterized(job),
    Stop: job.Stop,
    Status: job.Status,
    StatusDescription: job.StatusDescription,
    JobSummary: summary ?? emptySummary(job),
    CreateIndex: job.CreateIndex,
    ModifyIndex: job.ModifyIndex,
    JobModifyIndex: job.JobModifyIndex,
    SubmitTime: job.SubmitTime,
    ...(withMeta && job.Meta !== null && Object.keys(job.Meta).length > 0 ? { Meta: job.Meta } : {}),
    ...(outcome === undefined ? {} : { Outcome: outcome }),
  };
}

/** A job as a filter sees it for callers who may list jobs but not read them: only the members that a list shows are set. */
export function jobAsListed(job: Job): Partial<Record<keyof Job, unknown>> {
  const { JobSummary: _, Periodic, ParameterizedJob, ...shown } = jobListStub(job, undefined, true);
  return { ...shown, Periodic: Periodic ? {} : null, ParameterizedJob: ParameterizedJob ? {} : null };
}

/** A stub always has a summary. */
function emptySummary(job: Job): JobSummary {
  return {
    JobID: job.ID,
    Namespace: job.Namespace,
    Summary: {},
    Children: { Pending: 0, Running: 0, Dead: 0 },
    CreateIndex: job.CreateIndex,
    ModifyIndex: job.ModifyIndex,
  };
}
