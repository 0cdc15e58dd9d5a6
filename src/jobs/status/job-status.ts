import type { Job, JobStatus } from '../document/job.js';
import { isParameterized, isPeriodic } from '../job-record.js';

/** Facts about the work of a job. They are functions, because the first of them decides for most jobs. */
interface WorkOfJob {
  /** A deployment that is under way. */
  hasActiveDeployment(): boolean;
  /** An allocation that is neither stopped by the scheduler nor finished on its node. */
  hasLiveAllocation(): boolean;
  /** An evaluation that is pending or blocked. */
  hasOpenEvaluation(): boolean;
  hasAnyEvaluation(): boolean;
}

/**
 * The status of a job (job interface, Status): parents and system jobs run until they are stopped; the others run while
 * an allocation lives or a deployment is under way, are pending while an evaluation is open, and are dead when all of that is over.
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
