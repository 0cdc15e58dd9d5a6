import { expect, it } from 'vitest';
import { testEngine } from '../../../adapters/testing/index.js';
import { hostPrincipal } from '../../../src/index.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { showDelivery } from '../../../src/operations/notifications/log/list-deliveries.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

it('tells of an attempt when the log holds it', async () => {
  await using house = await testEngine({ answer: { status: 204 } });
  const { engine, clock } = house;
  (await putWorkspace(engine, hostPrincipal, { id: 'ws-1', name: 'net', organization: 'acme' }))._unsafeUnwrap();
  const attributes = {
    name: 'Team',
    destinationType: 'generic',
    url: 'https://hooks.example.net/x',
    triggers: ['run:errored'],
    enabled: true,
  };
  (await createNotificationConfiguration(engine, hostPrincipal, { workspaceId: 'ws-1', attributes }))._unsafeUnwrap();
  const heard: Promise<unknown>[] = [];
  engine.events.on('notification.attempt', ({ deliveryId, outcome }) => {
    heard.push(
      Promise.resolve(showDelivery(engine, hostPrincipal, { deliveryId })).then((shown) => [
        outcome,
        shown._unsafeUnwrap().outcome,
        shown._unsafeUnwrap().attemptCount,
      ]),
    );
  });
  const event = {
    trigger: 'run:errored',
    message: 'Run Errored',
    run_id: 'run-1',
    run_url: 'https://example.net/run-1',
    run_message: 'm',
    run_created_at: '2026-01-01T00:00:00Z',
    run_created_by: 'dana',
    run_status: 'errored',
    run_updated_at: '2026-01-01T00:00:00Z',
    run_updated_by: null,
  };
  const sent = await sendNotificationEvent(engine, hostPrincipal, { workspaceId: 'ws-1', attributes: event });
  expect(sent.isOk() ? '' : JSON.stringify(sent.error)).toBe('');
  await clock.settle();
  expect(await Promise.all(heard)).toEqual([['delivered', 'delivered', 1]]);
});
