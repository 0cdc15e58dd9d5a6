import type { JobInput } from '../../../jobs/document/submitted-job.js';
import type { Registered } from '../../../operations/jobs/registration/register-job.js';

import { inlinedMetadata, written } from '../../answers.js';
import { region } from '../../call.js';
import { eitherOf, inBody, judgedByOperation } from '../../inputs.js';
import { jsonDocument, jsonName, namedSchema } from '../../json-codecs.js';

/** A job document from a caller. The operation refuses anything but an object. */
export const jobDocument = judgedByOperation(
  inBody(
    'Job',
    jsonDocument<JobInput>(() => namedSchema('SubmittedJob')),
  ),
);

/** The region that a document is to be registered in: the body takes precedence over the query, unlike elsewhere. */
export const regionOfDocument = eitherOf(inBody('Region', jsonName), region);

/** Errors of a registration or of its plan. */
export const registrationFaults = [
  'invalid_document',
  'admission_refused',
  'policy_refused',
  'quota_exceeded',
  'invalid_job',
  'invalid_request',
  'unknown_region',
  'index_conflict',
  'transition_refused',
  'job_of_function',
] as const;

/** The members of a registration's answer, with their wire names. */
export const registeredNames = {
  evalId: 'EvalID',
  evalCreateIndex: 'EvalCreateIndex',
  jobModifyIndex: 'JobModifyIndex',
  warnings: 'Warnings',
  index: 'Index',
} as const;

/** The answer of a write that creates an evaluation. */
export const registered = written<Registered>('Registered', registeredNames, inlinedMetadata);
