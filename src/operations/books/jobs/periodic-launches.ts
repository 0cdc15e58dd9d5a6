import type { Job } from '../../../jobs/document/job.js';
import { scheduleLaunches } from '../../../jobs/periodic/decide-launch.js';
import { periodicLaunches } from '../../../jobs/periodic/periodic-launch.js';
import type { Transaction } from '../../commit.js';

/** Updates the launch record of a newly put job: launches count from now on, or end if the job is no longer periodic. */
export function followSchedule(tx: Transaction, job: Job): void {
  const record = scheduleLaunches(job, tx.now);
  if (record === undefined) forgetSchedule(tx, job);
  else tx.put(periodicLaunches, record);
}

export function forgetSchedule(tx: Transaction, { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): void {
  tx.remove(periodicLaunches, [Namespace, ID]);
}
