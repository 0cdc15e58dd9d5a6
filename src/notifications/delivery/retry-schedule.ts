import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { DestinationKind } from '../configurations/destination.js';

/** The waits between attempts, by kind of destination; an immutable value that a host may replace. */
export interface RetrySchedules {
  readonly generic: readonly Milliseconds[];
  readonly chat: readonly Milliseconds[];
  readonly email: readonly Milliseconds[];
}

interface RetryRules {
  readonly waits: readonly Milliseconds[];
  /** Random variation of a wait, from 0 to 1. */
  readonly jitter: number;
  /** The longest wait that a destination may request. */
  readonly maximumRetryAfter: Milliseconds;
}

export function waitsFor(schedules: RetrySchedules, kind: DestinationKind): readonly Milliseconds[] {
  switch (kind) {
    case 'generic':
      return schedules.generic;
    case 'chat-a':
    case 'chat-b':
      return schedules.chat;
    case 'email':
      return schedules.email;
  }
}

/** The end of an attempt: its time, and a random number in [0, 1) that sets the jitter of the next wait. */
interface AttemptEndTime {
  readonly at: Instant;
  readonly fraction: number;
}

/**
 * When to try again after `attempted` scheduled attempts (at least 1); null when the schedule is used up. A later time that
 * the destination requested applies instead, within the limit.
 */
export function nextAttemptAt(
  rules: RetryRules,
  attempted: number,
  { at, fraction }: AttemptEndTime,
  retryAfter: Milliseconds | null,
): Instant | null {
  const wait = rules.waits[attempted - 1];
  if (wait === undefined) return null;
  const jittered = wait * (1 - rules.jitter + 2 * rules.jitter * fraction);
  return at + Math.round(Math.max(jittered, Math.min(retryAfter ?? 0, rules.maximumRetryAfter)));
}

/**
 * The wait that a `Retry-After` header requests: whole seconds or an HTTP date (RFC 9110, 10.2.3), or seconds with a fraction,
 * which some services send. Null when it is absent or invalid.
 */
export function parseRetryAfter(value: string | undefined, now: Instant): Milliseconds | null {
  const text = value?.trim() ?? '';
  if (text === '' || text.length > 64) return null;
  if (/^[0-9]+(\.[0-9]+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  if (!/^[A-Za-z]{3}/.test(text)) return null;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
