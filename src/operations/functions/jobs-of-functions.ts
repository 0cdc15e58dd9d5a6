import { err, errAsync, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import { allows, type PermissionDenied } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { type CommandOutput, type CommandRefused, commandRefused } from '../../agent/link/node-command.js';
import { schedules } from '../../functions/declaration.js';
import type { Json } from '../../functions/define-function.js';
import type { EnqueueRefused } from '../../functions/errors.js';
import { functionTask, runJobId } from '../../functions/job-projection.js';
import { hasEnded, type LogLine, logs, numberOf, runKeys, runs } from '../../functions/run.js';
import { quotaOf } from '../../jobs/admission/namespace-quota.js';
import type { DispatchRequest } from '../../jobs/changes/decide-dispatch.js';
import type { Job } from '../../jobs/document/job.js';
import {
  type DispatchRateExceeded,
  type DispatchRefused,
  type InvalidRequest,
  invalidRequest,
  type JobNotFound,
  jobNotFound,
} from '../../jobs/errors.js';
import type { ForceRefused } from '../../jobs/periodic/decide-launch.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import { isBase64 } from '../../shared/values.js';
import { commit, commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { countDispatch } from '../reactions/quotas.js';
import { type RunOfJob, readRunAnywhere, setPaused } from '../records/function-jobs.js';
import { whileAllowed } from '../records/while-allowed.js';
import { answerQuery, type Waiting } from '../waiting/blocking-query.js';
import { rowsUnder } from '../waiting/parked-queries.js';
import { enqueueFunction } from './change-functions.js';
import { cancelRuns, discardRuns } from './change-runs.js';
import { storageFailure } from './functions-api.js';
import { cancelIn } from './run-ends.js';
import { countEnded, removeRun } from './stored-runs.js';

/*
 * What operations on jobs do for the jobs of functions and of runs. Their callers have checked the rights.
 */

/** A run that was enqueued through the job of its function. */
interface DispatchedRun {
  readonly dispatchedJobId: string;
  /** Runs have no evaluations. */
  readonly evalId: '';
  readonly evalCreateIndex: 0;
  readonly jobCreateIndex: number;
  readonly index: number;
}

/** Why a dispatch did not enqueue a run. */
export type DispatchRunError = JobNotFound | DispatchRefused | EnqueueRefused | InvalidRequest | StorageError;

/**
 * A dispatch of the job of a function enqueues a run: the payload is the JSON of its input, the token its idempotency key. It counts as a
 * dispatch in its namespace.
 */
export function dispatchFunction(
  context: EngineContext,
  caller: Principal,
  job: Job,
  request: DispatchRequest,
): ResultAsync<DispatchedRun, DispatchRunError | DispatchRateExceeded> {
  const { payload, meta, idPrefixTemplate, idempotencyToken, priority } = request;
  if (job.Stop) return errAsync(stoppedFunction(job));
  if (idPrefixTemplate !== '')
    return errAsync(invalidRequest('IdPrefixTemplate', 'runs of a function are named by their numbers: leave it out'));
  const run = {
    ...(meta === null ? {} : { meta }),
    ...(priority === 0 ? {} : { priority }),
    ...(idempotencyToken === '' ? {} : { idempotencyKey: idempotencyToken }),
  };
  return inputOfPayload(payload ?? '').asyncAndThen((input) =>
    withinRate(context, caller, job, idempotencyToken).andThen(() =>
      enqueued(context, caller, job, input === undefined ? run : { ...run, input }),
    ),
  );
}

/** Counts a dispatch towards the rate of its namespace, if it has one; not one whose token leads to a run. */
function withinRate(
  context: EngineContext,
  caller: Principal,
  { Namespace: namespace, ID: name }: Job,
  token: string,
): ResultAsync<void, DispatchRateExceeded | StorageError> {
  if (quotaOf(context.settings.jobs.quotas, namespace)?.dispatchesPerMinute === undefined) return okAsync(undefined);
  return commitValue(context, caller, (tx) => {
    const until = tx.get(runKeys, ['idempotency', name, token])?.record.until;
    return typeof until === 'number' && until > tx.now ? ok(undefined) : countDispatch(tx, namespace);
  });
}

function stoppedFunction({ ID }: Job): DispatchRefused {
  const message =
    `Specified job "${ID}" is stopped: the function is paused. Start it again (signalbox job start ${ID}), or enqueue a run that waits ` +
    `until then (signalbox function enqueue ${ID})`;
  return { type: 'dispatch_refused', reason: 'stopped', message };
}

function enqueued(
  context: EngineContext,
  caller: Principal,
  { Namespace: namespace, ID: name }: Job,
  options: Omit<Parameters<typeof enqueueFunction>[2], 'namespace' | 'name'>,
): ResultAsync<DispatchedRun, DispatchRunError> {
  return enqueueFunction(context, caller, { namespace, name, ...options })
    .map(({ id }): DispatchedRun => {
      const number = numberOf(id) ?? 0;
      const dispatchedJobId = runJobId({ function: name, number });
      return { dispatchedJobId, evalId: '', evalCreateIndex: 0, jobCreateIndex: number, index: number };
    })
    .mapErr((error) => (error.type === 'function_not_found' ? jobNotFound(namespace, name) : error));
}

/** Undefined for an empty payload: no input. */
function inputOfPayload(payload: string): Result<Json | undefined, InvalidRequest> {
  if (payload === '') return ok(undefined);
  const fault = invalidRequest('Payload', 'the payload of a function is the JSON of its input, in standard base64');
  if (!isBase64(payload)) return err(fault);
  try {
    const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
    return ok(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Json);
  } catch {
    return err(fault);
  }
}

/** Runs the only schedule of a function now, with its input. */
export function launchFunction(
  context: EngineContext,
  caller: Principal,
  job: Job,
): ResultAsync<DispatchedRun, DispatchRunError | ForceRefused> {
  const { ID: name } = job;
  return context.storage
    .read((view) => view.list(schedules, { prefix: [name] }).map(({ record }) => record))
    .andThen((known): ResultAsync<DispatchedRun, DispatchRunError | ForceRefused> => {
      const declared = known.filter(({ version }) => version !== null);
      const [schedule] = declared;
      if (job.Stop) return errAsync(stoppedFunction(job));
      if (schedule === undefined || declared.length > 1) return errAsync(noSchedule(name, declared.length));
      const { input } = schedule;
      return enqueued(context, caller, job, input === undefined ? {} : { input });
    });
}

function noSchedule(name: string, count: number): ForceRefused {
  const message =
    `the function ${JSON.stringify(name)} has ${count === 0 ? 'no schedule' : `${count} schedules`} in its definition, so there is ` +
    'none to launch: dispatch the job with an input';
  return { type: 'force_refused', reason: 'not_periodic', message };
}

/** The answer of a stop. */
interface StoppedRuns {
  readonly evalId: '';
  readonly evalCreateIndex: number;
  readonly jobModifyIndex: number;
  readonly index: number;
}

const stoppedAt = (index: number): StoppedRuns => ({ evalId: '', evalCreateIndex: 0, jobModifyIndex: index, index });

/**
 * Stops the job of a function: the function is paused. With `purge` its runs are cancelled and discarded, in bounded writes, and then the
 * function itself, unless a process has it: that one would declare it again.
 */
export function stopFunction(
  context: EngineContext,
  caller: Principal,
  job: Job,
  purge: boolean,
): ResultAsync<StoppedRuns, StorageError> {
  const { Namespace: namespace, ID: jobId } = job;
  const stopped = commit<void, never>(context, caller, (tx) => {
    tx.emit('job.stopped', { namespace, jobId, purged: purge, index: tx.index });
    return ok(setPaused(tx, { function: jobId }, true));
  }).map(({ index }) => stoppedAt(index));
  if (!purge) return stopped;
  const filter = { function: jobId };
  return stopped
    .andThen(() => cancelRuns(context, filter, 'cancelled by a filter'))
    .andThen(() => new ResultAsync(untilNoneRuns(context, jobId)))
    .andThen(() => discardRuns(context, filter))
    .andThen(() => context.storage.read((view) => stoppedAt(view.index)));
}

/** How long a purge waits for handlers under way to end, by the monotonic clock: longer than a cancellation lets them. */
const longestWait = 10 * second;

async function untilNoneRuns({ storage, clock }: EngineContext, name: string): Promise<Result<void, StorageError>> {
  const over = new AbortController();
  const timeout = clock.sleep(longestWait, over.signal);
  const until = clock.monotonic() + longestWait;
  try {
    while (clock.monotonic() < until) {
      const read = await storage.read((view) => ({ index: view.tableIndex(runs), runs: isUnderWay(view, name) }));
      if (read.isErr()) return err(read.error);
      if (!read.value.runs) break;
      await Promise.race([storage.waitForChange([runs], read.value.index, over.signal), timeout]);
    }
    return ok(undefined);
  } finally {
    over.abort('over');
  }
}

const isUnderWay = (view: ReadView, name: string): boolean =>
  view.list(runs, { index: 'live' }).some(({ record }) => record.function === name);

/** Cancels a run; with `purge` it is removed if it has ended then. A run under way ends when its handler does. */
export function stopRun(
  context: EngineContext,
  caller: Principal,
  { run: { number } }: RunOfJob,
  purge = false,
): ResultAsync<StoppedRuns, StorageError> {
  return commit<number, never>(context, caller, (tx) => {
    const run = tx.get(runs, [number])?.record;
    if (run === undefined) return ok(tx.tableIndex(runs));
    const over = cancelIn(tx, run, 'stopped through the job interface', new Map()) ?? run;
    if (purge && hasEnded(over)) {
      countEnded(tx, over, -1);
      removeRun(tx, over);
    }
    return ok(tx.get(runs, [number])?.modifyIndex ?? tx.index);
  }).map(({ value }) => stoppedAt(value));
}

/** What is read of the log of a run. */
interface LogQuery {
  readonly task: string;
  readonly stream: 'stdout' | 'stderr';
  /** Bytes from the origin. */
  readonly offset: number;
  readonly origin: 'start' | 'end';
  readonly follow: boolean;
  readonly signal?: AbortSignal;
}

/** The log of a run as that of its task: what it has logged with `info` as stdout, with `error` as stderr. Needs `read-logs`. */
export function streamRunLog(
  context: EngineContext,
  caller: Principal,
  number: number,
  query: LogQuery,
): ResultAsync<AsyncIterable<CommandOutput>, CommandRefused | PermissionDenied | StorageError> {
  return context.storage
    .read((view) => readRunAnywhere(view, number))
    .andThen((found): ResultAsync<AsyncIterable<CommandOutput>, CommandRefused | PermissionDenied | StorageError> => {
      if (found === undefined) return errAsync(commandRefused('not_found', 'Unknown allocation: the run is not kept'));
      const namespace = found.job.Namespace;
      if (!allows(caller, namespace, ['read-logs'])) return errAsync({ type: 'permission_denied' });
      if (query.task !== functionTask) {
        const message = `unknown task name "${query.task}": the task of a run is "${functionTask}"`;
        return errAsync(commandRefused('invalid', message));
      }
      const pieces = (signal: AbortSignal | undefined) => piecesOf(context, number, { ...query, signal });
      if (!query.follow) return okAsync(pieces(query.signal));
      const isAllowed = (now: Principal) => allows(now, namespace, ['read-logs']);
      const onLoss: CommandOutput = { type: 'failed', message: 'Permission denied' };
      return whileAllowed(context, { caller, isAllowed, onLoss, signal: query.signal }, (signal) =>
        okAsync(pieces(signal)),
      );
    });
}

/** The lines of a run at an index, and whether there may be more. */
interface LogAt {
  readonly chunks: readonly { readonly chunk: number; readonly lines: readonly LogLine[] }[];
  readonly isOver: boolean;
}

async function* piecesOf(
  context: EngineContext,
  number: number,
  {
    stream,
    offset,
    origin,
    follow,
    signal,
  }: Omit<LogQuery, 'task' | 'signal'> & { readonly signal: AbortSignal | undefined },
): AsyncGenerator<CommandOutput> {
  const file = `${functionTask}.${stream}.0`;
  const level = stream === 'stdout' ? 'info' : 'error';
  const query = {
    key: () => JSON.stringify(['run-log', number]),
    tables: [rowsUnder(runs, [number]), rowsUnder(logs, [number])],
    run: (view: ReadView): { readonly index: number; readonly value: LogAt } => {
      const run = view.get(runs, [number]);
      const rows = view.list(logs, { prefix: [number] });
      const index = Math.max(run?.modifyIndex ?? view.tableIndex(runs), ...rows.map(({ modifyIndex }) => modifyIndex));
      const isOver = run === undefined || hasEnded(run.record);
      return { index, value: { chunks: rows.map(({ record }) => record), isOver } };
    },
  };
  let waiting: Waiting = {};
  let [at, last] = [0, -1];
  for (let isFirst = true; signal?.aborted !== true; isFirst = false) {
    const read = await answerQuery(context, query, waiting);
    if (read.isErr()) throw storageFailure(read.error);
    const { chunks, isOver } = read.value.value;
    const added = chunks.filter(({ chunk }) => chunk > last).flatMap(({ lines }) => lines);
    const text = new TextEncoder().encode(
      added.flatMap((line) => (line.level === level ? [`${line.text}\n`] : [])).join(''),
    );
    last = chunks.at(-1)?.chunk ?? last;
    at += text.length;
    const from = origin === 'start' ? offset : Math.max(0, text.length - offset);
    const bytes = isFirst ? text.subarray(from) : text;
    if (bytes.length > 0) yield { type: 'piece', file, offset: at, bytes };
    if (!follow || isOver) return;
    waiting = {
      after: read.value.index,
      isPatient: true,
      whenCancelled: (cancel) => signal?.addEventListener('abort', cancel, { once: true }),
    };
  }
}
