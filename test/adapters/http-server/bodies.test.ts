import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpHandler, fetchHandler, nodeListener, requestFrom } from '../../../adapters/compat/index.js';
import { routeTable } from '../../../adapters/http-server/calls/route-table.js';
import type { BodyAllowance } from '../../../adapters/http-server/http-message.js';
import { anonymousPrincipal, hostPrincipal, type Principal } from '../../../src/index.js';
import { engineUnderTest } from './engine-under-test.js';
import { bodyFor, bodySchemaOf, sampleJob, targetFor } from './route-samples.js';

/** Routes that ask for a right: those open to any caller, such as the fuzzy search, find nothing for one without rights. */
const writes = routeTable
  .filter((route) => bodySchemaOf(route) !== undefined && route.access.type !== 'public' && route.access.type !== 'any')
  .map((route) => ({ name: `${route.methods[0]} ${route.path}`, route }));

const noRight: Principal = { accessor: 'a', name: 'a', management: false, namespaces: {}, workspaces: {} };
const elsewhere: Principal = {
  ...noRight,
  namespaces: { elsewhere: { capabilities: [], policy: 'write' } },
  workspaces: { 'ws-2': 'events' },
};

describe('rights before bodies', () => {
  it('holds for every route with a body but those that anybody may ask', () => {
    const forAnybody = routeTable.filter((route) => route.access.type === 'any' && bodySchemaOf(route) !== undefined);
    expect(forAnybody.map(({ name }) => name)).toEqual(['search.fuzzy']);
  });

  it.each(writes)('$name reads no body of a token without any right', async ({ route }) => {
    const handler = createHttpHandler(engineUnderTest(), { authenticate: () => noRight });
    const request = requestFrom({ method: route.methods[0], target: targetFor(route), body: bodyFor(route) ?? {} });
    const response = await handler({ ...request, readBody: neverRead });
    expect(response.status).toBe(route.interface === 'notifications' ? 404 : 403);
  });

  it.each(writes.filter(({ route }) => route.access.type === 'namespace' && route.access.namedBy !== 'record'))(
    '$name reads no body of a token without a right in the namespace of the query',
    async ({ route }) => {
      const handler = createHttpHandler(engineUnderTest(), { authenticate: () => elsewhere });
      const target = `${targetFor(route)}?namespace=default`;
      const request = requestFrom({ method: route.methods[0], target, body: bodyFor(route) ?? {} });
      expect((await handler({ ...request, readBody: neverRead })).status).toBe(403);
    },
  );

  it('reads the body of a token that may do it in the namespace that the body names', async () => {
    const handler = createHttpHandler(engineUnderTest(), { authenticate: () => elsewhere });
    const body = { Job: sampleJob('x', { Namespace: 'elsewhere' }) };
    const response = await handler(requestFrom({ method: 'PUT', target: '/v1/jobs', body }));
    expect(response.body.toString()).toContain('elsewhere');
    expect(response.body).not.toBe('Permission denied');
  });
});

const neverRead = (): never => {
  throw new Error('the body was read');
};

