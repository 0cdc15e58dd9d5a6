import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../src/access/principal.js';
import { namespaces } from '../../../src/jobs/namespaces/namespace.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import {
  listNamespaces,
  putNamespace,
  readNamespace,
  removeNamespace,
} from '../../../src/operations/namespaces/namespaces.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { parameterizedJob, serviceJob, type World, world } from '../jobs/world.js';

const put = (w: World, name: string, more: object = {}) => putNamespace(w.engine, hostPrincipal, { name, ...more });
const names = async (w: World, caller: Principal = hostPrincipal, prefix = '') =>
  (await listNamespaces(w.engine, caller, { prefix }))._unsafeUnwrap().value.map(({ Name }) => Name);
const limited: Principal = {
  ...hostPrincipal,
  management: false,
  namespaces: { 'b*': { capabilities: ['read-job'] }, bad: { capabilities: ['deny'] } },
};

describe('namespaces', () => {
  it('always have the default one', async () => {
    const w = world();
    expect(await names(w)).toEqual(['default']);
    await put(w, 'zoo');
    await put(w, 'apps');
    expect(await names(w)).toEqual(['apps', 'default', 'zoo']);
    expect(await names(w, hostPrincipal, 'z')).toEqual(['zoo']);
    await put(w, 'default', { description: 'mine' });
    expect((await readNamespace(w.engine, hostPrincipal, { name: 'default' }))._unsafeUnwrap().value).toMatchObject({
      Description: 'mine',
    });
    expect(await names(w)).toEqual(['apps', 'default', 'zoo']);
  });

  it('are not written again when nothing changed', async () => {
    const w = world();
    expect((await put(w, 'b', { description: 'x' }))._unsafeUnwrap()).toEqual({ index: 2 });
    expect((await put(w, 'b', { description: 'x' }))._unsafeUnwrap()).toEqual({ index: 2 });
    expect((await put(w, 'b', { description: 'y' }))._unsafeUnwrap()).toEqual({ index: 3 });
    expect(await w.rows(namespaces)).toMatchObject([{ CreateIndex: 2, ModifyIndex: 3 }]);
  });

  it('are shown to those who may do anything in them', async () => {
    const w = world();
    for (const name of ['b1', 'bad', 'c']) await put(w, name);
    expect(await names(w, limited)).toEqual(['b1']);
    expect((await readNamespace(w.engine, limited, { name: 'c' }))._unsafeUnwrapErr().type).toBe('permission_denied');
    expect((await readNamespace(w.engine, limited, { name: 'b9' }))._unsafeUnwrap().value).toBeUndefined();
  });

  it.each(['', 'a b', 'a.b', 'a/b', 'ä', '*', 'x'.repeat(129)])('refuse %j as a name', async (name) => {
    const w = world();
    expect((await put(w, name))._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_namespace' });
  });

  it('take a description of 256 characters', async () => {
    const w = world();
    expect((await put(w, 'a', { description: 'x'.repeat(256) })).isOk()).toBe(true);
    expect((await put(w, 'a', { description: 'x'.repeat(257) })).isErr()).toBe(true);
  });

  it('belong to management', async () => {
    const box = world().engine.as(limited).namespaces;
    expect((await box.put('b'))._unsafeUnwrapErr().type).toBe('permission_denied');
    expect((await box.remove('b'))._unsafeUnwrapErr().type).toBe('permission_denied');
  });

  it('go when nothing lives in them', async () => {
    const w = world();
    const remove = async (name: string) =>
      (await removeNamespace(w.engine, hostPrincipal, { name })).match(
        () => 'removed',
        (error) => error.type,
      );
    expect(await remove('default')).toBe('namespace_protected');
    expect(await remove('b')).toBe('namespace_not_found');
    await put(w, 'b');
    await registerJob(w.engine, hostPrincipal, { job: parameterizedJob('p'), namespace: 'b' });
    expect(await remove('b')).toBe('namespace_in_use');
    await stopJob(w.engine, hostPrincipal, { namespace: 'b', jobId: 'p' });
    expect(await remove('b')).toBe('removed');
    expect(await names(w)).toEqual(['default']);
  });

  it('say what they hold in words that clients recognise', async () => {
    const w = world();
    const remove = async () =>
      (await removeNamespace(w.engine, hostPrincipal, { name: 'b' })).match(
        () => 'removed',
        ({ message }) => message,
      );
    await put(w, 'b');
    await registerJob(w.engine, hostPrincipal, { job: serviceJob('web'), namespace: 'b' });
    expect(await remove()).toBe('namespace "b" has non-terminal jobs in regions: [global]');
    await stopJob(w.engine, hostPrincipal, { namespace: 'b', jobId: 'web', purge: true });
    // The job is gone, and its node still ends the task.
    const stopping = {
      ...{ ID: 'a1', Namespace: 'b', JobID: 'web', NodeID: 'n1', TaskGroup: 'g', JobVersion: 0, JobType: 'service' },
      ...{ DesiredStatus: 'stop', EvalID: 'e1', CreateIndex: 1, ModifyIndex: 1 },
      AllocatedResources: { Tasks: {}, TaskLifecycles: {}, Shared: { DiskMB: 300, Networks: null, Ports: null } },
    };
    const write = (ClientStatus: string) =>
      w.engine.storage.write((view) =>
        ok(view.put(allocations, { ...stopping, ClientStatus } as unknown as Allocation)),
      );
    (await write('running'))._unsafeUnwrap();
    expect(await remove()).toBe('namespace "b" has non-terminal allocations in regions: [global]');
    (await write('complete'))._unsafeUnwrap();
    expect(await remove()).toBe('removed');
  });

  it('limit drivers', async () => {
    const w = world();
    const capabilities = {
      EnabledTaskDrivers: ['function'],
      DisabledTaskDrivers: null,
      EnabledNetworkModes: null,
      DisabledNetworkModes: null,
    };
    await put(w, 'b', { capabilities });
    const refused = await registerJob(w.engine, hostPrincipal, { job: serviceJob('web'), namespace: 'b' });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_job' });
  });
});
