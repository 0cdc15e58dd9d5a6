import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  createHttpHandler,
  type HttpHandlerOptions,
  type MessageSocket,
  nodeListener,
  type UpgradeListener,
  type UpgradeOptions,
  upgradeListener,
} from '../../../adapters/compat/index.js';
import { nomad } from '../../../adapters/compat/nomad.js';
import type { Route, RouteCall } from '../../../adapters/http-server/calls/router.js';
import { neutral } from '../../../adapters/http-server/dialect.js';
import { handlerOver } from '../../../adapters/http-server/http-handler.js';
import { type Engine, hostPrincipal } from '../../../src/index.js';
import { putToken } from '../../../src/operations/access/tokens/put-token.js';
import type { Logger } from '../../../src/ports/index.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { engineUnderTest } from './engine-under-test.js';
import { type Mounted, mounts } from './mounts.js';

type Conversation = (call: RouteCall, socket: MessageSocket) => Promise<void>;

/** Sends back what comes. */
const echo: Conversation = async (_call, socket) => {
  for await (const message of socket.messages) await socket.send(message);
};

function routeOf(socket: Conversation): Route {
  return {
    name: 'talk',
    interface: 'jobs',
    methods: ['GET'],
    path: '/v1/talk/{id}',
    access: { type: 'namespace', anyOf: ['alloc-exec'] },
    handle: () => Promise.resolve({ status: 400, headers: [], body: 'this path needs a WebSocket' }),
    socket,
  };
}

interface Ended {
  readonly code: number;
  readonly reason: string;
}

/** A client that keeps what it is sent. */
class Peer {
  readonly webSocket: WebSocket;
  readonly received: (string | Buffer)[] = [];
  readonly ended: Promise<Ended>;
  readonly opened: Promise<void>;
  readonly refused: Promise<number>;
  #arrived: () => void = () => undefined;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}, options = {}) {
    this.webSocket = new WebSocket(url.replace(/^http/, 'ws'), { headers, ...options });
    this.webSocket.on('error', () => undefined);
    this.webSocket.on('message', (data, isBinary) => {
      this.received.push(isBinary ? (data as Buffer) : (data as Buffer).toString());
      this.#arrived();
    });
    this.ended = new Promise((resolve) => {
      this.webSocket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    this.opened = new Promise((resolve) => this.webSocket.on('open', resolve));
    this.refused = new Promise((resolve) => {
      this.webSocket.on('unexpected-response', (_request, response) => {
        resolve(response.statusCode ?? 0);
        response.resume();
        this.webSocket.terminate();
      });
    });
  }

  async has(count: number): Promise<void> {
    while (this.received.length < count) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }
}

const opened: Mounted[] = [];
afterAll(async () => {
  for (const mounted of opened) await mounted.close();
});

/** Says nothing and cuts the connection. */
const silentEnd: Conversation = (_call, socket) => {
  socket.cut();
  return Promise.resolve();
};

const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

/** Everything that comes back on a connection that asks for an upgrade with these headers. */
function answerTo(port: number, headers: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const lines = ['GET /v1/talk/x HTTP/1.1', 'Host: localhost', 'Connection: Upgrade', ...headers, '', ''];
    const socket = connect(port, '127.0.0.1', () => socket.write(lines.join('\r\n')));
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('close', () => resolve(text));
  });
}

describe.each(Object.entries(mounts))('a socket under %s', (_name, mount) => {
  it('carries text and bytes both ways, and ends with the code of the one who closes', async () => {
    const handler = handlerOver([routeOf(echo)], engineUnderTest(), { access: 'open' });
    const mounted = await mount(handler);
    opened.push(mounted);
    mounted.server.on('upgrade', upgradeListener(handler, { mountPath: mounted.mountPath }));
    const peer = new Peer(`${mounted.origin}/v1/talk/a%2Fb?x=1`);
    await peer.opened;
    peer.webSocket.send('héllo');
    peer.webSocket.send(Buffer.from([0, 255, 1]));
    await peer.has(2);
    expect(peer.received).toEqual(['héllo', Buffer.from([0, 255, 1])]);
    peer.webSocket.close(3001, 'enough');
    // The code comes back; a reason is what the one who closes says.
    expect(await peer.ended).toEqual({ code: 3001, reason: '' });
    // Ordinary requests go on beside it.
    expect((await fetch(`${mounted.origin}/v1/talk/x`)).status).toBe(400);
  });
});

