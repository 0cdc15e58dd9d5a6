import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { opendir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CommandOutput, LogRange } from '../../../src/agent/link/node-command.js';
import { codeOf, resultOr } from '../../../src/shared/values.js';
import { openToRead } from '../disk/text-file.js';

/*
 * The numbered files of one stream of a task's output, `<base>.0`, `<base>.1` and so on, and the positions in it: bytes since the task began
 * to write. When a file is full, the number of the next one and the position of its first byte are added to `.<base>.positions`, before that
 * file is created and before any file is removed. So the position of each kept byte is known whenever the writing process is killed, and
 * does not change when a process that was left behind writes into an older file.
 */

/** A file of a stream; `start`: the position of its first byte. */
export interface LogFile {
  readonly number: number;
  readonly size: number;
  readonly start: number;
}

/** The positions of the first bytes of files, by number. */
type Starts = ReadonlyMap<number, number>;
type SizedFile = Pick<LogFile, 'number' | 'size'>;

const fileNumber = /^(?:0|[1-9][0-9]{0,14})$/;

/** The most files of one stream that are read, the newest; a task can create any number of similar files. */
const mostFiles = 10_000;

/** Directory entries per read. */
const entriesAtOnce = 256;

/**
 * The numbers of the existing files `<base>.N`, ascending. Tasks can write in the same folder: links, pipes and directories with
 * such a name are ignored. The folder is read in steps, so that a large one does not block the event loop; empty if the folder is
 * missing.
 */
export async function logNumbers(base: string): Promise<number[]> {
  const numbers: number[] = [];
  try {
    for await (const entry of await opendir(dirname(base), { bufferSize: entriesAtOnce })) {
      const number = numberOf(entry, `${basename(base)}.`);
      if (number !== undefined) numbers.push(number);
      if (numbers.length >= 2 * mostFiles) keepNewest(numbers);
    }
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
  keepNewest(numbers);
  return numbers;
}

function numberOf(entry: Dirent, prefix: string): number | undefined {
  if (!entry.name.startsWith(prefix) || !entry.isFile()) return undefined;
  const text = entry.name.slice(prefix.length);
  return fileNumber.test(text) ? Number(text) : undefined;
}

function keepNewest(numbers: number[]): void {
  numbers.sort((left, right) => left - right).splice(0, Math.max(0, numbers.length - mostFiles));
}

/**
 * The newest files without a gap in their numbers, ascending, with their positions, and the position of the next byte. A file ends
 * where the next one begins. Removed files of which nothing was noted count as large as the oldest that is kept.
 */
export function placedFiles(
  starts: Starts,
  files: readonly SizedFile[],
): { readonly files: readonly LogFile[]; readonly end: number } {
  const gap = files.findLastIndex(({ number }, at) => at > 0 && files[at - 1]?.number !== number - 1);
  const kept = files.slice(Math.max(0, gap));
  const latest = latestOf(starts);
  const [oldest] = kept;
  if (oldest === undefined || latest.number > oldest.number + kept.length) return { files: [], end: latest.start };
  const placed: LogFile[] = [];
  let end = startOfOldest(starts, kept, oldest);
  for (const { number, size } of kept) {
    const start = Math.max(starts.get(number) ?? end, placed.at(-1)?.start ?? 0);
    const next = starts.get(number + 1) ?? Number.MAX_SAFE_INTEGER;
    placed.push({ number, start, size: Math.max(0, Math.min(size, next - start)) });
    end = bounded(start + size);
  }
  return { files: placed, end: latest.number > (placed.at(-1)?.number ?? 0) ? latest.start : end };
}

function latestOf(starts: Starts, below = Number.POSITIVE_INFINITY): Omit<LogFile, 'size'> {
  let latest = { number: 0, start: 0 };
  for (const [number, start] of starts) if (number < below && number > latest.number) latest = { number, start };
  return latest;
}

/** As far as it was not noted, from the sizes of the files after it or before it. */
function startOfOldest(starts: Starts, kept: readonly SizedFile[], oldest: SizedFile): number {
  let before = 0;
  for (const { number, size } of kept) {
    const start = starts.get(number);
    if (start !== undefined) return bounded(start - before);
    before += size;
  }
  const { number, start } = latestOf(starts, oldest.number);
  return bounded(start + (oldest.number - number) * oldest.size);
}

/** A task can create files of any number and size. */
function bounded(position: number): number {
  return Math.min(Math.max(0, position), Number.MAX_SAFE_INTEGER);
}

function notesOf(base: string): string {
  return join(dirname(base), `.${basename(base)}.positions`);
}

/** The flags with which files are opened in a folder of a task: links are not followed, and pipes do not block. */
const careful = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Of one file: its number and position, of 16 digits each, in a line. A line that was cut off has no other form. */
const noteForm = /^(0[0-9]{15}) ([0-9]{16})$/gm;
const noteLength = 35;

/** What is noted of the newest files; the first note of a file counts. */
function readStarts(base: string): Starts {
  const text = resultOr('', () => {
    const file = openSync(notesOf(base), constants.O_RDONLY | careful);
    try {
      const bytes = Buffer.alloc(Math.min(fstatSync(file).size, mostFiles * noteLength));
      return bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, fstatSync(file).size - bytes.length));
    } finally {
      closeSync(file);
    }
  });
  const starts = new Map<number, number>();
  for (const [, number, start] of text.matchAll(noteForm)) {
    if (!starts.has(Number(number))) starts.set(Number(number), bounded(Number(start)));
  }
  return starts;
}

