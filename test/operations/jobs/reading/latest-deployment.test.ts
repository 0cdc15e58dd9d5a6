import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { listJobDeployments, readLatestDeployment } from '../../../../src/operations/jobs/reading/read-deployments.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { registerNode } from '../../../../src/operations/scheduling/register-node.js';
import { groupDocument } from '../../../support/jobs.js';
import { nodeFrom } from '../../../support/nodes.js';
import { world } from '../world.js';

it('the newest deployment of a job has the index of the table, as a list of deployments has', async () => {
  const { engine, clock } = world();
  engine.start();
  (await registerNode(engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  const TaskGroups = [groupDocument({ Constraints: null }, { Resources: { CPU: 20, MemoryMB: 20 } })];
  for (const ID of ['first', 'second']) {
    (await registerJob(engine, hostPrincipal, { job: { ID, Datacenters: ['*'], TaskGroups } }))._unsafeUnwrap();
    await clock.settle();
  }
  const latestOf = async (jobId: string) =>
    (await readLatestDeployment(engine, hostPrincipal, { jobId }))._unsafeUnwrap();
  const [first, second, none] = [await latestOf('first'), await latestOf('second'), await latestOf('nobody')];
  expect(second.value?.ModifyIndex).toBeGreaterThan(first.value?.ModifyIndex ?? 0);
  const list = (await listJobDeployments(engine, hostPrincipal, { jobId: 'first' }))._unsafeUnwrap();
  expect([first.index, second.index, none.index]).toEqual([list.index, list.index, list.index]);
  expect(none.value).toBeNull();
  await engine.stop();
});
