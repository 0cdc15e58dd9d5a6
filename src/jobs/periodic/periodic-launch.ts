import { type Instant, unixSecondsFromInstant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { Job } from '../document/job.js';
import { isParameterized, newInstance } from '../job-record.js';

/** The last and the next launch of a periodic job; one record for each job that the clock launches. */
export interface PeriodicLaunch {
  readonly Namespace: string;
  readonly ID: string;
  /** The due time of the last launch; before the first, the time of registration. */
  readonly launchedAt: Instant;
  /** The earliest undecided launch. */
  readonly dueAt: Instant;
}

export const periodicLaunches = table<PeriodicLaunch>('periodic_launches', (launch) => [launch.Namespace, launch.ID], {
  by_due_time: { version: 1, key: (launch) => [launch.dueAt] },
});

/**
 * Whether the clock launches the job: it is periodic, enabled, not stopped, and not parameterized. Dispatched instances of
 * a job that is both periodic and parameterized are launched.
 */
export function isLaunchedByClock(
  job: Pick<Job, 'Periodic' | 'Stop' | 'ParameterizedJob' | 'Dispatched'>,
): job is typeof job & { readonly Periodic: NonNullable<Job['Periodic']> } {
  return job.Periodic?.Enabled === true && !job.Stop && !isParameterized(job);
}

/** `<parent>/periodic-<seconds>`: two launches within a second are the same instance. */
export function launchedId(parentId: string, at: Instant): string {
  return `${parentId}/periodic-${unixSecondsFromInstant(at)}`;
}

/** The instance that a launch creates; the writer computes its status. */
export function launchedChild(parent: Job, at: Instant, index: number, now: Instant): Job {
  return { ...newInstance(parent, launchedId(parent.ID, at), { index, now }), Periodic: null };
}
