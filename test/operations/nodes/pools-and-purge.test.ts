import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import type { ListRequest } from '../../../src/operations/listing/answer-list.js';
import { collectGarbage } from '../../../src/operations/maintenance/collect.js';
import { setNodeEligibility } from '../../../src/operations/nodes/drain-and-eligibility.js';
import { evaluateNode } from '../../../src/operations/nodes/evaluate-node.js';
import {
  listNodePoolNodes,
  listNodePools,
  putNodePool,
  readNodePool,
  removeNodePool,
} from '../../../src/operations/nodes/node-pools.js';
import { purgeNode } from '../../../src/operations/nodes/purge-node.js';
import {
  readSchedulerConfiguration,
  setSchedulerConfiguration,
} from '../../../src/operations/nodes/scheduler-configuration.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { nodeHeartbeats, nodes } from '../../../src/scheduler/node.js';
import { nodeAssignments, nodeUsages } from '../../../src/scheduler/node-tables.js';
import { nodeMetadata } from '../../../src/scheduler/nodes/node-metadata.js';
import { hour, minute } from '../../../src/shared/duration.js';
import type { Table } from '../../../src/shared/table.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { serviceJob, world } from '../jobs/world.js';

describe('node pools', () => {
  it('are made, listed beside the built-in ones, and removed', async () => {
    const { engine } = world();
    const put = { name: 'gpu', description: 'with cards', meta: { rack: '7' } };
    const { index } = (await putNodePool(engine, hostPrincipal, put))._unsafeUnwrap();
    const listed = (await listNodePools(engine, hostPrincipal))._unsafeUnwrap().value.items;
    expect(listed.map(({ Name }) => Name)).toEqual(['all', 'default', 'gpu']);
    expect(listed[2]).toMatchObject({ Description: 'with cards', CreateIndex: index, SchedulerConfiguration: null });
    (await removeNodePool(engine, hostPrincipal, { name: 'gpu' }))._unsafeUnwrap();
    expect((await readNodePool(engine, hostPrincipal, { name: 'gpu' }))._unsafeUnwrap().value).toBeUndefined();
  });

  it('are listed in pages, forwards and backwards, those that match a filter', async () => {
    const { engine } = world();
    for (const name of ['b', 'gpu']) (await putNodePool(engine, hostPrincipal, { name }))._unsafeUnwrap();
    const read = async (input: ListRequest) => {
      const { items, nextToken } = (await listNodePools(engine, hostPrincipal, input))._unsafeUnwrap().value;
      return [items.map(({ Name }) => Name), nextToken];
    };
    expect(await read({ perPage: 3 })).toEqual([['all', 'b', 'default'], 'gpu']);
    expect(await read({ perPage: 3, nextToken: 'gpu' })).toEqual([['gpu'], '']);
    expect(await read({ perPage: 2, reverse: true })).toEqual([['gpu', 'default'], 'b']);
    expect(await read({ perPage: 2, reverse: true, nextToken: 'b' })).toEqual([['b', 'all'], '']);
    expect(await read({ filter: 'Name != "default" and NodeIdentityTTL == 86400000000000', perPage: 2 })).toEqual([
      ['all', 'b'],
      'gpu',
    ]);
    expect((await listNodePools(engine, hostPrincipal, { filter: 'Nothing == 1' }))._unsafeUnwrapErr().type).toBe(
      'filter_evaluation',
    );
  });

  it('have nothing to do with what waits for room: another configuration of the pool tries nothing again', async () => {
    await using cluster = fakeCluster();
    const waiting = async () => (await cluster.rows(evaluations)).filter(({ Status }) => Status === 'blocked');
    await cluster.addNode('n1', { NodePool: 'gpu' });
    const groups = [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec', Resources: { CPU: 5000, MemoryMB: 10 } }] }];
    const job = { ID: 'large', Datacenters: ['*'], NodePool: 'gpu', TaskGroups: groups };
    (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    const before = await waiting();
    expect(before).toHaveLength(1);
    const schedulerConfiguration = { SchedulerAlgorithm: 'spread', MemoryOversubscriptionEnabled: true };
    (await putNodePool(cluster.engine, hostPrincipal, { name: 'gpu', schedulerConfiguration }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect(await waiting()).toEqual(before);
  });

  it('list their nodes in pages', async () => {
    await using cluster = fakeCluster();
    for (const name of ['n1', 'n2', 'n3']) await cluster.addNode(name, { NodePool: name === 'n2' ? 'edge' : 'gpu' });
    await cluster.addNode('n4', { NodePool: 'gpu' });
    const read = async (name: string, input: ListRequest) => {
      const answer = await listNodePoolNodes(cluster.engine, hostPrincipal, { name, ...input });
      const { items, nextToken } = answer._unsafeUnwrap().value;
      return [items.map(({ record }) => record.ID), nextToken];
    };
    expect(await read('gpu', { perPage: 2 })).toEqual([['n1', 'n3'], 'n4']);
    expect(await read('gpu', { perPage: 2, nextToken: 'n4' })).toEqual([['n4'], '']);
    expect(await read('gpu', { perPage: 2, reverse: true })).toEqual([['n4', 'n3'], 'n1']);
    expect(await read('all', { perPage: 3 })).toEqual([['n1', 'n2', 'n3'], 'n4']);
    expect(await read('all', { filter: 'NodePool == "edge"' })).toEqual([['n2'], '']);
    // The index is that of the nodes: a pool that is made later does not raise it.
    const indexOf = async () =>
      (await listNodePoolNodes(cluster.engine, hostPrincipal, { name: 'gpu' }))._unsafeUnwrap().index;
    const index = await indexOf();
    (await putNodePool(cluster.engine, hostPrincipal, { name: 'later' }))._unsafeUnwrap();
    expect(await indexOf()).toBe(index);
    const missing = await listNodePoolNodes(cluster.engine, hostPrincipal, { name: 'none' });
    expect(missing._unsafeUnwrapErr()).toMatchObject({ type: 'node_pool_not_found' });
  });

  it('keep the lifetime of the identities of their nodes', async () => {
    const { engine } = world();
    const lifetime = async (nodeIdentityTtl?: number) => {
      const input = { name: 'gpu', ...(nodeIdentityTtl === undefined ? {} : { nodeIdentityTtl }) };
      (await putNodePool(engine, hostPrincipal, input))._unsafeUnwrap();
      return (await readNodePool(engine, hostPrincipal, { name: 'gpu' }))._unsafeUnwrap().value?.NodeIdentityTTL;
    };
    expect(await lifetime()).toBe(86_400_000_000_000);
    expect(await lifetime(720 * hour)).toBe(2_592_000_000_000_000);
    expect(await lifetime(0)).toBe(86_400_000_000_000);
    for (const nodeIdentityTtl of [-1, Number.NaN, 1e300]) {
      const refused = await putNodePool(engine, hostPrincipal, { name: 'gpu', nodeIdentityTtl });
      expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_node_pool' });
    }
  });

  it.each(['', 'a b', 'default', 'all', 'x'.repeat(129), '../x'])('refuse the name %j', async (name) => {
    const refused = await putNodePool(world().engine, hostPrincipal, { name });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_node_pool' });
  });

  it('stay while they hold nodes or living jobs, and come with their first node', async () => {
    await using cluster = fakeCluster();
    const remove = async (name: string) => removeNodePool(cluster.engine, hostPrincipal, { name });
    await cluster.addNode('n1', { NodePool: 'edge' });
    expect((await remove('edge'))._unsafeUnwrapErr().type).toBe('node_pool_in_use');
    (await putNodePool(cluster.engine, hostPrincipal, { name: 'gpu' }))._unsafeUnwrap();
    const job = serviceJob('web', { NodePool: 'gpu' });
    (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
    expect((await remove('gpu'))._unsafeUnwrapErr().type).toBe('node_pool_in_use');
    expect((await remove('none'))._unsafeUnwrapErr().type).toBe('node_pool_not_found');
  });

  it('must be there for a job that names them', async () => {
    const job = serviceJob('web', { NodePool: 'none' });
    const refused = await registerJob(world().engine, hostPrincipal, { job });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_job' });
  });
});

describe('the configuration of the scheduler', () => {
  it('is the default one until it is replaced, as a whole', async () => {
    const { engine } = world();
    const read = async () => (await readSchedulerConfiguration(engine, hostPrincipal))._unsafeUnwrap().value;
    expect(await read()).toMatchObject({
      SchedulerAlgorithm: 'binpack',
      PreemptionConfig: { SystemSchedulerEnabled: true },
    });
    const set = { SchedulerAlgorithm: 'spread', MemoryOversubscriptionEnabled: true };
    const { index } = (await setSchedulerConfiguration(engine, hostPrincipal, set))._unsafeUnwrap();
    expect(await read()).toMatchObject({
      SchedulerAlgorithm: 'spread',
      MemoryOversubscriptionEnabled: true,
      PreemptionConfig: { SystemSchedulerEnabled: false },
      ModifyIndex: index,
    });
  });

  it('is checked and set', async () => {
    const { engine } = world();
    const set = async (checkIndex: number) =>
      (await setSchedulerConfiguration(engine, hostPrincipal, { checkIndex }))._unsafeUnwrap();
    expect(await set(99)).toMatchObject({ updated: false });
    const first = await set(1);
    expect(first.updated).toBe(true);
    expect(await set(1)).toMatchObject({ updated: false });
    expect(await set(first.index)).toMatchObject({ updated: true });
  });

  it('knows two algorithms', async () => {
    const configuration = { SchedulerAlgorithm: 'random' };
    const refused = await setSchedulerConfiguration(world().engine, hostPrincipal, configuration);
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_request' });
  });
});

describe('nodes', () => {
  it('that are set to what they are already tell no index', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    const set = async (eligibility: string) =>
      (await setNodeEligibility(cluster.engine, hostPrincipal, { nodeId: 'n1', eligibility }))._unsafeUnwrap();
    expect(await set('eligible')).toMatchObject({ index: 0, nodeModifyIndex: 0 });
    expect((await set('ineligible')).index).toBeGreaterThan(0);
    expect(await set('ineligible')).toMatchObject({ index: 0, nodeModifyIndex: 0 });
  });

  it('that are evaluated tell what agents learn about the servers', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    await cluster.addNode('n2');
    const evaluated = (await evaluateNode(cluster.engine, hostPrincipal, { nodeId: 'n1' }))._unsafeUnwrap();
    expect(evaluated).toMatchObject({ eligibility: 'eligible', nodeCount: 2, datacenter: 'dc1' });
  });

  it('that are ineligible take nothing new, and what waited comes when they are eligible again', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    const set = async (eligibility: string) =>
      (await setNodeEligibility(cluster.engine, hostPrincipal, { nodeId: 'n1', eligibility }))._unsafeUnwrap();
    await set('ineligible');
    (await registerJob(cluster.engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect(await cluster.rows(allocations)).toEqual([]);
    expect(await set('ineligible')).toMatchObject({ nodeModifyIndex: 0, evalIds: [] });
    await set('eligible');
    await cluster.clock.advance(minute);
    expect(await cluster.rows(allocations)).toMatchObject([{ ClientStatus: 'running' }]);
  });

  it('leave nothing behind when they and what ran on them are collected', async () => {
    await using cluster = fakeCluster();
    for (const [number, purged] of [true, false].entries()) {
      const id = `n${number}`;
      await cluster.addNode(id);
      const job = serviceJob(`web-${number}`);
      (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
      await cluster.clock.advance(minute);
      cluster.silence(id);
      if (purged) (await purgeNode(cluster.engine, hostPrincipal, { nodeId: id }))._unsafeUnwrap();
      await cluster.clock.advance(minute);
      (await stopJob(cluster.engine, hostPrincipal, { jobId: `web-${number}` }))._unsafeUnwrap();
      await cluster.clock.advance(minute);
    }
    (await collectGarbage(cluster.engine))._unsafeUnwrap();
    expect(await cluster.rows(allocations)).toEqual([]);
    for (const table of [nodes, nodeAssignments, nodeHeartbeats, nodeMetadata, nodeUsages]) {
      expect(await cluster.rows(table as Table<unknown>)).toEqual([]);
    }
  });

  it('that are purged lose what ran on them, and come back when they register', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    (await registerJob(cluster.engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    cluster.silence('n1');
    const { evalIds } = (await purgeNode(cluster.engine, hostPrincipal, { nodeId: 'n1' }))._unsafeUnwrap();
    expect(evalIds).toHaveLength(1);
    await cluster.clock.advance(minute);
    expect(await cluster.rows(nodes)).toEqual([]);
    expect(await cluster.rows(allocations)).toMatchObject([{ ClientStatus: 'lost' }]);
    cluster.silence('n1', false);
    await cluster.clock.advance(minute);
    expect((await cluster.rows(allocations)).map(({ ClientStatus }) => ClientStatus)).toEqual(['lost', 'running']);
    const again = await purgeNode(cluster.engine, hostPrincipal, { nodeId: 'nobody' });
    expect(again._unsafeUnwrapErr()).toMatchObject({ type: 'node_not_found' });
  });
});
