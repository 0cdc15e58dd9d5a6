import { err, ok, type Result } from 'neverthrow';
import { plainType } from '../api/answers.js';
import { type Call, type Framing, framingOf } from '../api/call.js';
import type { NamedCall } from '../api/index.js';
import type { MessageSocket } from '../api/message-socket.js';
import { timerOf } from '../shared/duration.js';
import { withoutEndSlash } from '../shared/values.js';
import { openBrowserSocket, type WebSocketConstructor } from './browser-socket.js';
import type { TaggedError, Transport, TransportOptions } from './client.js';
import { aborted, type ClientError, type UnexpectedAnswer, type Unreachable } from './client-error.js';
import { SignalboxError } from './or-throw.js';
import { requestFromCall, type WireRequest } from './request-from-call.js';

/** The server's address, and options of the requests. */
export interface ConnectOptions {
  /** URL of the server, with the path under which it is mounted, if any: `https://example.org/tools`. */
  readonly url: string;
  /** The secret of a token of the server's store; requests send it as `X-SVC-Token`. */
  readonly token?: string;
  /** Path of the notification interface below the URL; default: the root. With upstream names: `/api/v2`. */
  readonly notificationsPath?: string;
  /** Response timeout in milliseconds, in addition to the requested wait of a read; default: 30 seconds. */
  readonly timeout?: number;
  /** Headers of every request, for servers that authenticate by other headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Replaces the platform's `WebSocket` in calls that open sockets; Node before version 22 has none. */
  readonly WebSocket?: WebSocketConstructor;
}

const longestWait = 5 * 60_000;

/** Calls over HTTP. A network failure is returned immediately, without retries. */
export function httpTransport(options: ConnectOptions): Transport {
  const server = new Server(options);
  return {
    answer: (call, input, how) => server.answer(call, input, how),
    stream: (call, input, how) => server.stream(call, input, how),
    open: (call, input, how) => server.open(call, input, how),
  };
}

type Input = Readonly<Record<string, unknown>>;

class Server {
  readonly #options: ConnectOptions;
  readonly #base: string;
  readonly #notifications: string;

  constructor(options: ConnectOptions) {
    this.#options = options;
    const { origin, pathname } = new URL(options.url);
    this.#base = origin + withoutEndSlash(pathname);
    this.#notifications = this.#base + withoutEndSlash(options.notificationsPath ?? '');
  }

