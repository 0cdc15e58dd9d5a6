import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { listAllocations } from '../../../../src/operations/jobs/reading/read-allocations.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { second } from '../../../../src/shared/duration.js';
import { fakeCluster } from '../../../support/fake-agents.js';
import { serviceJob } from '../world.js';

/* Members that an allocation has when it is read, and that are not stored. */
it.each([
  'Resources.CPU == 100',
  'Resources is not nil and Resources.Networks is nil',
  'SharedResources.DiskMB == 300',
  'TaskResources.t.MemoryMB != 0',
  '"t" in TaskResources',
  'NetworkStatus is not nil',
  'NetworkStatus.InterfaceName == "" and Job.ID == "web"',
])('a filter of allocations finds what a read shows: %s', async (filter) => {
  await using cluster = fakeCluster();
  await cluster.addNode('n1');
  (await registerJob(cluster.engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
  await cluster.clock.advance(10 * second);
  expect((await listAllocations(cluster.engine, hostPrincipal, { filter }))._unsafeUnwrap().value.items).toHaveLength(
    1,
  );
});
