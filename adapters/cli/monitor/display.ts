import { inLines } from '../output/cells.js';
import type { Terminal } from '../terminal.js';
import { fittedLines, redrawn } from './redraw.js';

/** Where something that changes is shown. */
interface Display {
  /**
   * `frame` is how things are, as a whole; `news` is what has changed since the last time, in lines. A terminal shows the
   * frame in the place of the one before; elsewhere the news follow each other.
   */
  show(frame: string, news: string): void;
  /** The last time: the whole frame stays. */
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
