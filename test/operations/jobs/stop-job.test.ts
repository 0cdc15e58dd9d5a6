import { describe, expect, it } from 'vitest';
import type { Capability } from '../../../src/access/capability.js';
import { hostPrincipal, type Principal } from '../../../src/access/principal.js';
import { jobSubmissions } from '../../../src/jobs/changes/submissions.js';
import { jobs, jobVersions } from '../../../src/jobs/job-record.js';
import { jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { setJobStability, tagJobVersion } from '../../../src/operations/jobs/job-versions.js';
import { readJob } from '../../../src/operations/jobs/reading/read-job.js';
import { listScalingPolicies } from '../../../src/operations/jobs/reading/read-scaling-policies.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { type StopJobInput, stopJob } from '../../../src/operations/jobs/stop-job.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { second } from '../../../src/shared/duration.js';
import { unixNanosFromInstant } from '../../../src/shared/instant.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { group, parameterizedJob, serviceJob, type World, world } from './world.js';

const stop = async (w: World, input: StopJobInput) => (await stopJob(w.engine, hostPrincipal, input))._unsafeUnwrap();
const register = async (w: World, job: object) =>
  (await registerJob(w.engine, hostPrincipal, { job, submission }))._unsafeUnwrap();
const submission = { Source: 's', Format: 'json', VariableFlags: { b: 'a&=% ' }, Variables: '' };

describe('stopJob', () => {
  it('keeps the job as one more version, with its source, and makes an evaluation', async () => {
    const w = world();
    await register(w, serviceJob('web'));
    const answer = await stop(w, { jobId: 'web', evalPriority: 80 });
    expect(answer).toMatchObject({ evalCreateIndex: 3, jobModifyIndex: 3, index: 3 });
    expect(await w.rows(jobs)).toMatchObject([{ Stop: true, Version: 1, CreateIndex: 2, JobModifyIndex: 3 }]);
    expect(await w.rows(evaluations)).toMatchObject([
      {},
      { ID: answer.evalId, TriggeredBy: 'job-deregister', Type: 'service', Priority: 80, Status: 'pending' },
    ]);
    expect((await w.rows(jobSubmissions)).map(({ Version, Source }) => [Version, Source])).toEqual([
      [0, 's'],
      [1, 's'],
    ]);
  });

  it('makes a version each time, and starts again by a registration', async () => {
    const w = world();
    await register(w, serviceJob('web'));
    await stop(w, { jobId: 'web' });
    await stop(w, { jobId: 'web' });
    await register(w, serviceJob('web'));
    expect(await w.rows(jobs)).toMatchObject([{ Stop: false, Version: 3, CreateIndex: 2 }]);
  });

  it('disables the scaling policies of the job until it is started again', async () => {
    const w = world();
    const scaled = serviceJob('web', { TaskGroups: [group({ Scaling: { Min: 1, Max: 4, Enabled: true } })] });
    const policies = async () =>
      (await listScalingPolicies(w.engine, hostPrincipal, {}))
        ._unsafeUnwrap()
        .value.map(({ Enabled, ModifyIndex }) => [Enabled, ModifyIndex]);
    await register(w, scaled);
    expect(await policies()).toEqual([[true, 2]]);
    await stop(w, { jobId: 'web' });
    expect(await policies()).toEqual([[false, 3]]);
    await register(w, scaled);
    expect(await policies()).toEqual([[true, 2]]);
  });

  it.each([
    [undefined, 70],
    [0, 70],
    [80, 80],
  ])('with the priority %s makes an evaluation of priority %i', async (evalPriority, Priority) => {
    const w = world();
    await register(w, serviceJob('web', { Type: 'batch', Priority: 70 }));
    await stop(w, { jobId: 'web', ...(evalPriority === undefined ? {} : { evalPriority }) });
    await register(w, serviceJob('api', { Type: 'batch', Priority: 70 }));
    await stop(w, { jobId: 'api', purge: true, ...(evalPriority === undefined ? {} : { evalPriority }) });
    const stops = (await w.rows(evaluations)).filter(({ TriggeredBy }) => TriggeredBy === 'job-deregister');
    expect(stops).toMatchObject([
      { Type: 'service', Priority, Status: 'pending' },
      { Type: 'service', Priority, Status: 'pending' },
    ]);
  });

  it('takes a new time and neither the stability nor the tag of the version before', async () => {
    const w = world();
    await register(w, serviceJob('web'));
    (await setJobStability(w.engine, hostPrincipal, { jobId: 'web', version: 0, stable: true }))._unsafeUnwrap();
    (await tagJobVersion(w.engine, hostPrincipal, { jobId: 'web', version: 0, name: 'v' }))._unsafeUnwrap();
    await w.clock.advance(5000);
    await stop(w, { jobId: 'web' });
    const SubmitTime = unixNanosFromInstant(w.clock.now());
    expect(await w.rows(jobs)).toMatchObject([{ Version: 1, SubmitTime, Stable: false, VersionTag: null }]);
  });

  it.each([true, false, undefined])('passes on whether delays are skipped: %s', async (noShutdownDelay) => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    const job = { ID: 'web', Type: 'service' as const, Datacenters: ['*'], TaskGroups: [group({ Count: 2 })] };
    (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
    await cluster.clock.advance(30 * second);
    const input = { jobId: 'web', ...(noShutdownDelay === undefined ? {} : { noShutdownDelay }) };
    (await stopJob(cluster.engine, hostPrincipal, input))._unsafeUnwrap();
    const skips = (await cluster.rows(allocations)).map(({ DesiredTransition }) => DesiredTransition.NoShutdownDelay);
    expect(skips).toEqual(noShutdownDelay === true ? [true, true] : [null, null]);
  });

  it('answers zeros for a job that is not there', async () => {
    const w = world();
    expect(await stop(w, { jobId: 'web', purge: true })).toEqual({
      evalId: '',
      evalCreateIndex: 0,
      jobModifyIndex: 0,
      index: 0,
    });
  });

  it('purges everything at once, and completes what was pending', async () => {
    const w = world();
    await register(w, serviceJob('web'));
    await register(w, serviceJob('web', { Priority: 60 }));
    const answer = await stop(w, { jobId: 'web', purge: true });
    for (const table of [jobs, jobVersions, jobSubmissions, jobSummaries])
      expect(await w.rows(table as never)).toEqual([]);
    expect((await w.rows(evaluations)).map(({ Status, TriggeredBy }) => [Status, TriggeredBy])).toEqual([
      ['complete', 'job-register'],
      ['complete', 'job-register'],
      ['pending', 'job-deregister'],
    ]);
    const read = (await readJob(w.engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap();
    expect(read).toEqual({ index: answer.index, value: undefined });
    await register(w, serviceJob('web'));
    expect(await w.rows(jobs)).toMatchObject([{ Version: 0, CreateIndex: answer.index + 1 }]);
  });

  it('makes no evaluation for a parent, and leaves its instances alone', async () => {
    const w = world();
    await register(w, parameterizedJob('p'));
    const child = (await dispatchJob(w.engine, hostPrincipal, { jobId: 'p' }))._unsafeUnwrap();
    expect(await stop(w, { jobId: 'p' })).toMatchObject({ evalId: '', evalCreateIndex: 4, index: 4 });
    expect(await w.rows(jobs)).toMatchObject([
      { ID: 'p', Status: 'dead' },
      { ID: child.dispatchedJobId, Stop: false },
    ]);
    await stop(w, { jobId: child.dispatchedJobId, purge: true });
    expect(await w.rows(jobSummaries)).toMatchObject([{ Children: { Pending: 0, Running: 0, Dead: 1 } }]);
  });

  it.each([
    ['deregister-job', false, true],
    ['deregister-job', true, false],
    ['purge-job', true, true],
    ['submit-job', true, true],
    ['read-job', false, false],
  ] satisfies [Capability, boolean, boolean][])('with %s and purge %s: %s', async (capability, purge, allowed) => {
    const w = world();
    const caller: Principal = {
      ...hostPrincipal,
      management: false,
      namespaces: { default: { capabilities: [capability] } },
    };
    expect((await w.engine.as(caller).jobs.stop('x', { purge })).isOk()).toBe(allowed);
  });
});
