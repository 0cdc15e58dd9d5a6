import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';

/** How far a run has come; the last two are ends. */
export type RunStage = 'pending' | 'planning' | 'applying' | 'completed' | 'errored';

/**
 * One run of a job that reports to a workspace: a dispatched or periodic instance, or one version of another job. Which
 * events it has published is part of the record, so that each is published at most once.
 */
export interface JobRun {
  readonly namespace: string;
  readonly jobId: string;
  /** Tells a job registered again after a purge from the one before. */
  readonly jobCreateIndex: number;
  /** 0 for an instance, which is one run whatever its version. */
  readonly version: number;
  readonly runId: string;
  readonly workspaceId: string;
  readonly message: string;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly stage: RunStage;
  /** An instance of a running version failed after the version had come up: reported once. */
  readonly failedLater: boolean;
}

export const jobRuns = table<JobRun>('job_runs', (run) => [run.namespace, run.jobId, run.version]);
