import { type Client, SignalboxError } from '../../../src/client/index.js';
import type { Allocation } from '../../../src/scheduler/index.js';

/** One stream of a task's output. */
export interface TaskLog {
  readonly box: Client;
  readonly allocationId: string;
  readonly task: string;
  readonly type: 'stdout' | 'stderr';
}

/** Start of the output: the first retained line, or this number of lines or bytes before the end. */
export type LogStart = 'beginning' | { readonly lines: number } | { readonly bytes: number };

/** Bytes to search for the last lines: at first and at most. */
const firstWindow = 4096;
const widestWindow = 64 * 1024 * 1024;
/** The `wait` of a blocking query. */
const wait = '30s';

/** The output so far. */
export async function* readLog(log: TaskLog, start: LogStart): AsyncGenerator<Uint8Array> {
  if (start === 'beginning') yield* bytesOf(log, 0, 'start');
  else if ('bytes' in start) yield* bytesOf(log, start.bytes, 'end');
  else yield (await lastLines(log, start.lines)).text;
}

interface LastLines {
  readonly text: Uint8Array;
  /** The window starts at the beginning of the log. */
  readonly all: boolean;
  /** The window may begin inside a line: the widest one has fewer lines than requested. */
  readonly cut: boolean;
}

/** A window before the end that grows until it contains the lines or reaches its maximum. */
async function lastLines(log: TaskLog, lines: number): Promise<LastLines> {
  for (let window = firstWindow; ; window *= 4) {
    const pieces: Uint8Array[] = [];
    for await (const piece of bytesOf(log, window, 'end')) pieces.push(piece);
    const text = Buffer.concat(pieces);
    const start = startOfLastLines(text, lines);
    if (start !== undefined) return { text: text.subarray(start), all: false, cut: false };
    const all = text.length < window;
    if (all || window >= widestWindow) return { text, all, cut: !all };
  }
}

/**
 * The output so far and from now on, until the task has ended and everything was read. Waits for a task that
 * has not started.
 */
export async function* followLog(log: TaskLog, start: LogStart): AsyncGenerator<Uint8Array> {
  await untilAllocation(log, hasStarted);
  if (start === 'beginning') return yield* follow(log, { offset: 0, origin: 'start' });
  if ('bytes' in start) return yield* follow(log, { offset: start.bytes, origin: 'end' });
  const { text, all, cut } = await lastLines(log, start.lines);
  if (all) return yield* follow(log, { offset: 0, origin: 'start' });
  if (cut) return yield* follow(log, { offset: text.length, origin: 'end' });
  // The byte before the lines is a line feed, unless more was written meanwhile: then the truncated first line is left out.
  const lines = new BehindFirstLine();
  for await (const piece of follow(log, { offset: text.length + 1, origin: 'end' })) yield lines.rest(piece);
}

/** The end of the output: a file and an offset in it. */
interface FileOffset {
  readonly file: string;
  readonly offset: number;
}

interface From {
  readonly offset: number;
  readonly origin: 'start' | 'end';
}

/** The server's stream does not end with the task: it is stopped at the final offset of the ended task's log. */
async function* follow(log: TaskLog, from: From): AsyncGenerator<Uint8Array> {
  const reading = new AbortController();
  let position = from.origin === 'end' && from.offset === 0 ? await endOf(log) : undefined;
  let end: FileOffset | undefined;
  let fault: unknown;
  const atEnd = (): boolean => end !== undefined && position?.file === end.file && position.offset >= end.offset;
  void endWithTask(log, reading.signal).then(
    (found) => {
      end = found;
      if (found === undefined || atEnd()) reading.abort();
    },
    (error: unknown) => {
      fault = error;
      reading.abort();
    },
  );
  try {
    const { box, allocationId, task, type } = log;
    for await (const item of box.files.logs(allocationId, {
      task,
      type,
      follow: true,
      ...from,
      signal: reading.signal,
    })) {
      if (item instanceof Uint8Array || item.type !== 'piece') continue;
      position = item;
      yield item.bytes;
      if (atEnd()) return;
    }
  } catch (error) {
    if (!reading.signal.aborted) throw error;
  } finally {
    reading.abort();
  }
  if (fault !== undefined) throw fault;
}

/** Where the log of an ended task ends; undefined for an empty log. */
async function endWithTask(log: TaskLog, signal: AbortSignal): Promise<FileOffset | undefined> {
  await untilAllocation(log, hasEnded, signal);
  return endOf(log);
}

async function endOf({ box, allocationId, task, type }: TaskLog): Promise<FileOffset | undefined> {
  let position: FileOffset | undefined;
  for await (const item of box.files.logs(allocationId, { task, type, offset: 1, origin: 'end' })) {
    if (!(item instanceof Uint8Array) && item.type === 'piece') position = item;
  }
  return position;
}

async function* bytesOf(
  { box, allocationId, task, type }: TaskLog,
  offset: number,
  origin: 'start' | 'end',
): AsyncGenerator<Uint8Array> {
  for await (const piece of box.files.logs(allocationId, { task, type, offset, origin, plain: true })) {
    if (piece instanceof Uint8Array) yield piece;
  }
}

type Condition = (allocation: Allocation, task: string) => boolean;

const ended: readonly string[] = ['complete', 'failed', 'lost'];

function hasStarted({ TaskStates, ClientStatus }: Allocation, task: string): boolean {
  const started = TaskStates?.[task]?.StartedAt ?? null;
  return started !== null || ended.includes(ClientStatus);
}

function hasEnded({ TaskStates, ClientStatus }: Allocation, task: string): boolean {
  return TaskStates?.[task]?.State === 'dead' || ended.includes(ClientStatus);
}

/** Resolves when the condition holds or the allocation no longer exists. */
async function untilAllocation(log: TaskLog, holds: Condition, signal?: AbortSignal): Promise<void> {
  for (let waiting = {}; ; ) {
    const options = { ...waiting, ...(signal === undefined ? {} : { signal }) };
    const read = await log.box.allocations.read(log.allocationId, options);
    if (read.isErr() && read.error.type === 'aborted') return;
    if (read.isErr()) throw new SignalboxError(read.error);
    const { value, index } = read.value;
    if (value === undefined || holds(value, log.task)) return;
    waiting = { index, wait };
  }
}
const lineFeed = 0x0a;

/**
 * Where the last `count` lines of a string begin. Undefined if the string has too few line feeds: its first
 * line may be truncated, or it has fewer lines. A final line feed ends the last line and does not start another.
 */
export function startOfLastLines(text: Uint8Array, lines: number): number | undefined {
  if (lines === 0) return text.length;
  let missing = lines;
  for (let at = text.length - 2; at >= 0; at -= 1) {
    if (text[at] !== lineFeed) continue;
    missing -= 1;
    if (missing === 0) return at + 1;
  }
  return undefined;
}

/** Removes everything up to the first line feed from a sequence of chunks. */
export class BehindFirstLine {
  #found = false;

  rest(piece: Uint8Array): Uint8Array {
    if (this.#found) return piece;
    const end = piece.indexOf(lineFeed);
    if (end === -1) return piece.subarray(piece.length);
    this.#found = true;
    return piece.subarray(end + 1);
  }
}
