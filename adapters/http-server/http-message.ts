/** Header names are lower-case, as `node:http` gives them; a repeated header is a list, or one string joined by commas. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What the handler needs to know of a request. No socket, no framework: a test writes one by hand (`requestFrom`). */
export interface HttpRequest {
  readonly method: string;
  /** Raw path and query as sent, from the first slash; percent-encoding untouched. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Reads the body, once, within the allowance. Never rejects. */
  readonly readBody: (allowance: BodyAllowance) => Promise<RequestBody>;
  /** Calls back when the client has gone away, at once when it already has. May be called by a request that waits. */
  readonly whenClosed: (callback: () => void) => void;
  /** The server's address that the client has connected to, without the port; undefined when the bridge cannot know. */
  readonly localAddress?: () => string | undefined;
  /** The address that the connection comes from, which may be that of a proxy; undefined when the bridge cannot know. */
  readonly remoteAddress?: () => string | undefined;
  /**
   * The request as the host's framework has it: Express's, Fastify's, Hono's context, or a plain `IncomingMessage` or `Request`. For
   * `authenticate`, which finds there what middleware in front has put, such as the user of a session.
   */
  readonly original?: unknown;
}

/** How much of a body may be kept. */
export interface BodyAllowance {
  /** The longest body, in bytes. */
  readonly limit: number;
  /** Reserves this number of further bytes; false if all requests together have reached their limit. */
  readonly take: (bytes: number) => boolean;
}

/** The body of a request, or why there is none. */
export type RequestBody =
  | { readonly type: 'absent' }
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  /** A body parser in front has read the request already; this is what it made of it. */
  | { readonly type: 'parsed'; readonly value: unknown }
  | { readonly type: 'too_large' }
  /** All requests together hold as many bytes as they may. */
  | { readonly type: 'no_room' }
  /** The client went away, or the stream failed, before the end. */
  | { readonly type: 'aborted' }
  /** The framework has read the body and has not left it where the bridge looks for it. */
  | { readonly type: 'consumed' };

/**
 * A body that is sent as it comes. It is asked for the next piece only when the client has taken the ones before; when
 * the client goes away its iterator is closed by `return`. A failure cuts the connection, so that the client cannot take
 * what it has for the whole.
 */
export type StreamedBody = AsyncIterable<string | Uint8Array>;

/** An answer. */
export interface HttpResponse {
  readonly status: number;
  /** Name, value, name, value, …; without `Content-Length`, which the bridge adds. Fresh for each response. */
  readonly headers: string[];
  readonly body: string | Buffer | StreamedBody;
}

/** Whether the body is complete: a string or bytes. */
export function isWhole(body: HttpResponse['body']): body is string | Buffer {
  return typeof body === 'string' || Buffer.isBuffer(body);
}

/** Answers every request with a response; never rejects. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;

/** What `requestFrom` takes. */
export interface RequestParts {
  readonly method?: string;
  readonly target: string;
  readonly headers?: RequestHeaders;
  /** Text, bytes, or a value that is sent as JSON. */
  readonly body?: unknown;
}

/** A request without a network, for tests and for hosts that call the handler themselves. */
export function requestFrom(parts: RequestParts): HttpRequest {
  const bytes = bytesFrom(parts.body);
  return {
    method: parts.method ?? (bytes === undefined ? 'GET' : 'POST'),
    target: parts.target,
    headers: parts.headers ?? {},
    readBody: (allowance) => Promise.resolve(bodyFrom(bytes, allowance)),
    whenClosed: () => undefined,
  };
}

/** The value of a header that may not be repeated: the first one. */
export function headerValue(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' || value === undefined ? value : value[0];
}

function bytesFrom(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** The body record for bytes that are already at hand. */
export function bodyFrom(bytes: Buffer | undefined, { limit, take }: BodyAllowance): RequestBody {
  if (bytes === undefined || bytes.length === 0) return { type: 'absent' };
  if (bytes.length > limit) return { type: 'too_large' };
  return take(bytes.length) ? { type: 'bytes', bytes } : { type: 'no_room' };
}
