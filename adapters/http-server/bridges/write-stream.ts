import type { ServerResponse } from 'node:http';
import type { StreamedBody } from '../http-message.js';

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
export const pieceLength = 32 * 1024;

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
export async function writeLong(response: ServerResponse, body: Buffer, stallTimeout: number): Promise<void> {
  if (response.req.method === 'HEAD' || (await sendBytes(response, body, stallTimeout)))
    endWatched(response, stallTimeout);
}

/**
 * Ends an answer, with its last bytes. A client that has not accepted them within `stallTimeout` milliseconds is disconnected. Most answers
 * are accepted by the operating system immediately; no timer is started for them.
 */
export function endWatched(response: ServerResponse, stallTimeout: number, body?: string | Buffer): void {
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

export function bytesOf(value: string | Uint8Array): Buffer {
  return typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

const ignore = (): void => undefined;

/** Whether the client has disconnected. An HTTP/2 response has this state in its stream. */
export function isGone(response: ServerResponse & { readonly stream?: { readonly destroyed: boolean } }): boolean {
  return response.destroyed || response.closed || response.stream?.destroyed === true;
}
