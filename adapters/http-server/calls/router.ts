import { err, ok, type Result } from 'neverthrow';
import type { CallAccess } from '../../../src/api/access.js';
import type { HttpMethod, Interface } from '../../../src/api/call.js';
import type { MessageSocket } from '../../../src/api/message-socket.js';
import type { Engine, Principal } from '../../../src/index.js';
import type { DeliveryResponses, IncompletePath, JobDialect } from '../dialect.js';
import { type BadInput, badInput, type InterfaceErrors } from '../errors/interface-errors.js';
import type { HttpRequest, HttpResponse, RequestBody } from '../http-message.js';
import type { Query } from './query-and-body.js';

/** A route that clients use and this server does not provide. */
interface AbsentRoute {
  readonly methods: readonly string[];
  readonly path: string;
}

/** The routes of one path, by method. */
interface Endpoint {
  readonly path: string;
  readonly routes: readonly Route[];
  /** Methods that clients use on this path and no route serves. */
  readonly absent: readonly string[];
}

/** The match of a path. */
export type Match =
  | { readonly type: 'found'; readonly route: Route; readonly pathValues: readonly string[] }
  | { readonly type: 'wrong_method'; readonly allowed: readonly string[] }
  | { readonly type: 'not_provided'; readonly path: string }
  | ({ readonly type: 'incomplete_path' } & IncompletePath)
  | { readonly type: 'unknown_path' };

type Router = (method: string, path: string) => Result<Match, BadInput>;

/** A segment of a path pattern: a name, or a parameter. */
interface Branch {
  readonly named: Map<string, Branch>;
  parameter: Branch | undefined;
  endpoint: Endpoint | undefined;
}

interface SuffixEndpoint extends Endpoint {
  readonly suffix: string;
  /** Segments of a suffix with its own parameter; then the first parameter matches exactly one segment. */
  readonly segments: readonly string[] | undefined;
}

/** The inputs of a router. */
interface RouterParts {
  readonly routes: readonly Route[];
  /** Routes that clients know; those that `routes` has are served by it. */
  readonly known: readonly AbsentRoute[];
  /** Path prefixes whose first parameter may contain slashes. */
  readonly openPrefixes: readonly string[];
  /** Path prefixes whose parameter matches the rest of a path that no other route matches, slashes included. */
  readonly widePrefixes: readonly string[];
  /**
   * Path prefixes whose parameter may contain slashes, escaped or raw, where a suffix is recognised by its raw slash: every name can be
   * written. The first one counts whose `fits`, if any, holds for the decoded parameter.
   */
  readonly namePrefixes?: readonly NamePrefix[];
}

interface NamePrefix {
  readonly prefix: string;
  readonly fits?: (name: string) => boolean;
}

/** The endpoints below a name prefix, by the last segment of the path; the empty one is that of the name alone. */
interface NamedEndpoints extends NamePrefix {
  readonly suffixes: Map<string, Endpoint>;
}

/** Suffixes after the first parameter of an open prefix, by their last segment. */
interface OpenEndpoints {
  readonly prefix: string;
  readonly suffixes: Map<string, SuffixEndpoint>;
}

/**
 * A router over the table. Paths without parameters are looked up as a whole. Below an open prefix, the first parameter matches
 * everything up to the longest known suffix, including slashes, and is decoded before it is matched, so that a job ID
 * with slashes works both escaped and raw (job interface, routing). All other paths are matched segment by segment. An unmatched rest
 * below a wide prefix is the name of a nonexistent record.
 */
