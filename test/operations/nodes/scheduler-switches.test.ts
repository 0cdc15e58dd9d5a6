import { describe, expect, it } from 'vitest';
import { type Client, hostPrincipal, type Principal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import {
  readSchedulerConfiguration,
  setSchedulerConfiguration,
} from '../../../src/operations/nodes/scheduler-configuration.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { minute } from '../../../src/shared/duration.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { parameterizedJob, serviceJob, world } from '../jobs/world.js';

const owner: Principal = {
  ...hostPrincipal,
  management: false,
  namespaces: { default: { capabilities: ['submit-job', 'dispatch-job', 'scale-job', 'read-job'] } },
};

describe('RejectJobRegistration', () => {
  const requests = {
    register: (box) => box.jobs.register(serviceJob('web', { Priority: 70 })),
    revert: (box) => box.jobs.revert('web', 0),
    scale: (box) => box.jobs.scale('web', 'g', { count: 3, message: 'more' }),
    dispatch: (box) => box.jobs.dispatch('param'),
  } satisfies Record<string, (box: Client) => unknown>;

  it.each(Object.entries(requests))('refuses to %s for a caller that is not management', async (_, request) => {
    const { engine, rows } = world();
    for (const job of [serviceJob('web', { Priority: 60 }), serviceJob('web'), parameterizedJob('param')]) {
      (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
    }
    const set = async (RejectJobRegistration: boolean) =>
      (await setSchedulerConfiguration(engine, hostPrincipal, { RejectJobRegistration }))._unsafeUnwrap();
    await set(true);
    const before = await rows(evaluations);
    expect((await request(engine.as(owner)))._unsafeUnwrapErr()).toEqual({
      type: 'registrations_disabled',
      message: 'job registration, dispatch, and scale are disabled by the scheduler configuration',
    });
    expect(await rows(evaluations)).toEqual(before);
    expect((await request(engine.as({ ...owner, namespaces: {} })))._unsafeUnwrapErr().type).toBe('permission_denied');
    expect((await request(engine.as(hostPrincipal))).isOk()).toBe(true);
    await set(false);
    if (request !== requests.revert) expect((await request(engine.as(owner))).isOk()).toBe(true);
  });

  it('is told before the faults of a document', async () => {
    const { engine } = world();
    const configuration = { RejectJobRegistration: true };
    (await setSchedulerConfiguration(engine, hostPrincipal, configuration))._unsafeUnwrap();
    const faulty = { job: serviceJob('web', { Priority: 700 }) };
    expect((await registerJob(engine, owner, faulty))._unsafeUnwrapErr().type).toBe('registrations_disabled');
    expect((await registerJob(engine, hostPrincipal, faulty))._unsafeUnwrapErr().type).toBe('invalid_job');
  });
});

describe('PauseEvalBroker', () => {
  it('holds evaluations and loses none; they are worked on as soon as it ends', async () => {
    await using cluster = fakeCluster();
    const pause = async (PauseEvalBroker: boolean) => {
      const configuration = { PauseEvalBroker };
      (await setSchedulerConfiguration(cluster.engine, hostPrincipal, configuration))._unsafeUnwrap();
    };
    const register = async (id: string) =>
      (
        await registerJob(cluster.engine, hostPrincipal, { job: serviceJob(id, { Datacenters: ['*'] }) })
      )._unsafeUnwrap();
    const statuses = async () => (await cluster.rows(evaluations)).map(({ Status }) => Status);

    // One that waits for room when the pause begins, one that comes during it, and the room comes during it too.
    await register('early');
    await cluster.clock.advance(minute);
    expect((await statuses()).sort()).toEqual(['blocked', 'complete']);
    await pause(true);
    await register('late');
    await cluster.addNode('n1');
    await cluster.clock.advance(10 * minute);
    expect((await statuses()).filter((status) => status === 'complete')).toHaveLength(1);
    expect(await cluster.rows(allocations)).toEqual([]);

    await pause(false);
    await cluster.clock.advance(0);
    expect((await cluster.rows(allocations)).map(({ JobID }) => JobID).sort()).toEqual(['early', 'late']);
    expect(new Set(await statuses())).toEqual(new Set(['complete']));
  });
});

describe('preemption', () => {
  it('begins for work that waits when it is allowed, also behind a job of a type for which it is not', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    const register = async (ID: string, Type: 'service' | 'batch', Priority: number): Promise<void> => {
      const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } };
      const sized = { ...task, Resources: { CPU: 900, MemoryMB: 100 } };
      const job = { ID, Type, Priority, Datacenters: ['*'], TaskGroups: [{ Name: 'g', Tasks: [sized] }] };
      (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
      await cluster.clock.advance(minute);
    };
    const live = async (): Promise<string[]> =>
      (await cluster.rows(allocations))
        .filter(({ DesiredStatus }) => DesiredStatus === 'run')
        .map(({ JobID }) => JobID);
    await register('filler', 'batch', 10);
    await register('server', 'service', 80);
    await register('sums', 'batch', 70);
    expect(await live()).toEqual(['filler']);
    const configuration = { PreemptionConfig: { BatchSchedulerEnabled: true } };
    (await setSchedulerConfiguration(cluster.engine, hostPrincipal, configuration))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect(await live()).toEqual(['sums']);
  });
});

describe('a check of the index', () => {
  it('replaces the configuration only at the index of its last change, and says so', async () => {
    const { engine } = world();
    const set = async (checkIndex: number, SchedulerAlgorithm: string) =>
      (await setSchedulerConfiguration(engine, hostPrincipal, { SchedulerAlgorithm, checkIndex }))._unsafeUnwrap();
    const stored = async () => (await readSchedulerConfiguration(engine, hostPrincipal))._unsafeUnwrap().value;

    const first = await set(1, 'spread');
    expect(first.updated).toBe(true);
    expect(await set(1, 'binpack')).toEqual({ updated: false, index: first.index });
    expect(await set(first.index + 1, 'binpack')).toEqual({ updated: false, index: first.index });
    expect(await stored()).toMatchObject({ SchedulerAlgorithm: 'spread', ModifyIndex: first.index });
    expect((await set(first.index, 'binpack')).updated).toBe(true);
    expect(await stored()).toMatchObject({ SchedulerAlgorithm: 'binpack', CreateIndex: 1 });
  });
});
