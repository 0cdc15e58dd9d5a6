import type { CallAccess } from '../../../src/api/access.js';
import type { HttpMethod, Interface } from '../../../src/api/call.js';
import type { MessageSocket } from '../../../src/api/message-socket.js';
import type { Engine, Principal } from '../../../src/index.js';
import type { HeaderNames } from '../edge/header-names.js';
import type { InterfaceErrors } from '../errors/interface-errors.js';
import type { HttpRequest, HttpResponse, RequestBody } from '../http-message.js';
import type { Query } from './query.js';

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
  readonly names: HeaderNames;
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

export const jsonType = 'application/json';
export const textType = 'text/plain; charset=utf-8';
export const jsonApiType = 'application/vnd.api+json';

export function jsonResponse(status: number, body: string | Buffer): HttpResponse {
  return { status, headers: ['Content-Type', jsonType], body };
}

/** A document with thousands of faults would make an answer larger than itself. */
const longestText = 32_768;

/** Truncates very long strings. */
export function textResponse(status: number, text: string): HttpResponse {
  const body = text.length > longestText ? text.slice(0, longestText) + '\n… and more' : text;
  return { status, headers: ['Content-Type', textType], body };
}

export function emptyResponse(status: number): HttpResponse {
  return { status, headers: [], body: '' };
}
