import type { Submitted } from './field-table.js';
import type { jobBlock } from './job-fields.js';
import type { serviceBlock } from './service-fields.js';
import type { taskBlock } from './task-fields.js';
import type { taskGroupBlock } from './task-group-fields.js';

/**
 * The submitted form of a job: every key present, null where nothing was given. It is what `decodeJob` and `parseJob`
 * return and what `canonicalise` reads.
 */
export interface SubmittedJob extends Submitted<typeof jobBlock> {}
export interface SubmittedTaskGroup extends Submitted<typeof taskGroupBlock> {}
export interface SubmittedTask extends Submitted<typeof taskBlock> {}
export interface SubmittedService extends Submitted<typeof serviceBlock> {}

export type { JobInput } from './input/index.js';
