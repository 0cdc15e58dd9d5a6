import { err, ok, type Result } from 'neverthrow';
import type { Instant } from '../../shared/instant.js';
import type { CancelReason, DeliveryState, SettledState } from './delivery.js';

export type DeliveryEvent =
  | { readonly type: 'attempt_delivered'; readonly at: Instant; readonly partly: boolean }
  | {
      readonly type: 'attempt_failed';
      readonly at: Instant;
      readonly permanent: boolean;
      /** From the retry schedule; null when it is used up. */
      readonly nextAt: Instant | null;
      /** A failure on the sender's side: the attempt does not count against the schedule. */
      readonly uncounted?: boolean;
      /** Whether the mail was accepted for some recipients. */
      readonly partly?: boolean;
    }
  /** An earlier notification of its run is unfinished. Applies only to a delivery without attempts. */
  | { readonly type: 'put_behind' }
  /** The earlier notifications of its run are finished. */
  | { readonly type: 'released'; readonly at: Instant }
  /** The delivery has reached its maximum age. */
  | { readonly type: 'expired'; readonly at: Instant; readonly partly?: boolean }
  | { readonly type: 'cancelled'; readonly at: Instant; readonly reason: CancelReason }
  /** One attempt outside the schedule. */
  | { readonly type: 'redelivery_requested'; readonly at: Instant };

interface DeliveryTransitionError {
  readonly type: 'invalid_transition';
  readonly state: DeliveryState['type'];
  readonly event: DeliveryEvent['type'];
}

/**
 * The state machine of a delivery: it waits for attempts until one succeeds, the schedule or its maximum age is exhausted, a permanent
 * failure ends it, or its configuration is removed. A redelivery is one more attempt: its failure changes nothing else, unless it was the
 * first to reach some of the recipients.
 */
export function transitionDelivery(
  current: DeliveryState,
  event: DeliveryEvent,
): Result<DeliveryState, DeliveryTransitionError> {
  const impossible = err({ type: 'invalid_transition' as const, state: current.type, event: event.type });
  switch (event.type) {
    case 'attempt_delivered':
      if (!isAttempted(current)) return impossible;
      return ok({ type: event.partly ? 'partly_delivered' : 'delivered', at: event.at });
    case 'attempt_failed':
      if (current.type === 'manual') return ok(afterFailedRedelivery(current, event));
      return current.type === 'waiting' ? ok(afterFailedAttempt(current, event)) : impossible;
    case 'put_behind':
      return current.type === 'waiting' && current.attempted === 0 ? ok({ type: 'behind' }) : impossible;
    case 'released':
      return current.type === 'behind' ? ok({ type: 'waiting', dueAt: event.at, attempted: 0 }) : impossible;
    case 'expired':
      return ended(current, givenUp(event, 'expired')) ?? impossible;
    case 'cancelled':
      return ended(current, { type: 'cancelled', at: event.at, reason: event.reason }) ?? impossible;
    case 'redelivery_requested':
      return current.type === 'manual'
        ? ok(current)
        : ok({ type: 'manual', dueAt: 0, requestedAt: event.at, before: current });
  }
}

/** Ends an unfinished delivery; for a finished one, drops the requested redelivery and restores the state before. */
function ended(current: DeliveryState, end: SettledState): Result<DeliveryState, never> | null {
  if (current.type === 'waiting' || current.type === 'behind') return ok(end);
  if (current.type !== 'manual') return null;
  return ok(current.before.type === 'waiting' || current.before.type === 'behind' ? end : current.before);
}

/** Whether attempts are made in the state. */
function isAttempted({ type }: DeliveryState): boolean {
  return type === 'waiting' || type === 'manual';
}

function afterFailedAttempt(
  { attempted }: Extract<DeliveryState, { type: 'waiting' }>,
  event: Extract<DeliveryEvent, { type: 'attempt_failed' }>,
): DeliveryState {
  const { permanent, nextAt, uncounted } = event;
  if (permanent) return givenUp(event, 'permanent');
  if (nextAt === null) return givenUp(event, 'exhausted');
  return { type: 'waiting', dueAt: nextAt, attempted: attempted + (uncounted === true ? 0 : 1) };
}

function afterFailedRedelivery(
  { before }: Extract<DeliveryState, { type: 'manual' }>,
  { at, partly }: Extract<DeliveryEvent, { type: 'attempt_failed' }>,
): DeliveryState {
  const reachedNobody = before.type === 'dead' || before.type === 'cancelled';
  return reachedNobody && partly === true ? { type: 'partly_delivered', at } : before;
}

/** The state of a delivery after its last attempt failed. */
function givenUp(
  { at, partly }: { readonly at: Instant; readonly partly?: boolean },
  reason: Extract<SettledState, { type: 'dead' }>['reason'],
): SettledState {
  return partly === true ? { type: 'partly_delivered', at } : { type: 'dead', at, reason };
}
