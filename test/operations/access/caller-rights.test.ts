import { describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../src/index.js';
import { world } from '../jobs/world.js';

const nobody: Principal = { ...hostPrincipal, accessor: 'a', name: 'ada', management: false };

describe('the rights of the caller', () => {
  it('are everything for the host, by the names that exist', async () => {
    const { engine } = world();
    const host = engine.as(hostPrincipal);
    (await host.namespaces.put('prod'))._unsafeUnwrap();
    (await host.workspaces.put('ws-1', { name: 'team', organization: 'org' }))._unsafeUnwrap();
    const { value } = (await host.tokens.rights())._unsafeUnwrap();
    expect(value).toMatchObject({
      ...{ name: '', accessor: '', management: true, isCut: false, region: 'global', now: '2026-01-01T00:00:00.000Z' },
      namespaces: { default: expect.arrayContaining(['read-job', 'alloc-exec']), prod: expect.any(Array) },
      areas: { node: 'write', agent: 'write', operator: 'write' },
      nodePools: { all: ['read', 'write', 'delete'], default: ['read', 'write', 'delete'] },
      workspaces: { 'ws-1': { name: 'team', right: 'admin' } },
    });
    expect(value.namespaces['default']).not.toContain('deny');
  });

  it('are what calls check: namespaces without any are left out', async () => {
    const { engine } = world();
    (await engine.as(hostPrincipal).namespaces.put('prod'))._unsafeUnwrap();
    (await engine.as(hostPrincipal).namespaces.put('secret'))._unsafeUnwrap();
    const caller: Principal = {
      ...nobody,
      namespaces: { 'p*': { capabilities: ['read-job'] }, secret: { capabilities: ['read-job', 'deny'] } },
      areas: { node: 'read' },
    };
    const { value } = (await engine.as(caller).tokens.rights())._unsafeUnwrap();
    expect(value).toMatchObject({ name: 'ada', accessor: 'a', management: false });
    expect([value.namespaces, value.areas, value.nodePools, value.workspaces]).toEqual([
      { prod: ['read-job'] },
      { node: 'read' },
      {},
      {},
    ]);
  });

  it('are answered anew when a policy changes', async () => {
    const { engine } = world();
    const host = engine.as(hostPrincipal);
    (await host.policies.put('team', { rules: 'namespace "default" { capabilities = ["read-job"] }' }))._unsafeUnwrap();
    const token = (await host.tokens.create({ name: 'ada', type: 'client', policies: ['team'] }))._unsafeUnwrap();
    const caller = (await engine.host.authenticate(token.value.SecretID))._unsafeUnwrap() ?? nobody;
    const { rights } = engine.as(caller).tokens;
    const before = (await rights())._unsafeUnwrap();
    expect(before.value.namespaces).toEqual({ default: ['read-job'] });
    const waiting = rights({ index: before.index, wait: '1m' });
    (
      await host.policies.put('team', { rules: 'namespace "default" { capabilities = ["list-jobs"] }' })
    )._unsafeUnwrap();
    expect((await waiting)._unsafeUnwrap().value.namespaces).toEqual({ default: ['list-jobs'] });
  });
});
