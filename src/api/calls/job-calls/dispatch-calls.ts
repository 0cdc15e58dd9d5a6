import type { DispatchedJob } from '../../../operations/jobs/dispatch-job.js';

import { inNamespace, inNamespaceOf } from '../../access.js';
import { written } from '../../answers.js';
import { write } from '../../call.js';
import { idempotencyToken, idempotencyTokenInBody, jobId } from '../../common-inputs.js';
import { asBytes, eitherOf, inBody, repeatedInBody, withDefault } from '../../inputs.js';
import { jsonBase64, jsonInteger, jsonText, jsonTextMap } from '../../json-codecs.js';

const dispatched = written<DispatchedJob>('DispatchedJob', {
  dispatchedJobId: 'DispatchedJobID',
  evalId: 'EvalID',
  evalCreateIndex: 'EvalCreateIndex',
  jobCreateIndex: 'JobCreateIndex',
  index: 'Index',
});

const dispatchErrors = [
  'job_not_found',
  'dispatch_refused',
  'quota_exceeded',
  'dispatch_rate_exceeded',
  'invalid_request',
  'registrations_disabled',
  'enqueue_refused',
] as const;

/** Dispatches of parameterized jobs. */
export const dispatchCalls = {
  /** Dispatches an instance of a parameterized job. */
  dispatch: write({
    path: '/v1/job/{job_id}/dispatch',
    access: inNamespaceOf('body', 'dispatch-job'),
    summary: 'Dispatches an instance of a parameterized job',
    args: ['jobId'],
    inputs: {
      jobId: repeatedInBody(jobId, { name: 'JobID', required: false, what: 'job ID' }),
      payload: inBody('Payload', jsonBase64),
      meta: inBody('Meta', jsonTextMap),
      idPrefixTemplate: inBody('IdPrefixTemplate', jsonText),
      priority: inBody('Priority', jsonInteger),
      idempotencyToken: eitherOf(idempotencyToken, idempotencyTokenInBody),
    },
    errors: dispatchErrors,
    answer: dispatched,
  }),

  /** Dispatches an instance of a parameterized job with the request body as its payload. */
  dispatchPayload: write({
    path: '/v1/job/{job_id}/dispatch/payload',
    access: inNamespace('dispatch-job'),
    summary: 'Dispatches an instance of a parameterized job with the request body as its payload',
    args: ['jobId', 'payload'],
    inputs: { jobId, payload: withDefault(asBytes(), new Uint8Array()), idempotencyToken },
    errors: dispatchErrors,
    answer: dispatched,
  }),
} as const;
