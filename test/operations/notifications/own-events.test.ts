import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { hostPrincipal } from '../../../src/access/principal.js';
import { configurations } from '../../../src/notifications/configurations/configuration.js';
import { deliveries } from '../../../src/notifications/delivery/delivery.js';
import { eventTypes } from '../../../src/notifications/events/event-type.js';
import { signBody } from '../../../src/notifications/signature.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import { showNotificationConfiguration } from '../../../src/operations/notifications/configurations/list-notification-configurations.js';
import { updateNotificationConfiguration } from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import {
  listEventTypes,
  putEventType,
  removeEventType,
  showEventType,
} from '../../../src/operations/notifications/events/event-types.js';
import {
  explainEvent,
  sendNotificationEvent,
} from '../../../src/operations/notifications/events/send-notification-event.js';
import { listDeliveries, showDelivery } from '../../../src/operations/notifications/log/list-deliveries.js';

import type { Transform } from '../../../src/ports/transform.js';
import { hour, second } from '../../../src/shared/duration.js';
import {
  create,
  destination,
  must,
  mustFail,
  owner,
  publish,
  stranger,
  type TestEngine,
  testEngine,
  workspaceId,
} from './engine-setup.js';

const orderType = {
  name: 'order.created',
  description: 'An order was placed',
  schema: {
    type: 'object',
    required: ['id', 'total'],
    properties: { id: { type: 'string' }, total: { type: 'number', minimum: 0 }, country: { type: 'string' } },
  },
  example: { id: 'o-1', total: 12.5, country: 'de' },
};

async function world(delivery: object = { eventTypes: ['order.*'] }, attributes = {}) {
  const engine = await testEngine();
  await must(putEventType(engine, hostPrincipal, orderType));
  const { id } = await must(create(engine, { triggers: [], delivery, ...attributes }));
  engine.delivery.clear();
  engine.start();
  const send = (event: object) =>
    sendNotificationEvent(engine, owner, { workspaceId, attributes: { trigger: 'order.created', ...event } });
  return { engine, id, send };
}

