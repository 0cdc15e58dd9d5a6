import { table } from '../shared/table.js';
import type { Job } from './document/job.js';
import { scalingPoliciesOf } from './scaling/scaling-policies.js';

/**
 * The current version of every job, in the wire's shape, so that a read relays the row's text. Ordered by namespace and
 * ID, which is the order of lists.
 */
export const jobs = table<Job>(
  'jobs',
  (job) => [job.Namespace, job.ID],
  {
    /** In the order of their last changes. */
    by_change: { version: 1, key: (job) => [job.ModifyIndex, job.Namespace, job.ID] },
    /** Dispatched and periodic instances of a parent. */
    by_parent: { version: 1, key: (job) => (job.ParentID === '' ? undefined : [job.Namespace, job.ParentID, job.ID]) },
    /** System jobs that a node must get when it turns ready. */
    system: { version: 1, key: (job) => (job.Type === 'system' && !job.Stop ? [job.Namespace, job.ID] : undefined) },
    /** Those with scaling policies. */
    scaled: {
      version: 1,
      key: (job) => (scalingPoliciesOf(job).length > 0 ? [job.Namespace, job.ID] : undefined),
    },
    /** Finds the instance that an idempotency token already made. */
    by_dispatch_token: {
      version: 1,
      key: (job) =>
        job.ParentID === '' || job.DispatchIdempotencyToken === ''
          ? undefined
          : [job.Namespace, job.ParentID, job.DispatchIdempotencyToken],
    },
  },
  // An instance has the groups of its parent.
  { shares: (job: Job) => (job.Dispatched ? 'TaskGroups' : undefined) },
);

/**
 * The earlier versions of every job that are still kept. The current version is not here: it is the job's own row, so
 * that the two can never disagree and a registration prints its document once.
 */
export const jobVersions = table<Job>('job_versions', (job) => [job.Namespace, job.ID, job.Version]);

/** Whether dispatching it makes instances: an instance keeps its parent's block without being such a job itself. */
export function isParameterized(job: Pick<Job, 'ParameterizedJob' | 'Dispatched'>): boolean {
  return job.ParameterizedJob !== null && !job.Dispatched;
}

export function isPeriodic(job: Pick<Job, 'Periodic'>): boolean {
  return job.Periodic !== null;
}

/** A template of runs, not a run: nothing of it is placed, so it gets no evaluations. */
export function isLauncher(job: Pick<Job, 'ParameterizedJob' | 'Dispatched' | 'Periodic'>): boolean {
  return isParameterized(job) || isPeriodic(job);
}
