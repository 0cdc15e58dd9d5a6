import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify, { type FastifyRequest } from 'fastify';
import { agentPorts, createEngine, type Engine, hostPrincipal, type Principal } from 'signalbox';
import { connect } from 'signalbox/client';
import { createHttpHandler, fastifyRoute, nodeListener } from 'signalbox/http-server';
import { memoryStorage } from 'signalbox/memory';
import { randomIds, systemClock } from 'signalbox/node';
import { createRunner, functionDriver } from 'signalbox/runner';
import { undiciDelivery } from 'signalbox/undici';
import { use } from './use.mjs';

declare module 'fastify' {
  interface FastifyRequest {
    user?: string;
  }
}

const delivery = undiciDelivery();
const engine = createEngine({ storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery });
const runner = createRunner(agentPorts(engine), {
  drivers: [functionDriver({ greet: async ({ log }) => log.info('good morning') })],
});
engine.start();
const started = await runner.start();
if (started.isErr()) throw new Error(started.error.message);

const principalOf = (user: string | undefined): Principal | undefined => (user === 'ada' ? hostPrincipal : undefined);

async function underExpress(box: Engine): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  type SignedIn = { readonly user?: string };
  const handler = createHttpHandler(box, { authenticate: ({ original }) => principalOf((original as SignedIn).user) });
  const app = express();
  app.use((request, _response, next) => {
    Object.assign(request, { user: request.headers['x-user'] });
    next();
  });
  app.use('/tools', nodeListener(handler));
  const server: Server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tools`, close };
}

async function underFastify(box: Engine): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const handler = createHttpHandler(box, {
    authenticate: ({ original }) => principalOf((original as FastifyRequest).user),
  });
  const app = fastify();
  app.addHook('onRequest', async (request) => {
    const user = request.headers['x-user'];
    if (typeof user === 'string') request.user = user;
  });
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.all('/*', fastifyRoute(handler));
  });
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
}

const versions = [await use(engine.as(hostPrincipal))];
for (const mount of [underExpress, underFastify]) {
  const { url, close } = await mount(engine);
  versions.push(await use(connect({ url, headers: { 'x-user': 'ada' } })));
  const stranger = await connect({ url, headers: { 'x-user': 'eve' } }).jobs.read('greeting');
  if (stranger.isOk()) throw new Error('a stranger was let in');
  await close();
}
await runner.stop();
await engine.stop();
await delivery.close();
console.log(versions.join(' '));
