import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { checkDispatch, type DispatchRequest, dispatchedChild } from '../../jobs/decide-dispatch.js';
import type { Job } from '../../jobs/document/job.js';
import { type DispatchRefused, type InvalidRequest, invalidRequest, type JobNotFound } from '../../jobs/errors.js';
import { jobs } from '../../jobs/job-record.js';
import type { StorageError, WriteView } from '../../ports/storage.js';
import { authorise, type PermissionDenied } from '../shared/authorise.js';
import type { ConsequenceEnvironment } from '../shared/consequence-environment.js';
import type { EngineContext } from '../shared/context.js';
import { emitFacts, type Fact } from '../shared/facts.js';
import { readJobRow } from '../shared/job-store.js';
import { environmentOf, type JobReference, namespaceOf } from './job-reference.js';
import { writeRegistration } from './write-registration.js';

export interface DispatchJobInput extends JobReference {
  /** Standard base64; its decoded bytes are limited (job interface, Limits). */
  readonly payload?: string | null;
  readonly meta?: Readonly<Record<string, string>> | null;
  readonly idPrefixTemplate?: string;
  /** A second dispatch with the same token gives the instance that the first one made. */
  readonly idempotencyToken?: string;
  /** 0 and absent take the parent's. */
  readonly priority?: number;
}

export interface DispatchedJob {
  readonly dispatchedJobId: string;
  /** Empty when no evaluation was made: the token was known, or the instance is periodic. */
  readonly evalId: string;
  readonly evalCreateIndex: number;
  readonly jobCreateIndex: number;
  readonly index: number;
}

export type DispatchJobError = PermissionDenied | JobNotFound | DispatchRefused | InvalidRequest | StorageError;

/** Longest texts that are taken: they become part of IDs and keys. */
const maximumTextLength = 1024;

/**
 * Makes an instance of a parameterized job (job interface, dispatch). The look for a known token and the new instance are
 * one transaction: however many callers race with one token, all of them get the one instance that is made.
 */
export function dispatchJob(
  context: EngineContext,
  caller: Principal,
  input: DispatchJobInput,
): ResultAsync<DispatchedJob, DispatchJobError> {
  const namespace = namespaceOf(input);
  const allowed = authorise(caller, namespace, ['dispatch-job']);
  if (allowed.isErr()) return errAsync(allowed.error);
  const request: DispatchRequest = {
    payload: input.payload ?? null,
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
  const environment = environmentOf(context, caller);
  return context.storage
    .write<{ answer: DispatchedJob; facts: readonly Fact[] }, DispatchJobError>((view) => {
      const parent = readJobRow(view, namespace, input.jobId)?.record;
      if (parent === undefined) {
        return err({
          type: 'job_not_found',
          namespace,
          jobId: input.jobId,
          message: 'parameterized job not found',
        });
      }
      const checked = checkDispatch(parent, request, context.settings.jobs);
      if (checked.isErr()) return err(checked.error);
      const known = instanceOfToken(view, parent, request.idempotencyToken);
      if (known !== undefined) return ok({ answer: knownInstance(known), facts: [] });
      return ok(dispatchWithin(view, environment, parent, request));
    })
    .map(({ value }) => {
      emitFacts(context, value.facts);
      return value.answer;
    });
}

function instanceOfToken(view: WriteView, parent: Job, token: string): Job | undefined {
  if (token === '') return undefined;
  const prefix = [parent.Namespace, parent.ID, token];
  return view.list(jobs, { index: 'by_dispatch_token', prefix, limit: 1 })[0]?.record;
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
  view: WriteView,
  environment: ConsequenceEnvironment,
  parent: Job,
  request: DispatchRequest,
): { answer: DispatchedJob; facts: readonly Fact[] } {
  const child = newChild(view, environment, parent, request);
  const { evaluation, facts } = writeRegistration(
    view,
    environment,
    { type: 'created', job: child },
    { triggeredBy: 'job-register' },
    undefined,
  );
  const { index } = view;
  const answer = {
    dispatchedJobId: child.ID,
    evalId: evaluation?.ID ?? '',
    evalCreateIndex: evaluation?.CreateIndex ?? 0,
    jobCreateIndex: index,
    index,
  };
  const fact: Fact = {
    name: 'job.dispatched',
    fact: { namespace: parent.Namespace, parentId: parent.ID, jobId: child.ID, index },
  };
  return { answer, facts: [fact, ...facts] };
}

/** The suffix is short: another one is drawn in the unlikely case that the ID is taken. */
function newChild(view: WriteView, environment: ConsequenceEnvironment, parent: Job, request: DispatchRequest): Job {
  for (;;) {
    const suffix = environment.ids.next('dispatch_suffix');
    const child = dispatchedChild(parent, request, view.index, environment.now, suffix);
    if (readJobRow(view, child.Namespace, child.ID) === undefined) return child;
  }
}
