import { describe, expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { aesCipher } from '../../../adapters/node/index.js';
import { tokens } from '../../../src/access/tokens.js';
import {
  allows,
  allowsArea,
  allowsVariable,
  createEngine,
  type Engine,
  hostPrincipal,
  type Principal,
  type TokenDocument,
} from '../../../src/index.js';
import {
  type ListPoliciesInput,
  listPolicies,
  putPolicy,
  readPolicy,
  removePolicy,
} from '../../../src/operations/access/policies.js';
import { type ListRolesInput, listRoles, putRole, readRole, removeRole } from '../../../src/operations/access/roles.js';
import { tokenAuthenticator, workloadCaller } from '../../../src/operations/access/tokens/authenticate-token.js';
import { listTokenStubs } from '../../../src/operations/access/tokens/list-token-stubs.js';
import { putToken } from '../../../src/operations/access/tokens/put-token.js';
import { readToken } from '../../../src/operations/access/tokens/read-token.js';
import { type SaveTokenInput, saveToken } from '../../../src/operations/access/tokens/save-token.js';
import { hour, minute } from '../../../src/shared/duration.js';
import { pagesOf } from '../../support/pages.js';

const start = Date.parse('2030-01-01T00:00:00Z');

function engineAt(sealed = false) {
  const clock = manualClock(start);
  const cipher = aesCipher({ keys: [{ id: 'k', key: new Uint8Array(32) }], current: 'k' });
  const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) };
  return { engine: createEngine(sealed ? { ...ports, cipher } : ports), clock };
}

const rules = (name: string, text: string) => ({ name, rules: text });
const client = (further: Partial<SaveTokenInput> = {}): SaveTokenInput => ({ name: 'ci', type: 'client', ...further });

async function made(engine: Engine, input: SaveTokenInput): Promise<TokenDocument> {
  return (await saveToken(engine, hostPrincipal, input))._unsafeUnwrap();
}

async function caller(engine: Engine, secret: string | undefined): Promise<Principal | undefined> {
  return (await tokenAuthenticator(engine)(secret))._unsafeUnwrap();
}

