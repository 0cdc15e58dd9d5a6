import { table } from '../../shared/table.js';
import type { Job } from '../document/job.js';
import type { ScalingPolicy } from '../document/policies.js';

/** One scaling of a group, or one reason for not scaling it (job interface, scale status). */
export interface ScalingEvent {
  /** Unix nanoseconds. */
  readonly Time: number;
  /** The new count; null when the event changed nothing. */
  readonly Count: number | null;
  /** The count before. */
  readonly PreviousCount: number;
  /** The caller's message; may be empty. */
  readonly Message: string;
  /** Whether the message is the reason for not scaling. */
  readonly Error: boolean;
  /** The caller's values for programs; null for none. */
  readonly Meta: Readonly<Record<string, unknown>> | null;
  /** ID of the evaluation that the scaling created; null for none. */
  readonly EvalID: string | null;
  readonly CreateIndex: number;
}

interface StoredScalingEvent extends ScalingEvent {
  readonly Namespace: string;
  readonly JobID: string;
  readonly Group: string;
}

export const scalingEvents = table<StoredScalingEvent>('scaling_events', (event) => [
  event.Namespace,
  event.JobID,
  event.Group,
  event.CreateIndex,
]);

/** The number of events kept for each group. */
export const trackedScalingEvents = 20;

/** The event without the members that only the store uses. */
export function scalingEventOf(stored: StoredScalingEvent): ScalingEvent {
  const { Namespace: _namespace, JobID: _jobId, Group: _group, ...event } = stored;
  return event;
}

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