describe('own event types', () => {
  test('an event is checked by the schema, signed and delivered in an envelope', async () => {
    const { engine, send } = await world();
    await must(send({ message: 'Order o-1', data: orderType.example, occurred_at: '2026-01-02T03:04:05.000Z' }));
    await engine.clock.advance(second);
    const [request] = engine.delivery.requests;
    expect(JSON.parse(request?.body ?? '')).toEqual({
      type: 'order.created',
      timestamp: '2026-01-02T03:04:05.000Z',
      message: 'Order o-1',
      workspace_id: workspaceId,
      workspace_name: 'net',
      organization_name: 'acme',
      data: orderType.example,
    });
    expect(request?.headers['x-svc-notification-signature']).toMatch(/^[0-9a-f]{128}$/);
    await engine.stop();
  });

  test('a type can send its data alone', async () => {
    const { engine, send } = await world();
    await must(putEventType(engine, hostPrincipal, { ...orderType, body: 'data' }));
    await must(send({ data: { id: 'o-2', total: 1 } }));
    await engine.clock.advance(second);
    expect(engine.delivery.requests.map(({ body }) => JSON.parse(body))).toEqual([{ id: 'o-2', total: 1 }]);
    await engine.stop();
  });

  test.each([
    [{ data: { id: 1, total: -1 } }, ['/data/attributes/data/id', '/data/attributes/data/total']],
    [{ data: [] }, ['/data/attributes/data']],
    [
      { data: { id: 'a', total: 1 }, message: 1, order_key: {} },
      ['/data/attributes/message', '/data/attributes/order_key'],
    ],
    [{ data: { id: 'a', total: 1 }, occurred_at: 'soon' }, ['/data/attributes/occurred_at']],
    [{ data: { id: 'a', total: 1 }, occurred_at: '2' }, ['/data/attributes/occurred_at']],
    [{ data: { id: 'a', total: 1 }, occurred_at: '2026-01-02T03:04:05' }, ['/data/attributes/occurred_at']],
    [{ data: { id: 'a', total: 1 }, idempotency_key: '' }, ['/data/attributes/idempotency_key']],
    [{ trigger: 'order.unknown' }, ['/data/attributes/trigger']],
  ])('%j is refused', async (event, pointers) => {
    const { engine, send } = await world();
    const error = await mustFail(send(event));
    expect(error.type === 'invalid_attributes' && error.faults.map(({ pointer }) => pointer)).toEqual(pointers);
    await engine.stop();
  });

  test('a repeated report is one event, whenever it comes; another one with its key is a conflict', async () => {
    const { engine, send } = await world();
    const event = { data: { id: 'o-1', total: 1 }, idempotency_key: 'k' };
    const first = await must(send(event));
    await engine.clock.advance(hour);
    expect(await must(send(event))).toMatchObject({ eventId: first.eventId, repeated: true });
    expect((await mustFail(send({ ...event, data: { id: 'o-1', total: 2 } }))).type).toBe('conflict');
    await engine.stop();
  });

  test.each([
    ['was removed', (engine: TestEngine) => must(removeEventType(engine, hostPrincipal, { name: orderType.name }))],
    [
      'has another schema',
      async (engine: TestEngine) => {
        const changed = { ...orderType, schema: { required: ['more'] }, example: null };
        await must(putEventType(engine, hostPrincipal, changed));
      },
    ],
  ])('a repeated report is the first event when its type %s', async (_name, change) => {
    const { engine, send } = await world();
    const event = { data: { id: 'o-1', total: 1 }, idempotency_key: 'k' };
    const first = await must(send(event));
    await change(engine);
    expect(await must(send(event))).toMatchObject({ eventId: first.eventId, repeated: true });
    const value = { kind: 'custom', trigger: orderType.name, message: orderType.name, data: event.data } as const;
    const asValue = { ...value, orderKey: null, occurredAt: null as never, body: 'envelope' } as const;
    const given = { workspaceId, event: asValue, idempotencyKey: 'k' };
    expect(await must(sendNotificationEvent(engine, owner, given))).toMatchObject({ repeated: true });
    expect((await mustFail(send({ ...event, data: { id: 'o-2', total: 1 } }))).type).toBe('conflict');
    expect((await mustFail(send({ ...event, idempotency_key: 'other' }))).type).toBe('invalid_attributes');
    expect((await mustFail(send({ ...event, trigger: 'order.unknown' }))).type).toBe('invalid_attributes');
    await engine.stop();
  });

  test('events with one key keep their order', async () => {
    const { engine, send, id } = await world();
    let answers = 0;
    engine.delivery.answer(() => ({ status: ++answers === 1 ? 503 : 204 }));
    for (const total of [1, 2, 3]) await must(send({ data: { id: 'o-1', total }, order_key: 'o-1' }));
    await engine.clock.advance(hour);
    expect(engine.delivery.requests.map(({ body }) => JSON.parse(body).data.total)).toEqual([1, 1, 2, 3]);
    const { items } = await must(listDeliveries(engine, owner, { configurationId: id, trigger: 'order.created' }));
    expect(items.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered', 'delivered']);
    await engine.stop();
  });

  test('chat and mail tell what the data has', async () => {
    const { engine, send } = await world();
    for (const destinationType of ['chat-a', 'chat-b']) {
      await must(
        create(engine, {
          destinationType,
          url: `${destination}/${destinationType}`,
          triggers: [],
          delivery: { eventTypes: ['order.*'] },
        }),
      );
    }
    await must(
      create(engine, {
        destinationType: 'email',
        users: ['user-1'],
        triggers: [],
        delivery: { eventTypes: ['order.*'] },
      }),
    );
    engine.delivery.clear();
    await must(
      send({ message: 'New order', data: { id: 'o-1', total: 3, url: 'https://shop.example/o-1', country: 'de' } }),
    );
    await engine.clock.advance(second);
    const texts = [
      ...engine.delivery.requests.map(({ body }) => body),
      ...engine.mailer.messages.map(({ text }) => text),
    ];
    expect(texts).toHaveLength(4);
    for (const text of texts) for (const part of ['New order', 'o-1', 'de']) expect(text).toContain(part);
    await engine.stop();
  });

  test('have no other attributes: what stands beside the data would be lost, and a misspelled order key too', async () => {
    const { engine, send } = await world();
    const failed = await mustFail(send({ data: orderType.example, orderKey: 'o-1', 'a/b~': 1, unused: undefined }));
    expect(failed).toMatchObject({
      type: 'invalid_attributes',
      faults: [
        { pointer: '/data/attributes/orderKey', message: expect.stringContaining('order_key') },
        { pointer: '/data/attributes/a~1b~0' },
      ],
    });
    await engine.stop();
  });

  test('are registered by management callers alone, with schemas that can be used', async () => {
    const { engine } = await world();
    const failed = async (input: object) => mustFail(putEventType(engine, hostPrincipal, { ...orderType, ...input }));
    const { name: orderName, ...type } = orderType;
    const refused = await mustFail(engine.as(stranger).eventTypes.put(orderName, type));
    expect(refused.type).toBe('permission_denied');
    for (const input of [
      { name: 'a b' },
      { name: 'run:errored' },
      { name: 'signalbox.mine' },
      { schema: { type: 'nonsense' } },
      { schema: { type: 'object', properties: { a: { pattern: '(', type: 'string' } } } },
      { example: { id: 1 } },
      { body: 'all' },
    ]) {
      expect(await failed(input), JSON.stringify(input)).toMatchObject({ type: 'invalid_attributes' });
    }
    expect((await must(listEventTypes(engine, owner))).map(({ name }) => name)).toEqual(['order.created']);
    await must(removeEventType(engine, hostPrincipal, { name: 'order.created' }));
    expect((await mustFail(removeEventType(engine, hostPrincipal, { name: 'order.created' }))).type).toBe('not_found');
    await engine.stop();
  });
});

test('a pattern that cannot be matched in linear time is refused; a type stored with one goes on, and tells so', async () => {
  const { engine, send } = await world();
  const schema = { properties: { id: { type: 'string', pattern: '^(?!x)' }, total: { minimum: 1 } } };
  const pointer = '/data/attributes/schema/properties/id/pattern';
  expect(await mustFail(putEventType(engine, hostPrincipal, { ...orderType, schema }))).toMatchObject({
    type: 'invalid_attributes',
    faults: [{ pointer, message: expect.stringContaining('looks ahead') }],
  });
  expect((await must(showEventType(engine, owner, { name: 'order.created' }))).problems).toEqual([]);

  const stored = { ...orderType, schema, body: 'envelope', createdAt: 0, updatedAt: 0 } as const;
  await must(engine.storage.write((view) => ok(view.put(eventTypes, stored))));
  const [listed] = await must(listEventTypes(engine, owner));
  expect(listed).toMatchObject({ name: 'order.created', problems: [{ pointer }] });
  await must(send({ data: { id: 'x', total: 1 } }));
  expect(await mustFail(send({ data: { id: 'x', total: 0 } }))).toMatchObject({
    faults: [{ pointer: '/data/attributes/data/total' }],
  });
  await engine.stop();
});

describe('schemas and data that are nested or refer to themselves without end', () => {
  type Json = Record<string, unknown>;
  const nested = (levels: number, member: (inner: Json) => Json): Json => {
    let value: Json = {};
    for (let level = 0; level < levels; level += 1) value = member(value);
    return value;
  };

  test('are faults of the schema', async () => {
    const { engine } = await world();
    const circular: Record<string, unknown> = { type: 'object' };
    circular['properties'] = { a: circular };
    for (const schema of [
      nested(20_000, (inner) => ({ anyOf: [inner] })),
      nested(900, (inner) => ({ type: 'object', properties: { a: inner } })),
      circular,
      { $ref: '#' },
    ]) {
      const failed = await mustFail(putEventType(engine, hostPrincipal, { ...orderType, schema }));
      expect(failed).toMatchObject({ type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/schema' }] });
    }
    const example = { circular };
    const failed = await mustFail(putEventType(engine, hostPrincipal, { ...orderType, schema: null, example }));
    expect(failed).toMatchObject({ type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/example' }] });
    await engine.stop();
  });

  test('are faults of the data', async () => {
    const { engine } = await world();
    const circular: Record<string, unknown> = {};
    circular['next'] = circular;
    const list = { type: 'object', properties: { next: { $ref: '#' } } };
    for (const [schema, data] of [
      [list, nested(9000, (next) => ({ next }))],
      [list, nested(100_000, (next) => ({ next }))],
      [list, circular],
      [{}, { amount: 1n }],
    ] as const) {
      await must(putEventType(engine, hostPrincipal, { name: 'list.made', schema }));
      const attributes = { trigger: 'list.made', data };
      const failed = await mustFail(sendNotificationEvent(engine, owner, { workspaceId, attributes }));
      expect(failed).toMatchObject({ type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/data' }] });
    }
    await engine.stop();
  });
});

describe('subscriptions', () => {
  test.each([
    [{ eventTypes: ['order.created'] }, []],
    [{ eventTypes: ['*'] }, []],
    [{ eventTypes: ['order.*'], filter: 'data.country == "de"' }, []],
    [{ eventTypes: ['order.*'], filter: 'data.country == "fr"' }, ['filtered']],
    [{ eventTypes: ['order.*'], filter: 'data.customer.name == "x"' }, ['filtered']],
    [{ eventTypes: ['invoice.*'] }, ['trigger_off']],
    [{ filter: 'trigger matches "^order"' }, ['trigger_off']],
  ])('%j', async (delivery, obstacles) => {
    const { engine, id } = await world(delivery);
    const attributes = { trigger: 'order.created', data: orderType.example };
    const [explained] = await must(explainEvent(engine, owner, { workspaceId, attributes }));
    expect(explained).toMatchObject({ configurationId: id, obstacles, fires: obstacles.length === 0 });
    await engine.stop();
  });

  test('a trigger can be named in each of its spellings', async () => {
    const { engine } = await world({ eventTypes: ['workspace:auto_destroy_rem*'] });
    const attributes = { trigger: 'workspace:auto_destro_reminder' };
    expect(await must(explainEvent(engine, owner, { workspaceId, attributes }))).toMatchObject([{ fires: true }]);
    await engine.stop();
  });

  test('globs and filters take the events of the interface, too', async () => {
    const { engine } = await world({ eventTypes: ['run:*'], filter: 'run_id matches "^run-a"' });
    await publish(engine, { runId: 'run-a1', trigger: 'run:planning' });
    await publish(engine, { runId: 'run-b1', trigger: 'run:planning' });
    await engine.clock.advance(second);
    expect(engine.delivery.requests.map(({ body }) => JSON.parse(body).run_id)).toEqual(['run-a1']);
    await engine.stop();
  });
});

describe('the types that the service itself reports', () => {
  test('can be explained, with the data that they would have', async () => {
    const { engine, id } = await world({ eventTypes: ['signalbox.*'], filter: 'data.tone == "failure"' });
    const obstaclesOf = async (data: object) => {
      const attributes = { trigger: 'signalbox.destination.failing', data };
      return (await must(explainEvent(engine, owner, { workspaceId, attributes })))[0]?.obstacles;
    };
    expect(await obstaclesOf({ tone: 'failure' })).toEqual([]);
    expect(await obstaclesOf({ tone: 'success' })).toEqual(['filtered']);
    expect(await obstaclesOf({ tone: 'failure', configuration_id: id })).toEqual(['about_itself']);
    await engine.stop();
  });

  test('cannot be sent', async () => {
    const { engine, send } = await world();
    const refused = await mustFail(send({ trigger: 'signalbox.destination.failing' }));
    expect(refused).toMatchObject({ faults: [{ message: expect.stringContaining('emitted by Signalbox only') }] });
    await engine.stop();
  });

  test.each([
    ['signalbox.*', 'signalbox.destination.failing'],
    ['run:*', 'run:created'],
    ['order.*', 'order.created'],
  ])('the pattern %s is refused with a type to name instead', async (trigger, example) => {
    const { engine, send } = await world();
    const message = `trigger is a pattern; name one event type, such as ${example}`;
    const faults = [{ pointer: '/data/attributes/trigger', message }];
    expect(await mustFail(send({ trigger }))).toMatchObject({ faults });
    const explained = explainEvent(engine, owner, { workspaceId, attributes: { trigger } });
    expect(await mustFail(explained)).toMatchObject({ faults });
    await engine.stop();
  });
});

describe('the options of a configuration', () => {
  const delivery = {
    headers: { 'X-Team': 'ops' },
    authentication: { type: 'bearer', token: 'very-secret' },
    timeout: 2000,
    rate: 1,
  } as const;

  test('go with verifications and deliveries, and their secrets are not shown', async () => {
    const engine = await testEngine();
    const view = await must(create(engine, { delivery }));
    expect(engine.delivery.requests[0]?.headers).toMatchObject({
      'x-team': 'ops',
      authorization: 'Bearer very-secret',
    });
    engine.delivery.clear();
    engine.start();
    for (let n = 0; n < 3; n += 1) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(100);
    expect(engine.delivery.requests).toHaveLength(1);
    await engine.clock.advance(2 * second);
    expect(engine.delivery.requests).toHaveLength(3);
    for (const request of engine.delivery.requests) {
      expect(request).toMatchObject({
        totalTimeout: 2000,
        headers: { 'x-team': 'ops', authorization: 'Bearer very-secret' },
      });
    }
    expect(view.delivery).toEqual({
      rate: 1,
      timeout: 2000,
      concurrency: null,
      eventTypes: [],
      filter: null,
      rotationGrace: null,
      headerNames: ['x-team'],
      authentication: 'bearer',
      clientCertificate: false,
    });
    expect(JSON.stringify(view)).not.toContain('very-secret');
    await engine.stop();
  });

  test('a change keeps what it leaves out; null goes back to nothing', async () => {
    const engine = await testEngine();
    const { id: configurationId } = await must(create(engine, { delivery }));
    const change = (attributes: object) =>
      must(updateNotificationConfiguration(engine, owner, { configurationId, attributes }));
    engine.delivery.clear();
    expect((await change({ delivery: { rate: 2 } })).delivery).toMatchObject({
      rate: 2,
      timeout: 2000,
      authentication: 'bearer',
    });
    expect(engine.delivery.requests).toHaveLength(0);
    await change({ delivery: { authentication: null } });
    expect(engine.delivery.requests.map(({ headers }) => headers['authorization'])).toEqual([undefined]);
    expect((await change({ delivery: null })).delivery).toBeNull();
    expect((await must(showNotificationConfiguration(engine, owner, { configurationId }))).delivery).toBeNull();
  });

  test('a fault names the member', async () => {
    const engine = await testEngine();
    const attributes = {
      destinationType: 'generic',
      name: 'a',
      url: destination,
      delivery: { timeout: 1, filter: '(' },
    };
    const error = await mustFail(createNotificationConfiguration(engine, owner, { workspaceId, attributes }));
    expect(error.type === 'invalid_attributes' && error.faults.map(({ pointer }) => pointer)).toEqual([
      '/data/attributes/delivery/timeout',
      '/data/attributes/delivery/filter',
    ]);
  });
});

test('what a receiver sends back of its secrets is not stored, nor told', async () => {
  const engine = await testEngine();
  const url = 'https://hooks.example.net/services/T000/B000/pathsecret';
  engine.delivery.answer((request) => ({
    status: 200,
    headers: { location: [request.url] },
    body: JSON.stringify([request.url, 'token"secret', request.headers]),
  }));
  const { id } = await must(
    create(engine, {
      url,
      token: 'token"secret',
      delivery: {
        headers: { 'x-api-key': 'headersecret' },
        authentication: { type: 'bearer', token: 'bearersecret' },
      },
    }),
  );
  const verified = await must(engine.storage.read((view) => view.list(configurations, {})[0]?.record.response));
  expect(JSON.stringify({ ...verified, url: '' })).not.toMatch(/(path|header|bearer)secret|token.{1,6}secret/);
  engine.delivery.answer((request) => ({
    status: 307,
    headers: { location: [`${request.url}?again`], 'x-echo': [request.headers['authorization'] ?? ''] },
    body: JSON.stringify({ to: request.url, token: 'token"secret', headers: request.headers, date: 'now' }),
  }));
  engine.start();
  await publish(engine);
  await engine.clock.advance(second);
  const [delivery] = (await must(listDeliveries(engine, owner, { configurationId: id }))).items;
  const shown = await must(showDelivery(engine, owner, { deliveryId: delivery?.id ?? '' }));
  expect(shown.attempts[0]?.headers['location']).toEqual(['https://hooks.example.net[redacted]?again']);
  expect(JSON.parse(shown.attempts[0]?.body ?? '')).toMatchObject({ token: '[redacted]', date: 'now' });
  const stored = await must(engine.storage.read((view) => JSON.stringify(view.list(deliveries, {}))));
  for (const text of [stored, JSON.stringify(shown)])
    expect(text).not.toMatch(/(path|header|bearer)secret|token.{1,6}secret/);
  await engine.stop();
});

describe('the transform of the host', () => {
  const transform: Transform = ({ body, trigger, event }) => {
    if (event.message === 'throw') throw new Error('no');
    return JSON.stringify({ changed: trigger, was: JSON.parse(body).run_id });
  };
  test('makes the body that is signed and sent, and that the log shows', async () => {
    const engine = await testEngine({}, { ports: { transform } });
    await must(create(engine));
    expect(JSON.parse(engine.delivery.requests[0]?.body ?? '')).not.toHaveProperty('changed');
    engine.delivery.clear();
    engine.start();
    const { deliveryIds } = await publish(engine, { runId: 'run-a' });
    await engine.clock.advance(second);
    const [request] = engine.delivery.requests;
    expect(request?.body).toBe('{"changed":"run:errored","was":"run-a"}');
    expect(request?.headers['x-svc-notification-signature']).toBe(signBody('s3cr3t-token', request?.body ?? ''));
    const shown = await must(showDelivery(engine, owner, { deliveryId: deliveryIds[0] ?? '' }));
    expect(shown.body).toBe(request?.body);
    await engine.stop();
  });
  test('that is async by mistake, and rejects, holds the message back', async () => {
    const mistaken = (async () => Promise.reject(new Error('no'))) as unknown as Transform;
    const engine = await testEngine({}, { ports: { transform: mistaken } });
    const { id: configurationId } = await must(create(engine));
    engine.start();
    await publish(engine, { runId: 'run-a' });
    await engine.clock.advance(second);
    const { items } = await must(listDeliveries(engine, owner, { configurationId }));
    expect(items).toMatchObject([{ outcome: 'pending', lastFailure: 'transform_failed' }]);
    await engine.stop();
  });
  test('that throws holds the message back and nothing else', async () => {
    const engine = await testEngine({}, { ports: { transform } });
    const { id: configurationId } = await must(create(engine));
    engine.delivery.clear();
    engine.start();
    for (let n = 0; n < 8; n += 1) await publish(engine, { runId: `run-${n}`, message: 'throw' });
    await publish(engine, { runId: 'good' });
    await engine.clock.advance(second);
    expect(engine.delivery.requests.map(({ body }) => JSON.parse(body).was)).toEqual(['good']);
    const { items } = await must(listDeliveries(engine, owner, { configurationId, outcome: 'pending' }));
    expect(items).toHaveLength(8);
    expect(items[0]?.lastFailure).toBe('transform_failed');
    await engine.stop();
  });
});
