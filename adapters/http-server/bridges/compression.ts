import { promisify } from 'node:util';
import { gzipSync, gzip as gzipWithCallback } from 'node:zlib';
import { type HttpRequest, type HttpResponse, headerValue } from '../http-message.js';

const gzip = promisify(gzipWithCallback);

/** Below this many bytes compression costs more than it saves. */
const smallestCompressed = 2048;
/** Up to this many bytes an uncompressed gzip copy is made synchronously, which is cheaper than another thread. */
const stored = { level: 0, memLevel: 1, windowBits: 9 } as const;
/** A low level: most of the gain on JSON for a fraction of the time. */
const level = 3;

/** Answers shared by many readers are compressed once. */
const shared = new WeakMap<Buffer, Promise<Buffer>>();

/**
 * The response with a gzip body if the client accepts that; compressed off the main thread. Existing clients of Nomad (`upstream`)
 * get small answers in gzip, too, but only for exactly `gzip`: Nomad does not support `*` or other forms.
 */
export function compressFor(
  request: HttpRequest,
  response: HttpResponse,
  body: string | Buffer,
  upstream: boolean,
): HttpResponse | Promise<HttpResponse> {
  const isSmall = body.length < smallestCompressed;
  if (body.length === 0 || (isSmall && !upstream)) return response;
  const accepted = headerValue(request, 'accept-encoding');
  response.headers.push('Vary', 'Accept-Encoding');
  if (accepted === undefined || !(upstream ? namesGzip(accepted) : acceptsGzip(accepted))) return response;
  return isSmall ? wrapped(response, body) : compressed(response, body);
}

function wrapped({ status, headers }: HttpResponse, body: string | Buffer): HttpResponse {
  headers.push('Content-Encoding', 'gzip');
  return { status, headers, body: gzipSync(body, stored) };
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

/** Whether the list of codings contains exactly `gzip` with a weight above zero. */
function namesGzip(accepted: string): boolean {
  return accepted.split(',').some((item) => {
    const [coding, ...options] = item.split(';');
    return coding?.trim() === 'gzip' && weightOf(options) > 0;
  });
}

function weightOf(options: readonly string[]): number {
  const weight = options.map((option) => option.trim()).find((option) => option.startsWith('q='));
  return weight === undefined ? 1 : Number(weight.slice(2));
}

/** Whether the list of codings contains gzip (or `*`) with a weight above zero. */
function acceptsGzip(accepted: string): boolean {
  if (accepted === 'gzip') return true;
  for (const item of accepted.toLowerCase().split(',')) {
    const [coding, ...options] = item.split(';');
    const name = coding?.trim();
    if (name !== 'gzip' && name !== 'x-gzip' && name !== '*') continue;
    return weightOf(options) > 0;
  }
  return false;
}
