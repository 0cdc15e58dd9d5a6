import type { Socket } from 'node:net';

const beginning = Buffer.from('HTTP/1.');
/** Bytes up to the end of the status: `HTTP/1.1 100`. */
const statusEnd = 12;
const headEnd = '\r\n\r\n';

/**
 * Accepts an unrequested `100 Continue`, which a client must accept before any answer (RFC 9110, 15.2): undici ignores every other
 * interim answer, but treats this one as an error. Its status is changed to 102, which is ignored. `expected` says whether the next
 * bytes belong to the head of an answer, interim ones included; what a body contains is left as it is.
 */
export function withInterimAnswers(socket: Socket, expected: () => boolean): Socket {
  const read = socket.read.bind(socket);
  let held: Buffer | null = null;
  socket.read = (size?: number): unknown => {
    for (;;) {
      const chunk: unknown = read(size);
      if (!Buffer.isBuffer(chunk) || !expected()) return chunk;
      const bytes: Buffer = held === null ? chunk : Buffer.concat([held, chunk]);
      held = null;
      if (!isBeginning(bytes)) {
        renameContinues(bytes);
        return bytes;
      }
      held = bytes;
    }
  };
  return socket;
}

/** Whether the status has not fully arrived yet. */
function isBeginning(bytes: Buffer): boolean {
  if (bytes.length >= statusEnd) return false;
  const compared = Math.min(bytes.length, beginning.length);
  return bytes.compare(beginning, 0, compared, 0, compared) === 0;
}

function renameContinues(bytes: Buffer): void {
  let at = 0;
  while (isInterim(bytes, at)) {
    if (bytes.toString('latin1', at + 9, at + statusEnd) === '100') bytes.write('102', at + 9, 'latin1');
    const end = bytes.indexOf(headEnd, at, 'latin1');
    if (end < 0) return;
    at = end + headEnd.length;
  }
}

function isInterim(bytes: Buffer, at: number): boolean {
  return /^HTTP\/1\.[01] 1\d\d/.test(bytes.toString('latin1', at, at + statusEnd));
}
