import { describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../../src/access/principal.js';
import { jobSubmissions } from '../../../../src/jobs/changes/submissions.js';
import { jobs, jobVersions } from '../../../../src/jobs/job-record.js';
import { jobSummaries } from '../../../../src/jobs/status/job-summary.js';
import { revertJob } from '../../../../src/operations/jobs/job-versions.js';
import { listJobVersions, readJobSubmission } from '../../../../src/operations/jobs/reading/read-job.js';
import { type RegisterJobInput, registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { evaluations } from '../../../../src/scheduler/evaluation.js';
import { batchJob, group, parameterizedJob, serviceJob, type World, world } from '../world.js';

const register = async (w: World, input: RegisterJobInput) =>
  (await registerJob(w.engine, hostPrincipal, input))._unsafeUnwrap();
const refusal = async (w: World, input: object, caller: Principal = hostPrincipal) =>
  (await registerJob(w.engine, caller, input as RegisterJobInput))._unsafeUnwrapErr();

const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } };

function hostVolume(readOnly: boolean, propagation = 'private'): object {
  const mount = { Volume: 'v', Destination: '/data', ReadOnly: readOnly, PropagationMode: propagation };
  return group({
    Volumes: { v: { Type: 'host', Source: 'data', ReadOnly: readOnly } },
    Tasks: [{ ...task, VolumeMounts: [mount] }],
  });
}

const csiVolume = {
  Type: 'csi',
  Source: 'data',
  AccessMode: 'single-node-writer',
  AttachmentMode: 'file-system',
};