export function createRouter({ routes, known, openPrefixes, widePrefixes, namePrefixes = [] }: RouterParts): Router {
  const whole = new Map<string, Endpoint>();
  const open: readonly OpenEndpoints[] = openPrefixes.map((prefix) => ({ prefix, suffixes: new Map() }));
  const wide: { readonly prefix: string; readonly endpoint: Endpoint }[] = [];
  const named: readonly NamedEndpoints[] = namePrefixes.map((each) => ({ ...each, suffixes: new Map() }));
  const root: Branch = emptyBranch();
  for (const endpoint of endpointsOf(routes, known)) {
    const { path } = endpoint;
    const below = open.find(({ prefix }) => path.startsWith(prefix + '{'));
    const wideOne = widePrefixes.find((prefix) => path.startsWith(prefix + '{') && path.endsWith('}'));
    if (wideOne !== undefined) wide.push({ prefix: wideOne, endpoint });
    const ofName = named.find(({ prefix }) => path.startsWith(prefix + '{'));
    if (!path.includes('{')) whole.set(path, endpoint);
    else if (ofName !== undefined) ofName.suffixes.set(path.slice(path.indexOf('}') + 2), endpoint);
    else if (below === undefined) plant(root, path.split('/'), endpoint);
    else {
      const suffix = path.slice(path.indexOf('}') + 1);
      const segments = suffix.includes('{') ? suffix.split('/').slice(1) : undefined;
      below.suffixes.set(lastSegment(suffix), { ...endpoint, suffix, segments });
    }
  }

  wide.sort((a, b) => b.prefix.length - a.prefix.length);

  return (method, path) => {
    const exact = whole.get(path);
    if (exact !== undefined) return ok(choose(exact, method, noValues));
    for (const { prefix, suffixes } of open) {
      if (!path.startsWith(prefix)) continue;
      const rest = decodePathText(path.slice(prefix.length));
      return rest.map((text) => matchSuffix(suffixes, method, text));
    }
    for (const endpoints of named) {
      const match = path.startsWith(endpoints.prefix) ? matchName(endpoints, method, path) : undefined;
      if (match !== undefined) return match;
    }
    const match = matchSegments(root, method, path);
    if (match.isErr() || match.value.type !== 'unknown_path') return match;
    const name = wide.find(({ prefix }) => path.startsWith(prefix) && path.length > prefix.length);
    if (name === undefined) return match;
    return decodePathText(path.slice(name.prefix.length)).map((text) => choose(name.endpoint, method, [text]));
  };
}

/** Undefined when the name is not of this kind. */
function matchName(
  { prefix, suffixes, fits }: NamedEndpoints,
  method: string,
  path: string,
): Result<Match, BadInput> | undefined {
  const rest = path.slice(prefix.length);
  const slash = rest.lastIndexOf('/');
  const suffix = slash > 0 ? rest.slice(slash + 1) : '';
  const suffixed = suffix === '' ? undefined : suffixes.get(suffix);
  const endpoint = suffixed ?? suffixes.get('');
  const name = decodePathText(suffixed === undefined ? rest : rest.slice(0, slash));
  if (endpoint === undefined || name.isErr()) return name.map(() => ({ type: 'unknown_path' }));
  return fits === undefined || fits(name.value) ? ok(choose(endpoint, method, [name.value])) : undefined;
}

const noValues: readonly string[] = Object.freeze([]);

function endpointsOf(routes: readonly Route[], known: readonly AbsentRoute[]): Iterable<Endpoint> {
  const endpoints = new Map<string, { path: string; routes: Route[]; absent: string[] }>();
  const at = (path: string) => {
    const endpoint = endpoints.get(path) ?? { path, routes: [], absent: [] };
    endpoints.set(path, endpoint);
    return endpoint;
  };
  for (const route of routes) {
    at(route.path).routes.push(route);
    if (route.alias !== undefined) at(route.alias).routes.push(route);
  }
  for (const { path, methods } of known) at(path).absent.push(...methods);
  return endpoints.values();
}

function choose(endpoint: Endpoint, method: string, pathValues: readonly string[]): Match {
  for (const route of endpoint.routes) {
    if (route.anyMethod === true || route.methods.some((candidate) => candidate === method)) {
      return { type: 'found', route, pathValues };
    }
  }
  if (endpoint.routes.length === 0 || endpoint.absent.includes(method))
    return { type: 'not_provided', path: endpoint.path };
  return { type: 'wrong_method', allowed: [...new Set(endpoint.routes.flatMap((route) => route.methods))] };
}

function matchSuffix(suffixes: ReadonlyMap<string, SuffixEndpoint>, method: string, rest: string): Match {
  const slash = rest.lastIndexOf('/');
  if (slash >= 0) {
    const endpoint = suffixes.get(rest.slice(slash + 1));
    if (endpoint?.segments !== undefined) return matchWhole(endpoint, endpoint.segments, method, rest);
    // The suffix may not be the whole rest: `/v1/job/plan` is the job "plan".
    if (endpoint !== undefined && endpoint.suffix !== '' && rest.endsWith(endpoint.suffix)) {
      return choose(endpoint, method, [rest.slice(0, rest.length - endpoint.suffix.length)]);
    }
  }
  const plain = suffixes.get('');
  return plain === undefined ? { type: 'unknown_path' } : choose(plain, method, [rest]);
}

