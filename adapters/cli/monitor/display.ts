import { cutTo, inLines, widthOf } from '../output/cells.js';
import type { Terminal } from '../terminal.js';

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
/** The size of a terminal, in cells. */
interface ScreenSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * The lines of a frame that can be redrawn in place: none is wider than the screen, and the last row stays free for
 * the cursor, because lines that have scrolled off the top cannot be overwritten. One line counts the omitted ones.
 */
export function fittedLines(text: string, { rows, columns }: ScreenSize): readonly string[] {
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
