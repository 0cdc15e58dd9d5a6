import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../src/access/principal.js';
import { noticeBatches } from '../../../src/events/changes.js';
import { jobSubmissions } from '../../../src/jobs/changes/submissions.js';
import { jobs, jobVersions } from '../../../src/jobs/job-record.js';
import { scalingEvents } from '../../../src/jobs/scaling/scaling-records.js';
import { evaluateJob } from '../../../src/operations/jobs/evaluate-job.js';
import {
  type RevertJobInput,
  revertJob,
  setJobStability,
  tagJobVersion,
  untagJobVersion,
} from '../../../src/operations/jobs/job-versions.js';
import { listJobVersions } from '../../../src/operations/jobs/reading/read-job.js';
import { readJobScaleStatus } from '../../../src/operations/jobs/reading/read-scale-status.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { type ScaleJobInput, scaleJob } from '../../../src/operations/jobs/scale-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { type Deployment, deployments } from '../../../src/scheduler/deployment/deployment.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { batchJob, group, parameterizedJob, serviceJob, type World, world } from './world.js';

async function withVersions(count: number): Promise<World> {
  const w = world();
  for (let i = 0; i < count; i++) {
    const submission = { Source: `${i}`, Format: 'hcl2', VariableFlags: null, Variables: '' };
    (
      await registerJob(w.engine, hostPrincipal, { job: serviceJob('web', { Priority: 50 + i }), submission })
    )._unsafeUnwrap();
  }
  return w;
}

const current = async (w: World) => (await w.rows(jobs))[0];

describe('revertJob', () => {
  const revert = (w: World, input: Partial<RevertJobInput>) =>
    revertJob(w.engine, hostPrincipal, { jobId: 'web', version: 0, ...input });

  it('registers the old document as a new version, with its source', async () => {
    const w = await withVersions(3);
    await setJobStability(w.engine, hostPrincipal, { jobId: 'web', version: 0, stable: true });
    const answer = (await revert(w, { enforcePriorVersion: 2 }))._unsafeUnwrap();
    expect(answer).toMatchObject({ index: 6, jobModifyIndex: 6, evalCreateIndex: 6 });
    expect(await current(w)).toMatchObject({ Version: 3, Priority: 50, Stable: false, JobModifyIndex: 6 });
    expect((await w.rows(jobSubmissions)).find(({ Version }) => Version === 3)).toMatchObject({ Source: '0' });
  });

  it.each([
    ['the current version', { version: 2 }, 'revert_refused'],
    ['a version that is not kept', { version: 9 }, 'version_not_found'],
    ['from another version than is there', { version: 0, enforcePriorVersion: 1 }, 'revert_refused'],
    ['an unknown job', { jobId: 'api' }, 'job_not_found'],
  ])('refuses %s', async (_name, input, type) => {
    const w = await withVersions(3);
    expect((await revert(w, input))._unsafeUnwrapErr()).toMatchObject({ type });
    expect(await current(w)).toMatchObject({ Version: 2 });
  });
});

