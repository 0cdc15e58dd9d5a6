import type { JobDiff } from '../jobs/diff/job-diff.js';
import type { Job } from '../jobs/document/job.js';
import type { JobInput } from '../jobs/document/submitted-job.js';
import type { JobStatusEntry } from '../jobs/job-status-entry.js';
import type { JobListStub } from '../jobs/job-stub.js';
import type { JobSubmission, SubmissionInput } from '../jobs/job-submission.js';
import type { JobSummary } from '../jobs/job-summary-record.js';
import type { ParsedJob } from '../jobs/parse-job.js';
import type {
  DispatchedJob,
  JobScaleStatus,
  Registered,
  StoppedJob,
  TaggedVersion,
  ValidatedJob,
} from '../operations/jobs/index.js';
import type { AllocationListStub } from '../scheduler/allocation-stub.js';
import type { Deployment } from '../scheduler/deployment/deployment.js';
import type { Evaluation } from '../scheduler/evaluation.js';
import { inNamespace, inNamespaceOf } from './access.js';
import {
  type AnswerForm,
  computed,
  found,
  type Indexed,
  inlinedMetadata,
  list,
  nullable,
  type PageOf,
  page,
  row,
  rowPage,
  rows,
  type StoredRow,
  textOfRows,
  written,
} from './answers.js';
import { read, write } from './call.js';
import {
  enforceGivenIndex,
  enforceIndex,
  filterFaults,
  idempotencyToken,
  idempotencyTokenInBody,
  jobId,
  jobIdTwice,
  pageInputs,
} from './common-inputs.js';
import {
  asBytes,
  eitherOf,
  inBody,
  inMembers,
  inPath,
  inQuery,
  judgedByOperation,
  repeatedInBody,
  required,
  withDefault,
} from './inputs.js';
import {
  jsonBoolean,
  jsonDocument,
  jsonInteger,
  jsonList,
  jsonMap,
  jsonName,
  jsonObject,
  jsonText,
  jsonTextMap,
  jsonTextOrBoolean,
  jsonUnsigned,
  member,
} from './json-codecs.js';
import { namedSchema } from './json-schema.js';
import { boolean, contractInteger, lenientBoolean, name, strictBoolean, text, unsigned } from './text-codecs.js';

/** A job as a caller writes it. What is no object is refused by the operation. */
export const jobDocument = judgedByOperation(
  inBody(
    'Job',
    jsonDocument<JobInput>(() => namedSchema('SubmittedJob')),
  ),
);

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
  job: jobDocument,
  submission,
  enforceIndex,
  evalPriority: inBody('EvalPriority', jsonInteger),
  policyOverride: inBody('PolicyOverride', jsonBoolean),
  preserveCounts: inBody('PreserveCounts', jsonBoolean),
  preserveResources: inBody('PreserveResources', jsonBoolean),
} as const;

const registeringErrors = [
  'invalid_document',
  'admission_refused',
  'invalid_job',
  'invalid_request',
  'unknown_region',
  'index_conflict',
  'transition_refused',
  'registrations_disabled',
] as const;

const registeredNames = {
  evalId: 'EvalID',
  evalCreateIndex: 'EvalCreateIndex',
  jobModifyIndex: 'JobModifyIndex',
  warnings: 'Warnings',
  index: 'Index',
} as const;
const registered = written<Registered>('Registered', registeredNames, inlinedMetadata);

/** As the others, save that the leader is known. */
const scaled = written<Registered>('Registered', registeredNames, { ...inlinedMetadata, KnownLeader: true });

const dispatched = written<DispatchedJob>('DispatchedJob', {
  dispatchedJobId: 'DispatchedJobID',
  evalId: 'EvalID',
  evalCreateIndex: 'EvalCreateIndex',
  jobCreateIndex: 'JobCreateIndex',
  index: 'Index',
});

export interface VersionRows {
  readonly versions: readonly StoredRow<Job>[];
  readonly diffs: readonly JobDiff[] | null;
}

/** The kept versions of a job, newest first, and what differs between them when that was asked for. */
export interface JobVersions {
  readonly versions: readonly Job[];
  readonly diffs: readonly JobDiff[] | null;
}

/** Nothing found is told without an index. */
const statuses: AnswerForm<Indexed<PageOf<JobStatusEntry>>, Indexed<PageOf<JobStatusEntry>>> = {
  ...page<JobStatusEntry>('JobStatusEntry'),
  indexOf: ({ index, value }) => (value.items.length === 0 ? 0 : index),
};

