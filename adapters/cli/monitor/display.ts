import { inLines } from '../output/cells.js';
import type { Terminal } from '../terminal.js';
import { fittedLines, redrawn } from './redraw.js';

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
