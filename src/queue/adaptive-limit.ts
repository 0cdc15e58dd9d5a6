import type { Instant } from '../shared/instant.js';

/**
 * The limit of concurrent attempts at one destination. Grows while the destination answers and the limit is
 * reached: doubles until the first overload, then by one for each full round. Halves at an
 * overload.
 */
export interface AdaptiveLimit {
  readonly limit: number;
  /** Responses since the last change while the limit was reached. */
  readonly answered: number;
  /** The limit from which it grows by one. */
  readonly careful: number;
  /** When it was last halved: failures of attempts that began before are ignored. */
  readonly halvedAt: Instant;
}

export interface LimitRules {
  readonly initial: number;
  readonly maximum: number;
}

export function initialLimit({ initial, maximum }: LimitRules): AdaptiveLimit {
  return { limit: Math.min(initial, maximum), answered: 0, careful: maximum, halvedAt: Number.NEGATIVE_INFINITY };
}

/** After an answer; `full`: whether the limit was reached during the attempt. */
export function afterAnswer(state: AdaptiveLimit, full: boolean, rules: LimitRules): AdaptiveLimit {
  if (!full || state.limit >= rules.maximum) return state;
  if (state.answered + 1 < state.limit) return { ...state, answered: state.answered + 1 };
  const grown = state.limit < state.careful ? Math.min(state.limit * 2, state.careful) : state.limit + 1;
  return { ...state, limit: Math.min(grown, rules.maximum), answered: 0 };
}

/** After a failure that began at `startedAt`. */
export function afterOverload(state: AdaptiveLimit, startedAt: Instant, now: Instant): AdaptiveLimit {
  if (startedAt < state.halvedAt) return state;
  const limit = Math.max(1, Math.floor(state.limit / 2));
  return { limit, answered: 0, careful: limit, halvedAt: now };
}
