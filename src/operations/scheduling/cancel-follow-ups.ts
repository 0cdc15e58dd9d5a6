import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { type Evaluation, evaluations, timeOfChange } from '../../scheduler/evaluation.js';
import type { Transaction } from '../write-transaction.js';

/**
 * Removes the reference to the evaluation that would have marked the allocation as lost, after its disconnected node has reported it
 * again.
 */
export function withoutWait(before: Allocation): Allocation {
  if (before.ClientStatus !== 'unknown' || before.FollowupEvalID === undefined) return before;
  const { FollowupEvalID: _, ...rest } = before;
  return rest;
}

interface Changed {
  readonly before: Allocation;
  readonly after: Allocation;
}

/**
 * Cancels delayed evaluations after allocations have reconnected: those that they referred to, unless other allocations still do, and, if the
 * job no longer waits for any allocation, those for the end of the wait. Call it after all changed allocations were written.
 */
export function cancelFollowUps(tx: Transaction, changed: readonly Changed[]): void {
  const byJob = new Map<string, Allocation[]>();
  for (const { before } of changed) {
    if (before.ClientStatus !== 'unknown') continue;
    const key = JSON.stringify([before.Namespace, before.JobID]);
    byJob.set(key, [...(byJob.get(key) ?? []), before]);
  }
  for (const back of byJob.values()) cancelOfJob(tx, back);
}

function isNamed(tx: Transaction, evaluationId: string): boolean {
  return tx.list(allocations, { index: 'by_follow_up', prefix: [evaluationId], limit: 1 }).length > 0;
}

function cancelOfJob(tx: Transaction, back: readonly Allocation[]): void {
  const [first] = back;
  if (first === undefined) return;
  const prefix = [first.Namespace, first.JobID];
  const waits = tx.list(allocations, { index: 'unknown_by_job', prefix, limit: 1 }).length > 0;
  const named = new Set(back.flatMap(({ FollowupEvalID }) => FollowupEvalID ?? []).filter((id) => !isNamed(tx, id)));
  const isNeedless = ({ ID, WaitUntil, TriggeredBy }: Evaluation): boolean =>
    WaitUntil !== undefined && (named.has(ID) || (!waits && TriggeredBy === 'max-disconnect-timeout'));
  for (const { record } of tx.list(evaluations, { index: 'open_by_job', prefix: [...prefix, 'pending'] })) {
    if (!isNeedless(record)) continue;
    const { index: ModifyIndex, now } = tx;
    const ends = { Status: 'canceled', StatusDescription: 'Its allocations have reconnected' } as const;
    tx.put(evaluations, { ...record, ...ends, ModifyIndex, ModifyTime: timeOfChange(record, now) });
  }
}
