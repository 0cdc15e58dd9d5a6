import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allows, type PermissionDenied } from '../../access/allows.js';
import type { CallerNames, Principal } from '../../access/principal.js';
import type { JobOfFunction } from '../../functions/errors.js';
import { jobSubmissions } from '../../jobs/changes/submissions.js';
import type { Job } from '../../jobs/document/job.js';
import {
  type IndexConflict,
  type InvalidRequest,
  invalidRequest,
  type JobNotFound,
  jobNotFound,
  type PolicyRefused,
  type QuotaExceeded,
  type RegistrationsDisabled,
  type ScalingRefused,
  type TotalCountTooLarge,
} from '../../jobs/errors.js';
import { type JobReference, namespaceOf } from '../../jobs/job-record.js';
import { checkScaleRequest, decideScale, type ScaleRequest, type Scaling } from '../../jobs/scaling/decide-scale.js';
import { scalingEvents, trackedScalingEvents } from '../../jobs/scaling/scaling-records.js';
import { warningsText } from '../../jobs/validation/problems.js';
import type { StorageError } from '../../ports/storage.js';
import { deployments, isActiveDeployment } from '../../scheduler/deployment/deployment.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { refusedForFunction } from '../records/function-jobs.js';
import { readJobRow, type WrittenRegistration, writeRegistration } from '../records/jobs/job-rows.js';
import type { Transaction } from '../write-transaction.js';
import { acceptsRegistrations, checkPolicies, withinQuota } from './registration/check-registration.js';
import type { Registered } from './registration/register-job.js';

/** The group to scale, or the reason why it is not scaled. */
export interface ScaleJobInput extends JobReference, CallerNames {
  readonly group: string;
  /** Must be the job when given. */
  readonly targetJob?: string;
  /** Must be the job's namespace when given. */
  readonly targetNamespace?: string;
  /** The new count; absent only records an event. */
  readonly count?: number | null;
  /** Kept with the scaling event, for people. */
  readonly message?: string;
  /** Why scaling failed; true if `message` says it. */
  readonly error?: string | boolean;
  /** Kept with the scaling event, for programs. */
  readonly meta?: Readonly<Record<string, unknown>> | null;
  /** Turns refusals of soft-mandatory policies into warnings; needs `policy-override`. */
  readonly policyOverride?: boolean;
  /** Scales only if this is the job's `jobModifyIndex`. */
  readonly enforceIndex?: number;
}

/** Errors of `scaleJob`. */
type ScaleJobError =
  | PermissionDenied
  | InvalidRequest
  | JobNotFound
  | ScalingRefused
  | TotalCountTooLarge
  | IndexConflict
  | RegistrationsDisabled
  | PolicyRefused
  | QuotaExceeded
  | JobOfFunction
  | StorageError;

/**
 * Scales a group, or records why it is not scaled (job interface, scale). Version, evaluation and event are one write, in which
 * each takes a separate index.
 */
export function scaleJob(
  context: EngineContext,
  caller: Principal,
  input: ScaleJobInput,
): ResultAsync<Registered, ScaleJobError> {
  const namespace = namespaceOf(input);
  const { targetJob = '', targetNamespace = '' } = input;
  if (targetJob !== '' && targetJob !== input.jobId) {
    return errAsync(invalidRequest('Target', 'Job ID does not match'));
  }
  const mayOverride = input.policyOverride !== true || allows(caller, namespace, ['policy-override']);
  if (!mayOverride) return errAsync({ type: 'permission_denied' });
  if (targetNamespace !== '' && targetNamespace !== namespace) {
    return errAsync(invalidRequest('Target', 'Namespace in Target does not match the request'));
  }
  const upstream = input.names === 'upstream';
  const request = requestOf(input, upstream);
  const checked = checkScaleRequest(request, upstream);
  if (checked.isErr()) return errAsync(checked.error);
  return commitValue(context, caller, (tx): Result<Registered, ScaleJobError> => {
    const accepted = acceptsRegistrations(tx);
    if (accepted.isErr()) return err(accepted.error);
    const current = readJobRow(tx, namespace, input.jobId)?.record;
    const ofFunction = refusedForFunction(tx, { namespace, jobId: input.jobId }, 'scaled');
    if (ofFunction !== undefined) return err(ofFunction);
    if (current === undefined) return err(jobNotFound(namespace, input.jobId));
    const { maximumCount } = tx.settings.jobs;
    const circumstances = { maximumCount, activeDeployment: hasActiveDeployment(tx, current) };
    return decideScale(current, request, circumstances, tx).andThen((scaling) =>
      warningsOf(tx, current, scaling, input.policyOverride === true).map((warnings) => ({
        ...scaleWithin(tx, current, scaling, { ...request, meta: input.meta ?? null }),
        warnings,
      })),
    );
  });
}

