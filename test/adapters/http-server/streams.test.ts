import { EventEmitter } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import {
  fetchHandler,
  type HttpHandler,
  type HttpResponse,
  nodeListener,
  requestFrom,
  type StreamedBody,
} from '../../../adapters/compat/index.js';
import { writeStream } from '../../../adapters/http-server/bridges/node-listener.js';
import type { Route } from '../../../adapters/http-server/calls/router.js';
import { handlerOver } from '../../../adapters/http-server/http-handler.js';
import { engineUnderTest } from './engine-under-test.js';
import { type Mounted, mounts } from './mounts.js';

/** A body whose pieces a test hands out one by one, and that says when it was closed. */
function scripted() {
  const pieces: string[] = [];
  let wake = (): void => undefined;
  let over = false;
  let closed = (): void => undefined;
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const body: StreamedBody = (async function* () {
    try {
      for (;;) {
        const piece = pieces.shift();
        if (piece !== undefined) yield piece;
        else if (over) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      closed();
    }
  })();
  return {
    body,
    isClosed,
    give: (piece: string) => {
      pieces.push(piece);
      wake();
    },
    end: () => {
      over = true;
      wake();
    },
  };
}

const answering =
  (body: () => StreamedBody, onClosed: () => void = () => undefined): HttpHandler =>
  async (request) => {
    request.whenClosed(onClosed);
    return { status: 200, headers: ['Content-Type', 'application/json'], body: body() };
  };

/** Asks and gives the response at its first byte of the head. */
function ask(origin: string, method = 'GET'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(`${origin}/v1/stream`, { method, agent: false }, resolve);
    request.on('error', reject);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string;
  return text;
}

const opened: Mounted[] = [];
afterAll(async () => {
  for (const mounted of opened) await mounted.close();
});

/** Hono's server prints what a stream fails with. */
const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
afterAll(() => printed.mockRestore());

describe.each(Object.entries(mounts))('a streamed answer under %s', (_name, mount) => {
  const open = async (handler: HttpHandler): Promise<string> => {
    const mounted = await mount(handler);
    opened.push(mounted);
    return mounted.origin;
  };

  it('comes piece by piece, without a length, and ends', async () => {
    const script = scripted();
    const response = await ask(await open(answering(() => script.body)));
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-length']).toBeUndefined();
    script.give('{"a":1}\n');
    const pieces = response.setEncoding('utf8')[Symbol.asyncIterator]();
    // The first piece is here although there is no second one yet.
    expect((await pieces.next()).value).toBe('{"a":1}\n');
    script.give('{"b":2}\n');
    expect((await pieces.next()).value).toBe('{"b":2}\n');
    script.end();
    expect((await pieces.next()).done).toBe(true);
    await script.isClosed;
  });

  it('is closed when the client goes away, and the handler hears of it', async () => {
    const script = scripted();
    let gone = (): void => undefined;
    const heard = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const response = await ask(
      await open(
        answering(
          () => script.body,
          () => gone(),
        ),
      ),
    );
    response.destroy();
    await heard;
    // The iterator waits in the middle of its work; it is closed as soon as that is over.
    script.give('too late');
    await script.isClosed;
  });

  it('is cut when its body fails, so that a part is not taken for the whole', async () => {
    const failing = (): StreamedBody =>
      (async function* () {
        yield '[1,2';
        throw new Error('with a secret');
      })();
    const response = await ask(await open(answering(failing)));
    const text = await textOf(response).catch(() => 'cut');
    expect(text).not.toContain('[1,2');
    expect(text).not.toContain('secret');
  });

  it('is asked for no more than the client takes', async () => {
    let produced = 0;
    const endless = (): StreamedBody =>
      (async function* () {
        for (;;) {
          produced += 1;
          yield Buffer.alloc(64 * 1024, 'x');
        }
      })();
    const response = await ask(await open(answering(endless)));
    response.pause();
    let before = -1;
    while (produced !== before) {
      before = produced;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // What fits into the buffers of two sockets and no more.
    expect(produced).toBeLessThan(400);
    response.destroy();
  });

  it('is not begun for HEAD', async () => {
    let begun = false;
    const body = (): StreamedBody =>
      (async function* () {
        begun = true;
        yield 'x';
      })();
    const response = await ask(await open(answering(body)), 'HEAD');
    expect([response.statusCode, await textOf(response)]).toEqual([200, '']);
    expect(begun).toBe(false);
  });
});

describe('a streamed answer over a socket', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function listening(handler: HttpHandler, stallTimeout: number): Promise<number> {
    server = createServer(nodeListener(handler, { stallTimeout }));
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  it('is cut off when the client takes nothing for too long', async () => {
    let closed = (): void => undefined;
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const endless = (): StreamedBody =>
      (async function* () {
        try {
          for (;;) yield Buffer.alloc(256 * 1024);
        } finally {
          closed();
        }
      })();
    const port = await listening(answering(endless), 50);
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    socket.pause();
    await isClosed;
    socket.destroy();
  });

  const megabytes = (count: number): Buffer => Buffer.alloc(count * 1024 * 1024, 'x');
  const onePiece = (): StreamedBody =>
    (async function* () {
      yield megabytes(24);
    })();
  const oneWhole = (): Buffer => megabytes(24);
  const shortLast = (): StreamedBody =>
    (async function* () {
      // What the buffers of two sockets hold, and a last piece that no drain is waited for.
      for (let sent = 0; sent < 24; sent += 1) yield megabytes(1);
      yield 'x';
    })();

  const answeringOnce =
    (body: () => HttpResponse['body'], onClosed: () => void = () => undefined): HttpHandler =>
    async (request) => {
      request.whenClosed(onClosed);
      return { status: 200, headers: [], body: body() };
    };

  it.each([
    ['a whole answer', oneWhole],
    ['a whole string', () => oneWhole().toString()],
    ['a stream of one piece', onePiece],
    ['a stream that ends with a short piece', shortLast],
  ])('%s is cut off, too, when the client accepts nothing for too long', async (_what, body) => {
    let closed = (): void => undefined;
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const port = await listening(answeringOnce(body, closed), 50);
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    socket.pause();
    await isClosed;
    await expect
      .poll(() => new Promise((resolve) => server?.getConnections((_error, count) => resolve(count))))
      .toBe(0);
    socket.destroy();
  });

  it.each([
    ['a whole answer', oneWhole],
    ['a whole string', () => oneWhole().toString()],
    ['a stream of one piece', onePiece],
  ])('%s continues for a client that is slow and makes progress', async (_what, body) => {
    const stallTimeout = 400;
    const port = await listening(answeringOnce(body), stallTimeout);
    const began = performance.now();
    const response = await ask(`http://127.0.0.1:${port}`);
    let received = 0;
    for await (const chunk of response) {
      received += (chunk as Buffer).length;
      // As slow as it takes to be well beyond the timeout in all.
      const behind = began + (received / (24 * 1024 * 1024)) * 3 * stallTimeout - performance.now();
      if (behind > 1) await new Promise((resolve) => setTimeout(resolve, behind));
    }
    expect(received).toBe(24 * 1024 * 1024);
    expect(performance.now() - began).toBeGreaterThan(2 * stallTimeout);
  });

  it('begins a pipelined request when the answers before it are complete', async () => {
    const begun: string[] = [];
    const answers: ((response: HttpResponse) => void)[] = [];
    const port = await listening(({ target }) => {
      begun.push(target);
      return new Promise((resolve) => answers.push(resolve));
    }, 1000);
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('')),
    );
    socket.resume();
    for (const expected of [['/1'], ['/1', '/2'], ['/1', '/2', '/3']]) {
      await expect.poll(() => begun).toEqual(expected);
      answers.shift()?.({ status: 200, headers: [], body: 'x' });
    }
    socket.destroy();
  });

  it('ends with the connection for HTTP/1.0', async () => {
    const body = (): StreamedBody =>
      (async function* () {
        yield 'one ';
        yield 'two';
      })();
    const port = await listening(answering(body), 1000);
    const text = await new Promise<string>((resolve) => {
      let received = '';
      const socket = connect(port, '127.0.0.1', () => socket.write('GET /x HTTP/1.0\r\n\r\n'));
      socket.on('data', (chunk) => {
        received += chunk.toString();
      });
      socket.on('close', () => resolve(received));
    });
    expect(text.endsWith('\r\n\r\none two'), text).toBe(true);
  });

  it('runs for long without leaving anything behind', async () => {
    const count = 20_000;
    const body = (): StreamedBody =>
      (async function* () {
        for (let i = 0; i < count; i++) yield `${i}\n`;
      })();
    const port = await listening(answering(body), 1000);
    const response = await ask(`http://127.0.0.1:${port}`);
    expect((await textOf(response)).split('\n')).toHaveLength(count + 1);
    expect(response.listenerCount('close')).toBeLessThan(5);
  });
});

