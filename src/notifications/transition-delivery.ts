import { err, ok, type Result } from 'neverthrow';
import type { Instant } from '../shared/instant.js';
import type { CancelReason, DeliveryState } from './delivery.js';

export type DeliveryEvent =
  | { readonly type: 'attempt_delivered'; readonly at: Instant }
  | {
      readonly type: 'attempt_failed';
      readonly at: Instant;
      readonly permanent: boolean;
      /** From the retry schedule; null when it is used up. */
      readonly nextAt: Instant | null;
    }
  /** No attempt was made and none is used up: the turn of this delivery comes later. */
  | { readonly type: 'postponed'; readonly until: Instant }
  | { readonly type: 'cancelled'; readonly at: Instant; readonly reason: CancelReason }
  /** One attempt outside the schedule. */
  | { readonly type: 'redelivery_requested'; readonly at: Instant };

export interface DeliveryTransitionError {
  readonly type: 'invalid_transition';
  readonly state: DeliveryState['type'];
  readonly event: DeliveryEvent['type'];
}

/**
 * The life of a delivery: it waits for attempts until one delivers, the schedule is used up, a permanent failure ends it
 * or its configuration goes. A redelivery is one attempt besides: a failure leaves everything as it was.
 */
export function transitionDelivery(
  current: DeliveryState,
  event: DeliveryEvent,
): Result<DeliveryState, DeliveryTransitionError> {
  const impossible = err({ type: 'invalid_transition' as const, state: current.type, event: event.type });
  switch (event.type) {
    case 'attempt_delivered':
      return 'dueAt' in current ? ok({ type: 'delivered', at: event.at }) : impossible;
    case 'attempt_failed':
      if (current.type === 'manual') return ok(current.before);
      if (current.type !== 'waiting') return impossible;
      if (event.permanent) return ok({ type: 'dead', at: event.at, reason: 'permanent' });
      if (event.nextAt === null) return ok({ type: 'dead', at: event.at, reason: 'exhausted' });
      return ok({ type: 'waiting', dueAt: event.nextAt, attempted: current.attempted + 1 });
    case 'postponed':
      return current.type === 'waiting' ? ok({ ...current, dueAt: event.until }) : impossible;
    case 'cancelled':
      if (current.type === 'manual' && current.before.type !== 'waiting') return ok(current.before);
      return 'dueAt' in current ? ok({ type: 'cancelled', at: event.at, reason: event.reason }) : impossible;
    case 'redelivery_requested':
      return current.type === 'manual'
        ? ok(current)
        : ok({ type: 'manual', dueAt: 0, requestedAt: event.at, before: current });
  }
}
