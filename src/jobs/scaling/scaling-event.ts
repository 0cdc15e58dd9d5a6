import { table } from '../../shared/table.js';

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
