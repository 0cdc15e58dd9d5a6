/*
 * Functions of the service, on demand: declared with `defineFunction`, enqueued and run with `createFunctions`.
 */
export {
  type Cron,
  defineFunction,
  type FunctionDefinition,
  type FunctionOptions,
  type Handler,
  type HostRows,
  type InputOf,
  type Json,
  type Keep,
  type Limit,
  NonRetryableError,
  type Rate,
  type Retry,
  RetryAfterError,
  type RunContext,
  type RunLog,
  type Schema,
  type SchemaIssue,
  type SchemaResult,
  Snooze,
  type StandardSchema,
} from './functions/define-function.js';
export type { Outcome, RunError, RunState } from './functions/run.js';
export type { HostTransaction, OpenTransaction } from './operations/context/shared-write.js';
export { createFunctions } from './operations/functions/create-functions.js';
export {
  type Batch,
  type BatchCounts,
  type BatchEnd,
  type BatchOptions,
  type EnqueueOptions,
  type Functions,
  FunctionsError,
  type FunctionsOptions,
  type JoinedFunctions,
  type Run,
  RunFailedError,
  type RunFilter,
  type RunLogLine,
  type RunRecord,
  type WaitReason,
} from './operations/functions/functions-api.js';
export type { Duration } from './options/durations.js';
