import { expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/index.js';
import { noticeBatches } from '../../../src/events/changes.js';
import { hostPrincipal } from '../../../src/index.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import type { Storage } from '../../../src/ports/storage.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../../src/scheduler/evaluation.js';
import { minute, second } from '../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { muchRoom } from '../../support/nodes.js';
import { countedWrites, killedAfter, watchedWrites } from '../../support/watched-writes.js';
import { group, serviceJob } from './world.js';

/* A stop without delays of a job with more allocations than one write marks. */

const COUNT = 100;
const large = (Priority = 50) => serviceJob('large', { Priority, TaskGroups: [group({ Count: COUNT })] });
const stop = (cluster: FakeCluster) =>
  stopJob(cluster.engine, hostPrincipal, { jobId: 'large', noShutdownDelay: true });
const register = async (cluster: FakeCluster, job: object) =>
  (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();

async function running(storage: Storage): Promise<FakeCluster> {
  const cluster = fakeCluster({ storage });
  await cluster.addNode('n1', muchRoom);
  await register(cluster, large());
  await cluster.clock.advance(30 * second);
  expect(await cluster.rows(allocations)).toHaveLength(COUNT);
  return cluster;
}

async function marked(cluster: FakeCluster): Promise<number> {
  const all = await cluster.rows(allocations);
  return all.filter(({ DesiredTransition }) => DesiredTransition.NoShutdownDelay === true).length;
}

async function evaluation(cluster: FakeCluster, id: string): Promise<Evaluation | undefined> {
  return (await cluster.rows(evaluations)).find(({ ID }) => ID === id);
}

it('has marked all of them when it is answered, a few in each write, and ends them afterwards', async () => {
  const { storage, watch } = watchedWrites(memoryStorage());
  await using cluster = await running(storage);
  const [stopped, writes] = await countedWrites(watch, () => stop(cluster));
  const answer = stopped._unsafeUnwrap();
  expect(writes).toBeGreaterThan(COUNT / 16);
  expect(await marked(cluster)).toBe(COUNT);
  expect(answer).toMatchObject({ jobModifyIndex: answer.index, evalCreateIndex: answer.index });
  await cluster.clock.advance(5 * second);
  expect(await evaluation(cluster, answer.evalId)).toMatchObject({ Status: 'complete', CreateIndex: answer.index });
  const desired = (await cluster.rows(allocations)).map(({ DesiredStatus }) => DesiredStatus);
  expect(new Set(desired)).toEqual(new Set(['stop']));
});

it('tells of each part as of the stop', async () => {
  const { storage } = watchedWrites(memoryStorage());
  await using cluster = await running(storage);
  const { index } = (await stop(cluster))._unsafeUnwrap();
  const told = (await cluster.rows(noticeBatches)).filter(({ Index }) => Index >= index);
  const types = told.flatMap(({ Notices }) => Notices.filter(({ Topic }) => Topic === 'Allocation'));
  expect(types.length).toBe(COUNT);
  expect(new Set(types.map(({ Type }) => Type))).toEqual(new Set(['JobDeregistered']));
});

it('is a stop all the same when the process is killed in between', async () => {
  const { storage, watch } = watchedWrites(memoryStorage());
  await using cluster = await running(storage);
  expect((await killedAfter(3, watch, () => stop(cluster))).isErr()).toBe(true);
  expect(await marked(cluster)).toBeGreaterThan(0);
  expect(await marked(cluster)).toBeLessThan(COUNT);
  expect((await cluster.rows(jobs))[0]).toMatchObject({ Stop: true });
  await cluster.clock.advance(minute);
  const desired = (await cluster.rows(allocations)).map(({ DesiredStatus }) => DesiredStatus);
  expect(new Set(desired)).toEqual(new Set(['stop']));
});

it('marks none any more of a job that is registered again meanwhile', async () => {
  const { storage, watch } = watchedWrites(memoryStorage());
  await using cluster = await running(storage);
  let writes = 0;
  let again: Promise<void> | undefined;
  watch.each = () => {
    writes += 1;
    // Behind the stop and one part.
    if (writes === 2) again = register(cluster, large(60)).then(() => undefined);
    return true;
  };
  (await stop(cluster))._unsafeUnwrap();
  watch.each = undefined;
  await again;
  expect(await marked(cluster)).toBeLessThan(COUNT);
  await cluster.clock.advance(minute);
  const all = await cluster.rows(allocations);
  expect(all.filter(({ DesiredStatus }) => DesiredStatus === 'run')).toHaveLength(COUNT);
  const open = (await cluster.rows(evaluations)).filter(({ Status }) => Status === 'pending');
  expect(open).toEqual([]);
});
