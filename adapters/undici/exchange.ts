import { createBrotliDecompress, createGunzip, createInflate, constants as zlib } from 'node:zlib';
import { err, ok, type Result } from 'neverthrow';
import type { Dispatcher } from 'undici';
import type {
  ClientCertificate,
  DeliveryError,
  DeliveryRequest,
  DeliveryResponse,
  DeliveryTiming,
} from '../../src/ports/http-delivery.js';
import { timerOf } from '../../src/shared/duration.js';
import type { Instant } from '../../src/shared/instant.js';
import type { PooledConnection, PooledExchange } from './connection-pool.js';
import { type Fault, faultFromError } from './delivery-fault.js';
import type { DeliveryUrl } from './outbound-guard.js';

export type Outcome = Result<DeliveryResponse, DeliveryError>;
type ResponseHeaders = Record<string, string[]>;

const mostHeaderValues = 100;
const mostHeaderBytes = 16_384;

/**
 * One request from the call to its outcome. Holds its connection and the timer of its total deadline, and releases both exactly
 * once. A class, because thousands are created per second and closures for each would cost more than the request.
 */
export class Exchange implements PooledExchange, Dispatcher.DispatchHandler {
  readonly origin: string;
  readonly partition: string;
  readonly clientCertificate: ClientCertificate | null;
  readonly connectTimeout: number;
  readonly options: Dispatcher.DispatchOptions;
  settled = false;

  #connection: PooledConnection | null = null;
  /** The address of the released connection. */
  #address: string | null = null;
  #begunOnUsedSocket = false;
  #retried = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  #encoding: string | undefined;
  #headersAt: number | null = null;
  #chunks: Buffer[] = [];
  #size = 0;
  readonly #request: DeliveryRequest;
  readonly #label: string;
  readonly #startedAt: Instant;
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #settle: (outcome: Outcome) => void;
  readonly #onAbort: (() => void) | null;

  constructor(request: DeliveryRequest, target: DeliveryUrl, startedAt: Instant, settle: (outcome: Outcome) => void) {
    this.#request = request;
    this.#label = target.label;
    this.#startedAt = startedAt;
    this.#settle = settle;
    this.origin = target.origin;
    this.partition = request.partition ?? '';
    this.clientCertificate = request.clientCertificate ?? null;
    this.connectTimeout = request.connectTimeout;
    this.options = {
      path: target.path,
      method: 'POST',
      headers: sentHeaders(request.headers, target.authorization),
      body: request.body,
    };
    this.#timer = setTimeout(timeOut, timerOf(request.totalTimeout), this);
    if (request.signal === undefined) {
      this.#onAbort = null;
    } else {
      this.#onAbort = () => this.fail({ type: 'aborted', message: 'the attempt was cancelled' });
      request.signal.addEventListener('abort', this.#onAbort, { once: true });
    }
  }

  get answered(): boolean {
    return this.#headersAt !== null;
  }

  begin(connection: PooledConnection): this {
    this.#connection = connection;
    return this;
  }

  onRequestStart(): void {
    this.#begunOnUsedSocket = (this.#connection?.served ?? 0) > 0;
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200 || this.settled) return;
    this.#headersAt = performance.now();
    this.#status = status;
    this.#headers = keptHeaders(headers);
    const encoding = headers['content-encoding'];
    this.#encoding = Array.isArray(encoding) ? encoding.join(',') : encoding;
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.settled) return;
    const room = this.#request.maximumResponseBytes - this.#size;
    if (chunk.length <= room) {
      this.#chunks.push(chunk);
      this.#size += chunk.length;
      return;
    }
    this.#chunks.push(chunk.subarray(0, Math.max(room, 0)));
    // The rest of the answer is not needed: the connection is closed instead of reading it.
    this.#leave(false);
    this.#answer(true);
  }

  onResponseEnd(): void {
    if (this.settled || this.#connection === null) return;
    this.#leave(true);
    this.#answer(false);
  }

  onResponseError(_controller: unknown, error: Error): void {
    const connection = this.#connection;
    // Null when the connection was released on purpose, which undici reports as an error, too.
    if (this.settled || connection === null) return;
    if (endsWithHeaders(this.#status)) {
      this.#leave(false);
      this.#answer(false);
      return;
    }
    const reason = connection.socketError ?? error;
    const fault = faultFromError(reason, connection.stands ? 'exchanging' : 'connecting');
    if (isOfConnection(fault) && this.#begunOnUsedSocket && this.#headersAt === null && !this.#retried) {
      // Most likely the server closed an idle connection while this request was being sent: not a fault of the request.
      this.#retried = true;
      this.#begunOnUsedSocket = false;
      connection.discard(this);
      return;
    }
    this.fail(fault, connection.address);
  }

  fail(fault: Fault, address: string | null = this.#connection?.address ?? null): void {
    if (this.settled) return;
    this.#finish();
    this.#leave(false);
    const message = `${this.#label}: ${fault.message}`;
    this.#settle(err({ type: fault.type, message, address, timing: this.#timing() }));
  }

  /** Ends by the total deadline. */
  timeOut(): void {
    this.fail({ type: 'total_timeout', message: `no complete answer within ${this.#request.totalTimeout} ms` });
  }

  #leave(reusable: boolean): void {
    const connection = this.#connection;
    if (connection === null) return;
    this.#address = connection.address;
    this.#connection = null;
    if (reusable) connection.release();
    else connection.discard();
  }

  #answer(truncated: boolean): void {
    const chunks = this.#chunks;
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    const encoding = this.#encoding === undefined ? null : encodingOf(this.#encoding);
    if (encoding === null || bytes.length === 0) {
      this.#succeed(keptBody(bytes, truncated));
      return;
    }
    // The deadline applies to decoding as well.
    void decodedBody(bytes, encoding, this.#request.maximumResponseBytes, truncated).then((body) =>
      this.#succeed(body),
    );
  }

  #succeed(body: KeptBody): void {
    if (this.settled) return;
    this.#finish();
    this.#settle(
      ok({
        status: this.#status,
        headers: this.#headers,
        body: body.body,
        truncated: body.truncated,
        address: this.#address,
        timing: this.#timing(),
      }),
    );
  }

  #finish(): void {
    this.settled = true;
    clearTimeout(this.#timer);
    if (this.#onAbort !== null) this.#request.signal?.removeEventListener('abort', this.#onAbort);
  }

  #timing(): DeliveryTiming {
    const headersAfter = this.#headersAt === null ? null : rounded(this.#headersAt - this.#started);
    return { startedAt: this.#startedAt, headersAfter, total: rounded(performance.now() - this.#started) };
  }
}

