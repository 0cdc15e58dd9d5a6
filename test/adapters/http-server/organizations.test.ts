import { describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandlerOptions, requestFrom } from '../../../adapters/compat/index.js';
import { type Engine, hostPrincipal, type Principal } from '../../../src/index.js';
import { workspaceUrl } from '../../../src/notifications/payloads/render-payload.js';
import { putUser, putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { engineUnderTest, filledEngine } from './engine-under-test.js';
import { pathValues } from './route-samples.js';

/** A caller with these rights and no others. */
const withRights = (workspaces: Principal['workspaces']): Principal => ({
  ...hostPrincipal,
  accessor: 'user-1',
  management: false,
  workspaces,
});

async function ask(
  engine: Engine,
  caller: Principal,
  target: string,
  { headers = {}, names = 'upstream' }: { headers?: Record<string, string>; names?: HttpHandlerOptions['names'] } = {},
) {
  const handler = createHttpHandler(engine, { authenticate: () => caller, names: names ?? 'upstream' });
  const response = await handler(requestFrom({ target, headers }));
  const text = response.body.toString();
  return { ...response, document: text === '' ? undefined : JSON.parse(text) };
}

/** Two organizations; `ws-a` and `ws-b` are of acme. */
async function twoOrganizations(): Promise<Engine> {
  const engine = engineUnderTest();
  for (const [id, name, organization] of [
    ['ws-b', 'beta', 'acme'],
    ['ws-a', 'alpha', 'acme'],
    ['ws-x', 'alpha', 'other'],
  ] as const) {
    await putWorkspace(engine, hostPrincipal, { id, name, organization, driftDetection: true });
  }
  await putUser(engine, hostPrincipal, {
    id: 'user-1',
    username: 'ada',
    email: 'ada@example.org',
    organization: 'acme',
  });
  return engine;
}

const idsOf = (document: { data: { id: string }[] }): string[] => document.data.map(({ id }) => id);

describe('organizations and workspaces', () => {
  it.each(['admin', 'events'] as const)('are seen by whoever has the right %s on one workspace', async (right) => {
    const engine = await twoOrganizations();
    const caller = withRights({ 'ws-a': right });
    expect(idsOf((await ask(engine, caller, '/organizations')).document)).toEqual(['acme']);
    expect((await ask(engine, caller, '/organizations/acme')).document.data.attributes.name).toBe('acme');
    expect((await ask(engine, caller, '/organizations/acme/entitlement-set')).document.data.attributes.teams).toBe(
      false,
    );
    expect(idsOf((await ask(engine, caller, '/organizations/acme/workspaces')).document)).toEqual(['ws-a']);
    for (const target of ['/workspaces/ws-a', '/organizations/acme/workspaces/alpha']) {
      const { status, document } = await ask(engine, caller, target);
      expect(status).toBe(200);
      expect(document.data).toMatchObject({
        id: 'ws-a',
        type: 'workspaces',
        attributes: { name: 'alpha', 'drift-detection': true, permissions: { 'can-update': right === 'admin' } },
        relationships: { organization: { data: { id: 'acme', type: 'organizations' } } },
      });
      expect(document.data.attributes['created-at']).toMatch(/^\d{4}-\d\d-\d\dT/);
    }
  });

  it('list their users for whoever may name them as recipients', async () => {
    const engine = await twoOrganizations();
    await putUser(engine, hostPrincipal, {
      id: 'user-2',
      username: 'bob',
      email: 'bob@example.org',
      organization: 'acme',
    });
    await putUser(engine, hostPrincipal, {
      id: 'user-3',
      username: 'eve',
      email: 'eve@example.org',
      organization: 'other',
    });
    const caller = withRights({ 'ws-a': 'admin' });
    const path = '/organizations/acme/organization-memberships';
    const found = async (query: string) => (await ask(engine, caller, `${path}${query}`)).document;
    expect(idsOf(await found(''))).toEqual(['user-1', 'user-2']);
    expect(idsOf(await found('?filter[email]=ADA@example.org'))).toEqual(['user-1']);
    expect(idsOf(await found('?filter[email]=bob@example.org,eve@example.org'))).toEqual(['user-2']);
    expect(idsOf(await found('?q=bo'))).toEqual(['user-2']);
    expect(idsOf(await found('?filter[status]=invited'))).toEqual([]);
    expect(await found('?filter[email]=ada@example.org&include=user')).toEqual({
      data: [
        {
          id: 'user-1',
          type: 'organization-memberships',
          attributes: { status: 'active', email: 'ada@example.org' },
          relationships: {
            organization: { data: { id: 'acme', type: 'organizations' } },
            user: { data: { id: 'user-1', type: 'users' } },
            teams: { data: [] },
          },
        },
      ],
      included: [
        {
          id: 'user-1',
          type: 'users',
          attributes: { username: 'ada', email: 'ada@example.org', 'is-service-account': false },
        },
      ],
      links: expect.anything(),
      meta: { pagination: expect.objectContaining({ 'total-count': 1 }) },
    });
    const one = await ask(engine, caller, '/organization-memberships/user-2?include=user');
    expect([one.document.data.id, one.document.included.length]).toEqual(['user-2', 1]);
    expect((await ask(engine, caller, '/organization-memberships/user-3')).status).toBe(404);

    const publisher = withRights({ 'ws-a': 'events', 'ws-x': 'admin' });
    expect((await ask(engine, publisher, path)).status).toBe(404);
    expect((await ask(engine, publisher, '/organization-memberships/user-1')).status).toBe(404);
  });

  it('do not exist for others', async () => {
    const engine = await twoOrganizations();
    const caller = withRights({ 'ws-x': 'admin' });
    for (const target of [
      '/organizations/acme',
      '/organizations/acme/entitlement-set',
      '/organizations/acme/workspaces',
      '/organizations/acme/workspaces/alpha',
      '/workspaces/ws-a',
    ]) {
      const hidden = await ask(engine, caller, target);
      const absent = await ask(await Promise.resolve(engineUnderTest()), hostPrincipal, target);
      expect(hidden.status).toBe(404);
      expect(hidden.body, target).toEqual(absent.body);
    }
    expect(idsOf((await ask(engine, withRights({}), '/organizations')).document)).toEqual([]);
  });

  it('are listed by name, in pages, as they are searched for', async () => {
    const engine = await twoOrganizations();
    const list = async (query: string): Promise<string[]> =>
      idsOf((await ask(engine, hostPrincipal, `/organizations/acme/workspaces${query}`)).document);
    expect(await list('')).toEqual(['ws-a', 'ws-b']);
    expect(await list('?sort=-name')).toEqual(['ws-b', 'ws-a']);
    expect(await list('?search[name]=LPH')).toEqual(['ws-a']);
    expect(await list('?search[name]=none')).toEqual([]);
    for (const [wildcard, found] of [
      ['*', ['ws-a', 'ws-b']],
      ['a*a', ['ws-a']],
      ['*eta', ['ws-b']],
      ['b*', ['ws-b']],
      ['*p*h*', ['ws-a']],
      ['alpha', ['ws-a']],
      ['alph', []],
      ['alpha*a', []],
    ] as const) {
      expect(await list(`?search[wildcard-name]=${wildcard}`), wildcard).toEqual(found);
    }
    for (const query of ['search[tags]=x', 'filter[project][id]=x', 'filter[current-run][status]=x']) {
      expect(await list(`?${query}`), query).toEqual([]);
    }
    const target = '/organizations/acme/workspaces?search[name]=a&page[number]=2&page[size]=1';
    const { document } = await ask(engine, hostPrincipal, target);
    expect(idsOf(document)).toEqual(['ws-b']);
    expect(document.meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 1,
      'prev-page': 1,
      'next-page': null,
      'total-pages': 2,
      'total-count': 2,
    });
    expect(document.links.prev).toContain('search%5Bname%5D=a');
    expect((await ask(engine, hostPrincipal, '/organizations/acme/workspaces?sort=size')).status).toBe(400);
    expect((await ask(engine, hostPrincipal, '/organizations/acme/workspaces?page[size]=0')).status).toBe(400);
    expect(idsOf((await ask(engine, hostPrincipal, '/organizations?q=OTH')).document)).toEqual(['other']);
  });
});

