/* Functions of the service as callers of the interface see them; `signalbox/functions` declares and runs them. */

export type {
  DeclaredCron,
  DeclaredKeep,
  DeclaredLimit,
  DeclaredPolicy,
  FunctionDeclaration,
} from '../functions/declaration.js';
export type { HostRows, Json } from '../functions/define-function.js';
export type {
  EnqueueRefused,
  FunctionCallError,
  FunctionNotFound,
  FunctionRunNotFound,
  JobOfFunction,
} from '../functions/errors.js';
export type { Outcome as FunctionOutcome, RunError, RunState } from '../functions/run.js';
export type { WaitReason as RunWaitReason } from '../operations/functions/functions-api.js';
export type {
  FunctionLogLine,
  FunctionRunSummary,
  FunctionRunView,
  FunctionView,
  RunExplanation,
  ScheduleView,
} from '../operations/functions/read-functions.js';
