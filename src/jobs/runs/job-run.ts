import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { RunStage } from './run-events.js';

/**
 * The run of a job that reports to a workspace: a dispatched or periodic instance, or the latest version of another job.
 * Its stage is part of the record, so that each of its events is published at most once. The record is removed when the job is
 * stopped or a newer version replaces it: nothing that old allocations do is reported after that.
 */
export interface JobRun {
  readonly namespace: string;
  readonly jobId: string;
  /** Distinguishes registrations of a job before and after a purge. */
  readonly jobCreateIndex: number;
  readonly version: number;
  readonly runId: string;
  readonly workspaceId: string;
  readonly message: string;
  readonly createdAt: Instant;
  /** The name of the person who registered or dispatched it; null for a launch by the clock. */
  readonly createdBy: string | null;
  readonly stage: RunStage;
  /** The trace context of the request that began it, as a `traceparent`; its notifications pass it on. */
  readonly traceparent?: string;
}

export const jobRuns = table<JobRun>('job_runs', (run) => [run.namespace, run.jobId]);
