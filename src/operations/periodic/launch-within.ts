import type { Job } from '../../jobs/document/job.js';
import { launchedChild, launchedId } from '../../jobs/periodic/periodic-launch.js';
import { jobSummaries } from '../../jobs/status/job-summary-record.js';
import type { ReadView } from '../../ports/storage.js';
import type { Evaluation } from '../../scheduler/evaluation.js';
import { readJobRow } from '../records/jobs/job-rows.js';
import { writeRegistration } from '../records/jobs/write-registration.js';
import type { Transaction } from '../write-transaction.js';

/** The instance of a launch with its evaluation. Two launches within a second are one instance, which is evaluated again. */
export function launchWithin(tx: Transaction, parent: Job, at: number): Evaluation | undefined {
  const present = readJobRow(tx, parent.Namespace, launchedId(parent.ID, at))?.record;
  const child = present ?? launchedChild(parent, at, tx.index, tx.now);
  const registration = present === undefined ? ({ type: 'created', job: child } as const) : unchanged(present);
  const { evaluation } = writeRegistration(tx, registration, { triggeredBy: 'periodic-job' }, undefined);
  if (present === undefined) {
    const { Namespace: namespace, ID: parentId } = parent;
    tx.emit('job.launched', { namespace, parentId, jobId: child.ID, index: tx.index });
  }
  return evaluation;
}

function unchanged(job: Job) {
  return { type: 'unchanged', job } as const;
}

/** The counts by status are maintained by each write, so that ended instances need not be read. */
export function hasRunningInstance(view: ReadView, { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): boolean {
  const children = view.get(jobSummaries, [Namespace, ID])?.record.Children;
  return (children?.Pending ?? 0) + (children?.Running ?? 0) > 0;
}
