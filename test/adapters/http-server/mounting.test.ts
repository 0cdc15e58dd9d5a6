import { request as httpRequest } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import fastify from 'fastify';
import { afterAll, describe, expect, it } from 'vitest';
import {
  createHttpHandler,
  fetchHandler,
  type HttpHandler,
  nodeListener,
  requestFrom,
} from '../../../adapters/compat/index.js';
import { engineUnderTest } from './engine-under-test.js';
import { type Mounted, mounts } from './mounts.js';

/** Answers with what it was asked, so that a test sees what arrives through a mount. */
const echo: HttpHandler = async (request) => {
  const body = await request.readBody({ limit: 1000, take: () => true });
  const seen = {
    method: request.method,
    target: request.target.replace(/^https?:\/\/[^/]+/, ''),
    token: request.headers['x-svc-token'],
    body: body.type === 'bytes' ? body.bytes.toString() : body.type,
    parsed: body.type === 'parsed' ? body.value : undefined,
    user: (request.original as { readonly user?: unknown }).user,
  };
  return { status: 200, headers: ['Content-Type', 'application/json', 'X-Seen', 'yes'], body: JSON.stringify(seen) };
};

const opened: Mounted[] = [];
afterAll(async () => {
  for (const mounted of opened) await mounted.close();
});