function timeOut(exchange: Exchange): void {
  exchange.timeOut();
}

/** Whether the socket failed, rather than the data on it. */
function isOfConnection({ type }: Fault): boolean {
  return type === 'connection_reset' || type === 'tls_failed';
}

/**
 * Answers with these statuses have no body, whatever length their headers announce (RFC 9112, 6.3). Some servers announce one, which undici
 * treats as an error.
 */
function endsWithHeaders(status: number): boolean {
  return status === 204 || status === 304;
}

/** Rounds to microseconds, the precision of the clock. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/** Headers of the connection, or generated here; a request cannot set them. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function sentHeaders(given: Readonly<Record<string, string>>, authorization: string | null): string[] {
  const sent: string[] = [];
  let authorized = false;
  let encodings = false;
  for (const name in given) {
    if (ownHeaders.has(name)) continue;
    if (name === 'authorization') authorized = true;
    else if (name === 'accept-encoding') encodings = true;
    sent.push(name, given[name] as string);
  }
  if (!encodings) sent.push('accept-encoding', 'identity');
  if (authorization !== null && !authorized) sent.push('authorization', authorization);
  return sent;
}

function keptHeaders(headers: Record<string, string | string[] | undefined>): ResponseHeaders {
  const kept: ResponseHeaders = {};
  let values = 0;
  let bytes = 0;
  for (const name in headers) {
    const given = headers[name];
    // As a key it would set the prototype.
    if (given === undefined || name === '__proto__') continue;
    const list = typeof given === 'string' ? [given] : given;
    for (const value of list) {
      values += 1;
      bytes += name.length + value.length;
    }
    if (values > mostHeaderValues || bytes > mostHeaderBytes) {
      const room = list.length - (values - mostHeaderValues);
      if (bytes <= mostHeaderBytes && room > 0) kept[name] = list.slice(0, room);
      return kept;
    }
    kept[name] = list;
  }
  return kept;
}

interface KeptBody {
  readonly body: string;
  readonly truncated: boolean;
}

/** The bytes as a string; truncated ones end at a character boundary. */
function keptBody(bytes: Buffer, truncated: boolean): KeptBody {
  return { body: bytes.toString('utf8', 0, truncated ? characterEnd(bytes) : bytes.length), truncated };
}

/** The length without an incomplete last character. */
function characterEnd(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes.readUInt8(bytes.length - back);
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

type Encoding = 'gzip' | 'deflate' | 'br';

/** The encoding of a content-encoding header, if it can be decoded; null for none, several or unknown ones. */
function encodingOf(header: string): Encoding | null {
  switch (header.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'deflate':
      return 'deflate';
    case 'br':
      return 'br';
    default:
      return null;
  }
}

/**
 * Decodes up to `cap` bytes, so that a decompression bomb costs no more than the cap. Damaged or truncated input gives the part
 * that could be decoded. Never rejects.
 */
function decodedBody(bytes: Buffer, encoding: Encoding, cap: number, truncated: boolean): Promise<KeptBody> {
  return new Promise((resolve) => {
    const decoder = decoderOf(encoding);
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (cut: boolean): void => {
      decoder.destroy();
      resolve(keptBody(Buffer.concat(chunks), cut));
    };
    decoder.on('data', (chunk: Buffer) => {
      const room = cap - size;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      size += chunk.length;
      if (size > cap) finish(true);
    });
    decoder.on('end', () => finish(truncated));
    decoder.on('error', () => finish(true));
    decoder.end(bytes);
  });
}

function decoderOf(encoding: Encoding): ReturnType<typeof createGunzip> | ReturnType<typeof createBrotliDecompress> {
  switch (encoding) {
    case 'gzip':
      return createGunzip({ finishFlush: zlib.Z_SYNC_FLUSH });
    case 'deflate':
      return createInflate({ finishFlush: zlib.Z_SYNC_FLUSH });
    case 'br':
      return createBrotliDecompress({ finishFlush: zlib.BROTLI_OPERATION_FLUSH });
  }
}
