// The HTTP interface in your service: the first token is created in the process, then a client uses it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createEngine, hostPrincipal, orThrow } from 'signalbox';
import { connect } from 'signalbox/client';
import { createHttpHandler, nodeListener } from 'signalbox/http-server';
import { memoryStorage } from 'signalbox/memory';
import { randomIds, systemClock } from 'signalbox/node';
import { undiciDelivery } from 'signalbox/undici';

const delivery = undiciDelivery();
const engine = createEngine({ storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery });
engine.start();
const { value: token } = await orThrow(
  engine.as(hostPrincipal).tokens.create({ name: 'operator', type: 'management' }),
);

const server = createServer(nodeListener(createHttpHandler(engine, { access: 'token' })));
await once(server.listen(0, '127.0.0.1'), 'listening');
const url = `http://127.0.0.1:${server.address().port}`;

const operator = connect({ url, token: token.SecretID });
const { value } = await orThrow(operator.jobs.list());
console.log('the operator sees', value.items.length, 'jobs');
const nobody = await connect({ url }).jobs.list();
console.log('without a token:', nobody.isErr() && nobody.error.type);

server.closeAllConnections();
server.close();
await engine.stop();
await delivery.close();
