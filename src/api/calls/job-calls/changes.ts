import type { JobInput } from '../../../jobs/document/submitted-job.js';
import type { ParsedJob } from '../../../jobs/parse-job.js';
import type { JobRestartView } from '../../../operations/allocations/restart-job.js';
import type { DispatchedJob } from '../../../operations/jobs/dispatch-job.js';
import type { JobScaleStatus } from '../../../operations/jobs/reading/read-scale-status.js';
import type { JobPlan } from '../../../operations/jobs/registration/plan-job.js';
import type { Registered } from '../../../operations/jobs/registration/register-job.js';
import type { JobSimulation } from '../../../operations/jobs/registration/simulate-job.js';
import type { ValidatedJob } from '../../../operations/jobs/registration/validate-submitted-job.js';
import type { StoppedJob } from '../../../operations/jobs/stop-job.js';
import type { ForcedLaunch } from '../../../operations/periodic/launches.js';
import { byOperation, inNamespace, inNamespaceOfBody, onRecord } from '../../access.js';
import { type AnswerForm, computed, found, inlinedMetadata, written } from '../../answers.js';
import { read, region, write } from '../../call.js';
import {
  asBytes,
  eitherOf,
  enforceGivenIndex,
  enforceIndex,
  idempotencyToken,
  idempotencyTokenInBody,
  inBody,
  inMembers,
  inQuery,
  jobId,
  jobIdTwice,
  judgedByOperation,
  repeatedInBody,
  required,
  withDefault,
} from '../../inputs.js';
import {
  jsonBase64,
  jsonBoolean,
  jsonDocument,
  jsonDurationText,
  jsonInteger,
  jsonMap,
  jsonName,
  jsonObject,
  jsonText,
  jsonTextMap,
  jsonTextOrBoolean,
  member,
  namedSchema,
} from '../../json-codecs.js';
import { boolean, integer, text } from '../../text-codecs.js';

/** A job document from a caller. The operation refuses anything but an object. */
const optionalJob = inBody(
  'Job',
  jsonDocument<JobInput>(() => namedSchema('SubmittedJob')),
);
const jobDocument = judgedByOperation(optionalJob);

/** The region that a document is to be registered in: the body takes precedence over the query, unlike elsewhere. */
const regionOfDocument = eitherOf(inBody('Region', jsonName), region);

/** Errors of a registration or of its plan. */
const registrationFaults = [
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
const registeredNames = {
  evalId: 'EvalID',
  evalCreateIndex: 'EvalCreateIndex',
  jobModifyIndex: 'JobModifyIndex',
  warnings: 'Warnings',
  index: 'Index',
} as const;

/** The answer of a write that creates an evaluation. */
export const registered = written<Registered>('Registered', registeredNames, inlinedMetadata);

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
  seal: inBody('Seal', jsonText),
} as const;

const registeringErrors = [...registrationFaults, 'registrations_disabled', 'plan_outdated'] as const;

