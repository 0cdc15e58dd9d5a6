import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { fastifyRoute, fetchHandler, type HttpHandler, nodeListener } from '../../../adapters/compat/index.js';

/** A handler that listens, under one of the frameworks that hosts use. */
export interface Mounted {
  readonly origin: string;
  /** The `node:http` server below the framework. */
  readonly server: Server;
  /** The path that the framework strips from requests. */
  readonly mountPath: string;
  readonly close: () => Promise<void>;
}

async function listen(listener: RequestListener, mountPath = ''): Promise<Mounted> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}${mountPath}`,
    server,
    mountPath,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const mounts: Readonly<Record<string, (handler: HttpHandler) => Promise<Mounted>>> = {
  'node:http': (handler) => listen(nodeListener(handler)),
  Express: (handler) => {
    const app = express();
    app.use((request, _response, next) => {
      Object.assign(request, { user: request.headers['x-user'] });
      next();
    });
    app.use(nodeListener(handler));
    return listen(app);
  },
  'Express under a prefix': (handler) => {
    const app = express();
    app.use('/mounted', nodeListener(handler));
    return listen(app, '/mounted');
  },
  'Express behind express.json()': (handler) => {
    const app = express();
    app.use(express.json({ type: '*/*' }));
    app.use(nodeListener(handler));
    return listen(app);
  },
  'Express behind express.raw()': (handler) => {
    const app = express();
    app.use(express.raw({ type: '*/*' }));
    app.use(nodeListener(handler));
    return listen(app);
  },
  Fastify: async (handler) => {
    const app = fastify();
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
      scope.decorateRequest('user', '');
      scope.addHook('onRequest', async (request) => {
        Object.assign(request, { user: request.headers['x-user'] });
      });
      scope.all('/*', fastifyRoute(handler));
    });
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    return { origin, server: app.server, mountPath: '', close: () => app.close() };
  },
  'Hono on @hono/node-server': (handler) => {
    const app = new Hono();
    const answer = fetchHandler(handler);
    app.all('*', (context) => answer(context.req.raw, { user: context.req.header('x-user') }));
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    return listen((request, response) => void listener(request, response));
  },
};
