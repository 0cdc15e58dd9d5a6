import { expect, test } from 'vitest';
import { aesCipher } from '../../../adapters/node/aes-cipher.js';
import type { Principal } from '../../../src/access/principal.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine, type Engine } from '../../../src/engine.js';
import { sequencesFromPrefix } from '../../../src/notifications/delivery/delivery.js';
import { searchNotifications } from '../../../src/operations/notifications/search.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
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

const can = (rights: Principal['workspaces']): Principal => ({ ...stranger, workspaces: rights });

async function world() {
  const engine = await testEngine();
  await must(putWorkspace(engine, hostPrincipal, { ...workspaceInput, id: 'ws-2', name: 'Network of others' }));
  const { id } = await must(
    create(engine, { name: 'Team Hook', url: 'https://ada:pass@hooks.example.net/secret-path' }),
  );
  const { eventId, deliveryIds } = await publish(engine);
  const found = (q: string, caller: Principal = owner) => must(searchNotifications(engine, caller, { q }));
  return { engine, id, eventId, deliveryId: deliveryIds[0] ?? '', found };
}

const nothing = { workspaces: [], configurations: [], events: [], deliveries: [], cut: [] };

test('finds names, hosts and IDs, without case', async () => {
  const { id, eventId, deliveryId, found } = await world();
  const configuration = {
    id,
    workspaceId,
    name: 'Team Hook',
    kind: 'generic',
    enabled: true,
    host: 'hooks.example.net',
  };
  for (const q of ['team', 'M HO', 'HOOKS.example', id, id.slice(0, -3)]) {
    expect(await found(q), q).toEqual({ ...nothing, configurations: [configuration] });
  }
  const workspace = { id: workspaceId, name: 'net', organization: 'acme' };
  expect(await found('ws-')).toEqual({ ...nothing, workspaces: [workspace] });
  expect(await found(' NET ')).toEqual({ ...nothing, workspaces: [workspace], configurations: [configuration] });
  const event = { id: eventId, workspaceId, trigger: 'run:errored', createdAt: expect.stringMatching(/Z$/) };
  for (const q of ['ne-', eventId.slice(0, 8), eventId])
    expect(await found(q), q).toEqual({ ...nothing, events: [event] });
  const delivery = {
    id: deliveryId,
    workspaceId,
    configurationId: id,
    eventId,
    trigger: 'run:errored',
    outcome: 'pending',
  };
  for (const q of ['nd-', deliveryId.slice(0, 14), deliveryId]) {
    expect(await found(q), q).toEqual({ ...nothing, deliveries: [delivery] });
  }
});

test('does not find secrets: paths, credentials and tokens', async () => {
  const { found } = await world();
  for (const q of ['secret-path', 'ada', 'pass', 's3cr3t', 'https']) expect(await found(q), q).toEqual(nothing);
});

test('shows what the caller may read, and nothing else', async () => {
  const { found, eventId, deliveryId, id } = await world();
  const everything = [eventId, deliveryId, id, 'net', 'ne-', 'nd-', 'e'];
  for (const q of everything) expect(await found(q, stranger), q).toEqual(nothing);
  for (const q of everything) expect(await found(q, can({ 'ws-9': 'admin' })), q).toEqual(nothing);
  const reader = await found('net', can({ [workspaceId]: 'events' }));
  expect(reader).toMatchObject({ workspaces: [{ id: workspaceId }], configurations: [] });
  for (const q of [eventId, deliveryId, id]) expect(await found(q, can({ '*': 'events' })), q).toEqual(nothing);
  for (const caller of [hostPrincipal, can({ 'ws-*': 'admin' })]) {
    const all = await found('net', caller);
    expect(all.workspaces.map((workspace) => workspace.id)).toEqual([workspaceId, 'ws-2']);
    expect((await found(eventId, caller)).events).toHaveLength(1);
    expect((await found(deliveryId, caller)).deliveries).toHaveLength(1);
  }
});

test('is bounded, and says which kinds are cut', async () => {
  const { engine, found, eventId } = await world();
  for (let n = 0; n < 21; n += 1)
    await must(putWorkspace(engine, hostPrincipal, { ...workspaceInput, id: `ws-x-${n}` }));
  for (let n = 0; n < 25; n += 1) await publish(engine, { runId: `run-${n}` });
  const workspaces = await found('net', hostPrincipal);
  expect(workspaces.workspaces).toHaveLength(20);
  expect(workspaces.cut).toEqual(['workspaces']);
  const events = await found('ne-');
  expect(events.events).toHaveLength(20);
  expect(events.events.map(({ id }) => id)).not.toContain(eventId);
  expect(events.cut).toEqual(['events']);
  expect((await found('nd-', hostPrincipal)).cut).toEqual(['deliveries']);
});

test.each(['', '  ', 'x'.repeat(257), 7, null, {}] as unknown[] as string[])('%j is refused', async (q) => {
  const { engine } = await world();
  expect(await mustFail(searchNotifications(engine, owner, { q }))).toMatchObject({
    type: 'invalid_parameter',
    parameter: 'q',
  });
});

test.each([
  'ne-0',
  'ne-l',
  'ne-zzzzzzzzzzzzzzzz',
  'nd-zzzzzzzzzz',
  'ne-*',
  'ne-\u0000',
  '%',
  '.*',
  '(',
  '\\',
  '__proto__',
])('%j matches nothing', async (q) => {
  const { found } = await world();
  expect(await found(q, hostPrincipal)).toEqual(nothing);
});

test('the beginning of an ID is a range of sequences', () => {
  expect(sequencesFromPrefix('ne-')).toEqual([0, Number.MAX_SAFE_INTEGER]);
  expect(sequencesFromPrefix('ne-1111111112')).toEqual([1, 2]);
  expect(sequencesFromPrefix('nd-111111112')).toEqual([58, 116]);
  expect(sequencesFromPrefix('ne-1111111112zzzzzz')).toEqual([1, 2]);
  for (const none of ['', 'n', 'ne', 'nc-1', 'ne-0', 'ne-11111111111111111', 'ne-zz']) {
    expect(sequencesFromPrefix(none), none).toBeNull();
  }
});

test('with a cipher hosts are found; without its key nothing of a URL is', async () => {
  const cipher = aesCipher({ keys: [{ id: 'k1', key: Buffer.alloc(32, 7) }], current: 'k1' });
  const engine = await testEngine({}, { ports: { cipher } });
  await must(create(engine));
  const { storage, clock, ids, delivery } = engine;
  const without = createEngine({ storage, clock, ids, delivery });
  const found = async (each: Engine, q: string) => {
    const { configurations } = await must(searchNotifications(each, owner, { q }));
    return configurations.map(({ host }) => host);
  };
  expect(await found(engine, 'hooks.ex')).toEqual(['hooks.example.net']);
  expect(await found(without, 'hooks.ex')).toEqual([]);
  expect(await found(without, 'Deploy')).toEqual(['']);
});
