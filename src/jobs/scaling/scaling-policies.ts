import type { Job } from '../document/job.js';
import type { ScalingPolicy } from '../document/policies.js';

/** The scaling policies of the groups of a job. */
export function scalingPoliciesOf(job: Job): readonly ScalingPolicy[] {
  return job.TaskGroups.flatMap(({ Scaling }) => (Scaling === null ? [] : [Scaling]));
}

/** What lists show of a policy. */
export type ScalingPolicyStub = Pick<
  ScalingPolicy,
  'ID' | 'Enabled' | 'Type' | 'Target' | 'CreateIndex' | 'ModifyIndex'
>;

export function scalingPolicyStub(policy: ScalingPolicy): ScalingPolicyStub {
  const { ID, Enabled, Type, Target, CreateIndex, ModifyIndex } = policy;
  return { ID, Enabled, Type, Target, CreateIndex, ModifyIndex };
}
