import type { FunctionPolicy } from '../../functions/define-function.js';
import {
  batches,
  cancelled,
  hasEnded,
  type Outcome,
  openMembers,
  outcomeIn,
  retried,
  runs,
  type StoredBatch,
  type StoredRun,
  steps,
} from '../../functions/run.js';
import type { Instant } from '../../shared/instant.js';
import type { Transaction } from '../write-transaction.js';
import { reclaimKeys } from './enqueue.js';
import { type BatchCounts, batchId, type FunctionsError } from './functions-api.js';
import { limitsOfLaunch } from './launches.js';
import { RunReports } from './run-reports.js';
import { changeUnfinished, countEnded, countNew, newRun, putNewRun, releaseNext, viewOf } from './stored-runs.js';

/** The functions that this process knows, by name. */
type Policies = ReadonlyMap<string, FunctionPolicy>;

/** Stores a run that may have ended just now, outside of an attempt. */
function endIn(tx: Transaction, run: StoredRun, policies: Policies): void {
  tx.put(runs, run);
  if (!hasEnded(run)) return;
  changeUnfinished(tx, run.function, -1);
  countEnded(tx, run, 1);
  releaseNext(tx, run);
  RunReports.in(tx).ended(run);
  afterEnd(tx, run, policies);
}

/** Cancels a run with all that it has called, however deep; undefined when it had ended. */
export function cancelIn(tx: Transaction, run: StoredRun, reason: string, policies: Policies): StoredRun | undefined {
  const changed = cancelled(run, reason, tx.now);
  if (changed === undefined) return undefined;
  // A list instead of recursion: a chain of calls may be deeper than the stack. Reads come first, since lists among many changed rows are slow.
  const all = [{ run, changed }];
  for (const { run: caller } of all)
    for (const number of calledBy(tx, caller)) {
      const called = tx.get(runs, [number])?.record;
      const over = called === undefined ? undefined : cancelled(called, reason, tx.now);
      if (called !== undefined && over !== undefined) all.push({ run: called, changed: over });
    }
  for (const each of all) endIn(tx, each.changed, policies);
  return changed;
}

/** The runs that a run has called, by number. */
function calledBy(tx: Transaction, { number }: StoredRun): number[] {
  return tx.list(steps, { prefix: [number] }).flatMap(({ record }) => record.called?.number ?? []);
}

/**
 * What follows the ends of runs in their write: the runs that called them have their outcomes, their batches count them. Whether a run
 * was enqueued.
 */
export function afterEnds(tx: Transaction, ended: readonly StoredRun[], policies: Policies): boolean {
  const counted = new Map<number, StoredBatch>();
  for (const run of ended) {
    if (run.parent !== undefined) answerParent(tx, run, run.parent);
    const batch =
      run.batch === undefined ? undefined : (counted.get(run.batch) ?? tx.get(batches, [run.batch])?.record);
    if (batch !== undefined) counted.set(batch.number, { ...batch, ended: changed(batch, outcomeIn(run), 1) });
  }
  let hasNext = false;
  for (const batch of counted.values()) {
    const isOver = openMembers(batch) === 0 && batch.followed !== true;
    tx.put(batches, isOver ? { ...batch, followed: true } : batch);
    if (isOver && putFollowUp(tx, batch, policies)) hasNext = true;
  }
  return hasNext;
}

export const afterEnd = (tx: Transaction, run: StoredRun, policies: Policies): boolean =>
  afterEnds(tx, [run], policies);

/** Queues a run again that ended otherwise than well, unless a newer one has its key; false for others. `at`: when it is due. */
export function retryIn(tx: Transaction, run: StoredRun, at: Instant): boolean | FunctionsError {
  const changed = retried(run, tx.now, Math.max(tx.now, at));
  if (changed === undefined || !reclaimKeys(tx, run)) return false;
  const full = countNew(tx, run.function);
  if (full !== undefined) return full;
  tx.put(runs, changed);
  countEnded(tx, run, -1);
  reopened(tx, run);
  return true;
}

/** An ended run is queued again: it counts as unfinished, and what it has called in vain is called again. */
function reopened(tx: Transaction, run: StoredRun): void {
  for (const { record } of tx.list(steps, { prefix: [run.number] })) {
    const outcome = record.called?.outcome;
    if (outcome !== undefined && outcome !== 'succeeded') tx.remove(steps, [run.number, record.name]);
  }
  const batch = run.batch === undefined ? undefined : tx.get(batches, [run.batch])?.record;
  if (batch !== undefined) tx.put(batches, { ...batch, ended: changed(batch, outcomeIn(run), -1) });
}

function answerParent(tx: Transaction, run: StoredRun, parent: NonNullable<StoredRun['parent']>): void {
  const step = tx.get(steps, [parent.run, parent.step])?.record;
  if (step?.called?.number !== run.number) return;
  const { result } = viewOf(tx, run);
  const outcome = outcomeIn(run);
  const error = run.error === undefined ? {} : { error: run.error };
  const value = result === undefined ? {} : { value: result };
  tx.put(steps, { run: step.run, name: step.name, ...value, called: { ...step.called, outcome, ...error } });
}

const changed = (batch: StoredBatch, outcome: Outcome, by: 1 | -1): StoredBatch['ended'] => ({
  ...batch.ended,
  [outcome]: batch.ended[outcome] + by,
});

/** Enqueues the function that follows a batch; false when it has none. */
export function putFollowUp(tx: Transaction, batch: StoredBatch, policies: Policies): boolean {
  if (batch.next === undefined) return false;
  const input = { batch: batchId(batch.number), counts: { ...countsOf(batch, []) } };
  const { function: name, ...declared } = batch.next;
  const policy = policies.get(name);
  const number = tx.nextIndex();
  const run = newRun({ name, ...declared, ...policy }, input, { number, now: tx.now, dueAt: tx.now });
  const limits = policy === undefined ? [] : limitsOfLaunch(policy, input);
  const keys = policy === undefined ? { hasOpenKeys: true as const } : limits.length === 0 ? {} : { limits };
  // It is not refused: the batch has ended.
  changeUnfinished(tx, name, 1);
  putNewRun(tx, { ...run, ...keys }, JSON.stringify(input).length);
  return true;
}

/** How many members are in each state. */
export function countsOf(batch: StoredBatch, unfinished: readonly StoredRun[]): BatchCounts {
  const counts = { scheduled: 0, queued: 0, running: 0, waiting: 0, ...batch.ended };
  for (const { state } of unfinished) counts[state] += 1;
  return { ...counts, total: batch.total };
}
