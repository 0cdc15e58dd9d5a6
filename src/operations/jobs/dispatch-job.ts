import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { EnqueueRefused } from '../../functions/errors.js';
import { isFunctionJob } from '../../functions/job-projection.js';
import { checkDispatch, type DispatchRequest, dispatchedChild } from '../../jobs/changes/decide-dispatch.js';
import type { Job } from '../../jobs/document/job.js';
import {
  type DispatchRateExceeded,
  type DispatchRefused,
  type InvalidRequest,
  invalidRequest,
  type JobNotFound,
  type QuotaExceeded,
  type RegistrationsDisabled,
} from '../../jobs/errors.js';
import { type JobReference, jobs, namespaceOf } from '../../jobs/job-record.js';
import type { StorageError } from '../../ports/storage.js';
import { commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { notDefinedHere } from '../functions/change-functions.js';
import { dispatchFunction } from '../functions/jobs-of-functions.js';
import { countDispatch } from '../reactions/quotas.js';
import { readFunctionJob } from '../records/function-jobs.js';
import { readJobRow, writeRegistration } from '../records/jobs/job-rows.js';
import type { Transaction } from '../write-transaction.js';
import { acceptsRegistrations, withinQuota } from './registration/check-registration.js';

/** The parameterized job to dispatch, with payload and metadata of the instance. */
export interface DispatchJobInput extends JobReference {
  /** The bytes, or their standard base64; they are limited (job interface, Limits). */
  readonly payload?: string | Uint8Array | null;
  /** Values for the job's required and optional keys; others are refused. */
  readonly meta?: Readonly<Record<string, string>> | null;
  /** Part of the instance's ID, between the parent's ID and the time. */
  readonly idPrefixTemplate?: string;
  /** A second dispatch with the same token returns the instance of the first. */
  readonly idempotencyToken?: string;
  /** The parent's when 0 or absent. */
  readonly priority?: number;
}

/** The instance of a dispatch, or of an earlier dispatch with the same token. */
export interface DispatchedJob {
  /** ID of the instance. */
  readonly dispatchedJobId: string;
  /** Empty without an evaluation: the token was used before, or the instance is periodic. */
  readonly evalId: string;
  /** Index at which the evaluation was created; 0 when there is none. */
  readonly evalCreateIndex: number;
  /** Index of the write that created the instance. */
  readonly jobCreateIndex: number;
  /** Index of the write. */
  readonly index: number;
}

/** Errors of `dispatchJob`. */
type DispatchJobError =
  | JobNotFound
  | DispatchRefused
  | QuotaExceeded
  | DispatchRateExceeded
  | InvalidRequest
  | RegistrationsDisabled
  | EnqueueRefused
  | StorageError;

/** Longest accepted strings, in characters: they become part of IDs and keys. */
const maximumTextLength = 1024;

/**
 * Creates an instance of a parameterized job (job interface, dispatch). The token is looked up and the instance is created
 * in one transaction: concurrent callers with one token all get the same instance. A dispatch of a function enqueues a run.
 */
export function dispatchJob(
  context: EngineContext,
  caller: Principal,
  input: DispatchJobInput,
): ResultAsync<DispatchedJob, DispatchJobError> {
  const namespace = namespaceOf(input);
  const request: DispatchRequest = {
    payload:
      typeof input.payload === 'object' && input.payload !== null
        ? Buffer.from(input.payload).toString('base64')
        : (input.payload ?? null),
    meta: input.meta ?? null,
    idPrefixTemplate: input.idPrefixTemplate ?? '',
    idempotencyToken: input.idempotencyToken ?? '',
    priority: input.priority ?? 0,
  };
  for (const field of ['idPrefixTemplate', 'idempotencyToken'] as const) {
    if (request[field].length > maximumTextLength) {
      return errAsync(invalidRequest(field, `${field} must not be longer than ${maximumTextLength} characters`));
    }
  }
  // A process without definitions enqueues no run: its write refuses the job of a function, and no read is needed before it.
  if (context.definitions.size === 0)
    return dispatchStored(context, caller, { namespace, jobId: input.jobId }, request);
  return context.storage
    .read((view) => readFunctionJob(view, namespace, input.jobId))
    .andThen(
      (ofFunction): ResultAsync<DispatchedJob, DispatchJobError> =>
        ofFunction === undefined
          ? dispatchStored(context, caller, { namespace, jobId: input.jobId }, request)
          : dispatchFunction(context, caller, ofFunction, request),
    );
}

function dispatchStored(
  context: EngineContext,
  caller: Principal,
  { namespace, jobId }: { readonly namespace: string; readonly jobId: string },
  request: DispatchRequest,
): ResultAsync<DispatchedJob, DispatchJobError> {
  return commitValue(context, caller, (tx): Result<DispatchedJob, DispatchJobError> => {
    const accepted = acceptsRegistrations(tx);
    if (accepted.isErr()) return err(accepted.error);
    const parent = readJobRow(tx, namespace, jobId)?.record;
    if (parent === undefined) {
      return err({ type: 'job_not_found', namespace, jobId, message: 'parameterized job not found' });
    }
    if (isFunctionJob(parent) && readFunctionJob(tx, namespace, jobId) !== undefined) return err(notDefinedHere(jobId));
    const checked = checkDispatch(parent, request, tx.settings.jobs);
    if (checked.isErr()) return err(checked.error);
    const known = instanceOfToken(tx, parent, request.idempotencyToken);
    return known === undefined ? dispatchWithin(tx, parent, request) : ok(knownInstance(known));
  });
}

function instanceOfToken(tx: Transaction, parent: Job, token: string): Job | undefined {
  if (token === '') return undefined;
  const prefix = [parent.Namespace, parent.ID, token];
  return tx.list(jobs, { index: 'by_dispatch_token', prefix, limit: 1 })[0]?.record;
}

function knownInstance(child: Job): DispatchedJob {
  return {
    dispatchedJobId: child.ID,
    evalId: '',
    evalCreateIndex: 0,
    jobCreateIndex: child.CreateIndex,
    index: child.ModifyIndex,
  };
}

function dispatchWithin(
  tx: Transaction,
  parent: Job,
  request: DispatchRequest,
): Result<DispatchedJob, QuotaExceeded | DispatchRateExceeded> {
  const child = newChild(tx, parent, request);
  const kept = withinQuota(tx, undefined, child).andThen(() => countDispatch(tx, child.Namespace));
  if (kept.isErr()) return err(kept.error);
  const { index } = tx;
  tx.emit('job.dispatched', { namespace: parent.Namespace, parentId: parent.ID, jobId: child.ID, index });
  const { evaluation } = writeRegistration(
    tx,
    { type: 'created', job: child },
    { triggeredBy: 'job-register' },
    undefined,
  );
  return ok({
    dispatchedJobId: child.ID,
    evalId: evaluation?.ID ?? '',
    evalCreateIndex: evaluation?.CreateIndex ?? 0,
    jobCreateIndex: index,
    index,
  });
}

/** The suffix is short: another one is drawn in the unlikely case that the ID is taken. */
function newChild(tx: Transaction, parent: Job, request: DispatchRequest): Job {
  for (;;) {
    const suffix = tx.ids.next('dispatch_suffix');
    const child = dispatchedChild(parent, request, tx, suffix);
    if (readJobRow(tx, child.Namespace, child.ID) === undefined) return child;
  }
}
