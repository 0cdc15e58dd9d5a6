import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ReceivedRequest, type Receiver, startReceiver } from '../../../support/receiver.js';
import { type Answered, type Sent, type Served, startServed } from './served.js';

/*
 * The contract of the notification interface, statement by statement, against a running server with its default names and a
 * receiver over HTTP. Each case names the statement that it checks.
 */

let server: Served;
let receiver: Receiver;
let workspaces = 0;
let workspaceId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServed('--allow-outbound', '127.0.0.1/32', '--no-runner');
  for (const id of ['user-1', 'user-2']) {
    const attributes = { username: id, email: `${id}@example.org`, organization: 'org' };
    await server.ask('PUT', `/users/${id}`, { body: { data: { type: 'users', attributes } } });
  }
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});
beforeEach(async () => {
  receiver.behave('ok');
  workspaces += 1;
  workspaceId = `ws-${workspaces}`;
  const attributes = {
    name: `w${workspaces}`,
    organization: 'org',
    'drift-detection': true,
    'health-assessments': true,
  };
  await server.ask('PUT', `/workspaces/${workspaceId}`, { body: { data: { type: 'workspaces', attributes } } });
});

const generic = (further: object = {}) => ({
  'destination-type': 'generic',
  name: 'hook',
  url: `${receiver.url}/hook`,
  ...further,
});

function documentOf(attributes: object, relationships?: object): Sent {
  const data = { type: 'notification-configuration', attributes, ...(relationships && { relationships }) };
  return { body: { data } };
}

function create(attributes: object, relationships?: object): Promise<Answered> {
  return server.ask(
    'POST',
    `/workspaces/${workspaceId}/notification-configurations`,
    documentOf(attributes, relationships),
  );
}

async function created(attributes: object, relationships?: object): Promise<{ readonly id: string }> {
  const { status, text, json } = await create(attributes, relationships);
  expect([status, text]).toEqual([201, expect.any(String)]);
  return json.data;
}

const show = (id: string) => server.ask('GET', `/notification-configurations/${id}`);
const update = (id: string, attributes: object, relationships?: object) =>
  server.ask('PATCH', `/notification-configurations/${id}`, documentOf(attributes, relationships));
const verify = (id: string) => server.ask('POST', `/notification-configurations/${id}/actions/verify`);

