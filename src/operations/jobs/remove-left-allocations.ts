import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import type { StorageError } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import type { Key } from '../../shared/table.js';
import { allocationsAtOnce } from '../books/jobs/remove-job.js';
import { releaseEvaluation } from '../books/scheduling/held-evaluation.js';
import { removeAllocation } from '../books/scheduling/put-allocation.js';
import { commit, type Transaction } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';

/** A job that is gone. */
type GoneJob = Pick<Job, 'Namespace' | 'ID' | 'CreateIndex'>;

/**
 * Removes the allocations of a job that is gone, in small writes in turns of the event loop, and lets the evaluation go that waits for it.
 * Those that a job of the same name, which was registered meanwhile, has taken over belong to that one and stay.
 */
export function removeLeftAllocations(
  context: EngineContext,
  job: GoneJob,
  evaluationId: string,
): ResultAsync<void, StorageError> {
  return new ResultAsync(removedInParts(context, job, evaluationId));
}

async function removedInParts(
  context: EngineContext,
  job: GoneJob,
  evaluationId: string,
): Promise<Result<void, StorageError>> {
  for (let from: Key | undefined = [job.Namespace, job.ID]; from !== undefined; ) {
    const start: Key = from;
    await context.turns.next();
    const written = await commit<Key | undefined, never>(context, hostPrincipal, (tx) => {
      const next = removePart(tx, job, start);
      if (next === undefined) releaseEvaluation(tx, evaluationId);
      return ok(next);
    });
    if (written.isErr()) return err(written.error);
    from = written.value.value;
  }
  return ok(undefined);
}

/** Gives where the next part begins in the index; undefined when there is none. */
function removePart(tx: Transaction, { Namespace, ID, CreateIndex }: GoneJob, from: Key): Key | undefined {
  const prefix = [Namespace, ID];
  const part = tx.list(allocations, { index: 'by_job', prefix, from, limit: allocationsAtOnce });
  for (const { record } of part) if (record.JobCreateIndex === CreateIndex) removeAllocation(tx, record);
  const last = part.length < allocationsAtOnce ? undefined : part.at(-1)?.record;
  return last === undefined ? undefined : [...prefix, last.ID, null];
}
