import {
  type Attempt,
  type Delivery,
  type DeliveryOutcome,
  type DeliveryState,
  outcomeOf,
} from '../../notifications/delivery.js';
import type { DestinationKind } from '../../notifications/destination.js';
import { isoFromInstant } from '../../shared/instant.js';

/** A line of the delivery log. All times are RFC 3339 in UTC with milliseconds. */
export interface DeliverySummary {
  readonly id: string;
  readonly workspaceId: string;
  readonly configurationId: string;
  readonly eventId: string;
  readonly kind: DestinationKind;
  readonly trigger: string;
  readonly outcome: DeliveryOutcome;
  /** Why it ended without success; null otherwise. */
  readonly reason: string | null;
  readonly createdAt: string;
  /** When the next attempt is due; null when none is. */
  readonly nextAttemptAt: string | null;
  /** When it ended; null while pending. */
  readonly settledAt: string | null;
  readonly attemptCount: number;
  readonly lastStatus: number | null;
  readonly lastFailure: string | null;
}

/** With the whole attempts and the body that is sent. */
export interface DeliveryDetails extends DeliverySummary {
  readonly attempts: readonly (Omit<Attempt, 'startedAt'> & { readonly startedAt: string })[];
  readonly body: string | null;
}

export function summariseDelivery(delivery: Delivery): DeliverySummary {
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
    nextAttemptAt: nextAttemptOf(delivery.state),
    settledAt: 'at' in delivery.state ? isoFromInstant(delivery.state.at) : null,
    attemptCount: last?.number ?? 0,
    lastStatus: last?.status ?? null,
    lastFailure: last?.failure?.class ?? null,
  };
}

export function describeDelivery(delivery: Delivery, body: string | null): DeliveryDetails {
  return {
    ...summariseDelivery(delivery),
    attempts: delivery.attempts.map((attempt) => ({ ...attempt, startedAt: isoFromInstant(attempt.startedAt) })),
    body,
  };
}

/** A redelivery is due at once, which the queue writes as the beginning of time. */
function nextAttemptOf(state: DeliveryState): string | null {
  if (state.type === 'waiting') return isoFromInstant(state.dueAt);
  return state.type === 'manual' ? isoFromInstant(state.requestedAt) : null;
}
