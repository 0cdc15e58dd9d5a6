import type { Job } from '../document/job.js';
import type { ScalingPolicy } from '../document/policies.js';

/** The scaling policies of the groups of a job. Those of a stopped job are disabled, with the index of the stop. */
export function scalingPoliciesOf({ TaskGroups, Stop, JobModifyIndex }: Job): readonly ScalingPolicy[] {
  const policies = TaskGroups.flatMap(({ Scaling }) => (Scaling === null ? [] : [Scaling]));
  return Stop ? policies.map((policy) => ({ ...policy, Enabled: false, ModifyIndex: JobModifyIndex })) : policies;
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
