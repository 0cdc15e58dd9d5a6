import { unixNanosFromInstant, type WriteStamp } from '../shared/instant.js';
import { table } from '../shared/table.js';
import type { Job } from './document/job.js';
import { defaultNamespaceName } from './namespaces/namespace.js';
import { scalingPoliciesOf } from './scaling/scaling-records.js';

/**
 * The current version of every job, in the form of the API, so that a read relays the row's JSON. Ordered by namespace and
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
    /** System jobs, which a node must get when it becomes ready. */
    system: { version: 1, key: (job) => (job.Type === 'system' && !job.Stop ? [job.Namespace, job.ID] : undefined) },
    /** Jobs with scaling policies. */
    scaled: {
      version: 1,
      key: (job) => (scalingPoliciesOf(job).length > 0 ? [job.Namespace, job.ID] : undefined),
    },
    /** By idempotency token, to find the instance that a repeated dispatch already created. */
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
 * The kept earlier versions of every job. The current version is only in the job's row, so
 * that the two cannot disagree and a registration serialises its document once.
 */
export const jobVersions = table<Job>('job_versions', (job) => [job.Namespace, job.ID, job.Version]);

/** Whether a dispatch creates instances of it. An instance keeps its parent's block without being parameterized itself. */
export function isParameterized(job: Pick<Job, 'ParameterizedJob' | 'Dispatched'>): boolean {
  return job.ParameterizedJob !== null && !job.Dispatched;
}

export function isPeriodic(job: Pick<Job, 'Periodic'>): boolean {
  return job.Periodic !== null;
}

/** Whether it is a parent of instances: it has no allocations itself, and therefore no evaluations. */
export function isLauncher(job: Pick<Job, 'ParameterizedJob' | 'Dispatched' | 'Periodic'>): boolean {
  return isParameterized(job) || isPeriodic(job);
}

/** Identifies one job. */
export interface JobReference {
  /** `default` when absent. */
  readonly namespace?: string;
  /** The ID of the job, which may contain slashes. */
  readonly jobId: string;
}

export function namespaceOf(reference: { readonly namespace?: string }): string {
  return reference.namespace === undefined || reference.namespace === '' ? defaultNamespaceName : reference.namespace;
}

/** The row of a new instance of a parent; the writer computes its status. */
export function newInstance(parent: Job, id: string, { index, now }: WriteStamp): Job {
  return {
    ...parent,
    ID: id,
    Name: id,
    ParentID: parent.ID,
    Status: 'pending',
    StatusDescription: '',
    SubmitTime: unixNanosFromInstant(now),
    CreateIndex: index,
    ModifyIndex: index,
    JobModifyIndex: index,
  };
}
