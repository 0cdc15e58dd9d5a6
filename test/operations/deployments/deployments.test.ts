import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import {
  failDeployment,
  pauseDeployment,
  promoteDeployment,
  setAllocationHealth,
  unblockDeployment,
} from '../../../src/operations/deployments/actions.js';
import { readDeployment } from '../../../src/operations/jobs/reading/read-deployments.js';
import { listJobVersions } from '../../../src/operations/jobs/reading/read-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { reportAllocations } from '../../../src/operations/scheduling/report-allocations.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { type Deployment, deployments } from '../../../src/scheduler/deployment/deployment.js';
import { day, minute, second } from '../../../src/shared/duration.js';
import { type Behaviour, type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { groupDocument } from '../../support/jobs.js';
import { group } from '../jobs/world.js';

const nanos = (milliseconds: number): number => milliseconds * 1_000_000;

const update = (more: object = {}) => ({
  MaxParallel: 1,
  HealthCheck: 'task_states',
  MinHealthyTime: nanos(10 * second),
  HealthyDeadline: nanos(minute),
  ProgressDeadline: nanos(2 * minute),
  ...more,
});

const job = (count: number, mode: string, more: object = {}) => ({
  ID: 'web',
  Datacenters: ['*'],
  Update: update(more),
  TaskGroups: [
    group({
      Count: count,
      RestartPolicy: { Attempts: 0, Mode: 'fail' },
      ReschedulePolicy: { Attempts: 0, Unlimited: false },
      Tasks: [
        {
          Name: 't',
          Driver: 'raw_exec',
          Env: { MODE: mode },
          Config: { command: '/bin/true' },
          Resources: { CPU: 20, MemoryMB: 20 },
        },
      ],
    }),
  ],
});

async function register({ engine }: FakeCluster, document: object): Promise<void> {
  (await registerJob(engine, hostPrincipal, { job: document }))._unsafeUnwrap();
}

async function latest(cluster: FakeCluster): Promise<Deployment> {
  const all = (await cluster.rows(deployments)).sort((a, b) => a.CreateIndex - b.CreateIndex);
  const last = all.at(-1);
  if (last === undefined) throw new Error('no deployment');
  return last;
}

/** How many run of each version. */
async function running(cluster: FakeCluster): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { ClientStatus, JobVersion } of await cluster.rows(allocations)) {
    if (ClientStatus === 'running') counts[JobVersion] = (counts[JobVersion] ?? 0) + 1;
  }
  return counts;
}

