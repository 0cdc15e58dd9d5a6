import { ok } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { jobs } from '../../jobs/job-record.js';
import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { isDraining, type Node, nodes } from '../../scheduler/node.js';
import { type DrainDecision, type DrainedNode, decideDrains } from '../../scheduler/nodes/decide-drain.js';
import { completeDrain } from '../../scheduler/nodes/drain.js';
import { second } from '../../shared/duration.js';
import { type Instant, unixNanosFromInstant } from '../../shared/instant.js';
import { readJobRow } from '../books/jobs/job-rows.js';
import { newEvaluation } from '../books/scheduling/new-evaluation.js';
import { putAllocation } from '../books/scheduling/put-allocation.js';
import { putEvaluation } from '../books/scheduling/put-evaluation.js';
import { commit, type Transaction } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { changeOrMoment } from '../waiting/change-or-moment.js';

/** While a node is being emptied it is looked at no more often than this, however busy the cluster is. */
const pause = second / 4;

/** Empties the nodes that are being drained, as `decideDrains` decides, and ends their drains. */
export const drainLoop: BackgroundLoop = {
  name: 'drains',
  run: async (context, signal) => {
    while (!signal.aborted) {
      const seen = await drainOnce(context);
      if (seen === undefined) {
        await context.clock.sleep(second, signal);
        continue;
      }
      const tables = seen.draining ? [nodes, allocations] : [nodes];
      await changeOrMoment(context, { tables, index: seen.index, moment: seen.next }, signal);
      if (seen.draining) await context.clock.sleep(pause, signal);
    }
  },
};

interface Seen {
  readonly index: number;
  readonly draining: boolean;
  readonly next: Instant | undefined;
}

/** Decides on a snapshot, and again in the write when there is something to do. Undefined when the store failed. */
async function drainOnce(context: EngineContext): Promise<Seen | undefined> {
  const seen = await context.storage.read((view) => {
    const time = { now: context.clock.now(), monotonic: context.clock.monotonic() };
    const drained = drainedNodes(context, view, time);
    return { decision: decide(view, drained, time.now), draining: drained.length > 0, index: view.index };
  });
  if (seen.isErr()) return failed(context, seen.error.message);
  const { decision, draining, index } = seen.value;
  if (decision.migrations.length + decision.completed.length === 0) return { index, draining, next: decision.next };
  const written = await commit(context, hostPrincipal, (tx) => {
    const decided = decide(tx, drainedNodes(context, tx, tx), tx.now);
    apply(tx, decided);
    return ok(decided.next);
  });
  if (written.isErr()) return failed(context, written.error.message);
  // The write itself may be a reason to decide again: only now are the allocations that it marked known to be leaving.
  return { index: written.value.index - 1, draining: true, next: written.value.value };
}

function drainedNodes(
  { presentTimes }: EngineContext,
  view: ReadView,
  time: Parameters<EngineContext['presentTimes']['drain']>[2],
): readonly DrainedNode[] {
  return view.list(nodes, { index: 'draining' }).flatMap(({ record }) => {
    if (!isDrained(record)) return [];
    const query = { index: 'open_by_node', prefix: [record.ID] };
    const DrainStrategy = presentTimes.drain(record.ID, record.DrainStrategy, time);
    return [
      { node: { ...record, DrainStrategy }, allocations: view.list(allocations, query).map((row) => row.record) },
    ];
  });
}

function isDrained(node: Node): node is DrainedNode['node'] {
  return isDraining(node);
}

function decide(view: ReadView, drained: readonly DrainedNode[], now: Instant): DrainDecision {
  return decideDrains({
    nodes: drained,
    jobOf: ({ Namespace, JobID }) => view.get(jobs, [Namespace, JobID])?.record,
    liveOf: ({ Namespace, JobID }) =>
      view.list(allocations, { index: 'live_by_job', prefix: [Namespace, JobID] }).map(({ record }) => record),
    now,
  });
}

function apply(tx: Transaction, { migrations, completed }: DrainDecision): void {
  for (const { allocation, transition } of migrations) {
    putAllocation(tx, allocation, {
      ...allocation,
      DesiredTransition: transition,
      ModifyIndex: tx.index,
      AllocModifyIndex: tx.index,
      ModifyTime: unixNanosFromInstant(tx.now),
    });
  }
  evaluateJobsOf(
    tx,
    migrations.map(({ allocation }) => allocation),
  );
  for (const node of completed) {
    tx.put(nodes, completeDrain(node, { now: tx.now, index: tx.index }));
    tx.tell('node.changed', { nodeId: node.ID, status: node.Status });
  }
}

/** One evaluation for each job. */
function evaluateJobsOf(tx: Transaction, leaving: readonly Allocation[]): void {
  const done = new Set<string>();
  for (const { Namespace, JobID } of leaving) {
    const key = JSON.stringify([Namespace, JobID]);
    if (done.has(key)) continue;
    done.add(key);
    const job = readJobRow(tx, Namespace, JobID)?.record;
    if (job !== undefined) putEvaluation(tx, newEvaluation(tx, job, { triggeredBy: 'node-drain' }));
  }
}

function failed({ logger }: EngineContext, error: string): undefined {
  logger.error({ error }, 'Drains of nodes could not be looked after');
}
