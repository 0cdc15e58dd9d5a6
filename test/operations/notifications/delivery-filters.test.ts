import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEngine } from '../../../src/engine.js';
import { deleteNotificationConfiguration } from '../../../src/operations/notifications/configurations/pause-and-delete-configuration.js';
import { updateNotificationConfiguration } from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import {
  listDeliveries,
  listDeliveriesOfWorkspace,
  showDelivery,
} from '../../../src/operations/notifications/log/list-deliveries.js';
import {
  countRecoverable,
  countRecoverableOfDocument,
  listBulkRedeliveries,
  showBulkRedelivery,
  startBulkRedelivery,
  startBulkRedeliveryOfDocument,
} from '../../../src/operations/notifications/log/recoveries.js';
import { minute, second } from '../../../src/shared/duration.js';
import { create, must, mustFail, owner, publish, stranger, testEngine, workspaceId } from './engine-setup.js';

const settings = { notifications: { delivery: { breaker: { failures: 0 }, retry: { generic: [] } } } };
const urls = { one: 'https://one.example.net/tf', other: 'https://other.example.net/tf' };

/** Each run was answered with its own status, by both configurations. */
async function answered(...statuses: readonly (number | null)[]) {
  const engine = await testEngine(settings);
  const ids = [];
  for (const [name, url] of Object.entries(urls)) ids.push((await must(create(engine, { name, url }))).id);
  engine.start();
  const times: number[] = [];
  for (const status of statuses) {
    engine.delivery.answer(status === null ? { error: 'connect_failed' } : { status });
    times.push(engine.clock.now());
    await publish(engine, { runId: `run-${status}`, trigger: status === 204 ? 'run:completed' : 'run:errored' });
    await engine.clock.advance(minute);
  }
  const [one = '', other = ''] = ids;
  const ofWorkspace = (request = {}) => must(listDeliveriesOfWorkspace(engine, owner, { workspaceId, ...request }));
  return { engine, one, other, times, ofWorkspace };
}

test('the deliveries of a workspace are those of its configurations, newest first, in pages', async () => {
  const { engine, one, other, ofWorkspace } = await answered(204, 503, 410);
  const all = await ofWorkspace();
  expect(all.items.map(({ lastStatus }) => lastStatus)).toEqual([410, 410, 503, 503, 204, 204]);
  expect(new Set(all.items.map(({ configurationId }) => configurationId))).toEqual(new Set([one, other]));
  expect(all).toMatchObject({ nextPage: null, whole: true });
  const pages = [];
  for (let page: number | null = 1; page !== null; ) {
    const { items, nextPage } = await ofWorkspace({ pageNumber: page, pageSize: 4 });
    pages.push(...items);
    page = nextPage;
  }
  expect(pages).toEqual(all.items);
  expect((await ofWorkspace({ outcome: 'dead' })).items).toEqual(all.items.slice(0, 4));
  const ofOne = await ofWorkspace({ configuration: one });
  expect(ofOne).toEqual(await must(listDeliveries(engine, owner, { configurationId: one })));
  expect(ofOne.items).toHaveLength(3);
  await engine.stop();
});

test('a page takes as many entries of each configuration as are newer, also when one has many more', async () => {
  const { engine, one } = await answered();
  for (let n = 0; n < 150; n += 1) await publish(engine, { runId: `run-${n}` });
  await create(engine, { name: 'third', url: 'https://third.example.net' });
  for (let n = 0; n < 20; n += 1) await publish(engine, { runId: `late-${n}` });
  await engine.clock.advance(minute);
  const list = (request: object) => must(listDeliveriesOfWorkspace(engine, owner, { workspaceId, ...request }));
  const found = [];
  for (let pageNumber = 1; pageNumber <= 4; pageNumber += 1)
    found.push(...(await list({ pageNumber, pageSize: 100 })).items);
  expect(found).toHaveLength(150 * 2 + 20 * 3);
  expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
  const ids = found.map(({ eventId }) => eventId);
  expect(ids).toEqual(ids.toSorted().toReversed());
  expect((await list({ configuration: one, pageSize: 100 })).items).toHaveLength(100);
  await engine.stop();
});

test('are filtered by status, time and trigger', async () => {
  const { engine, one, times, ofWorkspace } = await answered(204, 503, null, 500);
  const found = async (request: object) => {
    const { items } = await ofWorkspace(request);
    const own = await must(listDeliveries(engine, owner, { configurationId: one, ...request }));
    expect(items.filter(({ configurationId }) => configurationId === one)).toEqual(own.items);
    return own.items.map(({ lastStatus }) => lastStatus);
  };
  expect(await found({ status: '503' })).toEqual([503]);
  expect(await found({ status: '5xx' })).toEqual([500, 503]);
  expect(await found({ status: '2xx' })).toEqual([204]);
  expect(await found({ status: 'none' })).toEqual([null]);
  expect(await found({ status: '404' })).toEqual([]);
  expect(await found({ since: times[1], until: times[3] })).toEqual([null, 503]);
  expect(await found({ since: times[1], outcome: 'dead' })).toEqual([500, null, 503]);
  expect(await found({ trigger: 'run:completed' })).toEqual([204]);
  await engine.stop();
});

