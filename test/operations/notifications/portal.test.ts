import type { Result } from 'neverthrow';
import { expect, test } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { hostPrincipal, type Principal } from '../../../src/access/principal.js';
import { tokens } from '../../../src/access/tokens.js';
import type { Client } from '../../../src/client/index.js';
import { orThrow } from '../../../src/index.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { minute } from '../../../src/shared/duration.js';
import {
  create,
  must,
  mustFail,
  owner,
  publish,
  stranger,
  testEngine,
  workspaceId,
  workspaceInput,
} from './engine-setup.js';

const hook = {
  destinationType: 'generic',
  name: 'of the portal',
  url: 'https://portal.example.net',
  enabled: true,
} as const;
const all = '2020-01-01T00:00:00Z';

/** An engine with a webhook and a mail of the host, and a portal for webhooks on each of two workspaces. */
async function world() {
  const engine = await testEngine();
  await must(putWorkspace(engine, hostPrincipal, { ...workspaceInput, id: 'ws-2', name: 'other' }));
  const { id: hookId } = await must(create(engine, { name: 'hook' }));
  const mail = { destinationType: 'email', name: 'mail', url: undefined, token: undefined, users: ['user-1'] } as const;
  const { id: mailId } = await must(create(engine, mail));
  const admin = engine.as({ ...hostPrincipal, management: false, accessor: 'a', workspaces: { 'ws-*': 'admin' } });
  const portalOn = async (id: string, portal: Parameters<Client['workspaces']['createPortalToken']>[1]) => {
    const token = await orThrow(admin.workspaces.createPortalToken(id, portal));
    const principal = await orThrow(engine.host.authenticate(token.secret));
    if (principal === undefined) throw new Error('no principal');
    return { token, principal, box: engine.as(principal) };
  };
  engine.start();
  const portal = await portalOn(workspaceId, { kinds: ['generic'], configurations: 3 });
  const { eventId, deliveryIds } = await publish(engine);
  await engine.clock.advance(minute);
  const [ofHook = '', ofMail = ''] = deliveryIds;
  return { engine, admin, portalOn, portal, box: portal.box, hookId, mailId, eventId, ofHook, ofMail };
}

/** The type of the error that a call is answered with. */
async function typeOf(call: object): Promise<string> {
  return ((await call) as Result<unknown, { readonly type: string }>)._unsafeUnwrapErr().type;
}

/** In process a call that changes something is refused at once if its caller cannot have the right anywhere. */
const refusals = ['not_found', 'permission_denied'];

test('manages the configurations and deliveries of its workspace', async () => {
  const { engine, box, hookId, ofHook, eventId } = await world();
  const { id } = await orThrow(box.notifications.create(workspaceId, hook));
  await orThrow(box.notifications.update(id, { triggers: ['run:errored'] }));
  await orThrow(box.notifications.verify(id));
  await orThrow(box.notifications.pause(id));
  await orThrow(box.notifications.resume(id));
  await orThrow(box.notifications.update(id, { enabled: false }));
  await orThrow(box.notifications.enable(id));
  await orThrow(box.notifications.health(id));
  await orThrow(box.notifications.declare(workspaceId, { ...hook, triggers: [] }));
  expect(await orThrow(box.notifications.sendSample(id, { trigger: 'run:errored' }))).toMatchObject({ sample: true });
  expect(await orThrow(box.deliveries.redeliver(ofHook))).toMatchObject({ configurationId: hookId });
  expect((await orThrow(box.deliveries.list(hookId))).items).toHaveLength(1);
  expect(await orThrow(box.events.show(eventId))).toMatchObject({ id: eventId });
  await orThrow(box.deliveries.recover(hookId, { since: all }));
  await orThrow(box.recoveries.count(workspaceId, { since: all }));
  const { id: recovery } = await orThrow(box.recoveries.start(workspaceId, { since: all }));
  await orThrow(box.recoveries.cancel(recovery));
  expect(await orThrow(box.workspaces.show(workspaceId))).toMatchObject({ id: workspaceId, right: 'portal' });
  await orThrow(box.eventTypes.list());
  await orThrow(box.notifications.delete(id));
  await engine.stop();
});

