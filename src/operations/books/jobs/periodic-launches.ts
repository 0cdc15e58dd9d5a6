import type { Job } from '../../../jobs/document/job.js';
import { scheduleLaunches } from '../../../jobs/periodic/decide-launch.js';
import { periodicLaunches } from '../../../jobs/periodic/periodic-launch.js';
import type { Transaction } from '../../commit.js';

/** Keeps the launches of a job that was just put: they are counted from now on, or end when the clock launches it no more. */
export function followSchedule(tx: Transaction, job: Job): void {
  const record = scheduleLaunches(job, tx.now);
  if (record === undefined) forgetSchedule(tx, job);
  else tx.put(periodicLaunches, record);
}

export function forgetSchedule(tx: Transaction, { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): void {
  tx.remove(periodicLaunches, [Namespace, ID]);
}
