import type { Job } from '../../../jobs/document/job.js';
import { jobSummaries } from '../../../jobs/status/job-summary-record.js';
import type { ReadView } from '../../../ports/storage.js';
import { allocations } from '../../../scheduler/allocation.js';
import type { Evaluation } from '../../../scheduler/evaluation.js';
import { wantedAllocations } from '../jobs/job-allocations.js';

interface JobOfPlan {
  readonly whose: Pick<Evaluation, 'Namespace' | 'JobID'>;
  /** The planned job; undefined when it was removed. */
  readonly job: Job | undefined;
  /** The number of nodes. */
  readonly nodes: number;
}

/** Whether the job has or wants more than `atMost` allocations by its counters: deciding on it takes longer than a write should. */
export function isLarge(view: ReadView, { whose, job, nodes }: JobOfPlan, atMost: number): boolean {
  if (!Number.isFinite(atMost)) return false;
  if (job !== undefined && !job.Stop && wantedAllocations(job, nodes) > atMost) return true;
  const { Namespace, JobID } = whose;
  const summary = view.get(jobSummaries, [Namespace, JobID])?.record;
  if (job === undefined || summary === undefined) {
    const prefix = [Namespace, JobID, 'open'];
    return view.list(allocations, { index: 'current_by_job', prefix, limit: atMost + 1 }).length > atMost;
  }
  const groups = Object.values(summary.Summary);
  return groups.reduce((sum, { Running, Starting, Unknown }) => sum + Running + Starting + Unknown, 0) > atMost;
}
