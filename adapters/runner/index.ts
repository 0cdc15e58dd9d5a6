export type { HostOptions } from './describe-host.js';
export { type FunctionCall, functionDriver, type TaskFunction } from './drivers/function-driver.js';
export { type RawExecOptions, rawExecDriver } from './drivers/raw-exec-driver.js';
export { createRunner, type Runner, type RunnerOptions } from './runner.js';
export type { RecoverOutcome, RunningTask, StartOutcome, TaskDriver, TaskStart } from './task-driver.js';
