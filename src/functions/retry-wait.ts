import { type Duration, isDuration, milliseconds } from '../options/durations.js';
import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { type FunctionPolicy, NonRetryableError, RetryAfterError } from './define-function.js';
import { isOf } from './run-error.js';

const longestWait: Milliseconds = 400 * 24 * 3_600_000;

/**
 * The wait before the next attempt after `attempt` failed with `error`; undefined when there is none. `fraction` is a random
 * number from 0 to 1. An exception of the host's `backoff` ends the run: a broken rule must not retry for ever.
 */
export function retryWait(
  { retry }: Pick<FunctionPolicy, 'retry'>,
  { error, attempt }: { readonly error: unknown; readonly attempt: number },
  fraction: number,
  now: Instant,
): Milliseconds | undefined {
  if (isOf(error, NonRetryableError) || attempt >= retry.attempts) return undefined;
  // Without a valid time, such as a header that is missing, the function's own rule counts.
  const named = isOf(error, RetryAfterError) ? waitUntil(error, now) : undefined;
  if (named !== undefined) return named;
  const wait = plainWait(retry, error, attempt);
  if (wait === undefined) return undefined;
  const varied = wait * (1 + retry.jitter * (2 * fraction - 1));
  return Math.min(Math.round(varied), longestWait);
}

function plainWait(
  { backoff, delay, factor, max }: FunctionPolicy['retry'],
  error: unknown,
  attempt: number,
): Milliseconds | undefined {
  if (backoff === 'fixed') return Math.min(delay, max);
  if (backoff === 'exponential') return Math.min(delay * factor ** (attempt - 1), max);
  if (typeof backoff !== 'function') return backoff[Math.min(attempt, backoff.length) - 1];
  try {
    const asked = backoff(error, attempt);
    return asked === 'stop' || !isDuration(asked) ? undefined : Math.min(milliseconds(asked), max);
  } catch {
    return undefined;
  }
}

/** The wait that an error names, a duration or until a time; undefined when it names none. */
export function waitUntil(error: { readonly wait: Duration | Date }, now: Instant): Milliseconds | undefined {
  try {
    const { wait } = error;
    const asked = wait instanceof Date ? wait.getTime() - now : isDuration(wait) ? milliseconds(wait) : Number.NaN;
    return Number.isNaN(asked) ? undefined : Math.min(Math.max(asked, 0), longestWait);
  } catch {
    return undefined;
  }
}
