import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { Json } from '../../functions/define-function.js';
import {
  type EnqueueRefused,
  type FunctionNotFound,
  type FunctionRunNotFound,
  functionNotFound,
  functionRunNotFound,
} from '../../functions/errors.js';
import type { StoredRun } from '../../functions/run.js';
import type { InvalidRequest } from '../../jobs/errors.js';
import { namespaceOf } from '../../jobs/job-record.js';
import type { Duration } from '../../options/durations.js';
import type { StorageError } from '../../ports/storage.js';
import { messageOf, stated } from '../../shared/values.js';
import { commit } from '../commit.js';
import { definitionKey, type EngineContext } from '../context/engine-context.js';
import { NotCommittedError } from '../context/shared-write.js';
import { setPaused } from '../records/function-jobs.js';
import type { Transaction } from '../write-transaction.js';
import { cancelRuns, retryRuns } from './change-runs.js';
import { checkEnqueue, type EnqueueOptions, FunctionsError, type RunFilter } from './functions-api.js';
import {
  checked,
  declaredIn,
  type FunctionReference,
  type FunctionRunReference,
  filterOf,
  type RunsSelection,
  runIn,
} from './read-functions.js';
import { cancelIn, retryIn } from './run-ends.js';

/** A change of a function or of its runs by a caller with rights. */
type Change<T, E = never> = ResultAsync<T, FunctionNotFound | StorageError | E>;

/** Enqueues a run by the name of its function. */
export interface EnqueueFunctionInput extends FunctionReference {
  readonly input?: Json;
  readonly delay?: Duration;
  /** Milliseconds since 1970. */
  readonly runAt?: number;
  readonly priority?: number;
  readonly meta?: Readonly<Record<string, string>>;
  readonly ttl?: Duration;
  readonly idempotencyKey?: string;
  readonly unique?: EnqueueOptions['unique'];
  readonly debounce?: EnqueueOptions['debounce'];
}

/** The run that an enqueue gave. */
export interface EnqueuedRun {
  readonly id: string;
  /** False when a key led to an existing run. */
  readonly isNew: boolean;
}

/**
 * Enqueues a run of a function that this process defines: the schema of its definition checks the input. Needs `dispatch-job`.
 */
export function enqueueFunction(
  context: EngineContext,
  _caller: Principal,
  given: EnqueueFunctionInput,
): Change<EnqueuedRun, EnqueueRefused | InvalidRequest> {
  const { name, input, delay, runAt, priority, meta, ttl, idempotencyKey, unique, debounce } = given;
  const namespace = namespaceOf(given);
  const at = runAt === undefined ? undefined : new Date(runAt);
  const options = stated({ delay, runAt: at, priority, meta, ttl, idempotencyKey, unique, debounce });
  const fitting = checked('options', () => checkEnqueue(options, context.clock.now(), 'enqueue'));
  if (fitting.isErr()) return errAsync(fitting.error);
  const defined = context.definitions.get(definitionKey(namespace, name));
  if (defined === undefined) return refusal(context, namespace, name);
  const enqueued = defined.enqueue(context, input, options).then(({ id, isNew }) => ({ id, isNew }));
  return ResultAsync.fromPromise(enqueued, (error) => enqueueError(context, { namespace, name }, error));
}

/** Why a function that this process does not define is not enqueued. */
function refusal(
  context: EngineContext,
  namespace: string,
  name: string,
): ResultAsync<never, FunctionNotFound | EnqueueRefused | StorageError> {
  return context.storage
    .read((view) => declaredIn(view, namespace, name))
    .andThen((declared) => err(declared === undefined ? functionNotFound(namespace, name) : notDefinedHere(name)));
}

export function notDefinedHere(name: string): EnqueueRefused {
  const message =
    `this server has no definition of ${name}, so it cannot check the input: ` +
    'send the request to a server that passes the definition to createFunctions';
  return { type: 'enqueue_refused', reason: 'not_defined', message };
}

function enqueueError(
  { logger }: EngineContext,
  { namespace, name }: Required<FunctionReference>,
  error: unknown,
): EnqueueRefused | FunctionNotFound | StorageError {
  if (error instanceof NotCommittedError) throw error;
  if (!(error instanceof FunctionsError)) {
    logger.error({ function: name, error: messageOf(error) }, 'A schema threw');
    return { type: 'enqueue_refused', reason: 'input', message: `the schema of ${name} cannot check this input` };
  }
  const { message } = error;
  switch (error.type) {
    case 'storage_failed':
      return error.cause as StorageError;
    case 'permission_denied':
    case 'run_not_found':
      return functionNotFound(namespace, name);
    case 'queue_full':
      return queueFull(error);
    case 'idempotency_mismatch':
      return { type: 'enqueue_refused', reason: 'mismatch', message };
    case 'invalid_input':
    case 'not_json':
    case 'too_large':
      return { type: 'enqueue_refused', reason: 'input', message };
  }
}

/** How many runs a call has changed. */
export interface ChangedRuns {
  readonly count: number;
}

