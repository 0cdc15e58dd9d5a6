import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
import { type HttpRequest, type HttpResponse, headerValue } from './http-message.js';

const gzip = promisify(gzipWithCallback);

/** Below this many bytes compression costs more than it saves. */
export const smallestCompressed = 2048;
/** A low level: most of the gain on JSON for a fraction of the time. */
const level = 3;

/** Answers shared by many readers are compressed once. */
const shared = new WeakMap<Buffer, Promise<Buffer>>();

/** The response with its body in gzip, when the client takes that; off the main thread. */
export function compressFor(
  request: HttpRequest,
  response: HttpResponse,
  body: string | Buffer,
): HttpResponse | Promise<HttpResponse> {
  const accepted = headerValue(request, 'accept-encoding');
  response.headers.push('Vary', 'Accept-Encoding');
  return accepted === undefined || !acceptsGzip(accepted) ? response : compressed(response, body);
}

async function compressed({ status, headers }: HttpResponse, whole: string | Buffer): Promise<HttpResponse> {
  const body = await (typeof whole === 'string' ? gzip(whole, { level }) : compressOnce(whole));
  headers.push('Content-Encoding', 'gzip');
  return { status, headers, body };
}

function compressOnce(body: Buffer): Promise<Buffer> {
  let pending = shared.get(body);
  if (pending === undefined) {
    pending = gzip(body, { level });
    shared.set(body, pending);
  }
  return pending;
}

/** Whether the list of codings holds gzip (or `*`) with a weight above zero. */
function acceptsGzip(accepted: string): boolean {
  if (accepted === 'gzip') return true;
  for (const item of accepted.toLowerCase().split(',')) {
    const [coding, ...options] = item.split(';');
    const name = coding?.trim();
    if (name !== 'gzip' && name !== 'x-gzip' && name !== '*') continue;
    const weight = options.map((option) => option.trim()).find((option) => option.startsWith('q='));
    return weight === undefined || Number(weight.slice(2)) > 0;
  }
  return false;
}
