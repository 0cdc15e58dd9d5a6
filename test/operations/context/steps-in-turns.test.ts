import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine } from '../../../src/engine.js';
import { hostPrincipal } from '../../../src/index.js';
import { steppedWork, stepsInTurns } from '../../../src/operations/context/steps-in-turns.js';
import { planJob } from '../../../src/operations/jobs/registration/plan-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { drainNode } from '../../../src/operations/nodes/drain-and-eligibility.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import type { ReadView, Storage } from '../../../src/ports/storage.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { deployments } from '../../../src/scheduler/deployment/deployment.js';
import { nodes } from '../../../src/scheduler/node.js';
import { nodeAssignments } from '../../../src/scheduler/node-tables.js';
import { minute, second } from '../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { fetching } from '../../support/fetching.js';
import { muchRoom, nodeFrom } from '../../support/nodes.js';
import { group } from '../jobs/world.js';

const never = new AbortController().signal;

const service = (Count: number, change: object = {}) => ({
  ID: 'web',
  Type: 'service' as const,
  Datacenters: ['*'],
  TaskGroups: [group({ Count, ...change })],
});

const engineOver = (storage: Storage, clock = manualClock()) =>
  createEngine({ storage, clock, ids: sequentialIds({ after: 1e6 }), delivery: recordingDelivery() });

/** Three steps that each read one node. */
function threeNodes(view: () => ReadView) {
  return (function* () {
    const found: (string | undefined)[] = [];
    for (const id of ['n1', 'n2', 'n3']) {
      found.push(view().get(nodes, [id])?.record.ID);
      yield;
    }
    return found;
  })();
}

async function withThreeNodes(): Promise<Storage> {
  const storage = memoryStorage();
  await storage.write((view) => {
    for (const id of ['n1', 'n2', 'n3']) view.put(nodes, nodeFrom(id));
    return ok(undefined);
  });
  return storage;
}

describe('work in steps', () => {
  it('begins anew when the store has interrupted one of its steps and runs the turn again', async () => {
    const storage = await withThreeNodes();
    let reads = 0;
    const interrupting: Storage = {
      ...storage,
      read: (work) =>
        storage.read((view) => {
          reads += 1;
          if (reads === 1) {
            let gets = 0;
            const over = new Proxy(view, {
              get(target, name) {
                if (name === 'get' && ++gets === 2) throw new Error('the store has changed');
                const member: unknown = Reflect.get(target, name, target);
                return typeof member === 'function' ? member.bind(target) : member;
              },
            });
            expect(() => work(over)).toThrow('the store has changed');
          }
          return work(view);
        }),
    };
    const found = await stepsInTurns(engineOver(interrupting), steppedWork(threeNodes), never);
    expect(found._unsafeUnwrap()).toEqual(['n1', 'n2', 'n3']);
  });

  it('gives its result also when the store runs the last turn again', async () => {
    const storage = await withThreeNodes();
    const twice: Storage = {
      ...storage,
      read: (work) =>
        storage.read((view) => {
          work(view);
          return work(view);
        }),
    };
    const found = await stepsInTurns(engineOver(twice), steppedWork(threeNodes), never);
    expect(found._unsafeUnwrap()).toEqual(['n1', 'n2', 'n3']);
  });
});

describe('on a store behind a network, which runs works again for each row', () => {
  const running = async (cluster: FakeCluster): Promise<readonly string[]> => {
    const all = await cluster.rows(allocations);
    return all.filter(({ ClientStatus }) => ClientStatus === 'running').map(({ NodeID }) => NodeID);
  };

  it('deployments succeed', async () => {
    await using cluster = fakeCluster({ storage: fetching(memoryStorage()) });
    await cluster.addNode('n1');
    const Update = { MaxParallel: 1, HealthCheck: 'task_states', MinHealthyTime: 10e9, HealthyDeadline: 300e9 };
    (await registerJob(cluster.engine, hostPrincipal, { job: service(3, { Update }) }))._unsafeUnwrap();
    await cluster.clock.advance(2 * minute);
    expect(await cluster.rows(deployments)).toMatchObject([{ Status: 'successful' }]);
  });

  it('drains end', async () => {
    await using cluster = fakeCluster({ storage: fetching(memoryStorage()) });
    await cluster.addNode('n1');
    (await registerJob(cluster.engine, hostPrincipal, { job: service(3) }))._unsafeUnwrap();
    await cluster.clock.advance(30 * second);
    expect(await running(cluster)).toEqual(['n1', 'n1', 'n1']);
    await cluster.addNode('n2');
    const spec = { Deadline: 3600e9, IgnoreSystemJobs: false };
    (await drainNode(cluster.engine, hostPrincipal, { nodeId: 'n1', spec }))._unsafeUnwrap();
    await cluster.clock.advance(3 * minute);
    expect(await running(cluster)).toEqual(['n2', 'n2', 'n2']);
    expect((await cluster.rows(nodes)).map(({ LastDrain }) => LastDrain?.Status)).toEqual(['complete', undefined]);
  });

  it('large jobs are planned, and their node gets all of their allocations when it registers', async () => {
    const [storage, clock] = [memoryStorage(), manualClock()];
    {
      await using cluster = fakeCluster({ storage, clock });
      await cluster.addNode('n1', muchRoom);
      (await registerJob(cluster.engine, hostPrincipal, { job: service(70) }))._unsafeUnwrap();
      await clock.advance(10 * second);
      expect(await running(cluster)).toHaveLength(70);
    }
    await storage.write((view) => {
      for (const { record } of view.list(nodeAssignments))
        view.remove(nodeAssignments, [record.nodeId, record.allocationId]);
      return ok(undefined);
    });
    const engine = engineOver(fetching(storage), clock);
    const planned = await planJob(engine, hostPrincipal, { job: service(75) });
    expect(planned._unsafeUnwrap()).toMatchObject({ annotations: { DesiredTGUpdates: { g: { Place: 5 } } } });
    (await registerNode(engine, hostPrincipal, nodeFrom('n1', muchRoom)))._unsafeUnwrap();
    const assigned = await storage.read((view) => view.list(nodeAssignments).length);
    expect(assigned._unsafeUnwrap()).toBe(70);
  });
});