describe('the resource', () => {
  it('has the type in the plural in answers, and all attributes', async () => {
    const { id } = await created(generic());
    const { json } = await show(id);
    expect(json.data).toMatchObject({ id, type: 'notification-configurations' });
    expect(json.data.attributes).toMatchObject({
      'destination-type': 'generic',
      enabled: false,
      name: 'hook',
      token: null,
      triggers: [],
      url: `${receiver.url}/hook`,
      'delivery-responses': [],
    });
  });

  it.each(['generic', 'chat-a', 'chat-b'])('the destination type %s has a url', async (type) => {
    const { json } = await create(generic({ 'destination-type': type }));
    expect(json.data.attributes).toMatchObject({ 'destination-type': type, url: `${receiver.url}/hook` });
    expect((await create({ 'destination-type': type, name: 'without a url' })).status).toBe(422);
  });

  it('the destination type email has users, given as an array or as a relationship', async () => {
    const users = [
      { id: 'user-1', type: 'users' },
      { id: 'user-2', type: 'users' },
    ];
    for (const given of [users, { data: users }]) {
      const { id } = await created({ 'destination-type': 'email', name: 'mail' }, { users: given });
      expect((await show(id)).json.data.relationships.users.data).toEqual(users);
    }
  });

  it('the token is write-only', async () => {
    const made = await create(generic({ token: 'secret-of-hook' }));
    expect(made.json.data.attributes.token).toBeNull();
    expect(made.text).not.toContain('secret-of-hook');
    expect((await create(generic({ token: null }))).status).toBe(201);
  });

  it('a delivery response has the body, code, headers, time, success and url', async () => {
    receiver.behave({ kind: 'answer', status: 201, headers: { 'X-Own': 'a' }, body: 'seen' });
    const { id } = await created(generic({ enabled: true }));
    const [response] = (await show(id)).json.data.attributes['delivery-responses'];
    expect(response).toMatchObject({
      body: 'seen',
      code: '201',
      headers: { 'x-own': ['a'] },
      successful: true,
      url: `${receiver.url}/hook`,
    });
    expect(response['sent-at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  });
});

describe('enablement', () => {
  it('enabled needs a 2xx answer to a verification request, whose answer is stored', async () => {
    const before = receiver.requests.length;
    const { id } = await created(generic({ enabled: true }));
    expect(receiver.requests.length).toBe(before + 1);
    expect((await show(id)).json.data.attributes).toMatchObject({
      enabled: true,
      'delivery-responses': [{ code: '204' }],
    });
  });

  it.each([
    ['no 2xx', { kind: 'answer', status: 500 } as const],
    ['no answer', 'reset' as const],
    ['a redirection', { kind: 'answer', status: 302, headers: { location: '/ok' } } as const],
  ])('%s: 400, and nothing is saved', async (_name, behaviour) => {
    receiver.behave(behaviour);
    expect((await create(generic({ enabled: true }))).status).toBe(400);
    expect((await server.ask('GET', `/workspaces/${workspaceId}/notification-configurations`)).json.data).toEqual([]);
    receiver.behave('ok');
    const { id } = await created(generic());
    receiver.behave(behaviour);
    expect((await update(id, { enabled: true, name: 'changed' })).status).toBe(400);
    expect((await show(id)).json.data.attributes).toMatchObject({ enabled: false, name: 'hook' });
  });

  it('without `enabled` no verification request is sent', async () => {
    const before = receiver.requests.length;
    await created(generic());
    await created(generic({ enabled: false }));
    expect(receiver.requests.length).toBe(before);
  });

  it('verify stores the answer and leaves the state as it is', async () => {
    const { id } = await created(generic());
    const verified = await verify(id);
    expect([verified.status, verified.json.data.type]).toEqual([200, 'notification-configurations']);
    expect(verified.json.data.attributes).toMatchObject({ enabled: false, 'delivery-responses': [{ code: '204' }] });
    receiver.behave({ kind: 'answer', status: 503 });
    expect((await verify(id)).status).toBe(400);
    expect((await show(id)).json.data.attributes.enabled).toBe(false);
  });
});

describe('create', () => {
  it.each(['data', 'type', 'attributes', 'destination-type', 'name', 'url'])('422 without %s', async (missing) => {
    const attributes = Object.fromEntries(Object.entries(generic()).filter(([name]) => name !== missing));
    const data = Object.fromEntries(
      Object.entries({ type: 'notification-configuration', attributes }).filter(([name]) => name !== missing),
    );
    const path = `/workspaces/${workspaceId}/notification-configurations`;
    const { status, json } = await server.ask('POST', path, { body: missing === 'data' ? {} : { data } });
    expect([status, json.errors[0].status]).toEqual([422, '422']);
  });

  it.each([
    ['type', { body: { data: { type: 'other', attributes: {} } } }],
    ['destination-type', documentOf({ name: 'x', 'destination-type': 'pigeon' })],
    ['enabled', documentOf({ name: 'x', 'destination-type': 'email', enabled: 'yes' })],
    ['name', documentOf({ name: 7, 'destination-type': 'email' })],
    ['triggers', documentOf({ name: 'x', 'destination-type': 'email', triggers: 'run:created' })],
    ['unknown trigger', documentOf({ name: 'x', 'destination-type': 'email', triggers: ['run:unknown'] })],
    ['url', documentOf({ name: 'x', 'destination-type': 'generic', url: 'ftp://x' })],
    ['users', documentOf({ name: 'x', 'destination-type': 'email' }, { users: 'ada' })],
  ])('422 for a wrong %s', async (_name, sent) => {
    const { status, json } = await server.ask('POST', `/workspaces/${workspaceId}/notification-configurations`, sent);
    expect([status, json.errors.length > 0]).toEqual([422, true]);
  });

  it('404 for an unknown workspace, and for a token that may not administer it', async () => {
    const path = '/workspaces/ws-none/notification-configurations';
    expect((await server.ask('POST', path, documentOf(generic()))).status).toBe(404);
    const token = await server.tokenWith('submit-job');
    const own = `/workspaces/${workspaceId}/notification-configurations`;
    expect((await server.ask('POST', own, { ...documentOf(generic()), token })).status).toBe(404);
  });

  it('a workspace holds at most 20', async () => {
    for (let n = 0; n < 20; n += 1) await created(generic({ name: `hook ${n}` }));
    const { status, json } = await create(generic());
    expect([status, json.errors[0].detail]).toEqual([400, expect.stringContaining('20')]);
  });
});

describe('list', () => {
  it('is paginated by page[number] and page[size], 20 per page, and not at all without them', async () => {
    for (let n = 0; n < 20; n += 1) await created(generic({ name: `hook ${n}` }));
    const path = `/workspaces/${workspaceId}/notification-configurations`;
    const count = async (query: string) => (await server.ask('GET', path + query)).json.data.length;
    expect(await count('')).toBe(20);
    expect(await count('?page%5Bsize%5D=7')).toBe(7);
    expect(await count('?page[size]=7&page[number]=3')).toBe(6);
    expect(await count('?page%5Bnumber%5D=1')).toBe(20);
    expect(await count('?page%5Bnumber%5D=2')).toBe(0);
  });
});

describe('update', () => {
  it('what is omitted keeps its value', async () => {
    const { id } = await created(generic({ triggers: ['run:created'], token: 'secret' }));
    const changes: readonly object[] = [
      { name: 'renamed' },
      { triggers: ['run:errored'] },
      { url: `${receiver.url}/other` },
      { token: 'other' },
      { enabled: false },
    ];
    let known = (await show(id)).json.data.attributes;
    for (const change of changes) {
      const { status, json } = await update(id, change);
      expect([status, json.data.type]).toEqual([200, 'notification-configurations']);
      const { token: _, ...shown } = change as { token?: string };
      expect(json.data.attributes).toMatchObject({ ...known, ...shown, 'updated-at': expect.any(String) });
      known = json.data.attributes;
      known['updated-at'] = expect.any(String);
    }
  });

  it('with `enabled` true the verification answer is stored', async () => {
    const { id } = await created(generic());
    const { status, json } = await update(id, { enabled: true });
    expect([status, json.data.attributes.enabled]).toEqual([200, true]);
    expect(json.data.attributes['delivery-responses']).toMatchObject([{ code: '204', successful: true }]);
  });

  it('users can be changed', async () => {
    const users = [{ id: 'user-1', type: 'users' }];
    const { id } = await created({ 'destination-type': 'email', name: 'mail' }, { users: { data: users } });
    const others = [{ id: 'user-2', type: 'users' }];
    expect((await update(id, {}, { users: { data: others } })).json.data.relationships.users.data).toEqual(others);
  });

  it('422 for a malformed body, 404 for an unknown configuration or a token without the right', async () => {
    const { id } = await created(generic());
    expect((await update(id, { enabled: 'yes' })).status).toBe(422);
    expect((await update('nc-none', { name: 'x' })).status).toBe(404);
    const token = await server.tokenWith('submit-job');
    for (const [method, path] of [
      ['GET', `/notification-configurations/${id}`],
      ['PATCH', `/notification-configurations/${id}`],
      ['DELETE', `/notification-configurations/${id}`],
      ['POST', `/notification-configurations/${id}/actions/verify`],
      ['GET', `/workspaces/${workspaceId}/notification-configurations`],
    ] as const) {
      const sent = method === 'PATCH' ? documentOf({ name: 'x' }) : {};
      expect((await server.ask(method, path, { ...sent, token })).status, `${method} ${path}`).toBe(404);
      expect((await server.ask(method, path, { ...sent, token: null })).status, `${method} ${path}`).toBe(401);
    }
  });
});

describe('delete', () => {
  it('204 without a body, then 404', async () => {
    const { id } = await created(generic());
    const { status, text } = await server.ask('DELETE', `/notification-configurations/${id}`);
    expect([status, text]).toEqual([204, '']);
    const again = await server.ask('DELETE', `/notification-configurations/${id}`);
    expect([again.status, again.json.errors[0].status]).toEqual([404, '404']);
  });
});

const result = {
  id: 'result-1',
  url: 'https://example.org/results/1',
  succeeded: true,
  all_checks_succeeded: true,
  checks_passed: 1,
  checks_failed: 0,
  checks_errored: 0,
  checks_unknown: 0,
  drifted: true,
  resources_drifted: 2,
  resources_undrifted: 3,
  created_at: '2026-01-02T03:04:05Z',
};

/** Each trigger with what its event has besides, and the kind of its payload. */
const triggers: readonly (readonly [trigger: string, attributes: object, kind: 'run' | 'assessment' | 'workspace'])[] =
  [
    ...['run:created', 'run:planning', 'run:needs_attention', 'run:applying', 'run:completed', 'run:errored'].map(
      (trigger): [string, object, 'run'] => [trigger, { run_id: 'run-1' }, 'run'],
    ),
    ...['assessment:drifted', 'assessment:check_failure', 'assessment:failed'].map(
      (trigger): [string, object, 'assessment'] => [
        trigger,
        { new_assessment_result: result, prior_assessment_result: result },
        'assessment',
      ],
    ),
    ['workspace:auto_destro_reminder', { auto_destroy_at: '2026-01-03T00:00:00Z' }, 'workspace'],
    ['workspace:auto_destroy_run_results', { run_status: 'applied', run_external_id: 'run-1' }, 'workspace'],
  ];

const ofAssessment = [
  'workspace_id',
  'workspace_name',
  'organization_name',
  'new_assessment_result',
  'prior_assessment_result',
];
const members = {
  run: [
    ...['payload_version', 'notification_configuration_id', 'run_url', 'run_id', 'run_message', 'run_created_at'],
    ...['run_created_by', 'workspace_id', 'workspace_name', 'organization_name', 'notifications'],
  ],
  assessment: [
    ...['payload_version', 'notification_configuration_id', 'notification_configuration_url', 'trigger_scope'],
    ...['trigger', 'message', 'details'],
  ],
  workspace: [
    ...['payload_version', 'notification_configuration_id', 'notification_configuration_url', 'trigger_scope'],
    ...['trigger', 'message', 'details'],
  ],
} as const;
const ofWorkspace = [
  ...['auto_destroy_at', 'run_created_at', 'run_status', 'run_external_id', 'run_create_error_message'],
  ...['trigger_type', 'workspace_name', 'organization_name'],
];

describe('events', () => {
  /** The request that an event makes, to a configuration with that one trigger. */
  async function notified(trigger: string, attributes: object): Promise<ReceivedRequest> {
    await created(generic({ triggers: [trigger], enabled: true, token: 'shared secret' }));
    const before = receiver.requests.length;
    const event = { type: 'notification-events', attributes: { trigger, ...attributes } };
    const sent = await server.ask('POST', `/workspaces/${workspaceId}/notification-events`, { body: { data: event } });
    expect([sent.status, sent.text]).toEqual([202, expect.any(String)]);
    return receiver.received(before + 1);
  }

  it.each(triggers)('%s: an HTTP POST with its payload and signature', async (trigger, attributes, kind) => {
    const { method, headers, body } = await notified(trigger, attributes);
    expect(method).toBe('POST');
    const signature = createHmac('sha512', 'shared secret').update(body).digest('hex');
    expect(headers['x-svc-notification-signature']).toBe(signature);
    const payload = JSON.parse(body);
    expect(Object.keys(payload).toSorted()).toEqual([...members[kind]].toSorted());
    if (kind === 'run') {
      expect(payload).toMatchObject({ payload_version: 1, run_id: 'run-1', workspace_id: workspaceId });
      expect(payload.notifications).toHaveLength(1);
      expect(Object.keys(payload.notifications[0]).toSorted()).toEqual(
        ['message', 'trigger', 'run_status', 'run_updated_at', 'run_updated_by'].toSorted(),
      );
      expect(payload.notifications[0].trigger).toBe(trigger);
    } else if (kind === 'assessment') {
      expect(payload).toMatchObject({ payload_version: 2, trigger_scope: 'assessment', trigger });
      expect(Object.keys(payload.details).toSorted()).toEqual([...ofAssessment].toSorted());
      expect(payload.details.new_assessment_result).toEqual(result);
    } else {
      expect(payload).toMatchObject({ payload_version: '2', trigger_scope: 'workspace', trigger });
      expect(Object.keys(payload.details).toSorted()).toEqual([...ofWorkspace].toSorted());
      expect(payload.details.trigger_type).toBe(trigger.endsWith('reminder') ? 'reminder' : 'results');
    }
  });

  it('speculative plans do not notify', async () => {
    await created(generic({ triggers: ['run:created'], enabled: true }));
    const attributes = { trigger: 'run:created', run_id: 'run-1', speculative: true };
    const body = { data: { type: 'notification-events', attributes } };
    const { json } = await server.ask('POST', `/workspaces/${workspaceId}/notification-events`, { body });
    expect(json.data.relationships.deliveries.data).toEqual([]);
  });

  it.each(['chat-a', 'chat-b'])('%s gets a message with attachments, without a signature', async (type) => {
    await created(generic({ 'destination-type': type, triggers: ['run:created'], enabled: true }));
    const before = receiver.requests.length;
    const body = { data: { type: 'notification-events', attributes: { trigger: 'run:created', run_id: 'run-1' } } };
    await server.ask('POST', `/workspaces/${workspaceId}/notification-events`, { body });
    const { headers, body: sent } = await receiver.received(before + 1);
    expect(headers['x-svc-notification-signature']).toBeUndefined();
    expect(JSON.parse(sent).attachments.length).toBeGreaterThan(0);
  });
});

describe('errors', () => {
  it.each([
    ['an unknown path', 'GET', '/notification-configurations/x/nothing', 404],
    ['a method that a path does not have', 'PUT', '/notification-configurations/x', 405],
  ])('%s is a JSON:API error document', async (_name, method, path, status) => {
    const { status: answered, headers, json } = await server.ask(method, path, method === 'GET' ? {} : { body: {} });
    expect([answered, headers.get('content-type')]).toEqual([status, 'application/vnd.api+json']);
    expect(json.errors).toMatchObject([{ status: String(status), detail: expect.stringContaining(path) }]);
  });
});
