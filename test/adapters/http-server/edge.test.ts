import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createHttpHandler,
  type HttpHandler,
  type HttpHandlerOptions,
  nodeListener,
  requestFrom,
} from '../../../adapters/compat/index.js';
import { type Engine, hostPrincipal } from '../../../src/index.js';
import { putToken } from '../../../src/operations/access/tokens/put-token.js';
import { engineUnderTest } from './engine-under-test.js';
import { sampleJob } from './route-samples.js';

/*
 * What web pages can make a browser send, written to the socket by hand: a page of another origin, a form, a page without
 * an origin, and a page whose own host name was pointed at this server after it was loaded.
 */

const secret = 'a-secret-of-sixteen-or-more';
const job = JSON.stringify({ Job: sampleJob('planted') });

const modes: Readonly<Record<string, HttpHandlerOptions>> = {
  open: { access: 'open' },
  token: { access: 'token' },
  authenticate: { authenticate: () => hostPrincipal },
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends one request as text and gives the answer; the connection ends with it. */
function send(port: number, lines: readonly string[], body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => {
      const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
      socket.write([...lines, ...length, 'Connection: close', '', body].join('\r\n'));
    });
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('close', () => resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), text }));
    socket.on('error', reject);
  });
}

const indexOf = async (engine: Engine): Promise<number> =>
  (await engine.storage.read((view) => view.index))._unsafeUnwrap();

