import { bodyFrom, type HttpHandler, type HttpRequest, type RequestBody } from './http-message.js';

/**
 * The handler in the web-standard form, for Hono, Next and everything that speaks `Request` and `Response`. On Node the
 * other bridge, `nodeListener`, is several times cheaper.
 */
export function fetchHandler(handler: HttpHandler): (request: Request) => Promise<Response> {
  return async (request) => {
    const record: HttpRequest = {
      method: request.method,
      target: request.url,
      headers: headersFrom(request),
      readBody: (limit) => readBody(request, limit),
      whenClosed: (callback) => {
        if (request.signal.aborted) callback();
        else request.signal.addEventListener('abort', callback, { once: true });
      },
    };
    const { status, headers, body } = await handler(record);
    const bodiless = request.method === 'HEAD' || status === 204 || status === 304;
    const answered = new Headers();
    for (let i = 0; i < headers.length; i += 2) answered.append(headers[i] as string, headers[i + 1] as string);
    if (status !== 204 && status !== 304) answered.set('Content-Length', String(Buffer.byteLength(body)));
    return new Response(bodiless ? null : bytesOf(body), { status, headers: answered });
  };
}

/** A `Response` takes text and plain byte arrays. */
function bytesOf(body: string | Buffer): string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' ? body : new Uint8Array(body);
}

function headersFrom(request: Request): HttpRequest['headers'] {
  const headers: Record<string, string> = {};
  request.headers.forEach((value, name) => {
    headers[name] = value;
  });
  return headers;
}

async function readBody(request: Request, limit: number): Promise<RequestBody> {
  if (request.body === null) return { type: 'absent' };
  if (request.bodyUsed) return { type: 'aborted' };
  if (Number(request.headers.get('content-length') ?? 0) > limit) return { type: 'too_large' };
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > limit) return { type: 'too_large' };
      chunks.push(chunk);
    }
  } catch {
    return { type: 'aborted' };
  }
  return bodyFrom(Buffer.concat(chunks), limit);
}
