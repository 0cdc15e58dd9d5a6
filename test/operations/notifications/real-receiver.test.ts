import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { randomIds } from '../../../adapters/node/random-ids.js';
import { systemClock } from '../../../adapters/node/system-clock.js';
import { undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine, type Engine } from '../../../src/engine.js';
import type { FailureClass } from '../../../src/notifications/delivery/classify-failure.js';
import { signBody } from '../../../src/notifications/signature.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import { showNotificationConfiguration } from '../../../src/operations/notifications/configurations/list-notification-configurations.js';
import {
  enableNotificationConfiguration,
  updateNotificationConfiguration,
} from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import { verifyNotificationConfiguration } from '../../../src/operations/notifications/configurations/verify-notification-configuration.js';
import { showDelivery } from '../../../src/operations/notifications/log/list-deliveries.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

import { patience } from '../../support/patience.js';
import { type Behaviour, type Receiver, startReceiver } from '../../support/receiver.js';
import { must, mustFail, publish, workspaceId } from './engine-setup.js';

/** What a destination does, and what is made of it: in the verification, and in the log of a delivery. */
interface Case {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly code: string | null;
  readonly failure: FailureClass | null;
  readonly body?: string;
}

const answer = (status: number, more: object = {}): Behaviour => ({ kind: 'answer', status, ...more });
const cases: readonly Case[] = [
  { name: '204', behaviour: answer(204), code: '204', failure: null, body: '' },
  { name: '200 with a body', behaviour: answer(200, { body: 'Größe ✓' }), code: '200', failure: null, body: 'Größe ✓' },
  {
    name: '302',
    behaviour: answer(302, { headers: { location: 'http://127.0.0.1:1/' } }),
    code: '302',
    failure: 'redirect',
  },
  { name: '400', behaviour: answer(400, { body: 'bad' }), code: '400', failure: 'client_error', body: 'bad' },
  { name: '410', behaviour: answer(410), code: '410', failure: 'gone' },
  { name: '429', behaviour: answer(429, { headers: { 'retry-after': '1' } }), code: '429', failure: 'rate_limited' },
  { name: '500', behaviour: answer(500), code: '500', failure: 'server_error' },
  { name: 'no answer', behaviour: 'hang', code: null, failure: 'total_timeout' },
  { name: 'a body that drips', behaviour: { kind: 'drip', every: 50 }, code: null, failure: 'total_timeout' },
  {
    name: 'a megabyte',
    behaviour: { kind: 'large', bytes: 1_048_576 },
    code: '200',
    failure: null,
    body: 'x'.repeat(16_384),
  },
  {
    name: 'a gzip bomb',
    behaviour: { kind: 'gzip', bytes: 4_000_000 },
    code: '200',
    failure: null,
    body: 'x'.repeat(16_384),
  },
  { name: 'a reset', behaviour: 'reset', code: null, failure: 'connection_reset' },
  { name: 'no HTTP', behaviour: 'garbage', code: null, failure: 'invalid_response' },
];

/** Of the engine for what never comes to an end, in milliseconds. */
const limit = 800;
let receiver: Receiver;
/** One whose times end nothing, and one whose limit is short. */
let engine: Engine;
let hasty: Engine;
const delivery = undiciDelivery({ allow: { cidrs: ['127.0.0.0/8', '::1/128'] } });

beforeAll(async () => {
  receiver = await startReceiver();
  [engine, hasty] = await Promise.all([startEngine(patience), startEngine(limit)]);
});
afterAll(async () => {
  expect(await Promise.all([engine.stop(), hasty.stop()])).toEqual([true, true]);
  await delivery.close();
  await receiver.close();
});

async function startEngine(totalTimeout: number): Promise<Engine> {
  const times = { connectTimeout: patience, totalTimeout };
  const settings = {
    notifications: { verification: times, delivery: { ...times, retry: { generic: [] }, breaker: { failures: 0 } } },
  };
  const ports = { storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery };
  const made = createEngine(ports, settings);
  await must(putWorkspace(made, hostPrincipal, { id: workspaceId, name: 'net', organization: 'acme' }));
  made.start();
  return made;
}

const create = (attributes: object, on = engine) =>
  createNotificationConfiguration(on, hostPrincipal, {
    workspaceId,
    attributes: {
      destinationType: 'generic',
      name: 'hook',
      url: `${receiver.url}/h`,
      token: 'tökén',
      triggers: ['run:errored'],
      ...attributes,
    },
  });

