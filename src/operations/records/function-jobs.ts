import { err, ok, type Result } from 'neverthrow';
import { declarations, type FunctionDeclaration } from '../../functions/declaration.js';
import type { JobOfFunction } from '../../functions/errors.js';
import {
  childrenOf,
  functionJob,
  isFunctionJob,
  type ReadRun,
  runJob,
  runJobId,
  runOfJobId,
} from '../../functions/job-projection.js';
import { type FunctionPause, functionCounts, pauses, runs, type StoredRun, values } from '../../functions/run.js';
import type { Registration } from '../../jobs/changes/decide-registration.js';
import { equalSpec } from '../../jobs/document/equal-spec.js';
import type { Job } from '../../jobs/document/job.js';
import type { JobSummary } from '../../jobs/status/job-summary.js';
import type { ReadView, Row } from '../../ports/storage.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { rowsUnder, type Watch } from '../waiting/parked-queries.js';
import type { Transaction } from '../write-transaction.js';
import { readJobRow, writeRegistration } from './jobs/job-rows.js';

/*
 * Which reads of jobs show functions and runs (see `src/functions/job-projection.ts` for how):
 *
 *   the function     is a stored job, written with its declaration and its pause: all reads of jobs show it. The numbers of its
 *                    instances, in its summary and in lists, are those of its counters
 *   a run by its ID  read, summary, versions (one), allocations, allocation, log. It has no evaluations, deployments or source
 *   lists of runs    for `prefix=NAME/…`, or a filter that demands `ParentID == NAME`: by number, after stored jobs. Other lists of jobs
 *                    have no runs
 *   allocations      under the job of their run, by ID, and in the list of all by a prefix of at least eight digits
 */

/** The job of a function, if the namespace has declared one of this name. */
export function readFunctionJob(view: ReadView, namespace: string, name: string): Job | undefined {
  if (view.get(declarations, [name])?.record.namespace !== namespace) return undefined;
  const job = readJobRow(view, namespace, name)?.record;
  return job !== undefined && isFunctionJob(job) ? job : undefined;
}

const actions = {
  registered:
    'its definition in the code of the service decides: change that. Registering its job unchanged resumes it',
  planned: 'its definition in the code of the service decides, and nothing is placed on nodes',
  reverted: 'its definition in the code of the service decides: deploy the earlier one',
  scaled: 'the options concurrency and rate of its definition decide, and concurrency of createFunctions',
  evaluated: 'it is not placed on nodes. What a run waits for: signalbox function status NAME/NUMBER',
  'marked as stable': 'its definition in the code of the service decides which version runs',
} as const;

/** The refusal of an action on the job of a function, or of a run; undefined for every other job. */
export function refusedForFunction(
  view: ReadView,
  { namespace, jobId }: { readonly namespace: string; readonly jobId: string },
  action: keyof typeof actions,
): JobOfFunction | undefined {
  const isFunction = readFunctionJob(view, namespace, jobId) !== undefined;
  if (!isFunction && readRunOfJob(view, namespace, jobId) === undefined) return undefined;
  const what = isFunction ? 'is a function' : 'is a run of a function';
  const message = `${JSON.stringify(jobId)} ${what}, so it cannot be ${action}: ${actions[action]}`;
  return { type: 'job_of_function', message };
}

/**
 * Registers the job of a function again. The same document starts a stopped function, and with `Stop` it stops it; nothing else can be
 * changed. The index of the specification afterwards.
 */
export function registerFunctionJob(tx: Transaction, current: Job, job: Job): Result<number, JobOfFunction> {
  const { Namespace: namespace, ID: jobId, Stop, VersionTag, NomadTokenID } = current;
  if (!equalSpec(current, { ...job, Stop, VersionTag, NomadTokenID })) {
    const refused = refusedForFunction(tx, { namespace, jobId }, 'registered');
    if (refused !== undefined) return err(refused);
  }
  setPaused(tx, { function: jobId }, job.Stop);
  return ok(readJobRow(tx, namespace, jobId)?.record.JobModifyIndex ?? 0);
}

/** Pauses a function or one of its keys, or ends that pause. */
export function setPaused(tx: Transaction, pause: FunctionPause, isPaused: boolean): void {
  const at = pauses.key(pause);
  if (isPaused === (tx.get(pauses, at) !== undefined)) return;
  if (isPaused) tx.put(pauses, pause);
  else tx.remove(pauses, at);
  const declared = pause.key === undefined ? tx.get(declarations, [pause.function])?.record : undefined;
  if (declared !== undefined) putFunctionJob(tx, declared);
}

/**
 * Stores the job of a function when its declaration or its pause has changed it: a new version, or nothing. False when the namespace has
 * another job of this name: nothing is stored then.
 */
export function putFunctionJob(tx: Transaction, declared: FunctionDeclaration): boolean {
  const { namespace, name } = declared;
  const current = readJobRow(tx, namespace, name)?.record;
  if (current !== undefined && !isFunctionJob(current)) return false;
  const isPaused = tx.get(pauses, [name]) !== undefined;
  const document: Job = { ...functionJob(declared, tx.settings.jobs.region), Stop: isPaused };
  const registration = registrationOf(tx, current, document);
  if (registration === undefined) return true;
  const { job } = registration;
  tx.emit('job.registered', { namespace, jobId: name, version: job.Version, index: tx.index });
  writeRegistration(tx, registration, { triggeredBy: 'job-register' }, undefined);
  return true;
}