describe('a token', () => {
  it('follows its policies and roles, at once', async () => {
    const { engine } = engineAt();
    const authenticate = tokenAuthenticator(engine);
    const now = async (secret: string) => (await authenticate(secret))._unsafeUnwrap();
    const { SecretID: secret } = await made(engine, client({ policies: ['reading'] }));
    expect(allows((await now(secret)) as Principal, 'default', ['read-job'])).toBe(false);
    await putPolicy(engine, hostPrincipal, rules('reading', 'namespace "default" { policy = "read" }'));
    const reader = (await now(secret)) as Principal;
    expect(allows(reader, 'default', ['read-job'])).toBe(true);
    // Another token's change leaves the compiled rights alone.
    await made(engine, client({ policies: ['other'] }));
    expect(await now(secret)).toBe(reader);
    await putPolicy(engine, hostPrincipal, rules('reading', 'node { policy = "read" }'));
    expect(allows((await now(secret)) as Principal, 'default', ['read-job'])).toBe(false);
    expect(allowsArea((await now(secret)) as Principal, 'node', 'read')).toBe(true);
    await removePolicy(engine, hostPrincipal, { name: 'reading' });
    expect(allowsArea((await now(secret)) as Principal, 'node', 'read')).toBe(false);

    await putPolicy(engine, hostPrincipal, rules('writing', 'namespace "a*" { policy = "write" }'));
    const role = (
      await putRole(engine, hostPrincipal, { name: 'writers', policies: [{ name: 'writing' }] })
    )._unsafeUnwrap();
    const named = await made(engine, client({ roles: [{ name: 'writers' }, { id: role.ID }] }));
    expect(named).toMatchObject({ Policies: [], Roles: [{ ID: role.ID, Name: 'writers' }] });
    const writer = (await now(named.SecretID)) as Principal;
    expect(allows(writer, 'ab', ['submit-job'])).toBe(true);
    expect((await listRoles(engine, writer))._unsafeUnwrap().value.items).toHaveLength(1);
    await removeRole(engine, hostPrincipal, { id: role.ID });
    expect(allows((await now(named.SecretID)) as Principal, 'ab', ['submit-job'])).toBe(false);
    const after = (await readToken(engine, hostPrincipal, { accessor: named.AccessorID }))._unsafeUnwrap().value;
    expect(after?.Roles).toEqual([]);
  });

  it('is refused from its expiry on, and removed an hour later', async () => {
    const { engine, clock } = engineAt();
    const authenticate = tokenAuthenticator(engine);
    const token = await made(engine, client({ policies: ['p'], lifetime: hour }));
    expect(token).toMatchObject({ ExpirationTTL: '1h0m0s', ExpirationTime: '2030-01-01T01:00:00.000Z' });
    await clock.advance(hour - 1);
    expect((await authenticate(token.SecretID))._unsafeUnwrap()).toBeDefined();
    await clock.advance(1);
    expect((await authenticate(token.SecretID))._unsafeUnwrap()).toBeUndefined();
    engine.start();
    const stored = async () => (await engine.storage.read((view) => view.list(tokens).length))._unsafeUnwrap();
    await clock.advance(30 * minute);
    expect(await stored()).toBe(1);
    await clock.advance(40 * minute);
    expect(await stored()).toBe(0);
    await engine.stop();
  });

  it.each<[string, Partial<SaveTokenInput>, string]>([
    ['no type', { type: '' }, 'token type must be client or management'],
    ['nothing granted', {}, 'client token missing policies or roles'],
    [
      'a management token with policies',
      { type: 'management', policies: ['p'] },
      'management token cannot be associated',
    ],
    ['a long name', { policies: ['p'], name: 'n'.repeat(257) }, 'token name too long'],
    ['a short life', { policies: ['p'], lifetime: 1000 }, 'less than 1m0s in the future (was 1s)'],
    ['a long life', { policies: ['p'], lifetime: 25 * hour }, 'more than 24h0m0s in the future (was 25h0m0s)'],
    ['a negative life', { policies: ['p'], lifetime: -hour }, "TTL '-1h0m0s' should not be negative"],
    ['a past expiry', { policies: ['p'], expiresAt: start - 1 }, 'before create time'],
    ['an unknown role', { roles: [{ name: 'nothing' }] }, 'cannot find role nothing'],
    ['an unknown token', { accessor: 'x', policies: ['p'] }, 'cannot find token x'],
  ])('is not made: %s', async (_what, further, message) => {
    const { engine } = engineAt();
    const refused = (await saveToken(engine, hostPrincipal, client(further)))._unsafeUnwrapErr();
    expect(refused).toMatchObject({ type: 'invalid_access' });
    expect((refused as { message: string }).message).toContain(message);
  });

  it('keeps its secret, scope and expiry when it is changed', async () => {
    const { engine } = engineAt(true);
    const token = await made(engine, client({ policies: ['a', 'a'], lifetime: hour }));
    expect(token.Policies).toEqual(['a', 'a']);
    const expiry = { lifetime: hour, expiresAt: start + hour };
    const changed = await made(engine, { accessor: token.AccessorID, name: 'x', type: 'management', ...expiry });
    expect(changed).toMatchObject({ SecretID: token.SecretID, Policies: null, Type: 'management', Name: 'x' });
    expect(changed.ModifyIndex).toBeGreaterThan(changed.CreateIndex);
    for (const odd of [{ global: true, ...expiry }, { lifetime: 2 * hour, expiresAt: start + hour }, {}]) {
      const input = { accessor: token.AccessorID, name: 'x', type: 'management', ...odd };
      expect((await saveToken(engine, hostPrincipal, input)).isErr()).toBe(true);
    }
  });

  it('shows its secret to its holder and to management, and nowhere is it stored in the clear', async () => {
    for (const sealed of [false, true]) {
      const { engine } = engineAt(sealed);
      const token = await made(engine, client({ policies: ['p'] }));
      const own = (await caller(engine, token.SecretID)) as Principal;
      const read = async (who: Principal) =>
        (await readToken(engine, who, { accessor: token.AccessorID }))._unsafeUnwrap().value?.SecretID;
      expect(await read(own)).toBe(token.SecretID);
      expect(await read(hostPrincipal)).toBe(sealed ? token.SecretID : '');
      const texts = (await engine.storage.read((view) => view.list(tokens).map(({ text }) => text)))._unsafeUnwrap();
      expect(texts.join()).not.toContain(token.SecretID);
      expect(JSON.stringify(own)).not.toContain(token.SecretID);
      const stubs = (await listTokenStubs(engine, hostPrincipal))._unsafeUnwrap();
      expect(JSON.stringify(stubs)).not.toContain(token.SecretID);
    }
  });

  it('is listed in pages, by creation or by accessor, with a filter', async () => {
    const { engine } = engineAt();
    for (let n = 0; n < 7; n += 1) await made(engine, client({ name: `t${n % 2}`, policies: ['p'] }));
    for (const [prefix, reverse] of [
      ['', false],
      ['', true],
      ['0', false],
      ['0', true],
    ] as const) {
      const all = (await listTokenStubs(engine, hostPrincipal, { prefix, reverse }))._unsafeUnwrap().value.items;
      const paged: string[] = [];
      let nextToken = '';
      do {
        const page = (
          await listTokenStubs(engine, hostPrincipal, { prefix, reverse, perPage: 2, nextToken })
        )._unsafeUnwrap().value;
        expect(page.items.length).toBeLessThanOrEqual(2);
        paged.push(...page.items.map(({ AccessorID }) => AccessorID));
        nextToken = page.nextToken;
      } while (nextToken !== '');
      expect(paged).toEqual(all.map(({ AccessorID }) => AccessorID));
      expect(new Set(paged).size).toBe(paged.length);
    }
    const filtered = await listTokenStubs(engine, hostPrincipal, { filter: 'Name == "t1"' });
    expect(filtered._unsafeUnwrap().value.items).toHaveLength(3);
    for (const filter of ['Name ==', 'Colour == 1']) {
      expect((await listTokenStubs(engine, hostPrincipal, { filter })).isErr()).toBe(true);
    }
  });
});

