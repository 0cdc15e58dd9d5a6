import { cutTo, facts, inLines, short, tableOf, widthOf } from '../output/tables.js';
import type { Terminal } from '../terminal.js';

/** The parameters of a blocking query. */
export interface Waiting {
  readonly index?: number;
  readonly wait?: string;
  readonly signal: AbortSignal;
}

/** A read that supports blocking queries. */
export type Read<T> = (waiting: Waiting) => Promise<{ readonly value: T; readonly index: number }>;

/** The `wait` of a blocking query. */
const wait = '30s';

/** Yields the values of the reads, and again whenever one may have changed. Leaving the loop aborts the pending reads. */
export async function* changesOf<const T extends readonly unknown[]>(
  ...reads: { readonly [K in keyof T]: Read<T[K]> }
): AsyncGenerator<T> {
  const leaving = new AbortController();
  const sides = reads.map((read) => new Side(read as Read<unknown>, leaving.signal));
  try {
    await Promise.all(sides.map((side) => side.next()));
    for (;;) {
      const values: readonly unknown[] = sides.map(({ value }) => value);
      yield values as T;
      await Promise.race(sides.map((side) => side.next()));
    }
  } finally {
    leaving.abort();
  }
}

/** A current value and the pending query for the next. */
class Side<T> {
  readonly #read: Read<T>;
  readonly #signal: AbortSignal;
  #held: { readonly value: T; readonly index: number } | undefined;
  #asked: Promise<void> | undefined;

  constructor(read: Read<T>, signal: AbortSignal) {
    this.#read = read;
    this.#signal = signal;
  }

  get value(): T {
    if (this.#held === undefined) throw new Error('nothing has been read yet');
    return this.#held.value;
  }

  /** Resolves when the pending query is answered. */
  next(): Promise<void> {
    this.#asked ??= this.#ask();
    return this.#asked;
  }

  #ask(): Promise<void> {
    const after = this.#held === undefined ? {} : { index: this.#held.index, wait };
    const asked = this.#read({ ...after, signal: this.#signal }).then((held) => {
      this.#held = held;
      this.#asked = undefined;
    });
    // Rejects the pending wait, if any; there may be none.
    asked.catch(() => undefined);
    return asked;
  }
}

/** Shows a changing state. */
interface Display {
  /**
   * `frame`: the complete state; `news`: lines for the changes since the last call. A terminal redraws the
   * frame in place; other outputs append the news.
   */
  show(frame: string, news: string): void;
  /** The last call: leaves the complete frame. */
  end(frame: string, news: string): void;
}

/** Control characters in frames and news are shown as escapes. */
export function displayOn({ out, screen }: Pick<Terminal, 'out' | 'screen'>): Display {
  if (screen === undefined) {
    return { show: (_frame, news) => out(inLines(news)), end: (_frame, news) => out(inLines(news)) };
  }
  let shown: readonly string[] = [];
  return {
    show: (frame) => {
      const size = screen.size();
      const lines = fittedLines(inLines(frame), size);
      out(redrawn(shown, lines, size.columns));
      shown = lines;
    },
    end: (frame) => {
      out(redrawn(shown, [], screen.size().columns) + inLines(frame));
      shown = [];
    },
  };
}

/** Shows nothing. */
export const noDisplay: Display = { show: () => undefined, end: () => undefined };

/**
 * The lines of a frame that can be redrawn in place: none is wider than the screen, and the last row stays free for
 * the cursor, because lines that have scrolled off the top cannot be overwritten. One line counts the omitted ones.
 */
export function fittedLines(text: string, { rows, columns }: { rows: number; columns: number }): readonly string[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const room = Math.max(1, rows - 1);
  const kept =
    lines.length <= room ? lines : [...lines.slice(0, room - 1), `… and ${lines.length - room + 1} more lines`];
  return kept.map((line) => cutTo(line, columns));
}

/**
 * The control sequence that replaces the previous lines by these, with the cursor below them. Lines are
 * overwritten without clearing, so that unchanged ones do not flicker. `columns` is the current width: lines that
 * were drawn on a wider screen have been wrapped to it.
 */
