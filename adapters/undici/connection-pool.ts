import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import type { Milliseconds } from '../../src/shared/duration.js';
import type { GuardedConnector } from './guarded-connector.js';

/** One request on its way, as the pool sees it. */
export interface PooledExchange {
  readonly origin: string;
  readonly connectTimeout: Milliseconds;
  readonly options: Dispatcher.DispatchOptions;
  /** It needs no connection any more. */
  readonly settled: boolean;
  /** It is about to be dispatched on this connection, which its handler gives back or discards. */
  begin(connection: Connection): Dispatcher.DispatchHandler;
}

/** One socket and its client. A socket that the other end closed while idle goes, and its connection with it. */
export interface Connection {
  /** Answers that this socket has brought. More than none means that the other end may have closed it by now. */
  served: number;
  /** The address reached; null while there is no socket. */
  address: string | null;
  /** Whether the socket stands. */
  readonly stands: boolean;
  /** The answer has come whole: the next exchange may have the connection. */
  release(): void;
  /** Closes it, in whatever state it is; the exchange given, if any, gets a fresh one in its place. */
  discard(replacement?: PooledExchange): void;
}

export interface ConnectionPool {
  /** Gives the exchange a connection now, or when one is free. */
  enter(exchange: PooledExchange): void;
  /** Closes idle connections, and the others when their exchanges end. */
  close(): Promise<void>;
}

export interface PoolSettings {
  readonly makeClient: (origin: string, options: Client.Options) => Client;
  readonly connector: GuardedConnector;
  readonly socketsPerOrigin: number;
  /** How long an idle connection is kept, unless the other end announces a shorter time. */
  readonly keepAlive: Milliseconds;
}

interface Origin {
  readonly name: string;
  readonly idle: PooledConnection[];
  readonly waiting: PooledExchange[];
  size: number;
}

interface PooledConnection extends Connection {
  dispatch(exchange: PooledExchange): void;
}

/** The parser's own limit on the headers of one answer; what is kept of them is limited more tightly by the caller. */
const parsedHeaderBytes = 65_536;

/**
 * Connections by origin, each a client of its own with one request at a time. Knowing which request rides on which socket
 * is what the rules need that a pool of undici does not tell: a connect deadline per request, the address reached, and
 * whether a reset met a socket that had already served. An origin without connections leaves nothing behind.
 */
export function connectionPool(settings: PoolSettings): ConnectionPool {
  const origins = new Map<string, Origin>();
  let closed = false;
  let onEmpty: (() => void) | null = null;

  const enter = (exchange: PooledExchange): void => {
    const origin = originOf(exchange.origin);
    const idle = origin.idle.pop();
    if (idle !== undefined) idle.dispatch(exchange);
    else if (origin.size < settings.socketsPerOrigin) open(origin).dispatch(exchange);
    else origin.waiting.push(exchange);
  };

  const originOf = (name: string): Origin => {
    const known = origins.get(name);
    if (known !== undefined) return known;
    const origin: Origin = { name, idle: [], waiting: [], size: 0 };
    origins.set(name, origin);
    return origin;
  };

  const nextOf = (origin: Origin): PooledExchange | undefined => {
    let next = origin.waiting.shift();
    while (next?.settled === true) next = origin.waiting.shift();
    return next;
  };

  const open = (origin: Origin): PooledConnection => {
    origin.size += 1;
    let exchange: PooledExchange | null = null;
    let socket: Socket | null = null;
    let discarded = false;

    const client = settings.makeClient(origin.name, {
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: settings.keepAlive,
      keepAliveMaxTimeout: Math.max(settings.keepAlive, 1),
      maxHeaderSize: parsedHeaderBytes,
      // The exchange has one deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) => {
        connection.served = 0;
        connection.address = null;
        socket = settings.connector(target, exchange?.connectTimeout ?? 0, (error, standing) => {
          connection.address = standing?.remoteAddress ?? null;
          if (standing !== null) callback(null, standing);
          else callback(error ?? new Error('no connection'), null as never);
        });
      },
    });

    const connection: PooledConnection = {
      served: 0,
      address: null,
      get stands() {
        return connection.address !== null;
      },
      dispatch: (next) => {
        exchange = next;
        client.dispatch(next.options, next.begin(connection));
      },
      release: () => {
        exchange = null;
        connection.served += 1;
        const next = nextOf(origin);
        if (next !== undefined) connection.dispatch(next);
        else if (closed) connection.discard();
        else origin.idle.push(connection);
      },
      discard: (replacement) => {
        if (discarded) return;
        discarded = true;
        const position = origin.idle.indexOf(connection);
        if (position >= 0) origin.idle.splice(position, 1);
        client.destroy(null, () => undefined);
        socket?.destroy();
        origin.size -= 1;
        const next = replacement ?? nextOf(origin);
        if (next !== undefined) open(origin).dispatch(next);
        if (origin.size === 0) origins.delete(origin.name);
        if (origins.size === 0) onEmpty?.();
      },
    };
    client.on('disconnect', () => {
      if (exchange === null) connection.discard();
    });
    // A handler of ours that throws would come here; an unheard error event would end the process.
    const emitter: EventEmitter = client;
    emitter.on('error', () => connection.discard());
    return connection;
  };

  const close = (): Promise<void> => {
    closed = true;
    for (const origin of [...origins.values()]) for (const connection of [...origin.idle]) connection.discard();
    if (origins.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const before = onEmpty;
      onEmpty = () => {
        before?.();
        resolve();
      };
    });
  };

  return { enter, close };
}