describe('registerJob', () => {
  it('stores the job, its evaluation and its summary in one write', async () => {
    const w = world();
    const answer = await register(w, { job: serviceJob('web') });
    expect(answer).toMatchObject({ evalCreateIndex: 2, jobModifyIndex: 2, index: 2 });
    expect(await w.rows(jobs)).toMatchObject([
      { ID: 'web', Status: 'pending', Version: 0, CreateIndex: 2, ModifyIndex: 2, JobModifyIndex: 2, Stable: false },
    ]);
    expect(await w.rows(evaluations)).toMatchObject([
      {
        ID: answer.evalId,
        JobID: 'web',
        Status: 'pending',
        TriggeredBy: 'job-register',
        Type: 'service',
        Priority: 50,
        JobModifyIndex: 2,
        CreateIndex: 2,
      },
    ]);
    expect(await w.rows(jobSummaries)).toMatchObject([
      { JobID: 'web', Namespace: 'default', Summary: { g: { Queued: 0, Starting: 0 } }, CreateIndex: 2 },
    ]);
  });

  it('tells a caller of the library, and no client of the wire, which keys it leaves out', async () => {
    const w = world();
    const job = { ...serviceJob('web'), TaskGroups: [{ ...group(), MaxClientDisconnect: 5_000_000_000, Cuont: 2 }] };
    const { warnings } = await register(w, { job });
    expect(warnings).toContain('Cuont');
    expect(warnings).toContain('group "g": max_client_disconnect has no effect, use disconnect.lost_after');
    expect(await w.rows(jobs)).toMatchObject([{ TaskGroups: [{ MaxClientDisconnect: null }] }]);
    expect((await register(w, { job, fromWire: true })).warnings).toBe('');
  });

  it('makes no evaluation for a parameterized job, which runs at once', async () => {
    const w = world();
    expect(await register(w, { job: parameterizedJob('p') })).toMatchObject({ evalId: '', evalCreateIndex: 0 });
    expect(await w.rows(evaluations)).toEqual([]);
    expect(await w.rows(jobs)).toMatchObject([{ Status: 'running' }]);
  });

  it('makes an evaluation and no version when nothing changed', async () => {
    const w = world();
    const first = await register(w, { job: serviceJob('web') });
    const second = await register(w, { job: serviceJob('web'), submission: source('x') });
    expect(second).toMatchObject({ evalCreateIndex: 3, index: 3, jobModifyIndex: first.jobModifyIndex });
    expect(await w.rows(jobs)).toMatchObject([{ Version: 0, ModifyIndex: 2 }]);
    expect(await w.rows(jobSubmissions)).toEqual([]);
    const parent = world();
    await register(parent, { job: parameterizedJob('p') });
    expect(await register(parent, { job: parameterizedJob('p') })).toMatchObject({
      evalId: '',
      evalCreateIndex: 0,
      jobModifyIndex: 2,
      index: 2,
    });
  });

  it('keeps CreateIndex and raises the version when something changed', async () => {
    const w = world();
    await register(w, { job: serviceJob('web') });
    await register(w, { job: serviceJob('web', { Priority: 60 }) });
    expect(await w.rows(jobs)).toMatchObject([{ Version: 1, CreateIndex: 2, ModifyIndex: 3, JobModifyIndex: 3 }]);
    expect(await w.rows(jobVersions)).toMatchObject([{ Version: 0, Priority: 50 }]);
  });

  it('keeps the document version when it is ahead', async () => {
    const w = world();
    await register(w, { job: serviceJob('web', { Version: 7 }) });
    await register(w, { job: serviceJob('web', { Version: 3, Priority: 60 }) });
    expect(await w.rows(jobs)).toMatchObject([{ Version: 8 }]);
    await register(w, { job: serviceJob('web', { Version: 20, Priority: 70 }) });
    expect(await w.rows(jobs)).toMatchObject([{ Version: 20 }]);
    expect(await refusal(w, { job: serviceJob('web', { Version: 2 ** 60, Priority: 71 }) })).toMatchObject({
      type: 'invalid_request',
    });
  });

  it('keeps the newest six untagged versions', async () => {
    const w = world();
    for (let i = 1; i <= 9; i++) await register(w, { job: serviceJob('web', { Priority: i }) });
    const versions = (await listJobVersions(w.engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap();
    expect(versions.value.map((row) => row.record.Version)).toEqual([8, 7, 6, 5, 4, 3]);
    expect(versions.index).toBe(10);
  });

  it.each([
    ['a new job with index 0', 0, false, undefined],
    ['a new job with another index', 5, false, 'Enforcing job modify index 5: job does not exist'],
    ['a known job with index 0', 0, true, 'Enforcing job modify index 0: job already exists'],
    ['a known job with its index', 2, true, undefined],
    [
      'a known job with another index',
      9,
      true,
      'Enforcing job modify index 9: job exists with conflicting job modify index: 2',
    ],
  ])('enforces the index: %s', async (_name, enforceIndex, known, message) => {
    const w = world();
    if (known) await register(w, { job: serviceJob('web') });
    const input = { job: serviceJob('web', { Priority: 51 }), enforceIndex };
    const result = await registerJob(w.engine, hostPrincipal, input);
    if (message === undefined) expect(result.isOk()).toBe(true);
    else expect(result._unsafeUnwrapErr()).toMatchObject({ type: 'index_conflict', message });
    expect(await w.rows(jobs)).toHaveLength(known || message === undefined ? 1 : 0);
  });

  it.each([
    ['type', serviceJob('x'), batchJob('x')],
    ['parameterized', batchJob('x'), parameterizedJob('x')],
    ['periodic', batchJob('x'), batchJob('x', { Periodic: { Spec: '@daily' } })],
  ])('refuses to change what kind of job it is: %s', async (reason, before, after) => {
    const w = world();
    await register(w, { job: before });
    expect(await refusal(w, { job: after })).toMatchObject({ type: 'transition_refused', reason });
    expect(await w.rows(jobs)).toMatchObject([{ Version: 0 }]);
  });

  it('keeps counts and resources where the caller asks for it', async () => {
    const w = world();
    const sized = (Count: number, CPU: number, more: object = {}) =>
      serviceJob('web', {
        ...more,
        TaskGroups: [group({ Count, Tasks: [{ Name: 't', Driver: 'raw_exec', Resources: { CPU } }] })],
      });
    await register(w, { job: sized(3, 700) });
    await register(w, { job: sized(1, 100, { Priority: 60 }), preserveCounts: true, preserveResources: true });
    const [job] = await w.rows(jobs);
    expect(job?.TaskGroups[0]).toMatchObject({ Count: 3, Tasks: [{ Resources: { CPU: 700 } }] });
    await register(w, { job: sized(1, 100, { Priority: 61 }) });
    expect((await w.rows(jobs))[0]?.TaskGroups[0]).toMatchObject({ Count: 1, Tasks: [{ Resources: { CPU: 100 } }] });
  });

  it.each([
    ['no job', { job: null }, 'invalid_request'],
    ['a job that is no object', { job: 'web' }, 'invalid_document'],
    ['a job without ID', { job: {} }, 'invalid_request'],
    ['another ID than the path', { job: serviceJob('web'), jobId: 'api' }, 'invalid_request'],
    ['an evaluation priority out of range', { job: serviceJob('web'), evalPriority: 101 }, 'invalid_request'],
    ['an unknown region', { job: serviceJob('web', { Region: 'mars' }) }, 'unknown_region'],
    ['an unknown namespace', { job: serviceJob('web'), namespace: 'nowhere' }, 'invalid_job'],
    ['an invalid job', { job: { ID: '' } }, 'invalid_job'],
  ])('refuses %s and changes nothing', async (_name, input, type) => {
    const w = world();
    expect(await refusal(w, input)).toMatchObject({ type });
    for (const table of [jobs, jobVersions, jobSummaries, evaluations])
      expect(await w.rows(table as never)).toEqual([]);
  });

  it('tells the faults of the document before the lack of a right', async () => {
    const w = world();
    const nobody: Principal = { ...hostPrincipal, management: false };
    expect(await refusal(w, { job: { ID: '' } }, nobody)).toMatchObject({ type: 'invalid_job' });
    expect(await refusal(w, { job: serviceJob('web') }, nobody)).toEqual({ type: 'permission_denied' });
    expect(await w.rows(jobs)).toEqual([]);
  });

  it('needs a right of its own to override policies', async () => {
    const w = world();
    const rule = { capabilities: ['submit-job'] as const };
    const caller: Principal = { ...hostPrincipal, accessor: 'a', management: false, namespaces: { default: rule } };
    const input = { job: serviceJob('web') };
    expect(await refusal(w, { ...input, policyOverride: true }, caller)).toEqual({ type: 'permission_denied' });
    expect((await registerJob(w.engine, caller, input)).isOk()).toBe(true);
    expect(await w.rows(jobs)).toMatchObject([{ NomadTokenID: 'a' }]);
  });

  it.each([
    ['a volume to be read', hostVolume(true), ['read', 'write']],
    ['a volume to be written', hostVolume(false), ['write']],
    ['a volume that shows its mounts on the host', hostVolume(true, 'bidirectional'), ['write']],
    ['a volume of a plugin', group({ Volumes: { data: csiVolume } }), ['plugin']],
    ['a plugin for volumes', group({ Tasks: [{ ...task, CSIPluginConfig: { ID: 'p', Type: 'node' } }] }), ['provider']],
  ])('needs the right to %s, also to go back to it', async (_name, groupWithVolumes, permitted) => {
    const submit = { capabilities: ['submit-job'] as const };
    const nobody: Principal = { ...hostPrincipal, management: false, namespaces: { default: submit } };
    const callers: Readonly<Record<string, Principal>> = {
      nobody,
      other: { ...nobody, hostVolumes: { other: ['mount-readwrite'] } },
      read: { ...nobody, hostVolumes: { 'da*': ['mount-readonly'] } },
      write: { ...nobody, hostVolumes: { data: ['mount-readonly', 'mount-readwrite'] } },
      mount: { ...nobody, namespaces: { default: { capabilities: ['submit-job', 'csi-mount-volume'] } } },
      plugin: {
        ...nobody,
        namespaces: { default: { capabilities: ['submit-job', 'csi-mount-volume'] } },
        areas: { plugin: 'read' },
      },
      provider: { ...nobody, namespaces: { default: { capabilities: ['submit-job', 'csi-register-plugin'] } } },
    };
    const registering: string[] = [];
    const reverting: string[] = [];
    for (const [name, caller] of Object.entries(callers)) {
      const w = world();
      const job = serviceJob('web', { TaskGroups: [groupWithVolumes] });
      if ((await registerJob(w.engine, caller, { job })).isOk()) registering.push(name);
      const before = world();
      await register(before, { job });
      await register(before, { job: serviceJob('web') });
      if ((await revertJob(before.engine, caller, { jobId: 'web', version: 0 })).isOk()) reverting.push(name);
    }
    expect(registering).toEqual(permitted);
    expect(reverting).toEqual(permitted);
  });

  it('stores the source with its version, keeps six, and hands it on', async () => {
    const w = world();
    for (let i = 1; i <= 8; i++)
      await register(w, { job: serviceJob('web', { Priority: i }), submission: source(`${i}`) });
    expect((await w.rows(jobSubmissions)).map(({ Version }) => Version)).toEqual([2, 3, 4, 5, 6, 7]);
    // A client that reads a job, edits and registers it again sends the version along.
    await register(w, { job: serviceJob('web', { Priority: 20, Version: 7 }) });
    const handedOn = await readJobSubmission(w.engine, hostPrincipal, { jobId: 'web', version: 8 });
    expect(handedOn._unsafeUnwrap().value?.record).toMatchObject({ Source: '8', Version: 8, JobModifyIndex: 10 });
    // One that sends a document of its own does not get a source that is not its own.
    await register(w, { job: serviceJob('web', { Priority: 21 }) });
    const none = await readJobSubmission(w.engine, hostPrincipal, { jobId: 'web', version: 9 });
    expect(none._unsafeUnwrap()).toEqual({ index: 0, value: undefined });
  });

  it('drops a source that is too long, with a warning', async () => {
    const w = world({ jobs: { maximumSourceLength: 10 } });
    const answer = await register(w, { job: serviceJob('web'), submission: source('x'.repeat(11)) });
    expect(answer.warnings).toContain('source was not stored');
    expect(await w.rows(jobSubmissions)).toEqual([]);
  });

  it('keeps sources of up to a million bytes', async () => {
    const w = world();
    const longest = 'x'.repeat(1_000_000);
    expect((await register(w, { job: serviceJob('web'), submission: source(longest) })).warnings).toBe('');
    for (const tooLong of [`${longest}x`, 'ü'.repeat(500_001)]) {
      const answer = await register(w, { job: serviceJob('api'), submission: source(tooLong) });
      expect(answer.warnings).toContain('source was not stored');
    }
    expect((await w.rows(jobSubmissions)).map(({ JobID }) => JobID)).toEqual(['web']);
  });

  it('keeps the ID of a scaling policy, so that the same document stays the same', async () => {
    const w = world();
    const job = serviceJob('web', { TaskGroups: [group({ Scaling: { Min: 1, Max: 4 } })] });
    await register(w, { job });
    await register(w, { job });
    expect(await w.rows(jobs)).toMatchObject([{ Version: 0 }]);
    const [stored] = await w.rows(jobs);
    expect(stored?.TaskGroups[0]?.Scaling?.ID).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('emits what happened after the commit', async () => {
    const w = world();
    const facts: unknown[] = [];
    w.engine.events.on('job.registered', (fact) => facts.push(fact));
    w.engine.events.on('job.status', (fact) => facts.push(fact.status));
    await register(w, { job: serviceJob('web') });
    expect(facts).toEqual([{ namespace: 'default', jobId: 'web', version: 0, index: 2 }, 'pending']);
  });
});

function source(text: string) {
  return { Source: text, Format: 'hcl2', VariableFlags: null, Variables: '' };
}
