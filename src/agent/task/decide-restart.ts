import type { RestartPolicy } from '../../jobs/document/policies.js';
import { durationTextFromNanos, type Milliseconds, millisecondsFromNanos } from '../../shared/duration.js';

/** How a task ended. */
export type TaskExit =
  | {
      readonly type: 'exited';
      readonly code: number;
      readonly signal: number;
      readonly message?: string;
      /** Whether the operating system killed it for lack of memory. */
      readonly outOfMemory?: boolean;
    }
  /** It could not be started. A `recoverable` fault may be temporary. */
  | { readonly type: 'start_failed'; readonly message: string; readonly recoverable: boolean };

/** Number of ends in the policy's current interval. */
export interface RestartCount {
  /** Start of the interval in milliseconds, on the clock of `now`. */
  readonly intervalStart: Milliseconds;
  readonly count: number;
}

type RestartVerdict =
  | { readonly type: 'succeeded'; readonly reason: string; readonly next: RestartCount }
  | { readonly type: 'failed'; readonly reason: string; readonly next: RestartCount }
  | { readonly type: 'restart'; readonly after: Milliseconds; readonly reason: string; readonly next: RestartCount };

/** Share of the delay that is added at random, so that many tasks do not restart at once. */
const jitterShare = 0.25;

/** Existing clients show these strings. */
export const restartReasons = {
  withinPolicy: 'Restart within policy',
  notNeeded: 'Restart unnecessary as task terminated successfully',
  notAllowed: 'Policy allows no restarts',
  unrecoverable: 'Error was unrecoverable',
  delayed: 'Exceeded allowed attempts, applying a delay',
} as const;

/** How a task ended, and how the end is interpreted. */
interface TaskEnd {
  readonly exit: TaskExit;
  /** True for the main tasks of services and for sidecars. */
  readonly restartsOnSuccess: boolean;
  /** Whether the task was ended because it was unhealthy: this counts as a failure whatever its exit code is. */
  readonly asFailure: boolean;
}

/**
 * Decides whether an ended task restarts (restart policy of the job interface). Every end counts, including successful ones.
 * `now` must be on the clock of `counted`; `fraction` is a random number in [0, 1).
 */
export function decideRestart(
  policy: RestartPolicy,
  { exit, restartsOnSuccess, asFailure }: TaskEnd,
  counted: RestartCount,
  inputs: { readonly now: Milliseconds; readonly fraction: number },
): RestartVerdict {
  const endedWell = exit.type === 'exited' && exit.code === 0 && exit.signal === 0;
  const mayStay = endedWell && !restartsOnSuccess && !asFailure;
  if (policy.Attempts === 0) {
    return { type: mayStay ? 'succeeded' : 'failed', reason: restartReasons.notAllowed, next: counted };
  }
  const next = countedAgain(policy, counted, inputs.now);
  if (exit.type === 'start_failed' && !exit.recoverable) {
    return { type: 'failed', reason: restartReasons.unrecoverable, next };
  }
  if (mayStay) return { type: 'succeeded', reason: restartReasons.notNeeded, next };
  return next.count > policy.Attempts
    ? beyondPolicy(policy, next, inputs.now)
    : {
        type: 'restart',
        after: millisecondsFromNanos(policy.Delay) * (1 + inputs.fraction * jitterShare),
        reason: restartReasons.withinPolicy,
        next,
      };
}

/** An interval ends strictly after its length; the next end starts a new one. */
function countedAgain(policy: RestartPolicy, counted: RestartCount, now: Milliseconds): RestartCount {
  const end = counted.intervalStart + millisecondsFromNanos(policy.Interval);
  return now > end
    ? { intervalStart: now, count: 1 }
    : { intervalStart: counted.intervalStart, count: counted.count + 1 };
}

/** Any mode but `fail` waits for the interval to end. */
function beyondPolicy(policy: RestartPolicy, next: RestartCount, now: Milliseconds): RestartVerdict {
  if (policy.Mode === 'fail') {
    const { Attempts, Interval, Mode } = policy;
    const reason = `Exceeded allowed attempts ${Attempts} in interval ${durationTextFromNanos(Interval)} and mode is "${Mode}"`;
    return { type: 'failed', reason, next };
  }
  const end = next.intervalStart + millisecondsFromNanos(policy.Interval);
  return { type: 'restart', after: Math.max(0, end - now), reason: restartReasons.delayed, next };
}
