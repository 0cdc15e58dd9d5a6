import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyFrom, type HttpHandler, type HttpRequest, type HttpResponse, type RequestBody } from './http-message.js';

/** A request as a framework may hand it on: with a body that has been read already. */
type ReadRequest = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

/**
 * The handler as a `node:http` listener, also for Express, Koa and the raw request of Fastify. Writes straight to the
 * response, with a content length. Behind a body parser it uses `rawBody` or `body`; under a path prefix that the
 * framework strips it needs nothing, else give the handler its `basePath`.
 */
export function nodeListener(handler: HttpHandler): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const record: HttpRequest = {
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      headers: request.headers,
      readBody: (limit) => readBody(request, limit),
      whenClosed: (callback) => {
        if (response.destroyed || response.closed) callback();
        else response.once('close', callback);
      },
    };
    void handler(record).then((answer) => write(response, answer));
  };
}

function write(response: ServerResponse, answer: HttpResponse): void {
  // The client has gone, or the host has answered in our place (a time limit of its own).
  if (response.headersSent || response.destroyed) return;
  const { status, headers, body } = answer;
  if (status !== 204 && status !== 304) headers.push('Content-Length', String(Buffer.byteLength(body)));
  response.writeHead(status, headers);
  response.end(body);
}

async function readBody(request: ReadRequest, limit: number): Promise<RequestBody> {
  if (!announcesBody(request)) return { type: 'absent' };
  if (request.readableDidRead || request.readableEnded) return bodyReadBefore(request, limit);
  if (Number(request.headers['content-length'] ?? 0) > limit) return { type: 'too_large' };
  return readStream(request, limit);
}

/** A client may announce JSON and send nothing; then there is nothing to parse. */
function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return length === undefined ? request.headers['transfer-encoding'] !== undefined : length !== '0';
}

function bodyReadBefore(request: ReadRequest, limit: number): RequestBody {
  const raw = request.rawBody ?? request.body;
  if (Buffer.isBuffer(raw)) return bodyFrom(raw, limit);
  if (typeof raw === 'string') return bodyFrom(Buffer.from(raw), limit);
  return raw === undefined ? { type: 'absent' } : { type: 'parsed', value: raw };
}

/** Reads to the end, or gives up at the limit: what still arrives then is read and dropped, so that the answer gets through. */
function readStream(request: IncomingMessage, limit: number): Promise<RequestBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (body: RequestBody): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      resolve(body);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) {
        finish({ type: 'too_large' });
        request.on('error', ignore).resume();
      } else chunks.push(chunk);
    };
    const onEnd = (): void => finish(bodyFrom(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks), limit));
    const onClose = (): void => finish({ type: 'aborted' });
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

const ignore = (): void => undefined;
