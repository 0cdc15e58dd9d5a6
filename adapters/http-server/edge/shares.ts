import type { Server } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { anonymousPrincipal, type Principal } from '../../../src/index.js';
import { checkArgument, checkOptions } from '../../../src/options/check-options.js';
import { amount, optional, port } from '../../../src/options/option-kinds.js';
import type { HttpRequest, RequestBody } from '../http-message.js';

/**
 * Who holds a share of a limited resource. `privileged`: management, the host and agents of nodes. `known`: other callers with a right.
 * `unauthenticated`: callers without any right, and all callers without a token.
 */
export interface Claimant {
  readonly standing: 'privileged' | 'known' | 'unauthenticated';
  /** The name of the share: of a caller with a token, or of an address. */
  readonly name: string;
}

/** The claimant of a request. `isRefused`: the caller lacks the right that the call requires. */
export function claimantOf(caller: Principal, request: HttpRequest, isRefused: boolean): Claimant {
  if (caller.accessor === anonymousPrincipal.accessor) {
    return { standing: 'unauthenticated', name: `address ${clientNetwork(request.remoteAddress?.())}` };
  }
  const name = `caller ${caller.accessor}`;
  if (caller.management || caller.node !== undefined) return { standing: 'privileged', name };
  return { standing: isRefused || !hasRules(caller) ? 'unauthenticated' : 'known', name };
}

function hasRules({ namespaces, workspaces, nodePools, hostVolumes, areas }: Principal): boolean {
  return [namespaces, workspaces, nodePools, hostVolumes, areas].some(
    (rules) => rules !== undefined && Object.keys(rules).length > 0,
  );
}

/** The address that identifies a client: the whole IPv4 address, also if mapped into IPv6; the /64 network of an IPv6 address. */
export function clientNetwork(address: string | undefined): string {
  if (address === undefined) return '';
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/**
 * An amount shared by all callers. An eighth is reserved for privileged callers. All unauthenticated callers together can hold an
 * eighth, each of them a sixteenth, and each known caller a quarter. Each can hold `least` if its group can.
 */
export class Shares {
  readonly #total: number;
  readonly #limits: {
    readonly unprivileged: number;
    readonly unauthenticatedTotal: number;
    known: number;
    unauthenticatedEach: number;
  };
  readonly #held = new Map<string, number>();
  #all = 0;
  #unprivileged = 0;
  #heldUnauthenticated = 0;

  constructor(total: number, least: number) {
    this.#total = total;
    const eighth = Math.floor(total / 8);
    this.#limits = {
      unprivileged: total - eighth,
      unauthenticatedTotal: Math.ceil(total / 8),
      known: Math.max(Math.floor(total / 4), least),
      unauthenticatedEach: Math.max(Math.floor(eighth / 2), least),
    };
  }

  /** The total amount in use. */
  get held(): number {
    return this.#all;
  }

  /** Takes an amount; returns false and takes nothing if it exceeds the claimant's share. */
  take(claimant: Claimant, amount: number): boolean {
    if (!this.#hasRoom(claimant, amount)) return false;
    this.#add(claimant, amount);
    return true;
  }

  release(claimant: Claimant, amount: number): void {
    this.#add(claimant, -amount);
  }

  #hasRoom({ standing, name }: Claimant, amount: number): boolean {
    if (this.#all + amount > this.#total) return false;
    if (standing === 'privileged') return true;
    const { unprivileged, unauthenticatedTotal, known, unauthenticatedEach } = this.#limits;
    const own = (this.#held.get(name) ?? 0) + amount;
    if (this.#unprivileged + amount > unprivileged) return false;
    return standing === 'known'
      ? own <= known
      : own <= unauthenticatedEach && this.#heldUnauthenticated + amount <= unauthenticatedTotal;
  }

  #add({ standing, name }: Claimant, amount: number): void {
    this.#all += amount;
    if (standing === 'privileged') return;
    this.#unprivileged += amount;
    if (standing === 'unauthenticated') this.#heldUnauthenticated += amount;
    const own = (this.#held.get(name) ?? 0) + amount;
    if (own === 0) this.#held.delete(name);
    else this.#held.set(name, own);
  }
}

/** The place of one request among those that wait for a change, counted against the shares until `release`. */
export class HeldPlace {
  readonly #shares: Shares;
  #claim: (() => Claimant) | undefined;
  #claimant: Claimant | undefined;

  constructor(shares: Shares) {
    this.#shares = shares;
  }

  /** Whose share the place counts against; called when it is taken. */
  countAgainst(claim: () => Claimant): void {
    this.#claim = claim;
  }

  /** False if the claimant has no room. */
  take(): boolean {
    if (this.#claimant !== undefined || this.#claim === undefined) return true;
    const claimant = this.#claim();
    if (!this.#shares.take(claimant, 1)) return false;
    this.#claimant = claimant;
    return true;
  }

  release(): void {
    if (this.#claimant !== undefined) this.#shares.release(this.#claimant, 1);
    this.#claimant = undefined;
  }
}

/** The body of one request: read at most once, counted against the shares until `release`. */
export class HeldBody {
  readonly #request: HttpRequest;
  readonly #shares: Shares;
  #limit: number;
  #claimant: Claimant = { standing: 'unauthenticated', name: '' };
  #claim: (() => Claimant) | undefined;
  #held = 0;
  #released = false;

  constructor(request: HttpRequest, shares: Shares, limit: number) {
    this.#request = request;
    this.#shares = shares;
    this.#limit = limit;
  }

  /** Maximum number of bytes that are read. */
  narrow(limit: number): void {
    this.#limit = Math.min(this.#limit, limit);
  }

  /** Whose share the body counts against; called when it is read. */
  countAgainst(claim: () => Claimant): void {
    this.#claim = claim;
  }

  read(): Promise<RequestBody> {
    if (this.#claim !== undefined) this.#claimant = this.#claim();
    return this.#request.readBody({ limit: this.#limit, take: (bytes) => this.#take(bytes) });
  }

  #take(bytes: number): boolean {
    if (this.#released || !this.#shares.take(this.#claimant, bytes)) return false;
    this.#held += bytes;
    return true;
  }

  /** Returns the body's share; it takes no more. */
  release(): void {
    this.#released = true;
    if (this.#held > 0) this.#shares.release(this.#claimant, this.#held);
    this.#held = 0;
  }
}

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
