import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { Filter } from '../../filter/compile-filter.js';
import { type InvalidRequest, invalidRequest } from '../../jobs/errors.js';
import type { StorageError } from '../../ports/storage.js';
import { allocations, isTerminalAllocation } from '../../scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import type { FilterFault } from '../listing/answer-list.js';
import { compileFilter } from '../listing/filters.js';
import { readSchedulerConfiguration } from '../records/declared-rows.js';
import type { Transaction } from '../write-transaction.js';

interface DeleteEvaluationsInput {
  /** Whole IDs, at most `maximumIds`; not together with a filter. */
  readonly evalIds?: readonly string[];
  readonly filter?: string;
}

/** Why evaluations cannot be deleted now; `message` says which and why. */
export interface EvaluationDeletionRefused {
  readonly type: 'evaluation_deletion_refused';
  /** `not_paused`: the scheduler processes evaluations. `in_use`: an evaluation has allocations that have not ended. */
  readonly reason: 'not_paused' | 'not_found' | 'in_use';
  readonly message: string;
}

export interface DeletedEvaluations {
  readonly count: number;
  readonly index: number;
}

type DeleteEvaluationsError = InvalidRequest | EvaluationDeletionRefused | FilterFault | StorageError;

const maximumIds = 7281;

/**
 * Deletes evaluations while the scheduler processes none (its configuration pauses the broker). By ID either all of them are
 * deleted or none. By filter, those with unfinished allocations are kept.
 */
export function deleteEvaluations(
  context: EngineContext,
  caller: Principal,
  { evalIds = [], filter: expression = '' }: DeleteEvaluationsInput,
): ResultAsync<DeletedEvaluations, DeleteEvaluationsError> {
  const fault = faultOf(evalIds, expression);
  if (fault !== undefined) return errAsync(fault);
  const filter = expression === '' ? ok(undefined) : compileFilter.evaluation(expression);
  if (filter.isErr()) return errAsync(filter.error);
  return commit(context, caller, (tx): Result<number, DeleteEvaluationsError> => {
    if (!readSchedulerConfiguration(tx).PauseEvalBroker) {
      return err(refused('not_paused', 'eval broker is enabled; eval broker must be paused to delete evals'));
    }
    const doomed = filter.value === undefined ? named(tx, evalIds) : matching(tx, filter.value);
    return doomed.map((found) => {
      for (const { ID } of found) tx.remove(evaluations, [ID]);
      return found.length;
    });
  }).map(({ index, value: count }) => ({ count, index }));
}

function faultOf(evalIds: readonly string[], expression: string): InvalidRequest | undefined {
  if (evalIds.length === 0 && expression === '') {
    return invalidRequest('EvalIDs', 'evals must be deleted by either ID or filter');
  }
  if (evalIds.length > 0 && expression !== '') {
    return invalidRequest('Filter', 'evals cannot be deleted by both ID and filter');
  }
  return evalIds.length > maximumIds
    ? invalidRequest('EvalIDs', `at most ${maximumIds} evals can be deleted at once`)
    : undefined;
}

function named(tx: Transaction, ids: readonly string[]): Result<readonly Evaluation[], EvaluationDeletionRefused> {
  const found: Evaluation[] = [];
  for (const id of ids) {
    const record = tx.get(evaluations, [id])?.record;
    if (record === undefined) return err(refused('not_found', 'eval not found'));
    if (isInUse(tx, record)) return err(refused('in_use', `eval ${record.ID} is not safe to delete`));
    found.push(record);
  }
  return ok(found);
}

function matching(tx: Transaction, filter: Filter): Result<readonly Evaluation[], DeleteEvaluationsError> {
  const found: Evaluation[] = [];
  for (const { record } of tx.list(evaluations)) {
    const matches = filter.matches(record);
    if (matches.isErr()) return err(matches.error);
    if (matches.value && !isInUse(tx, record)) found.push(record);
  }
  return ok(found);
}

function isInUse(tx: Transaction, { ID }: Evaluation): boolean {
  return tx
    .list(allocations, { index: 'by_evaluation', prefix: [ID] })
    .some(({ record }) => !isTerminalAllocation(record));
}

function refused(reason: EvaluationDeletionRefused['reason'], message: string): EvaluationDeletionRefused {
  return { type: 'evaluation_deletion_refused', reason, message };
}