describe.each(Object.entries(mounts))('mounted under %s', (name, mount) => {
  let at: Promise<Mounted> | undefined;
  const mounted = (): Promise<Mounted> => {
    at ??= mount(echo).then((one) => {
      opened.push(one);
      return one;
    });
    return at;
  };

  it('passes method, raw target, headers and body, and answers with a content length', async () => {
    const { origin } = await mounted();
    const answer = await fetch(origin + '/v1/job/a%2Fb/dispatch?x=%5B1%5D&y=a+b', {
      method: 'PUT',
      headers: { 'x-svc-token': 'secret', 'content-type': 'application/json' },
      body: '{"a":[1,2]}',
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-seen')).toBe('yes');
    const text = await answer.text();
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    const seen = JSON.parse(text);
    expect(seen).toMatchObject({ method: 'PUT', target: '/v1/job/a%2Fb/dispatch?x=%5B1%5D&y=a+b', token: 'secret' });
    if (name === 'Express behind express.json()') expect(seen.parsed).toEqual({ a: [1, 2] });
    else expect(seen.body).toBe('{"a":[1,2]}');
  });

  it.runIf(['Express', 'Fastify', 'Hono on @hono/node-server'].includes(name))(
    'lets the host see what its framework knows of the request',
    async () => {
      const { origin } = await mounted();
      const answer = await fetch(origin + '/v1/jobs', { headers: { 'x-user': 'ada' } });
      expect(await answer.json()).toMatchObject({ user: 'ada' });
    },
  );

  it('takes a chunked body', async () => {
    const { origin } = await mounted();
    const text = await new Promise<string>((resolve, reject) => {
      const request = httpRequest(
        origin + '/v1/jobs',
        { method: 'POST', headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' } },
        (response) => {
          let received = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            received += chunk;
          });
          response.on('end', () => resolve(received));
        },
      );
      request.on('error', reject);
      request.write('{"a":');
      request.write('"b"}');
      request.end();
    });
    const seen = JSON.parse(text);
    expect(seen.parsed ?? JSON.parse(seen.body)).toEqual({ a: 'b' });
  });

  it.each(['POST', 'DELETE'])('takes a %s that announces JSON and has no body', async (method) => {
    const { origin } = await mounted();
    const answer = await fetch(origin + '/x', { method, headers: { 'content-type': 'application/vnd.api+json' } });
    expect(await answer.json()).toMatchObject({ method, body: 'absent' });
  });

  it('refuses a body over the limit without losing the connection', async () => {
    const { origin } = await mounted();
    const large = JSON.stringify({ x: 'x'.repeat(50_000) });
    const answer = await fetch(origin + '/x', { method: 'POST', body: large });
    expect(answer.status).toBe(200);
    if (name !== 'Express behind express.json()') expect(await answer.json()).toMatchObject({ body: 'too_large' });
    const after = await fetch(origin + '/x');
    expect(after.status).toBe(200);
    await after.text();
  });
});

describe('mounted on node:http2', () => {
  it.each([
    ['{"a":1}', {}, '{"a":1}'],
    ['{"a":1}', { 'content-length': '7' }, '{"a":1}'],
    ['', {}, 'absent'],
  ])('takes the body %j with the headers %j', async (body, headers, seen) => {
    const server = createHttp2Server((request, response) => nodeListener(echo)(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const asked = client.request({ ':method': 'POST', ':path': '/v1/jobs', ...headers });
    asked.end(body);
    let text = '';
    for await (const chunk of asked.setEncoding('utf8')) text += chunk as string;
    client.close();
    await new Promise((resolve) => server.close(resolve));
    expect(JSON.parse(text)).toMatchObject({ method: 'POST', body: seen });
  });
});

describe('a framework that has read the body and kept it elsewhere', () => {
  it.each([
    ['/v1/jobs', 400],
    ['/workspaces/ws-1', 422],
  ])('is told so at %s', async (path, status) => {
    const listener = nodeListener(createHttpHandler(engineUnderTest(), { access: 'open' }));
    const app = fastify();
    app.addContentTypeParser(
      'application/vnd.api+json',
      { parseAs: 'string' },
      app.getDefaultJsonParser('error', 'error'),
    );
    app.all('/*', (request, reply) => {
      void reply.hijack();
      listener(request.raw, reply.raw);
    });
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const headers = { 'content-type': path.startsWith('/v1') ? 'application/json' : 'application/vnd.api+json' };
    const answer = await fetch(origin + path, { method: 'PUT', headers, body: '{"data": {}}' });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([status, expect.stringMatching(/fastifyRoute/)]);
    await app.close();
  });
});

describe('the handler itself', () => {
  const open = createHttpHandler(engineUnderTest(), { access: 'open' });
  const nosniff = ['X-Content-Type-Options', 'nosniff'];

  it('demands a decision about access', () => {
    const engine = engineUnderTest();
    const undecided = {} as { access: 'open' };
    expect(() => createHttpHandler(engine, undecided)).toThrow(/choose who may call/);
    const misspelled = { access: 'opne' } as unknown as { access: 'open' };
    expect(() => createHttpHandler(engine, misspelled)).toThrow(/choose who may call/);
  });

  it('answers health and readiness without a token', async () => {
    const guarded = createHttpHandler(engineUnderTest(), { access: 'token' });
    for (const target of ['/health', '/ready', '/v1/agent/health', '/v1/regions', '/v1/status/leader']) {
      expect((await guarded(requestFrom({ target }))).status, target).toBe(200);
    }
    expect((await open(requestFrom({ target: '/v1/agent/health?type=other' }))).body).toBe('{}');
    expect((await open(requestFrom({ target: '/v1/agent/health?type=server' }))).body).toBe(
      '{"server":{"ok":true,"message":"ok"}}',
    );
  });

  it('is not ready when the store is closed', async () => {
    const engine = engineUnderTest();
    const handler = createHttpHandler(engine, { access: 'open' });
    await engine.storage.close();
    expect((await handler(requestFrom({ target: '/ready' }))).status).toBe(503);
    expect((await handler(requestFrom({ target: '/health' }))).status).toBe(200);
  });

  it('answers an unknown path with 404 and says which path there is not', async () => {
    for (const target of ['/', '/v1', '/v1/', '/v1/nothing', '/v1/jobs/', '/favicon.ico', '*', '', '//', '/%']) {
      const { status, body, headers } = await open(requestFrom({ target }));
      expect([status, body], target).toEqual([404, expect.stringContaining(`there is no such path: GET ${target}`)]);
      expect(headers).toEqual(['Content-Type', 'text/plain; charset=utf-8', ...nosniff]);
    }
  });

  it('answers an unknown path to clients of Nomad with 404 and nothing else', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream' });
    for (const target of ['/v1/nothing', '/favicon.ico']) {
      const response = await handler(requestFrom({ target }));
      expect([response.status, response.body, response.headers], target).toEqual([404, '', nosniff]);
    }
  });

  it('answers a wrong method with 405 and the methods that work', async () => {
    const response = await open(requestFrom({ method: 'POST', target: '/v1/regions', body: {} }));
    expect(response.status).toBe(405);
    expect(response.body).toBe('POST /v1/regions: the allowed methods are GET');
    expect(response.headers).toEqual(expect.arrayContaining(['Allow', 'GET']));
  });

  it('finds its routes under a base path that the host does not strip', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open', basePath: '/tools/' });
    expect((await handler(requestFrom({ target: '/tools/v1/regions' }))).body).toBe('["global"]');
    expect((await handler(requestFrom({ target: '/v1/regions' }))).status).toBe(404);
    expect((await handler(requestFrom({ target: '/toolsv1/regions' }))).status).toBe(404);
  });

  it('accepts a target of 16 KB and refuses a longer one', async () => {
    const target = (length: number): string => '/v1/regions?'.padEnd(length, 'x');
    expect((await open(requestFrom({ target: target(16_384) }))).status).toBe(200);
    expect((await open(requestFrom({ target: target(16_385) }))).status).toBe(414);
  });

  it('accepts a target with scheme and host', async () => {
    expect((await open(requestFrom({ target: 'http://localhost/v1/regions?a=b' }))).status).toBe(200);
    expect((await open(requestFrom({ target: 'http://localhost' }))).status).toBe(404);
  });

  it('compresses large answers for those who take gzip', async () => {
    const zipped = await open(
      requestFrom({ target: '/v1/openapi.json', headers: { 'accept-encoding': 'deflate, gzip;q=0.5' } }),
    );
    expect(zipped.headers).toEqual(expect.arrayContaining(['Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding']));
    const plain = await open(requestFrom({ target: '/v1/openapi.json', headers: { 'accept-encoding': 'gzip;q=0' } }));
    expect(plain.headers).not.toContain('Content-Encoding');
    expect(gunzipSync(zipped.body as Buffer).toString()).toBe(plain.body);
  });
});

describe('without a server', () => {
  it('answers a plain fetch Request', async () => {
    const answer = fetchHandler(createHttpHandler(engineUnderTest(), { access: 'open' }));
    const response = await answer(new Request('http://localhost/v1/regions'));
    expect(await response.json()).toEqual(['global']);
  });
});
