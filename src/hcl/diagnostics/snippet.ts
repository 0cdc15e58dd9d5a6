import type { Position } from '../syntax/source.js';

/** Maximum number of characters of a source line in a snippet. */
const WIDTH = 120;

/**
 * Two lines: the source line, and carets below the marked span. A long line is cut around the span; tabs and other control
 * characters are shown as one space, so that the carets line up.
 *
 * @param characters splits a piece of a line into characters as columns count them
 */
export function snippet(
  line: string,
  { start, end }: { readonly start: Position; readonly end: Position },
  characters: (text: string) => readonly string[],
): string {
  // Cut roughly before splitting into characters, so that a line of a megabyte stays cheap.
  const roughStart = Math.max(0, start.column - 1 - WIDTH * 4);
  const cut = characters(line.slice(roughStart, roughStart + WIDTH * 8));
  const before = Math.max(0, start.column - 1 - roughStart);
  const from = before > WIDTH - 20 ? before - (WIDTH - 40) : 0;
  const shown = cut.slice(from, from + WIDTH).map(printable);
  const left = from > 0 || roughStart > 0 ? '…' : '';
  const right = cut.length > from + WIDTH ? '…' : '';
  const marked = start.line === end.line ? end.column - start.column : cut.length - before;
  const room = Math.max(1, shown.length - (before - from));
  const carets = '^'.repeat(Math.max(1, Math.min(marked, room)));
  return `${left}${shown.join('')}${right}\n${' '.repeat(left.length + before - from)}${carets}`;
}

function printable(character: string): string {
  return /^[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]$/u.test(character) ? ' ' : character;
}
