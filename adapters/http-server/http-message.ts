/** Header names are lower-case, as `node:http` gives them; a repeated header is a list, or one text joined by commas. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What the handler needs to know of a request. No socket, no framework: a test writes one by hand (`requestFrom`). */
export interface HttpRequest {
  readonly method: string;
  /** Raw path and query as sent, from the first slash; percent-encoding untouched. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Reads the body, once, keeping at most `limit` bytes. Never rejects. */
  readonly readBody: (limit: number) => Promise<RequestBody>;
  /** Calls back when the client has gone away, at once when it already has. May be called by a request that waits. */
  readonly whenClosed: (callback: () => void) => void;
}

export type RequestBody =
  | { readonly type: 'absent' }
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  /** A body parser in front has read the request already; this is what it made of it. */
  | { readonly type: 'parsed'; readonly value: unknown }
  | { readonly type: 'too_large' }
  /** The client went away, or the stream failed, before the end. */
  | { readonly type: 'aborted' };

/** A complete answer. */
export interface HttpResponse {
  readonly status: number;
  /** Name, value, name, value, …; without `Content-Length`, which the bridge adds. Fresh for each response. */
  readonly headers: string[];
  readonly body: string | Buffer;
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
    readBody: (limit) => Promise.resolve(bodyFrom(bytes, limit)),
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
export function bodyFrom(bytes: Buffer | undefined, limit: number): RequestBody {
  if (bytes === undefined || bytes.length === 0) return { type: 'absent' };
  return bytes.length > limit ? { type: 'too_large' } : { type: 'bytes', bytes };
}
