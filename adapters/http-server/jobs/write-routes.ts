import { err, ok, type Result } from 'neverthrow';
import {
  type DispatchedJob,
  dispatchJob,
  evaluateJob,
  parseJobSource,
  type Registered,
  registerJob,
  revertJob,
  type SubmissionInput,
  setJobStability,
  stopJob,
  validateSubmittedJob,
} from '../../../src/index.js';
import { type BadInput, badInput } from '../bad-input.js';
import {
  booleanField,
  described,
  type FieldValues,
  integerField,
  jsonField,
  objectField,
  readFields,
  required,
  schemaOfFields,
  textField,
  textMapField,
  unsignedField,
} from '../fields.js';
import type { HttpResponse, RequestBody } from '../http-message.js';
import { unreadBody } from '../json-body.js';
import { objectSchema } from '../json-schema.js';
import { booleanParameter, integerParameter, textParameter } from '../query.js';
import type { Route, RouteCall } from '../route.js';
import { badRequest, jobErrorResponse, jobErrors } from './job-errors.js';
import { writeResponse } from './job-responses.js';
import { needs, needsIn, type WriteInput, writeRoute } from './job-route.js';
import {
  dispatchedSchema,
  registeredSchema,
  stoppedSchema,
  submittedJobSchema,
  validatedSchema,
} from './job-schemas.js';
import { inlinedMetadata, registeredResponse } from './registered-response.js';

const submissionFields = {
  Source: textField,
  Format: textField,
  VariableFlags: textMapField,
  Variables: textField,
} as const;

const registerFields = {
  Job: described(jsonField, submittedJobSchema),
  Submission: described(objectField, () => schemaOfFields(submissionFields)),
  EnforceIndex: booleanField,
  JobModifyIndex: unsignedField,
  PolicyOverride: booleanField,
  PreserveCounts: booleanField,
  PreserveResources: booleanField,
  EvalPriority: integerField,
  Region: textField,
  Namespace: textField,
} as const;

const tokenParameter = {
  idempotency_token: textParameter('A second dispatch with the same token makes no second instance', [
    'IdempotencyToken',
  ]),
} as const;

const dispatchFields = {
  JobID: textField,
  Payload: textField,
  Meta: textMapField,
  IdPrefixTemplate: textField,
  Priority: integerField,
  IdempotencyToken: textField,
  Namespace: textField,
} as const;

const stableIndex = () => objectSchema({ Index: { type: 'integer', minimum: 0 } }, ['Index']);

