import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type UndiciDeliverySettings, undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import type {
  DeliveryError,
  DeliveryRequest,
  DeliveryResponse,
  HttpDelivery,
} from '../../../src/ports/http-delivery.js';
import { patience } from '../../support/patience.js';
import {
  type Behaviour,
  freePort,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
  startSilentReceiver,
  testAuthority,
} from '../../support/receiver.js';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function receiverOf(options: ReceiverOptions = {}): Promise<Receiver> {
  const receiver = await startReceiver(options);
  opened.push(receiver);
  return receiver;
}

function deliveryOf(settings: UndiciDeliverySettings = {}): HttpDelivery {
  const delivery = undiciDelivery({ allow: { cidrs: ['127.0.0.0/8', '::1/128'] }, ...settings });
  opened.push(delivery);
  return delivery;
}

function requestTo(url: string, changes: Partial<DeliveryRequest> = {}): DeliveryRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
    connectTimeout: patience,
    totalTimeout: patience,
    maximumResponseBytes: 16_384,
    ...changes,
  };
}

async function answered(delivery: HttpDelivery, request: DeliveryRequest): Promise<DeliveryResponse> {
  return (await delivery.send(request)).match(
    (response) => response,
    (error) => expect.fail(JSON.stringify(error)),
  );
}

async function refused(delivery: HttpDelivery, request: DeliveryRequest): Promise<DeliveryError> {
  return (await delivery.send(request)).match(
    (response) => expect.fail(JSON.stringify(response)),
    (error) => error,
  );
}

describe('what goes over the wire', () => {
  it.each([2 ** 31, 30 * 86_400_000, Number.POSITIVE_INFINITY])('may take %s ms', async (time) => {
    const receiver = await receiverOf();
    const times = { connectTimeout: time, totalTimeout: time };
    for (let n = 0; n < 20; n += 1) {
      const { status } = await answered(deliveryOf(), requestTo(receiver.url, times));
      expect(status).toBe(204);
    }
  });
  it('is a POST of the path and query, with exactly the given headers and the length', async () => {
    const receiver = await receiverOf();
    const delivery = deliveryOf();
    const answer = await answered(
      delivery,
      requestTo(`${receiver.url}/a%20b/ž?x=1&y=%2F#fragment`, { headers: { 'x-signature': 'abc' }, body: 'žluť' }),
    );
    expect(answer).toMatchObject({ status: 204, address: '127.0.0.1', body: '', truncated: false });
    expect(receiver.requests[0]).toMatchObject({ method: 'POST', path: '/a%20b/%C5%BE?x=1&y=%2F', body: 'žluť' });
    expect(receiver.requests[0]?.headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'accept-encoding': 'identity',
      'content-length': '6',
      'x-signature': 'abc',
    });
  });

  it('turns userinfo into Basic authorization, with escapes undone', async () => {
    const receiver = await receiverOf();
    const delivery = deliveryOf();
    const url = receiver.url.replace('://', '://j%C3%B6rg:p%40ss%3Aw%25rd@');
    await answered(delivery, requestTo(url));
    await answered(delivery, requestTo(receiver.url.replace('://', '://only-user@')));
    await answered(delivery, requestTo(receiver.url.replace('://', '://bad%escape:x@')));
    const sent = receiver.requests.map(({ headers }) =>
      Buffer.from((headers.authorization ?? '').slice(6), 'base64').toString('utf8'),
    );
    expect(sent).toEqual(['jörg:p@ss:w%rd', 'only-user:', 'bad%escape:x']);
  });

  it('lets the caller set authorization and accept-encoding, but no header of the connection', async () => {
    const receiver = await receiverOf();
    const headers = {
      authorization: 'Bearer abc',
      'accept-encoding': 'gzip',
      host: 'elsewhere.example',
      'content-length': '99',
      'transfer-encoding': 'chunked',
      connection: 'close',
    };
    await answered(deliveryOf(), requestTo(receiver.url.replace('://', '://user:pass@'), { headers }));
    expect(receiver.requests[0]?.headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      authorization: 'Bearer abc',
      'accept-encoding': 'gzip',
      'content-length': '7',
    });
  });

  it.each([{ 'x-a': 'one\r\nx-b: two' }, { 'x-a': 'line\nbreak' }, { 'bad name': 'value' }, { 'x-a': 'ž' }])(
    'never sends a header that is none: %o',
    async (headers) => {
      const receiver = await receiverOf();
      const error = await refused(deliveryOf(), requestTo(receiver.url, { headers }));
      expect(error.type).toBe('invalid_url');
      expect(receiver.connections).toBe(0);
    },
  );

  it('is nothing after a redirect', async () => {
    const target = await receiverOf();
    const receiver = await receiverOf({
      behaviour: { kind: 'answer', status: 307, headers: { location: `${target.url}/next` } },
    });
    const answer = await answered(deliveryOf(), requestTo(receiver.url));
    expect(answer.status).toBe(307);
    expect(answer.headers['location']).toEqual([`${target.url}/next`]);
    expect(target.connections).toBe(0);
  });

  it('uses IPv6, and says that there is no way where the host has none', async () => {
    const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
    const receiver = await receiverOf(hasIpv6 ? { host: '::1' } : {});
    const request = requestTo(`http://[::1]:${receiver.port}/`);
    if (hasIpv6) expect((await answered(deliveryOf(), request)).address).toBe('::1');
    else expect((await refused(deliveryOf(), request)).type).toBe('connect_failed');
  });
});

