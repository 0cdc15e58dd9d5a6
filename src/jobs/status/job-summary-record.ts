import { table } from '../../shared/table.js';

/** How many allocations of a group are in which state; `Complete`, `Failed` and `Lost` are totals over the job's life. */
export interface GroupSummary {
  /** Desired but not placed. */
  readonly Queued: number;
  /** A total over the job's life. */
  readonly Complete: number;
  /** A total over the job's life. */
  readonly Failed: number;
  /** Currently running. */
  readonly Running: number;
  /** Placed, but not yet started. */
  readonly Starting: number;
  /** A total over the job's life. */
  readonly Lost: number;
  /** On disconnected nodes. */
  readonly Unknown: number;
}

/** Numbers of instances of a periodic or parameterized job by status. All are 0 for other jobs. */
export interface ChildrenSummary {
  readonly Pending: number;
  readonly Running: number;
  readonly Dead: number;
}

/** The numbers of a job's allocations and instances, kept up to date by every write that changes one. */
export interface JobSummary {
  readonly JobID: string;
  readonly Namespace: string;
  /** By name of the group. */
  readonly Summary: Readonly<Record<string, GroupSummary>>;
  /** Counts of the instances of this job. */
  readonly Children: ChildrenSummary;
  /** The CreateIndex of the counted registration. */
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export const jobSummaries = table<JobSummary>('job_summaries', (summary) => [summary.Namespace, summary.JobID]);
