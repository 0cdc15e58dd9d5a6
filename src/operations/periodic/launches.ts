import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { hostPrincipal, type Principal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import { type JobNotFound, jobNotFound } from '../../jobs/errors.js';
import { type JobReference, namespaceOf } from '../../jobs/job-record.js';
import { decideForcedLaunch, decideLaunch, type ForceRefused } from '../../jobs/periodic/decide-launch.js';
import {
  launchedChild,
  launchedId,
  type PeriodicLaunch,
  periodicLaunches,
} from '../../jobs/periodic/periodic-launch.js';
import { jobSummaries } from '../../jobs/status/job-summary.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import type { Evaluation } from '../../scheduler/evaluation.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { commit, commitValue } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { LaunchSpans } from '../context/traces.js';
import { type DispatchRunError, launchFunction } from '../functions/jobs-of-functions.js';
import { readFunctionJob } from '../records/function-jobs.js';
import { readJobRow, writeRegistration } from '../records/jobs/job-rows.js';
import { changeOrDueTime } from '../waiting/until-change.js';
import type { Transaction } from '../write-transaction.js';

/** The maximum number of launches in one write: many jobs are due at midnight, and reports of nodes must not wait for all of them. */
const batch = 16;

/**
 * Launches periodic jobs when they are due. Due jobs are read, decided and written in one transaction, the instance together with
 * the record of its launch: whatever the number of processes, and wherever one of them is killed, an instance is created once.
 */
export const periodicLaunchLoop: BackgroundLoop = {
  name: 'periodic-launches',
  run: async (context, signal) => {
    while (!signal.aborted) {
      const due = await launchDue(context);
      if (due === undefined) await context.clock.sleep(second, signal);
      else await changeOrDueTime(context, { tables: [periodicLaunches], index: due.index, dueAt: due.next }, signal);
    }
  },
};

/** Launches all due jobs; returns the time of the next launch. Undefined when the store failed. */
async function launchDue(
  context: EngineContext,
): Promise<{ readonly index: number; readonly next: Instant | undefined } | undefined> {
  const seen = await context.storage.read((view) => ({ index: view.index, next: nextDue(view) }));
  if (seen.isErr()) return failed(context, seen.error.message);
  const { next } = seen.value;
  if (next === undefined || next > context.clock.now()) return seen.value;
  const launches = new LaunchSpans(context.tracer);
  const written = await commit(context, hostPrincipal, (tx) => {
    for (const { record } of tx.list(periodicLaunches, { index: 'by_due_time', limit: batch })) {
      if (record.dueAt <= tx.now) settle(tx, record, launches);
    }
    return ok(nextDue(tx));
  });
  if (written.isOk()) launches.end();
  if (written.isErr()) return failed(context, written.error.message);
  // An in-memory store commits without yielding to the event loop.
  await context.turns.next();
  return { index: written.value.index, next: written.value.value };
}

function nextDue(view: ReadView): Instant | undefined {
  return view.list(periodicLaunches, { index: 'by_due_time', limit: 1 })[0]?.record.dueAt;
}

/** Decides about one due job and writes the result. */
function settle(tx: Transaction, record: PeriodicLaunch, launches: LaunchSpans): void {
  const job = readJobRow(tx, record.Namespace, record.ID)?.record;
  const decision = decideLaunch(job, record, hasRunningInstance(tx, record), tx.now);
  if (decision.kind === 'wait') return;
  if (decision.kind === 'launch' && job !== undefined) {
    tx.trace = launches.traceparentOf(record.Namespace, record.ID);
    launchWithin(tx, job, decision.at);
    tx.trace = undefined;
  }
  if (decision.kind === 'forget' || decision.next === undefined)
    tx.remove(periodicLaunches, [record.Namespace, record.ID]);
  else tx.put(periodicLaunches, decision.next);
}

function failed({ logger }: EngineContext, error: string): undefined {
  logger.error({ error }, 'Launching periodic jobs failed');
}

/** The instance of a launch with its evaluation. Two launches within a second are one instance, which is evaluated again. */
function launchWithin(tx: Transaction, parent: Job, at: number): Evaluation | undefined {
  const present = readJobRow(tx, parent.Namespace, launchedId(parent.ID, at))?.record;
  const child = present ?? launchedChild(parent, at, tx.index, tx.now);
  const registration = present === undefined ? ({ type: 'created', job: child } as const) : unchanged(present);
  const { evaluation } = writeRegistration(tx, registration, { triggeredBy: 'periodic-job' }, undefined);
  if (present === undefined) {
    const { Namespace: namespace, ID: parentId } = parent;
    tx.emit('job.launched', { namespace, parentId, jobId: child.ID, index: tx.index });
  }
  return evaluation;
}

function unchanged(job: Job) {
  return { type: 'unchanged', job } as const;
}

/** The counts by status are maintained by each write, so that ended instances need not be read. */
function hasRunningInstance(view: ReadView, { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): boolean {
  const children = view.get(jobSummaries, [Namespace, ID])?.record.Children;
  return (children?.Pending ?? 0) + (children?.Running ?? 0) > 0;
}

/** The instance that a launch on request created. */
export interface ForcedLaunch {
  /** The instance. */
  readonly jobId: string;
  /** Empty when no evaluation was created. */
  readonly evalId: string;
  /** Index at which the evaluation was created, if there is one. */
  readonly evalCreateIndex: number;
  /** Index of the write. */
  readonly index: number;
}

/**
 * Launches a periodic job now (job interface, force new periodic instance), whether or not another instance runs. Its next due time
 * is unchanged. A launch of a function enqueues a run with the input of its schedule.
 */
export function forceLaunch(
  context: EngineContext,
  caller: Principal,
  input: JobReference,
): ResultAsync<ForcedLaunch, DispatchRunError | ForceRefused> {
  const namespace = namespaceOf(input);
  return context.storage
    .read((view) => readFunctionJob(view, namespace, input.jobId))
    .andThen((ofFunction) =>
      ofFunction === undefined
        ? launchStored(context, caller, namespace, input.jobId)
        : launchFunction(context, caller, ofFunction).map(
            ({ dispatchedJobId: jobId, evalId, evalCreateIndex, index }) => {
              return { jobId, evalId, evalCreateIndex, index };
            },
          ),
    );
}

function launchStored(
  context: EngineContext,
  caller: Principal,
  namespace: string,
  jobId: string,
): ResultAsync<ForcedLaunch, JobNotFound | ForceRefused | StorageError> {
  return commitValue(context, caller, (tx): Result<ForcedLaunch, JobNotFound | ForceRefused> => {
    const job = readJobRow(tx, namespace, jobId)?.record;
    if (job === undefined) return err(jobNotFound(namespace, jobId));
    const at = decideForcedLaunch(job, tx.now);
    if (at.isErr()) return err(at.error);
    const evaluation = launchWithin(tx, job, at.value);
    const record = tx.get(periodicLaunches, [namespace, job.ID])?.record;
    if (record !== undefined) tx.put(periodicLaunches, { ...record, launchedAt: at.value });
    const { index } = tx;
    return ok({ jobId: launchedId(job.ID, at.value), evalId: evaluation?.ID ?? '', evalCreateIndex: index, index });
  });
}