/** Newest first; the wire has them in an object, with the differences that were asked for. */
const versions: AnswerForm<Indexed<VersionRows>, Indexed<JobVersions>> = {
  status: 200,
  schema: namedSchema('JobVersions'),
  toClient: ({ index, value: { versions, diffs } }) => ({
    index,
    value: { versions: versions.map(({ record }) => record), diffs },
  }),
  toWire: ({ index, value: { versions, diffs } }) =>
    versions.length === 0
      ? undefined
      : `{"Versions":${textOfRows(versions)},"Diffs":${JSON.stringify(diffs)},"Index":${index},"LastContact":0,"KnownLeader":true,"NextToken":""}`,
  indexOf: ({ index }) => index,
};

/** One entry of the map that names what is scaled: `Group`, and `Job` and `Namespace`, which must be those of the request. */
function inTarget(name: string) {
  return inMembers(
    { target: member('Target', jsonTextMap) },
    {
      read: ({ target }): string | undefined => target?.[name],
      print: (value: string) => ({ target: { [name]: value } }),
    },
  );
}

/** A tag with the index of its write in the body; there is no header for it. */
function tagged<T>(toWire: (value: T) => unknown): AnswerForm<T, T> {
  return computed<T>('TaggedVersion', toWire);
}

/** The jobs of node pools. */
export const poolJobCalls = {
  /** The jobs of a node pool, in a namespace or in all (`*`). */
  jobs: read({
    path: '/v1/node/pool/{name}/jobs',
    access: inNamespace('list-jobs'),
    summary: 'The jobs of a node pool, in a namespace or in all (`*`)',
    args: ['pool'],
    inputs: {
      pool: inPath('name', text),
      ...pageInputs,
      meta: inQuery('meta', boolean, 'Add the meta of each job'),
    },
    errors: [...filterFaults, 'node_pool_not_found', 'node_pool_in_use', 'invalid_node_pool'],
    statuses: { node_pool_not_found: 404 },
    answer: rowPage<JobListStub>('JobListStub'),
  }),
} as const;

