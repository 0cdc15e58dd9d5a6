import { quoted } from '../../../src/shared/values.js';
import { type HttpRequest, headerValue } from '../http-message.js';
import { authorityOf } from './target.js';

/**
 * Why a request is refused before routing. 421: it was sent to a host name that this server does not answer
 * to, as in a DNS rebinding attack. 403: a page of another origin sent it.
 */
interface EdgeRefusal {
  readonly status: 421 | 403;
  readonly message: string;
}

interface EdgeGuardOptions {
  /** Origin of the server as browsers see it, such as `https://jobs.example.org`. */
  readonly publicOrigin: string;
  /** Further names and addresses that the server answers to, without ports; `*` accepts every name. */
  readonly hosts: readonly string[];
}

/**
 * Returns the refusal, or undefined for an allowed request. `changes`: the request is for a call that changes state, whatever its
 * method.
 */
export type EdgeGuard = (request: HttpRequest, changes?: boolean) => EdgeRefusal | undefined;

/**
 * Protects a server that trusts its network location or the browser's credentials against web pages. Allowed hosts are loopback, the
 * address that the client connected to, the host of the public origin, and `hosts`; ports are ignored. A write (every method other than
 * GET and HEAD, every upgrade, and a GET of a call that changes state) is refused if its headers show that a page of another origin
 * sent it. Only browsers send these headers, `Origin` and `Sec-Fetch-Site`; other clients are not affected.
 */
export function edgeGuard({ publicOrigin, hosts }: EdgeGuardOptions): EdgeGuard {
  const known = new Set(['localhost', '[::1]', hostNameOf(hostOfOrigin(publicOrigin)), ...hosts.map(asHostName)]);
  const anyHost = hosts.includes('*');
  const ownOrigin = originHost(publicOrigin);

  // Nearly all requests to a server have the same host.
  let last: { readonly host: string; readonly name: string | undefined } | undefined;
  const nameOf = (host: string): string | undefined => {
    if (last?.host !== host) last = { host, name: hostNameOf(host) };
    return last.name;
  };

  const answersTo = (host: string, request: HttpRequest): boolean => {
    const name = nameOf(host);
    if (name === undefined) return false;
    return known.has(name) || isLoopback(name) || name === addressAsHost(request.localAddress?.());
  };

  return (request, changes = false) => {
    const host = headerValue(request, 'host') ?? headerValue(request, ':authority') ?? authorityOf(request.target);
    if (host !== undefined && !anyHost && !answersTo(host, request)) return unknownHost(host);
    return (changes || isWrite(request)) && isFromForeignPage(request, [ownOrigin, host?.toLowerCase()])
      ? foreignPage
      : undefined;
  };
}

/** Whether the request is a write. An upgrade is one, because its socket can carry any command. */
function isWrite(request: HttpRequest): boolean {
  return (request.method !== 'GET' && request.method !== 'HEAD') || headerValue(request, 'upgrade') !== undefined;
}

/** Whether the headers show that a page of an origin other than these sent it. */
function isFromForeignPage(request: HttpRequest, own: readonly (string | undefined)[]): boolean {
  const site = headerValue(request, 'sec-fetch-site');
  if (site === 'cross-site' || site === 'same-site') return true;
  const origin = headerValue(request, 'origin');
  if (origin === undefined) return false;
  const from = originHost(origin);
  return from === undefined || !own.includes(from);
}

function unknownHost(host: string): EdgeRefusal {
  const message = `this server does not answer to the host ${quoted(host)}; add it to its allowed hosts or set its public origin`;
  return { status: 421, message };
}

const foreignPage: EdgeRefusal = {
  status: 403,
  message: 'this server refuses writes and sockets from pages of another origin',
};

/** The name of a `Host` header without the port, in lower case; undefined if invalid. IPv6 keeps its brackets. */
function hostNameOf(host: string | undefined): string | undefined {
  return host === undefined ? undefined : hostPattern.exec(host)?.[1]?.toLowerCase();
}

const hostPattern = /^(\[[0-9a-fA-F:.]+\]|[^\s:/?#@[\]]+)(?::[0-9]*)?$/;

function isLoopback(name: string): boolean {
  return /^127(?:\.[0-9]{1,3}){3}$/.test(name);
}

/** Normalizes a configured host: written as in a URL, or a bare IPv6 address. */
function asHostName(host: string): string {
  const name = host.toLowerCase();
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
}

/** A socket's local address in the notation of a `Host` header; IPv4-mapped IPv6 becomes IPv4. */
function addressAsHost(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  return asHostName(address.replace(/^::ffff:(?=[0-9.]+$)/i, '').replace(/%.*$/, ''));
}

function hostOfOrigin(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** Host and port of an origin as a browser's `Host` header has them: without the port that the scheme implies. */
function originHost(origin: string): string | undefined {
  const host = origin.startsWith('http://') || origin.startsWith('https://') ? hostOfOrigin(origin) : undefined;
  return host === '' ? undefined : host;
}
