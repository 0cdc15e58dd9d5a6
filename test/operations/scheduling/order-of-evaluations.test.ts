import { expect, it } from 'vitest';
import { hostPrincipal, registerJob, registerNode } from '../../../src/index.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';
import { world } from '../jobs/world.js';

/** Registers jobs of which the node has room for one, and gives the one that got it. */
async function winner(...priorities: readonly number[]): Promise<string | undefined> {
  const { engine, clock, rows } = world();
  (await registerNode(engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  const TaskGroups = [groupDocument({}, { Resources: { CPU: 900, MemoryMB: 100 } })];
  for (const [at, Priority] of priorities.entries()) {
    const job = { ID: `job-${at}`, Datacenters: ['*'], Priority, TaskGroups };
    (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  }
  engine.start();
  await clock.settle();
  const placed = await rows(allocations);
  await engine.stop();
  expect(placed).toHaveLength(1);
  return placed[0]?.JobID;
}

it.each([
  ['the most urgent one', [20, 80, 50], 'job-1'],
  ['the oldest of those that are equally urgent', [50, 50, 50], 'job-0'],
  ['the oldest of the most urgent ones', [20, 70, 70], 'job-1'],
])('of the evaluations that wait, %s is worked on first', async (_what, priorities, expected) => {
  expect(await winner(...priorities)).toBe(expected);
});