/** Jobs: their documents, versions and instances, and what the scheduler has made of them. */
export const jobCalls = {
  /** The jobs of a namespace, or of all (`*`), by namespace and ID; instances are among them. */
  list: read({
    path: '/v1/jobs',
    access: inNamespace('list-jobs'),
    summary: 'The jobs of a namespace, or of all (`*`), by namespace and ID; instances are among them',
    inputs: { ...pageInputs, meta: inQuery('meta', boolean, 'Add the meta of each job') },
    errors: filterFaults,
    answer: rowPage<JobListStub>('JobListStub'),
  }),

  /** What jobs are doing at present, the one that changed last first. */
  statuses: read({
    path: '/v1/jobs/statuses',
    access: inNamespace('read-job'),
    summary: 'What jobs are doing at present, the one that changed last first',
    inputs: {
      filter: pageInputs.filter,
      perPage: pageInputs.perPage,
      nextToken: pageInputs.nextToken,
      reverse: pageInputs.reverse,
      includeChildren: inQuery('include_children', strictBoolean, 'Also the instances that other jobs made'),
    },
    errors: filterFaults,
    statuses: { filter_syntax: 500, filter_evaluation: 500 },
    answer: statuses,
  }),

  /** The same of the jobs that are named. */
  statusesOf: read({
    methods: ['POST'],
    path: '/v1/jobs/statuses',
    access: inNamespaceOf('record', 'read-job'),
    summary: 'What the named jobs are doing at present',
    args: ['jobs'],
    inputs: {
      jobs: withDefault(
        inBody('Jobs', jsonList(jsonObject({ id: member('ID', jsonText), namespace: member('Namespace', jsonText) }))),
        [],
      ),
      includeChildren: inBody('IncludeChildren', jsonBoolean),
    },
    errors: [...filterFaults, 'invalid_request'],
    answer: statuses,
  }),

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

  /** The job that a specification in HCL describes; nothing is stored. */
  parse: write({
    path: '/v1/jobs/parse',
    access: inNamespace('parse-job', 'submit-job'),
    summary: 'The job that a specification in HCL describes; nothing is stored',
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

  /** What a registration would find wrong with a job; nothing is stored. */
  validate: write({
    path: '/v1/validate/job',
    access: inNamespaceOf('record', 'read-job'),
    summary: 'What a registration would find wrong with a job; nothing is stored',
    args: ['job'],
    inputs: {
      job: jobDocument,
      region: eitherOf(inBody('Region', jsonName), inQuery('region', name, 'Region; must be the one of this server')),
    },
    errors: ['invalid_document', 'admission_refused', 'invalid_request'],
    answer: computed<ValidatedJob>('ValidatedJob', ({ errors, error, warnings }) => ({
      DriverConfigValidated: true,
      ValidationErrors: errors.length === 0 ? null : errors,
      Error: error,
      Warnings: warnings,
    })),
  }),

  /** A job with its status. */
  read: read({
    path: '/v1/job/{job_id}',
    access: inNamespace('read-job'),
    summary: 'A job with its status',
    args: ['jobId'],
    inputs: { jobId },
    answer: row<Job>('StoredJob'),
    absent: 'job not found',
  }),

  /** The source of one version of a job. */
  submission: read({
    path: '/v1/job/{job_id}/submission',
    access: inNamespace('read-job'),
    summary: 'The source of one version of a job',
    args: ['jobId', 'version'],
    inputs: {
      jobId,
      version: required(inQuery('version', unsigned('cannot parse version parameter'), 'Version of the job')),
    },
    answer: row<JobSubmission>('JobSubmission'),
    absent: 'job source not found',
  }),

  /** The kept versions of a job, newest first. */
  versions: read({
    path: '/v1/job/{job_id}/versions',
    access: inNamespace('read-job'),
    summary: 'The kept versions of a job, newest first',
    args: ['jobId'],
    inputs: {
      jobId,
      diffs: inQuery('diffs', boolean, 'Add what differs from each version to the next'),
      diffTag: inQuery('diff_tag', name, 'Compare with the version of this tag instead'),
      diffVersion: inQuery(
        'diff_version',
        unsigned('failed to parse "diff_version"', 500),
        'Compare with this version',
      ),
    },
    errors: ['version_base_not_found'],
    answer: versions,
    absent: 'job versions not found',
    anyMethod: true,
  }),

  /** The allocations of a job. */
  allocations: read({
    path: '/v1/job/{job_id}/allocations',
    access: inNamespace('read-job'),
    summary: 'The allocations of a job',
    args: ['jobId'],
    inputs: { jobId, all: inQuery('all', lenientBoolean, 'Also of an earlier registration under the same ID') },
    answer: list<AllocationListStub>('AllocationListStub'),
  }),

  /** The evaluations of a job. */
  evaluations: read({
    path: '/v1/job/{job_id}/evaluations',
    access: inNamespace('read-job'),
    summary: 'The evaluations of a job',
    args: ['jobId'],
    inputs: { jobId },
    answer: rows<Evaluation>('Evaluation'),
  }),

  /** The deployments of a job. */
  deployments: read({
    path: '/v1/job/{job_id}/deployments',
    access: inNamespace('read-job'),
    summary: 'The deployments of a job',
    args: ['jobId'],
    inputs: { jobId, all: inQuery('all', lenientBoolean, 'Also of an earlier registration under the same ID') },
    answer: list<Deployment>('Deployment'),
  }),

  /** The newest deployment of a job; null when there is none. */
  latestDeployment: read({
    path: '/v1/job/{job_id}/deployment',
    access: inNamespace('read-job'),
    summary: 'The newest deployment of a job; null when there is none',
    args: ['jobId'],
    inputs: { jobId },
    answer: nullable<Deployment>('Deployment'),
  }),

  /** Counters of the allocations and instances of a job. */
  summary: read({
    path: '/v1/job/{job_id}/summary',
    access: inNamespace('read-job'),
    summary: 'Counters of the allocations and instances of a job',
    args: ['jobId'],
    inputs: { jobId },
    answer: row<JobSummary>('JobSummary'),
    absent: 'job not found',
    anyMethod: true,
  }),

  /** Makes an instance of a parameterized job. */
  dispatch: write({
    path: '/v1/job/{job_id}/dispatch',
    access: inNamespaceOf('body', 'dispatch-job'),
    summary: 'Makes an instance of a parameterized job',
    args: ['jobId'],
    inputs: {
      jobId: repeatedInBody(jobId, { name: 'JobID', required: false, what: 'job ID' }),
      payload: inBody('Payload', jsonText),
      meta: inBody('Meta', jsonTextMap),
      idPrefixTemplate: inBody('IdPrefixTemplate', jsonText),
      priority: inBody('Priority', jsonInteger),
      idempotencyToken: eitherOf(idempotencyToken, idempotencyTokenInBody),
    },
    errors: ['job_not_found', 'dispatch_refused', 'invalid_request', 'registrations_disabled'],
    answer: dispatched,
  }),

  /** Makes an instance of a parameterized job from a payload that is sent as it is. */
  dispatchPayload: write({
    path: '/v1/job/{job_id}/dispatch/payload',
    access: inNamespace('dispatch-job'),
    summary: 'Makes an instance of a parameterized job from a payload that is sent as it is',
    args: ['jobId', 'payload'],
    inputs: { jobId, payload: withDefault(asBytes(), new Uint8Array()), idempotencyToken },
    errors: ['job_not_found', 'dispatch_refused', 'invalid_request', 'registrations_disabled'],
    answer: dispatched,
  }),

  /** Registers an earlier version again, as a new version. */
  revert: write({
    path: '/v1/job/{job_id}/revert',
    access: inNamespaceOf('body', 'submit-job', 'revert-job'),
    summary: 'Registers an earlier version again, as a new version',
    args: ['jobId', 'version'],
    inputs: {
      jobId: jobIdTwice,
      version: withDefault(inBody('JobVersion', jsonUnsigned), 0),
      enforcePriorVersion: inBody('EnforcePriorVersion', jsonUnsigned),
    },
    errors: [
      'job_not_found',
      'revert_refused',
      'version_not_found',
      'invalid_job',
      'invalid_request',
      'index_conflict',
      'transition_refused',
      'registrations_disabled',
    ],
    answer: registered,
    leaderHeaders: 'unknown',
  }),

  /** Marks a version as stable or not. */
  setStability: write({
    path: '/v1/job/{job_id}/stable',
    access: inNamespaceOf('body', 'submit-job', 'stable-job'),
    summary: 'Marks a version as stable or not',
    args: ['jobId', 'version', 'stable'],
    inputs: {
      jobId: jobIdTwice,
      version: withDefault(inBody('JobVersion', jsonUnsigned), 0),
      stable: withDefault(inBody('Stable', jsonBoolean), false),
    },
    errors: ['version_not_found'],
    answer: written<{ readonly index: number }>('WriteIndex', { index: 'Index' }),
  }),

  /** Has the scheduler look at the job. */
  evaluate: write({
    path: '/v1/job/{job_id}/evaluate',
    access: inNamespaceOf('body', 'submit-job', 'evaluate-job'),
    summary: 'Has the scheduler look at the job',
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
    errors: ['job_not_found', 'evaluation_refused'],
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
      purge: inQuery('purge', boolean, 'Remove the job and everything of it at once'),
      global: inQuery('global', boolean, 'Accepted; there is one region'),
      evalPriority: inQuery(
        'eval_priority',
        contractInteger,
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
    ],
    statuses: { job_not_found: 404 },
    answer: scaled,
  }),

  /** Names a version, which keeps it. */
  tagVersion: write({
    path: '/v1/job/{job_id}/versions/{name}/tag',
    access: inNamespace('submit-job', 'tag-job-version'),
    summary: 'Names a version, which keeps it',
    args: ['jobId', 'name'],
    inputs: {
      jobId,
      name: inPath('name', text),
      version: inBody('Version', jsonUnsigned),
      latest: inBody('Latest', jsonBoolean),
      description: inBody('Description', jsonText),
    },
    errors: ['invalid_request', 'tag_refused', 'version_not_found'],
    answer: tagged<TaggedVersion>(({ index, ...tag }) => ({ ...tag, Index: index, ...inlinedMetadata })),
  }),

  /** Takes the name away from its version. */
  untagVersion: write({
    methods: ['DELETE'],
    path: '/v1/job/{job_id}/versions/{name}/tag',
    access: inNamespace('submit-job', 'tag-job-version'),
    summary: 'Takes the name away from its version',
    args: ['jobId', 'name'],
    inputs: { jobId, name: inPath('name', text) },
    errors: ['invalid_request', 'tag_refused', 'version_not_found'],
    answer: tagged<{ readonly index: number }>(({ index }) => ({
      Name: '',
      Description: '',
      TaggedTime: 0,
      Index: index,
      ...inlinedMetadata,
    })),
  }),
} as const;

export type { SubmissionInput };
