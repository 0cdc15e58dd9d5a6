import type { RestartPolicy } from '../../jobs/document/policies.js';
import { type Milliseconds, millisecondsFromNanos } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';

/** How a task ended. */
export type TaskExit =
  | { readonly type: 'exited'; readonly code: number; readonly signal: number; readonly message?: string }
  /** It could not be started. `recoverable` faults may pass. */
  | { readonly type: 'start_failed'; readonly message: string; readonly recoverable: boolean };

/** Restarts counted in the policy's present interval. */
export interface RestartCount {
  readonly intervalStart: Instant;
  readonly count: number;
}

export type RestartVerdict =
  | { readonly type: 'succeeded' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'restart'; readonly after: Milliseconds; readonly reason: string; readonly next: RestartCount };

/** Extra share of the delay, at random, that keeps restarts of many tasks apart. */
const jitterShare = 0.25;

/**
 * Whether a task that ended starts again (restart policy of the job interface). `restartsOnSuccess` holds for the main
 * tasks of services and for sidecars. `fraction` is a random number in [0, 1).
 */
export function decideRestart(
  policy: RestartPolicy,
  restartsOnSuccess: boolean,
  exit: TaskExit,
  counted: RestartCount,
  now: Instant,
  fraction: number,
): RestartVerdict {
  const succeeded = exit.type === 'exited' && exit.code === 0 && exit.signal === 0;
  if (succeeded && !restartsOnSuccess) return { type: 'succeeded' };
  if (policy.Attempts === 0) return { type: 'failed', reason: 'The restart policy allows no restart' };
  if (exit.type === 'start_failed' && !exit.recoverable) return { type: 'failed', reason: exit.message };
  const interval = millisecondsFromNanos(policy.Interval);
  const current = now > counted.intervalStart + interval ? { intervalStart: now, count: 0 } : counted;
  const next = { intervalStart: current.intervalStart, count: current.count + 1 };
  if (next.count > policy.Attempts) {
    if (policy.Mode !== 'delay')
      return { type: 'failed', reason: 'The restarts allowed within the interval are used up' };
    return {
      type: 'restart',
      after: Math.max(0, next.intervalStart + interval - now),
      reason: 'Restarts are delayed until the interval ends',
      next,
    };
  }
  const delay = millisecondsFromNanos(policy.Delay);
  return {
    type: 'restart',
    after: delay + fraction * delay * jitterShare,
    reason: 'The restart policy allows another start',
    next,
  };
}
