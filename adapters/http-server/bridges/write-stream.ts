import type { ServerResponse } from 'node:http';
import type { StreamedBody } from '../http-message.js';
import { isGone } from './is-gone.js';

/** An answer whose body comes in pieces. */
interface StreamedAnswer {
  readonly status: number;
  readonly headers: string[];
  readonly body: StreamedBody;
}

/**
 * Sends a streamed answer: the next piece is asked for when the client has taken the one before. A client that takes
 * nothing for `stallTimeout` milliseconds is cut off, and so is one whose body fails, because it must not take a part for
 * the whole. The iterator is closed when the client goes away. Never rejects.
 */
export async function writeStream(
  response: ServerResponse,
  { status, headers, body }: StreamedAnswer,
  stallTimeout: number,
): Promise<void> {
  const pieces = body[Symbol.asyncIterator]();
  const close = (): void => void Promise.resolve(pieces.return?.()).catch(ignore);
  // The client has gone, or the host has answered in our place. A HEAD has no body.
  if (response.headersSent || isGone(response)) return close();
  response.once('close', close);
  response.writeHead(status, headers);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  try {
    await sendPieces(response, pieces, stallTimeout);
    response.end();
  } catch {
    response.destroy();
  }
}

async function sendPieces(
  response: ServerResponse,
  pieces: AsyncIterator<string | Uint8Array>,
  stallTimeout: number,
): Promise<void> {
  while (!isGone(response)) {
    const next = await pieces.next();
    if (next.done === true) return;
    if (next.value.length === 0 || response.write(next.value)) continue;
    if (!(await drained(response, stallTimeout))) response.destroy();
  }
}

/** Resolves when what was written has been taken: false when the client went away, or took nothing for too long. */
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

const ignore = (): void => undefined;