function matchWhole(endpoint: Endpoint, segments: readonly string[], method: string, rest: string): Match {
  const [first = '', ...others] = rest.split('/');
  const fits =
    others.length === segments.length && segments.every((part, i) => part.startsWith('{') || part === others[i]);
  if (!fits) return { type: 'unknown_path' };
  return choose(endpoint, method, [first, ...others.filter((_value, i) => segments[i]?.startsWith('{') === true)]);
}

function matchSegments(root: Branch, method: string, path: string): Result<Match, BadInput> {
  const segments = path.split('/');
  const values: string[] = [];
  let branch: Branch = root;
  for (const segment of segments) {
    const named = branch.named.get(segment);
    if (named !== undefined) {
      branch = named;
    } else if (branch.parameter !== undefined && segment !== '') {
      const value = decodePathText(segment);
      if (value.isErr()) return err(value.error);
      values.push(value.value);
      branch = branch.parameter;
    } else {
      return ok({ type: 'unknown_path' });
    }
  }
  return ok(branch.endpoint === undefined ? { type: 'unknown_path' } : choose(branch.endpoint, method, values));
}

function plant(root: Branch, segments: readonly string[], endpoint: Endpoint): void {
  let branch = root;
  for (const segment of segments) {
    if (segment.startsWith('{')) {
      branch.parameter ??= emptyBranch();
      branch = branch.parameter;
      continue;
    }
    let named = branch.named.get(segment);
    if (named === undefined) {
      named = emptyBranch();
      branch.named.set(segment, named);
    }
    branch = named;
  }
  branch.endpoint = endpoint;
}

function emptyBranch(): Branch {
  return { named: new Map(), parameter: undefined, endpoint: undefined };
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Decodes percent-encoding; most strings have none and are returned unchanged. */
function decodePathText(text: string): Result<string, BadInput> {
  if (!text.includes('%')) return ok(text);
  try {
    return ok(decodeURIComponent(text));
  } catch {
    return err(badInput('malformed', 'the path contains an invalid percent-encoding; write % as %25'));
  }
}

/** How requests are matched and answered. Most routes are generated from the table of calls (`callRoute`). */
export interface Route {
  /** The name of the call, such as `jobs.register`. */
  readonly name: string;
  readonly interface: Interface;
  readonly methods: readonly [HttpMethod, ...HttpMethod[]];
  /** All methods have the same meaning. */
  readonly anyMethod?: true;
  /** Below the base path of the interface, parameters in braces: `/v1/job/{job_id}/allocations`. */
  readonly path: string;
  /** A second path of the route, with the same parameters. */
  readonly alias?: string;
  readonly access: CallAccess;
  readonly handle: (call: RouteCall) => HttpResponse | Promise<HttpResponse>;
  /**
   * Serves the WebSocket of the route. It starts with an authenticated caller that has the right, unless the right depends on a record.
   * A socket that it leaves open is closed with 1000 when it resolves and with 1011 when it rejects. Requests without an upgrade go to
   * `handle`.
   */
  readonly socket?: (call: RouteCall, socket: MessageSocket) => Promise<void>;
}

/** The context of a route. */
export interface RouteCall {
  readonly engine: Engine;
  readonly caller: Principal;
  readonly request: HttpRequest;
  /** Decoded path parameters in the order of the path. */
  readonly pathValues: readonly string[];
  readonly query: Query;
  /** What the clients of the job interface expect; the neutral form for a client that requested the engine's own form. */
  readonly dialect: JobDialect;
  /** The form of the responses of destinations in notification documents. */
  readonly deliveryResponses: DeliveryResponses;
  /** How errors are printed for this request. */
  readonly errors: InterfaceErrors;
  /** Whether the client requested the engine's own form of values and errors. */
  readonly plain: boolean;
  /** Reads the request's body, once, within the handler's limits. Never rejects. */
  readonly readBody: () => Promise<RequestBody>;
  /** Counts the request among those that wait for a change, until it is answered; false if its caller has too many of them. */
  readonly mayWait: () => boolean;
  /** Where the notification interface is mounted, without a slash at the end. */
  readonly notificationsPath: string;
}
