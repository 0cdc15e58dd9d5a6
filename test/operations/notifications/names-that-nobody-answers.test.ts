import { afterEach, expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { randomIds } from '../../../adapters/node/random-ids.js';
import { systemClock } from '../../../adapters/node/system-clock.js';
import { nameResolver } from '../../../adapters/undici/name-resolver.js';
import { undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine, type Engine } from '../../../src/engine.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

import { type NameServer, startNameServer } from '../../support/name-server.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { must, runEvent } from './engine-setup.js';

/** More than look-ups may be under way for one workspace, and than a process has threads for those of the operating system. */
const heldNames = 18;

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** An engine that asks a name server which answers for `good.example`, and for other names when it is not held. */
async function installation(): Promise<{
  readonly engine: Engine;
  readonly names: NameServer;
  readonly receiver: Receiver;
  /** Answers wait until the function that it gives is called. */
  readonly hold: () => () => void;
}> {
  let held = Promise.resolve();
  const receiver = await startReceiver();
  const names = await startNameServer(async (name) => {
    if (name !== 'good.example') await held;
    return ['127.0.0.1'];
  }, 0);
  const search = { domains: [], dots: 1 };
  const lookup = nameResolver({ servers: [names.address], hosts: async () => null, search, timeout: 60_000 });
  const delivery = undiciDelivery({ allow: { cidrs: ['127.0.0.0/8'] }, lookup, keepAlive: 1 });
  const times = { connectTimeout: 60_000, totalTimeout: 60_000 };
  const settings = { notifications: { delivery: { ...times, retry: { generic: [] }, breaker: { failures: 0 } } } };
  const ports = { storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery };
  const engine = createEngine(ports, settings);
  opened.push(receiver, names, delivery, { close: () => engine.stop({ deadline: 0 }) });
  const hold = (): (() => void) => {
    let release: () => void = () => undefined;
    held = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  };
  return { engine, names, receiver, hold };
}

test('of one workspace hold up no notification of another one', async () => {
  const { engine, names, receiver, hold } = await installation();
  for (const id of ['ws-stuck', 'ws-good'])
    await must(putWorkspace(engine, hostPrincipal, { id, name: id, organization: 'acme' }));
  const configure = (workspaceId: string, host: string) =>
    must(
      createNotificationConfiguration(engine, hostPrincipal, {
        workspaceId,
        attributes: {
          destinationType: 'generic',
          name: host,
          url: `http://${host}:${receiver.port}/${workspaceId}`,
          enabled: true,
          triggers: ['run:errored'],
        },
      }),
    );
  for (let at = 0; at < heldNames; at += 1) await configure('ws-stuck', `name-${at}.example`);
  await configure('ws-good', 'good.example');
  engine.start();
  const release = hold();
  const publish = (workspaceId: string, runId: string) =>
    must(sendNotificationEvent(engine, hostPrincipal, { workspaceId, event: runEvent({ runId }) }));
  const asked = names.asked.length;
  await publish('ws-stuck', 'run-stuck');
  const stuck = (): number => new Set(names.asked.slice(asked).map((question) => question.split(' ')[1])).size;
  await expect.poll(stuck, { interval: 5 }).toBe(8);
  const heard = receiver.requests.length;
  // The look-ups that wait are not answered meanwhile, and give up after a minute at the earliest.
  for (let at = 0; at < 5; at += 1) {
    await publish('ws-good', `run-${at}`);
    await expect.poll(() => receiver.requests.length, { interval: 5 }).toBe(heard + at + 1);
  }
  expect(receiver.requests.slice(heard).every(({ path }) => path === '/ws-good')).toBe(true);
  // Each workspace has its own bound: the other names have not been asked for yet.
  expect(stuck()).toBe(9);
  release();
  await expect.poll(() => receiver.requests.length).toBe(heard + 5 + heldNames);
});
