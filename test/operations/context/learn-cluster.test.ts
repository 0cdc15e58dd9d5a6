import { ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { commit } from '../../../src/operations/commit.js';
import { learnCluster } from '../../../src/operations/context/learn-cluster.js';
import { planJob } from '../../../src/operations/jobs/registration/plan-job.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

it('reads the cluster once for all who ask meanwhile, and not again', async () => {
  const storage = memoryStorage();
  let reads = 0;
  const read: Storage['read'] = (work) => {
    reads += 1;
    return storage.read(work);
  };
  const ports = { clock: manualClock(), ids: sequentialIds(), delivery: recordingDelivery() };
  const engine = createEngine({ ...ports, storage: { ...storage, read } });
  (await registerNode(engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  const before = reads;
  const learned = await Promise.all([learnCluster(engine), learnCluster(engine), learnCluster(engine)]);
  for (const each of learned) each._unsafeUnwrap();
  (await learnCluster(engine))._unsafeUnwrap();
  expect(reads - before).toBe(1);
  expect(engine.cluster.known?.cluster.nodeOf('n1')?.ID).toBe('n1');
});

it('catches up in turns before a plan when much has changed, and the plan sees all of it', async () => {
  const ports = { clock: manualClock(), ids: sequentialIds(), delivery: recordingDelivery(), storage: memoryStorage() };
  const engine = createEngine(ports);
  (await registerNode(engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  (await learnCluster(engine))._unsafeUnwrap();
  const before = engine.cluster.known?.allocationsIndex ?? 0;
  const written = await commit(engine, hostPrincipal, (tx) => {
    for (let at = 0; at < 300; at += 1) tx.put(allocations, largeAllocation(`a-${at}`, tx.index));
    return ok(undefined);
  });
  written._unsafeUnwrap();
  const job = { ID: 'web', Type: 'service', Datacenters: ['*'], TaskGroups: [groupDocument()] };
  const plan = (await planJob(engine, hostPrincipal, { job: job as never }))._unsafeUnwrap();
  expect(plan.failedPlacements).toMatchObject({ app: { NodesExhausted: 1 } });
  expect(engine.cluster.known?.allocationsIndex).toBeGreaterThan(before);
  expect(engine.cluster.known?.cluster.nodeStates[0]?.uses).toHaveLength(300);
});

/** All of them together use more than a node has. */
function largeAllocation(ID: string, index: number): Allocation {
  const main = { Cpu: { CpuShares: 1000, ReservedCores: null }, Memory: { MemoryMB: 1000, MemoryMaxMB: 0 } };
  return {
    ID,
    Namespace: 'default',
    JobID: 'other',
    JobType: 'service',
    JobVersion: 0,
    JobCreateIndex: 1,
    TaskGroup: 'app',
    NodeID: 'n1',
    EvalID: 'e',
    AllocatedResources: {
      Tasks: { main: { ...main, Networks: null, Devices: null } },
      TaskLifecycles: { main: null },
      Shared: { Networks: null, DiskMB: 1, Ports: null },
    },
    DesiredStatus: 'run',
    ClientStatus: 'running',
    CreateIndex: index,
    ModifyIndex: index,
  } as unknown as Allocation;
}
