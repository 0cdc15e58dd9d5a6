import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { tagJobVersion } from '../../../src/operations/jobs/job-versions.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { collectGarbage } from '../../../src/operations/maintenance/collect.js';
import { reconcileSummaries } from '../../../src/operations/maintenance/reconcile-summaries.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { deployments } from '../../../src/scheduler/deployment/deployment.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { day, hour, minute, second } from '../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { batchJob, group, serviceJob } from '../jobs/world.js';

async function counts(cluster: FakeCluster): Promise<Record<string, number>> {
  return {
    jobs: (await cluster.rows(jobs)).length,
    evaluations: (await cluster.rows(evaluations)).length,
    allocations: (await cluster.rows(allocations)).length,
    deployments: (await cluster.rows(deployments)).length,
    nodes: (await cluster.rows(nodes)).length,
  };
}

/** Agents look as seldom as nodes allow that stay up: these tests last for days. */
const every = 10 * second;

/** A batch job that has run, a service that runs, and a service that was stopped. */
async function lived(): Promise<FakeCluster> {
  const cluster = fakeCluster({
    behaviour: ({ JobType }) => (JobType === 'batch' ? { ends: 'complete', after: second } : {}),
    every,
  });
  await cluster.addNode('n1');
  for (const job of [batchJob('sums'), serviceJob('web'), serviceJob('old')]) {
    (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
  }
  await cluster.clock.advance(minute);
  (await stopJob(cluster.engine, hostPrincipal, { jobId: 'old' }))._unsafeUnwrap();
  await cluster.clock.advance(minute);
  return cluster;
}

describe('collection', () => {
  it('takes what has ended when it is asked for, and nothing that lives', async () => {
    await using cluster = await lived();
    (await collectGarbage(cluster.engine))._unsafeUnwrap();
    expect((await cluster.rows(jobs)).map(({ ID }) => ID)).toEqual(['web']);
    expect((await cluster.rows(allocations)).map(({ ClientStatus }) => ClientStatus)).toEqual(['running']);
    expect(await counts(cluster)).toMatchObject({ jobs: 1, allocations: 1, nodes: 1 });
    expect((await cluster.rows(evaluations)).every(({ JobID }) => JobID === 'web')).toBe(true);
  });

  it('leaves a job of which a version has a tag', async () => {
    await using cluster = await lived();
    (await tagJobVersion(cluster.engine, hostPrincipal, { jobId: 'sums', name: 'kept', version: 0 }))._unsafeUnwrap();
    (await collectGarbage(cluster.engine))._unsafeUnwrap();
    expect((await cluster.rows(jobs)).map(({ ID }) => ID)).toEqual(['sums', 'web']);
  });

  it('goes by the thresholds otherwise, in as many processes as there are', async () => {
    await using cluster = await lived();
    await cluster.clock.advance(3 * hour);
    expect((await cluster.rows(jobs)).map(({ ID }) => ID)).toEqual(['old', 'sums', 'web']);
    await cluster.clock.advance(2 * hour);
    expect((await cluster.rows(jobs)).map(({ ID }) => ID)).not.toContain('old');
    await cluster.clock.advance(day);
    expect((await cluster.rows(jobs)).map(({ ID }) => ID)).toEqual(['web']);
  });

  it('keeps evaluations for an hour, and their allocations', async () => {
    await using cluster = await lived();
    const ofOld = async (): Promise<number> =>
      (await cluster.rows(evaluations)).filter(({ JobID }) => JobID === 'old').length +
      (await cluster.rows(allocations)).filter(({ JobID }) => JobID === 'old').length;
    const before = await ofOld();
    expect(before).toBeGreaterThan(2);
    await cluster.clock.advance(50 * minute);
    expect(await ofOld()).toBe(before);
    await cluster.clock.advance(20 * minute);
    expect(await ofOld()).toBe(0);
  });

  it('keeps what an older version of a batch job has done for a day', async () => {
    await using cluster = await lived();
    (await tagJobVersion(cluster.engine, hostPrincipal, { jobId: 'sums', name: 'kept', version: 0 }))._unsafeUnwrap();
    const job = { ...batchJob('sums'), Meta: { version: '2' } };
    (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    const versions = async (): Promise<number[]> =>
      (await cluster.rows(allocations)).filter(({ JobID }) => JobID === 'sums').map(({ JobVersion }) => JobVersion);
    await cluster.clock.advance(23 * hour);
    expect((await versions()).sort()).toEqual([0, 1]);
    await cluster.clock.advance(2 * hour);
    expect(await versions()).toEqual([1]);
  });

  it('looks every five minutes at most, however short records are kept', async () => {
    const collection = { evaluation: 1, batchEvaluation: 1, job: 1, deployment: 1, node: 1 };
    await using cluster = fakeCluster({ behaviour: () => ({ ends: 'complete' }), settings: { collection }, every });
    const kept = async (): Promise<string[]> => (await cluster.rows(jobs)).map(({ ID }) => ID);
    const run = async (name: string): Promise<void> => {
      (await registerJob(cluster.engine, hostPrincipal, { job: batchJob(name) }))._unsafeUnwrap();
    };
    await cluster.addNode('n1');
    await run('first');
    await cluster.clock.advance(5 * minute - 1);
    expect(await kept()).toEqual(['first']);
    await cluster.clock.advance(1);
    expect(await kept()).toEqual([]);
    await run('second');
    await cluster.clock.advance(5 * minute - 1);
    expect(await kept()).toEqual(['second']);
    await cluster.clock.advance(minute);
    expect(await kept()).toEqual([]);
  });

  it('takes nodes that have been down for a day', async () => {
    await using cluster = fakeCluster({ every });
    await cluster.addNode('n1');
    cluster.silence('n1');
    await cluster.clock.advance(23 * hour);
    expect(await counts(cluster)).toMatchObject({ nodes: 1 });
    await cluster.clock.advance(2 * hour);
    expect(await counts(cluster)).toMatchObject({ nodes: 0 });
  });

  it('is for management only', async () => {
    await using cluster = fakeCluster({ every });
    const stranger = { ...hostPrincipal, management: false };
    const refused = await cluster.engine.as(stranger).maintenance.collectGarbage();
    expect(refused._unsafeUnwrapErr().type).toBe('permission_denied');
  });
});

describe('collection of what has many allocations', () => {
  const many = 40;
  const wide = (job: object) => ({
    ...job,
    TaskGroups: [group({ Count: many })],
  });

  /** As above, each job with more allocations than one write removes. */
  async function livedWide(): Promise<FakeCluster> {
    const cluster = fakeCluster({
      behaviour: ({ JobType }) => (JobType === 'batch' ? { ends: 'complete', after: second } : {}),
      every,
    });
    for (let at = 0; at < 30; at += 1) await cluster.addNode(`n${at}`);
    for (const job of [batchJob('sums'), serviceJob('web'), serviceJob('old')]) {
      (await registerJob(cluster.engine, hostPrincipal, { job: wide(job) }))._unsafeUnwrap();
    }
    await cluster.clock.advance(minute);
    (await stopJob(cluster.engine, hostPrincipal, { jobId: 'old' }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    return cluster;
  }

  const ofJob = async (cluster: FakeCluster, job: string): Promise<number> =>
    (await cluster.rows(allocations)).filter(({ JobID }) => JobID === job).length;

  it('takes what has ended, and nothing that lives', async () => {
    await using cluster = await livedWide();
    for (const job of ['sums', 'web', 'old']) expect(await ofJob(cluster, job)).toBe(many);
    (await collectGarbage(cluster.engine))._unsafeUnwrap();
    expect((await cluster.rows(jobs)).map(({ ID }) => ID)).toEqual(['web']);
    expect(await cluster.rows(allocations)).toHaveLength(many);
    expect((await cluster.rows(evaluations)).every(({ JobID }) => JobID === 'web')).toBe(true);
  });

  it('goes by the thresholds of evaluations, before the job is due', async () => {
    await using cluster = await livedWide();
    await cluster.clock.advance(50 * minute);
    expect(await ofJob(cluster, 'old')).toBe(many);
    await cluster.clock.advance(20 * minute);
    expect(await ofJob(cluster, 'old')).toBe(0);
    expect(await ofJob(cluster, 'sums')).toBe(many);
    expect(await ofJob(cluster, 'web')).toBe(many);
  });

  it('leaves a job of which a version has a tag, with what it has done', async () => {
    await using cluster = await livedWide();
    (await tagJobVersion(cluster.engine, hostPrincipal, { jobId: 'sums', name: 'kept', version: 0 }))._unsafeUnwrap();
    (await collectGarbage(cluster.engine))._unsafeUnwrap();
    expect((await cluster.rows(jobs)).map(({ ID }) => ID)).toEqual(['sums', 'web']);
    expect(await ofJob(cluster, 'sums')).toBe(many);
  });

  it('leaves a job that is registered again while it is being collected', async () => {
    await using cluster = await livedWide();
    const { engine } = cluster;
    const collecting = collectGarbage(engine);
    let again = false;
    while (!again) {
      await new Promise((resolve) => setImmediate(resolve));
      if ((await ofJob(cluster, 'sums')) < many) {
        const job = { ...wide(batchJob('sums')), Meta: { version: '2' } };
        (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
        again = true;
      }
    }
    (await collecting)._unsafeUnwrap();
    expect((await cluster.rows(jobs)).map(({ ID, Version }) => [ID, Version])).toContainEqual(['sums', 1]);
    await cluster.clock.advance(minute);
    const versions = (await cluster.rows(allocations)).filter(({ JobID }) => JobID === 'sums');
    expect(versions.filter(({ JobVersion }) => JobVersion === 1)).toHaveLength(many);
  });
});

it('summaries are counted anew', async () => {
  await using cluster = await lived();
  const before = await cluster.rows(jobSummaries);
  (await reconcileSummaries(cluster.engine, hostPrincipal))._unsafeUnwrap();
  expect(await cluster.rows(jobSummaries)).toEqual(before);
});
