import type { JobSubmission } from '../../../jobs/changes/submissions.js';
import type { JobDiff } from '../../../jobs/diff/job-diff.js';
import type { Job } from '../../../jobs/document/job.js';
import type { JobStatusEntry } from '../../../jobs/status/job-status.js';
import type { JobListStub, JobSummary } from '../../../jobs/status/job-summary.js';
import type { TaggedVersion } from '../../../operations/jobs/job-versions.js';
import type { JobPlacement, JobSchedule, Schedules } from '../../../operations/jobs/reading/outlook.js';
import type { EndedRunView, Failures } from '../../../operations/jobs/reading/read-ended-runs.js';
import type { AllocationListStub } from '../../../scheduler/allocation-views.js';
import type { Deployment } from '../../../scheduler/deployment/deployment.js';
import type { Evaluation } from '../../../scheduler/evaluation.js';
import { inNamespace, inNamespaceOfBody, onRecord } from '../../access.js';
import {
  type AnswerForm,
  computed,
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
} from '../../answers.js';
import { read, write } from '../../call.js';
import {
  eitherOf,
  filterFaults,
  inBody,
  inMembers,
  inPath,
  inQuery,
  jobId,
  jobIdTwice,
  judgedByOperation,
  pageInputs,
  required,
  withDefault,
} from '../../inputs.js';
import {
  jsonBoolean,
  jsonInteger,
  jsonList,
  jsonObject,
  jsonText,
  jsonTexts,
  jsonUnsigned,
  type MembersOf,
  member,
  namedSchema,
} from '../../json-codecs.js';
import { boolean, instant, integer, lenientBoolean, name, text, unsigned } from '../../text-codecs.js';
import { registered } from './changes.js';

/** The index of an empty result is 0. */
const statuses: AnswerForm<Indexed<PageOf<JobStatusEntry>>, Indexed<PageOf<JobStatusEntry>>> = {
  ...page<JobStatusEntry>('JobStatusEntry'),
  indexOf: ({ index, value }) => (value.items.length === 0 ? 0 : index),
};

const { prefix: _, ...statusInputs } = pageInputs;
const includeChildren = inQuery('include_children', boolean, 'Include instances of periodic and parameterized jobs');

/** The jobs in the body; a body without jobs is refused. */
const namedJobs = {
  jobs: member('Jobs', jsonList(jsonObject({ id: member('ID', jsonText), namespace: member('Namespace', jsonText) }))),
};
type NamedJobs = NonNullable<MembersOf<typeof namedJobs>['jobs']>;
const jobsNamed = {
  read: ({ jobs = [] }: MembersOf<typeof namedJobs>): NamedJobs => jobs,
  print: (jobs: NamedJobs) => ({ jobs }),
};

const orderOfJobs = {
  sort: inQuery(
    'sort',
    text,
    'Order, descending after a minus: `id`, `type`, `status`, `priority`, `changed`, `submitted`, `last_run`, `last_outcome` or `next_launch`',
  ),
  lastOutcome: inQuery('last_outcome', text, 'Only jobs whose last run had this outcome'),
} as const;

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
      ...orderOfJobs,
    },
    errors: [...filterFaults, 'node_pool_not_found', 'invalid_request'],
    answer: rowPage<JobListStub>('JobListStub'),
  }),
} as const;

const launches = inQuery('launches', integer, 'Launches of each job, 1 to 100; default: 10');