/** Best effort: without the note the position follows from the sizes of the kept files. */
function noteStart(base: string, { number, start }: LogFile): void {
  const [name, position] = [number, start].map((value) => String(value).padStart(16, '0'));
  resultOr(undefined, () => {
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | careful;
    const file = openSync(notesOf(base), flags, 0o600);
    try {
      writeSync(file, `\n${name} ${position}\n`);
    } finally {
      closeSync(file);
    }
  });
}

/** Where a stream continues: behind its newest file, or in a file that was noted and not created. */
function continuation(starts: Starts, files: readonly SizedFile[]): LogFile {
  const newest = placedFiles(starts, files).files.at(-1);
  const latest = latestOf(starts);
  if (newest === undefined || newest.number < latest.number) return { ...latest, size: 0 };
  return { ...newest, size: files.at(-1)?.size ?? 0 };
}

/** Where a process continues to write a stream, with room for at least one byte. Removes what is no longer to be kept. */
export async function continueLog(base: string, maximumBytes: number, kept: number): Promise<LogFile> {
  const starts = readStarts(base);
  const files = await sizedFiles(base);
  const last = continuation(starts, files);
  const at = last.size >= maximumBytes ? { number: last.number + 1, size: 0, start: last.start + last.size } : last;
  if (at.number > 0 && !starts.has(at.number)) noteStart(base, at);
  for (const { number } of files) if (number <= at.number - kept) await rm(`${base}.${number}`, { force: true });
  return at;
}

/** The same for functions, which write from this process, except that the newest file may be full. */
export function continueLogSync(base: string, kept: number): LogFile {
  const starts = readStarts(base);
  const numbers = readdirSync(dirname(base), { withFileTypes: true }).flatMap(
    (entry) => numberOf(entry, `${basename(base)}.`) ?? [],
  );
  keepNewest(numbers);
  const from = latestOf(starts).number;
  const sized = numbers.filter((number) => number >= from).map((number) => ({ number, size: sizeOf(base, number) }));
  const at = continuation(starts, sized);
  if (at.number > 0 && !starts.has(at.number)) noteStart(base, at);
  for (const number of numbers) if (number <= at.number - kept) rmSync(`${base}.${number}`, { force: true });
  return at;
}

/** The file after a full one, which is noted. */
export function followingFile(base: string, { number, size, start }: LogFile): LogFile {
  // Another process may have written in the file, or the task.
  const next = { number: number + 1, size: 0, start: bounded(start + Math.max(size, sizeOf(base, number))) };
  noteStart(base, next);
  return next;
}

function sizeOf(base: string, number: number): number {
  return resultOr(0, () => statSync(`${base}.${number}`).size);
}

/** Files that are removed meanwhile are left out. */
async function sizedFiles(base: string): Promise<SizedFile[]> {
  const files: SizedFile[] = [];
  for (const number of await logNumbers(base)) {
    const found = await stat(`${base}.${number}`).catch(() => undefined);
    if (found !== undefined) files.push({ number, size: found.size });
  }
  return files;
}

/** The most bytes of one chunk of an answer. */
const pieceBytes = 64 * 1024;

/** How many files are opened before the first byte is sent, so that rotation does not take them from a slow reader. */
const heldFiles = 16;