describe('the account', () => {
  it('is a user of the host, a token or the host itself', async () => {
    const engine = await twoOrganizations();
    const account = async (caller: Principal) => (await ask(engine, caller, '/account/details')).document.data;
    expect(await account(withRights({}))).toEqual({
      id: 'user-1',
      type: 'users',
      attributes: { username: 'ada', email: 'ada@example.org', 'is-service-account': false },
    });
    expect(await account({ ...hostPrincipal, accessor: 'a-token', name: 'robot' })).toMatchObject({
      id: 'a-token',
      attributes: { username: 'robot', email: null, 'is-service-account': true },
    });
    expect(await account(hostPrincipal)).toMatchObject({ id: 'host', attributes: { username: 'host' } });
  });
});

describe('the link to a workspace in messages', () => {
  it('leads to its document, and tells nobody else whether it exists', async () => {
    const engine = await twoOrganizations();
    const { publicOrigin } = engine.settings.notifications;
    const linkTo = (name: string) =>
      workspaceUrl(engine.settings.notifications, { id: '', organization: 'acme', name, url: null }).slice(
        publicOrigin.length,
      );
    const admin = withRights({ 'ws-a': 'admin' });
    const follow = async (caller: Principal, name: string) => {
      const { status, headers } = await ask(engine, caller, linkTo(name));
      expect([status, headers[0]]).toEqual([302, 'Location']);
      const end = await ask(engine, caller, headers[1] ?? '');
      return end.status === 200 ? end.document.data.id : end.status;
    };
    expect(await follow(admin, 'alpha')).toBe('ws-a');
    expect(await follow(withRights({}), 'alpha')).toBe(404);
    expect(await follow(admin, 'no such/one')).toBe(404);
  });
});

