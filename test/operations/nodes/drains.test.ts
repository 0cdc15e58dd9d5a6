import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { drainNode, setNodeEligibility } from '../../../src/operations/nodes/drain-and-eligibility.js';
import { readNode } from '../../../src/operations/scheduling/read-nodes.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import type { Node } from '../../../src/scheduler/node.js';
import { day, hour, minute, second } from '../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { group } from '../jobs/world.js';

const nanos = (milliseconds: number): number => milliseconds * 1_000_000;

async function register({ engine, clock }: FakeCluster, job: object): Promise<void> {
  (await registerJob(engine, hostPrincipal, { job: { Datacenters: ['*'], ...job } }))._unsafeUnwrap();
  await clock.advance(30 * second);
}

const service = (count: number, maxParallel = 1) => ({
  ID: 'web',
  Type: 'service',
  Update: { MaxParallel: 0 },
  TaskGroups: [
    group({
      Count: count,
      Migrate: {
        MaxParallel: maxParallel,
        HealthCheck: 'task_states',
        MinHealthyTime: nanos(10 * second),
        HealthyDeadline: nanos(5 * minute),
      },
    }),
  ],
});

async function nodeOf({ engine }: FakeCluster, nodeId: string): Promise<Node> {
  const read = (await readNode(engine, hostPrincipal, { nodeId }))._unsafeUnwrap();
  if (read.value === undefined) throw new Error(`no node ${nodeId}`);
  return read.value.record;
}

async function running(cluster: FakeCluster, nodeId?: string): Promise<Allocation[]> {
  const all = await cluster.rows(allocations);
  return all.filter(({ ClientStatus, NodeID }) => ClientStatus === 'running' && (nodeId ?? NodeID) === NodeID);
}

const drain = async ({ engine }: FakeCluster, nodeId: string, deadline: number, ignoreSystemJobs = false) =>
  drainNode(engine, hostPrincipal, { nodeId, spec: { Deadline: nanos(deadline), IgnoreSystemJobs: ignoreSystemJobs } });