test('a filter that cannot be meant is refused, with the parameter, and a stranger sees nothing', async () => {
  const { engine, one } = await answered();
  const wrong: readonly (readonly [string, object])[] = [
    ...['', '0', '99', '600', '5', 'xx', '5XX', '503 ', 'None', '1e2'].map(
      (status) => ['filter[status]', { status }] as const,
    ),
    ['filter[outcome]', { outcome: 'x' }],
    ['filter[trigger]', { trigger: 'x' }],
    ['filter[since]', { since: Number.NaN }],
    ['filter[configuration]', { configuration: 'nc-none' }],
    ['page[size]', { pageSize: 0 }],
  ];
  for (const [parameter, request] of wrong) {
    const refused = await mustFail(listDeliveriesOfWorkspace(engine, owner, { workspaceId, ...request }));
    expect(refused).toMatchObject({ type: 'invalid_parameter', parameter });
    if ('configuration' in request) continue;
    const own = await mustFail(listDeliveries(engine, owner, { configurationId: one, ...request }));
    expect(own).toEqual(refused);
  }
  expect(await mustFail(listDeliveriesOfWorkspace(engine, stranger, { workspaceId, status: '?' }))).toEqual({
    type: 'not_found',
    resource: 'workspace',
    id: workspaceId,
  });
  await engine.stop();
});

test('a bulk redelivery is shown with its progress', async () => {
  const { engine } = await answered(410);
  const { id } = await must(startBulkRedelivery(engine, owner, { workspaceId, since: 0 }));
  engine.delivery.answer({ status: 204 });
  await engine.clock.advance(minute);
  const shown = await must(showBulkRedelivery(engine, owner, { recoveryId: id }));
  expect(shown).toMatchObject({ id, state: 'done', total: 2, redelivered: 2 });
  expect((await mustFail(showBulkRedelivery(engine, stranger, { recoveryId: id }))).type).toBe('not_found');
  expect((await mustFail(showBulkRedelivery(engine, owner, { recoveryId: 'none' }))).type).toBe('not_found');
  await engine.stop();
});

const byAnswer = ['500', '503', '410', '404', '5xx', '4xx', '2xx', 'none', '599', undefined] as const;

test('a bulk redelivery counts the deliveries that the list has with the same last answer', async () => {
  const answer = fc.constantFrom(204, 404, 410, 500, 503, null);
  const property = fc.asyncProperty(fc.array(answer, { maxLength: 8 }), fc.boolean(), async (statuses, isOfOne) => {
    const { engine, one, ofWorkspace } = await answered(...statuses);
    for (const status of byAnswer)
      for (const trigger of ['run:errored', 'run:completed', undefined]) {
        const filter = { status, trigger, outcome: 'dead' } as const;
        const { items } = await ofWorkspace({ ...filter, configuration: isOfOne ? one : undefined });
        const request = { workspaceId, since: 0, ...filter, configurationId: isOfOne ? one : undefined };
        expect(await must(countRecoverable(engine, owner, request))).toEqual({ count: items.length, whole: true });
      }
    await engine.stop();
  });
  await fc.assert(property, { numRuns: 25 });
});

test('a bulk redelivery of what was cancelled goes by the last answer before', async () => {
  const engine = await testEngine({ notifications: { delivery: { breaker: { failures: 0 } } } });
  const { id } = await must(create(engine));
  engine.start();
  for (const status of [503, 500, 503]) {
    engine.delivery.answer({ status });
    await publish(engine, { runId: `run-${status}-${engine.clock.now()}` });
    await engine.clock.advance(second);
  }
  await must(updateNotificationConfiguration(engine, owner, { configurationId: id, attributes: { enabled: false } }));
  await engine.clock.advance(second);
  for (const status of byAnswer) {
    const filter = { configurationId: id, outcome: 'cancelled', status } as const;
    const { items } = await must(listDeliveries(engine, owner, filter));
    const { count } = await must(countRecoverable(engine, owner, { workspaceId, since: 0, ...filter }));
    expect([status, count]).toEqual([status, items.length]);
  }
  await engine.stop();
});

