import type { JobScaleStatus } from '../../../operations/jobs/reading/read-scale-status.js';
import type { Registered } from '../../../operations/jobs/registration/register-job.js';

import { inNamespace } from '../../access.js';
import { found, inlinedMetadata, written } from '../../answers.js';
import { read, write } from '../../call.js';
import { enforceGivenIndex, jobId } from '../../common-inputs.js';
import { inBody, inMembers, withDefault } from '../../inputs.js';
import {
  jsonBoolean,
  jsonInteger,
  jsonMap,
  jsonText,
  jsonTextMap,
  jsonTextOrBoolean,
  member,
} from '../../json-codecs.js';
import { registeredNames } from './forms.js';

const constants = { ...inlinedMetadata, KnownLeader: true };
const { evalId: _id, evalCreateIndex: _index, ...withoutEvaluation } = registeredNames;
const whole = written<Registered>('Scaled', registeredNames, constants);
const noted = written<Omit<Registered, 'evalId' | 'evalCreateIndex'>>('Scaled', withoutEvaluation, constants);

/** As `registered`, but with a known leader. With the default names the evaluation is there only when the scaling created one. */
const scaled: typeof whole = {
  ...whole,
  toNeutralWire: (value, input) => (value.evalId === '' ? noted : whole).toWire(value, input),
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
