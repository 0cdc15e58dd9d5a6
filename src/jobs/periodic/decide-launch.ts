import { err, ok, type Result } from 'neverthrow';
import type { Instant } from '../../shared/instant.js';
import type { Job } from '../document/job.js';
import { nextLaunch, type PeriodicSchedule } from './next-launch.js';
import { isLaunchedByClock, type PeriodicLaunch } from './periodic-launch.js';

/** The decision about a periodic job at one time. */
export type LaunchDecision =
  /** Nothing is due yet. */
  | { readonly kind: 'wait'; readonly until: Instant }
  /** Create the instance for `at`, the latest due time, and store `next` in the same write. */
  | { readonly kind: 'launch'; readonly at: Instant; readonly next: PeriodicLaunch | undefined }
  /** An instance still runs and the job prohibits overlap: the launch is skipped. Store `next`. */
  | { readonly kind: 'skip'; readonly at: Instant; readonly next: PeriodicLaunch | undefined }
  /** The job is no longer launched by the clock: remove the record. */
  | { readonly kind: 'forget' };

/**
 * The job cannot be launched on request: it is not periodic, or it is stopped, disabled or
 * parameterized and therefore not tracked.
 */
export interface ForceRefused {
  readonly type: 'force_refused';
  /** `not_tracked`: the job is stopped, disabled or parameterized. */
  readonly reason: 'not_periodic' | 'not_tracked';
  readonly message: string;
}

/**
 * The record of a job registered at `now`, which replaces an earlier one: launches count from now on. Undefined, meaning no
 * record, when the clock never launches the job again.
 */
export function scheduleLaunches(job: Job, now: Instant): PeriodicLaunch | undefined {
  if (!isLaunchedByClock(job)) return undefined;
  return launchRecord(job, job.Periodic, now, now);
}

/**
 * Decides about a due job. Of several missed times, for example while the process was down, only the
 * last is launched, under its original due time, so that a second process or a retry creates the same instance.
 */
export function decideLaunch(
  job: Job | undefined,
  record: PeriodicLaunch,
  hasRunningInstance: boolean,
  now: Instant,
): LaunchDecision {
  if (job === undefined || !isLaunchedByClock(job)) return { kind: 'forget' };
  if (record.dueAt > now) return { kind: 'wait', until: record.dueAt };
  const at = lastDue(job.Periodic, record.dueAt, now);
  if (job.Periodic.ProhibitOverlap && hasRunningInstance) {
    return { kind: 'skip', at, next: launchRecord(job, job.Periodic, record.launchedAt, now) };
  }
  return { kind: 'launch', at, next: launchRecord(job, job.Periodic, at, now) };
}

/** The time of an instance launched on request, whether or not another instance runs. */
export function decideForcedLaunch(job: Job, now: Instant): Result<Instant, ForceRefused> {
  if (job.Periodic === null) return refuse('not_periodic', "can't force launch non-periodic job");
  if (!isLaunchedByClock(job)) {
    const name = JSON.stringify(job.ID);
    return refuse(
      'not_tracked',
      `force launch for job ${name} failed: can't force run non-tracked job ${name} (${job.Namespace})`,
    );
  }
  return ok(Math.floor(now / 1000) * 1000);
}

/** An invalid expression is never due; registration refuses it. */
function launchRecord(
  { Namespace, ID }: Job,
  periodic: PeriodicSchedule,
  launchedAt: Instant,
  after: Instant,
): PeriodicLaunch | undefined {
  const dueAt = nextLaunch(periodic, after).unwrapOr(undefined);
  return dueAt === undefined ? undefined : { Namespace, ID, launchedAt, dueAt };
}

/** The last due time until `now`, given an earlier one. By bisection, because a job may be due every second and the process down for a year. */
function lastDue(periodic: PeriodicSchedule, due: Instant, now: Instant): Instant {
  const dueAfter = (instant: Instant): Instant => nextLaunch(periodic, instant).unwrapOr(undefined) ?? Infinity;
  let last = due;
  let [before, after] = [Math.floor(due / 1000), Math.floor(now / 1000)];
  while (before < after) {
    const middle = Math.floor((before + after) / 2);
    const next = dueAfter(middle * 1000);
    if (next > now) after = middle;
    else {
      last = next;
      before = Math.floor(next / 1000);
    }
  }
  return last;
}

function refuse(reason: ForceRefused['reason'], message: string): Result<never, ForceRefused> {
  return err({ type: 'force_refused', reason, message });
}
