import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** The receiver's reaction to a request. `ok`: 204 without a body. */
export type Behaviour =
  | 'ok'
  | { readonly kind: 'answer'; readonly status: number; readonly headers?: Headers; readonly body?: string | Buffer }
  /** Answers after this many milliseconds. */
  | { readonly kind: 'late'; readonly after: number; readonly status?: number }
  /** Reads the request and never answers. */
  | 'hang'
  /** Headers immediately, then one byte every `every` milliseconds, without an end. */
  | { readonly kind: 'drip'; readonly every: number }
  /** A body of this many bytes of `x`, with a content length or `chunked`. */
  | { readonly kind: 'large'; readonly bytes: number; readonly chunked?: boolean }
  /** An unrequested compressed body that decompresses to this many bytes of `x`. */
  | { readonly kind: 'gzip'; readonly bytes: number }
  /** A number of headers `x-n: <value of a number of bytes>`. */
  | { readonly kind: 'headers'; readonly count: number; readonly bytes: number }
  /** Resets the connection instead of answering. */
  | 'reset'
  /** Answers the first request of each connection with 204 and resets it at the second. */
  | 'reset_when_reused'
  /** Ends its side of the connection without an answer and leaves the other side open. */
  | 'half_open'
  /** Announces 100 bytes, sends ten and ends. */
  | 'cut_short'
  /** Bytes that are not HTTP. */
  | 'garbage'
  /** Writes these bytes instead of an answer, and keeps the connection. */
  | { readonly kind: 'bytes'; readonly bytes: string };

type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface ReceivedRequest {
  readonly method: string;
  /** Raw path with query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The number of its connection, from 1. */
  readonly connection: number;
}

export interface Receiver {
  /** `http://127.0.0.1:port` or, with a certificate, `https://localhost:port`; without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** All completely received requests, in order. */
  readonly requests: readonly ReceivedRequest[];
  /** The number of accepted connections. */
  readonly connections: number;
  /** The number of open connections. */
  readonly open: number;
  /** Changes the reaction from now on. */
  behave(behaviour: BehaviourOf): void;
  /** The request with this number (from 1); waits for it. */
  received(number: number): Promise<ReceivedRequest>;
  /** Waits until no connection is open. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

export type BehaviourOf = Behaviour | ((request: ReceivedRequest, n: number) => Behaviour);
export type Certificate = 'trusted' | 'self-signed' | 'expired' | 'wrong-host';

export interface ReceiverOptions {
  readonly behaviour?: BehaviourOf;
  /** Speaks TLS with this certificate. */
  readonly tls?: Certificate;
  /** The loopback address to listen on; default: 127.0.0.1. */
  readonly host?: '127.0.0.1' | '::1';
}

/** The authority that signed the certificates `trusted`, `expired` and `wrong-host`. */
export const testAuthority = goldenText('authority.pem');