describe('policies and roles', () => {
  it('are refused when they make no sense', async () => {
    const { engine } = engineAt();
    for (const policy of [
      rules('with blanks', ''),
      rules('', ''),
      rules('p', 'namespace {'),
      { ...rules('p', ''), description: 'd'.repeat(257) },
      { ...rules('p', ''), job: { Namespace: '', JobID: 'j', Group: '', Task: '' } },
    ]) {
      expect((await putPolicy(engine, hostPrincipal, policy))._unsafeUnwrapErr()).toMatchObject({
        type: 'invalid_access',
      });
    }
    await putPolicy(engine, hostPrincipal, rules('p', ''));
    const role = { name: 'r', policies: [{ name: 'p' }] };
    const first = (await putRole(engine, hostPrincipal, role))._unsafeUnwrap();
    for (const odd of [
      role,
      { ...role, name: 'a b' },
      { ...role, name: 'x', policies: [] },
      { ...role, name: 'x', policies: [{ name: 'q' }] },
      { ...role, name: 'x', id: 'nothing' },
    ]) {
      expect((await putRole(engine, hostPrincipal, odd))._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_access' });
    }
    const renamed = (await putRole(engine, hostPrincipal, { ...role, id: first.ID, name: 'renamed' }))._unsafeUnwrap();
    expect(renamed).toMatchObject({ CreateIndex: first.CreateIndex, Name: 'renamed' });
  });

  it('are read by those who have them, and by management', async () => {
    const { engine } = engineAt();
    for (const name of ['own', 'other', 'anonymous'])
      await putPolicy(engine, hostPrincipal, rules(name, 'node { policy = "read" }'));
    const role = (await putRole(engine, hostPrincipal, { name: 'r', policies: [{ name: 'other' }] }))._unsafeUnwrap();
    const { SecretID } = await made(engine, client({ policies: ['own'] }));
    const ada = (await caller(engine, SecretID)) as Principal;
    const nobody = (await caller(engine, undefined)) as Principal;
    const names = async (who: Principal) =>
      (await listPolicies(engine, who))._unsafeUnwrap().value.items.map(({ Name }) => Name);
    expect(await names(hostPrincipal)).toEqual(['anonymous', 'other', 'own']);
    expect(await names(ada)).toEqual(['own']);
    expect(await names(nobody)).toEqual(['anonymous']);
    expect(allowsArea(nobody, 'node', 'read')).toBe(true);
    expect((await readPolicy(engine, ada, { name: 'own' }))._unsafeUnwrap().value?.Name).toBe('own');
    const denied = { type: 'permission_denied' };
    expect((await readPolicy(engine, ada, { name: 'other' }))._unsafeUnwrapErr()).toEqual(denied);
    expect((await readPolicy(engine, ada, { name: 'nothing' }))._unsafeUnwrapErr()).toEqual(denied);
    for (const reference of [{ id: role.ID }, { name: 'r' }, { name: 'nothing' }, { id: 'nothing' }]) {
      expect((await readRole(engine, ada, reference))._unsafeUnwrapErr()).toEqual(denied);
    }
    expect((await readRole(engine, hostPrincipal, { name: 'nothing' }))._unsafeUnwrap().value).toBeUndefined();
    const calls = engine.as(ada);
    for (const attempt of [
      calls.policies.put('own', { rules: '' }),
      calls.policies.remove('own'),
      calls.roles.create({ name: 'x', policies: [{ name: 'own' }] }),
      calls.roles.remove(role.ID),
      calls.tokens.create({ name: 'ci', type: 'management' }),
      putToken(engine, ada, { name: 'x' }),
      calls.tokens.remove(ada.accessor),
      calls.tokens.list(),
    ]) {
      expect((await attempt)._unsafeUnwrapErr()).toEqual(denied);
    }
  });

  it('are listed in pages, in either order, with a filter', async () => {
    const { engine } = engineAt();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await putPolicy(engine, hostPrincipal, { ...rules(name, ''), description: name < 'd' ? 'early' : 'late' });
      await putRole(engine, hostPrincipal, { name, policies: [{ name }] });
    }
    const { SecretID } = await made(engine, client({ policies: ['a', 'c', 'e'] }));
    const ada = (await caller(engine, SecretID)) as Principal;
    const policyPages = (who: Principal, request: ListPoliciesInput) =>
      pagesOf(
        (page) => listPolicies(engine, who, { ...request, ...page }),
        ({ Name }) => Name,
      );
    expect(await policyPages(hostPrincipal, { perPage: 2 })).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(await policyPages(hostPrincipal, { perPage: 2, reverse: true })).toEqual([['e', 'd'], ['c', 'b'], ['a']]);
    // What a caller does not see and what the filter drops are not counted: only the last page is short.
    expect(await policyPages(ada, { perPage: 2 })).toEqual([['a', 'c'], ['e']]);
    expect(await policyPages(ada, { perPage: 1, filter: 'Description == "early"' })).toEqual([['a'], ['c']]);
    expect(await policyPages(hostPrincipal, { perPage: 4, nextToken: 'bb' })).toEqual([['c', 'd', 'e']]);
    const rolePages = (request: ListRolesInput) =>
      pagesOf(
        (page) => listRoles(engine, hostPrincipal, { ...request, ...page }),
        ({ ID }) => ID,
      );
    const ids = (await rolePages({})).flat();
    expect(ids).toEqual([...ids].sort());
    expect(await rolePages({ perPage: 3 })).toEqual([ids.slice(0, 3), ids.slice(3)]);
    expect((await rolePages({ perPage: 2, reverse: true })).flat()).toEqual([...ids].reverse());
    expect((await rolePages({ filter: 'Policies is not empty and (Name == "b" or Name == "d")' })).flat()).toHaveLength(
      2,
    );
    for (const filter of ['Name ==', 'Colour == 1']) {
      expect((await listPolicies(engine, hostPrincipal, { filter })).isErr()).toBe(true);
      expect((await listRoles(engine, hostPrincipal, { filter })).isErr()).toBe(true);
    }
  });

  it('for a job speak for its tasks', async () => {
    const { engine } = engineAt();
    const text = (path: string) => `namespace "default" { variables { path "${path}" { capabilities = ["read"] } } }`;
    const job = { Namespace: 'default', JobID: 'web', Group: '', Task: '' };
    await putPolicy(engine, hostPrincipal, { ...rules('job', text('shared/web')), job });
    await putPolicy(engine, hostPrincipal, { ...rules('group', text('shared/app')), job: { ...job, Group: 'app' } });
    await putPolicy(engine, hostPrincipal, { ...rules('all', text('shared/all')), job: { ...job, JobID: '' } });
    await putPolicy(engine, hostPrincipal, { ...rules('other', text('shared/db')), job: { ...job, JobID: 'db' } });
    const workload = { namespace: 'default', jobId: 'web', group: 'app', task: 'main' };
    const main = (await workloadCaller(engine, workload))._unsafeUnwrap();
    const side = (await workloadCaller(engine, { ...workload, group: 'side' }))._unsafeUnwrap();
    const reads = (who: Principal, path: string) => allowsVariable(who, { namespace: 'default', path }, 'read');
    expect(['web', 'app', 'all', 'db'].map((name) => reads(main, `shared/${name}`))).toEqual([true, true, true, false]);
    expect(['web', 'app', 'all', 'db'].map((name) => reads(side, `shared/${name}`))).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(reads(main, 'nomad/jobs/web/app/main')).toBe(true);
    expect(allows(main, 'default', ['read-job'])).toBe(false);
  });
});

