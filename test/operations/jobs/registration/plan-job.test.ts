import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { readJob } from '../../../../src/operations/jobs/reading/read-job.js';
import { applyPlan, planJob } from '../../../../src/operations/jobs/registration/plan-job.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../../src/operations/jobs/stop-job.js';
import { registerNode } from '../../../../src/operations/scheduling/register-node.js';
import { evaluations } from '../../../../src/scheduler/evaluation.js';
import { minute } from '../../../../src/shared/duration.js';
import { fakeCluster } from '../../../support/fake-agents.js';
import { nodeFrom } from '../../../support/nodes.js';
import { batchJob, group, serviceJob, world } from '../world.js';

describe('a plan', () => {
  it('stores nothing, and tells what would wait for room', async () => {
    const { engine, rows } = world();
    const plan = (await planJob(engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
    expect(plan).toMatchObject({ jobModifyIndex: 0, diff: null, createdEvaluations: [{ Status: 'blocked' }] });
    expect(Object.keys(plan.failedPlacements ?? {})).toEqual(['g']);
    expect(await rows(evaluations)).toEqual([]);
  });

  it.each(['service', 'batch', 'system', 'sysbatch'])(
    'shows what changes in a %s job, and nothing else',
    async (Type) => {
      const { engine } = world();
      const document = (change: object): object => ({
        ID: 'web',
        Type,
        TaskGroups: [
          { Name: 'g', Tasks: ['t', 'u'].map((Name) => ({ Name, Driver: 'mock', ...(Name === 't' && change) })) },
        ],
      });
      (await registerJob(engine, hostPrincipal, { job: document({}) }))._unsafeUnwrap();
      const planned = async (change: object) =>
        (await planJob(engine, hostPrincipal, { job: document(change), diff: true }))._unsafeUnwrap().diff;
      expect(await planned({})).toMatchObject({ Type: 'None' });
      const hooked = await planned({ Lifecycle: { Hook: 'prestart' } });
      expect(hooked).toMatchObject({
        Type: 'Edited',
        TaskGroups: [{ Tasks: [{ Objects: [{ Name: 'Lifecycle' }] }, {}] }],
      });
      const restarted = await planned({ RestartPolicy: { Attempts: 1 } });
      const Fields = expect.arrayContaining([expect.objectContaining({ Name: 'Attempts', Type: 'Edited', New: '1' })]);
      expect(restarted).toMatchObject({
        Type: 'Edited',
        TaskGroups: [{ Tasks: [{ Objects: [{ Name: 'RestartPolicy', Fields }] }, {}] }],
      });
    },
  );

  it('shows that another token submits the job, which makes a version', async () => {
    const { engine } = world();
    const job = serviceJob('web');
    (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
    const ada = { ...hostPrincipal, accessor: 'ada' };
    const plan = (await planJob(engine, ada, { job, diff: true }))._unsafeUnwrap();
    expect(plan.diff).toMatchObject({ Type: 'Edited', Fields: [{ Name: 'NomadTokenID', New: 'ada' }] });
  });

  it('tells the next launch of a periodic job', async () => {
    const { engine } = world();
    const job = batchJob('report', { Periodic: { Specs: ['30 6 * * *'] } });
    const plan = (await planJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
    expect(plan.nextPeriodicLaunch).toBe('2026-01-01T06:30:00Z');
    const abroad = batchJob('report', { Periodic: { Specs: ['30 6 * * *'], TimeZone: 'America/New_York' } });
    const there = (await planJob(engine, hostPrincipal, { job: abroad }))._unsafeUnwrap();
    expect(there.nextPeriodicLaunch).toBe('2026-01-01T06:30:00-05:00');
  });

  it('tells no next launch of a periodic job that is not enabled', async () => {
    const { engine } = world();
    const Periodic = { Enabled: false, Specs: ['30 6 * * *'] };
    const plan = (await planJob(engine, hostPrincipal, { job: batchJob('report', { Periodic }) }))._unsafeUnwrap();
    expect(plan.nextPeriodicLaunch).toBeNull();
  });

  it.each([
    ['periodic', { Periodic: { Specs: ['30 6 * * *'] } }],
    ['parameterized', { ParameterizedJob: {} }],
  ])('counts what one instance would place where the job is %s', async (_what, change) => {
    const { engine } = world();
    const plan = (await planJob(engine, hostPrincipal, { job: batchJob('report', change) }))._unsafeUnwrap();
    expect(Object.keys(plan.failedPlacements ?? {})).toEqual(['g']);
  });

  it('names the specification that it was made for: none for a new job, the next one for a changed job', async () => {
    const { engine } = world();
    const plan = async (change: object) =>
      (await planJob(engine, hostPrincipal, { job: serviceJob('web', change) }))._unsafeUnwrap();
    const [first] = (await plan({})).createdEvaluations ?? [];
    expect(first).toMatchObject({ Status: 'blocked', TriggeredBy: 'queued-allocs' });
    expect(first?.JobModifyIndex).toBeUndefined();
    const { jobModifyIndex } = (await registerJob(engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
    const changed = await plan({ Priority: 60 });
    expect(changed).toMatchObject({ jobModifyIndex, index: jobModifyIndex });
    expect(changed.createdEvaluations).toMatchObject([{ JobModifyIndex: jobModifyIndex + 1, Priority: 60 }]);
    for (const member of ['SnapshotIndex', 'CreateIndex', 'ModifyIndex']) expect(first).not.toHaveProperty(member);
  });

  it('keeps counts and resources as a registration that keeps them would, and is applied with them', async () => {
    const { engine } = world();
    const job = (Count: number, MemoryMB: number) => {
      const task = {
        Name: 't',
        Driver: 'raw_exec',
        Config: { command: '/bin/true' },
        Resources: { CPU: 10, MemoryMB },
      };
      return serviceJob('web', { TaskGroups: [group({ Count, Tasks: [task] })] });
    };
    (await registerJob(engine, hostPrincipal, { job: job(3, 32) }))._unsafeUnwrap();
    const plan = async (preserves: object) =>
      (await planJob(engine, hostPrincipal, { job: job(1, 64), diff: true, ...preserves }))._unsafeUnwrap();
    expect((await plan({})).diff?.Type).toBe('Edited');
    expect(JSON.stringify((await plan({ preserveCounts: true })).diff)).not.toContain('"Name":"Count"');
    const kept = await plan({ preserveCounts: true, preserveResources: true });
    expect(kept.diff?.Type).toBe('None');
    (await applyPlan(engine, hostPrincipal, kept.seal))._unsafeUnwrap();
    const stored = (await readJob(engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap().value?.record;
    expect(stored).toMatchObject({ Version: 0, TaskGroups: [{ Count: 3, Tasks: [{ Resources: { MemoryMB: 32 } }] }] });
  });

  it('counts what a batch job has finished among what stays', async () => {
    await using cluster = fakeCluster({ behaviour: () => ({ ends: 'complete', after: 0 }) });
    await cluster.addNode('n1');
    const job = (meta: Record<string, string>) => batchJob('report', { Meta: meta });
    (await registerJob(cluster.engine, hostPrincipal, { job: job({}) }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    const planned = async (meta: Record<string, string>) =>
      (await planJob(cluster.engine, hostPrincipal, { job: job(meta) }))._unsafeUnwrap().annotations?.DesiredTGUpdates;
    expect(Object.values((await planned({})) ?? {})).toMatchObject([{ Ignore: 1, Place: 0 }]);
    expect(Object.values((await planned({ a: 'b' })) ?? {})).toMatchObject([{ Ignore: 1, Place: 1 }]);
  });

  it('is made of a system job with a scaling block, which its registration refuses', async () => {
    const { engine } = world();
    const job = serviceJob('web', { Type: 'system', TaskGroups: [group({ Scaling: { Max: 1 } })] });
    expect((await planJob(engine, hostPrincipal, { job })).isOk()).toBe(true);
    expect((await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrapErr().type).toBe('invalid_request');
  });

  it('does not look at transitions and indexes, and tells faults before the lack of a right', async () => {
    const { engine } = world();
    (await registerJob(engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
    expect((await planJob(engine, hostPrincipal, { job: batchJob('web') })).isOk()).toBe(true);
    const stranger = { ...hostPrincipal, management: false };
    const wrong = await planJob(engine, stranger, { job: serviceJob('web', { Priority: 900 }) });
    expect(wrong._unsafeUnwrapErr().type).toBe('invalid_job');
    const refused = await planJob(engine, stranger, { job: serviceJob('web') });
    expect(refused._unsafeUnwrapErr().type).toBe('permission_denied');
  });
});

describe('a sealed plan', () => {
  it('is applied as it was made', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    const plan = (await planJob(cluster.engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
    (await applyPlan(cluster.engine, hostPrincipal, plan.seal))._unsafeUnwrap();
    const again = await applyPlan(cluster.engine, hostPrincipal, plan.seal);
    expect(again._unsafeUnwrapErr()).toMatchObject({ type: 'plan_outdated' });
  });

  it.each([
    ['the job', async (engine: Parameters<typeof registerJob>[0]) => stopJob(engine, hostPrincipal, { jobId: 'web' })],
    [
      'the nodes',
      async (engine: Parameters<typeof registerJob>[0]) => registerNode(engine, hostPrincipal, nodeFrom('n2')),
    ],
  ])('is refused after a change of %s', async (_, change) => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    (await registerJob(cluster.engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    const job = serviceJob('web', { Priority: 60 });
    const plan = (await planJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
    (await change(cluster.engine))._unsafeUnwrap();
    expect((await applyPlan(cluster.engine, hostPrincipal, plan.seal))._unsafeUnwrapErr().type).toBe('plan_outdated');
  });
});
