import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { checkArgument, checkOptions } from '../../../src/options/check-options.js';
import { amount, optional, port } from '../../../src/options/option-kinds.js';
import { clientNetwork } from './shares.js';

/** How many connections a server has at once. */
export interface ConnectionLimits {
  /** Of all clients; 10,000 when absent. Keep it well below the number of files that the process may open. */
  readonly maximumConnections?: number;
  /**
   * Of one address (of IPv6, of one network of 64 bits); half of all when absent. A reverse proxy is one address: behind it, set this to
   * `maximumConnections`.
   */
  readonly maximumConnectionsPerAddress?: number;
}

/** The connections of one address. */
interface Client {
  readonly name: string;
  open: number;
  /** Those without a request in progress; the one that has been idle longest is the first. */
  readonly idle: Set<Connection>;
}

interface Connection {
  readonly socket: Socket;
  readonly client: Client;
  /** Requests in progress; a WebSocket is one until it ends. */
  busy: number;
}

/**
 * Limits the connections of a `node:http` server. Beyond a limit a new connection takes the place of one without a request in progress,
 * the one that has been idle longest: of the same address when that has as many as it may, else of the address with the most. When there
 * is none, the new connection gets a 503. Call it before the server listens.
 */
export function limitConnections(server: Server, limits: ConnectionLimits = {}): void {
  checkArgument('limitConnections', 'server', server, port('a server of node:http', 'on', 'listen'));
  checkOptions<ConnectionLimits>('limitConnections', limits, {
    maximumConnections: optional(amount),
    maximumConnectionsPerAddress: optional(amount),
  });
  const { maximumConnections = 10_000 } = limits;
  const perAddress = limits.maximumConnectionsPerAddress ?? Math.ceil(maximumConnections / 2);
  const clients = new Map<string, Client>();
  const connections = new Map<Socket, Connection>();

  /** Makes room for one more connection of this client; false when there is none. */
  const makeRoom = (client: Client): boolean => {
    if (client.open >= perAddress) return cutIdle(client);
    return connections.size < maximumConnections || cutIdle(largest(clients.values()) ?? client);
  };

  const forget = (connection: Connection): void => {
    if (!connections.delete(connection.socket)) return;
    const { client } = connection;
    client.idle.delete(connection);
    client.open -= 1;
    if (client.open === 0) clients.delete(client.name);
  };

  const cutIdle = ({ idle }: Client): boolean => {
    const [connection] = idle;
    if (connection === undefined) return false;
    forget(connection);
    connection.socket.destroy();
    return true;
  };

  const accept = (socket: Socket): void => {
    const name = clientNetwork(socket.remoteAddress);
    const client = clients.get(name) ?? { name, open: 0, idle: new Set<Connection>() };
    if (!makeRoom(client)) {
      refuse(socket);
      return;
    }
    clients.set(name, client);
    const connection = { socket, client, busy: 0 };
    client.open += 1;
    client.idle.add(connection);
    connections.set(socket, connection);
    socket.once('close', () => forget(connection));
  };

  const begin = (socket: Socket): Connection | undefined => {
    const connection = connections.get(socket);
    if (connection === undefined) return undefined;
    connection.busy += 1;
    connection.client.idle.delete(connection);
    return connection;
  };

  const begun = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = begin(request.socket);
    if (connection === undefined) return;
    response.once('close', () => {
      connection.busy -= 1;
      if (connection.busy === 0 && connections.has(connection.socket)) connection.client.idle.add(connection);
    });
  };

  server.on('connection', accept);
  server.prependListener('request', begun);
  server.prependListener('upgrade', (request) => void begin(request.socket));
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
