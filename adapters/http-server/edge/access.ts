import {
  anonymousPrincipal,
  type Engine,
  hostPrincipal,
  mayCall,
  type Principal,
  principalFault,
} from '../../../src/index.js';
import type { StorageError } from '../../../src/ports/index.js';
import { quoted } from '../../../src/shared/values.js';
import type { Query } from '../calls/query-and-body.js';
import type { Route } from '../calls/router.js';
import { authorityOf, type HttpRequest, headerValue, tokenHeaders } from '../http-message.js';
import { sessionFrom } from './session.js';

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

/**
 * Who may call. There is no default: choose the host's own authentication (`authenticate`), the built-in tokens, or open access
 * (`access`).
 */
export type AccessOptions =
  | {
      /**
       * Undefined or null refuses the request. An exception, a rejected promise or an invalid principal results in a logged 500: the host
       * could not authenticate.
       */
      readonly authenticate: (
        request: HttpRequest,
      ) => Principal | undefined | null | Promise<Principal | undefined | null>;
      readonly access?: never;
      readonly bootstrap?: never;
    }
  | {
      /** `token`: tokens of the engine's store. `open`: every caller has all rights; for loopback and for tests. */
      readonly access: 'token' | 'open';
      /**
       * With `token`: whether `POST /v1/acl/bootstrap` returns a management token to its first caller, without credentials, if the store
       * has never held a token. Default: false; create the first token in the process with `engine.as(hostPrincipal).tokens.create`.
       */
      readonly bootstrap?: boolean;
      readonly authenticate?: never;
    };

/** The result of authenticating a request, before any operation runs. */
export type Authentication =
  | {
      readonly type: 'known';
      readonly caller: Principal;
      /** By a cookie, which browsers send automatically. */
      readonly bySession?: true;
    }
  /** No credentials: the caller has the rights of callers without a token. */
  | { readonly type: 'missing'; readonly caller: Principal }
  /** Invalid credentials. */
  | { readonly type: 'unknown' }
  | { readonly type: 'failed'; readonly error: StorageError };

export type Authenticator = (request: HttpRequest) => Authentication | Promise<Authentication>;

/** Whether callers can get the first token over HTTP. Throws if the option has no effect. */
export function bootstrapsOverHttp({ access, bootstrap = false }: AccessOptions): boolean {
  if (bootstrap && access !== 'token') {
    throw new TypeError(
      "createHttpHandler: `bootstrap` needs `access: 'token'`: only such handlers use the tokens of the store",
    );
  }
  return bootstrap;
}

/** The authenticator for the options. Throws if there is no choice, so that no server is open by accident. */
export function authenticatorFrom(engine: Engine, options: AccessOptions): Authenticator {
  if (typeof options.authenticate === 'function' && options.access === undefined) {
    return hostAuthenticator(options.authenticate);
  }
  if (options.authenticate !== undefined) throw new TypeError(undecided);
  if (options.access === 'token') return storeAuthenticator(engine);
  if (options.access === 'open') return () => everybody;
  throw new TypeError(undecided);
}

const undecided =
  "createHttpHandler requires you to choose who may call it: pass `authenticate`, `access: 'token'` or `access: 'open'`";

const everybody: Authentication = { type: 'known', caller: hostPrincipal };
const unknown: Authentication = { type: 'unknown' };

/** The principal of a caller without credentials, which has no rights. */
export const nobody: Principal = anonymousPrincipal;

function hostAuthenticator(authenticate: NonNullable<AccessOptions['authenticate']>): Authenticator {
  return async (request) => {
    const caller = await authenticate(request);
    if (caller === undefined || caller === null) return unknown;
    const fault = principalFault(caller);
    if (fault !== undefined) throw new TypeError(`authenticate: ${fault}`);
    return { type: 'known', caller };
  };
}

function storeAuthenticator(engine: Engine): Authenticator {
  return (request) => {
    const secret = tokenFrom(request);
    const session = secret === undefined ? sessionFrom(request) : undefined;
    return session === undefined ? byToken(engine, secret) : bySession(engine, session);
  };
}

function byToken(engine: Engine, secret: string | undefined): Promise<Authentication> {
  return engine.host.authenticate(secret).match<Authentication, Authentication>(
    (caller) => {
      if (caller === undefined) return unknown;
      return { type: secret === undefined ? 'missing' : 'known', caller };
    },
    (error) => ({ type: 'failed', error }),
  );
}

async function bySession(engine: Engine, secret: string): Promise<Authentication> {
  const found = await engine.host.sessions.authenticate(secret);
  if (found.isErr()) return { type: 'failed', error: found.error };
  const caller = found.value;
  return caller === undefined ? byToken(engine, undefined) : { type: 'known', caller, bySession: true };
}

/** The token of a request: one of the token headers, else a bearer token (job interface, token transport). */
export function tokenFrom(request: HttpRequest): string | undefined {
  for (const name of tokenHeaders) {
    // A repeated header arrives joined, and the first value counts. Secrets contain no blanks.
    const token = headerValue(request, name)?.split(', ', 1)[0]?.trim();
    if (token !== undefined && token !== '') return token;
  }
  const [scheme, token] = (headerValue(request, 'authorization') ?? '').trim().split(/\s+/, 2);
  return scheme?.toLowerCase() === 'bearer' && token !== undefined && token !== '' ? token : undefined;
}

/** Whether the caller can have the right that the route requires; bodies of other callers are not read. */
export function mayHaveRight(route: Route, caller: Principal, pathValues: readonly string[], query: Query): boolean {
  return mayCall(route.access, caller, {
    namespace: query.get('namespace').unwrapOr(undefined),
    workspace: route.path.startsWith('/workspaces/{') ? pathValues[0] : undefined,
  });
}

/** Size of bodies that are validated although the caller lacks the right, so that their errors take precedence. */
export const bodyOfStrangers = 64 * 1024;