describe('a drain', () => {
  it('moves a service as its migrate block allows, and ends', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    await register(cluster, service(3));
    expect(await running(cluster, 'n1')).toHaveLength(3);
    await cluster.addNode('n2');
    (await drain(cluster, 'n1', hour))._unsafeUnwrap();
    const left: number[] = [];
    for (let at = 0; at < 60; at += 1) {
      await cluster.clock.advance(second);
      left.push((await running(cluster, 'n1')).length);
    }
    // One at a time, each after its predecessor has been healthy for ten seconds.
    expect(left.every((count, at) => at === 0 || (left[at - 1] ?? 0) - count <= 1)).toBe(true);
    expect(left[8]).toBe(2);
    expect(left.at(-1)).toBe(0);
    expect(await running(cluster, 'n2')).toHaveLength(3);
    expect(await nodeOf(cluster, 'n1')).toMatchObject({
      DrainStrategy: null,
      SchedulingEligibility: 'ineligible',
      LastDrain: { Status: 'complete' },
    });
    const triggers = (await cluster.rows(evaluations)).map(({ TriggeredBy }) => TriggeredBy);
    expect(triggers.filter((trigger) => trigger === 'node-drain')).toHaveLength(3);
  });

  it('waits for room, and takes what is left at the deadline', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    await register(cluster, service(3));
    (await drain(cluster, 'n1', 10 * minute))._unsafeUnwrap();
    await cluster.clock.advance(9 * minute);
    // One has left; it finds no room, so the others are needed.
    expect(await running(cluster)).toHaveLength(2);
    await cluster.clock.advance(2 * minute);
    expect(await running(cluster)).toHaveLength(0);
    expect((await nodeOf(cluster, 'n1')).LastDrain?.Status).toBe('complete');
    await cluster.addNode('n2');
    await cluster.clock.advance(minute);
    expect(await running(cluster, 'n2')).toHaveLength(3);
  });

  it.each([
    ['forward', day],
    ['back', -day],
  ])('keeps its deadline when the clock is set %s by a day', async (_way, by) => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    const tasks = [{ Name: 't', Driver: 'raw_exec', Config: { command: '/bin/sleep' } }];
    await register(cluster, { ID: 'work', Type: 'batch', TaskGroups: [group({ Count: 1, Tasks: tasks })] });
    (await drain(cluster, 'n1', 10 * minute))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    await cluster.clock.step(by);
    await cluster.clock.advance(8 * minute);
    expect(await running(cluster, 'n1')).toHaveLength(1);
    await cluster.clock.advance(2 * minute);
    expect(await running(cluster, 'n1')).toHaveLength(0);
  });

  it.each([
    ['before it begins', 0],
    ['while it is under way', 5 * second],
  ])('goes on when the clock is set back by a day %s', async (_when, after) => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    await register(cluster, service(3));
    await cluster.addNode('n2');
    if (after === 0) await cluster.clock.step(-day);
    (await drain(cluster, 'n1', hour))._unsafeUnwrap();
    await cluster.clock.advance(5 * second);
    if (after > 0) await cluster.clock.step(-day);
    await cluster.clock.advance(2 * minute);
    expect(await running(cluster, 'n2')).toHaveLength(3);
    expect((await nodeOf(cluster, 'n1')).LastDrain?.Status).toBe('complete');
  });

  it('counts an allocation as healthy no sooner when the clock is set forward', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    await register(cluster, service(3));
    await cluster.addNode('n2');
    (await drain(cluster, 'n1', hour))._unsafeUnwrap();
    await cluster.clock.advance(5 * second);
    expect(await running(cluster, 'n1')).toHaveLength(2);
    await cluster.clock.step(day);
    await cluster.clock.advance(3 * second);
    expect(await running(cluster, 'n1')).toHaveLength(2);
  });

  it('lets batch work run on until the deadline, and does not begin it elsewhere then', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    await register(cluster, { ID: 'sums', Type: 'batch', TaskGroups: [group()] });
    await cluster.addNode('n2');
    (await drain(cluster, 'n1', 10 * minute))._unsafeUnwrap();
    await cluster.clock.advance(9 * minute);
    expect(await running(cluster, 'n1')).toHaveLength(1);
    await cluster.clock.advance(2 * minute);
    const [own, ...others] = await cluster.rows(allocations);
    expect(own).toMatchObject({
      ClientStatus: 'complete',
      DesiredTransition: { Migrate: true, MigrateDisablePlacement: true },
    });
    expect(others).toEqual([]);
  });

  it('takes system jobs last, unless they are to be left', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    await cluster.addNode('n2');
    await register(cluster, { ID: 'probe', Type: 'system', TaskGroups: [group()] });
    (await drain(cluster, 'n1', 0, true))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect((await nodeOf(cluster, 'n1')).LastDrain?.Status).toBe('complete');
    expect(await running(cluster, 'n1')).toHaveLength(1);
    (await drain(cluster, 'n2', 0))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect(await running(cluster, 'n2')).toHaveLength(0);
    expect((await nodeOf(cluster, 'n2')).LastDrain?.Status).toBe('complete');
  });

  it('at once empties the node at once', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    await register(cluster, service(3));
    await cluster.addNode('n2');
    (await drain(cluster, 'n1', -1))._unsafeUnwrap();
    await cluster.clock.advance(10 * second);
    expect(await running(cluster, 'n1')).toHaveLength(0);
    expect(await running(cluster, 'n2')).toHaveLength(3);
  });

  it('can be called off, and survives that its node registers again', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    await register(cluster, service(3));
    (await drain(cluster, 'n1', hour))._unsafeUnwrap();
    await cluster.addNode('n1');
    expect((await nodeOf(cluster, 'n1')).DrainStrategy).not.toBeNull();
    const refused = await setNodeEligibility(cluster.engine, hostPrincipal, { nodeId: 'n1', eligibility: 'eligible' });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'node_refused', reason: 'draining' });
    await cluster.clock.advance(minute);
    expect(await running(cluster)).toHaveLength(2);
    const called = await drainNode(cluster.engine, hostPrincipal, { nodeId: 'n1', spec: null, markEligible: true });
    expect(called._unsafeUnwrap().evalIds).toHaveLength(1);
    await cluster.clock.advance(minute);
    expect(await running(cluster, 'n1')).toHaveLength(3);
    expect((await nodeOf(cluster, 'n1')).LastDrain?.Status).toBe('canceled');
  });
});
