import { expect, test } from 'vitest';
import { listDeliveries, showDelivery } from '../../../src/operations/notifications/index.js';
import { hour, second } from '../../../src/shared/duration.js';
import { create, must, owner, publish, testEngine } from './engine-setup.js';

test('a receiver that fails for three hours gets the event once, later', async () => {
  const engine = await testEngine();
  const configuration = await must(create(engine));
  engine.delivery.clear();
  const start = engine.clock.now();
  engine.delivery.answer(() => ({ status: engine.clock.now() < start + 3 * hour ? 503 : 204 }));
  engine.start();
  await publish(engine);
  await engine.clock.advance(6 * hour);
  const list = await must(listDeliveries(engine, owner, { configurationId: configuration.id }));
  expect(list.items).toHaveLength(1);
  expect(list.items[0]?.outcome).toBe('delivered');
  const shown = await must(showDelivery(engine, owner, { deliveryId: list.items[0]?.id ?? '' }));
  expect(shown.attempts.map((attempt) => attempt.status)).toEqual([503, 503, 503, 503, 503, 503, 503, 204]);
  expect(engine.delivery.requests).toHaveLength(8);
  expect(new Set(engine.delivery.requests.map((request) => request.body)).size).toBe(1);
  expect(await engine.stop()).toBe(true);
});

test('an event goes out at once', async () => {
  const engine = await testEngine();
  await must(create(engine));
  engine.delivery.clear();
  engine.start();
  await publish(engine);
  await engine.clock.advance(second);
  expect(engine.delivery.requests).toHaveLength(1);
  expect(await engine.stop()).toBe(true);
});