describe('the upstream names', () => {
  it('make the answer to ping introduce the server', async () => {
    const headers = async (names: HttpHandlerOptions['names']) =>
      (await ask(engineUnderTest(), hostPrincipal, '/ping', { names })).headers.join(' ');
    expect(await headers('upstream')).toMatch(/TFP-API-Version 2\.6 TFP-AppName \S.* X-RateLimit-Limit 30/);
    expect(await headers('neutral')).not.toMatch(/TFP|RateLimit/);
  });

  it('tell clients where the notification interface is', async () => {
    const discovery = async (options: Pick<HttpHandlerOptions, 'names' | 'notificationsPath'>) => {
      const handler = createHttpHandler(engineUnderTest(), { access: 'token', ...options });
      return handler(requestFrom({ target: '/.well-known/terraform.json' }));
    };
    const { status, body } = await discovery({ names: 'upstream', notificationsPath: '/api/v2/' });
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toEqual({
      'modules.v1': '/api/registry/v1/modules/',
      'tfe.v2': '/api/v2/',
      'tfe.v2.1': '/api/v2/',
      'tfe.v2.2': '/api/v2/',
    });
    const below = await discovery({ names: 'upstream', notificationsPath: '/n' });
    expect(JSON.parse(below.body.toString())['tfe.v2']).toBe('/n/');
    expect((await discovery({ names: 'neutral' })).status).toBe(404);
  });

  it('make delivery responses readable for each client', async () => {
    const engine = await filledEngine();
    const target = `/notification-configurations/${pathValues['notification_configuration_id']}`;
    const response = async (further: Parameters<typeof ask>[3]) =>
      (await ask(engine, hostPrincipal, target, further)).document.data.attributes['delivery-responses'][0];
    expect(await response({ names: 'neutral' })).toMatchObject({ successful: true, headers: expect.any(Object) });
    expect(await response({})).toMatchObject({ successful: 'true', headers: expect.any(Object) });
    expect(await response({ headers: { 'user-agent': 'go-tfe' } })).toMatchObject({
      successful: 'true',
      headers: null,
    });
  });
});
