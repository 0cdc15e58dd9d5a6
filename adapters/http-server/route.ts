import type { MessageSocket } from '../../src/api/message-socket.js';
import type { Capability, Engine, Principal, WorkspaceRight } from '../../src/index.js';
import type { HeaderNames } from './header-names.js';
import type { HttpRequest, HttpResponse, RequestBody } from './http-message.js';
import type { JsonSchema } from './json-schema.js';
import type { Parameters, Query } from './query.js';

/**
 * Who may call a route. There is no default: a route that asks for no credentials says so by name. `namespace` needs one
 * of the capabilities in the namespace of the request, `workspace` the right on the workspace concerned. The operations
 * decide; before a body is read the handler refuses callers that can have no right at all.
 */
export type RouteAccess =
  | { readonly type: 'public' }
  | {
      readonly type: 'namespace';
      readonly anyOf: readonly Capability[];
      /**
       * What names the namespace when the query does not: the body may, or only the record or the document concerned does,
       * whatever the query says. Absent: it is `default`.
       */
      readonly namedBy?: 'body' | 'record';
    }
  | { readonly type: 'workspace'; readonly right: WorkspaceRight }
  | { readonly type: 'management' };

/** Which interface a route belongs to: it decides the shape of its errors. `system` answers for the server itself. */
export type RouteHalf = 'jobs' | 'notifications' | 'system';

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One row of the route table. Requests are matched by it, the OpenAPI document is printed from it, tests walk it. */
export interface Route {
  readonly half: RouteHalf;
  /** `any` only where the interface's contract does not look at the method. The first one is the documented one. */
  readonly methods: readonly [HttpMethod, ...HttpMethod[]];
  readonly anyMethod?: true;
  /** Below the half's base path, parameters in braces: `/v1/job/{job_id}/allocations`. */
  readonly path: string;
  readonly access: RouteAccess;
  /** Unique name, camelCase. */
  readonly operation: string;
  readonly summary: string;
  readonly parameters: Parameters;
  readonly requestBody?: RequestBodyDescription;
  /** Status to description, for the OpenAPI document; the errors of the half are added to it. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  readonly handle: (call: RouteCall) => Promise<HttpResponse>;
  /**
   * The conversation of a route that opens a WebSocket. The caller is known, and may have the right, when it begins; what
   * it does not close itself is closed with 1000 when it resolves, with 1011 when it rejects. `handle` answers those who
   * did not ask for an upgrade.
   */
  readonly socket?: (call: RouteCall, socket: MessageSocket) => Promise<void>;
}

export interface RequestBodyDescription {
  readonly contentType: string;
  readonly required: boolean;
  readonly schema: () => JsonSchema;
}

export interface AnswerDescription {
  readonly description: string;
  /** Absent means no body. */
  readonly contentType?: string;
  readonly schema?: () => JsonSchema;
}

/** What a route works with. */
export interface RouteCall {
  readonly engine: Engine;
  readonly caller: Principal;
  readonly request: HttpRequest;
  /** Decoded path parameters in the order of the path. */
  readonly pathValues: readonly string[];
  readonly query: Query;
  readonly names: HeaderNames;
  /** Reads the request's body, once, within the handler's bounds. Never rejects. */
  readonly readBody: () => Promise<RequestBody>;
  /** Where the notification interface is mounted, without a slash at the end. */
  readonly notificationsPath: string;
}
