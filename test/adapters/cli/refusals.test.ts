import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpHandler, nodeListener } from '../../../adapters/compat/index.js';
import {
  manualClock,
  memoryStorage,
  recordingDelivery,
  recordingMailer,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal, orThrow } from '../../../src/index.js';
import { typed } from './typed-commands.js';

/** What a person is told when a server refuses, and when a message reached some of its recipients only. */

const upstream = { notifications: { basePath: '/api/v2' } };
const servers: Server[] = [];
const clock = manualClock();
const mailer = recordingMailer({
  fail: ({ to }) => (to.startsWith('bob') ? { type: 'mail_rejected', message: 'no such user' } : null),
});
const delivery = recordingDelivery({ clock });
const engine = createEngine({ storage: memoryStorage(), clock, ids: sequentialIds(), delivery, mailer });

async function origin(options: { readonly access: 'token' | 'open' }): Promise<string> {
  const server = createServer(nodeListener(createHttpHandler(engine, options)));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(() => engine.start());
afterAll(async () => {
  for (const server of servers) server.close();
  await engine.stop();
});

it('a missing token and one that does not do are told apart', async () => {
  const at = await origin({ access: 'token' });
  expect((await typed(at, {}, 'token', 'list')).error).toMatch(/no token was sent: set SIGNALBOX_TOKEN\n$/);
  const environment = { SIGNALBOX_TOKEN: 'not-a-token-of-this-server' };
  const refused = await typed(at, { environment }, 'token', 'list');
  expect([refused.code, refused.error]).toEqual([1, expect.stringMatching(/the token in SIGNALBOX_TOKEN is unknown/)]);
  expect(refused.error).not.toContain('not-a-token');
});

it('a notification interface at another path is told of', async () => {
  const handler = createHttpHandler(
    createEngine({ storage: memoryStorage(), clock, ids: sequentialIds(), delivery }, upstream),
    {
      access: 'open',
    },
  );
  const server = createServer(nodeListener(handler));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = ['workspace', 'list', 'acme'];
  const { code, error } = await typed(at, {}, ...asked);
  expect([code, error]).toEqual([1, expect.stringMatching(/no such path.*--notifications-base \/api\/v2/)]);
  expect((await typed(at, {}, ...asked, '--notifications-base', '/api/v2')).error).toMatch(/no organization acme/);
  const environment = { SIGNALBOX_NOTIFICATIONS_BASE: 'http://elsewhere/' };
  for (const [given, words] of [
    [{ environment }, asked],
    [{}, [...asked, '--notifications-base', 'api/v2']],
  ] as const) {
    const misused = await typed(at, given, ...words);
    expect([misused.code, misused.error]).toEqual([2, expect.stringMatching(/takes a path such as \/api\/v2/)]);
  }
});

it('an address that is empty is none', async () => {
  const empty = await typed('http://127.0.0.1:1', { environment: { SIGNALBOX_ADDR: '' } }, 'job', 'status');
  expect(empty.code).toBe(1);
  expect(empty.error).toMatch(/127\.0\.0\.1:4646/);
});

it('an event shows which recipients did not get its message', async () => {
  const at = await origin({ access: 'open' });
  const box = engine.as(hostPrincipal);
  await orThrow(box.workspaces.put('ws-1', { name: 'net', organization: 'acme' }));
  for (const id of ['ada', 'bob']) {
    await orThrow(box.users.put(id, { username: id, email: `${id}@example.net`, organization: 'acme' }));
  }
  const mail = {
    name: 'mail',
    destinationType: 'email',
    users: ['ada', 'bob'],
    triggers: ['run:errored'],
    enabled: true,
  } as const;
  await orThrow(box.notifications.create('ws-1', mail));
  const { eventId } = await orThrow(box.notifications.send('ws-1', { trigger: 'run:errored', run_id: 'run-1' }));
  await clock.advance(60_000);
  expect((await typed(at, {}, 'event', 'show', eventId)).out).toMatch(/bob refused: .*no such user/);
});