  async answer({ call }: NamedCall, input: Input, how: TransportOptions): Promise<Result<unknown, TaggedError>> {
    const request = requestFromCall(call, input, how.waiting);
    if (request.isErr()) return err(request.error);
    const { timeout = 30_000 } = this.#options;
    const limit = timeout + (how.waiting === undefined ? 0 : ((how.waiting.wait ?? longestWait) * 17) / 16);
    const ended = endedBy(how.signal, limit);
    try {
      const response = await this.#fetch(call, request.value, ended.signal);
      const text = await response.text();
      return answerFrom(response, text);
    } catch (cause) {
      return err(failureOf(cause, how.signal, ended.signal, this.#base));
    } finally {
      ended.forget();
    }
  }

  async *stream({ call }: NamedCall, input: Input, how: TransportOptions): AsyncGenerator<unknown> {
    const request = requestFromCall(call, input, undefined);
    if (request.isErr()) throw new SignalboxError(request.error);
    const gone = new AbortController();
    const follow = (): void => gone.abort();
    how.signal?.addEventListener('abort', follow, { once: true });
    if (how.signal?.aborted === true) gone.abort();
    try {
      const response = await this.#fetch(call, request.value, gone.signal);
      if (!response.ok || response.body === null) {
        const refused = answerFrom(response, await response.text());
        throw new SignalboxError(refused.isErr() ? refused.error : unexpected(response.status));
      }
      yield* clientItems(call, framingOf(call, input), response.body);
    } catch (cause) {
      throw cause instanceof SignalboxError
        ? cause
        : new SignalboxError(failureOf(cause, how.signal, undefined, this.#base));
    } finally {
      how.signal?.removeEventListener('abort', follow);
      gone.abort();
    }
  }

  async open({ call }: NamedCall, input: Input, how: TransportOptions): Promise<Result<MessageSocket, TaggedError>> {
    const request = requestFromCall(call, input, undefined);
    if (request.isErr()) return err(request.error);
    const { token, WebSocket = (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket } = this.#options;
    if (WebSocket === undefined) {
      const message = 'this platform has no WebSocket: pass one to `connect`';
      return err({ type: 'bad_request', message } satisfies ClientError);
    }
    const target = request.value.target + (request.value.target.includes('?') ? '&' : '?') + 'ws_handshake=true';
    return openBrowserSocket({
      WebSocket,
      url: this.#urlOf(call, target).replace(/^http/, 'ws'),
      hello: JSON.stringify({ version: 1, auth_token: token ?? '' }),
      signal: how.signal,
    });
  }

  #fetch(call: Call, { method, target, body, contentType }: WireRequest, signal: AbortSignal): Promise<Response> {
    const { token, headers, fetch = globalThis.fetch } = this.#options;
    return fetch(this.#urlOf(call, target), {
      method,
      signal,
      redirect: 'error',
      headers: {
        ...headers,
        // A refused stream is answered in this form; items have another form.
        Accept: call.kind === 'stream' ? `${plainType}, */*` : plainType,
        ...(token === undefined || token === '' ? {} : { 'X-SVC-Token': token }),
        ...(contentType === undefined ? {} : { 'Content-Type': contentType }),
      },
      ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
    });
  }

  #urlOf(call: Call, target: string): string {
    return (call.interface === 'notifications' ? this.#notifications : this.#base) + target;
  }
}

async function* clientItems(
  { answer, path }: Call,
  framing: Framing,
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<unknown> {
  for await (const item of itemsOf(body, framing)) {
    const own = framing === 'bytes' || answer.fromWire === undefined ? item : answer.fromWire(item);
    if (own === undefined) throw new SignalboxError(unexpected(200, `invalid item in the stream of ${path}`));
    yield own;
  }
}

/** The value or the error of a response; a response in any other form did not come from Signalbox. */
function answerFrom({ status, headers }: Response, text: string): Result<unknown, TaggedError> {
  if (text === '' && status >= 200 && status < 300) return ok(undefined);
  if (headers.get('content-type') !== plainType) return err(refusalFrom(status, text));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err(unexpected(status));
  }
  const error = status < 400 ? undefined : errorIn(value);
  if (error === undefined) return ok(value);
  return err(error.type === 'refused' ? { ...error, status } : error);
}

/** Undefined for a value: some values, such as a server's health, arrive with the status of a failure. */
function errorIn(value: unknown): TaggedError | undefined {
  const error = (value as { readonly error?: TaggedError } | null)?.error;
  return typeof error?.type === 'string' ? error : undefined;
}

/** The error for a response of another server or a proxy, whose body may be long. */
function refusalFrom(status: number, text: string): ClientError | TaggedError {
  if (status === 403 || status === 401) return { type: 'permission_denied' };
  if (status >= 400) return { type: 'refused', status, message: text.trim().slice(0, 500) || `status ${status}` };
  return unexpected(status);
}

function unexpected(status: number, message = 'the response is not from a Signalbox server'): UnexpectedAnswer {
  return { type: 'unexpected_answer', status, message };
}

function failureOf(
  cause: unknown,
  callers: AbortSignal | undefined,
  ended: AbortSignal | undefined,
  base: string,
): ClientError {
  if (callers?.aborted === true) return aborted;
  if (ended?.aborted === true) return { type: 'timed_out', message: `${base} did not answer in time` };
  return unreachable(cause, base);
}

/** `fetch` throws generic errors; the reason is in their `cause`. */
function unreachable(cause: unknown, base: string): Unreachable {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const what = inner instanceof Error && inner.message !== '' ? inner.message : 'the connection failed';
  return { type: 'unreachable', message: `${base} cannot be reached: ${what}`, cause };
}

/** A signal that aborts with the caller's signal or at the timeout. */
function endedBy(
  callers: AbortSignal | undefined,
  milliseconds: number,
): { readonly signal: AbortSignal; readonly forget: () => void } {
  const controller = new AbortController();
  const end = (): void => controller.abort();
  const timer = setTimeout(end, timerOf(milliseconds));
  callers?.addEventListener('abort', end, { once: true });
  if (callers?.aborted === true) end();
  return {
    signal: controller.signal,
    forget: () => {
      clearTimeout(timer);
      callers?.removeEventListener('abort', end);
    },
  };
}

/** The items of a stream: JSON values, or bytes as they arrive. Heartbeats (`{}`) are left out. */
async function* itemsOf(body: ReadableStream<Uint8Array>, framing: Framing): AsyncGenerator<unknown> {
  const pieces = body.getReader();
  try {
    if (framing === 'bytes') {
      for (let next = await pieces.read(); !next.done; next = await pieces.read()) yield next.value;
      return;
    }
    const splitter = framing === 'lines' ? new Lines() : new JoinedObjects();
    const decoder = new TextDecoder();
    for (let next = await pieces.read(); !next.done; next = await pieces.read()) {
      yield* values(splitter.push(decoder.decode(next.value, { stream: true })));
    }
    yield* values(splitter.rest());
  } finally {
    await pieces.cancel().catch(() => undefined);
  }
}

function* values(texts: readonly string[]): Generator<unknown> {
  for (const text of texts) if (text.trim() !== '' && text !== '{}') yield JSON.parse(text);
}

class Lines {
  #begun = '';

  push(text: string): readonly string[] {
    const lines = (this.#begun + text).split('\n');
    this.#begun = lines.pop() ?? '';
    return lines;
  }

  rest(): readonly string[] {
    return [this.#begun];
  }
}

/** Splits a stream of JSON objects without separators. */
class JoinedObjects {
  #begun = '';
  #depth = 0;
  #inText = false;
  #escaped = false;

  push(text: string): readonly string[] {
    const found: string[] = [];
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      if (!this.#closes(text.charCodeAt(at))) continue;
      found.push(this.#begun + text.slice(from, at + 1));
      this.#begun = '';
      from = at + 1;
    }
    this.#begun += text.slice(from);
    return found;
  }

  rest(): readonly string[] {
    return [this.#begun];
  }

  /** Whether this character closes a top-level object. */
  #closes(code: number): boolean {
    if (this.#inText) {
      if (this.#escaped) this.#escaped = false;
      else if (code === backslash) this.#escaped = true;
      else if (code === quote) this.#inText = false;
      return false;
    }
    if (code === quote) this.#inText = true;
    else if (code === openBrace) this.#depth += 1;
    else if (code === closeBrace) {
      this.#depth -= 1;
      return this.#depth === 0;
    }
    return false;
  }
}

const backslash = 0x5c;
const quote = 0x22;
const openBrace = 0x7b;
const closeBrace = 0x7d;