describe('bodies held at once', () => {
  let server: Server | undefined;
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server?.closeAllConnections();
    server?.close();
  });

  async function listening(): Promise<number> {
    const handler = createHttpHandler(engineUnderTest(), {
      access: 'open',
      maximumBodyBytes: 60_000,
      maximumHeldBytes: 100_000,
    });
    server = createServer(nodeListener(handler));
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  const put = (further: string): string => `PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\n${further}\r\n\r\n`;

  /** Begins a request whose body is announced whole and sent in part, and waits until the part has arrived. */
  async function begin(port: number, announced: number, sent: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) =>
      socket.write(put(`Content-Length: ${announced}`) + 'x'.repeat(sent), () => resolve()),
    );
    return socket;
  }

  function answerOf(port: number, text: string): Promise<string> {
    return new Promise((resolve) => {
      let received = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      sockets.push(socket);
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk;
        if (received.includes('\r\n\r\n')) resolve(received);
      });
    });
  }

  /** Asks until the status is the one wanted: what other connections have sent arrives when it arrives. */
  async function until(port: number, text: string, status: string): Promise<string> {
    for (;;) {
      const answer = await answerOf(port, text);
      if (answer.startsWith(`HTTP/1.1 ${status}`)) return answer;
    }
  }

  it.each([
    ['with a length', `Content-Length: 20000`, 'y'.repeat(20_000)],
    ['in chunks', 'Transfer-Encoding: chunked', `4e20\r\n${'y'.repeat(20_000)}\r\n0\r\n\r\n`],
  ])('are bounded in all: one more %s gets a 503 and may come again', async (_what, head, body) => {
    const port = await listening();
    await begin(port, 60_000, 50_000);
    const second = await begin(port, 60_000, 45_000);
    const refused = await until(port, put(head) + body, '503');
    expect(refused).toContain('Retry-After: 1');
    expect(refused).toContain('memory for request bodies is full');
    // A small one still fits.
    expect(await answerOf(port, put('Content-Length: 2') + '{}')).toContain('HTTP/1.1 400');
    // What a client that went away had sent is forgotten.
    second.destroy();
    await until(port, put(head) + body, '400');
  });

  it.each([
    ['without the right', 'PUT', '/v1/jobs', noRight],
    ['without a token, on a call that needs none', 'POST', '/v1/acl/token/onetime/exchange', anonymousPrincipal],
    ['without a token, on a call for everybody', 'POST', '/v1/search/fuzzy', anonymousPrincipal],
    ['with a token without any right, on a call for everybody', 'POST', '/v1/search/fuzzy', noRight],
  ])(
    'of callers %s are an eighth of all at most, so that the others are served',
    async (_what, method, target, caller) => {
      const callers = [caller, caller, hostPrincipal];
      const handler = createHttpHandler(engineUnderTest(), {
        authenticate: () => callers.shift(),
        names: 'upstream',
        maximumHeldBytes: 8000,
      });
      /** Whether the beginning of a body was taken; the rest of it never comes. */
      const takes = (request: { readonly method: string; readonly target: string }, bytes: number): Promise<boolean> =>
        new Promise((resolve) => {
          const readBody = (allowance: BodyAllowance): Promise<never> => {
            resolve(allowance.take(bytes));
            return new Promise(() => undefined);
          };
          void handler({ ...requestFrom({ ...request, body: {} }), readBody });
        });
      expect(await takes({ method, target }, 900)).toBe(true);
      expect(await takes({ method, target }, 200)).toBe(false);
      callers.splice(0, callers.length, hostPrincipal);
      expect(await takes({ method: 'PUT', target: '/v1/jobs' }, 7000)).toBe(true);
    },
  );

  it('are given back when a request has been answered', async () => {
    const answer = fetchHandler(
      createHttpHandler(engineUnderTest(), { access: 'open', maximumBodyBytes: 60_000, maximumHeldBytes: 60_000 }),
    );
    for (let i = 0; i < 20; i++) {
      const response = await answer(
        new Request('http://localhost/v1/jobs', { method: 'PUT', body: 'x'.repeat(50_000) }),
      );
      expect(response.status).toBe(400);
    }
  });

  it('have no room for one that was read before, either', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open', maximumHeldBytes: 10 });
    const jobs = await handler(requestFrom({ method: 'PUT', target: '/v1/jobs', body: 'x'.repeat(11) }));
    expect([jobs.status, jobs.headers.includes('Retry-After')]).toEqual([503, true]);
    const target = '/workspaces/ws-1/notification-events';
    const events = await handler(requestFrom({ method: 'POST', target, body: 'x'.repeat(11) }));
    expect([events.status, events.headers.includes('Retry-After')]).toEqual([503, true]);
    expect(JSON.parse(events.body.toString()).errors[0].title).toBe('service unavailable');
    const dispatch = '/v1/job/x/dispatch/payload';
    expect((await handler(requestFrom({ method: 'PUT', target: dispatch, body: 'x'.repeat(11) }))).status).toBe(503);
  });
});
