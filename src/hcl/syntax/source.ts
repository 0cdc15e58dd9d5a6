/** A text to read and the name by which its positions are shown, e.g. `job` or `variables`. */
export interface SourceText {
  readonly name: string;
  readonly text: string;
}

/** A place in a source text as people and editors count it. */
export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in grapheme clusters: one for everything that shows as one character. */
  readonly column: number;
  /** From 0, in UTF-8 bytes. */
  readonly offset: number;
}

/** Resolves offsets (UTF-16 units) of one text into positions. Cheapest when asked in ascending order. */
export interface PositionFinder {
  position(offset: number): Position;
  /** The line without its line end; undefined behind the last line. `line` counts from 1. */
  line(line: number): string | undefined;
}

/** Builds the line table of a text once; everything else is worked out when it is asked for. */
export function positionFinder(text: string): PositionFinder {
  const starts = lineStarts(text);
  const plain = !NOT_ASCII.test(text);
  const byteStarts = plain ? starts : byteOffsets(text, starts);
  // Neighbouring questions usually concern one line: continuing from the last answer keeps many errors on one long line linear.
  let last = { index: 0, offset: starts[0] ?? 0, column: 0, bytes: 0 };

  return {
    position(offset) {
      const wanted = Math.min(Math.max(offset, 0), text.length);
      const index = lineIndex(starts, wanted);
      const lineStart = starts[index] ?? 0;
      if (plain) return { line: index + 1, column: columnInPlainLine(text, lineStart, wanted), offset: wanted };
      if (last.index !== index || last.offset > wanted) last = { index, offset: lineStart, column: 0, bytes: 0 };
      const piece = text.slice(last.offset, Math.max(wanted, lineStart));
      last = {
        index,
        offset: Math.max(wanted, lineStart),
        column: last.column + countGraphemes(piece),
        bytes: last.bytes + utf8Length(piece),
      };
      return { line: index + 1, column: last.column + 1, offset: (byteStarts[index] ?? 0) + last.bytes };
    },
    line(line) {
      const start = starts[line - 1];
      if (start === undefined) return undefined;
      const next = starts[line];
      const end = next === undefined ? text.length : next - 1;
      return text.slice(start, text.charCodeAt(end - 1) === 13 && end > start ? end - 1 : end);
    },
  };
}

/** Number of grapheme clusters in a text. */
export function countGraphemes(text: string): number {
  if (!NOT_ASCII.test(text)) return text.includes('\r\n') ? text.replaceAll('\r\n', '\n').length : text.length;
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let count = 0;
  for (const _ of segmenter.segment(text)) count += 1;
  return count;
}

const NOT_ASCII = /[^\0-\x7f]/;

// Made on first use: building it costs more than parsing a job.
let segmenter: Intl.Segmenter | undefined;

function lineStarts(text: string): readonly number[] {
  const starts = [text.charCodeAt(0) === 0xfeff ? 1 : 0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function byteOffsets(text: string, starts: readonly number[]): readonly number[] {
  let bytes = starts[0] === 1 ? 3 : 0;
  return starts.map((start, index) => {
    if (index > 0) bytes += utf8Length(text.slice(starts[index - 1], start));
    return bytes;
  });
}

function lineIndex(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function columnInPlainLine(text: string, lineStart: number, offset: number): number {
  // A carriage return and its newline are one cluster, which matters only between the two.
  const splitsLineEnd = text.charCodeAt(offset - 1) === 13 && text.charCodeAt(offset) === 10;
  return Math.max(offset - lineStart, 0) + (splitsLineEnd ? 0 : 1);
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index += 1;
    } else bytes += 3;
  }
  return bytes;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