describe('answers', () => {
  it.each<[string, Behaviour]>([
    ['announced', { kind: 'large', bytes: 1_000_000 }],
    ['chunked', { kind: 'large', bytes: 1_000_000, chunked: true }],
    ['endless', { kind: 'drip', every: 1 }],
  ])('stop being read at the cap, and the connection is closed: %s', async (_name, behaviour) => {
    const receiver = await receiverOf({ behaviour });
    const answer = await answered(deliveryOf(), requestTo(receiver.url, { maximumResponseBytes: 50 }));
    expect(answer).toMatchObject({ status: 200, body: 'x'.repeat(50), truncated: true, address: '127.0.0.1' });
    await receiver.quiet();
  });

  it('that were compressed though nobody asked are decoded, and a bomb costs no more than the cap', async () => {
    const receiver = await receiverOf({ behaviour: { kind: 'gzip', bytes: 600 } });
    const delivery = deliveryOf();
    expect(await answered(delivery, requestTo(receiver.url))).toMatchObject({
      body: 'x'.repeat(600),
      truncated: false,
    });
    receiver.behave({ kind: 'gzip', bytes: 10_000_000 });
    const before = process.memoryUsage().rss;
    const answer = await answered(delivery, requestTo(receiver.url, { maximumResponseBytes: 16_384 }));
    expect(answer.body).toBe('x'.repeat(16_384));
    expect(answer.truncated).toBe(true);
    // The receiver itself makes 10 MB in this process; decoding them all would show as much again.
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  it('that are damaged or in an unknown encoding keep what is there', async () => {
    const zipped = gzipSync('y'.repeat(5000) + 'the end');
    const receiver = await receiverOf({
      behaviour: { kind: 'answer', status: 200, headers: { 'content-encoding': 'gzip' }, body: zipped.subarray(0, 20) },
    });
    const delivery = deliveryOf();
    expect((await answered(delivery, requestTo(receiver.url))).status).toBe(200);
    receiver.behave({ kind: 'answer', status: 200, headers: { 'content-encoding': 'gzip' }, body: 'not gzip' });
    expect(await answered(delivery, requestTo(receiver.url))).toMatchObject({ status: 200, body: '' });
    receiver.behave({ kind: 'answer', status: 200, headers: { 'content-encoding': 'made-up' }, body: 'as it is' });
    expect(await answered(delivery, requestTo(receiver.url))).toMatchObject({ body: 'as it is', truncated: false });
  });

  it.each([204, 304])('with the status %i end with their headers, also when these announce a body', async (status) => {
    const receiver = await receiverOf();
    receiver.behave({ kind: 'answer', status, headers: { 'content-length': '5', 'x-a': 'b' } });
    const delivery = deliveryOf();
    for (const n of [1, 2]) {
      const answer = await answered(delivery, requestTo(`${receiver.url}/${n}`));
      expect(answer).toMatchObject({ status, headers: { 'x-a': ['b'] }, body: '', truncated: false });
    }
    // What follows on such a connection is not known.
    expect(receiver.connections).toBe(2);
  });

  it('with bytes that are no UTF-8 are text all the same', async () => {
    const body = Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xf0, 0x9f, 0x90]);
    const receiver = await receiverOf({ behaviour: { kind: 'answer', status: 200, body } });
    expect((await answered(deliveryOf(), requestTo(receiver.url))).body).toBe('a\uFFFD\uFFFD(\uFFFD');
  });

  it('with headers named like members of objects change nothing else', async () => {
    const headers = { ['__proto__']: ['a', 'b'], constructor: 'c', hasownproperty: 'd', 'x-a': 'e' };
    const receiver = await receiverOf({ behaviour: { kind: 'answer', status: 200, headers } });
    const answer = await answered(deliveryOf(), requestTo(receiver.url));
    expect(Object.getPrototypeOf(answer.headers)).toBe(Object.prototype);
    expect(Object.keys(answer.headers)).not.toContain('__proto__');
    expect(answer.headers).toMatchObject({ constructor: ['c'], hasownproperty: ['d'], 'x-a': ['e'] });
  });

  it.each([
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 100\r\nserver: early\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 102 Processing\r\n\r\n',
  ])('may follow interim ones that nobody asked for: %j', async (interim) => {
    const body = 'HTTP/1.1 100 Continue';
    const bytes = `${interim}HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const receiver = await receiverOf({ behaviour: { kind: 'bytes', bytes } });
    expect(await answered(deliveryOf(), requestTo(receiver.url))).toMatchObject({ status: 200, body });
    expect(receiver.requests).toHaveLength(1);
  });

  it('that drip forever end with the total timeout and say that headers had come', async () => {
    const receiver = await receiverOf({ behaviour: { kind: 'drip', every: 5 } });
    const error = await refused(deliveryOf(), requestTo(receiver.url, { totalTimeout: 1500 }));
    expect(error).toMatchObject({ type: 'total_timeout', address: '127.0.0.1' });
    expect(error.timing.headersAfter).toBeGreaterThan(0);
    expect(error.timing.total).toBeGreaterThan(1490);
    await receiver.quiet();
  });

  it.each<[Behaviour, DeliveryError['type']]>([
    ['reset', 'connection_reset'],
    ['half_open', 'connection_reset'],
    ['cut_short', 'connection_reset'],
    ['garbage', 'invalid_response'],
    [{ kind: 'headers', count: 100, bytes: 1000 }, 'invalid_response'],
    [{ kind: 'answer', status: 101, headers: { upgrade: 'other', connection: 'upgrade' } }, 'invalid_response'],
  ])('that are none: %o is %s', async (behaviour, type) => {
    const receiver = await receiverOf({ behaviour });
    const error = await refused(deliveryOf(), requestTo(receiver.url));
    expect(error.type).toBe(type);
    expect(error.message.startsWith(`${receiver.url}: `)).toBe(true);
    await receiver.quiet();
  });
});

describe('connections', () => {
  it('are used again', async () => {
    const receiver = await receiverOf();
    const delivery = deliveryOf();
    for (let count = 0; count < 20; count += 1) await answered(delivery, requestTo(receiver.url));
    expect(receiver.connections).toBe(1);
  });

  it('are never more than asked for, and whoever waits is served in order', async () => {
    const receiver = await receiverOf({ behaviour: { kind: 'late', after: 2 } });
    const delivery = deliveryOf({ socketsPerHost: 2 });
    const bodies = Array.from({ length: 12 }, (_, n) => String(n).padStart(2, '0'));
    await Promise.all(bodies.map((body) => answered(delivery, requestTo(receiver.url, { body }))));
    expect(receiver.connections).toBe(2);
    expect(receiver.requests.map((request) => request.body).sort()).toEqual(bodies);
  });

  it('are as many as requests at once, however many follow', async () => {
    const receiver = await receiverOf();
    const delivery = deliveryOf();
    const lane = async (): Promise<void> => {
      for (let count = 0; count < 20; count += 1) await answered(delivery, requestTo(receiver.url));
    };
    await Promise.all(Array.from({ length: 16 }, lane));
    expect(receiver.connections).toBeLessThanOrEqual(16);
  });

  it('are never more than asked for, also when the other end closes them and names cannot be resolved', async () => {
    let atOnce = 0;
    let most = 0;
    const server = createServer((request, response) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      request.resume();
      setTimeout(() => {
        atOnce -= 1;
        response.writeHead(204, { connection: 'close' }).end();
      }, 5);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    opened.push({ close: async () => void server.close() });
    let lookups = 0;
    const delivery = deliveryOf({
      socketsPerHost: 2,
      lookup: async () => {
        lookups += 1;
        if (lookups % 3 === 0) throw new Error('no answer');
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    const { port } = server.address() as AddressInfo;
    const sent = Array.from({ length: 40 }, () => delivery.send(requestTo(`http://a.example:${port}/`)));
    const outcomes = await Promise.all(sent);
    expect(outcomes.filter((outcome) => outcome.isOk()).length).toBeGreaterThan(20);
    expect(most).toBe(2);
  });

  it('waiting for one counts into the total, not into the connect timeout', async () => {
    const receiver = await receiverOf({ behaviour: 'hang' });
    const delivery = deliveryOf({ socketsPerHost: 1 });
    const holding = new AbortController();
    const first = refused(delivery, requestTo(receiver.url, { totalTimeout: patience, signal: holding.signal }));
    await receiver.received(1);
    const times = { connectTimeout: 1000, totalTimeout: 1200 };
    const second = refused(delivery, requestTo(receiver.url, times));
    const third = delivery.send(requestTo(receiver.url, { ...times, totalTimeout: patience, body: 'third' }));
    expect((await second).type).toBe('total_timeout');
    expect(receiver.requests).toHaveLength(1);
    receiver.behave('ok');
    holding.abort();
    expect((await first).type).toBe('aborted');
    expect((await third).isOk()).toBe(true);
    expect(receiver.requests.map((request) => request.body)).toEqual(['{"a":1}', 'third']);
  });

  it('that are reset on being used again get one second try on a fresh one', async () => {
    const receiver = await receiverOf({ behaviour: 'reset_when_reused' });
    const delivery = deliveryOf();
    expect((await answered(delivery, requestTo(receiver.url, { body: 'first' }))).status).toBe(204);
    expect((await answered(delivery, requestTo(receiver.url, { body: 'second' }))).status).toBe(204);
    expect(receiver.requests.map(({ body, connection }) => [body, connection])).toEqual([
      ['first', 1],
      ['second', 1],
      ['second', 2],
    ]);
  });

  it('that are reset at their first request get no second try', async () => {
    const receiver = await receiverOf({ behaviour: 'reset' });
    expect((await refused(deliveryOf(), requestTo(receiver.url))).type).toBe('connection_reset');
    expect(receiver.requests).toHaveLength(1);
  });

  it('that are reset again on the second try fail', async () => {
    const receiver = await receiverOf({ behaviour: (_request, n) => (n === 1 ? 'ok' : 'reset') });
    const delivery = deliveryOf();
    await answered(delivery, requestTo(receiver.url));
    expect((await refused(delivery, requestTo(receiver.url))).type).toBe('connection_reset');
    expect(receiver.requests).toHaveLength(3);
  });

  it('that the other end closes after each answer are opened anew', async () => {
    const receiver = await receiverOf({
      behaviour: { kind: 'answer', status: 200, headers: { connection: 'close' }, body: 'bye' },
    });
    const delivery = deliveryOf({ socketsPerHost: 1 });
    const sent = Array.from({ length: 5 }, () => answered(delivery, requestTo(receiver.url)));
    expect((await Promise.all(sent)).map((answer) => answer.body)).toEqual(Array(5).fill('bye'));
    expect(receiver.connections).toBe(5);
  });

  it('are refused when nobody listens', async () => {
    const error = await refused(deliveryOf(), requestTo(`http://127.0.0.1:${await freePort()}/secret-path`));
    expect(error.type).toBe('connect_failed');
    expect(error.message).toMatch(/^http:\/\/127\.0\.0\.1:\d+: could not connect \(ECONNREFUSED\)$/);
    expect(error.address).toBeNull();
  });

  it('time out while TLS does not get going', async () => {
    const silent = await startSilentReceiver();
    opened.push(silent);
    const delivery = deliveryOf();
    const error = await refused(
      delivery,
      requestTo(`https://localhost:${silent.port}/`, { connectTimeout: 120, totalTimeout: patience }),
    );
    expect(error.type).toBe('connect_timeout');
    expect(error.timing.total).toBeLessThan(2000);
  });

  it('time out while a name does not resolve', async () => {
    const delivery = deliveryOf({ lookup: () => new Promise(() => undefined) });
    const error = await refused(delivery, requestTo('http://slow.example/', { connectTimeout: 60 }));
    expect(error.type).toBe('connect_timeout');
  });

  it('end with a signal while being made, and while waiting for one', async () => {
    const delivery = deliveryOf({ lookup: () => new Promise(() => undefined), socketsPerHost: 1 });
    const controller = new AbortController();
    const sent = [1, 2].map(() => refused(delivery, requestTo('http://slow.example/', { signal: controller.signal })));
    setTimeout(() => controller.abort(), 20);
    expect((await Promise.all(sent)).map((error) => error.type)).toEqual(['aborted', 'aborted']);
  });

  it('fail when a name does not exist', async () => {
    const missing = Object.assign(new Error('getaddrinfo ENOTFOUND secret.example'), { code: 'ENOTFOUND' });
    for (const lookup of [() => Promise.reject(missing), async () => []]) {
      const error = await refused(deliveryOf({ lookup }), requestTo('http://missing.example/'));
      expect(error.type).toBe('name_not_resolved');
      expect(error.message).not.toContain('secret');
    }
  });

  it('let their last exchanges finish at closing, and do not stay open', async () => {
    const receiver = await receiverOf({ behaviour: { kind: 'late', after: 40 } });
    const delivery = undiciDelivery({ allow: { cidrs: ['127.0.0.0/8'] }, socketsPerHost: 1 });
    const sent = [1, 2].map(() => answered(delivery, requestTo(receiver.url)));
    await receiver.received(1);
    await delivery.close();
    expect((await Promise.all(sent)).map((answer) => answer.status)).toEqual([204, 204]);
    await receiver.quiet();
  });

  it('go when they have been idle', async () => {
    const receiver = await receiverOf();
    const delivery = deliveryOf({ keepAlive: 30 });
    await answered(delivery, requestTo(receiver.url));
    await receiver.quiet();
    await answered(delivery, requestTo(receiver.url));
    expect(receiver.connections).toBe(2);
  });
});

