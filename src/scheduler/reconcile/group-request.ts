import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Allocation } from '../allocation.js';
import type { DeploymentStanding } from './group-deployment.js';
import type { Intents } from './intents.js';
import type { JobSituation } from './situation.js';

/** One group to reconcile, and where its decisions are collected. */
export interface GroupRequest {
  readonly situation: JobSituation;
  readonly job: Job;
  readonly group: TaskGroup;
  /** All allocations of the group, including finished ones. */
  readonly allocations: readonly Allocation[];
  readonly standing: DeploymentStanding;
  readonly intents: Intents;
  /** Whether the allocation can continue in place with the job's current version. */
  readonly canStay: (allocation: Allocation, group: TaskGroup) => boolean;
}
