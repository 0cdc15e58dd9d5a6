import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { JobReference } from '../../jobs/job-record.js';
import type { StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import type { Key } from '../../shared/table.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { allocationsAtOnce } from '../records/jobs/job-rows.js';
import { releaseEvaluation } from '../records/scheduling/new-evaluation.js';
import type { Transaction } from '../write-transaction.js';

interface InParts extends Required<JobReference> {
  /** The evaluation that waits for the last part. */
  readonly evaluationId: string;
  /** Changes some of the allocations; false when no further part is needed. */
  readonly change: (tx: Transaction, part: readonly Allocation[]) => boolean;
}

/**
 * Changes all allocations of a job in small writes, between which the event loop runs, and releases the evaluation that waits for them. If the
 * process is killed in between, the rest is unchanged, and the evaluation becomes due on its own.
 */
export function changeAllocationsInParts(context: EngineContext, work: InParts): ResultAsync<void, StorageError> {
  return new ResultAsync(changedInParts(context, work));
}

async function changedInParts(context: EngineContext, work: InParts): Promise<Result<void, StorageError>> {
  for (let from: Key | undefined = [work.namespace, work.jobId]; from !== undefined; ) {
    const start: Key = from;
    await context.turns.next();
    const written = await commit<Key | undefined, never>(context, hostPrincipal, (tx) => {
      const next = changePart(tx, work, start);
      if (next === undefined) releaseEvaluation(tx, work.evaluationId);
      return ok(next);
    });
    if (written.isErr()) return err(written.error);
    from = written.value.value;
  }
  return ok(undefined);
}

/** Returns the start of the next part in the index; undefined when there is none. */
function changePart(tx: Transaction, { namespace, jobId, change }: InParts, from: Key): Key | undefined {
  const prefix = [namespace, jobId];
  const part = tx.list(allocations, { index: 'by_job', prefix, from, limit: allocationsAtOnce });
  const records = part.map(({ record }) => record);
  const last = records.length < allocationsAtOnce ? undefined : records.at(-1);
  return change(tx, records) && last !== undefined ? [...prefix, last.ID, null] : undefined;
}
