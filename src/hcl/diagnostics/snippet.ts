import type { Position } from '../syntax/source.js';

/** Characters of a source line that a snippet shows at most. */
const WIDTH = 120;

/**
 * Two lines: the source line, and carets below the marked place. A long line is cut around the place; tabs and other control
 * characters are shown as one space, so the carets stand where they should.
 */
export function snippet(line: string, start: Position, end: Position): string {
  // Cut roughly before splitting into characters, so that a megabyte on one line costs nothing here.
  const roughStart = Math.max(0, start.column - 1 - WIDTH * 4);
  const rough = line.slice(roughStart, roughStart + WIDTH * 12);
  const characters = clusters(rough);
  const before = Math.max(0, start.column - 1 - roughStart);
  const from = before > WIDTH - 20 ? before - (WIDTH - 40) : 0;
  const shown = characters.slice(from, from + WIDTH).map(printable);
  const left = from > 0 || roughStart > 0 ? '…' : '';
  const right = characters.length > from + WIDTH ? '…' : '';
  const marked = start.line === end.line ? end.column - start.column : characters.length - before;
  const room = Math.max(1, shown.length - (before - from));
  const carets = '^'.repeat(Math.max(1, Math.min(marked, room)));
  return `${left}${shown.join('')}${right}\n${' '.repeat(left.length + before - from)}${carets}`;
}

function clusters(text: string): readonly string[] {
  if (!/[^\0-\x7f]/.test(text)) return text.split('');
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

let segmenter: Intl.Segmenter | undefined;

function printable(character: string): string {
  return /^[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]$/u.test(character) ? ' ' : character;
}