function registrationOf(tx: Transaction, current: Job | undefined, document: Job): Registration | undefined {
  const stamps = { SubmitTime: unixNanosFromInstant(tx.now), ModifyIndex: tx.index, JobModifyIndex: tx.index };
  if (current === undefined)
    return { type: 'created', job: { ...document, ...stamps, CreateIndex: tx.index, Version: 0, Stable: false } };
  if (equalSpec(current, { ...document, VersionTag: current.VersionTag })) return undefined;
  const { CreateIndex, Version } = current;
  return { type: 'updated', job: { ...document, ...stamps, CreateIndex, Version: Version + 1 }, previous: current };
}

/** The run of which a job ID is, with the job of its function; undefined for every other ID. */
export function readRunOfJob(view: ReadView, namespace: string, jobId: string): RunOfJob | undefined {
  const named = runOfJobId(jobId);
  const run = named === undefined ? undefined : readRunOfFunction(view, namespace, named.number);
  return run !== undefined && runJobId(run.run) === jobId ? run : undefined;
}

/** A run by its number, if the namespace has its function. */
function readRunOfFunction(view: ReadView, namespace: string, number: number): RunOfJob | undefined {
  const row = view.get(runs, [number]);
  const parent = row === undefined ? undefined : readFunctionJob(view, namespace, row.record.function);
  return row === undefined || parent === undefined ? undefined : runOfRow(view, parent, row);
}

/** A run by its number, whichever namespace has its function. */
export function readRunAnywhere(view: ReadView, number: number): RunOfJob | undefined {
  const name = view.get(runs, [number])?.record.function;
  const namespace = name === undefined ? undefined : view.get(declarations, [name])?.record.namespace;
  return namespace === undefined ? undefined : readRunOfFunction(view, namespace, number);
}

/** A run with its job. */
export interface RunOfJob extends ReadRun {
  readonly job: Job;
}

export function runOfRow(view: ReadView, parent: Job, { record: run, modifyIndex }: Row<StoredRun>): RunOfJob {
  const isApart = run.apart?.includes('input') === true;
  const input = isApart ? view.get(values, [run.number, 'input'])?.record.value : run.input;
  return { run, input, modifyIndex, job: runJob(parent, { run, input, modifyIndex }) };
}

/** A record that no row has, in the form of one. */
export function computedRow<R>(record: R, modifyIndex: number): Row<R> {
  return { record, text: JSON.stringify(record), createIndex: modifyIndex, modifyIndex };
}

/** A job, or the one of a run. */
export function readShownJob(view: ReadView, namespace: string, jobId: string): Row<Job> | undefined {
  const row = readJobRow(view, namespace, jobId);
  if (row !== undefined) return row;
  const run = readRunOfJob(view, namespace, jobId);
  return run && computedRow(run.job, run.modifyIndex);
}

/** What changes the result of a read of a job that may be that of a run: the row of the run. */
export function watchesOfRun(jobId: string): readonly Watch[] {
  const named = runOfJobId(jobId);
  return named === undefined ? [] : [rowsUnder(runs, [named.number])];
}

/** The most runs under way that are read to count those of a function. */
const mostCounted = 10_000;
/** The most statuses of instances of one function. */
const mostStatuses = 1000;

/** The numbers of instances of functions, for one list. */
export class FunctionChildren {
  #running: { readonly view: ReadView; readonly counts: ReadonlyMap<string, number> } | undefined;
  #seen: { readonly view: ReadView; readonly hasFunctions: boolean } | undefined;

  /** The summary with the present numbers, if it is that of the job of a function. */
  summaryIn(view: ReadView, summary: Row<JobSummary> | undefined): Row<JobSummary> | undefined {
    if (summary === undefined) return undefined;
    const shown = this.counted(view, summary.record);
    const index = Math.max(summary.modifyIndex, shown.ModifyIndex);
    return shown === summary.record ? summary : computedRow(shown, index);
  }

  /** The same for the summary in a list. */
  counted(view: ReadView, summary: JobSummary): JobSummary {
    const { Namespace, JobID } = summary;
    if (!this.areThere(view)) return summary;
    if (view.get(declarations, [JobID])?.record.namespace !== Namespace) return summary;
    const counts = view.get(functionCounts, [JobID]);
    if (counts === undefined) return summary;
    const ModifyIndex = Math.max(summary.ModifyIndex, counts.modifyIndex);
    return { ...summary, Children: childrenOf(counts.record, this.#runningOf(view, JobID)), ModifyIndex };
  }

  /** The statuses of the instances of the job of a function, the live ones first, a thousand at most; undefined for another job. */
  statusesOf(view: ReadView, { Namespace, ID }: Job): readonly string[] | undefined {
    if (view.get(declarations, [ID])?.record.namespace !== Namespace) return undefined;
    const counts = view.get(functionCounts, [ID])?.record;
    if (counts === undefined) return [];
    const { Pending, Running, Dead } = childrenOf(counts, this.#runningOf(view, ID));
    const length = Math.min(mostStatuses, Pending + Running + Dead);
    return Array.from({ length }, (_, at) => (at < Running ? 'running' : at < Running + Pending ? 'pending' : 'dead'));
  }

  /** Whether the store has functions: most have none, and their lists need not look for each job. */
  areThere(view: ReadView): boolean {
    if (this.#seen?.view !== view) this.#seen = { view, hasFunctions: view.tableIndex(declarations) > 1 };
    return this.#seen.hasFunctions;
  }

  #runningOf(view: ReadView, name: string): number {
    if (this.#running?.view !== view) {
      const counts = new Map<string, number>();
      for (const { record } of view.list(runs, { index: 'live', limit: mostCounted }))
        counts.set(record.function, (counts.get(record.function) ?? 0) + 1);
      this.#running = { view, counts };
    }
    return this.#running.counts.get(name) ?? 0;
  }
}

/** The tables that the numbers of instances of functions are read from. */
export const childrenTables: readonly Watch[] = [functionCounts];
