// A unit test: a receiver is down for three hours. On the manual clock this takes milliseconds.
import assert from 'node:assert/strict';
import { hostPrincipal, orThrow } from 'signalbox';
import { testEngine } from 'signalbox/testing';

const hour = 3_600_000;
const world = await testEngine();
const box = world.engine.as(hostPrincipal);
await orThrow(box.workspaces.put('acme', { name: 'acme', organization: 'customers' }));
await orThrow(box.eventTypes.put('order.paid', {}));
const destination = { name: 'Orders', destinationType: 'generic', url: 'https://hooks.example.net', enabled: true };
const { id } = await orThrow(
  box.notifications.create('acme', { ...destination, delivery: { eventTypes: ['order.*'] } }),
);

world.delivery.clear();
world.delivery.answer({ status: 503 });
await orThrow(box.notifications.send('acme', { trigger: 'order.paid', message: 'Order 17', data: { id: 17 } }));
await world.advance(3 * hour);
world.delivery.answer({ status: 204 });
await world.advance(3 * hour);

const { items } = await orThrow(box.deliveries.list(id));
assert.equal(items[0].outcome, 'delivered');
console.log(`delivered at attempt ${items[0].attemptCount}`);
await world.stop();
