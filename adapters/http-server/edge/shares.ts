import { isIPv6 } from 'node:net';
import { anonymousPrincipal, type Principal } from '../../../src/index.js';
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
