import type { DestinationKind } from '../../../notifications/configurations/destination.js';
import {
  type Attempt,
  type Delivery,
  type DeliveryOutcome,
  outcomeOf,
  type RecipientResult,
} from '../../../notifications/delivery/delivery.js';
import type { WaitReason } from '../../../notifications/queue/wait-reason.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';

/** A line of the delivery log. All times are RFC 3339 in UTC with milliseconds. */
export interface DeliverySummary {
  /** `nd-` and 16 characters. */
  readonly id: string;
  /** The workspace of the event and of the configuration. */
  readonly workspaceId: string;
  /** The notified configuration. */
  readonly configurationId: string;
  /** The event of the delivery. */
  readonly eventId: string;
  /** The kind of the destination when the event was accepted. */
  readonly kind: DestinationKind;
  /** A trigger, or the name of an event type. */
  readonly trigger: string;
  /** The outcome, or `pending`. */
  readonly outcome: DeliveryOutcome;
  /** The reason for an end without success, or null. */
  readonly reason: string | null;
  /** When the event was accepted. */
  readonly createdAt: string;
  /** Due time of the next attempt, or null. */
  readonly nextAttemptAt: string | null;
  /** For a pending delivery: the reason for waiting, and its end if known. Null if nothing delays it or it has ended. */
  readonly waitsFor: { readonly reason: WaitReason; readonly until: string | null } | null;
  /** When it ended; null while pending. */
  readonly settledAt: string | null;
  /** The number of attempts, including redeliveries. */
  readonly attemptCount: number;
  /** The status code of the last attempt; null without an attempt or a response. */
  readonly lastStatus: number | null;
  /** The `FailureClass` of the last attempt; null if it succeeded or there was none. */
  readonly lastFailure: string | null;
}

/** A delivery with its attempts and body. */
export interface DeliveryDetails extends DeliverySummary {
  /** The latest 50, oldest first. */
  readonly attempts: readonly (Omit<Attempt, 'startedAt'> & { readonly startedAt: string })[];
  /** For e-mail: the result for each recipient. */
  readonly recipients: readonly (Omit<RecipientResult, 'at'> & { readonly at: string })[];
  /** The body; null if it can no longer be rendered. */
  readonly body: string | null;
}

/** The members of an unfinished delivery. */
export interface Pending {
  readonly nextAttemptAt: Instant | null;
  readonly waitsFor: { readonly reason: WaitReason; readonly until: Instant | null } | null;
}

export function summariseDelivery(delivery: Delivery, pending: Pending | null): DeliverySummary {
  const last = delivery.attempts.at(-1);
  return {
    id: delivery.id,
    workspaceId: delivery.workspaceId,
    configurationId: delivery.configurationId,
    eventId: delivery.eventId,
    kind: delivery.kind,
    trigger: delivery.trigger,
    outcome: outcomeOf(delivery.state),
    reason: 'reason' in delivery.state ? delivery.state.reason : null,
    createdAt: isoFromInstant(delivery.createdAt),
    nextAttemptAt: shownTime(pending?.nextAttemptAt),
    waitsFor: shownWait(pending),
    settledAt: 'at' in delivery.state ? isoFromInstant(delivery.state.at) : null,
    attemptCount: last?.number ?? 0,
    lastStatus: last?.status ?? null,
    lastFailure: last?.failure?.class ?? null,
  };
}

export function describeDelivery(delivery: Delivery, pending: Pending | null, body: string | null): DeliveryDetails {
  return {
    ...summariseDelivery(delivery, pending),
    attempts: delivery.attempts.map((attempt) => ({ ...attempt, startedAt: isoFromInstant(attempt.startedAt) })),
    recipients: (delivery.recipients ?? []).map((result) => ({ ...result, at: isoFromInstant(result.at) })),
    body,
  };
}

function shownTime(moment: Instant | null | undefined): string | null {
  return moment === null || moment === undefined ? null : isoFromInstant(moment);
}

function shownWait(pending: Pending | null): DeliverySummary['waitsFor'] {
  const wait = pending?.waitsFor ?? null;
  return wait === null ? null : { reason: wait.reason, until: shownTime(wait.until) };
}
