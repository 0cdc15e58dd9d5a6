import { expect, it } from 'vitest';
import {
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { setAllocationHealth } from '../../../src/operations/deployments/actions.js';
import { deploymentLoop } from '../../../src/operations/deployments/deployment-loop.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import type { Storage } from '../../../src/ports/storage.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { type Deployment, deployments } from '../../../src/scheduler/deployment/deployment.js';
import { minute, second } from '../../../src/shared/duration.js';
import { countedLists } from '../../support/counted-lists.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { muchRoom } from '../../support/nodes.js';
import { group } from '../jobs/world.js';

/* The health of a deployment with many allocations, set by hand. */

const COUNT = 100;
const update = { MaxParallel: COUNT, HealthCheck: 'manual', MinHealthyTime: 10e9, HealthyDeadline: 300e9 };

interface Large {
  /** Has not been started. */
  readonly engine: Engine;
  readonly storage: Storage;
  readonly deploymentId: string;
  /** IDs of the allocations. */
  readonly own: readonly string[];
}

/** A store in which all allocations of a deployment run, and an engine over what `over` makes of the store. */
async function large(over: (storage: Storage) => Storage = (storage) => storage): Promise<Large> {
  const [storage, clock] = [memoryStorage(), manualClock()];
  await using cluster = fakeCluster({ storage, clock });
  await cluster.addNode('n1', muchRoom);
  const TaskGroups = [group({ Count: COUNT, Update: update })];
  const job = { ID: 'web', Type: 'service' as const, Datacenters: ['*'], TaskGroups };
  (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.advance(10 * second);
  const [deployment] = await cluster.rows(deployments);
  const own = (await cluster.rows(allocations)).map(({ ID }) => ID);
  expect(own).toHaveLength(COUNT);
  const ids = sequentialIds({ after: 1e6 });
  const engine = createEngine({ storage: over(storage), clock, ids, delivery: recordingDelivery() });
  return { engine, storage, deploymentId: deployment?.ID ?? '', own };
}

async function deploymentIn(storage: Storage): Promise<Deployment> {
  const [read] = (await storage.read((view) => view.list(deployments).map(({ record }) => record)))._unsafeUnwrap();
  return read as Deployment;
}

it('of one allocation is set by a write that does not read the others', async () => {
  const lists: number[] = [];
  const { engine, deploymentId, own, storage } = await large((inner) => countedLists(inner, allocations, lists));
  (await setAllocationHealth(engine, hostPrincipal, { deploymentId, healthy: own.slice(0, 1) }))._unsafeUnwrap();
  expect((await deploymentIn(storage)).TaskGroups['g']).toMatchObject({ HealthyAllocs: 1 });
  expect(Math.max(...lists)).toBeLessThanOrEqual(1);
});

it('counts an allocation once that is named twice', async () => {
  const { engine, deploymentId, own, storage } = await large();
  const [one = '', two = ''] = own;
  const health = { healthy: [one, one, two], unhealthy: [two] };
  (await setAllocationHealth(engine, hostPrincipal, { deploymentId, ...health }))._unsafeUnwrap();
  const { TaskGroups } = await deploymentIn(storage);
  expect(TaskGroups['g']).toMatchObject({ HealthyAllocs: 1, UnhealthyAllocs: 1 });
});

it('that does not come in time fails the deployment by a write that does not read all allocations', async () => {
  const lists: number[] = [];
  const { engine, storage } = await large((inner) => countedLists(inner, allocations, lists));
  const ended = new AbortController();
  const watching = deploymentLoop.run(engine, ended.signal);
  await (engine.clock as ManualClock).advance(20 * minute);
  ended.abort();
  await watching;
  expect(await deploymentIn(storage)).toMatchObject({ Status: 'failed' });
  expect(Math.max(...lists)).toBeLessThanOrEqual(16);
});
