import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { putNamespace } from '../../../src/operations/namespaces/namespaces.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
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

/** Namespaces whose evaluations wait, with their priorities; gives the jobs in the order in which they were worked on. */
async function order(waiting: Readonly<Record<string, readonly number[]>>): Promise<string[]> {
  const { engine, clock } = world();
  (await registerNode(engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  for (const [Namespace, priorities] of Object.entries(waiting)) {
    (await putNamespace(engine, hostPrincipal, { name: Namespace }))._unsafeUnwrap();
    for (const [at, Priority] of priorities.entries()) {
      const job = {
        ID: `${Namespace}-${at}`,
        Namespace,
        Datacenters: ['*'],
        Priority,
        TaskGroups: [groupDocument({ Count: 0 })],
      };
      (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
    }
  }
  const done: string[] = [];
  engine.events.on('evaluation.finished', ({ jobId }) => done.push(jobId));
  engine.start();
  await clock.settle();
  await engine.stop();
  return done;
}

it('namespaces take turns, each with its most urgent evaluation, however many another one has waiting', async () => {
  const done = await order({ many: Array(200).fill(90), few: [10, 30, 20], one: [1] });
  expect(done).toHaveLength(204);
  expect(done.slice(0, 8)).toEqual(['few-1', 'many-0', 'one-0', 'few-2', 'many-1', 'few-0', 'many-2', 'many-3']);
});

it('an evaluation that comes later is worked on next but one, in a long queue of another namespace', async () => {
  const { engine, clock } = world();
  const register = async (Namespace: string, ID: string) => {
    const job = { ID, Namespace, Datacenters: ['*'], TaskGroups: [groupDocument({ Count: 0 })] };
    (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  };
  for (const name of ['busy', 'quiet']) (await putNamespace(engine, hostPrincipal, { name }))._unsafeUnwrap();
  for (let at = 0; at < 300; at += 1) await register('busy', `busy-${at}`);
  const done: string[] = [];
  let late: Promise<void> | undefined;
  engine.events.on('evaluation.finished', ({ jobId }) => {
    done.push(jobId);
    if (done.length === 50) late = register('quiet', 'late').then(() => void done.push('registered'));
  });
  engine.start();
  await clock.settle();
  await late;
  await engine.stop();
  expect(done).toHaveLength(302);
  expect(done.indexOf('late') - done.indexOf('registered')).toBeLessThanOrEqual(2);
});