describe('setJobStability', () => {
  it('marks current and earlier versions without making one', async () => {
    const w = await withVersions(2);
    const set = (version: number, stable: boolean) =>
      setJobStability(w.engine, hostPrincipal, { jobId: 'web', version, stable });
    expect((await set(1, true))._unsafeUnwrap()).toEqual({ index: 4 });
    expect(await current(w)).toMatchObject({ Version: 1, Stable: true, ModifyIndex: 4, JobModifyIndex: 3 });
    expect((await set(0, true))._unsafeUnwrap()).toEqual({ index: 5 });
    expect(await w.rows(jobVersions)).toMatchObject([{ Version: 0, Stable: true, ModifyIndex: 5 }]);
    // Said once more, it is written once more.
    expect((await set(0, true))._unsafeUnwrap()).toEqual({ index: 6 });
    expect((await set(7, true))._unsafeUnwrapErr()).toMatchObject({ type: 'version_not_found' });
    const versions = (await listJobVersions(w.engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap();
    expect(versions.index).toBe(6);
  });
});

describe('evaluateJob', () => {
  it('makes an evaluation and answers with the ModifyIndex', async () => {
    const w = await withVersions(1);
    expect((await evaluateJob(w.engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap()).toMatchObject({
      evalCreateIndex: 3,
      index: 3,
      jobModifyIndex: 2,
    });
    expect(await w.rows(evaluations)).toHaveLength(2);
  });

  it.each([
    [parameterizedJob('x'), "can't evaluate parameterized job"],
    [batchJob('x', { Periodic: { Spec: '@daily' } }), "can't evaluate periodic job"],
  ])('refuses parents', async (job, message) => {
    const w = world();
    await registerJob(w.engine, hostPrincipal, { job });
    const refused = await evaluateJob(w.engine, hostPrincipal, { jobId: 'x' });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'evaluation_refused', message });
  });
});

describe('scaleJob', () => {
  const policy = { Scaling: { Min: 1, Max: 5, Enabled: false } };
  async function scalable(): Promise<World> {
    const w = world({ jobs: { maximumCount: 8 } });
    const groups = [group({ Count: 2, ...policy }), group({ Name: 'h', Count: 4 })];
    const submission = { Source: 's', Format: 'hcl2', VariableFlags: null, Variables: '' };
    const job = serviceJob('web', { TaskGroups: groups });
    (await registerJob(w.engine, hostPrincipal, { job, submission }))._unsafeUnwrap();
    return w;
  }
  const scale = (w: World, input: Partial<ScaleJobInput> = {}) =>
    scaleJob(w.engine, hostPrincipal, { jobId: 'web', group: 'g', message: 'more', ...input });

  it('makes a version, an evaluation and an event in one write', async () => {
    const w = await scalable();
    const answer = (await scale(w, { count: 4, meta: { by: 'test' } }))._unsafeUnwrap();
    expect(answer).toMatchObject({ jobModifyIndex: 3, evalCreateIndex: 4, index: 5 });
    expect((await current(w))?.TaskGroups.map(({ Count }) => Count)).toEqual([4, 4]);
    expect((await w.rows(evaluations))[1]).toMatchObject({ ID: answer.evalId, TriggeredBy: 'job-scaling' });
    expect(await w.rows(scalingEvents)).toMatchObject([
      {
        Group: 'g',
        Count: 4,
        PreviousCount: 2,
        Message: 'more',
        Error: false,
        Meta: { by: 'test' },
        EvalID: answer.evalId,
      },
    ]);
    expect((await w.rows(jobSubmissions)).map(({ Version, Source }) => [Version, Source])).toEqual([
      [0, 's'],
      [1, 's'],
    ]);
  });

  it('gives the version, the evaluation and the event an index each, and tells each under its own', async () => {
    const w = await scalable();
    const answer = (await scale(w, { count: 4 }))._unsafeUnwrap();
    expect(await current(w)).toMatchObject({ JobModifyIndex: 3 });
    expect((await w.rows(evaluations))[1]).toMatchObject({ CreateIndex: 4, JobModifyIndex: 3 });
    expect(await w.rows(scalingEvents)).toMatchObject([{ CreateIndex: 5 }]);
    const told = (await w.rows(noticeBatches)).filter(({ Index }) => Index >= 3);
    expect(told.map(({ Index, Notices }) => [Index, Notices.map(({ Topic }) => Topic)])).toEqual([
      [3, ['Job']],
      [4, ['Evaluation']],
    ]);
    expect(answer).toMatchObject({ evalCreateIndex: 4, index: 5 });
  });

  it.each<[Deployment['Status'], boolean]>([
    ['running', false],
    ['paused', false],
    ['successful', true],
    ['failed', true],
  ])('while the latest deployment is %s: is allowed: %s', async (Status, isAllowed) => {
    const w = await scalable();
    const job = (await current(w))!;
    const deployment = {
      ...{ ID: 'd', Namespace: job.Namespace, JobID: job.ID, JobVersion: job.Version, JobCreateIndex: job.CreateIndex },
      ...{ JobModifyIndex: job.ModifyIndex, JobSpecModifyIndex: job.JobModifyIndex, IsMultiregion: false },
      ...{ TaskGroups: {}, Status, StatusDescription: '', EvalPriority: 50 },
      ...{ CreateIndex: 2, ModifyIndex: 2, CreateTime: 1, ModifyTime: 1 },
    };
    (await w.engine.storage.write((view) => ok(view.put(deployments, deployment))))._unsafeUnwrap();
    const scaled = await scale(w, { count: 3 });
    expect(scaled.isOk()).toBe(isAllowed);
    // Autoscalers compare this text: they try again later instead of reporting a failure.
    const message = expect.stringContaining('job scaling blocked due to active deployment');
    if (scaled.isErr()) expect(scaled.error).toMatchObject({ type: 'scaling_refused', message });
    expect((await scale(w)).isOk()).toBe(true);
  });

  it('makes a version for the same count too', async () => {
    const w = await scalable();
    await scale(w, { count: 2 });
    expect(await current(w)).toMatchObject({ Version: 1 });
  });

  it('records an event alone when there is no count', async () => {
    const w = await scalable();
    const answer = (await scale(w, { message: '', error: 'no metrics' }))._unsafeUnwrap();
    expect(answer).toMatchObject({ evalId: '', evalCreateIndex: 0, jobModifyIndex: 2, index: 3 });
    expect(await current(w)).toMatchObject({ Version: 0, ModifyIndex: 2 });
    expect(await w.rows(scalingEvents)).toMatchObject([
      { Count: null, Message: 'no metrics', Error: true, EvalID: null },
    ]);
  });

  it.each<[string, Partial<ScaleJobInput>, object]>([
    ['no group', { group: '' }, { type: 'invalid_request' }],
    ['another job in the target', { group: 'g', targetJob: 'api' }, { type: 'invalid_request' }],
    ['another namespace in the target', { group: 'g', targetNamespace: 'x' }, { type: 'invalid_request' }],
    ['a message and an error text', { error: 'no' }, { type: 'invalid_request' }],
    ['neither', { message: '' }, { type: 'invalid_request' }],
    ['a negative count', { count: -1 }, { reason: 'negative_count' }],
    ['a count with an error', { count: 2, error: true }, { reason: 'count_with_error' }],
    ['a count beyond 32 bits', { count: 2 ** 40 }, { reason: 'count_too_large' }],
    ['an unknown job', { jobId: 'api' }, { type: 'job_not_found' }],
    ['an unknown group', { group: 'x' }, { reason: 'unknown_group' }],
    ['less than the policy allows', { count: 0 }, { reason: 'below_minimum' }],
    ['more than the policy allows', { count: 6 }, { reason: 'above_maximum' }],
    ['more than the installation allows', { group: 'h', count: 7 }, { type: 'total_count_too_large' }],
    ['another index', { count: 3, enforceIndex: 9 }, { type: 'index_conflict' }],
    ['index 0 when it insists', { count: 3, enforceIndex: 0 }, { type: 'index_conflict' }],
  ])('refuses %s', async (_name, input, error) => {
    const w = await scalable();
    expect((await scale(w, input))._unsafeUnwrapErr()).toMatchObject(error);
    expect(await current(w)).toMatchObject({ Version: 0 });
    expect(await w.rows(scalingEvents)).toEqual([]);
  });

  it.each([
    ['the least that the policy allows', 1],
    ['as many as the installation allows', 4],
  ])('accepts %s', async (_name, count) => {
    const w = await scalable();
    (await scale(w, { count }))._unsafeUnwrap();
    expect(await current(w)).toMatchObject({ Version: 1, TaskGroups: [{ Count: count }, { Count: 4 }] });
  });

  it('keeps twenty events of a group, newest first in the status', async () => {
    const w = await scalable();
    for (let i = 0; i < 23; i++) await scale(w, { message: `m${i}` });
    const status = (await readJobScaleStatus(w.engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap();
    expect(status.index).toBe(25);
    expect(status.value?.TaskGroups.g?.Events?.map(({ Message }) => Message).slice(0, 2)).toEqual(['m22', 'm21']);
    expect(status.value?.TaskGroups.g?.Events).toHaveLength(20);
    expect(status.value?.TaskGroups.h).toEqual({
      Desired: 4,
      Placed: 0,
      Running: 0,
      Healthy: 0,
      Unhealthy: 0,
      Events: null,
    });
    await stopJob(w.engine, hostPrincipal, { jobId: 'web', purge: true });
    expect(await w.rows(scalingEvents)).toEqual([]);
  });

  it('takes the right to scale', async () => {
    const w = await scalable();
    const caller = (capability: 'scale-job' | 'read-job'): Principal => ({
      ...hostPrincipal,
      management: false,
      namespaces: { default: { capabilities: [capability] } },
    });
    const scaled = (by: Principal) => w.engine.as(by).jobs.scale('web', 'g', { count: 3, message: 'm' });
    expect((await scaled(caller('read-job')))._unsafeUnwrapErr().type).toBe('permission_denied');
    expect((await scaled(caller('scale-job'))).isOk()).toBe(true);
  });
});

describe('version tags', () => {
  const tag = (w: World, input: object) =>
    tagJobVersion(w.engine, hostPrincipal, { jobId: 'web', name: 'gold', ...input });

  it('name one version, which is then kept', async () => {
    const w = await withVersions(2);
    expect((await tag(w, { version: 0, description: 'd' }))._unsafeUnwrap()).toMatchObject({ Name: 'gold' });
    expect((await tag(w, { latest: true }))._unsafeUnwrapErr()).toMatchObject({ reason: 'taken' });
    for (let i = 0; i < 8; i++) {
      await registerJob(w.engine, hostPrincipal, { job: serviceJob('web', { Priority: 70 + i }) });
    }
    expect((await w.rows(jobVersions)).map(({ Version }) => Version)).toEqual([0, 4, 5, 6, 7, 8]);
    expect((await untagJobVersion(w.engine, hostPrincipal, { jobId: 'web', name: 'gold' })).isOk()).toBe(true);
    const again = await untagJobVersion(w.engine, hostPrincipal, { jobId: 'web', name: 'gold' });
    expect(again._unsafeUnwrapErr()).toMatchObject({ reason: 'not_found' });
    expect((await tag(w, { latest: true }))._unsafeUnwrap()).toMatchObject({ Name: 'gold' });
    await stopJob(w.engine, hostPrincipal, { jobId: 'web' });
    expect(await current(w)).toMatchObject({ VersionTag: null });
  });

  it.each([
    ['a version and the latest', { version: 1, latest: true }, 'tag_refused'],
    ['a version that is not kept', { version: 7 }, 'version_not_found'],
    ['an unknown job', { jobId: 'api', latest: true }, 'version_not_found'],
    ['an empty name', { name: '' }, 'invalid_request'],
  ])('are refused for %s', async (_name, input, type) => {
    const w = await withVersions(2);
    expect((await tag(w, input))._unsafeUnwrapErr()).toMatchObject({ type });
  });
});
