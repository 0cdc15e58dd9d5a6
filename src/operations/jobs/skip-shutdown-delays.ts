import type { ResultAsync } from 'neverthrow';
import type { Job } from '../../jobs/document/job.js';
import type { StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import type { EngineContext } from '../context/engine-context.js';
import { readJobRow } from '../records/jobs/job-rows.js';
import type { Transaction } from '../write-transaction.js';
import { changeAllocationsInParts } from './allocations-in-parts.js';

/** The allocations end without the delays that their groups and tasks ask for. */
export function skipShutdownDelays(tx: Transaction, own: readonly Allocation[]): void {
  for (const record of own) {
    tx.put(allocations, {
      ...record,
      DesiredTransition: { ...record.DesiredTransition, NoShutdownDelay: true },
      ModifyIndex: tx.index,
      AllocModifyIndex: tx.index,
      ModifyTime: unixNanosFromInstant(tx.now),
    });
  }
}

/**
 * The same for all allocations of a job that was stopped, in parts, before its evaluation ends them. Once the job is registered again, or
 * is gone, no more are marked.
 */
export function skipDelaysInParts(
  context: EngineContext,
  { Namespace: namespace, ID: jobId, Version, CreateIndex }: Job,
  evaluationId: string,
): ResultAsync<void, StorageError> {
  return changeAllocationsInParts(context, {
    namespace,
    jobId,
    evaluationId,
    change: (tx, part) => {
      const now = readJobRow(tx, namespace, jobId)?.record;
      if (now?.Version !== Version || now.CreateIndex !== CreateIndex) return false;
      tx.cause = 'JobDeregistered';
      skipShutdownDelays(tx, part);
      return true;
    },
  });
}
