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
  list: listFunctions,
  read: readFunction,
  runs: listFunctionRuns,
  run: readFunctionRun,
  explain: explainFunctionRun,
  log: readFunctionRunLog,
  enqueue: (context, caller, { region: _, ...input }) => enqueueFunction(context, caller, input),
  cancel: cancelFunctionRuns,
  retry: retryFunctionRuns,
  pause: pauseFunction,
  resume: resumeFunction,
  cancelRun: cancelFunctionRun,
  retryRun: retryFunctionRun,
};
