import { freed } from '../../queue/hold.js';
import {
  type Attempt,
  type Delivery,
  type DeliveryState,
  isUnfinished,
  withAttempt,
  withoutContents,
} from './delivery.js';
import { type DeliveryEvent, transitionDelivery } from './transition-delivery.js';

/** What has happened to a delivery. */
export interface Outcome {
  /** As its attempt began. */
  readonly before: Delivery;
  readonly event: DeliveryEvent;
  /** Null when there was none. */
  readonly attempt: Omit<Attempt, 'number'> | null;
  /** The row, if nobody else has changed it. */
  readonly after: Delivery;
}

/** Whether attempts have ended without delivering to all recipients. */
export function isGivenUp({ before, event, after }: Outcome): boolean {
  if (!isUnfinished(before.state)) return false;
  const { type } = after.state;
  return type === 'dead' || (type === 'partly_delivered' && event.type !== 'attempt_delivered');
}

/** The outcome of an event other than an attempt. */
export function outcomeOf(before: Delivery, event: DeliveryEvent): Outcome {
  const state = transitionDelivery(before.state, event).unwrapOr(before.state);
  return { before, event, attempt: null, after: { ...before, state } };
}

/**
 * The row after an outcome. It may have been changed since the attempt began: a redelivery was requested, the content was erased, or
 * another process has taken it (`isOurs` is false). The attempt is always recorded, and a delivered message remains
 * delivered. Other decisions count only if the start is still this one, and the row is in the state on which the decision was based.
 */
export function mergeOutcome(stored: Delivery, outcome: Outcome, isOurs: boolean): Delivery {
  const { before, event, attempt, after } = outcome;
  // Nobody else has changed it.
  if (isOurs && stored === before && stored.erased !== true) return freed(after);
  const current = isOurs ? freed(stored) : stored;
  const logged = attempt === null ? current : withLoggedAttempt(current, after, attempt);
  const next = { ...logged, state: stateAfter(current.state, outcome, isOurs || event.type === 'attempt_delivered') };
  return stored.erased === true ? withoutContents(next) : next;
}

function stateAfter(state: DeliveryState, { before, event }: Outcome, mayDecide: boolean): DeliveryState {
  const moved = (from: DeliveryState): DeliveryState => transitionDelivery(from, event).unwrapOr(from);
  if (event.type === 'attempt_delivered') return moved(state);
  if (!mayDecide) return state;
  if (sameState(state, before.state)) return moved(state);
  if (state.type === 'manual' && event.type === 'attempt_failed' && sameState(state.before, before.state)) {
    const next = moved(state.before);
    return next.type === 'manual' ? state : { ...state, before: next };
  }
  return state;
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
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
