import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { type Node, nodes } from '../../scheduler/node.js';
import { completeDrain, type Departure, type Departures, leaving } from '../../scheduler/nodes/decide-drain.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { readJobRow } from '../records/jobs/job-rows.js';
import { newEvaluation, putHeldEvaluation, releaseEvaluation } from '../records/scheduling/new-evaluation.js';
import type { Transaction } from '../write-transaction.js';
import { jobKey, type KnownAllocation, type KnownDrains, knownAllocation } from './known-drains.js';

/** The maximum number of marked allocations and completed drains in one write. */
const writtenAtOnce = 8;

/** Evaluations that wait until the remaining allocations of their job are marked, by job key. */
export type WaitingEvaluations = Map<string, string>;

interface Written {
  readonly known: KnownDrains;
  readonly waiting: WaitingEvaluations;
}

/** Concurrent changes since the decision that an earlier part found: IDs of allocations, keys of groups, IDs of nodes. */
interface Touched {
  readonly allocations: Set<string>;
  readonly groups: Set<string>;
  readonly nodes: Set<string>;
}

function noTouches(): Touched {
  return { allocations: new Set(), groups: new Set(), nodes: new Set() };
}

function touch({ allocations: ids, groups, nodes: nodeIds }: Touched, one: KnownAllocation): void {
  ids.add(one.ID);
  groups.add(groupKey(one));
  nodeIds.add(one.NodeID);
}

/** One write. */
interface DrainPart {
  readonly departures: readonly Departure[];
  readonly completed: readonly Node[];
  /** Jobs with allocations that a later part marks. */
  readonly unfinished: ReadonlySet<string>;
}

/**
 * Marks the allocations that leave, and ends drains, in parts, each in a separate turn of the event loop. A part is written only if the
 * records it was decided on are unchanged, whoever has written since; `conflict`: the rest must be decided again. After each part every
 * job with marked allocations has an evaluation that has not begun.
 */
export async function writeDepartures(
  context: EngineContext,
  { known, waiting }: Written,
  decided: Departures,
  signal: AbortSignal,
): Promise<Result<'complete' | 'conflict' | 'stopped', StorageError>> {
  const released = await releaseOthers(context, waiting, decided);
  if (released.isErr()) return err(released.error);
  const touched = noTouches();
  for (const [at, part] of partsOf(decided).entries()) {
    if (at > 0) await context.turns.next();
    if (signal.aborted) return ok('stopped');
    const written = await commit(context, hostPrincipal, (tx) => ok(writePart(tx, { known, waiting, touched }, part)));
    if (written.isErr()) return err(written.error);
    const { value: changes, index } = written.value;
    if (changes === undefined) return ok('conflict');
    known.take([...changes.news, ...changes.marked], index);
    for (const one of changes.news) touch(touched, one);
    for (const [key, id] of changes.evaluations) {
      if (id === undefined) waiting.delete(key);
      else waiting.set(key, id);
    }
  }
  return ok('complete');
}

/** Releases evaluations that wait for further parts which an earlier decision planned and the current one does not. */
async function releaseOthers(
  context: EngineContext,
  waiting: WaitingEvaluations,
  { departures }: Departures,
): Promise<Result<void, StorageError>> {
  const still = new Set(departures.map(({ allocation }) => jobKey(allocation)));
  const others = [...waiting].filter(([key]) => !still.has(key));
  if (others.length === 0) return ok(undefined);
  const released = await commit(context, hostPrincipal, (tx) => {
    for (const [, id] of others) releaseEvaluation(tx, id);
    return ok(undefined);
  });
  for (const [key] of released.isOk() ? others : []) waiting.delete(key);
  return released.map(() => undefined);
}

/** Allocations of one job are adjacent, and a drain completes after all allocations that leave with it. */
function partsOf({ departures, completed }: Departures): readonly DrainPart[] {
  const byJob = new Map<string, Departure[]>();
  for (const departure of departures) {
    const key = jobKey(departure.allocation);
    const own = byJob.get(key);
    if (own === undefined) byJob.set(key, [departure]);
    else own.push(departure);
  }
  const ordered = [...byJob.values()].flat();
  const parts: DrainPart[] = [];
  for (let from = 0; from < ordered.length + completed.length; from += writtenAtOnce) {
    const own = ordered.slice(from, from + writtenAtOnce);
    const [last, next] = [own.at(-1), ordered[from + writtenAtOnce]];
    const continues = last !== undefined && next !== undefined && jobKey(last.allocation) === jobKey(next.allocation);
    parts.push({
      departures: own,
      completed: completed.slice(
        Math.max(0, from - ordered.length),
        Math.max(0, from + writtenAtOnce - ordered.length),
      ),
      unfinished: new Set(continues ? [jobKey(next.allocation)] : []),
    });
  }
  return parts;
}

