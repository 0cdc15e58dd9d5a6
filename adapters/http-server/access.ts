import {
  allows,
  allowsSomeWorkspace,
  allowsWorkspace,
  anonymousPrincipal,
  type Engine,
  everyNamespace,
  hostPrincipal,
  type Principal,
  tokenAuthenticator,
} from '../../src/index.js';
import { tokenHeaders } from './header-names.js';
import { type HttpRequest, headerValue } from './http-message.js';
import type { Query } from './query.js';
import type { Route } from './route.js';

/**
 * Who may call. There is no default: either the host authenticates, or the built-in token store does, or the host asks
 * for an open server by name.
 */
export type AccessOptions =
  | {
      /** Undefined refuses the request. A rejected promise is a 500: the host could not tell. */
      readonly authenticate: (request: HttpRequest) => Principal | undefined | Promise<Principal | undefined>;
      readonly access?: never;
    }
  | {
      /** `token`: tokens of the engine's store. `open`: everybody may do everything; for loopback and for tests. */
      readonly access: 'token' | 'open';
      readonly authenticate?: never;
    };

/** What is known of a caller before any operation runs. */
export type Authentication =
  | { readonly type: 'known'; readonly caller: Principal }
  /** No credentials at all. */
  | { readonly type: 'missing' }
  /** Credentials that nobody knows. */
  | { readonly type: 'unknown' }
  | { readonly type: 'failed'; readonly message: string };

export type Authenticator = (request: HttpRequest) => Authentication | Promise<Authentication>;

/** The authenticator for the options. Throws when no decision was made: serving without one must not happen by accident. */
export function authenticatorFrom(engine: Engine, options: AccessOptions): Authenticator {
  if (typeof options.authenticate === 'function') return hostAuthenticator(options.authenticate);
  if (options.access === 'token') return storeAuthenticator(engine);
  if (options.access === 'open') return () => everybody;
  throw new TypeError(
    "createHttpHandler needs a decision about access: give `authenticate`, or `access: 'token'`, or `access: 'open'`",
  );
}

const everybody: Authentication = { type: 'known', caller: hostPrincipal };
const missing: Authentication = { type: 'missing' };
const unknown: Authentication = { type: 'unknown' };

/** The principal of a caller without credentials, which has no rights. */
export const nobody: Principal = anonymousPrincipal;

function hostAuthenticator(
  authenticate: (request: HttpRequest) => Principal | undefined | Promise<Principal | undefined>,
): Authenticator {
  return async (request) => {
    const caller = await authenticate(request);
    return caller === undefined ? unknown : { type: 'known', caller };
  };
}

function storeAuthenticator(engine: Engine): Authenticator {
  const authenticate = tokenAuthenticator(engine);
  return (request) => {
    const secret = tokenFrom(request);
    if (secret === undefined) return missing;
    return authenticate(secret).match<Authentication, Authentication>(
      (caller) => (caller === undefined ? unknown : { type: 'known', caller }),
      (error) => ({ type: 'failed', message: error.message }),
    );
  };
}

/** The token of a request: one of the token headers, else a bearer token (job interface, token transport). */
export function tokenFrom(request: HttpRequest): string | undefined {
  for (const name of tokenHeaders) {
    const token = headerValue(request, name)?.trim();
    if (token !== undefined && token !== '') return token;
  }
  const [scheme, token] = (headerValue(request, 'authorization') ?? '').trim().split(/\s+/, 2);
  return scheme?.toLowerCase() === 'bearer' && token !== undefined && token !== '' ? token : undefined;
}

/**
 * Whether the caller can have the right that the route asks for, as far as path and query tell. Only the operation
 * decides; this keeps the bodies of callers that can have no right from being read.
 */
export function mayHaveRight(route: Route, caller: Principal, pathValues: readonly string[], query: Query): boolean {
  const { access } = route;
  switch (access.type) {
    case 'public':
      return true;
    case 'management':
      return caller.management;
    case 'namespace': {
      const asked = query.get('namespace').unwrapOr(undefined);
      const named = access.namedBy !== 'record' && asked !== undefined && asked !== '';
      const otherwise = access.namedBy === undefined ? 'default' : everyNamespace;
      return allows(caller, named ? asked : otherwise, access.anyOf);
    }
    case 'workspace':
      return route.path.startsWith('/workspaces/{')
        ? allowsWorkspace(caller, pathValues[0] ?? '', access.right)
        : allowsSomeWorkspace(caller, access.right);
  }
}
