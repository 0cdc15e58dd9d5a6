import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { authorise, type PermissionDenied } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import type { JobOfFunction } from '../../../functions/errors.js';
import { admitJob } from '../../../jobs/admission/admit-job.js';
import { canonicaliseJob } from '../../../jobs/canonical/canonicalise-job.js';
import { decideRegistration, indexConflict, type Registration } from '../../../jobs/changes/decide-registration.js';
import {
  droppedSourceWarning,
  jobSubmissions,
  type SubmissionInput,
  submissionLength,
} from '../../../jobs/changes/submissions.js';
import { type DecodeError, decodeJob } from '../../../jobs/document/decode-job.js';
import type { Job } from '../../../jobs/document/job.js';
import type { JobInput } from '../../../jobs/document/job-input.js';
import type { SubmittedJob } from '../../../jobs/document/submitted-job.js';
import {
  type AdmissionRefused,
  type InvalidJob,
  type InvalidRequest,
  invalidRequest,
  type PolicyRefused,
  type QuotaExceeded,
  type RegistrationRefusal,
  type RegistrationsDisabled,
  type UnknownRegion,
} from '../../../jobs/errors.js';
import { namespaceOf } from '../../../jobs/job-record.js';
import { documentWarnings } from '../../../jobs/validation/job-warnings.js';
import { warningsText } from '../../../jobs/validation/problems.js';
import type { StorageError } from '../../../ports/storage.js';
import { commitValue } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { readFunctionJob, refusedForFunction, registerFunctionJob } from '../../records/function-jobs.js';
import { readJobRow, type WrittenRegistration, writeRegistration } from '../../records/jobs/job-rows.js';
import type { Transaction } from '../../write-transaction.js';
import {
  acceptsRegistrations,
  authoriseVolumes,
  checkDemands,
  checkQuota,
  faultsOrRefusal,
  functionWarnings,
  keptWarnings,
} from './check-registration.js';
import { checkSeal, type PlanOutdated } from './plan-seal.js';

/** A submitted job document. */
export interface JobDocumentInput {
  /**
   * Checked at run time. Durations may be strings such as `30s`; unknown fields give
   * warnings.
   */
  readonly job: JobInput;
  /** The document came over the wire: durations are numbers, and unknown fields are ignored, as clients expect. */
  readonly fromWire?: boolean;
}

/** A job to register, with conditions. */
export interface RegisterJobInput extends JobDocumentInput {
  /** The ID that the document must have, if the request names the job. */
  readonly jobId?: string;
  /** Wins over the document's own. */
  readonly namespace?: string;
  /** Wins over the document's own. */
  readonly region?: string;
  /** The source of the document, stored with the version; nothing is stored when null or absent. */
  readonly submission?: Partial<SubmissionInput> | null;
  /** Registers only if this is the job's current `jobModifyIndex`; 0 requires a new job. */
  readonly enforceIndex?: number;
  /** Existing groups keep their counts, whatever the document contains. */
  readonly preserveCounts?: boolean;
  /** Existing tasks keep their resources, whatever the document contains. */
  readonly preserveResources?: boolean;
  /** Turns refusals of soft-mandatory policies into warnings; needs `policy-override`. */
  readonly policyOverride?: boolean;
  /** Priority of the evaluation; the job's when 0 or absent. */
  readonly evalPriority?: number;
  /** The seal of a plan: registers only what was planned, and only if what the plan relied on is unchanged. */
  readonly seal?: string;
}

/** The result of every operation that registers: register, update, revert, scale, evaluate. */
export interface Registered {
  /** Empty when no evaluation was made. */
  readonly evalId: string;
  /** Index at which the evaluation was created; 0 when there is none. */
  readonly evalCreateIndex: number;
  /** The `jobModifyIndex` for the next registration with `enforceIndex`. */
  readonly jobModifyIndex: number;
  /** Warnings about the document, as one string; empty when there are none. */
  readonly warnings: string;
  /** Index of the write. */
  readonly index: number;
}

/** Errors of `registerJob`. `invalid_job` lists all problems. */
export type RegisterJobError =
  | PermissionDenied
  | DecodeError
  | AdmissionRefused
  | PolicyRefused
  | QuotaExceeded
  | InvalidJob
  | InvalidRequest
  | UnknownRegion
  | RegistrationRefusal
  | RegistrationsDisabled
  | PlanOutdated
  | JobOfFunction
  | StorageError;

/**
 * Registers a new job, or a new version of an existing one (job interface, create and update). The job, its evaluation
 * and its source become durable together. Registering the same specification again makes an evaluation and no version.
 */
