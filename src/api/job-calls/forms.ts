import type { JobInput } from '../../jobs/document/submitted-job.js';
import type { Registered } from '../../operations/jobs/index.js';
import { inlinedMetadata, written } from '../answers.js';
import { inBody, judgedByOperation } from '../inputs.js';
import { jsonDocument } from '../json-codecs.js';
import { namedSchema } from '../json-schema.js';

/** A job as a caller writes it. What is no object is refused by the operation. */
export const jobDocument = judgedByOperation(
  inBody(
    'Job',
    jsonDocument<JobInput>(() => namedSchema('SubmittedJob')),
  ),
);

/** What can be wrong with a registration, whether it is made or planned. */
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
] as const;

/** The members of a registration's answer under the names of the wire. */
export const registeredNames = {
  evalId: 'EvalID',
  evalCreateIndex: 'EvalCreateIndex',
  jobModifyIndex: 'JobModifyIndex',
  warnings: 'Warnings',
  index: 'Index',
} as const;

/** What a write that has the scheduler look at a job answers. */
export const registered = written<Registered>('Registered', registeredNames, inlinedMetadata);
