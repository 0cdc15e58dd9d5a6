import { expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { hostPrincipal } from '../../../src/index.js';
import { engineUnderTest } from './engine-under-test.js';

/** What the notification interface answers as JSON:API, for an engine of its own. */
function server() {
  const handler = createHttpHandler(engineUnderTest(), { authenticate: () => hostPrincipal });
  return async (method: string, target: string, data?: object) => {
    const body = data === undefined ? {} : { body: JSON.stringify({ data }) };
    const response = await handler(requestFrom({ method, target, ...body }));
    return { status: response.status, document: JSON.parse(response.body.toString()) };
  };
}

const attributes = { name: 'net', organization: 'acme' };

it('a stored workspace is answered as the same document that reading it gives', async () => {
  const ask = server();
  const stored = await ask('PUT', '/workspaces/ws-new', { type: 'workspaces', attributes });
  expect(stored.document.data.attributes['created-at']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  expect(stored).toEqual(await ask('GET', '/workspaces/ws-new'));
});

it('faults of workspaces and users point into their documents', async () => {
  const ask = server();
  const wrong = { name: '', 'execution-mode': 'x', 'drift-detection': 'no', url: 'javascript:x' };
  const refused = await ask('PUT', '/workspaces/ws-new', { type: 'workspaces', attributes: wrong });
  expect(refused.status).toBe(422);
  expect(refused.document.errors.map((error: { source: object }) => error.source)).toEqual(
    ['name', 'organization', 'execution-mode', 'drift-detection', 'url'].map((member) => ({
      pointer: `/data/attributes/${member}`,
    })),
  );
  const user = await ask('PUT', '/users/u-1', { type: 'users', attributes: { username: 'u', organization: 'acme' } });
  expect(user.document.errors[0].source).toEqual({ pointer: '/data/attributes/email' });
});

it('an event that notifies nobody is answered with the reasons', async () => {
  const ask = server();
  await ask('PUT', '/workspaces/ws-new', { type: 'workspaces', attributes });
  const configuration = { 'destination-type': 'email', name: 'mail', triggers: ['run:errored'] };
  const created = await ask('POST', '/workspaces/ws-new/notification-configurations', {
    type: 'notification-configuration',
    attributes: configuration,
  });
  const sent = await ask('POST', '/workspaces/ws-new/notification-events', {
    type: 'notification-events',
    attributes: { trigger: 'run:created', run_id: 'run-1', speculative: true },
  });
  expect(sent.document.data.relationships.deliveries.data).toEqual([]);
  expect(sent.document.data.attributes).toEqual({
    trigger: 'run:created',
    repeated: false,
    backlog: 0,
    explanations: [
      {
        'configuration-id': created.document.data.id,
        name: 'mail',
        fires: false,
        obstacles: ['speculative_run', 'disabled', 'trigger_off', 'no_recipients'],
      },
    ],
  });
});

it('an event is the same resource in its list and by itself', async () => {
  const ask = server();
  await ask('PUT', '/workspaces/ws-new', { type: 'workspaces', attributes });
  const event = { trigger: 'run:created', run_id: 'run-1' };
  await ask('POST', '/workspaces/ws-new/notification-events', { type: 'notification-events', attributes: event });
  const [listed] = (await ask('GET', '/workspaces/ws-new/notification-events')).document.data;
  const { data } = (await ask('GET', `/notification-events/${listed.id}`)).document;
  expect(data).toMatchObject({ ...listed, type: 'notification-events' });
});

it('a filter that cannot be read is named as the parameter that it came in', async () => {
  const ask = server();
  await ask('PUT', '/workspaces/ws-new', { type: 'workspaces', attributes });
  const refused = await ask('GET', '/workspaces/ws-new/notification-events?filter[expression]=((');
  expect(refused).toMatchObject({
    status: 400,
    document: { errors: [{ source: { parameter: 'filter[expression]' } }] },
  });
});

it.each([
  [
    'PUT',
    '/workspaces/ws-new',
    { type: 'workspaces', attributes: { ...attributes, drift_detection: true } },
    'attributes/drift_detection',
  ],
  [
    'PUT',
    '/workspaces/ws-new',
    { type: 'workspaces', attributes, relationships: { users: {} } },
    'relationships/users',
  ],
  ['PUT', '/workspaces/ws-new', { type: 'users', attributes }, 'type'],
  ['PUT', '/users/u-1', { type: 'users', attributes: { mail: 'a@b.example' } }, 'attributes/mail'],
  [
    'PUT',
    '/notification-event-types/a.b',
    { type: 'notification-event-types', attributes: { schemas: {} } },
    'attributes/schemas',
  ],
  [
    'POST',
    '/workspaces/ws-1/notification-recoveries',
    { type: 'notification-recoveries', attributes: { since: '2026-01-01T00:00:00Z', configuration_id: 'nc-1' } },
    'attributes/configuration_id',
  ],
  [
    'POST',
    '/workspaces/ws-1/notification-recoveries/actions/count',
    { type: 'notification-recoveries', attributes: { since: '2026-01-01T00:00:00Z', trigers: 'x' } },
    'attributes/trigers',
  ],
  [
    'POST',
    '/notification-configurations/nc-1/actions/recover',
    { type: 'notification-recoveries', attributes: { since: '2026-01-01T00:00:00Z', 'a/b': 1 } },
    'attributes/a~1b',
  ],
])('%s %s refuses what it would not use', async (method, target, document, pointer) => {
  const ask = server();
  const answer = await ask(method, target, document);
  expect(answer.status).toBe(422);
  expect(answer.document.errors.map((error: { source: object }) => error.source)).toEqual([
    { pointer: `/data/${pointer}` },
  ]);
  expect((await ask('GET', '/workspaces/ws-new')).status).toBe(404);
});

it('names the attribute that was probably meant', async () => {
  const body = { type: 'workspaces', attributes: { ...attributes, 'drift-detecton': true } };
  const { document } = await server()('PUT', '/workspaces/ws-new', body);
  expect(document.errors[0].detail).toMatch(/"drift-detecton" here; did you mean drift-detection\?/);
});

it.each(['2026-01-01T00:00:00', '2026-01-01T00:00Z', '2026-01-01', 'yesterday'])(
  'refuses %j as a moment: it names none, or another one in each time zone',
  async (since) => {
    const ask = server();
    await ask('PUT', '/workspaces/ws-new', { type: 'workspaces', attributes });
    const listed = await ask('GET', `/workspaces/ws-new/notification-events?filter[since]=${since}`);
    expect(listed).toMatchObject({ status: 400, document: { errors: [{ source: { parameter: 'filter[since]' } }] } });
    const body = { type: 'notification-recoveries', attributes: { since } };
    const recovered = await ask('POST', '/workspaces/ws-new/notification-recoveries/actions/count', body);
    expect(recovered.document.errors[0].detail).toMatch(/^since must be a time/);
  },
);

it.each([
  ['trigger', { since: '2026-01-01T00:00:00Z', trigger: 'run:nope' }],
  ['outcome', { since: '2026-01-01T00:00:00Z', outcome: 'lost' }],
  ['status', { since: '2026-01-01T00:00:00Z', status: '6xx' }],
  ['since', { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }],
])('points to the %s of a bulk redelivery, whatever finds the fault', async (member, asked) => {
  const ask = server();
  await ask('PUT', '/workspaces/ws-new', { type: 'workspaces', attributes });
  const body = { type: 'notification-recoveries', attributes: asked };
  for (const action of ['', '/actions/count']) {
    const answer = await ask('POST', `/workspaces/ws-new/notification-recoveries${action}`, body);
    const errors = [{ status: '422', source: { pointer: `/data/attributes/${member}` } }];
    expect(answer).toMatchObject({ status: 422, document: { errors } });
  }
});
