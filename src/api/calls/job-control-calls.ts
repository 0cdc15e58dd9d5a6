import type { JobPlan } from '../../operations/jobs/registration/plan-steps.js';
import type { ForcedLaunch } from '../../operations/periodic/force-launch.js';

import { inNamespace, inNamespaceOf } from '../access.js';
import { type AnswerForm, written } from '../answers.js';
import { write } from '../call.js';
import { jobId } from '../common-inputs.js';
import { inBody } from '../inputs.js';
import { jsonBoolean, namedSchema } from '../json-codecs.js';
import { jobDocument, regionOfDocument, registrationFaults } from './job-calls/forms.js';

/** A plan with its wire names; `seal` is for in-process callers. */
const plan: AnswerForm<JobPlan, JobPlan> = {
  schema: namedSchema('JobPlan'),
  status: 200,
  toClient: (value) => value,
  toWire: (value) =>
    JSON.stringify({
      Annotations: value.annotations,
      FailedTGAllocs: value.failedPlacements,
      JobModifyIndex: value.jobModifyIndex,
      CreatedEvals: value.createdEvaluations,
      Diff: value.diff,
      NextPeriodicLaunch: value.nextPeriodicLaunch,
      Warnings: value.warnings,
      Index: value.index,
    }),
  indexOf: ({ index }) => index,
};

/** Actions on jobs other than registration. */
export const jobControlCalls = {
  /** Dry run of a registration; nothing is stored. */
  plan: write({
    path: '/v1/job/{job_id}/plan',
    access: inNamespaceOf('body', 'submit-job', 'plan-job'),
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
    },
    errors: registrationFaults,
    answer: plan,
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
