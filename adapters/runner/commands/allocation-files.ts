import { existsSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, lstat, opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { normalize, sep } from 'node:path/posix';
import { setTimeout as pause } from 'node:timers/promises';
import { err, ok, type Result } from 'neverthrow';
import {
  type CommandOutput,
  type CommandRefused,
  callerFailed,
  commandRefused,
  type FileDescription,
  type StreamPosition,
} from '../../../src/agent/link/node-command.js';
import { codeOf } from '../../../src/shared/values.js';
import { openToRead } from '../disk/text-file.js';
import { logNumbers } from '../logs/log-files.js';

/** How many bytes of a file determine its type. */
const sniffedBytes = 512;
const unknown = 'application/octet-stream';

/** The media type of a file by its first bytes; `application/octet-stream` if it is unreadable, empty or not a regular file. */
export async function contentTypeOf(file: string, isFile: boolean): Promise<string> {
  if (file.endsWith('.json')) return 'application/json';
  if (!isFile) return unknown;
  try {
    const handle = await openToRead(file);
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(sniffedBytes), 0, sniffedBytes, 0);
      return bytesRead === 0 ? unknown : contentTypeOfBytes(buffer.subarray(0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch {
    return unknown;
  }
}

/** Prefixes and their types; the first match counts. */
const signatures: readonly (readonly [beginning: string, type: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['%!PS-Adobe-', 'application/postscript'],
  ['\xfe\xff', 'text/plain; charset=utf-16be'],
  ['\xff\xfe', 'text/plain; charset=utf-16le'],
  ['\xef\xbb\xbf', 'text/plain; charset=utf-8'],
  ['\0\0\x01\0', 'image/x-icon'],
  ['\0\0\x02\0', 'image/x-icon'],
  ['BM', 'image/bmp'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['ID3', 'audio/mpeg'],
  ['OggS\0', 'application/ogg'],
  ['\x1aE\xdf\xa3', 'video/webm'],
  ['\0asm', 'application/wasm'],
  ['\x1f\x8b\x08', 'application/x-gzip'],
  ['PK\x03\x04', 'application/zip'],
  ['Rar!\x1a\x07\0', 'application/x-rar-compressed'],
  ['Rar!\x1a\x07\x01\0', 'application/x-rar-compressed'],
];
const html =
  /^(?:<!doctype html|<html|<head|<script|<iframe|<h1|<div|<font|<table|<a|<style|<title|<b|<body|<br|<p)[ >]|^<!--/i;

/** The MIME sniffing algorithm of browsers, without audio and fonts in containers. */
export function contentTypeOfBytes(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  const begun = text.replace(/^[\t\n\f\r ]+/, '');
  if (html.test(begun)) return 'text/html; charset=utf-8';
  if (begun.startsWith('<?xml')) return 'text/xml; charset=utf-8';
  const known = signatures.find(([beginning]) => text.startsWith(beginning));
  if (known !== undefined) return known[1];
  return /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(text) ? unknown : 'text/plain; charset=utf-8';
}

/** The most bytes of one chunk of an answer. */
const pieceBytes = 64 * 1024;

/** The most entries of a listing; the rest is left out. */
const maximumEntries = 10_000;

/** The most bytes of a listing as JSON; the rest is left out. An agent answers with one message of at most 2 MiB. */
const longestListing = 1_500_000;

/** Directory entries per read. */
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

/** The first names of a folder, sorted. It is read in steps: a task can create millions of files. */
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

/** A path outside the folder makes `ls` and `stat` fail, but is an invalid request when reading (job interface, files). */
async function listablePath(root: string, path: string): Promise<Result<string, CommandRefused>> {
  const target = await confinedPath(root, path);
  return target.mapErr((error) => (error.type === 'command_invalid' ? callerFailed('invalid', error.message) : error));
}

/** The bytes of a regular file from the offset, in chunks; a limit of 0 or less means no limit. */
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
 * The real path of a regular file. Reading a missing file is an invalid request (job interface, files): only `ls` and `stat`
 * answer that it was not found.
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
  return callerFailed('invalid', `invalid offset ${offset}: it must be a whole number of 0 or more`);
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
    // A file that is written meanwhile ends where it ended at first.
    const { size } = await handle.stat();
    for (let left = Math.min(limit, size - from); left > 0; ) {
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

/** Type and permissions as in a listing: `drwxr-xr-x`. */
function modeText(stats: Stats): string {
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'L' : stats.isFIFO() ? 'p' : '-';
  const rights = [...'rwxrwxrwx'].map((letter, at) => ((stats.mode >> (8 - at)) & 1 ? letter : '-'));
  return kind + rights.join('');
}

/**
 * The file or folder of a caller's path below the allocation's folder. Neither `..` nor a symbolic link may lead out of
 * it; the folders of the tasks' secrets and of the runner's notes are never accessible.
 */
async function confinedPath(root: string, path: string): Promise<Result<string, CommandRefused>> {
  if (path.includes('\0')) return err(commandRefused('invalid', 'The path contains a NUL character'));
  const below = normalize(join(sep, path)).slice(1);
  const escapes = /^\.\.(\/|$)/.test(normalize(join('.', path.replace(/^\/+/, ''))));
  if (escapes) return err(commandRefused('invalid', 'Path escapes the alloc directory'));
  const closed = closedFolder(below);
  if (closed !== undefined) return err(callerFailed('invalid', `Reading ${closed} file prohibited: ${path}`));
  const wanted = join(root, below);
  try {
    await lstat(wanted);
    const [real, realRoot] = await Promise.all([realpath(wanted), realpath(root)]);
    const target = real === realRoot ? '' : real.slice(realRoot.length + 1);
    if (real !== realRoot && !real.startsWith(realRoot + sep)) {
      return err(commandRefused('invalid', 'Path escapes the alloc directory'));
    }
    const behind = closedFolder(target);
    return behind === undefined ? ok(real) : err(callerFailed('invalid', `Reading ${behind} file prohibited: ${path}`));
  } catch (error) {
    return err(unreachable(path, codeOf(error)));
  }
}

function unreachable(path: string, code: string): CommandRefused {
  const reason = code === 'ENOENT' || code === 'ENOTDIR' ? 'not_found' : 'failed';
  return commandRefused(reason, `stat ${path}: ${code === 'ENOENT' ? 'no such file or directory' : code}`);
}

function closedFolder(below: string): string | undefined {
  const folder = below.split(sep)[1];
  if (below.startsWith(`alloc${sep}`)) return undefined;
  return folder === 'secrets' ? 'secret' : folder === 'private' ? 'private' : undefined;
}

/** Milliseconds between two checks of a followed file. */
const lookInterval = 100;

/** The pause after reading the log folder is at least this many times as long as the read. */
const restFactor = 4;

interface FileOffset {
  readonly file: string;
  readonly offset: number;
}

/** The bytes of one file; with `follow`, also bytes appended later, until the signal aborts or the file is removed. */
export async function* followFile(
  file: string,
  name: string,
  position: StreamPosition,
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  const size = statSync(file).size;
  const fromEnd = position.origin === 'end';
  const offset = fromEnd ? Math.min(size, Math.max(0, size - position.offset)) : position.offset;
  yield* contents({ file, offset }, name, async () => {
    if (!position.follow || signal.aborted) return 'end';
    await wait(signal);
    return signal.aborted ? 'end' : 'again';
  });
}

/**
 * The output of a task across its numbered log files: at the end of one file, reading continues at the beginning of the next.
 * Files that were removed before they were reached are left out. With `follow`, it waits for the first file:
 * a task is reported as started before its output is collected.
 */
export async function* followLogs(
  base: string,
  position: StreamPosition,
  signal: AbortSignal,
): AsyncGenerator<CommandOutput> {
  let from = await startOf(base, position);
  while (from === undefined && position.follow && !signal.aborted && existsSync(dirname(base))) {
    await wait(signal);
    from = await startOf(base, position);
  }
  while (from !== undefined && !signal.aborted) {
    const { file } = from;
    const after = (): Promise<string | undefined> => nextFile(base, file);
    yield* contents(from, `alloc/logs/${basename(file)}`, async () => {
      // The next file is created only after the last byte of this one was written, so this file is complete.
      const begun = performance.now();
      if ((await after()) !== undefined) return 'last';
      if (!position.follow || signal.aborted) return 'end';
      await wait(signal, restFactor * (performance.now() - begun));
      return signal.aborted ? 'end' : 'again';
    });
    const next = signal.aborted ? undefined : await after();
    from = next === undefined ? undefined : { file: next, offset: 0 };
  }
}

/** Action at the end of a file: stop, check again, or read the bytes that have been added meanwhile. */
type AtEnd = () => Promise<'end' | 'again' | 'last'>;

async function* contents(from: FileOffset, name: string, atEnd: AtEnd): AsyncGenerator<CommandOutput> {
  const handle = await openOrUndefined(from.file);
  if (handle === undefined) return;
  try {
    let { offset } = from;
    for (let isLast = false; ; ) {
      const buffer = Buffer.allocUnsafe(pieceBytes);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
      if (bytesRead > 0) {
        offset += bytesRead;
        yield { type: 'piece', file: name, offset, bytes: buffer.subarray(0, bytesRead) };
        continue;
      }
      if (isLast) return;
      const event = await fileEvent(handle, from.file, offset);
      if (event !== undefined) yield { type: 'file_event', file: name, event };
      if (event === 'deleted') return;
      if (event === 'truncated') offset = 0;
      const next = await atEnd();
      if (next === 'end') return;
      isLast = next === 'last';
    }
  } finally {
    await handle.close();
  }
}

async function openOrUndefined(file: string): Promise<FileHandle | undefined> {
  try {
    return await openToRead(file);
  } catch {
    return undefined;
  }
}

async function fileEvent(
  handle: FileHandle,
  file: string,
  offset: number,
): Promise<'deleted' | 'truncated' | undefined> {
  const { size } = await handle.stat();
  if (size < offset) return 'truncated';
  return existsSync(file) ? undefined : 'deleted';
}

async function nextFile(base: string, file: string): Promise<string | undefined> {
  const present = Number(file.slice(base.length + 1));
  const next = (await logNumbers(base)).find((number) => number > present);
  return next === undefined ? undefined : `${base}.${next}`;
}

/** Undefined if there are no logs. An offset of 0 from the end means the beginning of the latest file, as in Nomad. */
async function startOf(base: string, { offset, origin }: StreamPosition): Promise<FileOffset | undefined> {
  const files = (await logNumbers(base)).map((number) => `${base}.${number}`);
  const newest = files.at(-1);
  if (newest === undefined) return undefined;
  if (origin === 'end' && offset === 0) return { file: newest, offset: 0 };
  return origin === 'end' || offset < 0 ? fromEnd(files, Math.abs(offset)) : fromStart(files, offset);
}

async function fromStart(files: readonly string[], offset: number): Promise<FileOffset | undefined> {
  let last: FileOffset | undefined;
  let left = offset;
  for (const file of files) {
    const size = await sizeOf(file);
    if (left < size) return { file, offset: left };
    left -= size;
    last = { file, offset: size };
  }
  return last;
}

/** The beginning of the oldest file if the logs are shorter. */
async function fromEnd(files: readonly string[], distance: number): Promise<FileOffset | undefined> {
  let first: FileOffset | undefined;
  let left = distance;
  for (const file of [...files].reverse()) {
    const size = await sizeOf(file);
    first = { file, offset: Math.max(0, size - left) };
    if (left <= size) return first;
    left -= size;
  }
  return first;
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  return found?.size ?? 0;
}

async function wait(signal: AbortSignal, shortest = 0): Promise<void> {
  const time = Math.max(lookInterval, shortest);
  await pause(time, undefined, { signal, ref: false }).catch(() => undefined);
}
