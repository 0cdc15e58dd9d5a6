import type { Submitted } from './field-table.js';
import type { jobBlock } from './job.js';
import type { serviceBlock } from './service.js';
import type { taskBlock } from './task.js';
import type { taskGroupBlock } from './task-group.js';

/**
 * The submitted form of a job: every key present, null where no value was given. The result of `decodeJob` and `parseJob`,
 * and the input of `canonicaliseJob`.
 */
export interface SubmittedJob extends Submitted<typeof jobBlock> {}
export interface SubmittedTaskGroup extends Submitted<typeof taskGroupBlock> {}
export interface SubmittedTask extends Submitted<typeof taskBlock> {}
export interface SubmittedService extends Submitted<typeof serviceBlock> {}

export type { JobInput } from './job-input.js';
