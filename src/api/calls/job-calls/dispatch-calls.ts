import type { DispatchedJob } from '../../../operations/jobs/index.js';
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
] as const;

/** Making instances of parameterized jobs. */
export const dispatchCalls = {
  /** Makes an instance of a parameterized job. */
  dispatch: write({
    path: '/v1/job/{job_id}/dispatch',
    access: inNamespaceOf('body', 'dispatch-job'),
    summary: 'Makes an instance of a parameterized job',
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

  /** Makes an instance of a parameterized job from a payload that is sent as it is. */
  dispatchPayload: write({
    path: '/v1/job/{job_id}/dispatch/payload',
    access: inNamespace('dispatch-job'),
    summary: 'Makes an instance of a parameterized job from a payload that is sent as it is',
    args: ['jobId', 'payload'],
    inputs: { jobId, payload: withDefault(asBytes(), new Uint8Array()), idempotencyToken },
    errors: dispatchErrors,
    answer: dispatched,
  }),
} as const;
