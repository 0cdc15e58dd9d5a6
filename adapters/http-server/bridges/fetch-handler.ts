import { checkArgument } from '../../../src/options/check-options.js';
import {
  type BodyAllowance,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  handlerKind,
  isWhole,
  type RequestBody,
  type StreamedBody,
} from '../http-message.js';

/**
 * The handler in the web-standard form, for Hono, Next and everything that uses `Request` and `Response`. On Node, `nodeListener` is
 * several times cheaper and knows the local address of the connection. `original` is passed to `authenticate` as the framework's own
 * request, such as Hono's context; default: the `Request`.
 */
export function fetchHandler(handler: HttpHandler): (request: Request, original?: unknown) => Promise<Response> {
  checkArgument('fetchHandler', 'handler', handler, handlerKind);
  return async (request, original = request) => {
    const gone = whenGone(request);
    const record: HttpRequest = {
      method: request.method,
      target: request.url,
      headers: Object.fromEntries(request.headers),
      readBody: (allowance) => readBody(request, allowance),
      whenClosed: gone.add,
      original,
    };
    const answer = await handler(record);
    const { status } = answer;
    const headers = new Headers();
    for (let i = 0; i < answer.headers.length; i += 2) {
      headers.append(answer.headers[i] as string, answer.headers[i + 1] as string);
    }
    if (isWhole(answer.body) && status !== 204 && status !== 304) {
      headers.set('Content-Length', String(Buffer.byteLength(answer.body)));
    }
    const bodiless = request.method === 'HEAD' || status === 204 || status === 304;
    return new Response(bodiless ? null : bodyOf(answer.body, gone.now), { status, headers });
  };
}

/** `Response` accepts strings, plain byte arrays and streams. */
function bodyOf(
  body: HttpResponse['body'],
  onCancel: () => void,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (typeof body === 'string') return body;
  return isWhole(body) ? new Uint8Array(body) : streamOf(body, onCancel);
}

function streamOf(body: StreamedBody, onCancel: () => void): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = await pieces.next().catch(() => undefined);
      // Some servers show a stream's error to the client, so it contains no details.
      if (next === undefined) controller.error(new Error('the answer could not be completed'));
      else if (next.done === true) controller.close();
      else controller.enqueue(typeof next.value === 'string' ? encoder.encode(next.value) : next.value);
    },
    cancel: async () => {
      onCancel();
      await pieces.return?.();
    },
  });
}

/** Signals a disconnected client: by the request's signal, or by cancellation of the answer's body. */
function whenGone(request: Request): {
  readonly add: (callback: () => void) => void;
  readonly now: () => void;
} {
  const callbacks = new Set<() => void>();
  let gone = request.signal.aborted;
  const now = (): void => {
    gone = true;
    for (const callback of callbacks) callback();
    callbacks.clear();
  };
  return {
    add: (callback) => {
      if (gone) callback();
      else if (callbacks.add(callback).size === 1) request.signal.addEventListener('abort', now, { once: true });
    },
    now,
  };
}

async function readBody(request: Request, allowance: BodyAllowance): Promise<RequestBody> {
  if (request.body === null) return { type: 'absent' };
  if (request.bodyUsed) return { type: 'consumed' };
  const { limit, take } = allowance;
  if (Number(request.headers.get('content-length') ?? 0) > limit) return { type: 'too_large' };
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > limit) return { type: 'too_large' };
      if (!take(chunk.byteLength)) return { type: 'no_room' };
      chunks.push(chunk);
    }
  } catch {
    return { type: 'aborted' };
  }
  return size === 0 ? { type: 'absent' } : { type: 'bytes', bytes: Buffer.concat(chunks) };
}
