import type { OptionKind } from '../../src/options/check-options.js';
import { callable } from '../../src/options/option-kinds.js';

/** Header names are lower-case, as `node:http` gives them; a repeated header is a list, or one string joined by commas. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request as the handler sees it, independent of sockets and frameworks; `requestFrom` creates one for tests. */
export interface HttpRequest {
  readonly method: string;
  /** Raw path and query as sent, from the first slash; percent-encoding untouched. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Reads the body, once, within the allowance. Never rejects. */
  readonly readBody: (allowance: BodyAllowance) => Promise<RequestBody>;
  /** Calls back when the client has disconnected, immediately if it already has. Only waiting requests use it. */
  readonly whenClosed: (callback: () => void) => void;
  /** The local address of the connection, without the port; undefined if the bridge does not know it. */
  readonly localAddress?: () => string | undefined;
  /** The remote address of the connection, which may be a proxy's; undefined if the bridge does not know it. */
  readonly remoteAddress?: () => string | undefined;
  /**
   * The framework's own request: Express's, Fastify's, Hono's context, or a plain `IncomingMessage` or `Request`. `authenticate` finds
   * there what earlier middleware has added, such as the user of a session.
   */
  readonly original?: unknown;
}

/** Limits for reading a body. */
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
  /** A body parser has already read the request; this is its result. */
  | { readonly type: 'parsed'; readonly value: unknown }
  | { readonly type: 'too_large' }
  /** The memory for request bodies is full. */
  | { readonly type: 'no_room' }
  /** The client disconnected, or the stream failed, before the end. */
  | { readonly type: 'aborted' }
  /** The framework has read the body and left no result where the bridge looks for it. */
  | { readonly type: 'consumed' };

/**
 * A streamed body. The next piece is requested only when the client has accepted the previous ones. When the client disconnects,
 * the iterator is closed with `return`. A failure cuts the connection, so that the client cannot mistake the received part for the
 * whole.
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

/** The option kind of the handler that a bridge connects to a server. */
export const handlerKind: OptionKind = { ...callable, takes: 'a handler, made by createHttpHandler' };

/** The options of `requestFrom`. */
export interface RequestParts {
  readonly method?: string;
  readonly target: string;
  readonly headers?: RequestHeaders;
  /** A string, bytes, or a value to send as JSON. */
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

/** The body record for bytes in memory. */
export function bodyFrom(bytes: Buffer | undefined, { limit, take }: BodyAllowance): RequestBody {
  if (bytes === undefined || bytes.length === 0) return { type: 'absent' };
  if (bytes.length > limit) return { type: 'too_large' };
  return take(bytes.length) ? { type: 'bytes', bytes } : { type: 'no_room' };
}

/** The longest request target accepted: clients are known to send more than 3 KB of query, servers allow 16 KB of head. */
export const maximumTargetLength = 16_384;

/** Path and query of a target, both raw, without the question mark. Drops scheme and host of the absolute form (`GET http://host/path`). */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  let from = 0;
  if (target.charCodeAt(0) !== slash) {
    const authority = target.indexOf('://');
    if (authority > 0) {
      const path = target.indexOf('/', authority + 3);
      from = path < 0 ? target.length : path;
    }
  }
  const mark = target.indexOf('?', from);
  if (mark < 0) return { path: from === 0 ? target : target.slice(from), query: '' };
  return { path: target.slice(from, mark), query: target.slice(mark + 1) };
}

/** Whether the path is the base or below it. */
export function isBelow(path: string, base: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path.charCodeAt(base.length) === slash);
}

/** A URL with what a header cannot contain escaped: bytes of a request, and what only a caller in process can send. */
export function headerSafe(url: string): string {
  return url.replaceAll(/[^\x21-\x7e]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code <= 0xff) return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
    return encodeURIComponent(/\p{Surrogate}/u.test(character) ? '\ufffd' : character);
  });
}

/** Method and path of a request, for messages. */
export function placeOf({ method, target }: Pick<HttpRequest, 'method' | 'target'>): string {
  return `${method.slice(0, 20)} ${splitTarget(target).path.slice(0, 256)}`;
}

/** Host and port of a target in the form `http://host:port/path`; undefined for the usual form, which begins with the path. */
export function authorityOf(target: string): string | undefined {
  if (target.charCodeAt(0) === slash) return undefined;
  const scheme = target.indexOf('://');
  if (scheme <= 0) return undefined;
  return /^[^/?#]*/.exec(target.slice(scheme + 3))?.[0];
}

const slash = 0x2f;

/** Names of the headers that the job interface adds, and of the token header that it reads. */
export interface HeaderNames {
  readonly index: string;
  readonly lastContact: string;
  readonly knownLeader: string;
  readonly nextToken: string;
  /** The token header of requests; those of other servers' clients are accepted, too. */
  readonly token: string;
}

export function headerNames(prefix: string): HeaderNames {
  return {
    index: prefix + '-Index',
    lastContact: prefix + '-LastContact',
    knownLeader: prefix + '-KnownLeader',
    nextToken: prefix + '-NextToken',
    token: prefix + '-Token',
  };
}

/** Request headers that carry a token, in order of precedence. */
export const tokenHeaders: readonly string[] = ['x-svc-token', 'x-nomad-token'];

/** Header names and messages: Signalbox's own (`neutral`), or those of Nomad and HCP Terraform (`upstream`). */
export type Vocabulary = 'neutral' | 'upstream';

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

/** Whether the list of codings contains gzip (or `*`) with a weight above zero. */
export function acceptsGzip(accepted: string): boolean {
  if (accepted === 'gzip') return true;
  for (const item of accepted.toLowerCase().split(',')) {
    const [coding, ...options] = item.split(';');
    const name = coding?.trim();
    if (name !== 'gzip' && name !== 'x-gzip' && name !== '*') continue;
    return weightOf(options) > 0;
  }
  return false;
}

/** The weight among the options of a coding; 1 if there is none. */
export function weightOf(options: readonly string[]): number {
  const weight = options.map((option) => option.trim()).find((option) => option.startsWith('q='));
  return weight === undefined ? 1 : Number(weight.slice(2));
}