/** The writes of jobs. PUT and POST mean the same everywhere. */
export const writeRoutes: readonly Route[] = [
  writeRoute({
    path: '/v1/jobs',
    operation: 'registerJob',
    summary: 'Register a new job, or a new version of one',
    access: needsIn('body', 'submit-job', 'register-job'),
    parameters: {},
    fields: registerFields,
    body: 'required',
    schema: registeredSchema,
    run: (call, input) => register(call, input, undefined),
  }),
  writeRoute({
    path: '/v1/job/{job_id}',
    operation: 'updateJob',
    summary: 'Register a new version of the job, or the job if there is none',
    access: needsIn('body', 'submit-job', 'register-job'),
    parameters: {},
    fields: registerFields,
    body: 'required',
    schema: registeredSchema,
    run: (call, input) => register(call, input, input.id),
  }),
  writeRoute({
    path: '/v1/job/{job_id}/dispatch',
    operation: 'dispatchJob',
    summary: 'Make an instance of a parameterized job',
    access: needsIn('body', 'dispatch-job'),
    parameters: tokenParameter,
    fields: dispatchFields,
    body: 'required',
    schema: dispatchedSchema,
    run: async (call, { values, body, namespace, id }) => {
      if (body.JobID !== undefined && body.JobID !== '' && body.JobID !== id) return otherJob();
      const dispatched = await dispatchJob(call.engine, call.caller, {
        ...namespaceOf(namespace, body.Namespace),
        jobId: id,
        payload: body.Payload ?? null,
        meta: body.Meta ?? null,
        idPrefixTemplate: body.IdPrefixTemplate ?? '',
        idempotencyToken: values.idempotency_token ?? body.IdempotencyToken ?? '',
        priority: body.Priority ?? 0,
      });
      return dispatched.match((job) => dispatchedResponse(call, job), jobErrorResponse);
    },
  }),
  writeRoute({
    path: '/v1/job/{job_id}/dispatch/payload',
    operation: 'dispatchJobPayload',
    summary: 'Make an instance of a parameterized job; the body is the payload',
    access: needs('dispatch-job'),
    parameters: tokenParameter,
    fields: {},
    body: 'ignored',
    schema: dispatchedSchema,
    run: async (call, { values, namespace, id }) => {
      const body = await call.readBody();
      const payload = payloadFrom(body);
      if (payload.isErr()) return jobErrors.badInput(payload.error);
      const dispatched = await dispatchJob(call.engine, call.caller, {
        ...namespaceOf(namespace, undefined),
        jobId: id,
        payload: payload.value.toString('base64'),
        idempotencyToken: values.idempotency_token ?? '',
      });
      return dispatched.match((job) => dispatchedResponse(call, job), jobErrorResponse);
    },
  }),
  writeRoute({
    path: '/v1/job/{job_id}/revert',
    operation: 'revertJob',
    summary: 'Register an earlier version again, as a new version',
    access: needsIn('body', 'submit-job', 'revert-job'),
    parameters: {},
    fields: {
      JobID: required(textField),
      JobVersion: unsignedField,
      EnforcePriorVersion: unsignedField,
      Namespace: textField,
    },
    body: 'required',
    schema: registeredSchema,
    run: async (call, { body, namespace, id }) => {
      if (body.JobID !== id) return otherJob();
      const reverted = await revertJob(call.engine, call.caller, {
        ...namespaceOf(namespace, body.Namespace),
        jobId: id,
        version: body.JobVersion ?? 0,
        enforcePriorVersion: body.EnforcePriorVersion ?? null,
      });
      return reverted.match((answer) => revertedResponse(call, answer), jobErrorResponse);
    },
  }),
  writeRoute({
    path: '/v1/job/{job_id}/stable',
    operation: 'setJobStability',
    summary: 'Mark a version as stable or not',
    access: needsIn('body', 'submit-job', 'stable-job'),
    parameters: {},
    fields: { JobID: required(textField), JobVersion: unsignedField, Stable: booleanField, Namespace: textField },
    body: 'required',
    schema: stableIndex,
    run: async (call, { body, namespace, id }) => {
      if (body.JobID !== id) return otherJob();
      const set = await setJobStability(call.engine, call.caller, {
        ...namespaceOf(namespace, body.Namespace),
        jobId: id,
        version: body.JobVersion ?? 0,
        stable: body.Stable ?? false,
      });
      return set.match(({ index }) => writeResponse(call, index, JSON.stringify({ Index: index })), jobErrorResponse);
    },
  }),
  writeRoute({
    path: '/v1/job/{job_id}/evaluate',
    operation: 'evaluateJob',
    summary: 'Have the scheduler look at the job',
    access: needsIn('body', 'submit-job', 'evaluate-job'),
    parameters: {},
    fields: { JobID: textField, EvalOptions: objectField, Namespace: textField },
    body: 'optional',
    schema: registeredSchema,
    run: async (call, { body, bodyGiven, namespace, id }) => {
      if (bodyGiven && (body.JobID === undefined || body.JobID === '')) return badRequest('"JobID" must be given');
      if (body.JobID !== undefined && body.JobID !== id) return otherJob();
      const options = readFields({ ForceReschedule: booleanField }, body.EvalOptions ?? {});
      if (options.isErr()) return jobErrors.badInput(options.error);
      const evaluated = await evaluateJob(call.engine, call.caller, {
        ...namespaceOf(namespace, body.Namespace),
        jobId: id,
        forceReschedule: options.value.ForceReschedule ?? false,
      });
      return evaluated.match((answer) => registeredResponse(call, answer), jobErrorResponse);
    },
  }),
  writeRoute({
    path: '/v1/jobs/parse',
    operation: 'parseJob',
    summary: 'The JSON job that a specification in HCL describes; nothing is stored',
    access: needs('parse-job', 'submit-job'),
    parameters: {},
    fields: { JobHCL: textField, Variables: textField, Canonicalize: booleanField, HCLv1: booleanField },
    body: 'required',
    schema: submittedJobSchema,
    run: (call, { body, namespace }) => {
      const parsed = parseJobSource(call.engine, call.caller, {
        ...namespaceOf(namespace, undefined),
        source: body.JobHCL ?? '',
        variables: body.Variables ?? '',
        canonicalize: body.Canonicalize ?? false,
        hcl1: body.HCLv1 ?? false,
      });
      return Promise.resolve(
        parsed.match(({ job }) => writeResponse(call, undefined, JSON.stringify(job)), jobErrorResponse),
      );
    },
  }),
  writeRoute({
    path: '/v1/validate/job',
    operation: 'validateJob',
    summary: 'What a registration would find wrong with a job; nothing is stored',
    access: needsIn('record', 'read-job'),
    parameters: {},
    fields: { Job: described(jsonField, submittedJobSchema), Region: textField },
    body: 'required',
    schema: validatedSchema,
    run: async (call, { body }) => {
      const validated = await validateSubmittedJob(call.engine, call.caller, { job: body.Job });
      return validated.match(({ errors, error, warnings }) => {
        const ValidationErrors = errors.length === 0 ? null : errors;
        const answer = { DriverConfigValidated: true, ValidationErrors, Error: error, Warnings: warnings };
        return writeResponse(call, undefined, JSON.stringify(answer));
      }, jobErrorResponse);
    },
  }),
  writeRoute({
    methods: ['DELETE'],
    path: '/v1/job/{job_id}',
    operation: 'stopJob',
    summary: 'Stop a job, or purge it',
    access: needs('submit-job', 'purge-job', 'deregister-job'),
    parameters: {
      purge: booleanParameter('Remove the job and everything of it at once'),
      global: booleanParameter('Accepted; there is one region'),
      eval_priority: integerParameter("Priority of the evaluation, 1 to 100; the job's when 0 or absent"),
      no_shutdown_delay: booleanParameter('End the allocations without shutdown delays'),
    },
    fields: {},
    body: 'ignored',
    schema: stoppedSchema,
    run: async (call, { values, namespace, id }) => {
      const stopped = await stopJob(call.engine, call.caller, {
        ...namespaceOf(namespace, undefined),
        jobId: id,
        purge: values.purge ?? false,
        evalPriority: values.eval_priority ?? 0,
        noShutdownDelay: values.no_shutdown_delay ?? false,
      });
      return stopped.match(({ evalId, evalCreateIndex, jobModifyIndex, index }) => {
        const body = {
          EvalID: evalId,
          EvalCreateIndex: evalCreateIndex,
          JobModifyIndex: jobModifyIndex,
          VolumeEvalID: '',
          VolumeEvalIndex: 0,
          Index: index,
          ...inlinedMetadata,
        };
        return writeResponse(call, index, JSON.stringify(body));
      }, jobErrorResponse);
    },
  }),
];

