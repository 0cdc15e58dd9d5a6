import type { ResultAsync } from 'neverthrow';
import type { Job } from '../../jobs/document/job.js';
import type { StorageError } from '../../ports/storage.js';
import { removeAllocation } from '../books/scheduling/put-allocation.js';
import type { EngineContext } from '../context/engine-context.js';
import { changeAllocationsInParts } from './allocations-in-parts.js';

/** A job that is gone. */
type GoneJob = Pick<Job, 'Namespace' | 'ID' | 'CreateIndex'>;

/**
 * Removes the allocations of a job that is gone, in parts, and lets the evaluation go that waits for it. Those that a job of the same name,
 * which was registered meanwhile, has taken over belong to that one and stay.
 */
export function removeLeftAllocations(
  context: EngineContext,
  { Namespace: namespace, ID: jobId, CreateIndex }: GoneJob,
  evaluationId: string,
): ResultAsync<void, StorageError> {
  return changeAllocationsInParts(context, {
    namespace,
    jobId,
    evaluationId,
    change: (tx, part) => {
      for (const record of part) if (record.JobCreateIndex === CreateIndex) removeAllocation(tx, record);
      return true;
    },
  });
}