describe('TLS', () => {
  it('works with a certificate of an authority that was added', async () => {
    const receiver = await receiverOf({ tls: 'trusted' });
    const delivery = deliveryOf({ ca: testAuthority });
    const answers = [
      await answered(delivery, requestTo(receiver.url)),
      await answered(delivery, requestTo(receiver.url)),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([204, 204]);
    expect(receiver.connections).toBe(1);
    const byAddress = receiver.url.replace('localhost', '127.0.0.1');
    expect((await answered(delivery, requestTo(byAddress))).status).toBe(204);
  });

  it.each([
    ['self-signed', [testAuthority]],
    ['expired', [testAuthority]],
    ['wrong-host', [testAuthority]],
    ['trusted', []],
  ] as const)('fails with a certificate that is %s', async (tls, ca) => {
    const receiver = await receiverOf({ tls });
    const error = await refused(deliveryOf({ ca }), requestTo(receiver.url));
    expect(error.type).toBe('tls_failed');
    expect(error.message).toContain(receiver.url);
    expect(receiver.requests).toEqual([]);
  });

  it('cannot be switched off by the environment', async () => {
    const receiver = await receiverOf({ tls: 'self-signed' });
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect((await refused(deliveryOf(), requestTo(receiver.url))).type).toBe('tls_failed');
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });

  it('fails when the other end speaks plain HTTP', async () => {
    const receiver = await receiverOf();
    const error = await refused(deliveryOf(), requestTo(receiver.url.replace('http:', 'https:')));
    expect(error.type).toBe('tls_failed');
  });
});

describe('settings', () => {
  it.each([
    { socketsPerHost: 0 },
    { socketsPerHost: 65 },
    { keepAlive: 0 },
    { allow: { cidrs: ['10.0.0.0'] } },
    { allow: { cidrs: ['10.0.0.0/40'] } },
    { allow: { hosts: ['http://corp.example'] } },
    { allow: { hosts: ['corp.example:80'] } },
    { allow: { hosts: [''] } },
    { allow: { hosts: ['user@corp.example'] } },
    // Node passes over authorities that it cannot read.
    { ca: '' },
    { ca: ['no certificate'] },
    { ca: `${testAuthority}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n` },
  ] satisfies UndiciDeliverySettings[])('that cannot be meant are refused at once: %o', (settings) => {
    expect(() => undiciDelivery(settings)).toThrow(TypeError);
  });

  it('can forbid ports and plain HTTP', async () => {
    const receiver = await receiverOf();
    const delivery = deliveryOf({ forbiddenPorts: [receiver.port, 443] });
    expect((await refused(delivery, requestTo(receiver.url))).type).toBe('address_forbidden');
    expect(delivery.check('https://hooks.example.net/').allowed).toBe(false);
    expect(delivery.check('http://hooks.example.net/').allowed).toBe(true);
    expect(deliveryOf({ httpsOnly: true }).check('http://hooks.example.net/').allowed).toBe(false);
    expect(receiver.connections).toBe(0);
  });
});