describe('a real destination', () => {
  test.each(cases)('$name', async ({ behaviour, code, failure, body }) => {
    const on = failure === 'total_timeout' ? hasty : engine;
    const { id: configurationId } = await must(create({}, on));
    receiver.behave(behaviour);
    const enabled = await enableNotificationConfiguration(on, hostPrincipal, { configurationId });
    expect(enabled.isOk()).toBe(failure === null);
    if (enabled.isErr()) {
      expect(enabled.error).toMatchObject({
        type: 'verification_failed',
        cause: failure,
        response: code === null ? null : { code },
      });
    }
    const verified = await verifyNotificationConfiguration(on, hostPrincipal, { configurationId });
    expect(verified.isOk()).toBe(failure === null);
    const shown = await must(showNotificationConfiguration(on, hostPrincipal, { configurationId }));
    if (code === null) expect(shown.response).toBeNull();
    else
      expect(shown.response).toMatchObject({
        code,
        successful: failure === null,
        ...(body === undefined ? {} : { body }),
      });

    receiver.behave('ok');
    await must(enableNotificationConfiguration(on, hostPrincipal, { configurationId }));
    receiver.behave(behaviour);
    const { deliveryIds } = await publish(on, { runId: 'run-1' });
    const [deliveryId = ''] = deliveryIds;
    const logged = await ended(deliveryId, on);
    expect(logged.outcome).toBe(failure === null ? 'delivered' : 'dead');
    expect(logged.attempts).toHaveLength(1);
    expect(logged.attempts[0]?.failure?.class ?? null).toBe(failure);
    expect(logged.attempts[0]?.status ?? null).toBe(code === null ? null : Number(code));
    if (on === hasty) expect(logged.attempts[0]?.total).toBeGreaterThanOrEqual(limit - 5);
    if (code !== null) expect(logged.attempts[0]?.address).toBe('127.0.0.1');
    if (body !== undefined) expect(logged.attempts[0]?.body).toBe(body);
    receiver.behave('ok');
    await must(updateNotificationConfiguration(on, hostPrincipal, { configurationId, attributes: { enabled: false } }));
  });

  test('a certificate that nobody vouches for', async () => {
    const secure = await startReceiver({ tls: 'self-signed' });
    const error = await mustFail(create({ url: secure.url, enabled: true }));
    expect(error).toMatchObject({ type: 'verification_failed', cause: 'tls_failed', response: null });
    await secure.close();
  });

  test('a name that leads inside is refused at the connection, an address at once', async () => {
    const port = receiver.port;
    const guarded = undiciDelivery({ lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
    const strict = createEngine({
      storage: memoryStorage(),
      clock: systemClock(),
      ids: randomIds(),
      delivery: guarded,
    });
    await must(putWorkspace(strict, hostPrincipal, { id: workspaceId, name: 'net', organization: 'acme' }));
    const ask = (url: string) =>
      mustFail(
        createNotificationConfiguration(strict, hostPrincipal, {
          workspaceId,
          attributes: { destinationType: 'generic', name: 'n', url, enabled: true },
        }),
      );
    const count = receiver.requests.length;
    expect(await ask(`http://inside.example:${port}/`)).toMatchObject({
      type: 'verification_failed',
      cause: 'address_forbidden',
    });
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '[64:ff9b::7f00:1]']) {
      expect(await ask(`http://${host}:${port}/`)).toMatchObject({ type: 'invalid_attributes' });
    }
    expect(receiver.requests.length).toBe(count);
    await guarded.close();
  });

  test('what arrives is signed byte for byte, also when it is sent again', async () => {
    const { id } = await must(create({ enabled: true }));
    const first = receiver.requests.length;
    await ended((await publish(engine, { message: 'Größe ✓ <!channel>' })).deliveryIds.at(-1) ?? '');
    for (const request of receiver.requests.slice(first - 1)) {
      expect(request.headers['x-svc-notification-signature']).toBe(signBody('tökén', request.body));
      expect(request.headers['content-type']).toBe('application/json');
    }
    expect(JSON.parse(receiver.requests.at(-1)?.body ?? '{}').notification_configuration_id).toBe(id);
  });
});

async function ended(deliveryId: string, on = engine) {
  return new Promise<Awaited<ReturnType<typeof show>>>((resolve, reject) => {
    const look = (): void => {
      show(deliveryId, on).then((it) => {
        if (it.outcome !== 'pending') resolve(it);
        else setTimeout(look, 10);
      }, reject);
    };
    look();
  });
}

function show(deliveryId: string, on: Engine) {
  return must(showDelivery(on, hostPrincipal, { deliveryId }));
}
