import type { Job } from '../../../src/jobs/document/job.js';
import type { Task } from '../../../src/jobs/document/task.js';
import type { TaskGroup } from '../../../src/jobs/document/task-group.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';

/** The task to run, with the job version that it belongs to. */
export interface TaskAssignment {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly task: Task;
  readonly allocation: Allocation;
}