/** Whether policies and quota allow the new count, with their warnings. */
function warningsOf(
  tx: Transaction,
  current: Job,
  { job }: Scaling,
  override: boolean,
): Result<string, PolicyRefused | QuotaExceeded> {
  if (job === undefined) return ok('');
  return withinQuota(tx, current, job).andThen(() => checkPolicies(tx, job, current, override).map(warningsText));
}

function hasActiveDeployment(tx: Transaction, { Namespace, ID, CreateIndex }: Job): boolean {
  const [latest] = tx.list(deployments, { index: 'by_job', prefix: [Namespace, ID], reverse: true, limit: 1 });
  return latest !== undefined && latest.record.JobCreateIndex === CreateIndex && isActiveDeployment(latest.record);
}

function requestOf(input: ScaleJobInput, upstream: boolean): ScaleRequest {
  return {
    group: input.group,
    count: input.count ?? null,
    message: input.message ?? '',
    error: input.error ?? false,
    // There, only an index above 0 is compared.
    enforceIndex: !upstream && input.enforceIndex !== undefined,
    jobModifyIndex: input.enforceIndex ?? 0,
  };
}

/** The version with the new count, with the source of the present one. */
function writeScaled(tx: Transaction, previous: Job, job: Job): WrittenRegistration {
  const { Namespace: namespace, ID: jobId, Version: version } = job;
  const source = tx.get(jobSubmissions, [namespace, jobId, previous.Version])?.record;
  tx.emit('job.registered', { namespace, jobId, version, index: tx.index });
  const evaluates = { triggeredBy: 'job-scaling', ownIndex: true } as const;
  return writeRegistration(tx, { type: 'updated', job, previous }, evaluates, source);
}

function scaleWithin(
  tx: Transaction,
  current: Job,
  scaling: Scaling,
  request: ScaleRequest & { readonly meta: Readonly<Record<string, unknown>> | null },
): Omit<Registered, 'warnings'> {
  const { Namespace: namespace, ID: jobId } = current;
  const written = scaling.job === undefined ? undefined : writeScaled(tx, current, scaling.job);
  const { ID: evalId = '', CreateIndex: evalCreateIndex = 0 } = written?.evaluation ?? {};
  const index = written === undefined ? tx.index : tx.nextIndex();
  tx.put(scalingEvents, {
    Namespace: namespace,
    JobID: jobId,
    Group: request.group,
    Time: unixNanosFromInstant(tx.now),
    Count: request.count,
    PreviousCount: scaling.previousCount,
    Message: scaling.message,
    Error: scaling.isError,
    Meta: request.meta,
    EvalID: evalId === '' ? null : evalId,
    CreateIndex: index,
  });
  pruneEvents(tx, current, request.group);
  return {
    evalId,
    evalCreateIndex,
    jobModifyIndex: written === undefined ? current.ModifyIndex : written.job.JobModifyIndex,
    index,
  };
}

function pruneEvents(tx: Transaction, job: Job, group: string): void {
  const prefix = [job.Namespace, job.ID, group];
  const kept = tx.list(scalingEvents, { prefix, reverse: true });
  for (const { record } of kept.slice(trackedScalingEvents)) tx.remove(scalingEvents, [...prefix, record.CreateIndex]);
}
