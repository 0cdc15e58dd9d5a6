import type { ScalingPolicy } from '../../jobs/document/policies.js';
import type { ScalingPolicyStub } from '../../jobs/scaling/scaling-records.js';
import { anyCaller, inNamespace } from '../access.js';
import { found, list } from '../answers.js';
import { read } from '../call.js';
import { inPath, inQuery } from '../inputs.js';
import { text } from '../text-codecs.js';

/** Scaling policies, for autoscalers. They are written as part of their jobs. */
export const scalingCalls = {
  /** The scaling policies of a namespace, or of all (`*`), by ID. */
  policies: read({
    path: '/v1/scaling/policies',
    access: anyCaller,
    summary: 'The scaling policies of a namespace, or of all (`*`), by ID',
    inputs: {
      prefix: inQuery('prefix', text, 'Only IDs with this prefix'),
      job: inQuery('job', text, 'Only policies of this job'),
      type: inQuery('type', text, 'Only policies whose type has this prefix'),
    },
    answer: list<ScalingPolicyStub>('ScalingPolicyStub'),
  }),

  /** One scaling policy. */
  policy: read({
    path: '/v1/scaling/policy/{policy_id}',
    access: inNamespace('read-scaling-policy', 'list-jobs'),
    summary: 'One scaling policy',
    args: ['id'],
    inputs: { id: inPath('policy_id', text) },
    answer: found<ScalingPolicy | undefined>('StoredScalingPolicy'),
    absent: 'policy not found',
  }),
} as const;
