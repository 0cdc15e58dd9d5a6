import type { Job } from '../../jobs/document/job.js';
import { isLauncher } from '../../jobs/job-record.js';
import { instantFromUnixNanos } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';
import type { Evaluation } from '../evaluation.js';
import { type CollectionTime, collectableEvaluation, type EvaluationInQuestion } from './collectable-evaluation.js';

interface JobInQuestion {
  readonly job: Job;
  /** Whether a version of it has a tag, so that a user may want to revert to it. */
  readonly tagged: boolean;
  readonly evaluations: readonly Pick<EvaluationInQuestion, 'evaluation' | 'allocations'>[];
}

interface CollectableJob {
  readonly evaluations: readonly Evaluation[];
  readonly allocations: readonly Allocation[];
}

/**
 * Whether the job has ended or was stopped: batch work has ended when it is dead, a service or a parent of instances only
 * when it was stopped.
 */
export function hasEnded(job: Job): boolean {
  if (isLauncher(job)) return job.Stop;
  return job.Status === 'dead' && (job.Stop || job.Type === 'batch' || job.Type === 'sysbatch');
}

/** Everything that is removed with the job; undefined when the job is kept. */
export function collectableJob(
  { job, tagged, evaluations }: JobInQuestion,
  time: CollectionTime,
): CollectableJob | undefined {
  if (tagged || !hasEnded(job) || instantFromUnixNanos(job.SubmitTime) > time.cutoff) return undefined;
  const gone: Allocation[] = [];
  for (const one of evaluations) {
    const { evaluation, allocations } = collectableEvaluation({ ...one, job }, time, true);
    if (!evaluation) return undefined;
    gone.push(...allocations);
  }
  return { evaluations: evaluations.map(({ evaluation }) => evaluation), allocations: gone };
}
