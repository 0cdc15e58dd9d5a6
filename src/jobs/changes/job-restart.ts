import { minute } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';

/** A restart of the running allocations of a job, some at a time. A job has one at most, which is kept for a day after its end. */
export interface JobRestart {
  readonly namespace: string;
  readonly jobId: string;
  readonly id: string;
  /** Allocations that were placed later are not restarted. */
  readonly index: number;
  /** Allocations that are restarted at a time. */
  readonly atOnce: number;
  /** Milliseconds from the end of one batch to the beginning of the next. */
  readonly wait: number;
  /** Whether tasks that have ended are started again, too. */
  readonly allTasks: boolean;
  /** Whether it continues when an allocation cannot be restarted. */
  readonly continues: boolean;
  /** Running allocations at its beginning. */
  readonly total: number;
  readonly restarted: number;
  readonly failed: number;
  /** The first failures, at most `keptFailures`. */
  readonly failures: readonly { readonly allocationId: string; readonly message: string }[];
  /** The last allocation that was taken up, in the order of IDs. */
  readonly after: string;
  /** The batch under way. After `until`, another process takes it up again. */
  readonly batch: readonly { readonly allocationId: string; readonly nodeId: string; readonly until: Instant }[];
  /** The next batch begins then at the earliest. */
  readonly notBefore: Instant;
  readonly startedAt: Instant;
  /** The name of the caller; null for the host. */
  readonly startedBy: string | null;
  readonly end?: { readonly state: 'done' | 'failed' | 'cancelled'; readonly at: Instant };
}

export const jobRestarts = table<JobRestart>('job_restarts', (restart) => [restart.namespace, restart.jobId], {
  running: {
    version: 1,
    key: ({ end, notBefore, batch, namespace, jobId }) =>
      end === undefined ? [Math.max(notBefore, ...batch.map(({ until }) => until)), namespace, jobId] : undefined,
  },
  ended: {
    version: 1,
    key: ({ end, namespace, jobId }) => (end === undefined ? undefined : [end.at, namespace, jobId]),
  },
});

/** An allocation that is not restarted after this time is taken up again. */
const takenFor = 10 * minute;
const keptFailures = 10;

type Target = Pick<JobRestart['batch'][number], 'allocationId' | 'nodeId'>;

/** Takes up a batch: that of a process that is gone, or the next allocations. The restart ends when there are none. */
export function withBatch(restart: JobRestart, next: readonly Target[], now: Instant): JobRestart {
  const again = restart.batch.length > 0 ? restart.batch : next;
  if (again.length === 0) return { ...restart, end: { state: 'done', at: now } };
  const batch = again.map(({ allocationId, nodeId }) => ({ allocationId, nodeId, until: now + takenFor }));
  return { ...restart, batch, after: batch.at(-1)?.allocationId ?? restart.after };
}

/** After an allocation of the batch was restarted, or could not be. `fault`: why not. */
export function withoutTarget(
  restart: JobRestart,
  allocationId: string,
  fault: string | undefined,
  now: Instant,
): JobRestart {
  const batch = restart.batch.filter((target) => target.allocationId !== allocationId);
  if (batch.length === restart.batch.length) return restart;
  const rest = { ...restart, batch, ...(batch.length === 0 ? { notBefore: now + restart.wait } : {}) };
  if (fault === undefined) return { ...rest, restarted: rest.restarted + 1 };
  const failures = [...rest.failures, { allocationId, message: fault }].slice(0, keptFailures);
  const failed = { ...rest, failed: rest.failed + 1, failures };
  return restart.continues ? failed : { ...failed, end: { state: 'failed', at: now } };
}
