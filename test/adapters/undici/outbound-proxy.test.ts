import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { outboundProxy } from '../../../adapters/undici/outbound-proxy.js';
import { undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import type { DeliveryRequest, HttpDelivery } from '../../../src/ports/http-delivery.js';
import { type Receiver, startReceiver, testAuthority } from '../../support/receiver.js';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const each of opened.splice(0).reverse()) await each.close();
});

interface Proxy {
  readonly url: string;
  /** Targets of CONNECT requests, with the login given. */
  readonly asked: readonly (readonly [target: string, login: string | undefined])[];
}

/** A real proxy: connects every name to this host, or answers with a status. */
async function startProxy(status: number | 'hang' = 200, certificate?: string): Promise<Proxy> {
  const asked: [string, string | undefined][] = [];
  const server: Server =
    certificate === undefined
      ? createServer()
      : createSecureServer({ cert: pem(certificate), key: pem(`${certificate}-key`) });
  const open = new Set<Duplex>();
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    open.add(client);
    asked.push([request.url ?? '', request.headers['proxy-authorization']]);
    client.on('error', () => undefined);
    if (status === 'hang') return;
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const upstream = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    open.add(upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push({
    close: async () => {
      for (const each of open) each.destroy();
      server.close();
    },
  });
  const origin = certificate === undefined ? ['http', '127.0.0.1'] : ['https', 'localhost'];
  return { url: `${origin[0]}://ann:s%20cret@${origin[1]}:${(server.address() as AddressInfo).port}`, asked };
}

const pem = (name: string): string => readFileSync(new URL(`../../golden/tls/${name}.pem`, import.meta.url), 'utf8');

async function receiverOf(options: Parameters<typeof startReceiver>[0] = {}): Promise<Receiver> {
  const receiver = await startReceiver(options);
  opened.push(receiver);
  return receiver;
}

function deliveryOf(settings: Parameters<typeof undiciDelivery>[0]): HttpDelivery {
  const delivery = undiciDelivery({ ca: testAuthority, ...settings });
  opened.push(delivery);
  return delivery;
}

const requestTo = (url: string, connectTimeout = 10_000): DeliveryRequest => ({
  method: 'POST',
  url,
  headers: {},
  body: '{}',
  connectTimeout,
  totalTimeout: 20_000,
  maximumResponseBytes: 100,
});

describe('requests through a proxy', () => {
  test.each([false, true])('reach names that only the proxy knows, with TLS: %s', async (secure) => {
    const receiver = await receiverOf(secure ? { tls: 'trusted' } : {});
    const proxy = await startProxy();
    const delivery = deliveryOf({ proxy: { url: proxy.url } });
    const host = secure ? 'localhost' : 'hooks.inside.example';
    const url = `${secure ? 'https' : 'http'}://${host}:${receiver.port}/hook`;
    for (let n = 0; n < 2; n += 1) expect((await delivery.send(requestTo(url)))._unsafeUnwrap().status).toBe(204);
    expect(proxy.asked).toEqual([[`${host}:${receiver.port}`, 'Basic YW5uOnMgY3JldA==']]);
    expect(receiver.requests).toHaveLength(2);
  });

  test('do not reach forbidden literals either', async () => {
    const proxy = await startProxy();
    const delivery = deliveryOf({ proxy: { url: proxy.url } });
    const refused = await delivery.send(requestTo('http://169.254.169.254/latest'));
    expect(refused._unsafeUnwrapErr().type).toBe('address_forbidden');
    expect(proxy.asked).toEqual([]);
  });

  test('go directly to what is excepted', async () => {
    const receiver = await receiverOf();
    const proxy = await startProxy();
    const except = ['127.0.0.1', '*.inside.example'];
    const delivery = deliveryOf({ proxy: { url: proxy.url, except }, allow: { cidrs: ['127.0.0.0/8'] } });
    expect((await delivery.send(requestTo(`${receiver.url}/x`)))._unsafeUnwrap().status).toBe(204);
    expect(proxy.asked).toEqual([]);
    expect(outboundProxy({ url: proxy.url, except }).serves('a.inside.example')).toBe(false);
    expect(outboundProxy({ url: proxy.url, except }).serves('inside.example')).toBe(true);
  });

  test.each([
    [407, 'proxy_failed'],
    [500, 'proxy_failed'],
    [403, 'connect_failed'],
    [502, 'connect_failed'],
    ['hang', 'connect_timeout'],
  ] as const)('that the proxy answers with %s: %s', async (status, type) => {
    const proxy = await startProxy(status);
    const delivery = deliveryOf({ proxy: { url: proxy.url } });
    const patience = status === 'hang' ? 100 : 10_000;
    const error = (await delivery.send(requestTo('http://a.example/s3cret', patience)))._unsafeUnwrapErr();
    expect(error.type).toBe(type);
    expect(error.message).not.toMatch(/s3cret|cret@|ann/);
  });

  test('to a proxy that is not there', async () => {
    const delivery = deliveryOf({ proxy: { url: 'http://127.0.0.1:9/' } });
    expect((await delivery.send(requestTo('http://a.example/')))._unsafeUnwrapErr().type).toBe('proxy_failed');
  });

  test('to a proxy that speaks TLS with a certificate of an authority of the settings', async () => {
    const receiver = await receiverOf({ tls: 'trusted' });
    const proxy = await startProxy(200, 'trusted');
    const delivery = deliveryOf({ proxy: { url: proxy.url } });
    const sent = await delivery.send(requestTo(`https://localhost:${receiver.port}/hook`));
    expect(sent._unsafeUnwrap().status).toBe(204);
    expect(proxy.asked).toEqual([[`localhost:${receiver.port}`, 'Basic YW5uOnMgY3JldA==']]);
  });

  test.each(['self-signed', 'wrong-host', 'expired'])(
    'a proxy with a %s certificate gets no login, whatever the environment says',
    async (certificate) => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      const proxy = await startProxy(200, certificate);
      const delivery = deliveryOf({ proxy: { url: proxy.url } });
      const error = (await delivery.send(requestTo('http://a.example/')))._unsafeUnwrapErr();
      expect(error.type).toBe('proxy_failed');
      expect(proxy.asked).toEqual([]);
    },
  );

  test('a proxy that is not connected to in time is a fault of the proxy', async () => {
    const silent = createSocketServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    opened.push({ close: async () => void silent.close() });
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const delivery = deliveryOf({ proxy: { url } });
    const error = (await delivery.send(requestTo('http://a.example/', 100)))._unsafeUnwrapErr();
    expect(error).toMatchObject({
      type: 'proxy_failed',
      message: 'http://a.example: the outbound proxy could not be reached within 100 ms',
    });
  });

  test('a password needs no name, and what is no text in a login is refused', () => {
    expect(outboundProxy({ url: 'http://:pass@proxy' }).authorization).toBe('Basic OnBhc3M=');
    expect(() => outboundProxy({ url: 'http://ann:p%zz@proxy' })).toThrow(
      'the name and the password of proxy.url must be percent-encoded',
    );
  });

  test.each(['', 'proxy:3128', 'socks5://proxy'])('a proxy %s is refused at once', (url) => {
    expect(() => undiciDelivery({ proxy: { url } })).toThrow(TypeError);
  });
});