/** A real HTTP server on a free loopback port, for tests of requests and of failures. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const handshaking = new Set<Socket>();
  const watchers = new Set<() => void>();
  const numbers = new WeakMap<Socket, number>();
  let connections = 0;
  let behaviour: BehaviourOf = options.behaviour ?? 'ok';
  const changed = (): void => {
    for (const watcher of [...watchers]) watcher();
  };

  const listener: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => undefined);
    incoming.on('end', () => {
      const request: ReceivedRequest = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        connection: numbers.get(incoming.socket) ?? 0,
      };
      requests.push(request);
      const chosen = typeof behaviour === 'function' ? behaviour(request, requests.length) : behaviour;
      const before = requests.filter((each) => each.connection === request.connection).length;
      act(chosen, response, incoming.socket, before);
      changed();
    });
  };
  const server: Server =
    options.tls === undefined
      ? createServer({ keepAliveTimeout: 30_000 }, listener)
      : createSecureServer(
          {
            keepAliveTimeout: 30_000,
            cert: goldenText(`${options.tls}.pem`),
            key: goldenText(`${options.tls}-key.pem`),
          },
          listener,
        );
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      changed();
    });
    connections += 1;
    numbers.set(socket, connections);
  };
  server.on(options.tls === undefined ? 'connection' : 'secureConnection', track);
  if (options.tls !== undefined) {
    // A failed handshake still holds a socket: it does not count as a connection but must be closed at the end.
    server.on('connection', (socket: Socket) => {
      handshaking.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => handshaking.delete(socket));
    });
  }

  const port = await listen(server, options.host ?? '127.0.0.1');
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const watcher = (): void => {
        if (!holds()) return;
        watchers.delete(watcher);
        resolve();
      };
      watchers.add(watcher);
      watcher();
    });
  const authority = options.host === '::1' ? `[::1]:${port}` : `127.0.0.1:${port}`;
  return {
    url: options.tls === undefined ? `http://${authority}` : `https://localhost:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    behave: (next) => {
      behaviour = next;
    },
    received: async (number) => {
      await until(() => requests.length >= number);
      return requests[number - 1] as ReceivedRequest;
    },
    quiet: () => until(() => sockets.size === 0),
    close: () => closeServer(server, [...sockets, ...handshaking]),
  };
}

/** Accepts connections and never reads or writes a byte. */
export async function startSilentReceiver(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createSocketServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server, '127.0.0.1');
  return { port, close: () => closeServer(server, [...sockets]) };
}

/** A loopback port without a listener. */
export async function freePort(): Promise<number> {
  const server = createSocketServer();
  const port = await listen(server, '127.0.0.1');
  await closeServer(server, []);
  return port;
}

function act(behaviour: Behaviour, response: ServerResponse, socket: Socket, requestsOnConnection: number): void {
  response.on('error', () => undefined);
  if (behaviour === 'ok') {
    response.writeHead(204).end();
  } else if (behaviour === 'hang') {
    // No answer: the connection is closed with the receiver.
  } else if (behaviour === 'reset') {
    socket.resetAndDestroy();
  } else if (behaviour === 'reset_when_reused') {
    if (requestsOnConnection > 1) socket.resetAndDestroy();
    else response.writeHead(204).end();
  } else if (behaviour === 'half_open') {
    socket.end();
  } else if (behaviour === 'cut_short') {
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n0123456789');
  } else if (behaviour === 'garbage') {
    socket.end('SSH-2.0-OpenSSH_9.2p1\r\n\r\n');
  } else if (behaviour.kind === 'bytes') {
    socket.write(behaviour.bytes);
  } else if (behaviour.kind === 'answer') {
    response.writeHead(behaviour.status, behaviour.headers as Record<string, string | string[]> | undefined);
    response.end(behaviour.body);
  } else if (behaviour.kind === 'late') {
    setTimeout(() => response.writeHead(behaviour.status ?? 204).end(), behaviour.after);
  } else if (behaviour.kind === 'drip') {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const timer = setInterval(() => response.write('x'), behaviour.every);
    socket.on('close', () => clearInterval(timer));
  } else if (behaviour.kind === 'large') {
    const body = Buffer.alloc(behaviour.bytes, 'x');
    response.writeHead(200, behaviour.chunked === true ? {} : { 'content-length': body.length });
    response.end(body);
  } else if (behaviour.kind === 'gzip') {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' });
    response.end(gzipSync(Buffer.alloc(behaviour.bytes, 'x')));
  } else {
    for (let n = 0; n < behaviour.count; n += 1) response.setHeader(`x-${n}`, 'v'.repeat(behaviour.bytes));
    response.writeHead(200).end('many');
  }
}

function listen(server: Server, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

function closeServer(server: Server, sockets: readonly Socket[]): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}

function goldenText(name: string): string {
  return readFileSync(new URL(`../golden/tls/${name}`, import.meta.url), 'utf8');
}
