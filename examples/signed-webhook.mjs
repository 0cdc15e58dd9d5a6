// A signed webhook to a customer, and the customer's server that verifies it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createEngine, hostPrincipal, orThrow } from 'signalbox';
import { memoryStorage } from 'signalbox/memory';
import { randomIds, systemClock } from 'signalbox/node';
import { isOwnEventPayload, verifySignedJson } from 'signalbox/receiver';
import { undiciDelivery } from 'signalbox/undici';

const token = 'a-secret-shared-with-the-customer';

async function receive(request, response) {
  const checked = verifySignedJson({ body: await buffer(request), headers: request.headers, token });
  response.writeHead(checked.isOk() ? 204 : 401).end();
  if (checked.isOk() && isOwnEventPayload(checked.value)) console.log('verified:', checked.value.data);
}
const customer = createServer((request, response) => void receive(request, response));
await once(customer.listen(0, '127.0.0.1'), 'listening');

const delivery = undiciDelivery({ allow: { cidrs: ['127.0.0.1/32'] } }); // private addresses are refused by default
const engine = createEngine({ storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery });
engine.start();
const box = engine.as(hostPrincipal);
await orThrow(box.workspaces.put('acme', { name: 'acme', organization: 'customers' }));
await orThrow(box.eventTypes.put('order.paid', { description: 'An order was paid' }));
const url = `http://127.0.0.1:${customer.address().port}/hook`;
const destination = { name: 'Orders', destinationType: 'generic', url, token, enabled: true };
await orThrow(box.notifications.declare('acme', { ...destination, delivery: { eventTypes: ['order.*'] } }));
await orThrow(box.notifications.send('acme', { trigger: 'order.paid', message: 'Order 17', data: { id: 17 } }));
await once(engine.events, 'notification.attempt');

await engine.stop();
await delivery.close();
customer.close();