/** Registering, parsing and validating jobs. */
export const registrationCalls = {
  /** Registers a new job, or a new version of one. */
  register: write({
    path: '/v1/jobs',
    access: byOperation(inNamespaceOfBody('submit-job', 'register-job')),
    summary: 'Registers a new job, or a new version of one',
    args: ['job'],
    inputs: registering,
    errors: registeringErrors,
    answer: registered,
  }),

  /** Registers a new version of the job of this ID, or the job if there is none. */
  update: write({
    path: '/v1/job/{job_id}',
    access: byOperation(inNamespaceOfBody('submit-job', 'register-job')),
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
    access: onRecord('read-job'),
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
    access: inNamespaceOfBody('dispatch-job'),
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

/** Evaluating and stopping jobs. */
export const lifecycleCalls = {
  /** Creates an evaluation of the job. */
  evaluate: write({
    path: '/v1/job/{job_id}/evaluate',
    access: inNamespaceOfBody('submit-job', 'evaluate-job'),
    summary: 'Creates an evaluation of the job',
    args: ['jobId'],
    inputs: {
      jobId: jobIdTwice,
      forceReschedule: inMembers(
        { options: member('EvalOptions', jsonObject({ force: member('ForceReschedule', jsonBoolean) })) },
        {
          read: ({ options }): boolean | undefined => options?.force,
          print: (force: boolean) => ({ options: { force } }),
        },
      ),
    },
    errors: ['job_not_found', 'evaluation_refused', 'job_of_function'],
    answer: registered,
    optionalBody: true,
  }),

  /** Stops a job, or purges it. */
  stop: write({
    methods: ['DELETE'],
    path: '/v1/job/{job_id}',
    access: inNamespace('submit-job', 'purge-job', 'deregister-job'),
    summary: 'Stops a job, or purges it',
    args: ['jobId'],
    inputs: {
      jobId,
      purge: inQuery('purge', boolean, 'Remove the job with all its records immediately'),
      global: inQuery('global', boolean, 'Accepted without effect: there is one region'),
      evalPriority: inQuery(
        'eval_priority',
        integer,
        "Priority of the evaluation, 1 to 100; the job's when 0 or absent",
      ),
      noShutdownDelay: inQuery('no_shutdown_delay', boolean, 'End the allocations without shutdown delays'),
    },
    errors: ['invalid_request'],
    answer: written<StoppedJob>(
      'StoppedJob',
      { evalId: 'EvalID', evalCreateIndex: 'EvalCreateIndex', jobModifyIndex: 'JobModifyIndex', index: 'Index' },
      { VolumeEvalID: '', VolumeEvalIndex: 0, ...inlinedMetadata },
    ),
  }),
} as const;

const constants = { ...inlinedMetadata, KnownLeader: true };
const { evalId: _id, evalCreateIndex: _index, ...withoutEvaluation } = registeredNames;
/** Also for a scaling without an evaluation, whose members are empty then. */
export const scaledFully = written<Registered>('Scaled', registeredNames, constants);
const noted = written<Omit<Registered, 'evalId' | 'evalCreateIndex'>>('Scaled', withoutEvaluation, constants);

/** As `registered`, but with a known leader. The evaluation is there only when the scaling created one. */
const scaled: typeof scaledFully = {
  ...scaledFully,
  toWire: (value, input) => (value.evalId === '' ? noted : scaledFully).toWire(value, input),
};

/** One entry of the scaling target: `Group`, and `Job` and `Namespace`, which must match the request. */
function inTarget(name: string) {
  return inMembers(
    { target: member('Target', jsonTextMap) },
    {
      read: ({ target }): string | undefined => target?.[name],
      print: (value: string) => ({ target: { [name]: value } }),
    },
  );
}

/** Counts of groups. */
export const scaleCalls = {
  /** Counts and scaling events of each group. */
  scaleStatus: read({
    path: '/v1/job/{job_id}/scale',
    access: inNamespace('read-job', 'read-job-scaling'),
    summary: 'Counts and scaling events of each group',
    args: ['jobId'],
    inputs: { jobId },
    answer: found<JobScaleStatus | undefined>('JobScaleStatus'),
    absent: 'job not found',
  }),

  /** Scales a group, or records why it is not scaled. */
  scale: write({
    path: '/v1/job/{job_id}/scale',
    access: inNamespace('scale-job', 'submit-job'),
    summary: 'Scales a group, or records why it is not scaled',
    args: ['jobId', 'group'],
    inputs: {
      jobId,
      group: withDefault(inTarget('Group'), ''),
      targetJob: inTarget('Job'),
      targetNamespace: inTarget('Namespace'),
      count: inBody('Count', jsonInteger),
      message: inBody('Message', jsonText),
      error: inBody('Error', jsonTextOrBoolean),
      meta: inBody('Meta', jsonMap),
      policyOverride: inBody('PolicyOverride', jsonBoolean),
      enforceIndex: enforceGivenIndex,
    },
    errors: [
      'invalid_request',
      'job_not_found',
      'scaling_refused',
      'total_count_too_large',
      'index_conflict',
      'registrations_disabled',
      'policy_refused',
      'quota_exceeded',
      'job_of_function',
    ],
    answer: scaled,
  }),
} as const;

/** A plan with its wire names. On the wire it has its seal only on request: clients of other servers compare the answers. */
const plan: AnswerForm<JobPlan, JobPlan> = {
  schema: namedSchema('JobPlan'),
  status: 200,
  toClient: (value) => value,
  toWire: (value, { seal }) =>
    JSON.stringify({
      Annotations: value.annotations,
      FailedTGAllocs: value.failedPlacements,
      JobModifyIndex: value.jobModifyIndex,
      CreatedEvals: value.createdEvaluations,
      Diff: value.diff,
      NextPeriodicLaunch: value.nextPeriodicLaunch,
      Warnings: value.warnings,
      Index: value.index,
      ...(seal === true ? { Seal: value.seal } : {}),
    }),
  indexOf: ({ index }) => index,
};

const restartOfJob = { jobId: required(inBody('job', jsonText)) } as const;

/** Actions on jobs other than registration. */
export const jobControlCalls = {
  /** Restarts the running allocations of a job, some at a time. */
  restart: write({
    path: '/v1/jobs/restarts',
    access: inNamespace('alloc-lifecycle'),
    summary: 'Restarts the running allocations of a job, some at a time, also when the caller is gone',
    args: ['jobId'],
    inputs: {
      ...restartOfJob,
      atOnce: inBody('atOnce', jsonInteger),
      wait: inBody('wait', jsonDurationText),
      allTasks: inBody('allTasks', jsonBoolean),
      continues: inBody('continues', jsonBoolean),
    },
    errors: ['job_not_found', 'invalid_request', 'restart_under_way'],
    answer: computed<JobRestartView>('JobRestart'),
  }),

  /** The last restart of a job, under way or ended. */
  readRestart: read({
    path: '/v1/jobs/restarts',
    access: inNamespace('read-job'),
    summary: 'The last restart of a job, under way or ended, with its progress',
    args: ['jobId'],
    inputs: { jobId: required(inQuery('job', text, 'ID of the job')) },
    answer: found<JobRestartView | undefined>('JobRestart'),
    absent: 'no restart of this job',
  }),

  /** Ends a restart of a job. */
  cancelRestart: write({
    path: '/v1/jobs/restarts/cancel',
    access: inNamespace('alloc-lifecycle'),
    summary: 'Ends a restart of a job: no further allocation is restarted',
    args: ['jobId'],
    inputs: restartOfJob,
    errors: ['job_not_found'],
    answer: computed<JobRestartView>('JobRestart'),
  }),

  /** Dry run of a registration; nothing is stored. */
  plan: write({
    path: '/v1/job/{job_id}/plan',
    access: byOperation(inNamespaceOfBody('submit-job', 'plan-job')),
    summary: 'Dry run of a registration; nothing is stored',
    args: ['jobId', 'job'],
    inputs: {
      jobId,
      region: regionOfDocument,
      job: jobDocument,
      diff: inBody('Diff', jsonBoolean),
      policyOverride: inBody('PolicyOverride', jsonBoolean),
      preserveCounts: inBody('PreserveCounts', jsonBoolean),
      preserveResources: inBody('PreserveResources', jsonBoolean),
      seal: inBody('Seal', jsonBoolean),
    },
    errors: registrationFaults,
    answer: plan,
  }),

  /** Plays a change of a job, a drain or the loss of a node on virtual time, from the present state. */
  simulate: write({
    path: '/v1/jobs/simulate',
    access: byOperation(inNamespaceOfBody('submit-job', 'plan-job')),
    summary: 'What would happen within a time if a job were registered, a node drained or lost; nothing is stored',
    inputs: {
      region: regionOfDocument,
      job: optionalJob,
      drainNode: inBody('drainNode', jsonName),
      downNode: inBody('downNode', jsonName),
      duration: inBody('duration', jsonDurationText),
      workFor: inBody('workFor', jsonDurationText),
    },
    errors: registrationFaults,
    answer: computed<JobSimulation>('JobSimulation'),
  }),

  /** Launches a periodic job now, whether or not it is due. */
  forceLaunch: write({
    path: '/v1/job/{job_id}/periodic/force',
    access: inNamespace('submit-job', 'dispatch-job', 'force-periodic-job'),
    summary: 'Launches a periodic job now, whether or not it is due',
    args: ['jobId'],
    inputs: { jobId },
    errors: ['job_not_found', 'force_refused', 'enqueue_refused', 'dispatch_refused', 'invalid_request'],
    answer: written<Pick<ForcedLaunch, 'evalId' | 'evalCreateIndex' | 'index'>>('ForcedLaunch', {
      evalId: 'EvalID',
      evalCreateIndex: 'EvalCreateIndex',
      index: 'Index',
    }),
  }),
} as const;
