import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { checkArgument, checkOptions } from '../../../src/options/check-options.js';
import { amount, optional, port } from '../../../src/options/option-kinds.js';
import { clientNetwork } from './shares.js';

/** Limits on simultaneous connections of a server. */
export interface ConnectionLimits {
  /** The most connections of all clients; default: 10,000. Keep it well below the limit of open files of the process. */
  readonly maximumConnections?: number;
  /**
   * The most connections of one address (in IPv6 of one /64 network); default: half of `maximumConnections`. Behind a reverse proxy,
   * set it to `maximumConnections`.
   */
  readonly maximumConnectionsPerAddress?: number;
}

/** The connections of one address. */
interface Client {
  readonly name: string;
  open: number;
  /** Connections without a request in progress, the longest idle first. */
  readonly idle: Set<Connection>;
}

interface Connection {
  readonly socket: Socket;
  readonly client: Client;
  /** Requests in progress; an open WebSocket counts as one. */
  busy: number;
}

/**
 * Limits the connections of a `node:http` server. At a limit, a new connection replaces the longest idle one: of the same address if
 * that is at its limit, else of the address with the most connections. If no connection is idle, the new one gets a 503. Call it
 * before the server listens.
 */
export function limitConnections(server: Server, limits: ConnectionLimits = {}): void {
  checkArgument('limitConnections', 'server', server, port('a server of node:http', 'on', 'listen'));
  checkOptions<ConnectionLimits>('limitConnections', limits, {
    maximumConnections: optional(amount),
    maximumConnectionsPerAddress: optional(amount),
  });
  const { maximumConnections = 10_000 } = limits;
  const perAddress = limits.maximumConnectionsPerAddress ?? Math.ceil(maximumConnections / 2);
  const connections = new Connections(maximumConnections, perAddress);
  server.on('connection', (socket) => {
    if (!connections.add(socket)) refuse(socket);
  });
  server.prependListener('request', ({ socket }, response) => {
    connections.begin(socket);
    response.once('close', () => connections.end(socket));
  });
  server.prependListener('upgrade', ({ socket }) => connections.begin(socket));
}

class Connections {
  readonly #maximum: number;
  readonly #perAddress: number;
  readonly #clients = new Map<string, Client>();
  readonly #open = new Map<Socket, Connection>();

  constructor(maximum: number, perAddress: number) {
    this.#maximum = maximum;
    this.#perAddress = perAddress;
  }

  /** False if the limit is reached and no connection can be closed instead. */
  add(socket: Socket): boolean {
    const name = clientNetwork(socket.remoteAddress);
    const client = this.#clients.get(name) ?? { name, open: 0, idle: new Set<Connection>() };
    if (!this.#makeRoom(client)) return false;
    this.#clients.set(name, client);
    const connection = { socket, client, busy: 0 };
    client.open += 1;
    client.idle.add(connection);
    this.#open.set(socket, connection);
    socket.once('close', () => this.#forget(connection));
    return true;
  }

  /** Call at the start of a request. */
  begin(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.busy += 1;
    connection.client.idle.delete(connection);
  }

  /** Call at the end of a request. */
  end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.busy === 0) return;
    connection.busy -= 1;
    if (connection.busy === 0) connection.client.idle.add(connection);
  }

  #makeRoom(client: Client): boolean {
    if (client.open >= this.#perAddress) return this.#cutIdle(client);
    return this.#open.size < this.#maximum || this.#cutIdle(largest(this.#clients.values()) ?? client);
  }

  #cutIdle({ idle }: Client): boolean {
    const [connection] = idle;
    if (connection === undefined) return false;
    this.#forget(connection);
    connection.socket.destroy();
    return true;
  }

  #forget(connection: Connection): void {
    if (!this.#open.delete(connection.socket)) return;
    const { client } = connection;
    client.idle.delete(connection);
    client.open -= 1;
    if (client.open === 0) this.#clients.delete(client.name);
  }
}

/** The client with the most connections. */
function largest(clients: Iterable<Client>): Client | undefined {
  let most: Client | undefined;
  for (const client of clients) if (most === undefined || client.open > most.open) most = client;
  return most;
}

const refusal = 'too many connections are open; try again later\n';
const refusalBytes = [
  'HTTP/1.1 503 Service Unavailable',
  'Content-Type: text/plain; charset=utf-8',
  'X-Content-Type-Options: nosniff',
  'Retry-After: 1',
  'Connection: close',
  `Content-Length: ${refusal.length}`,
  '',
  refusal,
].join('\r\n');

/** Does not wait for the client: it would keep the descriptor. */
function refuse(socket: Socket): void {
  socket.on('error', ignore).end(refusalBytes, () => socket.destroy());
}

const ignore = (): void => undefined;
