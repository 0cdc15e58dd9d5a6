import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { checkScaleRequest, decideScale, type ScaleRequest, type Scaling } from '../../jobs/decide-scale.js';
import type { Job } from '../../jobs/document/job.js';
import {
  type IndexConflict,
  type InvalidRequest,
  invalidRequest,
  type JobNotFound,
  jobNotFound,
  type ScalingRefused,
  type TotalCountTooLarge,
} from '../../jobs/errors.js';
import { jobSubmissions } from '../../jobs/job-submission.js';
import { scalingEvents, trackedScalingEvents } from '../../jobs/scaling-event.js';
import type { StorageError, WriteView } from '../../ports/storage.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { authorise, type PermissionDenied } from '../shared/authorise.js';
import type { ConsequenceEnvironment } from '../shared/consequence-environment.js';
import type { EngineContext } from '../shared/context.js';
import { emitFacts, type Fact } from '../shared/facts.js';
import { readJobRow } from '../shared/job-store.js';
import { environmentOf, type JobReference, namespaceOf } from './job-reference.js';
import type { Registered } from './register-job.js';
import { writeRegistration } from './write-registration.js';

export interface ScaleJobInput extends JobReference {
  /** `Group` names the group; `Job` and `Namespace` must agree with the request when they are given. */
  readonly target: Readonly<Record<string, string>>;
  /** The new count; absent only records an event. */
  readonly count?: number | null;
  readonly message?: string;
  /** Describes what prevents scaling; true says that `message` does. */
  readonly error?: string | boolean;
  readonly meta?: Readonly<Record<string, unknown>> | null;
  readonly policyOverride?: boolean;
  readonly enforceIndex?: boolean;
  /** Greater than 0: must be the job's, whether `enforceIndex` is set or not. */
  readonly jobModifyIndex?: number;
}

export type ScaleJobError =
  | PermissionDenied
  | InvalidRequest
  | JobNotFound
  | ScalingRefused
  | TotalCountTooLarge
  | IndexConflict
  | StorageError;

/**
 * Scales a group, or records why it is not scaled (job interface, scale). Version, evaluation and event are one write and
 * share its index.
 */
export function scaleJob(
  context: EngineContext,
  caller: Principal,
  input: ScaleJobInput,
): ResultAsync<Registered, ScaleJobError> {
  const namespace = namespaceOf(input);
  const { Job: targetJob = '', Namespace: targetNamespace = '', Group: group = '' } = input.target;
  if (targetJob !== '' && targetJob !== input.jobId) {
    return errAsync(invalidRequest('Target', 'Job ID does not match'));
  }
  const allowed = authorise(caller, namespace, ['scale-job', 'submit-job']).andThen(() =>
    input.policyOverride === true ? authorise(caller, namespace, ['policy-override']) : ok(undefined),
  );
  if (allowed.isErr()) return errAsync(allowed.error);
  if (targetNamespace !== '' && targetNamespace !== namespace) {
    return errAsync(invalidRequest('Target', 'Namespace in Target does not match the request'));
  }
  const request: ScaleRequest = {
    group,
    count: input.count ?? null,
    message: input.message ?? '',
    error: input.error ?? false,
    enforceIndex: input.enforceIndex ?? false,
    jobModifyIndex: input.jobModifyIndex ?? 0,
  };
  const checked = checkScaleRequest(request);
  if (checked.isErr()) return errAsync(checked.error);
  const environment = environmentOf(context, caller);
  return context.storage
    .write<{ answer: Registered; facts: readonly Fact[] }, ScaleJobError>((view) => {
      const current = readJobRow(view, namespace, input.jobId)?.record;
      if (current === undefined) return err(jobNotFound(namespace, input.jobId));
      return decideScale(current, request, context.settings.jobs, view.index, environment.now).map((scaling) =>
        scaleWithin(view, environment, current, scaling, request, input.meta ?? null),
      );
    })
    .map(({ value }) => {
      emitFacts(context, value.facts);
      return value.answer;
    });
}

function scaleWithin(
  view: WriteView,
  environment: ConsequenceEnvironment,
  current: Job,
  scaling: Scaling,
  request: ScaleRequest,
  meta: Readonly<Record<string, unknown>> | null,
): { answer: Registered; facts: readonly Fact[] } {
  const { index } = view;
  const source = view.get(jobSubmissions, [current.Namespace, current.ID, current.Version])?.record;
  const written =
    scaling.job === undefined
      ? undefined
      : writeRegistration(
          view,
          environment,
          { type: 'updated', job: scaling.job, previous: current },
          { triggeredBy: 'job-scaling' },
          source,
        );
  const evalId = written?.evaluation?.ID ?? '';
  view.put(scalingEvents, {
    Namespace: current.Namespace,
    JobID: current.ID,
    Group: request.group,
    Time: unixNanosFromInstant(environment.now),
    Count: request.count,
    PreviousCount: scaling.previousCount,
    Message: scaling.message,
    Error: scaling.isError,
    Meta: meta,
    EvalID: evalId === '' ? null : evalId,
    CreateIndex: index,
  });
  pruneEvents(view, current, request.group);
  const { Namespace: namespace, ID: jobId } = current;
  const registered: Fact[] =
    written === undefined
      ? []
      : [{ name: 'job.registered', fact: { namespace, jobId, version: written.job.Version, index } }];
  return {
    answer: {
      evalId,
      evalCreateIndex: written?.evaluation?.CreateIndex ?? 0,
      jobModifyIndex: written === undefined ? current.ModifyIndex : index,
      warnings: '',
      index,
    },
    facts: [...registered, ...(written?.facts ?? [])],
  };
}

function pruneEvents(view: WriteView, job: Job, group: string): void {
  const prefix = [job.Namespace, job.ID, group];
  const kept = view.list(scalingEvents, { prefix, reverse: true });
  for (const { record } of kept.slice(trackedScalingEvents))
    view.remove(scalingEvents, [...prefix, record.CreateIndex]);
}
