import type { Submitted } from './fields/field-table.js';
import type { jobBlock } from './fields/job-fields.js';
import type { serviceBlock } from './fields/service-fields.js';
import type { taskBlock } from './fields/task-fields.js';
import type { taskGroupBlock } from './fields/task-group-fields.js';

/**
 * The submitted form of a job: every key present, null where no value was given. The result of `decodeJob` and `parseJob`,
 * and the input of `canonicaliseJob`.
 */
export interface SubmittedJob extends Submitted<typeof jobBlock> {}
export interface SubmittedTaskGroup extends Submitted<typeof taskGroupBlock> {}
export interface SubmittedTask extends Submitted<typeof taskBlock> {}
export interface SubmittedService extends Submitted<typeof serviceBlock> {}

export type { JobInput } from './input/index.js';