export function registerJob(
  context: EngineContext,
  caller: Principal,
  input: RegisterJobInput,
): ResultAsync<Registered, RegisterJobError> {
  const read = readAdmitted(context, caller, input, faultOfRegistration);
  if (read.isErr()) return errAsync(read.error);
  const { submitted, job } = read.value;
  const registration: JobRegistration = {
    job,
    version: submitted.Version,
    enforcedIndex: input.enforceIndex,
    preserveCounts: input.preserveCounts,
    preserveResources: input.preserveResources,
    policyOverride: input.policyOverride,
    evalPriority: input.evalPriority,
    triggeredBy: 'job-register',
    submission: input.submission ? { ...noSource, ...input.submission } : undefined,
    inheritsFrom: submitted.Version ?? undefined,
    warnings: [
      ...(input.fromWire === true ? [] : documentWarnings(input.job, submitted)),
      ...functionWarnings(context, job),
    ],
  };
  const allowed = authoriseRegistration(caller, registration);
  if (allowed.isErr()) return faultsOrRefusal(context, job, allowed.error);
  const { seal } = input;
  const register = (tx: Transaction): Result<Registered, RegisterJobError> =>
    (seal === undefined ? ok(undefined) : checkSeal(tx, registration, seal)).andThen(() =>
      registerWithin(tx, registration),
    );
  return commitValue(context, caller, register);
}

const noSource: SubmissionInput = { Source: '', Format: '', VariableFlags: null, Variables: '' };

/** A checked document, and the options of its registration. */
export interface JobRegistration {
  readonly job: Job;
  readonly version: number | null;
  readonly enforcedIndex?: number | undefined;
  readonly preserveCounts?: boolean | undefined;
  readonly preserveResources?: boolean | undefined;
  readonly policyOverride?: boolean | undefined;
  readonly evalPriority?: number | undefined;
  readonly triggeredBy: 'job-register' | 'job-scaling';
  readonly submission?: SubmissionInput | undefined;
  /** The version whose source the new version gets if none is submitted. */
  readonly inheritsFrom?: number | undefined;
  /** Warnings about the submitted form of the document, in addition to those of the validation. */
  readonly warnings?: readonly string[];
}

function authoriseRegistration(
  caller: Principal,
  { job, policyOverride }: Pick<JobRegistration, 'job' | 'policyOverride'>,
): Result<void, PermissionDenied> {
  return authorise(caller, job.Namespace, ['submit-job', 'register-job'])
    .andThen(() => authoriseVolumes(caller, job))
    .andThen(() =>
      policyOverride === true && job.TaskGroups.length > 0
        ? authorise(caller, job.Namespace, ['policy-override'])
        : ok(undefined),
    );
}

/** Why `registerWithin` refuses. */
export type RefusedRegistration =
  | InvalidJob
  | PolicyRefused
  | QuotaExceeded
  | RegistrationRefusal
  | RegistrationsDisabled
  | JobOfFunction;

/** The registration itself, in the caller's transaction: checks, decision, rows. */
export function registerWithin(
  tx: Transaction,
  registration: JobRegistration,
): Result<Registered, RefusedRegistration> {
  const { job, triggeredBy, evalPriority } = registration;
  const current = readJobRow(tx, job.Namespace, job.ID)?.record;
  const accepted = acceptsRegistrations(tx);
  if (accepted.isErr()) return err(accepted.error);
  const ofFunction = readFunctionJob(tx, job.Namespace, job.ID);
  if (ofFunction !== undefined) return registerUnchanged(tx, ofFunction, registration);
  const ofRun = refusedForFunction(tx, { namespace: job.Namespace, jobId: job.ID }, 'registered');
  if (ofRun !== undefined) return err(ofRun);
  const checked = checkDemands(tx, registration, current);
  if (checked.isErr()) return err(checked.error);
  const { version, enforcedIndex, preserveCounts, preserveResources } = registration;
  const policyId = () => tx.ids.next('uuid');
  const request = { job, version, enforcedIndex, preserveCounts, preserveResources, policyId };
  const decision = decideRegistration(current, request, tx.index, tx.now);
  return decision
    .andThen((registered) => checkQuota(tx, registered))
    .map((decided) => {
      if (decided.type !== 'unchanged') tellRegistered(tx, decided.job);
      const { source, warnings } = sourceOf(tx, registration);
      const priority = evalPriority === undefined || evalPriority === 0 ? {} : { priority: evalPriority };
      const written = writeRegistration(tx, decided, { triggeredBy, ...priority }, source);
      const own = [...keptWarnings(decided), ...(registration.warnings ?? []), ...warnings];
      const texts = warningsText([...checked.value, ...own]);
      return answerOf(decided, written, texts, tx.index);
    });
}

/** The job of a function: only whether it is stopped may differ. */
function registerUnchanged(
  tx: Transaction,
  current: Job,
  { job, enforcedIndex }: JobRegistration,
): Result<Registered, RefusedRegistration> {
  const conflict = enforcedIndex === undefined ? undefined : indexConflict(current, enforcedIndex);
  if (conflict !== undefined) return err(conflict);
  return registerFunctionJob(tx, current, job).map((jobModifyIndex) => {
    return { evalId: '', evalCreateIndex: 0, jobModifyIndex, warnings: '', index: tx.index };
  });
}

