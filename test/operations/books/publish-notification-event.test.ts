import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { events } from '../../../src/notifications/events/event.js';
import { publishNotificationEvent } from '../../../src/operations/books/publish-notification-event.js';
import { second } from '../../../src/shared/duration.js';
import { create, must, runEvent, testEngine, workspaceId } from '../notifications/engine-setup.js';

test('an event belongs to the transaction that caused it', async () => {
  const engine = await testEngine();
  await must(create(engine));
  engine.delivery.clear();
  engine.start();
  const environment = { now: engine.clock.now(), ids: engine.ids, settings: engine.settings };
  const rolledBack = await engine.storage.write((view) => {
    publishNotificationEvent(view, environment, { ...runEvent(), workspaceId })._unsafeUnwrap();
    return err('the cause failed');
  });
  expect(rolledBack.isErr()).toBe(true);
  await engine.clock.advance(second);
  expect(engine.delivery.requests).toHaveLength(0);

  const triggers = ['run:created', 'run:errored', 'run:completed'] as const;
  const written = await must(
    engine.storage.write((view) =>
      ok(
        triggers.map((trigger) =>
          publishNotificationEvent(view, environment, { ...runEvent({ trigger }), workspaceId })._unsafeUnwrap(),
        ),
      ),
    ),
  );
  const stored = await must(
    engine.storage.read((view) => ({
      ids: view.list(events).map((row) => row.record.id),
      indexes: view.list(events).map((row) => row.modifyIndex),
    })),
  );
  expect(stored.ids).toEqual(written.value.map((published) => published.eventId));
  expect(new Set(stored.indexes)).toEqual(new Set([written.index]));
  await engine.clock.advance(second);
  expect(engine.delivery.requests.map((request) => JSON.parse(request.body).notifications[0].trigger)).toEqual([
    ...triggers,
  ]);
  await engine.stop();
});

test('an unknown workspace is said to be one, and nothing is written', async () => {
  const engine = await testEngine();
  const environment = { now: 0, ids: engine.ids, settings: engine.settings };
  const written = await must(
    engine.storage.write((view) =>
      ok(publishNotificationEvent(view, environment, { ...runEvent(), workspaceId: 'ws-9' })),
    ),
  );
  expect(written.changed).toBe(false);
  expect(written.value._unsafeUnwrapErr()).toEqual({ type: 'unknown_workspace', workspaceId: 'ws-9' });
});
