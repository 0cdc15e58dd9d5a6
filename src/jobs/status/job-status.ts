import type { Job, JobStatus } from '../document/job.js';
import { isParameterized, isPeriodic } from '../job-record.js';

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
