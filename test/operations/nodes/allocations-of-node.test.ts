import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { listNodeAllocations } from '../../../src/operations/nodes/read-node-allocations.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';

import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';
import { world } from '../jobs/world.js';

const small = [groupDocument({ Constraints: null }, { Resources: { CPU: 20, MemoryMB: 20 } })];

it('the allocations of a node have the index of the last change of one of them, and wait for the next', async () => {
  const { engine, clock } = world();
  engine.start();
  for (const id of ['n1', 'n2']) {
    (await registerNode(engine, hostPrincipal, nodeFrom(id, { Datacenter: id })))._unsafeUnwrap();
  }
  const run = async (ID: string, datacenter: string) => {
    const job = { ID, Datacenters: [datacenter], TaskGroups: small };
    (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
    await clock.settle();
  };
  const read = async (nodeId: string) => (await listNodeAllocations(engine, hostPrincipal, { nodeId }))._unsafeUnwrap();
  expect((await read('n1')).index).toBe(1);
  await run('first', 'n1');
  await run('second', 'n2');
  const { index, value } = await read('n1');
  expect(value.map(({ document }) => document.ModifyIndex)).toEqual([index]);
  expect((await read('n2')).index).toBeGreaterThan(index);
  expect((await read('nobody')).index).toBe(1);

  let answered = false;
  const next = listNodeAllocations(engine, hostPrincipal, { nodeId: 'n1', waiting: { after: index } }).map((answer) => {
    answered = true;
    return answer.value.length;
  });
  await run('third', 'n2');
  expect(answered).toBe(false);
  await run('fourth', 'n1');
  expect((await next)._unsafeUnwrap()).toBe(2);
  await engine.stop();
});
