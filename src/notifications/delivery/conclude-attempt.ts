import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { type Failure, isOfDestination } from './classify-failure.js';
import { type Attempt, acceptedOf, type Delivery, type RecipientResult, withAttempt } from './delivery.js';
import type { Outcome } from './merge-outcome.js';
import { nextAttemptAt, type RetrySchedules, waitsFor } from './retry-schedule.js';
import { type DeliveryEvent, transitionDelivery } from './transition-delivery.js';

/** The outcome of one attempt. */
export interface AttemptReport {
  readonly attempt: Omit<Attempt, 'number' | 'manual'>;
  /** Null after a success. */
  readonly failure: Failure | null;
  /** The wait requested by the destination. */
  readonly retryAfter: Milliseconds | null;
  /** The sent body; null for e-mail. */
  readonly body: string | null;
  /** E-mail: the result for every recipient, of this and earlier attempts. Null otherwise. */
  readonly recipients: readonly RecipientResult[] | null;
}

export interface AttemptRules {
  readonly retry: RetrySchedules;
  /** Random variation of a wait. */
  readonly jitter: number;
  readonly maximumRetryAfter: Milliseconds;
}

/** When and how an attempt ended; `fraction` in [0, 1) sets the jitter of the next wait. */
interface AttemptEnd {
  /** In queue time, by which waits are measured. */
  readonly at: Instant;
  /** The same time by the wall clock, stored as the end of the delivery if it is finished. */
  readonly wall: Instant;
  readonly fraction: number;
  /** Time until the delivery expires; a longer wait is cut to it, for the last attempt. */
  readonly timeLeft: Milliseconds;
}

/** Decides the effect of an attempt on its delivery. */
export function concludeAttempt(
  delivery: Delivery,
  report: AttemptReport,
  rules: AttemptRules,
  end: AttemptEnd,
): Outcome {
  const attempt = { ...report.attempt, manual: delivery.state.type === 'manual' };
  const event = eventOf(delivery, report, rules, end);
  const state = transitionDelivery(delivery.state, event).unwrapOr(delivery.state);
  const { body: _sentBefore, recipients: _toldBefore, ...rest } = delivery;
  const body = delivery.body ?? (report.failure === null ? null : report.body);
  const recipients = report.recipients ?? delivery.recipients ?? null;
  const after: Delivery = {
    ...rest,
    state,
    attempts: withAttempt(delivery.attempts, attempt),
    ...(recipients === null ? {} : { recipients }),
    ...(body === null ? {} : { body }),
  };
  return { before: delivery, event, attempt, after };
}

function eventOf(delivery: Delivery, report: AttemptReport, rules: AttemptRules, end: AttemptEnd): DeliveryEvent {
  const { failure, recipients } = report;
  if (failure === null) {
    const partly = recipients?.some(({ outcome }) => outcome === 'refused') ?? false;
    return { type: 'attempt_delivered', at: end.wall, partly };
  }
  const nextAt = nextAtOf(delivery, report, rules, end);
  const partly = acceptedOf(recipients ?? delivery.recipients) > 0;
  const failed = { type: 'attempt_failed', at: end.wall, permanent: failure.permanent, nextAt, partly } as const;
  return isOfDestination(failure) ? failed : { ...failed, uncounted: true };
}

function nextAtOf(delivery: Delivery, report: AttemptReport, rules: AttemptRules, end: AttemptEnd): Instant | null {
  if (delivery.state.type !== 'waiting') return null;
  const waits = waitsFor(rules.retry, delivery.kind);
  const schedule = { waits, jitter: rules.jitter, maximumRetryAfter: rules.maximumRetryAfter };
  const counted = report.failure === null || isOfDestination(report.failure);
  const attempted = counted ? delivery.state.attempted + 1 : Math.max(1, delivery.state.attempted);
  const next = nextAttemptAt(schedule, attempted, end, report.retryAfter);
  if (next === null || end.timeLeft <= 0) return null;
  return Math.min(next, end.at + end.timeLeft);
}