/** For an unchanged job the answer's JobModifyIndex is the stored ModifyIndex (job interface, register). */
function answerOf(decided: Registration, written: WrittenRegistration, warnings: string, index: number): Registered {
  const { evaluation } = written;
  const unchanged = decided.type === 'unchanged';
  return {
    evalId: evaluation?.ID ?? '',
    evalCreateIndex: evaluation?.CreateIndex ?? 0,
    jobModifyIndex: unchanged ? decided.job.ModifyIndex : written.job.JobModifyIndex,
    warnings,
    index: unchanged && evaluation === undefined ? decided.job.ModifyIndex : index,
  };
}

function tellRegistered(tx: Transaction, { Namespace: namespace, ID: jobId, Version: version }: Job): void {
  tx.emit('job.registered', { namespace, jobId, version, index: tx.index });
}

function sourceOf(
  tx: Transaction,
  { job, submission, inheritsFrom }: JobRegistration,
): { readonly source: SubmissionInput | undefined; readonly warnings: readonly string[] } {
  if (submission !== undefined) {
    const length = submissionLength(submission);
    const maximum = tx.settings.jobs.maximumSourceLength;
    if (length <= maximum) return { source: submission, warnings: [] };
    return { source: undefined, warnings: [droppedSourceWarning(length, maximum)] };
  }
  if (inheritsFrom === undefined) return { source: undefined, warnings: [] };
  return { source: tx.get(jobSubmissions, [job.Namespace, job.ID, inheritsFrom])?.record, warnings: [] };
}

/** The document in its submitted and its stored form. `faultOf` checks the request before the document is admitted. */
export function readAdmitted(
  context: EngineContext,
  caller: Principal,
  input: RegisterJobInput,
  faultOf: FaultOf = faultOfRequest,
): Result<
  { readonly submitted: SubmittedJob; readonly job: Job },
  DecodeError | InvalidRequest | UnknownRegion | AdmissionRefused
> {
  return readSubmitted(context, input, faultOf).andThen((submitted) =>
    admitJob(canonicaliseJob(submitted), { region: context.settings.jobs.region }).map((admitted) => ({
      submitted,
      job: { ...admitted, NomadTokenID: caller.accessor },
    })),
  );
}

/** The checks that need neither the store nor the document's meaning. */
function readSubmitted(
  context: EngineContext,
  input: RegisterJobInput,
  faultOf: FaultOf,
): Result<SubmittedJob, DecodeError | InvalidRequest | UnknownRegion> {
  if (input.job === undefined || input.job === null) {
    return err(invalidRequest('Job', 'Job must be specified'));
  }
  return decodeJob(input.job, { durationTexts: input.fromWire !== true }).andThen((decoded) => {
    const fault = faultOf(input, decoded);
    if (fault !== undefined) return err(fault);
    const region = regionOf(context.settings.jobs.region, input.region, decoded.Region);
    if (region.isErr()) return err(region.error);
    const namespace = namespaceOf({ namespace: input.namespace ?? decoded.Namespace ?? '' });
    return ok({ ...decoded, Namespace: namespace, Region: region.value });
  });
}

type FaultOf = (input: RegisterJobInput, decoded: SubmittedJob) => InvalidRequest | undefined;

function faultOfRequest(input: RegisterJobInput, decoded: SubmittedJob): InvalidRequest | undefined {
  if (decoded.ID === null) return invalidRequest('Job.ID', "Job ID hasn't been provided");
  if (input.jobId !== undefined && decoded.ID !== input.jobId) {
    return invalidRequest('Job.ID', 'Job ID does not match name');
  }
  return undefined;
}

/** The same, with checks that only a registration makes, since clients plan such jobs. */
function faultOfRegistration(input: RegisterJobInput, decoded: SubmittedJob): InvalidRequest | undefined {
  const fault = faultOfRequest(input, decoded);
  if (fault !== undefined) return fault;
  if (decoded.Type === 'system' && decoded.TaskGroups?.some((group) => group.Scaling !== null)) {
    return invalidRequest('Job.TaskGroups', 'Task groups with job type system do not support scaling blocks');
  }
  return faultOfPriority('EvalPriority', input.evalPriority);
}

/** 0 and absent mean the job's own priority. */
export function faultOfPriority(field: string, priority: number | undefined): InvalidRequest | undefined {
  if (priority === undefined || priority === 0) return undefined;
  return Number.isInteger(priority) && priority >= 1 && priority <= 100
    ? undefined
    : invalidRequest(field, `${field} must be between 1 and 100 inclusively`);
}

/** The installation is one region; `global` means "this one". */
function regionOf(own: string, asked: string | undefined, documented: string | null): Result<string, UnknownRegion> {
  const region = asked !== undefined && asked !== '' ? asked : (documented ?? '');
  if (region === '' || region === 'global' || region === own) return ok(own);
  return err({ type: 'unknown_region', region, message: 'No path to region' });
}