async function register(
  call: RouteCall,
  { body, namespace }: WriteInput<Record<never, never>, typeof registerFields>,
  jobId: string | undefined,
): Promise<HttpResponse> {
  const submission = submissionFrom(body.Submission);
  if (submission.isErr()) return jobErrors.badInput(submission.error);
  const registered = await registerJob(call.engine, call.caller, {
    job: body.Job,
    ...(jobId === undefined ? {} : { jobId }),
    ...namespaceOf(namespace, body.Namespace),
    submission: submission.value,
    enforceIndex: body.EnforceIndex ?? false,
    jobModifyIndex: body.JobModifyIndex ?? 0,
    preserveCounts: body.PreserveCounts ?? false,
    preserveResources: body.PreserveResources ?? false,
    policyOverride: body.PolicyOverride ?? false,
    evalPriority: body.EvalPriority ?? 0,
  });
  return registered.match((answer) => registeredResponse(call, answer), jobErrorResponse);
}

function submissionFrom(given: FieldValues<typeof registerFields>['Submission']) {
  return readFields(submissionFields, given ?? {}).map((fields): SubmissionInput | null =>
    given === undefined
      ? null
      : {
          Source: fields.Source ?? '',
          Format: fields.Format ?? '',
          VariableFlags: fields.VariableFlags ?? null,
          Variables: fields.Variables ?? '',
        },
  );
}

/** The query's namespace counts before the body's. */
function namespaceOf(query: string | undefined, body: string | undefined): { readonly namespace?: string } {
  const namespace = query ?? body;
  return namespace === undefined || namespace === '' ? {} : { namespace };
}

function otherJob(): HttpResponse {
  return badRequest('the job ID of the body is not that of the path');
}

/** Reverting answers with the headers of a read. */
function revertedResponse(call: RouteCall, answer: Registered): HttpResponse {
  const response = registeredResponse(call, answer);
  response.headers.push(call.names.lastContact, '0', call.names.knownLeader, 'false');
  return response;
}

function dispatchedResponse(call: RouteCall, job: DispatchedJob): HttpResponse {
  const body = {
    DispatchedJobID: job.dispatchedJobId,
    EvalID: job.evalId,
    EvalCreateIndex: job.evalCreateIndex,
    JobCreateIndex: job.jobCreateIndex,
    Index: job.index,
  };
  return writeResponse(call, job.index, JSON.stringify(body));
}

function payloadFrom(body: RequestBody): Result<Buffer, BadInput> {
  switch (body.type) {
    case 'absent':
      return ok(Buffer.alloc(0));
    case 'bytes':
      return ok(body.bytes);
    case 'parsed':
      return err(badInput('malformed', 'a body parser has read the payload before this server; mount it in front'));
    case 'too_large':
    case 'no_room':
    case 'aborted':
      return err(unreadBody(body));
  }
}
