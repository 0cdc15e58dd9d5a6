import type { Outcome } from '../queue/held-queue.js';
import { type Delivery, type DeliveryState, withAttempt } from './delivery.js';
import { transitionDelivery } from './transition-delivery.js';

/**
 * The row after an outcome when it was changed by another writer since it was read: a redelivery was requested, or another
 * engine had the queue for some time. The attempt is always recorded, and a delivered message remains delivered. Other
 * decisions count only if `mayDecide` (this engine still has the queue) and the row is in the state on which the decision was
 * based.
 */
export function mergeOutcome(current: Delivery, outcome: Outcome, mayDecide: boolean): Delivery {
  const { event, attempt, after } = outcome;
  if (event === null) return current;
  const before = outcome.before.delivery.state;
  const { state } = current;
  const logged = attempt === null ? current : withLoggedAttempt(current, after, attempt);
  const moved = (from: DeliveryState): DeliveryState => transitionDelivery(from, event).unwrapOr(from);
  if (event.type === 'attempt_delivered') return { ...logged, state: moved(state) };
  if (!mayDecide) return logged;
  if (sameState(state, before)) return { ...logged, state: moved(state) };
  if (state.type === 'manual' && event.type === 'attempt_failed' && sameState(state.before, before)) {
    const next = moved(state.before);
    return next.type === 'manual' ? logged : { ...logged, state: { ...state, before: next } };
  }
  return logged;
}

function withLoggedAttempt(current: Delivery, after: Delivery, attempt: NonNullable<Outcome['attempt']>): Delivery {
  const { body, recipients } = after;
  return {
    ...current,
    attempts: withAttempt(current.attempts, attempt),
    ...(recipients === undefined ? {} : { recipients }),
    ...(body === undefined ? {} : { body }),
  };
}

function sameState(a: DeliveryState, b: DeliveryState): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
