import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { buildConnector, Client, Dispatcher } from 'undici';
import type { OptionTable } from '../../src/options/check-options.js';
import { amount, callable, either, flag, group, listOf, optional, text } from '../../src/options/option-kinds.js';
import type { ClientCertificate } from '../../src/ports/http-delivery.js';
import type { Milliseconds } from '../../src/shared/duration.js';
import type { Fault } from './delivery-fault.js';
import type { GuardedConnector } from './guarded-connector.js';
import type { AllowedDestinations } from './outbound-guard.js';
import type { ProxySettings } from './outbound-proxy.js';

/** The state of one request that the pool uses. */
export interface PooledExchange {
  readonly origin: string;
  readonly partition: string;
  readonly clientCertificate: ClientCertificate | null;
  readonly connectTimeout: Milliseconds;
  readonly options: Dispatcher.DispatchOptions;
  /** It no longer needs a connection. */
  readonly settled: boolean;
  /** The head of its answer has arrived; interim answers do not count. */
  readonly answered: boolean;
  /** It is dispatched on this connection, which its handler then releases or discards. */
  begin(connection: PooledConnection): Dispatcher.DispatchHandler;
  fail(fault: Fault): void;
}

export interface PoolSettings {
  readonly makeClient: (origin: string, options: Client.Options) => Client;
  readonly connector: GuardedConnector;
  readonly socketsPerOrigin: number;
  /** How long an idle connection is kept, unless the server announces a shorter time. */
  readonly keepAlive: Milliseconds;
}

interface Origin {
  readonly key: string;
  readonly name: string;
  readonly clientCertificate: ClientCertificate | null;
  readonly idle: PooledConnection[];
  readonly waiting: PooledExchange[];
  /** All connections. */
  readonly connections: Set<PooledConnection>;
}

/** The parser's limit for the headers of one answer; the caller keeps fewer of them. */
const parsedHeaderBytes = 65_536;

/**
 * Connections by origin, each a separate client with one request at a time. The rules need to know which request uses which
 * socket, which a pool of undici does not report: for a connect deadline for each request, the address that was reached, and
 * whether a socket that was reset had been used before. An origin without connections uses no memory.
 */
export class ConnectionPool {
  closed = false;
  readonly #origins = new Map<string, Origin>();
  #onEmpty: (() => void) | null = null;

  constructor(readonly settings: PoolSettings) {}

  /** Gives the exchange a connection now, or when one is free. */
  enter(exchange: PooledExchange): void {
    const origin = this.#originOf(exchange);
    const idle = origin.idle.pop();
    if (idle !== undefined) idle.dispatch(exchange);
    else if (origin.connections.size < this.settings.socketsPerOrigin) this.#open(origin).dispatch(exchange);
    else origin.waiting.push(exchange);
  }

