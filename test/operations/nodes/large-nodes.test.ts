import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import {
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { drainNode, setNodeEligibility } from '../../../src/operations/nodes/drain-and-eligibility.js';
import { purgeNode } from '../../../src/operations/nodes/purge-node.js';
import { nodeLivenessLoop } from '../../../src/operations/scheduling/node-liveness-loop.js';
import { leaveNode, registerNode } from '../../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../../src/operations/scheduling/report-allocations.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { nodeAssignments } from '../../../src/scheduler/node-tables.js';
import { hour, minute, second } from '../../../src/shared/duration.js';
import { countedLists } from '../../support/counted-lists.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { muchRoom, nodeFrom } from '../../support/nodes.js';
import { group } from '../jobs/world.js';

const COUNT = 200;
/** Rows that one list of allocations may give. */
const FEW = 65;

interface Large {
  readonly engine: Engine;
  readonly storage: Storage;
  readonly clock: ManualClock;
  /** Rows of each list of allocations since the last time that this was emptied. */
  readonly lists: number[];
}

/** A node on which many allocations of a job run, and an engine that has not been started. */
async function largeNode(disconnect: object = {}): Promise<Large> {
  const [storage, clock, lists] = [memoryStorage(), manualClock(), [] as number[]];
  await using cluster = fakeCluster({ storage, clock });
  await cluster.addNode('n1', muchRoom);
  const TaskGroups = [group({ Count: COUNT, ...disconnect })];
  const job = { ID: 'web', Type: 'service' as const, Datacenters: ['*'], Update: { MaxParallel: 0 }, TaskGroups };
  (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.advance(30 * second);
  const ids = sequentialIds({ after: 1e6 });
  const counted = countedLists(storage, allocations, lists);
  const engine = createEngine({ storage: counted, clock, ids, delivery: recordingDelivery() });
  return { engine, storage, clock, lists };
}

async function own(storage: Storage): Promise<readonly Allocation[]> {
  return (await storage.read((view) => view.list(allocations).map(({ record }) => record)))._unsafeUnwrap();
}

async function statusOf(storage: Storage): Promise<string | undefined> {
  return (await storage.read((view) => view.get(nodes, ['n1'])?.record.Status))._unsafeUnwrap();
}

const node = nodeFrom('n1', muchRoom);

describe('a node with many allocations of a job', () => {
  it('is drained, given back, left, registered and purged by writes that read few of them', async () => {
    const { engine, lists } = await largeNode();
    const spec = { Deadline: hour * 1e6, IgnoreSystemJobs: false };
    (await drainNode(engine, hostPrincipal, { nodeId: 'n1', spec }))._unsafeUnwrap();
    const back = await drainNode(engine, hostPrincipal, { nodeId: 'n1', spec: null, markEligible: true });
    expect(back._unsafeUnwrap().evalIds).toHaveLength(1);
    (await setNodeEligibility(engine, hostPrincipal, { nodeId: 'n1', eligibility: 'ineligible' }))._unsafeUnwrap();
    (await setNodeEligibility(engine, hostPrincipal, { nodeId: 'n1', eligibility: 'eligible' }))._unsafeUnwrap();
    (await leaveNode(engine, hostPrincipal, 'n1'))._unsafeUnwrap();
    (await registerNode(engine, hostPrincipal, node))._unsafeUnwrap();
    expect((await purgeNode(engine, hostPrincipal, { nodeId: 'n1' }))._unsafeUnwrap().evalIds).toHaveLength(1);
    expect(Math.max(...lists)).toBeLessThanOrEqual(FEW);
  });

  it('is told of all that it has to look after when it registers again', async () => {
    const { engine, storage } = await largeNode();
    const [first, second] = await own(storage);
    const forgotten = [first?.ID ?? '', second?.ID ?? ''];
    const removed = await storage.write((tx) => {
      for (const id of forgotten) tx.remove(nodeAssignments, ['n1', id]);
      return ok(undefined);
    });
    removed._unsafeUnwrap();
    (await registerNode(engine, hostPrincipal, node))._unsafeUnwrap();
    const rows = await storage.read((view) =>
      view.list(nodeAssignments, { prefix: ['n1'] }).map(({ record }) => record),
    );
    expect(rows._unsafeUnwrap()).toHaveLength(COUNT);
    expect(rows._unsafeUnwrap()).toEqual(
      expect.arrayContaining(forgotten.map((allocationId) => expect.objectContaining({ allocationId, gone: false }))),
    );
  });

  it.each([
    ['down', {}],
    ['disconnected', { Disconnect: { LostAfter: hour * 1e6, Replace: true } }],
  ])('turns %s when it is silent, by a write that reads few of them', async (status, disconnect) => {
    const { engine, storage, clock, lists } = await largeNode(disconnect);
    const ended = new AbortController();
    const watching = nodeLivenessLoop.run(engine, ended.signal);
    await clock.advance(5 * minute);
    ended.abort();
    await watching;
    expect(await statusOf(storage)).toBe(status);
    expect(Math.max(...lists)).toBeLessThanOrEqual(FEW);
  });

  it('reports some that were out of reach, by a write that reads few of them', async () => {
    const { engine, storage, lists } = await largeNode({ Disconnect: { LostAfter: hour * 1e6 } });
    const [first] = await own(storage);
    const unknown = { ...(first as Allocation), ClientStatus: 'unknown' as const };
    (await storage.write((tx) => ok(tx.put(allocations, { ...unknown, ModifyIndex: tx.index }))))._unsafeUnwrap();
    const { ID: allocationId, TaskStates: taskStates = {} } = unknown;
    const report = { allocationId, clientStatus: 'running' as const, clientDescription: '', taskStates };
    (await reportAllocations(engine, hostPrincipal, { nodeId: 'n1', reports: [report] }))._unsafeUnwrap();
    expect(Math.max(...lists)).toBeLessThanOrEqual(FEW);
  });
});
