import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import { stopAllocation } from '../../../src/operations/allocations/stop-allocation.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';

import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { second } from '../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { group } from '../jobs/world.js';

async function oneRunning(cluster: FakeCluster): Promise<Allocation> {
  await cluster.addNode('n1');
  const job = { ID: 'web', Type: 'service' as const, Datacenters: ['*'], TaskGroups: [group({ Count: 1 })] };
  (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
  await cluster.clock.advance(30 * second);
  const [allocation] = await cluster.rows(allocations);
  if (allocation === undefined) throw new Error('nothing was placed');
  return allocation;
}

describe('the stop of an allocation', () => {
  it('ends it, and another one takes its place', async () => {
    await using cluster = fakeCluster();
    const { ID: allocationId } = await oneRunning(cluster);
    const stop = { allocationId, noShutdownDelay: true };
    const { evalId } = (await stopAllocation(cluster.engine, hostPrincipal, stop))._unsafeUnwrap();
    await cluster.clock.advance(30 * second);
    const made = (await cluster.rows(evaluations)).find(({ ID }) => ID === evalId);
    expect(made).toMatchObject({ TriggeredBy: 'alloc-stop', Status: 'complete', JobID: 'web' });
    const rows = await cluster.rows(allocations);
    expect(rows.find(({ ID }) => ID === allocationId)).toMatchObject({
      DesiredStatus: 'stop',
      ClientStatus: 'complete',
      DesiredTransition: { Migrate: true, NoShutdownDelay: true, Reschedule: false },
    });
    expect(rows.filter(({ ClientStatus }) => ClientStatus === 'running')).toMatchObject([
      { PreviousAllocation: allocationId, Name: 'web.g[0]' },
    ]);
  });

  it.each([
    ['5d1f6f58-1111-4222-8333-944455556666', 'command_not_found', 'allocation not found'],
    ['..', 'command_failed', 'alloc lookup failed: index error: UUID must be 36 characters'],
  ])('is refused for %s', async (allocationId, type, message) => {
    await using cluster = fakeCluster();
    const refused = await stopAllocation(cluster.engine, hostPrincipal, { allocationId });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type, message });
  });

  it('needs the right in the namespace of the allocation, and changes nothing without it', async () => {
    await using cluster = fakeCluster();
    const { ID: allocationId } = await oneRunning(cluster);
    const nobody = { ...hostPrincipal, management: false, namespaces: {} };
    const refused = await stopAllocation(cluster.engine, nobody, { allocationId });
    expect(refused._unsafeUnwrapErr()).toEqual({ type: 'permission_denied' });
    expect((await cluster.rows(evaluations)).some(({ TriggeredBy }) => TriggeredBy === 'alloc-stop')).toBe(false);
  });
});
