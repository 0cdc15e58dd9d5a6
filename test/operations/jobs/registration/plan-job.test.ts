import { describe, expect, it } from 'vitest';
import { hostPrincipal, type JobInput } from '../../../../src/index.js';
import { readJob } from '../../../../src/operations/jobs/reading/read-job.js';
import { planJob } from '../../../../src/operations/jobs/registration/plan-job.js';
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
    const flags = { preserveCounts: true, preserveResources: true };
    const sealed = { job: job(1, 64), seal: kept.seal };
    const otherwise = (await registerJob(engine, hostPrincipal, sealed))._unsafeUnwrapErr();
    expect(otherwise).toMatchObject({ type: 'plan_outdated', changed: ['document'] });
    (await registerJob(engine, hostPrincipal, { ...sealed, ...flags }))._unsafeUnwrap();
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
  type World = ReturnType<typeof fakeCluster>;
  const planned = async ({ engine }: World, job: JobInput) =>
    (await planJob(engine, hostPrincipal, { job }))._unsafeUnwrap().seal;
  const applied = ({ engine }: World, job: JobInput, seal: string) => registerJob(engine, hostPrincipal, { job, seal });
  const next = serviceJob('web', { Priority: 60 });

  async function worldOfWeb(): Promise<World> {
    const cluster = fakeCluster();
    await cluster.addNode('n1');
    (await registerJob(cluster.engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
    (await registerJob(cluster.engine, hostPrincipal, { job: serviceJob('other') }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    return cluster;
  }

  it('is applied as it was made, once', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    const seal = await planned(cluster, serviceJob('web'));
    (await applied(cluster, serviceJob('web'), seal))._unsafeUnwrap();
    const again = await applied(cluster, serviceJob('web'), seal);
    expect(again._unsafeUnwrapErr()).toMatchObject({ type: 'plan_outdated', changed: expect.arrayContaining(['job']) });
  });

  const changes: readonly [string, string[], (cluster: World) => Promise<unknown>][] = [
    ['the job', ['job'], async ({ engine }) => stopJob(engine, hostPrincipal, { jobId: 'web' })],
    ['the nodes', ['nodes'], async ({ engine }) => registerNode(engine, hostPrincipal, nodeFrom('n2'))],
    [
      'what another job takes',
      ['allocations'],
      async (cluster) => {
        await registerJob(cluster.engine, hostPrincipal, { job: serviceJob('third') });
        await cluster.clock.advance(minute);
      },
    ],
  ];
  it.each(changes)('is refused after a change of %s', async (_, changed, change) => {
    await using cluster = await worldOfWeb();
    const seal = await planned(cluster, next);
    await change(cluster);
    const refusal = (await applied(cluster, next, seal))._unsafeUnwrapErr();
    expect(refusal).toMatchObject({ type: 'plan_outdated', changed });
  });

  it('is applied although other jobs have ended and nodes have reported', async () => {
    await using cluster = await worldOfWeb();
    const seal = await planned(cluster, next);
    (await stopJob(cluster.engine, hostPrincipal, { jobId: 'other' }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    (await applied(cluster, next, seal))._unsafeUnwrap();
  });

  it('is for the document and the options that it was made for', async () => {
    await using cluster = await worldOfWeb();
    const seal = await planned(cluster, next);
    const refusal = (await applied(cluster, serviceJob('web', { Priority: 61 }), seal))._unsafeUnwrapErr();
    expect(refusal).toMatchObject({ type: 'plan_outdated', changed: ['document'] });
  });

  it.each(['', 'x', '1.2.3', `1.2.${'a'.repeat(44)}`, `-1.0.${'a'.repeat(43)}=`])(
    'is no other text, such as %j',
    async (seal) => {
      await using cluster = await worldOfWeb();
      expect((await applied(cluster, next, seal))._unsafeUnwrapErr()).toMatchObject({
        type: 'invalid_request',
        field: 'Seal',
      });
    },
  );

  it('of another store is refused', async () => {
    await using cluster = await worldOfWeb();
    const [, job, digest] = (await planned(cluster, next)).split('.');
    expect((await applied(cluster, next, `999999999.${job}.${digest}`))._unsafeUnwrapErr().type).toBe('plan_outdated');
  });
});
