import type { Instant } from '../../shared/instant.js';
import { unixSecondsFromInstant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import { newInstance } from '../changes/new-instance.js';
import type { Job } from '../document/job.js';
import { isParameterized } from '../job-record.js';

/** When a periodic job was launched last and is due next; there is one for each job that the clock launches. */
export interface PeriodicLaunch {
  readonly Namespace: string;
  readonly ID: string;
  /** The time that the last launch was due at; the time of registration before the first one. */
  readonly launchedAt: Instant;
  /** The earliest launch that nothing was decided on yet. */
  readonly dueAt: Instant;
}

export const periodicLaunches = table<PeriodicLaunch>('periodic_launches', (launch) => [launch.Namespace, launch.ID], {
  by_due_time: { version: 1, key: (launch) => [launch.dueAt] },
});

/**
 * Whether the clock launches the job: it is periodic, enabled, not stopped, and no template of dispatches. A dispatched instance of
 * a job that is both is launched itself.
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

/** The instance that a launch makes of its parent; the status is for the writer to compute. */
export function launchedChild(parent: Job, at: Instant, index: number, now: Instant): Job {
  return { ...newInstance(parent, launchedId(parent.ID, at), { index, now }), Periodic: null };
}
