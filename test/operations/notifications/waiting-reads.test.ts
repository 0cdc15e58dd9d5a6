import { expect, test } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine } from '../../../src/engine.js';
import { orThrow } from '../../../src/index.js';
import { hour, minute, second } from '../../../src/shared/duration.js';
import { create, must, owner, publish, testEngine, workspaceId } from './engine-setup.js';

async function world(ports = {}) {
  const engine = await testEngine({}, { ports });
  const { id } = await must(create(engine));
  const { id: otherId } = await must(create(engine, { name: 'other', url: 'https://other.example.net', triggers: [] }));
  engine.delivery.answer({ status: 410 });
  const { eventId, deliveryIds } = await publish(engine, { runId: 'run-0' });
  engine.start();
  await engine.clock.advance(minute);
  const box = engine.as(owner);
  const recovery = await orThrow(box.recoveries.start(workspaceId, { since: '2020-01-01T00:00:00Z' }));
  await engine.clock.advance(minute);
  return { engine, box, id, otherId, eventId, deliveryId: deliveryIds[0] ?? '', recoveryId: recovery.id };
}

type World = Awaited<ReturnType<typeof world>>;
type Waiting = { readonly index?: number; readonly wait?: string };
type Read = (world: World, options: Waiting) => Promise<{ readonly index: number }>;

const change = ({ engine, id }: World) =>
  orThrow(engine.as(owner).notifications.update(id, { name: `name-${engine.clock.now()}` }));
const send = ({ engine }: World) => publish(engine, { runId: `run-${engine.clock.now()}` });
const recover = ({ box }: World) => orThrow(box.recoveries.start(workspaceId, { since: '2020-01-01T00:00:00Z' }));

/** Each read with a change that it waits for. */
const reads: Readonly<Record<string, readonly [Read, (world: World) => Promise<unknown>]>> = {
  'notifications.list': [({ box }, options) => orThrow(box.notifications.list(workspaceId, options)), change],
  'notifications.show': [({ box, id }, options) => orThrow(box.notifications.show(id, options)), change],
  'notifications.health': [
    ({ box, id }, options) => orThrow(box.notifications.health(id, options)),
    ({ box, id }) => orThrow(box.notifications.pause(id)),
  ],
  'deliveries.list': [({ box, id }, options) => orThrow(box.deliveries.list(id, options)), send],
  'deliveries.ofWorkspace': [({ box }, options) => orThrow(box.deliveries.ofWorkspace(workspaceId, options)), send],
  'deliveries.show': [
    ({ box, deliveryId }, options) => orThrow(box.deliveries.show(deliveryId, options)),
    ({ box, deliveryId }) => orThrow(box.deliveries.redeliver(deliveryId)),
  ],
  'events.list': [({ box }, options) => orThrow(box.events.list(workspaceId, options)), send],
  'events.show': [
    ({ box, eventId }, options) => orThrow(box.events.show(eventId, options)),
    ({ box, eventId }) => orThrow(box.events.erase(eventId)),
  ],
  'recoveries.list': [({ box }, options) => orThrow(box.recoveries.list(workspaceId, options)), recover],
};

test.each(Object.keys(reads))('%s waits for a change, and for the end of the wait', async (name) => {
  const [read, act] = reads[name] ?? [];
  if (read === undefined || act === undefined) throw new Error(name);
  const here = await world();
  const { engine } = here;
  const before = await read(here, {});
  let answered: { readonly index: number } | undefined;
  const wait = (options: Waiting) => {
    answered = undefined;
    void read(here, options).then((answer) => {
      answered = answer;
    });
    return engine.clock.settle();
  };
  await wait({ index: before.index, wait: '10m' });
  expect(answered).toBeUndefined();
  await engine.clock.advance(11 * minute);
  expect(answered).toEqual(before);

  await wait({ index: before.index, wait: '1h' });
  await act(here);
  await engine.clock.settle();
  expect(answered?.index).toBeGreaterThan(before.index);
  expect(answered).not.toEqual({ ...before, index: answered?.index });
  await engine.stop();
});

