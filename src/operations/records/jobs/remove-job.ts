import { jobSubmissions } from '../../../jobs/changes/job-submission.js';
import type { Job } from '../../../jobs/document/job.js';
import { jobs, jobVersions } from '../../../jobs/job-record.js';
import { scalingEvents } from '../../../jobs/scaling/scaling-event.js';
import type { ReadView } from '../../../ports/storage.js';
import { allocations } from '../../../scheduler/allocation.js';
import { deployments } from '../../../scheduler/deployment/deployment.js';
import type { Key, Table } from '../../../shared/table.js';
import type { Transaction } from '../../write-transaction.js';

/** The most allocations that one write removes. */
export const allocationsAtOnce = 16;

/** Whether the job has more allocations than one write should remove. */
export function isLargeJob(view: ReadView, { Namespace, ID }: Job): boolean {
  const own = { index: 'by_job', prefix: [Namespace, ID], limit: allocationsAtOnce + 1 };
  return view.list(allocations, own).length > allocationsAtOnce;
}

/** Removes a job with all its records except its evaluations and, for a large job, its allocations. */
export function removeJob(tx: Transaction, job: Job): void {
  const key = [job.Namespace, job.ID];
  if (!isLargeJob(tx, job)) {
    for (const { record } of tx.list(allocations, { index: 'by_job', prefix: key }))
      tx.remove(allocations, [record.ID]);
  }
  for (const { record } of tx.list(deployments, { index: 'by_job', prefix: key })) tx.remove(deployments, [record.ID]);
  tx.remove(jobs, key);
  removeAll(tx, jobVersions, key, (version) => [...key, version.Version]);
  removeAll(tx, jobSubmissions, key, (submission) => [...key, submission.Version]);
  removeAll(tx, scalingEvents, key, (event) => [...key, event.Group, event.CreateIndex]);
}

function removeAll<R>(tx: Transaction, table: Table<R>, prefix: Key, keyOf: (record: R) => Key): void {
  for (const { record } of tx.list(table, { prefix })) tx.remove(table, keyOf(record));
}
