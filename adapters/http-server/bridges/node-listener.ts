import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
// From the module: tests of a host may replace the global function by one of fake timers.
import { setImmediate } from 'node:timers/promises';
import { checkArgument, checkOptions } from '../../../src/options/check-options.js';
import { amount, optional } from '../../../src/options/option-kinds.js';
import {
  type BodyAllowance,
  bodyFrom,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  handlerKind,
  isWhole,
  type RequestBody,
  type StreamedBody,
} from '../http-message.js';

/** A request from a framework, whose body may have been read already. */
type ReadRequest = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

/** Limits of a listener for `node:http` servers. */
export interface NodeListenerOptions {
  /**
   * Milliseconds within which a client must accept the next 32 KiB of an answer, or its last bytes; otherwise it is disconnected.
   * Default: 30 seconds.
   */
  readonly stallTimeout?: number;
}

/**
 * The handler as a `node:http` listener, also for Express, Koa and `node:http2` (for Fastify: `fastifyRoute`). Writes straight to the
 * response, with a content length unless the answer is streamed. Behind a body parser it uses `rawBody` or `body`. If the framework
 * mounts it under a path prefix without stripping it, set the handler's `basePath`.
 */
export function nodeListener(
  handler: HttpHandler,
  options: NodeListenerOptions = {},
): (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) => void {
  const answer = answerer(handler, options);
  return (request, response) => answer(request, response, request);
}

/** The parts of Fastify's request and reply that a route needs. */
export interface FastifyExchange {
  readonly request: { readonly raw: IncomingMessage | Http2ServerRequest };
  readonly reply: { readonly raw: ServerResponse | Http2ServerResponse; hijack(): unknown };
}

/**
 * The handler as a Fastify route; its `authenticate` receives Fastify's request. Register it in a scope without content type parsers:
 *
 * ```ts
 * await app.register(async (scope) => {
 *   scope.removeAllContentTypeParsers();
 *   scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
 *   scope.all('/*', fastifyRoute(handler));
 * });
 * ```
 */
export function fastifyRoute(
  handler: HttpHandler,
  options: NodeListenerOptions = {},
): (request: FastifyExchange['request'], reply: FastifyExchange['reply']) => void {
  const answer = answerer(handler, options);
  return (request, reply) => {
    reply.hijack();
    answer(request.raw, reply.raw, request);
  };
}

function answerer(
  handler: HttpHandler,
  options: NodeListenerOptions,
): (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  original: unknown,
) => void {
  checkArgument('nodeListener', 'handler', handler, handlerKind);
  checkOptions<NodeListenerOptions>('nodeListener', options, { stallTimeout: optional(amount) });
  const stallTimeout = options.stallTimeout ?? 30_000;
  return (incoming, outgoing, original) => {
    // HTTP/2 has all members used here except `destroyed` and `closed`: see `isGone`.
    const request = incoming as IncomingMessage;
    const response = outgoing as ServerResponse;
    const record: HttpRequest = {
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      headers: request.headers,
      readBody: (allowance) => readBody(request, allowance),
      whenClosed: (callback) => {
        if (isGone(response)) callback();
        else response.once('close', callback);
      },
      localAddress: () => request.socket.localAddress,
      remoteAddress: () => request.socket.remoteAddress,
      original,
    };
    const begin = (): void => void handler(record).then((answer) => write(response, answer, stallTimeout));
    // A pipelined request starts when the answers before it are complete: one request per connection at a time.
    if (response.socket === null) response.once('socket', begin);
    else begin();
  };
}

function write(response: ServerResponse, answer: HttpResponse, stallTimeout: number): void | Promise<void> {
  const { status, headers, body } = answer;
  if (!isWhole(body)) return writeStream(response, { status, headers, body }, stallTimeout);
  // The client has disconnected, or the host has answered instead (its own timeout).
  if (response.headersSent || isGone(response)) return;
  const length = Buffer.byteLength(body);
  if (status !== 204 && status !== 304) headers.push('Content-Length', String(length));
  if (isClosing(response)) response.shouldKeepAlive = false;
  response.writeHead(status, headers);
  if (length > pieceLength) return writeLong(response, bytesOf(body), stallTimeout);
  // A string with one byte per character is ASCII, so it can be written as Latin-1, without encoding.
  const isEncoded = typeof body === 'string' && length !== body.length;
  endWatched(response, stallTimeout, isEncoded ? Buffer.from(body) : body);
}

/**
 * Whether the server has stopped listening. Answers then close their connections; otherwise a client that keeps sending requests over
 * one connection would keep the server open forever, because `server.close` waits for it.
 */
function isClosing({ req }: ServerResponse): boolean {
  // Set by node:http on every connection it accepts; its types do not say so.
  const { server } = req.socket as { readonly server?: { readonly listening?: boolean } };
  return server?.listening === false;
}

async function readBody(request: ReadRequest, allowance: BodyAllowance): Promise<RequestBody> {
  if (!announcesBody(request)) return { type: 'absent' };
  const body = await bodyOf(request, allowance);
  await endOfTurn();
  return body;
}

let turn: Promise<void> | undefined;

/**
 * Requests whose bodies ended in one turn of the event loop continue together: their writes share a commit, and their answers follow
 * each other, so that a client is woken once for all. Under load, one at a time takes 1.5 times the processor time.
 */
function endOfTurn(): Promise<void> {
  turn ??= setImmediate().then(() => {
    turn = undefined;
  });
  return turn;
}

function bodyOf(request: ReadRequest, allowance: BodyAllowance): RequestBody | Promise<RequestBody> {
  if (request.readableDidRead || request.readableEnded) return bodyReadBefore(request, allowance);
  if (Number(request.headers['content-length'] ?? 0) > allowance.limit) return { type: 'too_large' };
  return readStream(request, allowance);
}