describe('a route with a streamed answer', () => {
  const route: Route = {
    name: 'stream',
    interface: 'jobs',
    methods: ['GET'],
    path: '/v1/stream',
    access: { type: 'public' },
    handle: () =>
      Promise.resolve({
        status: 200,
        headers: ['Content-Type', 'application/json'],
        body: (async function* () {
          yield '{}\n'.repeat(2000);
        })(),
      }),
  };

  it('is not compressed, and forbids guessing its type', async () => {
    const handler = handlerOver([route], engineUnderTest(), { access: 'open' });
    const request = requestFrom({ target: '/v1/stream', headers: { 'accept-encoding': 'gzip' } });
    const response = await handler(request);
    expect(response.headers).not.toContain('Content-Encoding');
    expect(response.headers).toContain('nosniff');
  });

  it('reads whole through fetch', async () => {
    const answer = fetchHandler(handlerOver([route], engineUnderTest(), { access: 'open' }));
    const response = await answer(new Request('http://localhost/v1/stream'));
    expect(await response.text()).toBe('{}\n'.repeat(2000));
  });
});

describe('a streamed answer over HTTP/2', () => {
  it('does not wait for a client whose stream has gone', async () => {
    const stream = { destroyed: false };
    const takesNothing = Object.assign(new EventEmitter(), {
      stream,
      req: { method: 'GET' },
      writeHead: () => undefined,
      flushHeaders: () => undefined,
      end: () => undefined,
      destroy: () => undefined,
      write: () => {
        stream.destroyed = true;
        return false;
      },
    });
    const script = scripted();
    script.give('too late');
    await writeStream(takesNothing as never, { status: 200, headers: [], body: script.body }, 3_600_000);
  });
});
