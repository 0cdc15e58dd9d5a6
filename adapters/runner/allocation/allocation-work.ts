import type { Job } from '../../../src/jobs/document/job.js';
import type { TaskGroup } from '../../../src/jobs/document/task-group.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';

/** One allocation to run, with the job version that it runs. */
export interface AllocationWork {
  readonly allocation: Allocation;
  readonly job: Job;
  readonly group: TaskGroup;
}
