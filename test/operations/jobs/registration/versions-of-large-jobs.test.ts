import { expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/memory/index.js';
import { hostPrincipal } from '../../../../src/index.js';
import { jobVersions } from '../../../../src/jobs/job-record.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { allocations } from '../../../../src/scheduler/allocation.js';
import { second } from '../../../../src/shared/duration.js';
import { countedLists } from '../../../support/counted-lists.js';
import { fakeCluster } from '../../../support/fake-agents.js';
import { muchRoom } from '../../../support/nodes.js';
import { group, serviceJob } from '../world.js';

it('which versions a job still needs is told by one allocation of each', async () => {
  const counts: number[] = [];
  await using cluster = fakeCluster({ storage: countedLists(memoryStorage(), allocations, counts) });
  await cluster.addNode('n1', muchRoom);
  const register = async (Priority: number): Promise<void> => {
    const job = serviceJob('large', { Priority, TaskGroups: [group({ Count: 100 })] });
    (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
  };
  await register(50);
  await cluster.clock.advance(30 * second);
  expect(await cluster.rows(allocations)).toHaveLength(100);
  // The allocations stay with the version that placed them.
  await cluster.engine.stop();
  for (let version = 1; version < 9; version += 1) {
    counts.length = 0;
    await register(50 + version);
    expect(Math.max(0, ...counts)).toBeLessThan(10);
  }
  expect((await cluster.rows(jobVersions)).map(({ Version }) => Version)).toEqual([0, 4, 5, 6, 7]);
});
