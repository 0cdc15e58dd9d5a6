import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Allocation } from '../allocation.js';
import type { DeploymentStanding } from './current-deployment.js';
import type { Intents } from './intents.js';
import type { JobSituation } from './situation.js';

/** One group that is to be reconciled, and where its decisions go. */
export interface GroupRequest {
  readonly situation: JobSituation;
  readonly job: Job;
  readonly group: TaskGroup;
  /** All of the group, finished ones too. */
  readonly allocations: readonly Allocation[];
  readonly standing: DeploymentStanding;
  readonly intents: Intents;
  /** The allocation can continue under the job's present version where it is. */
  readonly canStay: (allocation: Allocation, group: TaskGroup) => boolean;
}
