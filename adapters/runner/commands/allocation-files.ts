import type { Stats } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import {
  type CommandOutput,
  type CommandRefused,
  commandRefused,
  type FileDescription,
} from '../../../src/agent/link/node-command.js';
import { confinedPath } from './confined-path.js';

/** What one piece of an answer holds at most. In bytes. */
export const pieceBytes = 64 * 1024;

/** Entries of one folder that are listed; the rest of a larger one is left out. */
const maximumEntries = 10_000;

export async function listFiles(root: string, path: string): Promise<Result<FileDescription[], CommandRefused>> {
  const target = await confinedPath(root, path);
  if (target.isErr()) return err(target.error);
  const entries = await readdir(target.value);
  const described: FileDescription[] = [];
  for (const name of entries.sort().slice(0, maximumEntries)) {
    const stats = await lstat(join(target.value, name)).catch(() => undefined);
    if (stats !== undefined) described.push(describe(name, stats));
  }
  return ok(described);
}

export async function statFile(root: string, path: string): Promise<Result<FileDescription, CommandRefused>> {
  const target = await confinedPath(root, path);
  if (target.isErr()) return err(target.error);
  return ok(describe(basename(target.value), await lstat(target.value)));
}

/** The bytes of a file, in pieces. A pipe or a device is no file. */
export async function readFile(
  root: string,
  path: string,
  offset: number,
  limit: number | null,
): Promise<Result<AsyncGenerator<CommandOutput>, CommandRefused>> {
  const target = await regularFile(root, path);
  return target.map((file) => pieces(file, path, Math.max(0, offset), limit ?? Number.POSITIVE_INFINITY));
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
  return stats.isFile() ? ok(target.value) : err(commandRefused('invalid', `"${path}" is no regular file`));
}

async function* pieces(
  file: string,
  name: string,
  from: number,
  limit: number,
): AsyncGenerator<CommandOutput, void, undefined> {
  const handle = await open(file, 'r');
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
