import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { codeOf, resultOr } from '../../../src/shared/values.js';

/** The most bytes that the runner reads of a note or of a file below `/proc`. */
const longestText = 4 * 1024 * 1024;

/** Tasks can write where notes are: opening a pipe must not block. */
const reading = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The content of a small file; undefined if it is missing, not a regular file or too long. Throws if
 * this cannot be determined now, for example for want of file handles: a temporarily unreadable file is not a missing file.
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

/** The JSON in such a file; undefined also for what is none. */
export function jsonIn(file: string): unknown {
  const text = textIn(file);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads to the end instead of the reported size, which is 0 for files below `/proc`. */
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

/** Opens a file that a task may have replaced meanwhile: does not follow links or block on a pipe without a writer. */
export function openToRead(file: string): Promise<FileHandle> {
  return open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

/** Error codes of temporary shortages. */
const transient: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
  'EBUSY',
  'EIO',
  'EINTR',
]);

/** Disk full, no file handles, no memory: temporary shortages, worth another try. */
export function isTransientFault(error: unknown): boolean {
  return transient.has(codeOf(error));
}

/** A fault of this kind, for cases without a system error code. */
export function lackOf(message: string): Error {
  return Object.assign(new Error(message), { code: 'EAGAIN' });
}

/** The message of a thrown value, in one line of limited length. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : safeText(error);
  return text.length > 1024 ? `${text.slice(0, 1024)}…` : text;
}

function safeText(value: unknown): string {
  return resultOr('a thrown value that cannot be printed', () => String(value));
}