test('a bulk redelivery by answer goes on after a restart with the same ones only', async () => {
  const { engine, other, ofWorkspace } = await answered();
  await must(deleteNotificationConfiguration(engine, owner, { configurationId: other }));
  for (let n = 0; n < 100; n += 1) {
    engine.delivery.answer({ status: n % 20 < 10 ? 410 : 404 });
    await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(10);
  }
  const last = async (request: object) => (await ofWorkspace({ pageSize: 100, ...request })).items.length;
  expect(await last({ status: '410', outcome: 'dead' })).toBe(50);
  engine.delivery.answer(() => ({ status: 204, after: second }));
  engine.delivery.clear();
  const { id, status } = await must(startBulkRedelivery(engine, owner, { workspaceId, since: 0, status: '410' }));
  expect(status).toBe('410');
  await engine.clock.advance(300);
  const stopped = engine.stop();
  await engine.clock.advance(2 * second);
  await stopped;
  const between = await must(showBulkRedelivery(engine, owner, { recoveryId: id }));
  expect(between).toMatchObject({ state: 'running', status: '410', total: 50 });
  expect(between.redelivered).toBeGreaterThan(0);
  expect(between.redelivered).toBeLessThan(50);

  const { storage, clock, ids, delivery } = engine;
  const next = createEngine({ storage, clock, ids, delivery }, settings);
  next.start();
  await clock.advance(minute);
  const shown = await must(showBulkRedelivery(next, owner, { recoveryId: id }));
  expect(shown).toMatchObject({ state: 'done', status: '410', redelivered: 50 });
  expect(await last({ status: '204' })).toBe(50);
  expect(await last({ status: '404', outcome: 'dead' })).toBe(50);
  expect(await last({ status: '410' })).toBe(0);
  await next.stop();
});

test('a bulk redelivery refuses what is no answer as the list does, and without one it is of all', async () => {
  const { engine } = await answered(410);
  for (const status of ['', '0', '99', '600', '5', 'xx', '5XX', '503 ', 'None', '1e2']) {
    const list = await mustFail(listDeliveriesOfWorkspace(engine, owner, { workspaceId, status }));
    const message = 'message' in list ? list.message : undefined;
    expect(message).toContain('status');
    const refused = { type: 'invalid_parameter', parameter: 'status', message };
    const request = { workspaceId, since: 0, status };
    expect(await mustFail(countRecoverable(engine, owner, request))).toEqual(refused);
    expect(await mustFail(startBulkRedelivery(engine, owner, request))).toEqual(refused);
    const document = { workspaceId, span: { since: '1970-01-01T00:00:00Z', status }, faults: [] };
    const faults = [{ pointer: '/data/attributes/status', message }];
    expect(await mustFail(countRecoverableOfDocument(engine, owner, document))).toMatchObject({ faults });
    expect(await mustFail(startBulkRedeliveryOfDocument(engine, owner, document))).toMatchObject({ faults });
  }
  const span = { since: '1970-01-01T00:00:00Z', status: 5 } as never;
  const faults = [{ pointer: '/data/attributes/status', message: 'status must be a string' }];
  const document = { workspaceId, span, faults: [] };
  expect(await mustFail(countRecoverableOfDocument(engine, owner, document))).toMatchObject({ faults });
  expect((await must(listBulkRedeliveries(engine, owner, { workspaceId }))).items).toEqual([]);
  expect(await must(startBulkRedelivery(engine, owner, { workspaceId, since: 0 }))).toMatchObject({
    status: null,
    total: 2,
  });
  await engine.stop();
});

test('an attempt has its request as sent, without what proves or identifies the sender', async () => {
  const engine = await testEngine({ notifications: { signature: { standardWebhooks: true }, traceparent: true } });
  const delivery = { headers: { 'x-api-key': 'key-of-header', 'user-agent': 'agent-of-header' } };
  const url = 'https://ada:password-of-url@hooks.example.net/path-that-is-a-secret';
  const { id } = await must(create(engine, { url, token: 'token-of-signature', delivery }));
  engine.start();
  engine.delivery.clear();
  const { deliveryIds } = await publish(engine, { runMessage: '✓' });
  await engine.clock.advance(second);
  const [sent] = engine.delivery.requests;
  const shown = await must(showDelivery(engine, owner, { deliveryId: deliveryIds[0] ?? '' }));
  expect(shown.configurationId).toBe(id);
  const [attempt] = shown.attempts;
  const secret = ['authorization', 'user-agent', 'webhook-signature', 'x-api-key', 'x-svc-notification-signature'];
  const masked = Object.fromEntries(secret.map((name) => [name, '[redacted]']));
  expect(attempt?.request).toEqual({
    method: 'POST',
    headers: { ...sent?.headers, ...masked },
    bodyBytes: Buffer.byteLength(sent?.body ?? ''),
  });
  expect(attempt?.request?.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': shown.eventId });
  expect(shown.body).toBe(sent?.body);
  expect(JSON.stringify(shown)).not.toMatch(/of-header|of-url|of-signature|path-that/);
  await engine.stop();
});