/** A JSON content type without a body counts as no body. HTTP/2 bodies may come without a content length. */
function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  if (length !== undefined) return length !== '0';
  return request.httpVersionMajor >= 2 || request.headers['transfer-encoding'] !== undefined;
}

function bodyReadBefore(request: ReadRequest, allowance: BodyAllowance): RequestBody {
  const raw = request.rawBody ?? request.body;
  if (Buffer.isBuffer(raw)) return bodyFrom(raw, allowance);
  if (typeof raw === 'string') return bodyFrom(Buffer.from(raw), allowance);
  return raw === undefined ? { type: 'consumed' } : { type: 'parsed', value: raw };
}

/** Reads to the end, or stops at the limit: further data is read and dropped, so that the client receives the answer. */
function readStream(request: IncomingMessage, { limit, take }: BodyAllowance): Promise<RequestBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (body: RequestBody): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      resolve(body);
    };
    const giveUp = (body: RequestBody): void => {
      finish(body);
      request.on('error', ignore).resume();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) giveUp({ type: 'too_large' });
      else if (!take(chunk.length)) giveUp({ type: 'no_room' });
      else chunks.push(chunk);
    };
    const onEnd = (): void => finish(size === 0 ? { type: 'absent' } : { type: 'bytes', bytes: joined(chunks) });
    const onClose = (): void => finish({ type: 'aborted' });
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

const ignore = (): void => undefined;

/** An answer with a streamed body. */
interface StreamedAnswer {
  readonly status: number;
  readonly headers: string[];
  readonly body: StreamedBody;
}

/**
 * The most bytes per write to the connection. A client that accepts this much within the stall timeout makes progress; the whole
 * answer has no time limit.
 */
const pieceLength = 32 * 1024;

/**
 * Sends a streamed answer: the next piece is requested when the client has accepted the previous one. A client that accepts
 * nothing for `stallTimeout` milliseconds is disconnected. If the body fails, the connection is cut, so that the client cannot mistake a
 * part for the whole. The iterator is closed when the client disconnects. Never rejects.
 */
export async function writeStream(
  response: ServerResponse,
  { status, headers, body }: StreamedAnswer,
  stallTimeout: number,
): Promise<void> {
  const pieces = body[Symbol.asyncIterator]();
  const close = (): void => void Promise.resolve(pieces.return?.()).catch(ignore);
  // The client has disconnected, or the host has answered instead. A HEAD has no body.
  if (response.headersSent || isGone(response)) return close();
  response.once('close', close);
  response.writeHead(status, headers);
  if (response.req.method === 'HEAD') {
    endWatched(response, stallTimeout);
    return;
  }
  response.flushHeaders();
  try {
    await sendPieces(response, pieces, stallTimeout);
    endWatched(response, stallTimeout);
  } catch {
    response.destroy();
  }
}

/** Sends a complete body that is longer than one chunk. The headers were written before. */
async function writeLong(response: ServerResponse, body: Buffer, stallTimeout: number): Promise<void> {
  if (response.req.method === 'HEAD' || (await sendBytes(response, body, stallTimeout)))
    endWatched(response, stallTimeout);
}

/**
 * Ends an answer, with its last bytes. A client that has not accepted them within `stallTimeout` milliseconds is disconnected. Most answers
 * are accepted by the operating system immediately; no timer is started for them.
 */
function endWatched(response: ServerResponse, stallTimeout: number, body?: string | Buffer): void {
  if (typeof body === 'string') response.end(body, 'latin1');
  else if (body === undefined) response.end();
  else response.end(body);
  if (response.writableFinished || isGone(response)) return;
  const timer = setTimeout(() => response.destroy(), stallTimeout);
  const settle = (): void => clearTimeout(timer);
  response.once('finish', settle).once('close', settle);
}

async function sendPieces(
  response: ServerResponse,
  pieces: AsyncIterator<string | Uint8Array>,
  stallTimeout: number,
): Promise<void> {
  while (!isGone(response)) {
    const next = await pieces.next();
    if (next.done === true) return;
    const { value } = next;
    if (value.length === 0) continue;
    if (value.length <= pieceLength) await sendPiece(response, value, stallTimeout);
    else await sendBytes(response, bytesOf(value), stallTimeout);
  }
}

/** False if the client disconnected or was disconnected. */
async function sendBytes(response: ServerResponse, bytes: Buffer, stallTimeout: number): Promise<boolean> {
  for (let from = 0; from < bytes.length && !isGone(response); from += pieceLength) {
    if (!(await sendPiece(response, bytes.subarray(from, from + pieceLength), stallTimeout))) return false;
  }
  return !isGone(response);
}

async function sendPiece(response: ServerResponse, piece: string | Uint8Array, stallTimeout: number): Promise<boolean> {
  if (response.write(piece)) return true;
  const accepted = await drained(response, stallTimeout);
  if (!accepted) response.destroy();
  return accepted;
}

/** Resolves when the client has accepted the written bytes; false if it disconnected or stalled. */
function drained(response: ServerResponse, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (taken: boolean): void => {
      clearTimeout(timer);
      response.off('drain', onDrain).off('close', onClose);
      resolve(taken);
    };
    const onDrain = (): void => finish(true);
    const onClose = (): void => finish(false);
    const timer = setTimeout(onClose, timeout);
    response.on('drain', onDrain).on('close', onClose);
    if (isGone(response)) onClose();
  });
}

function bytesOf(value: string | Uint8Array): Buffer {
  return typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** Whether the client has disconnected. An HTTP/2 response has this state in its stream. */
function isGone(response: ServerResponse & { readonly stream?: { readonly destroyed: boolean } }): boolean {
  return response.destroyed || response.closed || response.stream?.destroyed === true;
}
