import type { ResultAsync } from 'neverthrow';
import type { Job } from '../../jobs/document/job.js';
import type { StorageError } from '../../ports/storage.js';
import { removeAllocation } from '../books/scheduling/put-allocation.js';
import type { EngineContext } from '../context/engine-context.js';
import { changeAllocationsInParts } from './allocations-in-parts.js';

/** A removed job. */
type GoneJob = Pick<Job, 'Namespace' | 'ID' | 'CreateIndex'>;

/**
 * Removes the allocations of a removed job in parts, and releases the evaluation that waits for it. Allocations that a new job with the same
 * ID, registered in the meantime, has adopted are kept.
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
