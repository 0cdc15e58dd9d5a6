import { table } from '../../shared/table.js';

/** One scaling of a group, or one reason why it was not scaled (job interface, scale status). */
export interface ScalingEvent {
  /** Unix nanoseconds. */
  readonly Time: number;
  /** The new count; null when the event changed nothing. */
  readonly Count: number | null;
  /** The count before. */
  readonly PreviousCount: number;
  /** The text of the caller; may be empty. */
  readonly Message: string;
  /** Whether it says why the group could not be scaled. */
  readonly Error: boolean;
  /** Values of the caller for programs; null for none. */
  readonly Meta: Readonly<Record<string, unknown>> | null;
  /** ID of the evaluation that the scaling made; null for none. */
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

/** Events that are kept of each group. */
export const trackedScalingEvents = 20;

/** The event without what only the store needs. */
export function scalingEventOf(stored: StoredScalingEvent): ScalingEvent {
  const { Namespace: _namespace, JobID: _jobId, Group: _group, ...event } = stored;
  return event;
}
