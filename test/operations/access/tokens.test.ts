import { describe, expect, it } from 'vitest';
import { tokens } from '../../../src/access/tokens.js';
import { anonymousPrincipal, hostPrincipal, type Principal } from '../../../src/index.js';
import { authenticateToken, tokenAuthenticator } from '../../../src/operations/access/tokens/authenticate-token.js';
import { bootstrapManagementToken } from '../../../src/operations/access/tokens/bootstrap-management-token.js';
import { listTokens, putToken } from '../../../src/operations/access/tokens/put-token.js';
import { removeToken } from '../../../src/operations/access/tokens/save-token.js';
import { engineUnderTest } from '../../adapters/http-server/engine-under-test.js';

const reader: Principal = {
  accessor: 'reader',
  name: 'reader',
  management: false,
  namespaces: { '*': { capabilities: [], policy: 'write' } },
  workspaces: { '*': 'admin' },
};

describe('the token store', () => {
  it('knows a stored token by its secret and never stores the secret', async () => {
    const engine = engineUnderTest();
    const rules = { 'team-*': { capabilities: ['submit-job'] as const, policy: 'read' as const } };
    const issued = await putToken(engine, hostPrincipal, {
      name: 'ci',
      namespaces: rules,
      workspaces: { 'ws-1': 'admin' },
    });
    const { secret, token } = issued._unsafeUnwrap();
    const found = (await authenticateToken(engine, secret))._unsafeUnwrap();
    expect(found).toEqual({
      accessor: token.accessor,
      name: 'ci',
      management: false,
      namespaces: rules,
      workspaces: { 'ws-1': 'admin' },
    });
    const stored = (await engine.storage.read((view) => view.list(tokens).map((row) => row.text)))._unsafeUnwrap();
    expect(stored.join()).not.toContain(secret);
    expect((await authenticateToken(engine, 'another-secret'))._unsafeUnwrap()).toBeUndefined();
    expect((await authenticateToken(engine, ''))._unsafeUnwrap()).toBeUndefined();
  });

  it('replaces a token with the same secret and keeps its accessor', async () => {
    const engine = engineUnderTest();
    const first = (await putToken(engine, hostPrincipal, { secret: 'shared', name: 'one' }))._unsafeUnwrap();
    const second = (
      await putToken(engine, hostPrincipal, { secret: 'shared', name: 'two', management: true })
    )._unsafeUnwrap();
    expect(second.token.accessor).toBe(first.token.accessor);
    expect((await listTokens(engine, hostPrincipal))._unsafeUnwrap()).toEqual([second.token]);
    const index = (await engine.storage.read((view) => view.index))._unsafeUnwrap();
    await putToken(engine, hostPrincipal, { secret: 'shared', name: 'two', management: true });
    expect((await engine.storage.read((view) => view.index))._unsafeUnwrap()).toBe(index);
  });

  it('a token that may do everything is global, also when the host defines it; it stays so', async () => {
    const engine = engineUnderTest();
    const given = { secret: '5b1f0d4e-5a0c-4d57-9a53-4a8f3b9f6a10', name: 'operator', management: true };
    const { token } = (await putToken(engine, hostPrincipal, given))._unsafeUnwrap();
    const client = (await putToken(engine, hostPrincipal, { name: 'ci' }))._unsafeUnwrap().token;
    const box = engine.as(hostPrincipal).tokens;
    const globalOf = async (id: string) => (await box.read(id))._unsafeUnwrap().value?.Global;
    expect([await globalOf(token.accessor), await globalOf(client.accessor)]).toEqual([true, false]);
    const toggled = await box.update(token.accessor, { type: 'management', name: 'operator', global: false });
    expect(toggled._unsafeUnwrapErr()).toMatchObject({ message: expect.stringContaining('toggle global mode') });
    expect((await box.update(token.accessor, { type: 'management', name: 'operator', global: true })).isOk()).toBe(
      true,
    );
  });

  it('refuses a secret that cannot travel in a header', async () => {
    const engine = engineUnderTest();
    for (const secret of ['', 'with blank', 'zweiäugig', 'line\nbreak', 'x'.repeat(257)]) {
      const refused = await putToken(engine, hostPrincipal, { secret, name: 'x' });
      expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'unfit_secret' });
    }
    expect((await listTokens(engine, hostPrincipal))._unsafeUnwrap()).toEqual([]);
  });

  it('is for management callers only', async () => {
    const engine = engineUnderTest();
    for (const caller of [reader, anonymousPrincipal]) {
      const denied = { type: 'permission_denied' };
      expect((await putToken(engine, caller, { name: 'x' }))._unsafeUnwrapErr()).toEqual(denied);
      expect((await listTokens(engine, caller))._unsafeUnwrapErr()).toEqual(denied);
      expect((await engine.as(caller).tokens.remove('x'))._unsafeUnwrapErr()).toEqual(denied);
    }
  });

  it('refuses a removed token at the very next call, also where it is remembered', async () => {
    const engine = engineUnderTest();
    const authenticate = tokenAuthenticator(engine);
    const { secret, token } = (await putToken(engine, hostPrincipal, { name: 'x' }))._unsafeUnwrap();
    const first = (await authenticate(secret))._unsafeUnwrap();
    expect(first?.accessor).toBe(token.accessor);
    expect((await authenticate(secret))._unsafeUnwrap()).toBe(first);
    expect((await removeToken(engine, hostPrincipal, { accessor: token.accessor })).isOk()).toBe(true);
    expect((await authenticate(secret))._unsafeUnwrap()).toBeUndefined();
    expect((await removeToken(engine, hostPrincipal, { accessor: token.accessor }))._unsafeUnwrapErr()).toEqual({
      type: 'token_not_found',
      accessor: token.accessor,
    });
  });

  it('shows changed rights at the very next call', async () => {
    const engine = engineUnderTest();
    const authenticate = tokenAuthenticator(engine);
    await putToken(engine, hostPrincipal, { secret: 'changing', name: 'x', management: true });
    expect((await authenticate('changing'))._unsafeUnwrap()?.management).toBe(true);
    await putToken(engine, hostPrincipal, { secret: 'changing', name: 'x', management: false });
    expect((await authenticate('changing'))._unsafeUnwrap()?.management).toBe(false);
  });
});

describe('the bootstrap token', () => {
  it('is made once', async () => {
    const engine = engineUnderTest();
    const made = await Promise.all([bootstrapManagementToken(engine), bootstrapManagementToken(engine)]);
    const issued = made.map((one) => one._unsafeUnwrap()).filter((one) => one !== undefined);
    expect(issued).toHaveLength(1);
    expect((await authenticateToken(engine, issued[0]?.secret ?? ''))._unsafeUnwrap()?.management).toBe(true);
    expect((await bootstrapManagementToken(engine))._unsafeUnwrap()).toBeUndefined();
  });

  it('is not made where somebody manages already', async () => {
    const engine = engineUnderTest();
    await putToken(engine, hostPrincipal, { secret: 'client', name: 'client' });
    expect((await bootstrapManagementToken(engine))._unsafeUnwrap()).toBeDefined();
    const other = engineUnderTest();
    await putToken(other, hostPrincipal, { secret: 'boss', name: 'boss', management: true });
    expect((await bootstrapManagementToken(other))._unsafeUnwrap()).toBeUndefined();
  });
});