describe('rules that are tried', () => {
  const text = 'namespace "default" { policy = "read" }';
  const tryRules = (call: string, written = text) =>
    engineAt().engine.as(hostPrincipal).policies.try({ rules: written, call });

  it('say whether a call is allowed, by which rule, and what it requires', async () => {
    expect((await tryRules('jobs.read'))._unsafeUnwrap()).toMatchObject({
      ...{ allowed: true, rule: { block: 'namespace', name: 'default' }, isCheckedByOperation: false },
      requires: 'Requires one of the capabilities read-job in the namespace of the request.',
    });
    expect((await tryRules('jobs.register'))._unsafeUnwrap()).toMatchObject({
      allowed: false,
      isCheckedByOperation: true,
    });
    expect((await tryRules('tokens.list', ''))._unsafeUnwrap()).toMatchObject({ allowed: false });
  });

  it.each([
    ['jobs.red', text, ['there is no call "jobs.red": name one such as jobs.stop']],
    ['', text, ['there is no call "": name one such as jobs.stop']],
    ['constructor.name', text, ['there is no call "constructor.name": name one such as jobs.stop']],
    ['jobs.toString', text, ['there is no call "jobs.toString": name one such as jobs.stop']],
    ['jobs.read.more', text, ['there is no call "jobs.read.more": name one such as jobs.stop']],
    ['jobs.read', 'namespace {', [expect.stringMatching(/^failed to parse rules: at line 1, column 12: /)]],
    ['none', 'node', [expect.stringContaining('failed to parse'), expect.stringContaining('there is no call')]],
  ])('are refused: %s %s', async (call, written, errors) => {
    expect((await tryRules(call, written))._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_access', errors });
  });
});
