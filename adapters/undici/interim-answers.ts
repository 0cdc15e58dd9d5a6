import type { Socket } from 'node:net';

const beginning = Buffer.from('HTTP/1.');
/** Bytes up to the end of the status: `HTTP/1.1 100`. */
const statusEnd = 12;
const headEnd = '\r\n\r\n';

/**
 * Lets an unasked `100 Continue` pass, which a client has to accept before any answer (RFC 9110, 15.2): undici passes over every other
 * interim answer, but takes this one for an error. Its status is read as 102, which means as little. `expected` says whether the next
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

/** Whether so few bytes are here that the status is still to come. */
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
