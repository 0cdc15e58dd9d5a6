import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { jobs } from '../../jobs/job-record.js';
import {
  type ChildrenSummary,
  type GroupSummary,
  type JobSummary,
  jobSummaries,
} from '../../jobs/status/job-summary.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import type { Steps } from '../../scheduler/steps.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { steppedWork, stepsInTurns } from '../context/steps-in-turns.js';
import { pagesOf } from '../records/pages.js';
import type { Transaction } from '../write-transaction.js';

/**
 * Recomputes the summaries of all jobs. Lifetime totals (complete, failed, lost, dead instances) may exceed the number of kept
 * records, and never decrease. Counting runs in steps, between which the event loop runs, and each changed summary is a separate write: if the
 * process is killed in between, the others are unchanged.
 */
export function reconcileSummaries(
  context: EngineContext,
  caller: Principal,
): ResultAsync<{ readonly index: number }, StorageError> {
  return new ResultAsync(reconciled(context, caller));
}

async function reconciled(
  context: EngineContext,
  caller: Principal,
): Promise<Result<{ readonly index: number }, StorageError>> {
  const work = steppedWork((view) => differingInSteps(view));
  const counted = await stepsInTurns(context, work, new AbortController().signal);
  if (counted.isErr()) return err(counted.error);
  if (counted.value === undefined) throw new Error('the steps of counting the summaries have no result');
  let { index } = counted.value;
  for (const one of counted.value.differing) {
    await context.turns.next();
    const written = await commit<void, never>(context, caller, (tx) => ok(writeCount(tx, one)));
    if (written.isErr()) return err(written.error);
    index = written.value.index;
  }
  return ok({ index });
}

/** Summaries or allocations read in one step. */
const readInStep = 16;

/** The counted allocations of a job as of the write `seen`. */
interface Counted {
  readonly summary: JobSummary;
  readonly own: Map<string, CountedAllocation>;
  seen: number;
}

type CountedAllocation = Pick<Allocation, 'TaskGroup' | 'ClientStatus' | 'JobCreateIndex'>;

/** The summaries that differ from the stored records. The write checks again. */
function* differingInSteps(
  view: () => ReadView,
): Steps<{ readonly differing: readonly Counted[]; readonly index: number }> {
  const differing: Counted[] = [];
  const keyOf = ({ Namespace, JobID }: JobSummary): readonly [string, string] => [Namespace, JobID];
  for (const page of pagesOf(view, jobSummaries, { size: readInStep, keyOf })) {
    for (const summary of page) {
      const counted = yield* countInSteps(view, summary);
      const stored = view().get(jobSummaries, keyOf(summary))?.record;
      if (stored !== undefined && !equal(recount(view(), stored, counted), stored)) differing.push(counted);
      // Set only here: if the write is repeated, its index may now belong to another write.
      counted.seen = view().index;
      yield;
    }
  }
  return { differing, index: view().index };
}

function* countInSteps(view: () => ReadView, summary: JobSummary): Steps<Counted> {
  const { Namespace, JobID } = summary;
  const counted: Counted = { summary, own: new Map(), seen: view().index };
  const keyOf = ({ ID }: Allocation): readonly [string, string, string] => [Namespace, JobID, ID];
  const query = { index: 'by_job', prefix: [Namespace, JobID], size: readInStep, keyOf };
  for (const page of pagesOf(view, allocations, query)) {
    for (const record of page) note(counted, record);
    if (page.length === readInStep) yield;
  }
  return counted;
}

function note({ own }: Counted, { ID, TaskGroup, ClientStatus, JobCreateIndex }: Allocation): void {
  own.set(ID, { TaskGroup, ClientStatus, JobCreateIndex });
}

function writeCount(tx: Transaction, counted: Counted): void {
  const { Namespace, JobID } = counted.summary;
  const stored = tx.get(jobSummaries, [Namespace, JobID])?.record;
  if (stored === undefined) return;
  const after = recount(tx, stored, counted);
  if (!equal(after, stored)) tx.put(jobSummaries, { ...after, ModifyIndex: tx.index });
}

function equal(one: JobSummary, other: JobSummary): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * The summary according to the current allocations. An allocation that was removed since it was counted had ended, unless its job was purged;
 * the allocations of a later job with the same ID have another CreateIndex.
 */
function recount(view: ReadView, summary: JobSummary, counted: Counted): JobSummary {
  const { Namespace, JobID, CreateIndex } = summary;
  for (const { record } of view.list(allocations, { index: 'by_modify', from: [counted.seen + 1] })) {
    if (record.Namespace === Namespace && record.JobID === JobID) note(counted, record);
  }
  const groups = new Map<string, CountedAllocation[]>();
  for (const allocation of counted.own.values()) {
    if (allocation.JobCreateIndex !== CreateIndex) continue;
    const before = groups.get(allocation.TaskGroup);
    if (before === undefined) groups.set(allocation.TaskGroup, [allocation]);
    else before.push(allocation);
  }
  const Summary = Object.fromEntries(
    Object.entries(summary.Summary).map(([name, group]) => [name, countGroup(group, groups.get(name) ?? [])]),
  );
  return { ...summary, Summary, Children: countChildren(view, summary) };
}

function countGroup(before: GroupSummary, own: readonly CountedAllocation[]): GroupSummary {
  const count = (status: Allocation['ClientStatus']): number =>
    own.filter(({ ClientStatus }) => ClientStatus === status).length;
  return {
    Queued: before.Queued,
    Complete: Math.max(before.Complete, count('complete')),
    Failed: Math.max(before.Failed, count('failed')),
    Running: count('running'),
    Starting: count('pending'),
    Lost: Math.max(before.Lost, count('lost')),
    Unknown: count('unknown'),
  };
}

function countChildren(view: ReadView, { Namespace, JobID, Children }: JobSummary): ChildrenSummary {
  const statuses = view
    .list(jobs, { index: 'by_parent', prefix: [Namespace, JobID] })
    .map(({ record }) => record.Status);
  const count = (status: string): number => statuses.filter((one) => one === status).length;
  return { Pending: count('pending'), Running: count('running'), Dead: Math.max(Children.Dead, count('dead')) };
}