/** What waits for room, and what the clock will launch. */
export const outlookCalls = {
  /** For each group of a job, what prevents the nodes from taking one more allocation. */
  placement: write({
    methods: ['GET'],
    path: '/v1/jobs/placement',
    access: inNamespace('read-job'),
    summary: 'For each group of a job, what prevents the nodes from taking one more allocation, nearest nodes first',
    args: ['jobId'],
    inputs: {
      jobId: required(inQuery('job', text, 'ID of the job')),
      nodes: inQuery('nodes', integer, 'Nodes of each group, 1 to 100; default: 10'),
    },
    errors: ['job_not_found', 'invalid_request'],
    answer: computed<JobPlacement>('JobPlacement'),
  }),

  /** The schedules of periodic jobs: their next launches, and what is surprising about them. */
  schedules: write({
    methods: ['GET'],
    path: '/v1/jobs/schedules',
    access: inNamespace('read-job'),
    summary: 'The schedules of periodic jobs of a namespace, or of all (`*`): next launches, and what is surprising',
    inputs: { jobId: inQuery('job', text, 'Only the job with this ID'), launches },
    errors: ['invalid_request'],
    answer: computed<Schedules>('Schedules'),
  }),

  /** The runs of batch jobs that have ended, also of jobs that have been collected. */
  runs: read({
    path: '/v1/jobs/runs',
    access: inNamespace('read-job'),
    summary: 'The runs of batch jobs that have ended, the latest first, also of jobs that have been collected',
    inputs: {
      jobId: inQuery('job', text, 'Only instances of this job, or the run of this instance'),
      outcome: inQuery('outcome', text, '`succeeded`, `failed`, `stopped`, `timed_out` or `lost`'),
      perPage: inQuery('per_page', integer, 'Items per page, at most 1,000; default: 100'),
      nextToken: pageInputs.nextToken,
    },
    errors: ['invalid_request'],
    answer: page<EndedRunView>('EndedRun'),
  }),

  /** Failed runs of batch jobs and functions, counted by their cause. */
  failures: write({
    methods: ['GET'],
    path: '/v1/jobs/failures',
    access: inNamespace('read-job'),
    summary: 'Failed runs of batch jobs and functions, counted by their cause',
    inputs: {
      jobId: inQuery('job', text, 'Only runs of this job or function'),
      since: inQuery('since', instant, 'Only runs that ended since, RFC 3339; default: a day ago'),
    },
    answer: computed<Failures>('Failures'),
  }),

  /** The launches of cron expressions, before a job with them is registered. */
  trySchedule: write({
    path: '/v1/jobs/schedules/try',
    access: inNamespace('parse-job', 'read-job', 'submit-job'),
    summary: 'The launches of cron expressions, and what is surprising about them; nothing is stored',
    args: ['specs'],
    inputs: {
      specs: required(inBody('specs', jsonTexts)),
      timeZone: inBody('timeZone', jsonText),
      launches: inBody('launches', jsonInteger),
    },
    errors: ['invalid_request'],
    answer: computed<Pick<JobSchedule, 'launches' | 'findings'>>('TriedSchedule'),
  }),
} as const;

/** Lists of jobs. */
export const jobListCalls = {
  /** The jobs of a namespace, or of all (`*`), by namespace and ID; instances are among them. */
  list: read({
    path: '/v1/jobs',
    access: inNamespace('list-jobs'),
    summary: 'The jobs of a namespace, or of all (`*`), by namespace and ID; instances are among them',
    inputs: { ...pageInputs, meta: inQuery('meta', boolean, 'Add the meta of each job'), ...orderOfJobs },
    errors: [...filterFaults, 'invalid_request'],
    answer: rowPage<JobListStub>('JobListStub'),
  }),

  /** The current status of jobs, last changed first. */
  statuses: read({
    path: '/v1/jobs/statuses',
    access: inNamespace('read-job'),
    summary: 'The current status of jobs, last changed first',
    inputs: { ...statusInputs, includeChildren },
    errors: filterFaults,
    answer: statuses,
  }),

  /** The same for the given jobs, or without a body for all of a namespace. */
  statusesOf: read({
    methods: ['POST'],
    path: '/v1/jobs/statuses',
    access: onRecord('read-job'),
    summary: 'The current status of the given jobs, or without a body of all jobs of a namespace',
    args: ['jobs'],
    inputs: {
      jobs: judgedByOperation(inMembers<NamedJobs, typeof namedJobs>(namedJobs, jobsNamed)),
      ...statusInputs,
      includeChildren: eitherOf(inBody('IncludeChildren', jsonBoolean), includeChildren),
    },
    optionalBody: true,
    errors: [...filterFaults, 'invalid_request'],
    answer: statuses,
  }),
} as const;

