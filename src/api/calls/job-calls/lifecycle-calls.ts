import type { StoppedJob } from '../../../operations/jobs/stop-job.js';

import { inNamespace, inNamespaceOf } from '../../access.js';
import { inlinedMetadata, written } from '../../answers.js';
import { write } from '../../call.js';
import { jobId, jobIdTwice } from '../../common-inputs.js';
import { inMembers, inQuery } from '../../inputs.js';
import { jsonBoolean, jsonObject, member } from '../../json-codecs.js';
import { boolean, integerOr500 } from '../../text-codecs.js';
import { registered } from './forms.js';

/** Evaluating and stopping jobs. */
export const lifecycleCalls = {
  /** Creates an evaluation of the job. */
  evaluate: write({
    path: '/v1/job/{job_id}/evaluate',
    access: inNamespaceOf('body', 'submit-job', 'evaluate-job'),
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
        integerOr500,
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
