import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHttpHandler, nodeListener } from '../../../adapters/compat/index.js';
import type { Engine } from '../../../src/index.js';
import { engineUnderTest } from './engine-under-test.js';
import { sampleJob } from './route-samples.js';

/** What no HTTP client library would send, written to the socket by hand. */

let server: Server;
let engine: Engine;

beforeAll(async () => {
  engine = engineUnderTest();
  server = createServer(nodeListener(createHttpHandler(engine, { access: 'open', maximumBodyBytes: 10_000 })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends the texts one after another and gives all that comes back until the other end closes or `enough` says so. */
function talk(texts: readonly string[], enough: (received: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => {
      for (const text of texts) socket.write(text, 'latin1');
    });
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
      if (enough(received)) socket.destroy();
    });
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });
}

const answers = (count: number) => (received: string) =>
  (received.match(/HTTP\/1\.1 \d/g) ?? []).length >= count && received.endsWith('"]');
const statuses = (received: string): readonly string[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1] as string);
const get = (target: string, further = ''): string => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${further}\r\n`;

describe('on one connection', () => {
  it('answers pipelined requests in their order', async () => {
    const received = await talk(
      [get('/v1/jobs') + get('/v1/job/none') + get('/nothing') + get('/v1/regions')],
      answers(4),
    );
    expect(statuses(received)).toEqual(['200', '404', '404', '200']);
    expect(received.indexOf('job not found')).toBeGreaterThan(received.indexOf('[]'));
  });

  it('keeps the order when the first answer has to wait', async () => {
    const talking = talk([get('/v1/jobs?index=1000000&wait=60s') + get('/v1/regions')], answers(2));
    while (engine.parked.size < 1) await new Promise((resolve) => setImmediate(resolve));
    engine.parked.release();
    expect(statuses(await talking)).toEqual(['200', '200']);
  });

  it('goes on after a body that is too large, announced or not', async () => {
    const large = 'x'.repeat(20_000);
    const announced = `PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${large.length}\r\n\r\n${large}`;
    const chunked = `PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    const received = await talk([announced, chunked, get('/v1/regions')], answers(3));
    expect(statuses(received)).toEqual(['413', '413', '200']);
  });

  it('goes on after a body that nobody reads', async () => {
    const body = `POST /v1/regions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nabcde`;
    expect(statuses(await talk([body, get('/v1/regions')], answers(2)))).toEqual(['405', '200']);
  });

  it('answers `Expect: 100-continue`', async () => {
    const body = JSON.stringify({ Job: sampleJob('expected') });
    const head = `PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;
    const received = await talk([head, body, get('/v1/regions')], answers(3));
    expect(statuses(received)).toEqual(['100', '200', '200']);
  });
});

describe('requests with bodies', () => {
  const post = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}';

  it('continue together when they came in one turn of the event loop, so that their writes share a commit', async () => {
    const seen: string[] = [];
    const listening = createServer(
      nodeListener(async (request) => {
        seen.push((await request.readBody({ limit: 100, take: () => true })).type);
        for (let n = 0; n < 20; n += 1) await Promise.resolve();
        seen.push('answered');
        return { status: 200, headers: [], body: '["done"]' };
      }),
    );
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    const { port } = listening.address() as AddressInfo;
    const sockets = await Promise.all(
      [1, 2, 3].map(
        () =>
          new Promise<Socket>((resolve) => {
            const socket = connect(port, '127.0.0.1', () => resolve(socket));
          }),
      ),
    );
    const answersToAll = async (): Promise<void> => {
      const answered = sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve)));
      for (const socket of sockets) socket.write(post);
      await Promise.all(answered);
    };
    // The first requests come as the connections are accepted.
    await answersToAll();
    seen.length = 0;
    await answersToAll();
    expect(seen).toEqual([...Array(3).fill('bytes'), ...Array(3).fill('answered')]);
    for (const socket of sockets) socket.destroy();
    listening.close();
  });

  it('are answered while a test runner fakes timers', async () => {
    vi.useFakeTimers();
    try {
      const body = JSON.stringify({ Job: sampleJob('faked') });
      const head = `PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`;
      expect(statuses(await talk([head, body, get('/v1/regions')], answers(2)))).toEqual(['200', '200']);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('odd requests', () => {
  it.each([
    ['a target with scheme and host', get('http://localhost/v1/regions'), ['200']],
    ['a target of 12 KB', get(`/v1/regions?${'x'.repeat(12_000)}`), ['200']],
    ['a target that is no UTF-8', get('/v1/job/%ff%fe'), ['400']],
    ['raw bytes in the target', get('/v1/job/\u00ff'), ['404', '400']],
    ['dots in the path', get('/v1/job/../../etc/passwd'), ['404']],
    ['a NUL in the path', get('/v1/job/a%00b'), ['404']],
    ['an unknown method', 'BREW /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n', ['400']],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n', ['404']],
    ['HTTP/1.0', 'GET /v1/regions HTTP/1.0\r\n\r\n', ['200']],
    ['no host', 'GET /v1/regions HTTP/1.1\r\n\r\n', ['400']],
    [
      'two lengths',
      'PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      ['400'],
    ],
    [
      'a length and chunks',
      'PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ['400'],
    ],
    ['a header without end', `GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, ['431']],
    ['no HTTP at all', '\u0016\u0003\u0001\u0000hello\r\n\r\n', ['400']],
  ])('%s', async (_what, text, expected) => {
    const received = await talk([text], (all) => all.includes('\r\n\r\n'));
    expect(expected, received.slice(0, 200)).toContain(statuses(received)[0]);
  });

  it('forgets a reader that closes its connection', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(get('/v1/jobs?index=1000000&wait=60s'));
    while (engine.parked.size < 1) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    while (engine.parked.size > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it('survives a body that breaks off', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{"Job":', () =>
      socket.destroy(),
    );
    await new Promise((resolve) => socket.on('close', resolve));
    expect(statuses(await talk([get('/v1/regions')], answers(1)))).toEqual(['200']);
  });
});