export interface VersionRows {
  readonly versions: readonly StoredRow<Job>[];
  readonly diffs: readonly JobDiff[] | null;
}

/** The retained versions of a job, newest first, with their differences if requested. */
export interface JobVersions {
  readonly versions: readonly Job[];
  readonly diffs: readonly JobDiff[] | null;
}

/** Newest first; on the wire in an object, with the differences if requested. */
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

/** One job and its scheduling state. */
export const jobReadCalls = {
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
      diffs: inQuery('diffs', boolean, 'Include the differences between consecutive versions'),
      diffTag: inQuery('diff_tag', name, 'Compare with the version of this tag instead'),
      diffVersion: inQuery('diff_version', unsigned('failed to parse "diff_version"'), 'Compare with this version'),
    },
    errors: ['version_base_not_found'],
    answer: versions,
    absent: 'job versions not found',
  }),

  /** The allocations of a job. */
  allocations: read({
    path: '/v1/job/{job_id}/allocations',
    access: inNamespace('read-job'),
    summary: 'The allocations of a job',
    args: ['jobId'],
    inputs: {
      jobId,
      all: inQuery('all', lenientBoolean, 'Include those of an earlier registration under the same ID'),
    },
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
    inputs: {
      jobId,
      all: inQuery('all', lenientBoolean, 'Include those of an earlier registration under the same ID'),
    },
    answer: list<Deployment>('Deployment'),
  }),

  /** The newest deployment of a job; null when there is none. */
  latestDeployment: read({
    path: '/v1/job/{job_id}/deployment',
    access: inNamespace('read-job'),
    summary: 'The newest deployment of a job, or null',
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
  }),
} as const;

/** A tag, with the index of its write in the body instead of a header. */
function tagged<T>(toWire: (value: T) => unknown): AnswerForm<T, T> {
  return computed<T>('TaggedVersion', toWire);
}

/** Actions on the versions of a job. */
export const versionCalls = {
  /** Registers an earlier version again, as a new version. */
  revert: write({
    path: '/v1/job/{job_id}/revert',
    access: inNamespaceOfBody('submit-job', 'revert-job'),
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
      'policy_refused',
      'quota_exceeded',
      'job_of_function',
    ],
    answer: registered,
    leaderHeaders: 'unknown',
  }),

  /** Marks a version as stable or not. */
  setStability: write({
    path: '/v1/job/{job_id}/stable',
    access: inNamespaceOfBody('submit-job', 'stable-job'),
    summary: 'Marks a version as stable or not',
    args: ['jobId', 'version', 'stable'],
    inputs: {
      jobId: jobIdTwice,
      version: withDefault(inBody('JobVersion', jsonUnsigned), 0),
      stable: withDefault(inBody('Stable', jsonBoolean), false),
    },
    errors: ['version_not_found', 'job_of_function'],
    answer: written<{ readonly index: number }>('WriteIndex', { index: 'Index' }),
  }),
} as const;

/** Tags of versions. */
export const versionTagCalls = {
  /** Tags a version, which protects it from garbage collection. */
  tagVersion: write({
    path: '/v1/job/{job_id}/versions/{name}/tag',
    access: inNamespace('submit-job', 'tag-job-version'),
    summary: 'Tags a version, which protects it from garbage collection',
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

  /** Removes the tag from its version. */
  untagVersion: write({
    methods: ['DELETE'],
    path: '/v1/job/{job_id}/versions/{name}/tag',
    access: inNamespace('submit-job', 'tag-job-version'),
    summary: 'Removes the tag from its version',
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
