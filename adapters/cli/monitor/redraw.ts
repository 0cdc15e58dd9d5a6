import { cutTo, widthOf } from '../output/cells.js';

/** Of a terminal, in cells. */
interface ScreenSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * Lines of a string that can be drawn again in place: none is wider than the screen, and all of them leave its last row for
 * the cursor, because what has left the screen at the top cannot be reached again. What is left out is counted in one line.
 */
export function fittedLines(text: string, { rows, columns }: ScreenSize): readonly string[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const room = Math.max(1, rows - 1);
  const kept =
    lines.length <= room ? lines : [...lines.slice(0, room - 1), `… and ${lines.length - room + 1} more lines`];
  return kept.map((line) => cutTo(line, columns));
}

/**
 * What a terminal is sent to have these lines in the place of those before, with the cursor below them. Lines are
 * overwritten and not cleared first, so that what stays the same does not flicker. `columns` is the width now: lines that
 * were drawn on a wider screen have been wrapped by it.
 */
export function redrawn(before: readonly string[], next: readonly string[], columns: number): string {
  const height = before.reduce((sum, line) => sum + rowsOf(line, columns), 0);
  const up = height === 0 ? '' : `\u001b[${height}A\r`;
  return `${up}${next.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`;
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(line) / Math.max(1, columns)));
}
