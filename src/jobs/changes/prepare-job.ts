import { err, ok, type Result } from 'neverthrow';
import { admitJob, type InstallationDefaults } from '../admission/admit-job.js';
import { canonicaliseJob } from '../canonical/canonicalise-job.js';
import { type DecodeError, decodeJob } from '../document/decode-job.js';
import type { Job } from '../document/job.js';
import type { JobInput } from '../document/job-input.js';
import type { AdmissionRefused, InvalidJob } from '../errors.js';
import { errorsText } from '../validation/problems.js';
import { type ValidationContext, validateJob } from '../validation/validate-job.js';

/** Why a document cannot be registered, independently of the stored job. */
export type PrepareJobError = DecodeError | AdmissionRefused | InvalidJob;

/**
 * The job that a registration of the document would store: with all defaults and additions, and checked by all rules. Its
 * indexes, times and status are those of an unregistered job.
 */
export function prepareJob(
  input: JobInput,
  installation: InstallationDefaults & ValidationContext = { region: 'global' },
): Result<Job, PrepareJobError> {
  return decodeJob(input, { durationTexts: true })
    .map(canonicaliseJob)
    .andThen((job) => admitJob(job, installation))
    .andThen((job) => {
      const { errors } = validateJob(job, installation);
      return errors.length === 0 ? ok(job) : err({ type: 'invalid_job', errors, message: errorsText(errors) } as const);
    });
}
