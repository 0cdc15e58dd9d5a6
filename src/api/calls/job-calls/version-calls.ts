import type { TaggedVersion } from '../../../operations/jobs/tag-job-version.js';

import { inNamespace, inNamespaceOf } from '../../access.js';
import { type AnswerForm, computed, inlinedMetadata, written } from '../../answers.js';
import { write } from '../../call.js';
import { jobId, jobIdTwice } from '../../common-inputs.js';
import { inBody, inPath, withDefault } from '../../inputs.js';
import { jsonBoolean, jsonText, jsonUnsigned } from '../../json-codecs.js';
import { text } from '../../text-codecs.js';
import { registered } from './forms.js';

/** A tag, with the index of its write in the body instead of a header. */
function tagged<T>(toWire: (value: T) => unknown): AnswerForm<T, T> {
  return computed<T>('TaggedVersion', toWire);
}

/** Actions on the versions of a job. */
export const versionCalls = {
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
    access: inNamespaceOf('body', 'submit-job', 'stable-job'),
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
