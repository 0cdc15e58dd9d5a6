import { errAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { admitJob } from '../../jobs/admission/admit-job.js';
import { canonicaliseJob } from '../../jobs/canonical/canonicalise-job.js';
import { type DecodeError, decodeJob } from '../../jobs/document/decode-job.js';
import { type AdmissionRefused, type InvalidRequest, invalidRequest } from '../../jobs/errors.js';
import { warningsText } from '../../jobs/validation/problem-texts.js';
import type { StorageError } from '../../ports/storage.js';
import { authorise, type PermissionDenied } from '../shared/authorise.js';
import type { EngineContext } from '../shared/context.js';
import { checkJob } from './check-job.js';
import { namespaceOf } from './job-reference.js';

export interface ValidatedJob {
  /** Empty when the job could be registered. */
  readonly errors: readonly string[];
  /** All errors as one text; empty when there is none. */
  readonly error: string;
  readonly warnings: string;
}

/**
 * Checks a job document as a registration would (job interface, validate), and stores nothing. The right is asked for in
 * the document's own namespace. A document with faults is a good answer, not an error.
 */
export function validateSubmittedJob(
  context: EngineContext,
  caller: Principal,
  input: { readonly job: unknown },
): ResultAsync<ValidatedJob, PermissionDenied | DecodeError | AdmissionRefused | InvalidRequest | StorageError> {
  if (input.job === undefined || input.job === null) {
    return errAsync(invalidRequest('Job', 'Job must be specified'));
  }
  const decoded = decodeJob(input.job);
  if (decoded.isErr()) return errAsync(decoded.error);
  const namespace = namespaceOf({ namespace: decoded.value.Namespace ?? '' });
  const allowed = authorise(caller, namespace, ['read-job']);
  if (allowed.isErr()) return errAsync(allowed.error);
  const { settings, storage } = context;
  const submitted = { ...decoded.value, ID: decoded.value.ID ?? '', Namespace: namespace };
  const admitted = admitJob(canonicaliseJob(submitted), { region: settings.jobs.region });
  if (admitted.isErr()) return errAsync(admitted.error);
  const job = admitted.value;
  return storage
    .read((view) => checkJob(view, job, settings))
    .map((checked) =>
      checked.match(
        (warnings): ValidatedJob => ({ errors: [], error: '', warnings: warningsText(warnings) }),
        ({ errors, message }): ValidatedJob => ({ errors, error: message, warnings: '' }),
      ),
    );
}
