import type { JobSubmission } from '../../../jobs/changes/job-submission.js';
import type { JobDiff } from '../../../jobs/diff/job-diff.js';
import type { Job } from '../../../jobs/document/job.js';
import type { JobSummary } from '../../../jobs/status/job-summary-record.js';
import type { AllocationListStub } from '../../../scheduler/allocation-stub.js';
import type { Deployment } from '../../../scheduler/deployment/deployment.js';
import type { Evaluation } from '../../../scheduler/evaluation.js';
import { inNamespace } from '../../access.js';
import { type AnswerForm, type Indexed, list, nullable, row, rows, type StoredRow, textOfRows } from '../../answers.js';
import { read } from '../../call.js';
import { jobId } from '../../common-inputs.js';
import { inQuery, required } from '../../inputs.js';
import { namedSchema } from '../../json-codecs.js';
import { boolean, lenientBoolean, name, unsigned } from '../../text-codecs.js';

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
    anyMethod: true,
  }),
} as const;