/** How often the kept files are determined again because one was removed meanwhile. */
const mostAttempts = 5;

/**
 * A range of a stream: first its `LogRange` as a value, then exactly its bytes. `from` null: the last `limit` bytes; `limit` null: to the
 * end that the stream has now. Throws if bytes of the range are removed before they are read.
 */
export async function* readLogRange(base: string, asked: AskedRange): AsyncGenerator<CommandOutput> {
  const handles: Handles = new Map();
  try {
    for (let attempt = 1; ; attempt += 1) {
      const { parts, ...range } = rangeOf(await keptFiles(base), asked);
      if (attempt < mostAttempts && !(await areHeld(base, parts.slice(0, heldFiles), handles))) continue;
      yield { type: 'value', value: range };
      for (const part of parts) yield* partOf(base, part, range, handles);
      return;
    }
  } finally {
    for (const handle of handles.values()) await handle.close();
  }
}

interface AskedRange {
  readonly from: number | null;
  readonly limit: number | null;
}

/** A range with a limit has no hole: it ends before bytes that the task has removed from a file, or begins behind them. */
export function rangeOf(
  { files, end }: ReturnType<typeof placedFiles>,
  { from, limit }: AskedRange,
): LogRange & { readonly parts: readonly LogFile[] } {
  const firstByte = files[0]?.start ?? end;
  const begin = Math.min(end, Math.max(firstByte, from ?? end - (limit ?? end)));
  const to = from === null || limit === null ? end : Math.min(end, Math.max(begin, from + limit));
  let parts = files.filter(({ start, size }) => begin < to && start < to && start + size > begin);
  const isHole = (at: number): boolean => (parts[at - 1]?.start ?? 0) + (parts[at - 1]?.size ?? 0) !== parts[at]?.start;
  const holes = [...parts.keys()].filter((at) => at > 0 && isHole(at));
  if (limit !== null && from !== null) parts = parts.slice(0, holes[0]);
  else if (limit !== null) parts = parts.slice(holes.at(-1) ?? 0);
  const [first, last] = [parts[0], parts.at(-1)];
  const range =
    first === undefined || last === undefined
      ? { from: begin, to: begin }
      : { from: Math.max(begin, first.start), to: Math.min(to, last.start + last.size) };
  return { firstByte, endByte: end, files: files.length, ...range, parts };
}

/** The kept files with their positions. The notes are read before the files, so each file follows from them. */
async function keptFiles(base: string): Promise<ReturnType<typeof placedFiles>> {
  for (let attempt = 1; ; attempt += 1) {
    const starts = readStarts(base);
    const files = await sizedFiles(base);
    // A stream that is written fast may have removed the last file that was noted.
    const { number } = latestOf(starts);
    const isBehind =
      number < (files[0]?.number ?? Number.POSITIVE_INFINITY) && latestOf(readStarts(base)).number !== number;
    if (!isBehind || attempt === mostAttempts) return placedFiles(starts, files);
  }
}

type Handles = Map<number, Awaited<ReturnType<typeof openToRead>>>;

/** The open file; undefined if it has been removed. */
async function held(base: string, number: number, handles: Handles) {
  try {
    const handle = handles.get(number) ?? (await openToRead(`${base}.${number}`));
    handles.set(number, handle);
    return handle;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

async function areHeld(base: string, files: readonly LogFile[], handles: Handles): Promise<boolean> {
  for (const { number } of files) if ((await held(base, number, handles)) === undefined) return false;
  return true;
}

async function* partOf(
  base: string,
  { number, size, start }: LogFile,
  { from, to }: Pick<LogRange, 'from' | 'to'>,
  handles: Handles,
): AsyncGenerator<CommandOutput> {
  const handle = await held(base, number, handles);
  const last = Math.min(to, start + size);
  for (let at = Math.max(start, from); at < last; ) {
    const bytes = Buffer.allocUnsafe(Math.min(pieceBytes, last - at));
    const { bytesRead } = (await handle?.read(bytes, 0, bytes.length, at - start)) ?? { bytesRead: 0 };
    if (bytesRead === 0) throw new Error(`the output at byte ${at} was removed while it was read`);
    at += bytesRead;
    yield {
      type: 'piece',
      file: `alloc/logs/${basename(base)}.${number}`,
      offset: at,
      bytes: bytes.subarray(0, bytesRead),
    };
  }
  handles.delete(number);
  await handle?.close();
}
