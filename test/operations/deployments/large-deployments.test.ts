import { ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { deploymentLoop } from '../../../src/operations/deployments/deployment-loop.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import type { Storage } from '../../../src/ports/storage.js';
import { deployments } from '../../../src/scheduler/deployment/deployment.js';
import { type Evaluation, evaluations } from '../../../src/scheduler/evaluation.js';
import { second } from '../../../src/shared/duration.js';
import { type FakeClusterOptions, fakeCluster } from '../../support/fake-agents.js';
import { muchRoom } from '../../support/nodes.js';
import { group } from '../jobs/world.js';

const COUNT = 80;
const update = { MaxParallel: COUNT, HealthCheck: 'task_states', MinHealthyTime: 10e9, HealthyDeadline: 300e9 };

const watchers = (all: readonly Evaluation[]) => all.filter(({ TriggeredBy }) => TriggeredBy === 'deployment-watcher');

async function placed(options: FakeClusterOptions) {
  const cluster = fakeCluster(options);
  await cluster.addNode('n1', muchRoom);
  const job = {
    ID: 'web',
    Type: 'service' as const,
    Datacenters: ['*'],
    TaskGroups: [group({ Count: COUNT, Update: update })],
  };
  (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
  return cluster;
}

it('evaluates a job once when many of its allocations become healthy at the same time', async () => {
  await using cluster = await placed({});
  await cluster.clock.advance(20 * second);
  expect((await cluster.rows(deployments)).map(({ Status }) => Status)).toEqual(['successful']);
  const own = watchers(await cluster.rows(evaluations));
  expect(own).toMatchObject([{ Status: 'complete' }]);
  expect(own[0]?.WaitUntil).toBeUndefined();
});

it('goes on when the engine is killed between two parts of the health', async () => {
  const [storage, clock] = [memoryStorage(), manualClock()];
  // After the first part that has made an evaluation, a write neither begins nor is answered.
  let killed = false;
  const write: Storage['write'] = (work) =>
    killed
      ? new ResultAsync(new Promise<never>(() => undefined))
      : storage.write(work).andThen((written) =>
          storage.read((view) => {
            killed = watchers(view.list(evaluations).map(({ record }) => record)).length > 0;
            return written;
          }),
        );
  await placed({
    storage: {
      read: (work) => storage.read(work),
      write,
      waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
      close: () => storage.close(),
    },
    clock,
  });
  await clock.advance(20 * second);
  expect(killed).toBe(true);
  await using cluster = fakeCluster({ storage, clock, ids: sequentialIds({ after: 1e6 }) });
  expect(watchers(await cluster.rows(evaluations))).toMatchObject([{ Status: 'pending' }]);
  await cluster.addNode('n1', muchRoom);
  await clock.advance(30 * second);
  expect((await cluster.rows(deployments)).map(({ Status }) => Status)).toEqual(['successful']);
  const statuses = watchers(await cluster.rows(evaluations)).map(({ Status }) => Status);
  expect(new Set(statuses)).toEqual(new Set(['complete']));
});

it('writes no further parts once it is stopped', async () => {
  const [storage, clock] = [memoryStorage(), manualClock()];
  {
    await using _cluster = await placed({ storage, clock });
    await clock.advance(5 * second);
  }
  const stopped = new AbortController();
  let writes = 0;
  const noting: Storage = {
    read: (work) => storage.read(work),
    write: (work) => {
      writes += 1;
      stopped.abort();
      return storage.write(work);
    },
    waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
    close: () => storage.close(),
  };
  const ids = sequentialIds({ after: 1e6 });
  const engine = createEngine({ storage: noting, clock, ids, delivery: recordingDelivery() });
  await clock.advance(20 * second);
  await deploymentLoop.run(engine, stopped.signal);
  expect(writes).toBe(1);
});