test('sees nothing of other kinds, and nothing of other workspaces', async () => {
  const { engine, admin, portalOn, box, hookId, mailId, eventId, ofHook, ofMail } = await world();
  const ids = (list: { readonly items: readonly { readonly id: string }[] }) => list.items.map(({ id }) => id);
  expect(ids(await orThrow(box.notifications.list(workspaceId)))).toEqual([hookId]);
  expect(ids(await orThrow(box.deliveries.ofWorkspace(workspaceId)))).toEqual([ofHook]);
  const shown = await orThrow(box.events.show(eventId));
  expect([...shown.deliveries, ...shown.attempts].map(({ id }) => id)).toEqual([ofHook, ofHook]);
  expect(shown.explanations.map(({ configurationId }) => configurationId)).toEqual([hookId]);
  const explained = await orThrow(box.events.explain(workspaceId, { trigger: 'run:errored', run_id: 'run-1' }));
  expect(explained.map(({ configurationId }) => configurationId)).toEqual([hookId]);
  expect(ids(await orThrow(box.events.list(workspaceId, { outcome: 'delivered' })))).toEqual([eventId]);
  const hidden = [
    box.notifications.show(mailId),
    box.notifications.health(mailId),
    box.notifications.update(mailId, { name: 'mine' }),
    box.notifications.delete(mailId),
    box.notifications.verify(mailId),
    box.notifications.enable(mailId),
    box.notifications.pause(mailId),
    box.notifications.resume(mailId),
    box.notifications.sendSample(mailId, { trigger: 'run:errored' }),
    box.deliveries.list(mailId),
    box.deliveries.show(ofMail),
    box.deliveries.redeliver(ofMail),
    box.deliveries.recover(mailId, { since: all }),
    box.recoveries.count(workspaceId, { since: all, configurationId: mailId }),
    box.recoveries.start(workspaceId, { since: all, configurationId: mailId }),
  ];
  for (const call of hidden) expect(await typeOf(call)).toBe('not_found');
  expect(await typeOf(box.deliveries.ofWorkspace(workspaceId, { configuration: mailId }))).toBe('invalid_parameter');
  const others = await portalOn('ws-2', { kinds: ['generic', 'email'] });
  for (const call of [
    others.box.notifications.list(workspaceId),
    others.box.notifications.show(hookId),
    others.box.notifications.delete(hookId),
    others.box.deliveries.show(ofHook),
    others.box.deliveries.redeliver(ofHook),
    others.box.events.show(eventId),
    others.box.recoveries.start(workspaceId, { since: all }),
    others.box.workspaces.show(workspaceId),
  ]) {
    expect(refusals).toContain(await typeOf(call));
  }
  for (const q of ['mail', mailId, ofMail, 'nd-', 'net']) {
    expect(JSON.stringify(await orThrow(others.box.notifications.search(q)))).not.toMatch(/net|mail|n[ced]-/);
    expect(JSON.stringify(await orThrow(box.notifications.search(q)))).not.toMatch(/mail|user-/);
  }
  await engine.stop();
  const { id: recovery } = await orThrow(admin.recoveries.start(workspaceId, { since: all, configurationId: mailId }));
  expect(await typeOf(box.recoveries.cancel(recovery))).toBe('not_found');
});

test('may not do what only an admin may', async () => {
  const { engine, box, eventId, portal } = await world();
  for (const call of [
    box.events.erase(eventId),
    box.notifications.send(workspaceId, { trigger: 'run:errored', run_id: 'run-2' }),
    box.organizations.memberships('acme'),
    box.workspaces.createPortalToken(workspaceId, { kinds: ['email'] }),
  ]) {
    expect(refusals).toContain(await typeOf(call));
  }
  for (const call of [box.workspaces.remove(workspaceId), box.jobs.list(), box.tokens.list()]) {
    expect(await typeOf(call)).toBe('permission_denied');
  }
  expect(portal.principal).toMatchObject({
    management: false,
    namespaces: {},
    workspaces: { [workspaceId]: 'portal' },
  });
  await engine.stop();
});

test('creates its kinds only, and no more than its number', async () => {
  const { engine, box } = await world();
  for (const destinationType of ['email', 'chat-a', 'slack'] as const) {
    const refused = await mustFail(box.notifications.create(workspaceId, { ...hook, destinationType, enabled: false }));
    expect(refused).toMatchObject({
      type: 'invalid_attributes',
      faults: [
        { pointer: '/data/attributes/destination-type', message: 'destination-type must be one of generic here' },
      ],
    });
    expect(await typeOf(box.notifications.declare(workspaceId, { ...hook, destinationType, enabled: false }))).toBe(
      'invalid_attributes',
    );
  }
  await orThrow(box.notifications.create(workspaceId, hook));
  const creations = Array.from({ length: 5 }, () => box.notifications.create(workspaceId, hook));
  for (const creation of creations) expect(await typeOf(creation)).toBe('limit_reached');
  expect(await typeOf(box.notifications.declare(workspaceId, { ...hook, name: 'one more' }))).toBe('limit_reached');
  await engine.stop();
});

