import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';
import type { AssessmentTrigger, RunTrigger, Trigger, WorkspaceTrigger } from './trigger.js';

/** A run changed state. All times are RFC 3339 text and go into payloads as they are. */
export interface RunEvent {
  readonly kind: 'run';
  readonly trigger: RunTrigger;
  /** Why there is a notification, for example `Run Errored`. */
  readonly message: string;
  readonly runId: string;
  readonly runUrl: string | null;
  /** Why the run was queued. */
  readonly runMessage: string | null;
  readonly runCreatedAt: string | null;
  readonly runCreatedBy: string | null;
  readonly runStatus: string | null;
  readonly runUpdatedAt: string | null;
  /** Null when no person moved the run. */
  readonly runUpdatedBy: string | null;
  /** Speculative runs notify nobody. */
  readonly speculative: boolean;
  /** Picture of the creator, for chat messages. */
  readonly runCreatorAvatarUrl?: string | null;
}

/** One result of a health assessment, with the payload's own field names: it is passed on as it is. */
export interface AssessmentResult {
  readonly id: string;
  readonly url: string;
  readonly succeeded: boolean;
  readonly drifted: boolean;
  readonly all_checks_succeeded: boolean;
  readonly resources_drifted: number;
  readonly resources_undrifted: number;
  readonly checks_passed: number;
  readonly checks_failed: number;
  readonly checks_errored: number;
  readonly checks_unknown: number;
  readonly created_at: string;
}

/** A health assessment found something. */
export interface AssessmentEvent {
  readonly kind: 'assessment';
  readonly trigger: AssessmentTrigger;
  readonly message: string;
  readonly newAssessmentResult: AssessmentResult;
  /** Null for the first assessment. */
  readonly priorAssessmentResult: AssessmentResult | null;
}

/** A workspace is about to be destroyed on schedule, or its destroy run was attempted. */
export interface AutoDestroyEvent {
  readonly kind: 'auto_destroy';
  readonly trigger: WorkspaceTrigger;
  readonly message: string;
  /** Reminders only. */
  readonly autoDestroyAt: string | null;
  /** Results only; null when the run could not be created. */
  readonly runCreatedAt: string | null;
  readonly runStatus: string | null;
  readonly runExternalId: string | null;
  readonly runCreateErrorMessage: string | null;
}

/** What can be notified. */
export type NotificationEvent = RunEvent | AssessmentEvent | AutoDestroyEvent;

/** An accepted event. */
export interface StoredEvent {
  readonly id: string;
  readonly workspaceId: string;
  /** Order of acceptance over the whole store. */
  readonly sequence: number;
  readonly createdAt: Instant;
  readonly trigger: Trigger;
  readonly event: NotificationEvent;
  readonly idempotencyKey: string | null;
  readonly deliveryIds: readonly string[];
}

export const events = table<StoredEvent>('notification_events', (event) => [event.id], {
  by_sequence: { version: 1, key: ({ sequence }) => [sequence] },
  by_idempotency: {
    version: 1,
    key: ({ workspaceId, idempotencyKey, sequence }) =>
      idempotencyKey === null ? undefined : [workspaceId, idempotencyKey, sequence],
  },
});

/** Events of one write at most; keeps `sequence` a whole number for 2^41 writes. */
const eventsPerWrite = 4096;

/** The sequence of the next event of the write with this index; `last` is the highest sequence so far, if any. */
export function nextEventSequence(writeIndex: number, last: number | undefined): number {
  const first = writeIndex * eventsPerWrite;
  return last !== undefined && last >= first ? last + 1 : first;
}

/** What keeps its order at one destination: the notifications of one run. Null for events that stand alone. */
export function orderKeyOf(event: NotificationEvent): string | null {
  return event.kind === 'run' ? event.runId : null;
}