const versions = async ({ engine }: FakeCluster) =>
  (await listJobVersions(engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap().value.map(({ record }) => record);

/** The write of a store that notes by which indexes its work lists. */
function spied(write: Storage['write'], lists: string[]): Storage['write'] {
  return (work) =>
    write((view) => {
      const list = view.list.bind(view) as typeof view.list;
      const noting: typeof view.list = (table, query) => {
        lists.push(query?.index ?? '');
        return list(table, query);
      };
      return work(Object.assign(view, { list: noting }));
    });
}

async function cluster(behaviour?: (allocation: Allocation) => Behaviour): Promise<FakeCluster> {
  const made = fakeCluster(behaviour === undefined ? {} : { behaviour });
  await made.addNode('n1');
  await made.addNode('n2');
  return made;
}

describe('a deployment', () => {
  it('of a first version is successful when all have been healthy for long enough, and makes the version stable', async () => {
    await using world = await cluster();
    await register(world, job(3, 'a'));
    await world.clock.advance(9 * second);
    expect(await latest(world)).toMatchObject({
      Status: 'running',
      TaskGroups: { g: { HealthyAllocs: 0, DesiredTotal: 3 } },
    });
    await world.clock.advance(10 * second);
    expect(await latest(world)).toMatchObject({ Status: 'successful', TaskGroups: { g: { HealthyAllocs: 3 } } });
    expect(await versions(world)).toMatchObject([{ Version: 0, Stable: true }]);
  });

  it.each([64, 130])('of %s allocations is looked at as a whole, some of them at a time', async (count) => {
    await using world = await cluster();
    const small = { Resources: { CPU: 1, MemoryMB: 10 } };
    const TaskGroups = [groupDocument({ Name: 'g', Count: count, EphemeralDisk: { SizeMB: 10 } }, small)];
    await register(world, { ...job(count, 'a', { MaxParallel: count }), TaskGroups });
    await world.clock.advance(5 * second);
    const { ID: deploymentId, TaskGroups: placed } = await latest(world);
    expect(placed).toMatchObject({ g: { HealthyAllocs: 0, PlacedAllocs: count } });
    // Of all but the one that is read last.
    const healthy = (await world.rows(allocations)).map(({ ID }) => ID).sort();
    healthy.pop();
    const told = await setAllocationHealth(world.engine, hostPrincipal, { deploymentId, healthy, unhealthy: [] });
    told._unsafeUnwrap();
    await world.clock.advance(20 * second);
    expect(await latest(world)).toMatchObject({ Status: 'successful', TaskGroups: { g: { HealthyAllocs: count } } });
  });

  it('that is over is not looked at again for what its allocations report', async () => {
    await using world = await cluster();
    await register(world, job(3, 'a'));
    await world.clock.advance(20 * second);
    const { ID, Status, ModifyIndex } = await latest(world);
    expect(Status).toBe('successful');
    const lists: string[] = [];
    const [one] = await world.rows(allocations);
    const { engine } = world;
    const { write } = engine.storage;
    const watching = { ...engine, storage: { ...engine.storage, write: spied(write.bind(engine.storage), lists) } };
    const taskStates = one?.TaskStates ?? {};
    const reports = [
      { allocationId: one?.ID ?? '', clientStatus: 'running' as const, clientDescription: 'again', taskStates },
    ];
    const input = { nodeId: one?.NodeID ?? '', reports };
    (await reportAllocations(watching as typeof engine, hostPrincipal, input))._unsafeUnwrap();
    expect((await world.rows(allocations)).find((row) => row.ID === one?.ID)?.ClientDescription).toBe('again');
    expect(lists).not.toContain('by_deployment');
    expect((await world.rows(deployments)).find((row) => row.ID === ID)?.ModifyIndex).toBe(ModifyIndex);
  });

  it('replaces max_parallel at a time, each after the one before is healthy', async () => {
    await using world = await cluster();
    await register(world, job(4, 'a'));
    await world.clock.advance(minute);
    await register(world, job(4, 'b', { MaxParallel: 2 }));
    const news: number[] = [];
    for (let at = 0; at < 40; at += 1) {
      await world.clock.advance(second);
      const counts = await running(world);
      expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBeGreaterThanOrEqual(2);
      news.push(counts[1] ?? 0);
    }
    expect(news[8]).toBe(2);
    expect(news.at(-1)).toBe(4);
    expect(await latest(world)).toMatchObject({ Status: 'successful', JobVersion: 1 });
  });

  it('places canaries beside the old ones, waits for promotion, and then goes on', async () => {
    await using world = await cluster();
    await register(world, job(3, 'a'));
    await world.clock.advance(minute);
    await register(world, job(3, 'b', { Canary: 1 }));
    await world.clock.advance(10 * minute);
    expect(await running(world)).toEqual({ 0: 3, 1: 1 });
    const waiting = await latest(world);
    expect(waiting).toMatchObject({
      Status: 'running',
      StatusDescription: expect.stringContaining('manual promotion'),
    });
    const promoted = (
      await promoteDeployment(world.engine, hostPrincipal, { deploymentId: waiting.ID })
    )._unsafeUnwrap();
    expect(promoted.evalId).not.toBe('');
    await world.clock.advance(2 * minute);
    expect(await running(world)).toEqual({ 1: 3 });
    expect((await latest(world)).Status).toBe('successful');
    const again = await promoteDeployment(world.engine, hostPrincipal, { deploymentId: waiting.ID });
    expect(again._unsafeUnwrapErr()).toMatchObject({ type: 'deployment_over' });
  });

  it('a client pauses it and promotes all of its groups unless it says otherwise; a document of the wire says both', async () => {
    await using world = await cluster();
    const { deployments } = world.engine.as(hostPrincipal);
    await register(world, job(3, 'a'));
    await world.clock.advance(minute);
    await register(world, job(3, 'b', { Canary: 1 }));
    await world.clock.advance(10 * minute);
    const { ID: deploymentId } = await latest(world);
    const promoted = async () => Object.values((await latest(world)).TaskGroups).map(({ Promoted }) => Promoted);

    await pauseDeployment(world.engine, hostPrincipal, { deploymentId, fromWire: true });
    expect((await latest(world)).Status).toBe('running');
    (await deployments.pause(deploymentId))._unsafeUnwrap();
    expect((await latest(world)).Status).toBe('paused');
    (await deployments.pause(deploymentId, { pause: false }))._unsafeUnwrap();

    await promoteDeployment(world.engine, hostPrincipal, { deploymentId, fromWire: true });
    expect(await promoted()).toEqual([false]);
    (await deployments.promote(deploymentId))._unsafeUnwrap();
    expect(await promoted()).toEqual([true]);
  });

  it('a canary that has no health yet has the index of its placement', async () => {
    await using world = await cluster();
    await register(world, job(3, 'a'));
    await world.clock.advance(minute);
    await register(world, job(3, 'b', { Canary: 1, HealthCheck: 'manual' }));
    await world.clock.advance(second);
    const [canary, ...others] = (await world.rows(allocations)).filter(({ JobVersion }) => JobVersion === 1);
    expect(others).toEqual([]);
    expect(canary?.DeploymentStatus).toEqual({
      Healthy: null,
      Timestamp: null,
      Canary: true,
      ModifyIndex: canary?.CreateIndex,
    });
  });

  it('promotes its canaries by itself when the job says so', async () => {
    await using world = await cluster();
    await register(world, job(3, 'a'));
    await world.clock.advance(minute);
    await register(world, job(3, 'b', { Canary: 2, AutoPromote: true }));
    await world.clock.advance(2 * minute);
    expect(await running(world)).toEqual({ 1: 3 });
    expect((await latest(world)).Status).toBe('successful');
  });

  it('of which an allocation fails goes back to the last stable version', async () => {
    await using world = await cluster(({ JobVersion }) =>
      JobVersion === 1 ? { ends: 'failed', after: 3 * second } : {},
    );
    await register(world, job(3, 'a', { AutoRevert: true }));
    await world.clock.advance(minute);
    await register(world, job(3, 'b', { AutoRevert: true }));
    await world.clock.advance(2 * minute);
    const all = (await world.rows(deployments)).sort((a, b) => a.CreateIndex - b.CreateIndex);
    expect(all.map(({ JobVersion, Status }) => [JobVersion, Status])).toEqual([
      [0, 'successful'],
      [1, 'failed'],
      [2, 'successful'],
    ]);
    expect(all[1]?.StatusDescription).toContain('rolling back to job version 0');
    const now = await versions(world);
    expect(now.map(({ Version, Stable }) => [Version, Stable])).toEqual([
      [2, true],
      [1, false],
      [0, true],
    ]);
    expect(now[0]?.TaskGroups[0]?.Tasks?.[0]?.Env).toEqual({ MODE: 'a' });
    expect(await running(world)).toMatchObject({ 2: expect.any(Number) });
  });

  it('fails when nothing becomes healthy in time, and leaves the rest as it is', async () => {
    await using world = await cluster();
    await register(world, job(2, 'a'));
    await world.clock.advance(minute);
    await register(world, job(2, 'b', { HealthCheck: 'manual' }));
    await world.clock.advance(110 * second);
    expect((await latest(world)).Status).toBe('running');
    await world.clock.advance(20 * second);
    expect(await latest(world)).toMatchObject({
      Status: 'failed',
      StatusDescription: expect.stringContaining('progress deadline'),
    });
    expect(await running(world)).toEqual({ 0: 1, 1: 1 });
  });

  it.each([
    ['forward', day],
    ['back', -day],
  ])('keeps its times when the clock is set %s by a day', async (_way, by) => {
    await using world = await cluster();
    await register(world, job(2, 'a'));
    await world.clock.advance(3 * second);
    await world.clock.step(by);
    await world.clock.advance(4 * second);
    expect(await latest(world)).toMatchObject({ Status: 'running', TaskGroups: { g: { HealthyAllocs: 0 } } });
    await world.clock.advance(12 * second);
    expect((await latest(world)).Status).toBe('successful');
    await register(world, job(2, 'b', { HealthCheck: 'manual' }));
    await world.clock.advance(60 * second);
    await world.clock.step(by);
    await world.clock.advance(50 * second);
    expect((await latest(world)).Status).toBe('running');
    await world.clock.advance(20 * second);
    expect(await latest(world)).toMatchObject({
      Status: 'failed',
      StatusDescription: expect.stringContaining('progress deadline'),
    });
  });

  it('is paused, and its time starts over when it is resumed', async () => {
    await using world = await cluster();
    await register(world, job(2, 'a', { HealthCheck: 'manual' }));
    await world.clock.advance(minute);
    const { ID: deploymentId } = await latest(world);
    const pause = async (on: boolean) =>
      (await pauseDeployment(world.engine, hostPrincipal, { deploymentId, pause: on }))._unsafeUnwrap();
    expect(await pause(true)).toMatchObject({ evalId: '' });
    await world.clock.advance(10 * minute);
    expect((await latest(world)).Status).toBe('paused');
    expect((await pause(false)).evalId).not.toBe('');
    await world.clock.advance(100 * second);
    expect((await latest(world)).Status).toBe('running');
    await world.clock.advance(30 * second);
    expect((await latest(world)).Status).toBe('failed');
  });

  it('goes by the health that is told for it', async () => {
    await using world = await cluster();
    await register(world, job(2, 'a', { HealthCheck: 'manual' }));
    await world.clock.advance(10 * second);
    const { ID: deploymentId } = await latest(world);
    const [first, second1] = await world.rows(allocations);
    const tell = async (health: object) =>
      setAllocationHealth(world.engine, hostPrincipal, { deploymentId, ...health });
    expect((await tell({}))._unsafeUnwrapErr().type).toBe('no_allocations');
    expect((await tell({ healthy: ['nobody'] }))._unsafeUnwrapErr().type).toBe('not_of_deployment');
    (await tell({ healthy: [first?.ID] }))._unsafeUnwrap();
    await world.clock.advance(second);
    expect(await latest(world)).toMatchObject({ Status: 'running', TaskGroups: { g: { HealthyAllocs: 1 } } });
    (await tell({ healthy: [second1?.ID] }))._unsafeUnwrap();
    await world.clock.advance(second);
    expect((await latest(world)).Status).toBe('successful');
  });

  it('is failed by hand, with the version to go back to', async () => {
    await using world = await cluster();
    await register(world, job(2, 'a', { AutoRevert: true }));
    await world.clock.advance(minute);
    await register(world, job(2, 'b', { AutoRevert: true, HealthCheck: 'manual' }));
    await world.clock.advance(10 * second);
    const { ID: deploymentId } = await latest(world);
    const failed = (await failDeployment(world.engine, hostPrincipal, { deploymentId }))._unsafeUnwrap();
    expect(failed.revertedJobVersion).toBe(0);
    const read = (await readDeployment(world.engine, hostPrincipal, { id: deploymentId }))._unsafeUnwrap().value;
    expect(read?.Status).toBe('failed');
    await world.clock.advance(2 * minute);
    expect(await running(world)).toEqual({ 2: 2 });
  });

  it('is not found under an unknown id, and not without the right in its namespace', async () => {
    await using world = await cluster();
    await register(world, job(1, 'a'));
    await world.clock.advance(second);
    const { ID: deploymentId } = await latest(world);
    const nobody = await failDeployment(world.engine, hostPrincipal, { deploymentId: 'nobody' });
    expect(nobody._unsafeUnwrapErr().type).toBe('deployment_not_found');
    const stranger = { ...hostPrincipal, management: false };
    const refused = await failDeployment(world.engine, stranger, { deploymentId });
    expect(refused._unsafeUnwrapErr().type).toBe('permission_denied');
  });

  it('has no other region to wait for: unblocking needs the right in its namespace, and changes nothing', async () => {
    await using world = await cluster();
    await register(world, job(1, 'a'));
    await world.clock.advance(second);
    const { ID: deploymentId } = await latest(world);
    const caller = (namespace: string, capability: 'unblock-deployment' | 'read-job') => ({
      ...hostPrincipal,
      management: false,
      namespaces: { [namespace]: { capabilities: [capability] } },
    });
    const unblock = (principal: typeof hostPrincipal) => unblockDeployment(world.engine, principal, { deploymentId });
    for (const stranger of [caller('default', 'read-job'), caller('other', 'unblock-deployment')]) {
      expect((await unblock(stranger))._unsafeUnwrapErr().type).toBe('permission_denied');
    }
    const before = await latest(world);
    expect((await unblock(caller('default', 'unblock-deployment')))._unsafeUnwrap()).toMatchObject({ index: 0 });
    expect(await latest(world)).toEqual(before);
    (await failDeployment(world.engine, hostPrincipal, { deploymentId }))._unsafeUnwrap();
    const over = (await unblock(hostPrincipal))._unsafeUnwrapErr();
    expect(over).toMatchObject({ type: 'deployment_over', message: "can't unblock terminal deployment" });
    const none = await unblockDeployment(world.engine, hostPrincipal, { deploymentId: 'nobody' });
    expect(none._unsafeUnwrapErr().type).toBe('deployment_not_found');
  });
});

describe('a deployment of several groups', () => {
  it('is successful when all groups are, and fails when one of them does', async () => {
    const two = (mode: string) => {
      const base = job(2, mode);
      return { ...base, TaskGroups: [base.TaskGroups[0], { ...base.TaskGroups[0], Name: 'h' }] };
    };
    await using world = await cluster(({ JobVersion, TaskGroup }) =>
      JobVersion === 1 && TaskGroup === 'h' ? { ends: 'failed', after: 2 * second } : {},
    );
    await register(world, two('a'));
    await world.clock.advance(minute);
    expect(await latest(world)).toMatchObject({
      Status: 'successful',
      TaskGroups: { g: { HealthyAllocs: 2 }, h: { HealthyAllocs: 2 } },
    });
    await register(world, two('b'));
    await world.clock.advance(minute);
    expect((await latest(world)).Status).toBe('failed');
  });

  it.each([2, 30])('leaves a group without deployments to its reschedule policy meanwhile: %d s', async (seconds) => {
    const [own] = job(1, 'a').TaskGroups;
    const policy = { Delay: nanos(5 * second), DelayFunction: 'constant', Unlimited: true };
    const beside = { ...own, Name: 'h', Update: update({ MaxParallel: 0 }), ReschedulePolicy: policy };
    await using world = await cluster(({ TaskGroup, PreviousAllocation }) =>
      TaskGroup === 'h' && PreviousAllocation === undefined ? { ends: 'failed', after: seconds * second } : {},
    );
    const waiting = { HealthCheck: 'manual', ProgressDeadline: nanos(10 * minute) };
    await register(world, { ...job(1, 'a', waiting), TaskGroups: [own, beside] });
    await world.clock.advance(minute);
    expect(await latest(world)).toMatchObject({ Status: 'running', TaskGroups: { g: { HealthyAllocs: 0 } } });
    const others = (await world.rows(allocations)).filter(({ TaskGroup }) => TaskGroup === 'h');
    expect(others.map(({ ClientStatus }) => ClientStatus).sort()).toEqual(['failed', 'running']);
  });
});