describe.each(Object.entries(modes))('access: %s', (mode, options) => {
  let engine: Engine;
  let server: Server;
  let port: number;
  const credentials = mode === 'token' ? [`X-SVC-Token: ${secret}`] : [];

  beforeAll(async () => {
    engine = engineUnderTest({ notifications: { publicOrigin: 'https://jobs.example.org' } });
    await putToken(engine, hostPrincipal, { secret, name: 'all', management: true });
    const handler = createHttpHandler(engine, { ...options, hosts: ['build.internal', '2001:db8::7'] });
    server = createServer(nodeListener(handler));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const register = (headers: readonly string[]): Promise<Answer> =>
    send(port, ['PUT /v1/jobs HTTP/1.1', ...credentials, ...headers], job);

  it.each([
    ['a name that a page made point here', 'evil.example'],
    ['the same with the port', 'evil.example:4646'],
    ['an address that is not this one', '10.1.2.3'],
    ['a name that begins like loopback', '127.0.0.1.evil.example'],
    ['a name that ends like it', 'evil.localhost.example'],
    ['a name that begins like the public origin', 'jobs.example.org.evil.example'],
    ['an IPv6 address that is not this one', '[2001:db8::8]'],
    ['nothing', ''],
    ['what is no host', 'a@localhost'],
    ['a list', 'localhost, evil.example'],
  ])('refuses %s as host, for reads and writes and unknown paths', async (_what, host) => {
    const before = await indexOf(engine);
    expect((await register([`Host: ${host}`])).status).toBe(421);
    expect((await send(port, ['GET /v1/jobs HTTP/1.1', `Host: ${host}`, ...credentials])).status).toBe(421);
    expect((await send(port, ['GET /health HTTP/1.1', `Host: ${host}`])).status).toBe(421);
    expect((await send(port, ['GET /nothing HTTP/1.1', `Host: ${host}`])).status).toBe(421);
    const events = await send(port, [
      'POST /workspaces/ws-1/notification-events HTTP/1.1',
      `Host: ${host}`,
      ...credentials,
    ]);
    expect(events.status).toBe(421);
    expect(events.text).toContain('"title":"misdirected request"');
    expect(await indexOf(engine)).toBe(before);
  });

  it.each([
    'localhost',
    'LOCALHOST:9999',
    '127.0.0.1',
    '127.9.8.7:1',
    '[::1]',
    '[::1]:4646',
    'jobs.example.org',
    'jobs.example.org:8443',
    'build.internal:4646',
    '[2001:db8::7]:80',
  ])('answers to %s', async (host) => {
    expect((await send(port, ['GET /v1/jobs HTTP/1.1', `Host: ${host}`, ...credentials])).status).toBe(200);
  });

  it.each([
    ['another origin', ['Origin: https://evil.example']],
    ['another port of this host', ['Origin: http://localhost:3000']],
    ['a page without an origin', ['Origin: null']],
    ['an origin that is none', ['Origin: file://localhost']],
    ['another site by its own word', ['Sec-Fetch-Site: cross-site']],
    ['a neighbour of the site', ['Sec-Fetch-Site: same-site', 'Origin: https://other.example.org']],
    ['a form of another site', ['Origin: https://evil.example', 'Content-Type: application/x-www-form-urlencoded']],
    ['a simple request of another site', ['Origin: https://evil.example', 'Content-Type: text/plain']],
  ])('refuses a write from %s, and stores nothing', async (_what, headers) => {
    const before = await indexOf(engine);
    const answer = await register([`Host: localhost:${port}`, ...headers]);
    expect(answer.status, answer.text).toBe(403);
    expect(answer.text).toContain('pages of another origin');
    for (const method of ['POST /v1/job/planted', 'DELETE /v1/job/planted', 'PUT /v1/jobs/parse']) {
      const other = await send(port, [`${method} HTTP/1.1`, 'Host: localhost', ...headers, ...credentials], job);
      expect(other.status, method).toBe(403);
    }
    expect(await indexOf(engine)).toBe(before);
  });

  it.each(['/v1/client/gc', '/v1/client/allocation/11111111-2222-4333-8444-555555555555/gc'])(
    'refuses GET %s, which changes something, from an image in a page of another origin',
    async (path) => {
      const request = [`GET ${path} HTTP/1.1`, 'Host: localhost', ...credentials];
      const answer = await send(port, [...request, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Dest: image']);
      expect(answer.status, answer.text).toBe(403);
      expect(answer.text).toContain('pages of another origin');
      expect((await send(port, [...request, 'Origin: https://evil.example'])).text).toContain(
        'pages of another origin',
      );
      expect((await send(port, request)).text).not.toContain('pages of another origin');
    },
  );

  it.each([
    ['its own page', (at: number) => [`Host: localhost:${at}`, `Origin: http://localhost:${at}`]],
    ['its own page behind TLS', () => ['Host: jobs.example.org', 'Origin: https://jobs.example.org']],
    ['its own page behind a proxy that renames it', () => ['Host: 127.0.0.1', 'Origin: https://jobs.example.org']],
    ['its own page by the browser', () => ['Host: localhost', 'Sec-Fetch-Site: same-origin']],
    ['an address line', () => ['Host: localhost', 'Sec-Fetch-Site: none']],
    ['curl -d', () => ['Host: localhost', 'Content-Type: application/x-www-form-urlencoded']],
    ['a client that names no media type', () => ['Host: localhost']],
    ['a client that names another one', () => ['Host: localhost', 'Content-Type: text/plain']],
  ])('serves a write from %s', async (_what, headers) => {
    const answer = await register(headers(port));
    expect(answer.status, answer.text).toBe(200);
  });

  it('lets pages of another origin read nothing that they could not before', async () => {
    const answer = await send(port, [
      'GET /v1/jobs HTTP/1.1',
      'Host: localhost',
      'Origin: https://evil.example',
      'Sec-Fetch-Site: cross-site',
      ...credentials,
    ]);
    // The browser keeps the answer from the page, because it does not name it.
    expect(answer.text.toLowerCase()).not.toContain('access-control-allow-origin');
  });
});

describe('the address that the client connected to', () => {
  it('is a host, in IPv4 and in IPv6 notation', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
    const status = async (host: string, localAddress: string): Promise<number> => {
      const request = requestFrom({ target: '/v1/regions', headers: { host } });
      return (await handler({ ...request, localAddress: () => localAddress })).status;
    };
    expect(await status('192.0.2.7:4646', '192.0.2.7')).toBe(200);
    expect(await status('192.0.2.7:4646', '::ffff:192.0.2.7')).toBe(200);
    expect(await status('[2001:db8::1]:4646', '2001:db8::1')).toBe(200);
    expect(await status('[fe80::1]', 'fe80::1%eth0')).toBe(200);
    expect(await status('192.0.2.8', '192.0.2.7')).toBe(421);
  });

  it('is not asked for when every host is accepted', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open', hosts: ['*'] });
    expect((await handler(requestFrom({ target: '/v1/regions', headers: { host: 'any.example' } }))).status).toBe(200);
  });

  it('counts for HTTP/2 and for targets with a host, too', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
    const at = (target: string, headers = {}) => handler(requestFrom({ target, headers }));
    expect((await at('/v1/regions', { ':authority': 'evil.example' })).status).toBe(421);
    expect((await at('http://evil.example/v1/regions')).status).toBe(421);
    expect((await at('http://evil.example')).status).toBe(421);
    expect((await at('http://localhost/v1/regions')).status).toBe(200);
    expect((await at('/v1/regions?then=http://evil.example/')).status).toBe(200);
  });
});

describe('every answer', () => {
  it('forbids browsers to guess its type', async () => {
    const handler: HttpHandler = createHttpHandler(engineUnderTest(), { access: 'token' });
    for (const target of ['/health', '/nothing', '/v1/jobs', '/v1/openapi.json', '/ping', '/' + 'x'.repeat(20_000)]) {
      const { headers } = await handler(requestFrom({ target }));
      const named = headers.flatMap((text, at) => (text === 'X-Content-Type-Options' ? [headers[at + 1]] : []));
      expect(named, target.slice(0, 20)).toEqual(['nosniff']);
    }
  });
});