describe('sockets', () => {
  let server: Server | undefined;
  let listener: UpgradeListener | undefined;
  const peers: Peer[] = [];
  const mutes: Socket[] = [];
  const failures: unknown[] = [];
  afterEach(() => {
    for (const peer of peers.splice(0)) peer.webSocket.terminate();
    for (const socket of mutes.splice(0)) socket.destroy();
    server?.closeAllConnections();
    server?.close();
    failures.length = 0;
  });

  interface Setting {
    readonly access?: HttpHandlerOptions;
    readonly options?: UpgradeOptions;
    readonly engine?: Engine;
  }

  async function listening(conversation: Conversation, setting: Setting = {}): Promise<number> {
    const note = (fields: unknown): void => void failures.push(fields);
    const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: note };
    const engine = setting.engine ?? engineUnderTest({}, logger);
    const { names, ...access } = setting.access ?? { access: 'open' };
    const dialects = { jobs: names === 'upstream' ? nomad : neutral, deliveryResponses: undefined };
    const handler = handlerOver([routeOf(conversation)], engine, access, dialects);
    listener = upgradeListener(handler, setting.options);
    server = createServer(nodeListener(handler)).on('upgrade', listener);
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  function peerAt(port: number, target = '/v1/talk/x', headers = {}, options = {}): Peer {
    const peer = new Peer(`ws://127.0.0.1:${port}${target}`, headers, options);
    peers.push(peer);
    return peer;
  }

  describe('who may open one', () => {
    it.each([
      ['a page of another origin', { Origin: 'https://evil.example' }, 403],
      ['a page without an origin', { Origin: 'null' }, 403],
      ['a page of the same site', { 'Sec-Fetch-Site': 'same-site' }, 403],
      ['another host', { Host: 'evil.example' }, 421],
    ])('%s may not', async (_what, headers, status) => {
      const port = await listening(echo);
      expect(await peerAt(port, '/v1/talk/x', headers).refused).toBe(status);
    });

    it('its own page may', async () => {
      const port = await listening(echo);
      await peerAt(port, '/v1/talk/x', { Origin: `http://127.0.0.1:${port}` }).opened;
    });

    it('nobody may on a path without one, and a path that is none of the server is a 404, or left alone', async () => {
      const port = await listening(echo);
      expect(await peerAt(port, '/v1/openapi.json').refused).toBe(404);
      expect(await peerAt(port, '/nothing').refused).toBe(404);
      expect(await peerAt(port, '/v1/job/x/plan').refused).toBe(404);
      server?.close();
      const shared = await listening(echo, { options: { unknownPaths: 'ignore' } });
      server?.on('upgrade', (request, socket) => {
        if (request.url === '/other') socket.end('HTTP/1.1 418 Mine\r\n\r\n');
      });
      expect(await peerAt(shared, '/other').refused).toBe(418);
      await peerAt(shared).opened;
    });

    it('a path of an allocation that leads to nothing is told by the close code, to those who ask for a socket', async () => {
      const port = await listening(echo);
      const peer = peerAt(port, '/v1/client/allocation/x/execute');
      expect(await peer.ended).toEqual({ code: 1008, reason: 'resource not found' });
      expect((await fetch(`http://127.0.0.1:${port}/v1/client/allocation/x/execute`)).status).toBe(404);
      const foreign = peerAt(port, '/v1/client/allocation/x/execute', { Origin: 'https://evil.example' });
      expect(await foreign.refused).toBe(403);
    });

    it('no more may than there is room for', async () => {
      const port = await listening(echo, { options: { maximumSockets: 2 } });
      const [first] = [peerAt(port), peerAt(port)];
      await Promise.all(peers.map((peer) => peer.opened));
      expect(await peerAt(port).refused).toBe(503);
      first.webSocket.close();
      await first.ended;
      await peerAt(port).opened;
    });

    /** Opens an upgrade on a bare connection that answers nothing, not even the close frame; gives it when the frame has arrived. */
    function mute(port: number, headers: readonly string[] = []): Promise<Socket> {
      return new Promise((resolve) => {
        const asked = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', key, ...headers];
        const lines = ['GET /v1/talk/x HTTP/1.1', 'Host: localhost', 'Connection: Upgrade', ...asked, '', ''];
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () =>
          socket.write(lines.join('\r\n')),
        );
        let received = '';
        socket
          .on('error', () => undefined)
          .on('data', (chunk) => {
            received += chunk.toString('latin1');
            if (/\r\n\r\n./s.test(received)) resolve(socket);
          });
        mutes.push(socket);
      });
    }

    const connections = (): Promise<number> =>
      new Promise((resolve) => server?.getConnections((_error, count) => resolve(count)));

    it('a refused one has no place any more, also when its peer never closes it', async () => {
      const engine = engineUnderTest();
      await putToken(engine, hostPrincipal, { secret: 'may-do-everything', name: 'm', management: true });
      const port = await listening(echo, { engine, access: { access: 'token' }, options: { maximumSockets: 2 } });
      for (let count = 0; count < 50; count += 1) await mute(port, ['X-Nomad-Token: nobody-has-this-one']);
      for (let round = 0; round < 100; round += 1) {
        const two = [mute(port, ['X-Nomad-Token: nobody-has-this-one']), mute(port, ['X-Nomad-Token: nor-this-one'])];
        await Promise.all(two);
      }
      await peerAt(port, '/v1/talk/x', { 'X-Nomad-Token': 'may-do-everything' }).opened;
      // Few of them are waited for.
      await expect.poll(connections).toBeLessThanOrEqual(65);
    });

    it('one that gets an ordinary answer is not waited for with many others', async () => {
      const port = await listening(echo, { options: { maximumSockets: 2 } });
      await Promise.all(Array.from({ length: 200 }, () => mute(port, ['Origin: https://evil.example'])));
      await expect.poll(connections).toBeLessThanOrEqual(64);
    });

    it('one caller may not have all, and an eighth is reserved for management', async () => {
      const engine = engineUnderTest();
      const namespaces = { default: { capabilities: ['alloc-exec' as const] } };
      for (const name of ['one', 'two', 'three', 'four']) {
        await putToken(engine, hostPrincipal, { secret: `token-of-${name}`, name, namespaces });
      }
      await putToken(engine, hostPrincipal, { secret: 'may-do-everything', name: 'm', management: true });
      const port = await listening(echo, { engine, access: { access: 'token' }, options: { maximumSockets: 8 } });
      const tokens = ['one', 'one', 'two', 'two', 'three', 'three', 'four'].map((name) => `token-of-${name}`);
      const talks = async (token: string): Promise<boolean> => {
        const peer = peerAt(port, '/v1/talk/x', { 'X-Nomad-Token': token });
        await peer.opened;
        peer.webSocket.send('hello');
        return Promise.race([peer.has(1).then(() => true), peer.ended.then(({ code }) => code !== 1013)]);
      };
      expect(await talks(tokens[0] as string)).toBe(true);
      expect(await talks(tokens[1] as string)).toBe(true);
      expect(await talks('token-of-one')).toBe(false);
      for (const token of tokens.slice(2)) expect(await talks(token)).toBe(true);
      expect(await talks('token-of-four')).toBe(false);
      expect(await talks('may-do-everything')).toBe(true);
      peers[0]?.webSocket.close();
      await peers[0]?.ended;
      await expect.poll(() => talks('token-of-one')).toBe(true);
    });

    it('another upgrade is answered as if it had not been asked for', async () => {
      const answer = await answerTo(await listening(echo), ['Upgrade: h2c']);
      expect(answer).toContain('HTTP/1.1 400 Bad Request');
      expect(answer).toContain('this path needs a WebSocket');
    });

    it.each([
      ['no version', [key]],
      ['an early version', [key, 'Sec-WebSocket-Version: 8']],
      ['an unreadable version', [key, 'Sec-WebSocket-Version: new']],
      ['no key', ['Sec-WebSocket-Version: 13']],
      ['a short key', ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: abc']],
    ])('%s is a bad request, in plain text, which names the version', async (_what, headers) => {
      const answer = await answerTo(await listening(echo), ['Upgrade: websocket', ...headers]);
      expect(answer).toContain('HTTP/1.1 400 Bad Request');
      expect(answer).toContain('Content-Type: text/plain; charset=utf-8');
      expect(answer).toContain('Sec-WebSocket-Version: 13\r\n');
    });

    it('no protocol is agreed on', async () => {
      const headers = ['Upgrade: websocket', key, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Protocol: a, b'];
      const answer = await answerTo(await listening(silentEnd), headers);
      expect(answer).toContain('HTTP/1.1 101 Switching Protocols');
      expect(answer).not.toMatch(/protocol:/i);
    });
  });

  describe('tokens', () => {
    const known: Conversation = async ({ caller }, socket) => {
      await socket.send(caller.name);
    };

    async function guarded(names: 'neutral' | 'upstream' = 'neutral'): Promise<number> {
      const engine = engineUnderTest();
      const namespaces = { default: { capabilities: ['alloc-exec' as const] } };
      await putToken(engine, hostPrincipal, { secret: 'may-run-commands', name: 'able', namespaces });
      await putToken(engine, hostPrincipal, { secret: 'may-do-nothing-here', name: 'unable' });
      return listening(known, { engine, access: { access: 'token', names } });
    }

    const hello = (token: string): string => JSON.stringify({ version: 1, auth_token: token });

    it.each([
      ['in a header', '', { 'X-Nomad-Token': 'may-run-commands' }, undefined],
      ['as a bearer', '', { Authorization: 'Bearer may-run-commands' }, undefined],
      ['in the first message', '?ws_handshake=true', {}, hello('may-run-commands')],
      [
        'in other letters, before something else',
        '?ws_handshake=t',
        {},
        '{"Version":1,"AUTH_TOKEN":"may-run-commands"} x',
      ],
      [
        'in a header, with a handshake that is left empty',
        '?ws_handshake=',
        { 'X-Nomad-Token': 'may-run-commands' },
        undefined,
      ],
      ['in both', '?ws_handshake=1', { 'X-SVC-Token': 'may-run-commands' }, hello('may-run-commands')],
    ])('are taken %s', async (_how, query, headers, first) => {
      const peer = peerAt(await guarded(), '/v1/talk/x' + query, headers);
      await peer.opened;
      if (first !== undefined) peer.webSocket.send(first);
      expect((await peer.ended).code).toBe(1000);
      expect(peer.received).toEqual(['able']);
    });

    it('one that is no UUID is an unreadable signature to clients of the upstream, an unknown UUID is not', async () => {
      const port = await guarded('upstream');
      const unreadable = peerAt(port, '/v1/talk/x', { 'X-Nomad-Token': 'nobody-has-this-one' });
      const reason = expect.stringMatching(/^rpc error: failed to parse signed token: .*must have three parts$/);
      expect(await unreadable.ended).toEqual({ code: 1008, reason });
      const unknown = peerAt(port, '/v1/talk/x', { 'X-Nomad-Token': '00000000-1111-2222-3333-444444444444' });
      expect(await unknown.ended).toEqual({ code: 1008, reason: 'rpc error: Permission denied' });
    });

    it('are awaited from 64 sockets at once: the oldest makes room, and others with a header are served meanwhile', async () => {
      const port = await guarded();
      const silent = Array.from({ length: 64 }, () => peerAt(port, '/v1/talk/x?ws_handshake=true', {}));
      for (const { opened } of silent) await opened;
      const further = peerAt(port, '/v1/talk/x?ws_handshake=true', {});
      await further.opened;
      expect(await silent[0]?.ended).toMatchObject({
        code: 1011,
        reason: expect.stringContaining('too many sockets are waiting for their handshake'),
      });
      further.webSocket.send(hello('may-run-commands'));
      expect((await further.ended).code).toBe(1000);
      const able = peerAt(port, '/v1/talk/x', { 'X-Nomad-Token': 'may-run-commands' });
      expect((await able.ended).code).toBe(1000);
      for (const { webSocket } of silent.slice(1)) webSocket.send(hello('nobody-has-this-one'));
      for (const { ended } of silent) await ended;
      const again = peerAt(port, '/v1/talk/x?ws_handshake=true', {});
      await again.opened;
      again.webSocket.send(hello('may-run-commands'));
      expect((await again.ended).code).toBe(1000);
    });

    it.each([
      ['none', '', {}, undefined, 1011, 'Permission denied'],
      ['an empty one', '?ws_handshake=true', {}, hello(''), 1011, 'Permission denied'],
      ['an unknown one', '?ws_handshake=true', {}, hello('nobody-has-this-one'), 1008, 'rpc error: Permission denied'],
      ['one without the right', '?ws_handshake=true', {}, hello('may-do-nothing-here'), 1011, 'Permission denied'],
      ['one in a first message that was not announced', '', {}, hello('may-run-commands'), 1011, 'Permission denied'],
      [
        'two that differ',
        '?ws_handshake=true',
        { 'X-SVC-Token': 'x' },
        hello('y'),
        1008,
        'handshake auth token mismatched',
      ],
      ['another version', '?ws_handshake=true', {}, '{"version":2}', 1008, 'unexpected handshake value: 2'],
      ['no version', '?ws_handshake=true', {}, 'null', 1008, 'unexpected handshake value: 0'],
      ['no version but null', '?ws_handshake=true', {}, '{"version":null}', 1008, 'unexpected handshake value: 0'],
      [
        'a version that is no number',
        '?ws_handshake=true',
        {},
        '{"version":"1"}',
        1008,
        'json: cannot unmarshal string',
      ],
      ['a version between two', '?ws_handshake=true', {}, '{"version":1.5}', 1008, 'unmarshal number 1.5 into'],
      [
        'a token that is no text',
        '?ws_handshake=true',
        {},
        '{"version":1,"auth_token":7}',
        1008,
        'auth_token of type string',
      ],
      ['a list', '?ws_handshake=true', {}, '[1]', 1008, 'cannot unmarshal array into'],
      ['no JSON', '?ws_handshake=true', {}, 'hello', 1008, "invalid character 'h' looking for beginning of value"],
      ['nothing', '?ws_handshake=true', {}, '', 1008, 'unexpected EOF'],
      [
        'an announcement that is none',
        '?ws_handshake=perhaps',
        {},
        undefined,
        1008,
        'ws_handshake value is not a boolean',
      ],
    ])('are refused after the upgrade: %s', async (_what, query, headers, first, code, reason) => {
      const peer = peerAt(await guarded(), '/v1/talk/x' + query, headers);
      await peer.opened;
      if (first !== undefined) peer.webSocket.send(first);
      expect(await peer.ended).toEqual({ code, reason: expect.stringContaining(reason) });
      expect(peer.received).toEqual([]);
    });

    /** A server of an engine with its own sockets. */
    async function serving(engine: Engine, access: 'token' | 'open'): Promise<number> {
      const handler = createHttpHandler(engine, { access });
      listener = upgradeListener(handler);
      server = createServer(nodeListener(handler)).on('upgrade', listener);
      await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    }

    it('in an unknown region are of no use', async () => {
      const port = await serving(engineUnderTest(), 'open');
      const peer = peerAt(port, '/v1/job/x/action?allocID=a&task=main&action=greet&region=mars');
      expect(await peer.ended).toEqual({ code: 1011, reason: expect.stringContaining('No path to region') });
    });

    it('without a right do not hide that an allocation is unknown', async () => {
      const engine = engineUnderTest();
      await putToken(engine, hostPrincipal, { secret: 'may-do-nothing-here', name: 'unable' });
      const port = await serving(engine, 'token');
      const unknown = '5d1f6f58-1111-4222-8333-944455556666';
      for (const target of [
        `/v1/client/allocation/${unknown}/exec?task=main&command=["ls"]`,
        `/v1/job/x/action?allocID=${unknown}&task=main&action=greet`,
      ]) {
        for (const headers of [{}, { 'X-Nomad-Token': 'may-do-nothing-here' }]) {
          const peer = peerAt(port, target, headers);
          expect(await peer.ended).toEqual({ code: 1008, reason: `Unknown allocation "${unknown}"` });
        }
      }
    });

    it('need not come when the client goes away first', async () => {
      const peer = peerAt(await guarded(), '/v1/talk/x?ws_handshake=true');
      await peer.opened;
      peer.webSocket.close();
      await peer.ended;
      expect(failures).toEqual([]);
    });
  });

  describe('bounds', () => {
    it('a message over the limit closes the socket with 1009', async () => {
      const peer = peerAt(await listening(echo, { options: { maximumMessageBytes: 1000 } }));
      await peer.opened;
      peer.webSocket.send('x'.repeat(1001));
      expect((await peer.ended).code).toBe(1009);
    });

    it('a reader that does not take its messages holds the sender back', async () => {
      let taking = (): void => undefined;
      const begin = new Promise<void>((resolve) => {
        taking = resolve;
      });
      let taken = 0;
      const slow: Conversation = async (_call, socket) => {
        await begin;
        for await (const message of socket.messages) taken += message.length;
      };
      const peer = peerAt(await listening(slow, { options: { maximumQueuedBytes: 64 * 1024 } }));
      await peer.opened;
      const piece = Buffer.alloc(64 * 1024);
      const count = 512;
      for (let i = 0; i < count; i++) peer.webSocket.send(piece);
      await settled(() => peer.webSocket.bufferedAmount);
      // Most of the 32 MiB waits at the sender.
      expect(peer.webSocket.bufferedAmount).toBeGreaterThan((count / 2) * piece.length);
      taking();
      while (taken < count * piece.length) await new Promise((resolve) => setImmediate(resolve));
    });

    it('a sender waits for a peer that does not read, and gives up after a while', async () => {
      let sent = 0;
      const flood: Conversation = async (_call, socket) => {
        while (await socket.send(Buffer.alloc(64 * 1024))) sent += 1;
      };
      const port = await listening(flood, { options: { maximumQueuedBytes: 128 * 1024, stallTimeout: 50 } });
      const socket = connect(port, '127.0.0.1', () => socket.write(upgradeText(port)));
      socket.pause();
      const closed = new Promise((resolve) => server?.once('connection', (raw) => raw.once('close', resolve)));
      await closed.catch(() => undefined);
      expect(sent).toBeLessThan(1000);
      socket.destroy();
    });

    it('a sender that does not wait cannot fill the memory', async () => {
      const careless: Conversation = async (_call, socket) => {
        for (let i = 0; i < 10_000; i++) void socket.send(Buffer.alloc(64 * 1024));
        await socket.closed;
      };
      const port = await listening(careless, { options: { maximumQueuedBytes: 64 * 1024 } });
      const before = process.memoryUsage().arrayBuffers;
      const socket = connect(port, '127.0.0.1', () => socket.write(upgradeText(port)));
      socket.pause();
      await new Promise((resolve) => server?.once('connection', (raw) => raw.once('close', resolve)));
      collectGarbage();
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 * 1024);
      socket.destroy();
    });

    it('a peer that answers no ping is gone', async () => {
      let ended = (_end: unknown): void => undefined;
      const end = new Promise((resolve) => {
        ended = resolve;
      });
      const waiting: Conversation = async (_call, socket) => {
        ended(await socket.closed);
      };
      const port = await listening(waiting, { options: { idleTimeout: 40 } });
      peerAt(port, '/v1/talk/x', {}, { autoPong: false });
      expect(await end).toMatchObject({ code: 1006 });
    });

    it('a peer that goes while its messages are not read is gone', async () => {
      let ended = (_end: unknown): void => undefined;
      const end = new Promise((resolve) => {
        ended = resolve;
      });
      const deaf: Conversation = async (_call, socket) => {
        ended(await socket.closed);
      };
      const port = await listening(deaf, { options: { idleTimeout: 2000, maximumQueuedBytes: 64 * 1024 } });
      const peer = peerAt(port);
      await peer.opened;
      for (let count = 0; count < 400; count++) peer.webSocket.send(Buffer.alloc(64 * 1024));
      let unsent = 0;
      for (let before = -1; unsent !== before; ) {
        before = unsent;
        await new Promise((resolve) => setTimeout(resolve, 20));
        unsent = peer.webSocket.bufferedAmount;
      }
      expect(unsent).toBeGreaterThan(0);
      peer.webSocket.terminate();
      expect(await end).toMatchObject({ code: 1006 });
    });

    it('a peer that answers pings stays', async () => {
      const port = await listening(echo, { options: { idleTimeout: 200 } });
      const peer = peerAt(port);
      let pings = 0;
      await new Promise<void>((resolve) => {
        peer.webSocket.on('ping', () => {
          pings += 1;
          if (pings === 5) resolve();
        });
      });
      expect(peer.webSocket.readyState).toBe(WebSocket.OPEN);
    });

    it('a long reason is cut at a character', async () => {
      const peer = peerAt(await listening(async (_call, socket) => socket.close(1008, 'é'.repeat(100))));
      expect(await peer.ended).toEqual({ code: 1008, reason: 'é'.repeat(61) });
    });
  });

  describe('ends', () => {
    it('with 1000 when the conversation is over, after all that was sent', async () => {
      const port = await listening(async (_call, socket) => {
        for (let i = 0; i < 100; i++) await socket.send(String(i));
      });
      const peer = peerAt(port);
      expect(await peer.ended).toEqual({ code: 1000, reason: '' });
      expect(peer.received).toHaveLength(100);
    });

    it('without a close frame when it is cut, after all that was sent', async () => {
      const port = await listening(async (_call, socket) => {
        void socket.send('x'.repeat(500_000));
        socket.cut();
        await socket.closed;
      });
      const peer = peerAt(port);
      expect((await peer.ended).code).toBe(1006);
      expect(peer.received[0]).toHaveLength(500_000);
    });

    it('with 1011 and no word of the cause when the conversation fails', async () => {
      const port = await listening(async () => {
        throw new Error('with a secret');
      });
      const end = await peerAt(port).ended;
      expect(end).toEqual({ code: 1011, reason: 'internal error; the server log has the cause' });
      expect(JSON.stringify(failures)).toContain('with a secret');
    });

    it('tell the conversation when the client closes or breaks off', async () => {
      const ends: unknown[] = [];
      let told = (): void => undefined;
      const port = await listening(async (_call, socket) => {
        for await (const _message of socket.messages);
        ends.push(await socket.closed);
        expect(await socket.send('late')).toBe(false);
        told();
      });
      const [closing, breaking] = [peerAt(port), peerAt(port)];
      await Promise.all([closing.opened, breaking.opened]);
      for (const leave of [() => closing.webSocket.close(3000, 'bye'), () => breaking.webSocket.terminate()]) {
        const heard = new Promise<void>((resolve) => {
          told = resolve;
        });
        leave();
        await heard;
      }
      expect(ends).toEqual([
        { code: 3000, reason: 'bye' },
        { code: 1006, reason: '' },
      ]);
    });

    it('with 1001 when the server stops', async () => {
      const peer = peerAt(await listening(echo));
      await peer.opened;
      listener?.closeAll();
      expect(await peer.ended).toEqual({ code: 1001, reason: 'the server is stopping' });
    });
  });

  it('survive whatever bytes come', async () => {
    const port = await listening(echo);
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 200 }),
      fc.constantFrom(
        new Uint8Array([0x81, 0x05, 0x68, 0x65]),
        new Uint8Array([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        new Uint8Array([0x88, 0x01, 0x00]),
        new Uint8Array([0xf1, 0x80, 0, 0, 0, 0]),
        new Uint8Array([0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe]),
        new Uint8Array([0x09, 0x80, 0, 0, 0, 0]),
      ),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        await new Promise<void>((resolve) => {
          const socket = connect(port, '127.0.0.1', () => socket.write(upgradeText(port)));
          socket.on('error', () => undefined).on('close', () => resolve());
          socket.once('data', () => socket.end(Buffer.from(sent)));
        });
      }),
      { numRuns: 60 },
    );
    const peer = peerAt(port);
    await peer.opened;
    peer.webSocket.send('still here');
    await peer.has(1);
    expect(failures).toEqual([]);
  });
});

function upgradeText(port: number): string {
  return [
    'GET /v1/talk/x HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '',
    '',
  ].join('\r\n');
}

/** Resolves when the number has not changed for a while. */
async function settled(read: () => number): Promise<void> {
  for (let before = -1; before !== read(); ) {
    before = read();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