interface PartChanges {
  /** Allocations that were changed concurrently since they were cached. */
  readonly news: readonly KnownAllocation[];
  /** Allocations that the part has marked. */
  readonly marked: readonly KnownAllocation[];
  /** The evaluation of each job that waits for further parts; undefined when there are none. */
  readonly evaluations: ReadonlyMap<string, string | undefined>;
}

/** Undefined, with nothing written, when an input of the part has changed. */
function writePart(
  tx: Transaction,
  { known, waiting, touched }: Written & { readonly touched: Touched },
  part: DrainPart,
): PartChanges | undefined {
  const news = known.newsIn(tx);
  if (news === undefined || isTouched(touched, part)) return undefined;
  const touchedNow = noTouches();
  for (const one of news) touch(touchedNow, one);
  if (isTouched(touchedNow, part) || !isSame(tx, known, part)) return undefined;
  const marked = part.departures.flatMap((departure) => mark(tx, departure) ?? []);
  for (const { ID } of part.completed) endDrain(tx, ID);
  const made = new Map<string, string | undefined>();
  for (const allocation of marked) {
    const key = jobKey(allocation);
    if (!made.has(key)) made.set(key, evaluateJob(tx, allocation, waiting.get(key), part.unfinished.has(key)));
  }
  return { news, marked: marked.map(knownAllocation), evaluations: made };
}

/** Whether an allocation that the part depends on was changed concurrently. */
function isTouched(touched: Touched, { departures, completed }: DrainPart): boolean {
  if (completed.some(({ ID }) => touched.nodes.has(ID))) return true;
  return departures.some(
    ({ allocation, because }) =>
      touched.allocations.has(allocation.ID) || (because === 'count' && touched.groups.has(groupKey(allocation))),
  );
}

/** Whether the nodes and jobs are unchanged since the decision. */
function isSame(tx: Transaction, known: KnownDrains, { departures, completed }: DrainPart): boolean {
  const concerned = new Set([
    ...completed.map(({ ID }) => ID),
    ...departures.map(({ allocation }) => allocation.NodeID),
  ]);
  if (![...concerned].every((nodeId) => known.isSameNode(tx, nodeId))) return false;
  const byJob = departures.filter(({ because }) => because !== 'node');
  const wanting = new Map(byJob.map(({ allocation }) => [jobKey(allocation), allocation]));
  return [...wanting.values()].every((allocation) => known.isSameJob(tx, allocation));
}

function groupKey(allocation: Pick<Allocation, 'Namespace' | 'JobID' | 'TaskGroup'>): string {
  return `${jobKey(allocation)}\u0000${allocation.TaskGroup}`;
}

function mark(tx: Transaction, { allocation: { ID }, ends }: Departure): Allocation | undefined {
  const before = tx.get(allocations, [ID])?.record;
  if (before === undefined) return undefined;
  const after = {
    ...before,
    DesiredTransition: leaving(before, ends),
    ModifyIndex: tx.index,
    AllocModifyIndex: tx.index,
    ModifyTime: unixNanosFromInstant(tx.now),
  };
  tx.put(allocations, after);
  return after;
}

function endDrain(tx: Transaction, nodeId: string): void {
  const node = tx.get(nodes, [nodeId])?.record;
  if (node === undefined) return;
  tx.put(nodes, completeDrain(node, { now: tx.now, index: tx.index }));
  tx.emit('node.changed', { nodeId, status: node.Status });
}

/** One evaluation for all allocations of a job that leave now. Returns its ID while it waits for more of them. */
function evaluateJob(
  tx: Transaction,
  { Namespace, JobID }: Allocation,
  heldId: string | undefined,
  unfinished: boolean,
): string | undefined {
  const job = readJobRow(tx, Namespace, JobID)?.record;
  if (job === undefined) return undefined;
  return putHeldEvaluation(tx, {
    heldId,
    make: () => newEvaluation(tx, job, { triggeredBy: 'node-drain' }),
    unfinished,
  });
}
