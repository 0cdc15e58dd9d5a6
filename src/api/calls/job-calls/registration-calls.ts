import type { ParsedJob } from '../../../jobs/parse-job.js';
import type { ValidatedJob } from '../../../operations/jobs/registration/validate-submitted-job.js';

import { inNamespace, inNamespaceOf } from '../../access.js';
import { computed } from '../../answers.js';
import { region, write } from '../../call.js';
import { enforceIndex, jobId } from '../../common-inputs.js';
import { eitherOf, inBody, withDefault } from '../../inputs.js';
import { jsonBoolean, jsonInteger, jsonName, jsonObject, jsonText, jsonTextMap, member } from '../../json-codecs.js';
import { jobDocument, regionOfDocument, registered, registrationFaults } from './forms.js';

const submission = inBody(
  'Submission',
  jsonObject({
    Source: member('Source', jsonText),
    Format: member('Format', jsonText),
    VariableFlags: member('VariableFlags', jsonTextMap),
    Variables: member('Variables', jsonText),
  }),
);

const registering = {
  region: regionOfDocument,
  job: jobDocument,
  submission,
  enforceIndex,
  evalPriority: inBody('EvalPriority', jsonInteger),
  policyOverride: inBody('PolicyOverride', jsonBoolean),
  preserveCounts: inBody('PreserveCounts', jsonBoolean),
  preserveResources: inBody('PreserveResources', jsonBoolean),
} as const;

const registeringErrors = [...registrationFaults, 'registrations_disabled'] as const;

/** Registering, parsing and validating jobs. */
export const registrationCalls = {
  /** Registers a new job, or a new version of one. */
  register: write({
    path: '/v1/jobs',
    access: inNamespaceOf('body', 'submit-job', 'register-job'),
    summary: 'Registers a new job, or a new version of one',
    args: ['job'],
    inputs: registering,
    errors: registeringErrors,
    answer: registered,
  }),

  /** Registers a new version of the job of this ID, or the job if there is none. */
  update: write({
    path: '/v1/job/{job_id}',
    access: inNamespaceOf('body', 'submit-job', 'register-job'),
    summary: 'Registers a new version of the job of this ID, or the job if there is none',
    args: ['jobId', 'job'],
    inputs: { jobId, ...registering },
    errors: registeringErrors,
    answer: registered,
  }),

  /** Parses a specification in HCL into a job; nothing is stored. */
  parse: write({
    path: '/v1/jobs/parse',
    access: inNamespace('parse-job', 'submit-job'),
    summary: 'Parses a specification in HCL into a job; nothing is stored',
    args: ['source'],
    inputs: {
      source: withDefault(inBody('JobHCL', jsonText), ''),
      variables: inBody('Variables', jsonText),
      canonicalize: inBody('Canonicalize', jsonBoolean),
      hcl1: inBody('HCLv1', jsonBoolean),
    },
    errors: ['invalid_request', 'unreadable_source'],
    answer: computed<ParsedJob>('SubmittedJob', ({ job }) => job),
  }),

  /** Validates a job as a registration would; nothing is stored. */
  validate: write({
    path: '/v1/validate/job',
    access: inNamespaceOf('record', 'read-job'),
    summary: 'Validates a job as a registration would; nothing is stored',
    args: ['job'],
    inputs: {
      job: jobDocument,
      region: eitherOf(region, inBody('Region', jsonName)),
    },
    errors: ['invalid_document', 'admission_refused', 'invalid_request'],
    answer: computed<ValidatedJob>('ValidatedJob', ({ errors, error, warnings }) => ({
      DriverConfigValidated: true,
      ValidationErrors: errors.length === 0 ? null : errors,
      Error: error,
      Warnings: warnings,
    })),
  }),
} as const;
