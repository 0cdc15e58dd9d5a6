import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allows, everyNamespace } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { callerFailed, commandRefused } from '../../agent/link/node-command.js';
import { runOfAllocationId } from '../../functions/job-projection.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { stopRun } from '../functions/jobs-of-functions.js';
import { readRunAnywhere } from '../records/function-jobs.js';
import { readAllocationJob, readJobRow } from '../records/jobs/job-rows.js';
import { newEvaluation } from '../records/scheduling/new-evaluation.js';
import type { Transaction } from '../write-transaction.js';
import { type AllocationCommandError, lookupFault } from './ask-node.js';

interface StopAllocationInput {
  readonly allocationId: string;
  /** Ends its tasks without their shutdown delays. */
  readonly noShutdownDelay?: boolean;
  /** The replacement counts as rescheduled. */
  readonly reschedule?: boolean;
}

export interface StoppedAllocation {
  /** The evaluation that stops and replaces the allocation; empty for that of a run of a function, which is cancelled. */
  readonly evalId: string;
  readonly index: number;
}

/**
 * Stops an allocation, and lets the scheduler replace it if the job still needs it (job interface, stopping an
 * allocation). Needs `alloc-lifecycle` in the allocation's namespace.
 */
export function stopAllocation(
  context: EngineContext,
  caller: Principal,
  input: StopAllocationInput,
): ResultAsync<StoppedAllocation, AllocationCommandError> {
  const { allocationId: id } = input;
  // A caller without any right must not learn which allocations exist.
  if (!allows(caller, everyNamespace, ['alloc-lifecycle'])) return errAsync({ type: 'permission_denied' });
  const fault = lookupFault(id);
  if (fault !== undefined) return errAsync(fault);
  const ofRun = runOfAllocationId(id);
  if (ofRun !== undefined) return stopAllocationOfRun(context, caller, ofRun);
  return commitValue(context, caller, (tx): Result<StoppedAllocation, AllocationCommandError> => {
    const allocation = tx.get(allocations, [id.toLowerCase()])?.record;
    if (allocation === undefined) return err(commandRefused('not_found', 'allocation not found'));
    if (!allows(caller, allocation.Namespace, ['alloc-lifecycle'])) return err({ type: 'permission_denied' });
    return evaluateStop(tx, allocation).map((evaluation) => {
      markAsLeaving(tx, allocation, input);
      return { evalId: evaluation.ID, index: tx.index };
    });
  });
}

/** Cancels the run. */
function stopAllocationOfRun(
  context: EngineContext,
  caller: Principal,
  number: number,
): ResultAsync<StoppedAllocation, AllocationCommandError> {
  return context.storage
    .read((view) => readRunAnywhere(view, number))
    .andThen((run): ResultAsync<StoppedAllocation, AllocationCommandError> => {
      if (run === undefined || run.run.starts === 0)
        return errAsync(commandRefused('not_found', 'allocation not found'));
      if (!allows(caller, run.job.Namespace, ['alloc-lifecycle'])) return errAsync({ type: 'permission_denied' });
      return stopRun(context, caller, run).map(({ evalId, index }) => ({ evalId, index }));
    });
}

function markAsLeaving(
  tx: Transaction,
  allocation: Allocation,
  { noShutdownDelay = false, reschedule = false }: StopAllocationInput,
): void {
  tx.put(allocations, {
    ...allocation,
    DesiredTransition: {
      ...allocation.DesiredTransition,
      Migrate: true,
      NoShutdownDelay: noShutdownDelay,
      Reschedule: reschedule,
    },
    ModifyIndex: tx.index,
    AllocModifyIndex: tx.index,
    ModifyTime: unixNanosFromInstant(tx.now),
  });
}

function evaluateStop(tx: Transaction, allocation: Allocation): Result<Evaluation, AllocationCommandError> {
  const { Namespace, JobID } = allocation;
  const job = (readAllocationJob(tx, allocation) ?? readJobRow(tx, Namespace, JobID))?.record;
  if (job === undefined) return err(callerFailed('state', 'the job of the allocation was removed'));
  const evaluation = newEvaluation(tx, job, { triggeredBy: 'alloc-stop' });
  tx.put(evaluations, evaluation);
  return ok(evaluation);
}