test('without limits, the right shows and creates nothing', async () => {
  const { engine, hookId } = await world();
  const box = engine.as({ ...stranger, workspaces: { [workspaceId]: 'portal' } });
  expect((await orThrow(box.notifications.list(workspaceId))).items).toEqual([]);
  expect(await typeOf(box.notifications.show(hookId))).toBe('not_found');
  expect(await typeOf(box.notifications.create(workspaceId, hook))).toBe('invalid_attributes');
  await engine.stop();
});

test('its token ends after its time, at most 15 minutes, and its secret is not stored', async () => {
  const { engine, portalOn } = await world();
  const { token } = await portalOn(workspaceId, { kinds: ['generic'] });
  expect(Date.parse(token.expiresAt) - engine.clock.now()).toBe(15 * minute);
  expect(token).toMatchObject({ workspaceId, kinds: ['generic'], configurations: 20 });
  const short = await portalOn(workspaceId, {
    kinds: ['slack', 'chat-a'],
    lifetime: 60,
    configurations: 0,
    name: 'Acme',
  });
  expect(short.token.kinds).toEqual(['chat-a']);
  const handler = createHttpHandler(engine, { access: 'token' });
  const ask = async (secret: string) => {
    const target = `/workspaces/${workspaceId}/notification-configurations`;
    return (await handler(requestFrom({ target, headers: { authorization: `Bearer ${secret}` } }))).status;
  };
  expect([await ask(token.secret), await ask(short.token.secret)]).toEqual([200, 200]);
  await engine.clock.advance(minute);
  expect([await ask(token.secret), await ask(short.token.secret)]).toEqual([200, 401]);
  await engine.clock.advance(14 * minute);
  expect(await ask(token.secret)).toBe(401);
  const rows = await must(
    engine.storage.read((view) =>
      view
        .list(tokens)
        .map(({ text }) => text)
        .join(),
    ),
  );
  expect(rows).not.toContain(token.secret);
  await engine.stop();
});

test('a token is refused with every fault, and only an admin of the workspace makes one', async () => {
  const { engine, admin } = await world();
  const pointersOf = async (portal: unknown) => {
    const refused = await mustFail(admin.workspaces.createPortalToken(workspaceId, portal as { kinds: string[] }));
    return 'faults' in refused ? refused.faults.map(({ pointer }) => pointer.split('/').at(-1)) : [refused.type];
  };
  for (const kinds of [undefined, null, [], 'generic', ['x'], ['generic', 7], [{ toString: 1 }], ['__proto__'], {}]) {
    expect(await pointersOf({ kinds }), JSON.stringify(kinds)).toEqual(['kinds']);
  }
  for (const lifetime of [0, 901, -1, 1.5, '60', Number.NaN]) {
    expect(await pointersOf({ kinds: ['generic'], lifetime })).toEqual(['lifetime']);
  }
  for (const configurations of [-1, 21, 0.5, '3']) {
    expect(await pointersOf({ kinds: ['generic'], configurations })).toEqual(['configurations']);
  }
  expect(await pointersOf({ kinds: [], configurations: -1, lifetime: 0, name: 'x'.repeat(257) })).toEqual([
    'kinds',
    'configurations',
    'lifetime',
    'name',
  ]);
  // In the rights of a token a star stands for any characters.
  await must(putWorkspace(engine, hostPrincipal, { ...workspaceInput, id: 'ws-*', name: 'star' }));
  expect(await typeOf(admin.workspaces.createPortalToken('ws-*', { kinds: ['generic'] }))).toBe('invalid_attributes');
  const callers: readonly Principal[] = [stranger, { ...stranger, workspaces: { [workspaceId]: 'events' } }];
  for (const caller of callers) {
    const made = engine.as(caller).workspaces.createPortalToken(workspaceId, { kinds: ['generic'] });
    expect(refusals).toContain(await typeOf(made));
  }
  await orThrow(engine.as(owner).workspaces.createPortalToken(workspaceId, { kinds: ['generic'] }));
  await engine.stop();
});