/** Runs of one function. */
interface SelectedRuns extends FunctionReference, RunsSelection {}

/** Cancels the runs of a function that match, in bounded writes. Needs `submit-job`. */
export function cancelFunctionRuns(
  context: EngineContext,
  _caller: Principal,
  selected: SelectedRuns,
): Change<ChangedRuns, InvalidRequest> {
  return filterOfFunction(context, selected)
    .andThen((filter) => cancelRuns(context, filter, 'cancelled by a filter'))
    .map((count) => ({ count }));
}

/** Queues the runs of a function again that match and ended otherwise than well, in bounded writes. Needs `submit-job`. */
export function retryFunctionRuns(
  context: EngineContext,
  _caller: Principal,
  selected: SelectedRuns,
): Change<ChangedRuns, InvalidRequest | EnqueueRefused> {
  return filterOfFunction(context, selected)
    .andThen((filter) => retryRuns(context, filter).mapErr((error) => (isFull(error) ? queueFull(error) : error)))
    .map((count) => ({ count }));
}

function filterOfFunction(
  context: EngineContext,
  { namespace: given = '', name, ...selection }: SelectedRuns,
): Change<RunFilter, InvalidRequest> {
  const namespace = namespaceOf({ namespace: given });
  const filter = filterOf(name, selection);
  if (filter.isErr()) return errAsync(filter.error);
  return context.storage
    .read((view) => declaredIn(view, namespace, name))
    .andThen((declared) => (declared === undefined ? err(functionNotFound(namespace, name)) : ok(filter.value)));
}

const isFull = (error: FunctionsError | StorageError): error is FunctionsError => error instanceof FunctionsError;

function queueFull({ message }: FunctionsError): EnqueueRefused {
  return { type: 'enqueue_refused', reason: 'full', message };
}

/** Whether a run was changed. */
export interface ChangedRun {
  /** False when nothing was to be done: it had ended, or ended well. */
  readonly isChanged: boolean;
}

/** Cancels one run. Needs `submit-job`. */
export function cancelFunctionRun(
  context: EngineContext,
  caller: Principal,
  { reason = 'the run was cancelled', ...reference }: FunctionRunReference & { readonly reason?: string },
): Change<ChangedRun, FunctionRunNotFound | InvalidRequest> {
  if (reason.length > 1024)
    return errAsync({ type: 'invalid_request', field: 'reason', message: 'reason has at most 1024 characters' });
  return changeRun(context, caller, reference, (tx, run) => ok(cancelIn(tx, run, reason, new Map()) !== undefined));
}

/** Queues one run again, if it ended otherwise than well: with its ID, all attempts and its finished steps. Needs `submit-job`. */
export function retryFunctionRun(
  context: EngineContext,
  caller: Principal,
  reference: FunctionRunReference,
): Change<ChangedRun, FunctionRunNotFound | EnqueueRefused> {
  return changeRun(context, caller, reference, (tx, run) => {
    const retried = retryIn(tx, run, tx.now);
    return typeof retried === 'boolean' ? ok(retried) : err(queueFull(retried));
  });
}

function changeRun<E>(
  context: EngineContext,
  caller: Principal,
  reference: FunctionRunReference,
  change: (tx: Transaction, run: StoredRun) => Result<boolean, E>,
): Change<ChangedRun, FunctionRunNotFound | E> {
  const namespace = namespaceOf(reference);
  return commit(context, caller, (tx): Result<boolean, FunctionRunNotFound | E> => {
    const run = runIn(tx, namespace, reference.id);
    return run === undefined ? err(functionRunNotFound(reference.id)) : change(tx, run);
  }).map(({ value }) => ({ isChanged: value }));
}

/** A function, or the runs of one key of its limits and rates. */
interface PauseInput extends FunctionReference {
  readonly key?: string;
}

/** Lets no run of a function begin, or none with the key, in any process; those under way end. Needs `submit-job`. */
export const pauseFunction = changingPause(true);

/** Lets runs of a function, or of the key, begin again. Needs `submit-job`. */
export const resumeFunction = changingPause(false);

function changingPause(isPaused: boolean) {
  return (
    context: EngineContext,
    caller: Principal,
    { name, key, ...input }: PauseInput,
  ): Change<{ readonly index: number }, InvalidRequest> => {
    const namespace = namespaceOf(input);
    return commit(context, caller, (tx): Result<void, FunctionNotFound | InvalidRequest> => {
      const declared = declaredIn(tx, namespace, name);
      if (declared === undefined) return err(functionNotFound(namespace, name));
      const hasKeys = [...declared.limits, ...declared.rates].some(({ perKey }) => perKey);
      if (key !== undefined && (!hasKeys || key.length > 256))
        return err({
          type: 'invalid_request',
          field: 'key',
          message: hasKeys
            ? 'key has at most 256 characters'
            : `${name} has no limit or rate with a key: leave the key out`,
        });
      return ok(setPaused(tx, key === undefined ? { function: name } : { function: name, key }, isPaused));
    }).map(({ index }) => ({ index }));
  };
}
