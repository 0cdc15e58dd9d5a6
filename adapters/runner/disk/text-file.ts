import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isTransientFault } from './transient-fault.js';

/** What the runner reads at most of a note or of a file below `/proc`. In bytes. */
const longestText = 4 * 1024 * 1024;

/** Tasks can write where notes are: nobody waits for the other end of a pipe. */
const reading = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The text of a small file; undefined when there is none to read: nothing is there, or no regular file, or a longer one. Throws when
 * that cannot be determined at present, as when file handles are used up: a file that cannot be read now is not a file that is missing.
 */
export function textIn(file: string): string | undefined {
  try {
    const handle = openSync(file, reading);
    try {
      return fstatSync(handle).isFile() ? textOf(handle) : undefined;
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (isTransientFault(error)) throw error;
    return undefined;
  }
}

/** To the end, and not to the size that is reported: that of files below `/proc` is 0. */
function textOf(handle: number): string | undefined {
  const pieces: Buffer[] = [];
  for (let length = 0; length <= longestText; ) {
    const piece = Buffer.allocUnsafe(16 * 1024);
    const read = readSync(handle, piece);
    if (read === 0) return Buffer.concat(pieces, length).toString();
    pieces.push(piece.subarray(0, read));
    length += read;
  }
  return undefined;
}
