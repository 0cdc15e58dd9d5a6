import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/access/principal.js';
import { createEngine } from '../../../../src/engine.js';
import type { JobInput } from '../../../../src/jobs/document/job-input.js';
import { jobs } from '../../../../src/jobs/job-record.js';
import { quotaUsages } from '../../../../src/jobs/namespaces/namespace.js';
import { dispatchJob } from '../../../../src/operations/jobs/dispatch-job.js';
import { planJob } from '../../../../src/operations/jobs/registration/plan-job.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { scaleJob } from '../../../../src/operations/jobs/scale-job.js';
import { stopJob } from '../../../../src/operations/jobs/stop-job.js';
import { group, parameterizedJob, serviceJob, type World, world } from '../world.js';

const small = { Resources: { CPU: 100, MemoryMB: 50 } };
const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' }, ...small };
const sized = (id: string, count = 1): { job: JobInput } => ({
  job: serviceJob(id, { TaskGroups: [group({ Count: count, Tasks: [task] })] }) as JobInput,
});
const parent = { job: parameterizedJob('p', {}, { TaskGroups: [group({ Tasks: [task] })] }) as JobInput };
const limited = (quota: object): World => world({ jobs: { quotas: [{ namespace: 'default', ...quota }] } });
const register = (w: World, input: { job: JobInput }) => registerJob(w.engine, hostPrincipal, input);
const exceeded = (asked: string) => ({
  type: 'quota_exceeded',
  namespace: 'default',
  message: `the quota of namespace "default" would be exceeded: ${asked}`,
});

describe('the quota of a namespace', () => {
  it('refuses a job too many, and takes it when another one has stopped', async () => {
    const w = limited({ jobs: 2 });
    await register(w, sized('a'));
    await register(w, sized('b'));
    expect((await register(w, sized('c')))._unsafeUnwrapErr()).toEqual(exceeded('3 jobs of 2'));
    expect((await w.rows(jobs)).map(({ ID }) => ID)).toEqual(['a', 'b']);
    expect((await register(w, sized('a', 2))).isOk()).toBe(true);
    await stopJob(w.engine, hostPrincipal, { jobId: 'b' });
    expect((await register(w, sized('c'))).isOk()).toBe(true);
    await stopJob(w.engine, hostPrincipal, { jobId: 'c', purge: true });
    expect((await register(w, sized('d'))).isOk()).toBe(true);
  });

  it('counts what all instances ask for, in registrations, scalings and plans', async () => {
    const w = limited({ cpu: 500, memoryMB: 1000 });
    await register(w, sized('a', 3));
    expect((await register(w, sized('b', 3)))._unsafeUnwrapErr()).toEqual(exceeded('600 MHz of CPU of 500'));
    expect((await planJob(w.engine, hostPrincipal, sized('b', 3)))._unsafeUnwrapErr()).toEqual(
      exceeded('600 MHz of CPU of 500'),
    );
    expect((await planJob(w.engine, hostPrincipal, sized('b', 2))).isOk()).toBe(true);
    const scale = { jobId: 'a', group: 'g', message: 'm' };
    expect((await scaleJob(w.engine, hostPrincipal, { ...scale, count: 6 }))._unsafeUnwrapErr()).toEqual(
      exceeded('600 MHz of CPU of 500'),
    );
    expect((await scaleJob(w.engine, hostPrincipal, { ...scale, count: 5 })).isOk()).toBe(true);
    expect((await scaleJob(w.engine, hostPrincipal, { ...scale, count: 1 })).isOk()).toBe(true);
    expect(await w.rows(quotaUsages)).toEqual([{ Namespace: 'default', Jobs: 1, CPU: 100, Cores: 0, MemoryMB: 50 }]);
  });

  it('is each namespace’s own', async () => {
    const w = world({ jobs: { quotas: [{ namespace: 'other', jobs: 0 }] } });
    await register(w, sized('a'));
    expect((await register(w, sized('b'))).isOk()).toBe(true);
  });

  it('counts runs for their resources, and lets so many of them be dispatched in a minute', async () => {
    const w = limited({ cpu: 300, dispatchesPerMinute: 2 });
    await register(w, parent);
    const dispatch = (idempotencyToken: string) =>
      dispatchJob(w.engine, hostPrincipal, { jobId: 'p', idempotencyToken });
    expect((await dispatch('1')).isOk()).toBe(true);
    expect((await dispatch('2')).isOk()).toBe(true);
    expect((await dispatch('3'))._unsafeUnwrapErr()).toMatchObject({
      type: 'dispatch_rate_exceeded',
      message: 'namespace "default" may dispatch 2 times a minute; try again in 30 s',
    });
    expect((await dispatch('1')).isOk()).toBe(true);
    await w.clock.advance(30_000);
    expect((await dispatch('3')).isOk()).toBe(true);
    await w.clock.advance(60_000);
    expect((await dispatch('4'))._unsafeUnwrapErr()).toEqual(exceeded('400 MHz of CPU of 300'));
  });

  it('counts anew what was written without quotas', async () => {
    const w = limited({ jobs: 3 });
    await register(w, sized('a'));
    const { storage, clock, ids, delivery } = w.engine;
    const free = createEngine({ storage, clock, ids, delivery });
    for (const id of ['b', 'c']) await registerJob(free, hostPrincipal, sized(id));
    expect((await register(w, sized('d')))._unsafeUnwrapErr()).toEqual(exceeded('4 jobs of 3'));
    await stopJob(w.engine, hostPrincipal, { jobId: 'a' });
    expect(await w.rows(quotaUsages)).toEqual([{ Namespace: 'default', Jobs: 2, CPU: 200, Cores: 0, MemoryMB: 100 }]);
    expect((await register(w, sized('d'))).isOk()).toBe(true);
  });

  it('keeps no books where there are no quotas', async () => {
    const w = world();
    await register(w, sized('a'));
    expect(await w.rows(quotaUsages)).toEqual([]);
  });
});
