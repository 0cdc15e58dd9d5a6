import type { Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import {
  type CommandOutput,
  type CommandRefused,
  callerFailed,
  commandRefused,
  type FileDescription,
} from '../../../src/agent/link/node-command.js';
import { confinedPath } from './confined-path.js';
import { contentTypeOf } from './content-type.js';
import { openToRead } from './open-to-read.js';

/** What one piece of an answer holds at most. In bytes. */
export const pieceBytes = 64 * 1024;

/** Entries of one folder that are listed; the rest of a larger one is left out. */
const maximumEntries = 10_000;

/** Bytes of the JSON of a listing: the answer of an agent is one message, which may have 2 MiB. What is longer is left out, too. */
const longestListing = 1_500_000;

/** Entries of a folder that are read in one step. */
const entriesAtOnce = 256;

export async function listFiles(root: string, path: string): Promise<Result<FileDescription[], CommandRefused>> {
  const target = await listablePath(root, path);
  if (target.isErr()) return err(target.error);
  if (!(await lstat(target.value)).isDirectory()) return err(callerFailed('invalid', `"${path}" is not a directory`));
  const described: FileDescription[] = [];
  let left = longestListing;
  for (const name of await firstNames(target.value)) {
    const stats = await lstat(join(target.value, name)).catch(() => undefined);
    if (stats === undefined) continue;
    const entry = describe(name, stats);
    left -= Buffer.byteLength(JSON.stringify(entry));
    if (left < 0) break;
    described.push(entry);
  }
  return ok(described);
}

/** The first names of a folder in their order. It is read in steps: a task can fill it with millions. */
async function firstNames(folder: string): Promise<string[]> {
  const names: string[] = [];
  const keepFirst = (): void => void names.sort().splice(maximumEntries);
  for await (const { name } of await opendir(folder, { bufferSize: entriesAtOnce })) {
    names.push(name);
    if (names.length >= 2 * maximumEntries) keepFirst();
  }
  keepFirst();
  return names;
}

export async function statFile(root: string, path: string): Promise<Result<FileDescription, CommandRefused>> {
  const target = await listablePath(root, path);
  if (target.isErr()) return err(target.error);
  const stats = await lstat(target.value);
  const ContentType = await contentTypeOf(target.value, stats.isFile());
  return ok({ ...describe(basename(target.value), stats), ContentType });
}

/** Listing and describing fail on a path that leads out, which is an invalid request for those who read (job interface, files). */
async function listablePath(root: string, path: string): Promise<Result<string, CommandRefused>> {
  const target = await confinedPath(root, path);
  return target.mapErr((error) => (error.type === 'command_invalid' ? callerFailed('invalid', error.message) : error));
}

/** The bytes of a file, in pieces, from the offset on; a limit of 0 or less is none. A pipe or a device is no file. */
export async function readFile(
  root: string,
  path: string,
  offset: number,
  limit: number | null,
): Promise<Result<AsyncGenerator<CommandOutput>, CommandRefused>> {
  const target = await regularFile(root, path);
  if (target.isOk() && offset < 0) return err(offsetRefused(offset));
  const most = limit === null || limit <= 0 ? Number.POSITIVE_INFINITY : limit;
  return target.map((file) => pieces(file, path, offset, most));
}

/**
 * Where a regular file lies. Reading a file that does not exist is an invalid request (job interface, files): only listing and
 * describing answer that it was not found.
 */
export async function regularFile(root: string, path: string): Promise<Result<string, CommandRefused>> {
  const target = await confinedPath(root, path);
  if (target.isErr()) {
    const { type, message } = target.error;
    return err(type === 'command_not_found' ? commandRefused('invalid', message) : target.error);
  }
  const stats = await lstat(target.value);
  if (stats.isDirectory()) return err(commandRefused('invalid', `file "${path}" is a directory`));
  return stats.isFile() ? ok(target.value) : err(commandRefused('invalid', `"${path}" is not a regular file`));
}

export function offsetRefused(offset: number): CommandRefused {
  return callerFailed('invalid', `a file cannot be read from offset ${offset}`);
}

async function* pieces(
  file: string,
  name: string,
  from: number,
  limit: number,
): AsyncGenerator<CommandOutput, void, undefined> {
  const handle = await openToRead(file);
  try {
    let offset = from;
    for (let left = limit; left > 0; ) {
      const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, left));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
      if (bytesRead === 0) return;
      offset += bytesRead;
      left -= bytesRead;
      yield { type: 'piece', file: name, offset, bytes: buffer.subarray(0, bytesRead) };
    }
  } finally {
    await handle.close();
  }
}

function describe(name: string, stats: Stats): FileDescription {
  return {
    Name: name,
    IsDir: stats.isDirectory(),
    Size: stats.size,
    FileMode: modeText(stats),
    ModTime: stats.mtime.toISOString(),
  };
}

/** Kind and rights as listings show them: `drwxr-xr-x`. */
function modeText(stats: Stats): string {
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'L' : stats.isFIFO() ? 'p' : '-';
  const rights = [...'rwxrwxrwx'].map((letter, at) => ((stats.mode >> (8 - at)) & 1 ? letter : '-'));
  return kind + rights.join('');
}
