import { createFunctions as createFunctionsIn, type Functions, type FunctionsOptions } from '../../src/functions.js';
import type { Engine } from '../../src/index.js';
import { identity, lifeOf } from './process-life.js';
import { inThread } from './threads.js';

export {
  type Batch,
  type BatchCounts,
  type BatchEnd,
  type BatchOptions,
  type Cron,
  type Duration,
  defineFunction,
  type EnqueueOptions,
  type FunctionDefinition,
  type FunctionOptions,
  type Functions,
  FunctionsError,
  type FunctionsOptions,
  type Handler,
  type HostRows,
  type InputOf,
  type JoinedFunctions,
  type Json,
  type Keep,
  type Limit,
  NonRetryableError,
  type OpenTransaction,
  type Outcome,
  type Rate,
  type Retry,
  RetryAfterError,
  type Run,
  type RunContext,
  type RunError,
  RunFailedError,
  type RunFilter,
  type RunLog,
  type RunLogLine,
  type RunRecord,
  type RunState,
  type Schema,
  type SchemaIssue,
  type SchemaResult,
  Snooze,
  type StandardSchema,
  type WaitReason,
} from '../../src/functions.js';

/**
 * The functions of this process: `definitions` are those that it enqueues or runs. Throws a TypeError for what `defineFunction` did
 * not make, and for two definitions of one name.
 */
export function createFunctions(
  engine: Engine,
  definitions: readonly { readonly name: string }[],
  options: FunctionsOptions = {},
): Functions {
  return createFunctionsIn(engine, definitions, options, {
    identity,
    lifeOf,
    inThread: (module) => inThread(module, definitions),
  });
}
