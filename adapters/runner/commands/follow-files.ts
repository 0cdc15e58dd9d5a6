import { existsSync, statSync } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { CommandOutput, StreamPosition } from '../../../src/agent/link/node-command.js';
import { openToRead } from '../disk/text-file.js';
import { logNumbers } from '../logs/log-files.js';
import { pieceBytes } from './allocation-files.js';

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
