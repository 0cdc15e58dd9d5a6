import { ok } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { nodeHeartbeats, nodes } from '../../scheduler/node.js';
import {
  type Heartbeat,
  newSilenceWatch,
  observeHeartbeats,
  type SilenceWatch,
  silentStatus,
  type UnfinishedAllocation,
} from '../../scheduler/node-silence.js';
import { lostAfter } from '../../scheduler/reconcile/situation.js';
import { second } from '../../shared/duration.js';
import { commit } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { readJobVersions } from '../records/jobs/job-rows.js';
import { pagesOf } from '../records/pages.js';
import { jobsOnNode } from '../records/scheduling/node-evaluations.js';
import { readInStep } from '../records/scheduling/scheduling-snapshot.js';
import type { Transaction } from '../write-transaction.js';
import { takeNodeDown } from './register-node.js';

/** Marks nodes that have been silent for too long as down or disconnected, so that their allocations are replaced. */
export const nodeLivenessLoop: BackgroundLoop = {
  name: 'node-liveness',
  run: async (context, signal) => {
    let watch = newSilenceWatch(context.clock.monotonic());
    while (!signal.aborted) watch = await watchOnce(context, watch, signal);
  },
};

/** Checks once, and waits until the next node can become silent or the first one registers. */
async function watchOnce(context: EngineContext, watch: SilenceWatch, signal: AbortSignal): Promise<SilenceWatch> {
  const swept = await sweep(context, watch);
  const { clock } = context;
  if (swept === undefined) {
    await clock.sleep(second, signal);
    // While the store fails, heartbeats cannot be recorded either.
    return newSilenceWatch(clock.monotonic());
  }
  if (swept.next !== undefined) {
    await clock.sleep(swept.next - clock.monotonic(), signal);
    return swept.watch;
  }
  await context.storage.waitForChange([nodeHeartbeats], swept.index, signal);
  return newSilenceWatch(clock.monotonic());
}

interface Sweep {
  readonly watch: SilenceWatch;
  readonly next: number | undefined;
  readonly index: number;
}

/** One check of all nodes; undefined when the store failed. */
async function sweep(context: EngineContext, before: SilenceWatch): Promise<Sweep | undefined> {
  const ttl = context.settings.scheduling.heartbeatTtl;
  const watch = { ...before, since: Math.max(before.since, context.outages.lastAt) };
  const seen = await context.storage.read((view) => ({
    ...observeHeartbeats(watch, heartbeatsOf(context, view), ttl, context.clock.monotonic()),
    index: view.index,
  }));
  if (seen.isErr()) return failed(context, seen.error.message);
  if (seen.value.silent.length === 0) return seen.value;
  const written = await commit(context, hostPrincipal, (tx) => {
    // Checked again on the stored heartbeats at the time of this write: the process may have been suspended since the first check.
    const observed = observeHeartbeats(watch, heartbeatsOf(context, tx), ttl, tx.monotonic);
    for (const { nodeId } of observed.silent) takeForDown(tx, nodeId);
    return ok<Sweep, never>({ watch: observed.watch, next: observed.next, index: tx.index });
  });
  return written.isErr() ? failed(context, written.error.message) : written.value.value;
}

function heartbeatsOf({ clock: { timeline }, ownNodes }: EngineContext, view: ReadView): Heartbeat[] {
  const others = view.list(nodeHeartbeats).filter(({ record }) => !ownNodes.has(record.ID));
  return others.map(({ record, modifyIndex }) => ({
    nodeId: record.ID,
    token: modifyIndex,
    at: record.timeline === timeline ? record.at : undefined,
  }));
}

function takeForDown(tx: Transaction, nodeId: string): void {
  const node = tx.get(nodes, [nodeId])?.record;
  if (node === undefined) tx.remove(nodeHeartbeats, [nodeId]);
  else takeNodeDown(tx, node, 'The node has missed its heartbeats', silentStatus(unfinishedOn(tx, nodeId), tx.now));
}

/** Unfinished allocations of jobs that may wait for the node. */
function* unfinishedOn(tx: Transaction, nodeId: string): Generator<UnfinishedAllocation> {
  for (const { namespace, jobId } of jobsOnNode(tx, nodeId)) {
    const versions = readJobVersions(tx, namespace, jobId).map(({ record }) => record);
    if (!versions.some(({ TaskGroups }) => TaskGroups.some((group) => lostAfter(group) > 0))) continue;
    const query = {
      index: 'open_by_node',
      prefix: [nodeId, namespace, jobId],
      size: readInStep,
      keyOf: ({ ID }: Allocation) => [nodeId, namespace, jobId, ID] as const,
    };
    for (const page of pagesOf(() => tx, allocations, query)) {
      for (const allocation of page) yield { allocation, group: groupOf(versions, allocation) };
    }
  }
}

/** As in `readAllocationJob`. */
function groupOf(versions: readonly Job[], { JobVersion, JobCreateIndex, TaskGroup }: Allocation) {
  const version = versions.find(({ Version, CreateIndex }) => Version === JobVersion && CreateIndex === JobCreateIndex);
  return version?.TaskGroups.find(({ Name }) => Name === TaskGroup);
}

function failed(context: EngineContext, message: string): undefined {
  context.logger.error({ error: message }, 'Checking the heartbeats of nodes failed');
  return undefined;
}