test('a list of deliveries is not woken by those of another configuration, and ends when its own one is deleted', async () => {
  const { engine, box, id, otherId } = await world();
  const { index } = await orThrow(box.deliveries.list(id));
  const ends: unknown[] = [];
  const waiting = box.deliveries.list(id, { index, wait: '1h' }).match(
    ({ items }) => ends.push(items.length),
    ({ type }) => ends.push(type),
  );
  await engine.clock.settle();
  await orThrow(box.notifications.sendSample(otherId, { trigger: 'run:errored' }));
  await engine.clock.advance(second);
  expect(ends).toEqual([]);
  await orThrow(box.notifications.delete(id));
  await waiting;
  expect(ends).toEqual(['not_found']);
  expect((await box.deliveries.list(id, { index: 1_000_000, wait: '1h' }))._unsafeUnwrapErr().type).toBe('not_found');
  await engine.stop();
});

test('a bulk redelivery is followed to its end by reads that wait', async () => {
  const { engine, box, recoveryId } = await world();
  let shown = await orThrow(box.recoveries.show(recoveryId));
  expect(shown.state).toBe('done');
  const { id } = await orThrow(box.recoveries.start(workspaceId, { since: '2020-01-01T00:00:00Z' }));
  shown = await orThrow(box.recoveries.show(id));
  for (let reads = 0; shown.state !== 'done'; reads += 1) {
    expect(reads).toBeLessThan(10);
    const waiting = box.recoveries.show(id, { index: shown.index, wait: '1h' });
    await engine.clock.advance(second);
    shown = await orThrow(waiting);
  }
  expect(shown).toMatchObject({ total: 1, redelivered: 1 });
  await engine.stop();
});

test('waits for writes of another process on the store', async () => {
  const storage = memoryStorage();
  const { engine, box, id } = await world({ storage });
  const { clock, delivery } = engine;
  const beside = createEngine({ storage, clock, delivery, ids: engine.ids });
  const { index } = await orThrow(box.deliveries.list(id));
  const waiting = box.deliveries.list(id, { index, wait: '1h' });
  await clock.settle();
  await orThrow(beside.as(owner).notifications.sendSample(id, { trigger: 'run:errored' }));
  const found = await orThrow(waiting);
  expect(found.items[0]).toMatchObject({ sample: true });
  await engine.stop();
  await beside.stop();
});

test('a stop of the engine answers those who wait', async () => {
  const { engine, box, id } = await world();
  const { index } = await orThrow(box.deliveries.list(id));
  const waiting = box.deliveries.list(id, { index, wait: '1h' });
  await engine.clock.settle();
  await engine.stop();
  expect((await orThrow(waiting)).index).toBeGreaterThan(0);
});

test.each(['neutral', 'upstream'] as const)('over HTTP, with %s names', async (names) => {
  const { engine, id } = await world();
  const notificationsPath = names === 'upstream' ? '/api/v2' : '';
  const handler = createHttpHandler(engine, { authenticate: () => hostPrincipal, names, notificationsPath });
  const ask = async (query: string) => {
    const target = `${notificationsPath}/notification-configurations/${id}/deliveries${query}`;
    const { status, headers, body } = await handler(requestFrom({ target }));
    const at = headers.findIndex((name) => /^x-.*-index$/i.test(name));
    return { status, index: Number(headers[at + 1]), document: JSON.parse(String(body)) };
  };
  const first = await ask('');
  expect(first).toMatchObject({ status: 200, index: expect.any(Number) });
  expect(JSON.stringify(first.document)).not.toContain('"index"');
  // Without an index nothing waits, and parameters of other clients are ignored.
  for (const query of ['?wait=soon', '?stale=maybe', '?per_page=x', '?wait=1h'])
    expect(await ask(query)).toEqual(first);
  for (const query of ['?index=x', '?index=-1', '?index=1&wait=soon']) expect((await ask(query)).status).toBe(400);
  const waiting = ask(`?index=${first.index}&wait=1h`);
  await engine.clock.settle();
  await publish(engine, { runId: 'run-new' });
  const second = await waiting;
  expect(second.index).toBeGreaterThan(first.index);
  expect(second.document.data).toHaveLength(2);
  await engine.clock.advance(hour);
  await engine.stop();
});
