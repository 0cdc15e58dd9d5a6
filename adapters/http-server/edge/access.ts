import {
  anonymousPrincipal,
  type Engine,
  hostPrincipal,
  mayCall,
  type Principal,
  principalFault,
} from '../../../src/index.js';
import type { StorageError } from '../../../src/ports/index.js';
import type { Query } from '../calls/query.js';
import type { Route } from '../calls/route.js';
import { type HttpRequest, headerValue } from '../http-message.js';
import { tokenHeaders } from './header-names.js';

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
  | { readonly type: 'known'; readonly caller: Principal }
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
    return engine.host.authenticate(secret).match<Authentication, Authentication>(
      (caller) => {
        if (caller === undefined) return unknown;
        return { type: secret === undefined ? 'missing' : 'known', caller };
      },
      (error) => ({ type: 'failed', error }),
    );
  };
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
