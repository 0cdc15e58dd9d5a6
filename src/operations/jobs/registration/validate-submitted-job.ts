import { errAsync, type ResultAsync } from 'neverthrow';
import { authorise, type PermissionDenied } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import { admitJob } from '../../../jobs/admission/admit-job.js';
import { evaluatePolicies } from '../../../jobs/admission/job-policy.js';
import { canonicaliseJob } from '../../../jobs/canonical/canonicalise-job.js';
import { type DecodeError, decodeJob } from '../../../jobs/document/decode-job.js';
import { type AdmissionRefused, type InvalidRequest, invalidRequest } from '../../../jobs/errors.js';
import { namespaceOf } from '../../../jobs/job-record.js';
import { documentWarnings } from '../../../jobs/validation/job-warnings.js';
import { errorsText, warningsText } from '../../../jobs/validation/problems.js';
import type { StorageError } from '../../../ports/storage.js';
import type { EngineContext } from '../../context/engine-context.js';
import { readJobRow } from '../../records/jobs/job-rows.js';
import { functionWarnings, problemsOfJob } from './check-registration.js';
import type { JobDocumentInput } from './register-job.js';

/** Errors and warnings about a job. */
export interface ValidatedJob {
  /** One string for each part of the job that has problems; empty when the job could be registered. */
  readonly errors: readonly string[];
  /** All errors as one string; empty when there is none. */
  readonly error: string;
  /** Warnings about the job, as one string; empty when there are none. */
  readonly warnings: string;
}

/**
 * Checks a job document like a registration (job interface, validate), and stores nothing. The right is required in
 * the document's namespace. Faults of the document are part of the result, not an error.
 */
export function validateSubmittedJob(
  context: EngineContext,
  caller: Principal,
  input: JobDocumentInput,
): ResultAsync<ValidatedJob, PermissionDenied | DecodeError | AdmissionRefused | InvalidRequest | StorageError> {
  if (input.job === undefined || input.job === null) {
    return errAsync(invalidRequest('Job', 'Job must be specified'));
  }
  const decoded = decodeJob(input.job, { durationTexts: input.fromWire !== true });
  if (decoded.isErr()) return errAsync(decoded.error);
  if (decoded.value.Namespace === '') {
    return errAsync({ type: 'admission_refused', message: 'the namespace of the job must not be empty' });
  }
  const namespace = namespaceOf({ namespace: decoded.value.Namespace ?? '' });
  const allowed = authorise(caller, namespace, ['read-job']);
  if (allowed.isErr()) return errAsync(allowed.error);
  const { settings, storage, clock } = context;
  const submitted = { ...decoded.value, ID: decoded.value.ID ?? '', Namespace: namespace };
  const admitted = admitJob(canonicaliseJob(submitted), { region: settings.jobs.region });
  if (admitted.isErr()) return errAsync(admitted.error);
  const job = admitted.value;
  const dropped = input.fromWire === true ? [] : documentWarnings(input.job, decoded.value);
  return storage
    .read((view) => {
      const existing = readJobRow(view, job.Namespace, job.ID)?.record;
      const policyResult = evaluatePolicies(context.policies, { job, existing, callerName: caller.name }, false);
      return { ...problemsOfJob(view, job, settings, clock.now()), policyResult };
    })
    .map(({ errors, errorsByPart, warningsByPart, policyResult: { refusals, warnings } }) => ({
      errors: [...errorsByPart, ...refusals],
      error: errors.length + refusals.length === 0 ? '' : errorsText([...errors, ...refusals]),
      warnings: warningsText([...warningsByPart, ...warnings, ...dropped, ...functionWarnings(context, job)]),
    }));
}
