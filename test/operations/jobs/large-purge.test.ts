import { expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/index.js';
import { hostPrincipal } from '../../../src/index.js';
import type { Job } from '../../../src/jobs/document/job.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { removeLeftAllocations, stopJob } from '../../../src/operations/jobs/stop-job.js';
import { collectGarbage } from '../../../src/operations/maintenance/collect.js';
import type { Storage } from '../../../src/ports/storage.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { second } from '../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { muchRoom } from '../../support/nodes.js';
import { countedWrites, killedAfter, watchedWrites } from '../../support/watched-writes.js';
import { group, serviceJob } from './world.js';

/* A purge of a job with more allocations than one write removes. */

const COUNT = 100;
const large = () => serviceJob('large', { TaskGroups: [group({ Count: COUNT })] });
const purge = (cluster: FakeCluster) => stopJob(cluster.engine, hostPrincipal, { jobId: 'large', purge: true });

async function running(storage: Storage): Promise<FakeCluster> {
  const cluster = fakeCluster({ storage });
  await cluster.addNode('n1', muchRoom);
  (await registerJob(cluster.engine, hostPrincipal, { job: large() }))._unsafeUnwrap();
  await cluster.clock.advance(30 * second);
  expect((await cluster.rows(allocations)).map(({ ClientStatus }) => ClientStatus)).toEqual(
    Array.from({ length: COUNT }, () => 'running'),
  );
  return cluster;
}

it('has removed all of them when it is answered, a few in each write', async () => {
  const { storage, watch } = watchedWrites(memoryStorage());
  await using cluster = await running(storage);
  const [purged, writes] = await countedWrites(watch, () => purge(cluster));
  const answer = purged._unsafeUnwrap();
  expect(await cluster.rows(jobs)).toEqual([]);
  expect(await cluster.rows(allocations)).toEqual([]);
  expect(writes).toBeGreaterThan(COUNT / 16);
  // It waited for the last part, and does not wait any more.
  await cluster.clock.settle();
  const [evaluation] = (await cluster.rows(evaluations)).filter(({ ID }) => ID === answer.evalId);
  expect(evaluation).toMatchObject({ Status: 'complete', TriggeredBy: 'job-deregister' });
  expect(evaluation?.WaitUntil).toBeUndefined();
});

it('ends and collects what is left of them when the process is killed in between', async () => {
  const { storage, watch } = watchedWrites(memoryStorage());
  await using cluster = await running(storage);
  expect((await killedAfter(3, watch, () => purge(cluster))).isErr()).toBe(true);
  expect(await cluster.rows(jobs)).toEqual([]);
  expect((await cluster.rows(allocations)).length).toBeGreaterThan(0);
  await cluster.clock.advance(60 * second);
  expect(new Set((await cluster.rows(allocations)).map(({ DesiredStatus }) => DesiredStatus))).toEqual(
    new Set(['stop']),
  );
  (await collectGarbage(cluster.engine))._unsafeUnwrap();
  expect(await cluster.rows(allocations)).toEqual([]);
});

it('leaves alone what a job that is registered meanwhile has taken over', async () => {
  const { storage, watch } = watchedWrites(memoryStorage());
  await using cluster = await running(storage);
  const [purged] = (await cluster.rows(jobs)) as [Job];
  expect((await killedAfter(1, watch, () => purge(cluster))).isErr()).toBe(true);
  (await registerJob(cluster.engine, hostPrincipal, { job: large() }))._unsafeUnwrap();
  await cluster.clock.advance(second);
  const taken = (await cluster.rows(allocations)).filter(({ JobCreateIndex }) => JobCreateIndex !== purged.CreateIndex);
  expect(taken.length).toBeGreaterThan(0);
  (await removeLeftAllocations(cluster.engine, purged, 'none'))._unsafeUnwrap();
  const left = await cluster.rows(allocations);
  expect(new Set(left.map(({ ID }) => ID))).toEqual(new Set(taken.map(({ ID }) => ID)));
});