  /**
   * Closes idle connections, and the others when their exchanges end. Exchanges that have no connection after a second end without one: nothing
   * of them was sent, and unresolvable names would delay the end.
   */
  close(): Promise<void> {
    this.closed = true;
    for (const origin of [...this.#origins.values()]) for (const connection of [...origin.idle]) connection.discard();
    if (this.#origins.size === 0) return Promise.resolve();
    const timer = setTimeout(() => this.#endUnconnected(), connectingAtClose);
    return new Promise((resolve) => {
      const before = this.#onEmpty;
      this.#onEmpty = () => {
        clearTimeout(timer);
        before?.();
        resolve();
      };
    });
  }

  #endUnconnected(): void {
    const origins = [...this.#origins.values()];
    for (const { waiting } of origins) for (const exchange of waiting.splice(0)) exchange.fail(notConnected);
    for (const { connections } of origins) for (const connection of [...connections]) connection.endUnconnected();
  }

  /** A connection of the origin was closed; waiting exchanges get a new one, the replaced exchange first. */
  left(origin: Origin, replacement: PooledExchange | undefined): void {
    const next = replacement ?? nextOf(origin);
    if (next !== undefined) this.#open(origin).dispatch(next);
    if (origin.connections.size === 0) this.#origins.delete(origin.key);
    if (this.#origins.size === 0) this.#onEmpty?.();
  }

  /**
   * Connections that introduced themselves with a certificate serve only exchanges with the same certificate and key: certificates are
   * public, and only the key proves whose they are.
   */
  #originOf({ origin: name, clientCertificate }: PooledExchange): Origin {
    const { certificate, key: privateKey } = clientCertificate ?? {};
    const key = clientCertificate === null ? name : JSON.stringify([name, certificate, privateKey]);
    const known = this.#origins.get(key);
    if (known !== undefined) return known;
    const origin: Origin = { key, name, clientCertificate, idle: [], waiting: [], connections: new Set() };
    this.#origins.set(key, origin);
    return origin;
  }

  #open(origin: Origin): PooledConnection {
    const connection = new PooledConnection(this, origin);
    origin.connections.add(connection);
    return connection;
  }
}

/** How long exchanges may still wait for a connection when the pool is closed. */
const connectingAtClose: Milliseconds = 1000;

const notConnected: Fault = { type: 'aborted', message: 'the service stopped before a connection was made' };

function nextOf(origin: Origin): PooledExchange | undefined {
  let next = origin.waiting.shift();
  while (next?.settled === true) next = origin.waiting.shift();
  return next;
}

/** One socket and its client. When the server closes an idle socket, the connection is removed. */
export class PooledConnection {
  /** The number of answers received on this socket. If there are any, the server may have closed it since. */
  served = 0;
  /** The address reached; null while there is no socket. */
  address: string | null = null;
  /**
   * The error of the socket. A TLS alert arrives before the end of the socket, and the client then reports only that the other side has
   * closed.
   */
  socketError: Error | null = null;
  readonly #pool: ConnectionPool;
  readonly #origin: Origin;
  readonly #client: Client;
  /** The exchange that uses it now. */
  #exchange: PooledExchange | null = null;
  #closeSocket: (() => void) | null = null;
  #discarded = false;

  constructor(pool: ConnectionPool, origin: Origin) {
    this.#pool = pool;
    this.#origin = origin;
    const { makeClient, keepAlive } = pool.settings;
    this.#client = makeClient(origin.name, {
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: keepAlive,
      keepAliveMaxTimeout: Math.max(keepAlive, 1),
      maxHeaderSize: parsedHeaderBytes,
      // The exchange has one deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) => this.#connect(target, callback),
    });
    this.#client.on('disconnect', () => {
      if (this.#exchange === null) this.discard();
    });
    // Exceptions of our own handlers arrive here; an error event without a listener would end the process.
    const emitter: EventEmitter = this.#client;
    emitter.on('error', () => this.discard());
  }

  /** Whether the socket is connected. */
  get stands(): boolean {
    return this.address !== null;
  }

  dispatch(next: PooledExchange): void {
    this.#exchange = next;
    this.#client.dispatch(next.options, next.begin(this));
  }

  /** The answer is complete: the next exchange may use the connection. */
  release(): void {
    this.#exchange = null;
    this.served += 1;
    const next = nextOf(this.#origin);
    if (next !== undefined) this.dispatch(next);
    else if (this.#pool.closed) this.discard();
    else this.#origin.idle.push(this);
  }

  endUnconnected(): void {
    if (!this.stands) this.#exchange?.fail(notConnected);
  }

  /** Closes it in any state; the given exchange, if any, gets a new connection instead. */
  discard(replacement?: PooledExchange): void {
    if (this.#discarded) return;
    this.#discarded = true;
    const { idle, connections } = this.#origin;
    connections.delete(this);
    const position = idle.indexOf(this);
    if (position >= 0) idle.splice(position, 1);
    this.#client.destroy(null, () => undefined);
    this.#closeSocket?.();
    this.#pool.left(this.#origin, replacement);
  }

  #connect(...[target, callback]: Parameters<buildConnector.connector>): void {
    this.served = 0;
    this.address = null;
    this.socketError = null;
    const { connectTimeout = 0, partition = '' } = this.#exchange ?? {};
    const options = { timeout: connectTimeout, partition, clientCertificate: this.#origin.clientCertificate };
    this.#closeSocket = this.#pool.settings.connector(target, options, (error, standing) => {
      this.address = standing?.remoteAddress ?? null;
      standing?.once('error', (reason) => {
        this.socketError = reason;
      });
      if (standing !== null)
        callback(
          null,
          withInterimAnswers(standing, () => this.#exchange?.answered === false),
        );
      else callback(error ?? new Error('no connection'), null as never);
    });
  }
}

type ConnectionSetting = 'allow' | 'forbiddenPorts' | 'httpsOnly' | 'ca' | 'lookup' | 'proxy' | 'hint';

/** The connection options of all clients. */
export const connectionTable: OptionTable<Record<ConnectionSetting, unknown>> = {
  allow: optional(group<AllowedDestinations>({ cidrs: optional(listOf(text)), hosts: optional(listOf(text)) })),
  forbiddenPorts: optional(listOf(amount)),
  httpsOnly: optional(flag),
  ca: optional(either(text, listOf(text))),
  lookup: optional(callable),
  proxy: optional(group<ProxySettings>({ url: text, except: optional(listOf(text)) })),
  hint: optional(text),
};

const beginning = Buffer.from('HTTP/1.');
/** Bytes up to the end of the status: `HTTP/1.1 100`. */
const statusEnd = 12;
const headEnd = '\r\n\r\n';

/**
 * Accepts an unrequested `100 Continue`, which a client must accept before any answer (RFC 9110, 15.2): undici ignores every other
 * interim answer, but treats this one as an error. Its status is changed to 102, which is ignored. `expected` says whether the next
 * bytes belong to the head of an answer, interim ones included; what a body contains is left as it is.
 */
export function withInterimAnswers(socket: Socket, expected: () => boolean): Socket {
  const read = socket.read.bind(socket);
  let held: Buffer | null = null;
  socket.read = (size?: number): unknown => {
    for (;;) {
      const chunk: unknown = read(size);
      if (!Buffer.isBuffer(chunk) || !expected()) return chunk;
      const bytes: Buffer = held === null ? chunk : Buffer.concat([held, chunk]);
      held = null;
      if (!isBeginning(bytes)) {
        renameContinues(bytes);
        return bytes;
      }
      held = bytes;
    }
  };
  return socket;
}

/** Whether the status has not fully arrived yet. */
function isBeginning(bytes: Buffer): boolean {
  if (bytes.length >= statusEnd) return false;
  const compared = Math.min(bytes.length, beginning.length);
  return bytes.compare(beginning, 0, compared, 0, compared) === 0;
}

function renameContinues(bytes: Buffer): void {
  let at = 0;
  while (isInterim(bytes, at)) {
    if (bytes.toString('latin1', at + 9, at + statusEnd) === '100') bytes.write('102', at + 9, 'latin1');
    const end = bytes.indexOf(headEnd, at, 'latin1');
    if (end < 0) return;
    at = end + headEnd.length;
  }
}

function isInterim(bytes: Buffer, at: number): boolean {
  return /^HTTP\/1\.[01] 1\d\d/.test(bytes.toString('latin1', at, at + statusEnd));
}