export function redrawn(before: readonly string[], next: readonly string[], columns: number): string {
  const height = before.reduce((sum, line) => sum + rowsOf(line, columns), 0);
  const up = height === 0 ? '' : `\u001b[${height}A\r`;
  return `${up}${next.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`;
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(line) / Math.max(1, columns)));
}

/** A draining node with its ended and current allocations. */
export interface DrainView {
  readonly node: DrainedNode;
  readonly allocations: readonly DrainedAllocation[];
}

interface DrainedNode {
  readonly ID: string;
  readonly Name: string;
  readonly DrainStrategy?: { readonly ForceDeadline: string | null; readonly IgnoreSystemJobs: boolean } | null;
  readonly LastDrain?: { readonly Status: string } | null;
}

export interface DrainedAllocation {
  readonly ID: string;
  readonly JobID: string;
  readonly TaskGroup: string;
  readonly DesiredStatus: string;
  readonly ClientStatus: string;
}

export function isDraining({ DrainStrategy }: DrainedNode): boolean {
  return DrainStrategy !== undefined && DrainStrategy !== null;
}

/** Whether the drain was cancelled before the node was empty. */
export function wasCanceled({ LastDrain }: DrainedNode): boolean {
  return LastDrain?.Status === 'canceled';
}

function isLive({ ClientStatus }: DrainedAllocation): boolean {
  return ClientStatus === 'pending' || ClientStatus === 'running' || ClientStatus === 'unknown';
}

export function drainFrame({ node, allocations }: DrainView): string {
  const live = allocations.filter(isLive);
  const head = facts({
    Node: `${short(node.ID)} ${node.Name}`,
    Drain: stateOf(node),
    'Stopped at': node.DrainStrategy?.ForceDeadline ?? undefined,
    Allocations: live.length,
  });
  const rows = live.map(({ ID, JobID, TaskGroup, DesiredStatus, ClientStatus }) => [
    short(ID),
    JobID,
    TaskGroup,
    DesiredStatus,
    ClientStatus,
  ]);
  return `${head}\n${tableOf(['ID', 'Job', 'Group', 'Desired', 'Status'], rows, 'nothing runs here')}`;
}

function stateOf(node: DrainedNode): string {
  return isDraining(node) ? 'under way' : wasCanceled(node) ? 'ended before the node was empty' : 'complete';
}

/**
 * Lines for the changes since the previous view; in the first view for the whole state and for allocations that ended since the
 * start of the drain, as a short drain may be over before the first view.
 */
export function drainNews(
  before: DrainView | undefined,
  view: DrainView,
  ordered: readonly DrainedAllocation[] = [],
): string {
  const { node, allocations } = view;
  const isFirst = before === undefined;
  const seen = new Map(
    (isFirst ? ordered : before.allocations).map((allocation) => [allocation.ID, lineOf(allocation)]),
  );
  const lines = isFirst ? [headOf(node, ordered.length > 0 ? ordered : allocations)] : [];
  for (const allocation of allocations) {
    const [last, line] = [seen.get(allocation.ID), lineOf(allocation)];
    const isNews = last === undefined ? isLive(allocation) : last !== line || (isFirst && isLive(allocation));
    if (isNews) lines.push(line);
  }
  if (!isDraining(node)) lines.push(`node ${short(node.ID)}: the drain is ${stateOf(node)}`);
  return lines.map((line) => `${line}\n`).join('');
}

function headOf({ ID, DrainStrategy }: DrainedNode, allocations: readonly DrainedAllocation[]): string {
  const deadline = DrainStrategy?.ForceDeadline ?? null;
  const until = deadline === null ? '' : `, what is left then is stopped at ${deadline}`;
  return `node ${short(ID)}: ${allocations.filter(isLive).length} allocations${until}`;
}

function lineOf(allocation: DrainedAllocation): string {
  const { ID, JobID, TaskGroup, DesiredStatus, ClientStatus } = allocation;
  const leaving = isLive(allocation) && DesiredStatus !== 'run' ? `, to ${DesiredStatus}` : '';
  return `  allocation ${short(ID)} of "${JobID}" (${TaskGroup}) is ${ClientStatus}${leaving}`;
}
