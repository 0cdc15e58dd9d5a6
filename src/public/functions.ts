/* Functions of the service as callers of the interface see them; `signalbox/functions` declares and runs them. */

export type { FunctionDeclaration } from '../functions/declaration.js';
export type {
  EnqueueRefused,
  FunctionCallError,
  FunctionNotFound,
  FunctionRunNotFound,
} from '../functions/errors.js';
export type {
  FunctionLogLine,
  FunctionRunSummary,
  FunctionRunView,
  FunctionView,
  RunExplanation,
  ScheduleView,
} from '../operations/functions/read-functions.js';
