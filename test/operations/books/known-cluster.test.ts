import { ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/index.js';
import { clusterAt } from '../../../src/operations/books/known-cluster.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { nodeFrom } from '../../support/nodes.js';

const allocation = (at: number): Allocation =>
  ({
    ID: `a-${at}`,
    Namespace: 'default',
    EvalID: 'e',
    JobVersion: 0,
    CreateIndex: 1,
    ModifyIndex: 1,
    JobID: 'web',
    JobType: 'service',
    TaskGroup: 'app',
    NodeID: `n${at % 3}`,
    AllocatedResources: { Tasks: {}, TaskLifecycles: {}, Shared: { Networks: null, DiskMB: 1, Ports: null } },
    DesiredStatus: 'run',
    ClientStatus: at % 10 === 0 ? 'complete' : 'running',
  }) as unknown as Allocation;

it.each([0, 1, 999, 1000, 1001, 2000, 3334])('knows what %d allocations use, however they are read', async (count) => {
  const storage = memoryStorage();
  const written = await storage.write((tx) => {
    for (let at = 0; at < 3; at += 1) tx.put(nodes, nodeFrom(`n${at}`));
    for (let at = 0; at < count; at += 1) tx.put(allocations, allocation(at));
    return ok(undefined);
  });
  written._unsafeUnwrap();
  const { cluster } = (await storage.read((view) => clusterAt(view, undefined)))._unsafeUnwrap();
  const used = cluster.books.flatMap(({ uses }) => uses.map(({ id }) => id));
  const open = Array.from({ length: count }, (_, at) => allocation(at)).filter((one) => one.ClientStatus === 'running');
  expect(used.sort()).toEqual(open.map(({ ID }) => ID).sort());
});
