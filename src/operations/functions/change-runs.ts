import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { declarations } from '../../functions/declaration.js';
import type { FunctionPolicy } from '../../functions/define-function.js';
import { cancellation, hasEnded, runs, type StoredRun } from '../../functions/run.js';
import type { StorageError } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import { commit, commitValue } from '../commit.js';
import { definitionKey, type EngineContext } from '../context/engine-context.js';
import type { Transaction } from '../write-transaction.js';
import type { FunctionsError, RunFilter } from './functions-api.js';
import { hasProcess, hasRuns, removeFunction } from './missing-functions.js';
import { afterEnd, cancelIn, retryIn } from './run-ends.js';
import { changeUnfinished, countEnded, removeRun, Scan } from './stored-runs.js';

/*
 * Changes of all runs that a filter selects, in writes of a bounded size. They give the number of runs that were changed.
 */

/** The functions that the process defines; those of other processes have none. */
type Policies = ReadonlyMap<string, FunctionPolicy>;
const none: Policies = new Map();

export function cancelRuns(
  context: EngineContext,
  filter: RunFilter,
  reason: string,
  policies = none,
): ResultAsync<number, StorageError> {
  return changeRuns(context, filter, (tx, run) => ok(cancelIn(tx, run, reason, policies) !== undefined));
}

/** Queues runs again that ended otherwise than well. With `rate` they become due one after the other, so many a second. */
export function retryRuns(
  context: EngineContext,
  filter: RunFilter,
  rate = Number.POSITIVE_INFINITY,
): ResultAsync<number, FunctionsError | StorageError> {
  const from = context.clock.now();
  return changeRuns(context, filter, (tx, run, before) => {
    const retried = retryIn(tx, run, Math.round(from + (before * second) / rate));
    return typeof retried === 'boolean' ? ok(retried) : err(retried);
  });
}

/** Removes runs that are not under way. A function that no process has goes with its last run. */
export function discardRuns(
  context: EngineContext,
  filter: RunFilter,
  policies = none,
): ResultAsync<number, StorageError> {
  const names = new Set(filter.function === undefined ? [] : [filter.function]);
  const discarded = changeRuns(context, filter, (tx, run) => {
    names.add(run.function);
    if (run.holder === null) discard(tx, run, policies);
    return ok(run.holder === null);
  });
  return discarded.andThen((count) => removeUnused(context, names).map(() => count));
}

function discard(tx: Transaction, run: StoredRun, policies: Policies): void {
  if (hasEnded(run)) countEnded(tx, run, -1);
  else {
    changeUnfinished(tx, run.function, -1);
    afterEnd(tx, { ...run, state: 'cancelled', error: cancellation('discarded') }, policies);
  }
  removeRun(tx, run);
}

/** `before`: how many earlier runs were changed. */
function changeRuns<E = never>(
  context: EngineContext,
  filter: RunFilter,
  change: (tx: Transaction, run: StoredRun, before: number) => Result<boolean, E>,
): ResultAsync<number, E | StorageError> {
  const scan = new Scan(filter);
  const work = async (): Promise<Result<number, E | StorageError>> => {
    let changed = 0;
    while (!scan.isOver) {
      const page = await context.storage.read((view) => scan.look(view));
      if (page.isErr()) return err(page.error);
      scan.take(page.value);
      const numbers = page.value.matching.map(({ number }) => number);
      if (numbers.length === 0) continue;
      const written = await commit(context, hostPrincipal, (tx): Result<number, E> => {
        let count = 0;
        for (const number of numbers) {
          const run = tx.get(runs, [number])?.record;
          if (run === undefined || !scan.matches(run)) continue;
          const isChanged = change(tx, run, changed + count);
          if (isChanged.isErr()) return err(isChanged.error);
          if (isChanged.value) count += 1;
        }
        return ok(count);
      });
      if (written.isErr()) return err(written.error);
      changed += written.value.value;
    }
    return ok(changed);
  };
  return new ResultAsync(work());
}

/** Removes those of the functions that no process has and of which no run is left. */
function removeUnused(context: EngineContext, names: ReadonlySet<string>): ResultAsync<void, StorageError> {
  const { definitions } = context;
  return commitValue<void, never>(context, hostPrincipal, (tx) => {
    for (const name of names) {
      const declared = tx.get(declarations, [name])?.record;
      if (declared === undefined || definitions.has(definitionKey(declared.namespace, name))) continue;
      if (!hasProcess(tx, name) && !hasRuns(tx, name)) removeFunction(tx, declared);
    }
    return ok(undefined);
  });
}
