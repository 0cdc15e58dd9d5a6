import type { functionCalls } from '../../api/calls/function-calls.js';
import type { Bindings } from '../binding.js';
import {
  cancelFunctionRun,
  cancelFunctionRuns,
  enqueueFunction,
  pauseFunction,
  resumeFunction,
  retryFunctionRun,
  retryFunctionRuns,
} from './change-functions.js';
import {
  explainFunctionRun,
  listFunctionRuns,
  listFunctions,
  readFunction,
  readFunctionRun,
  readFunctionRunLog,
} from './read-functions.js';

/** The operations of the calls of functions. */
export const functionBindings: Bindings<typeof functionCalls> = {
  list: (context, caller, input, { waiting }) => listFunctions(context, caller, input, waiting),
  read: (context, caller, input, { waiting }) => readFunction(context, caller, input, waiting),
  runs: (context, caller, input, { waiting }) => listFunctionRuns(context, caller, input, waiting),
  run: (context, caller, input, { waiting }) => readFunctionRun(context, caller, input, waiting),
  explain: (context, caller, input) => explainFunctionRun(context, caller, input),
  log: (context, caller, input) => readFunctionRunLog(context, caller, input),
  enqueue: (context, caller, { region: _, ...input }) => enqueueFunction(context, caller, input),
  cancel: (context, caller, input) => cancelFunctionRuns(context, caller, input),
  retry: (context, caller, input) => retryFunctionRuns(context, caller, input),
  pause: (context, caller, input) => pauseFunction(context, caller, input),
  resume: (context, caller, input) => resumeFunction(context, caller, input),
  cancelRun: (context, caller, input) => cancelFunctionRun(context, caller, input),
  retryRun: (context, caller, input) => retryFunctionRun(context, caller, input),
};
