import { clusterCount, clustersOf, STEPS_OF_CLUSTER } from '../values/unicode.js';
import type { Call, Expression, Reference, Span } from './tree.js';

/** A source to read and the name by which its positions are shown, e.g. `job` or `variables`. */
export interface SourceText {
  readonly name: string;
  readonly text: string;
}

/** A position in a source as people and editors count it. */
export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in grapheme clusters (user-perceived characters). */
  readonly column: number;
  /** From 0, in UTF-8 bytes. */
  readonly offset: number;
}

/** Resolves offsets (UTF-16 units) of one source to positions. Ascending order is cheapest. */
interface PositionFinder {
  position(offset: number): Position;
  /** The line without its line end; undefined behind the last line. `line` counts from 1. */
  line(line: number): string | undefined;
  /** The characters of a piece of a line, as columns count them. */
  characters(text: string): readonly string[];
}

/** Builds the line table of a source once; everything else is computed on demand. */
export function positionFinder(text: string): PositionFinder {
  const starts = lineStarts(text);
  const plain = !NOT_ASCII.test(text);
  const byteStarts = plain ? starts : byteOffsets(text, starts);
  const counter = clusterCounter();
  // Lookups usually come in order and concern one line: anchors keep many lookups in one long line linear.
  const none = { offset: 0, column: 0, bytes: 0 };
  let known: KnownAnchors = { index: -1, anchors: [none], last: none };

  return {
    characters: counter.characters,
    position(offset) {
      const wanted = Math.min(Math.max(offset, 0), text.length);
      const index = lineIndex(starts, wanted);
      const lineStart = starts[index] ?? 0;
      if (plain) return { line: index + 1, column: columnInPlainLine(text, lineStart, wanted), offset: wanted };
      if (known.index !== index) {
        const first = { offset: lineStart, column: 0, bytes: 0 };
        known = { index, anchors: [first], last: first };
      }
      known.last = anchorAt(text, known, Math.max(wanted, lineStart), counter.count);
      const { column, bytes } = known.last;
      return { line: index + 1, column: column + 1, offset: (byteStarts[index] ?? 0) + bytes };
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

/** An anchor: an offset in a line, with the clusters and bytes before it. Counting begins at the nearest anchor. */
interface Anchor {
  readonly offset: number;
  readonly column: number;
  readonly bytes: number;
}

interface KnownAnchors {
  readonly index: number;
  /** One every `STRIDE` characters, up to the furthest lookup in the line. */
  readonly anchors: [Anchor, ...Anchor[]];
  last: Anchor;
}

const STRIDE = 1024;

function anchorAt(
  text: string,
  { anchors, last }: KnownAnchors,
  offset: number,
  count: (text: string) => number,
): Anchor {
  const walked = (from: Anchor, to: number): Anchor => {
    const piece = text.slice(from.offset, to);
    return { offset: to, column: from.column + count(piece), bytes: from.bytes + utf8Length(piece) };
  };
  const [first] = anchors;
  const wanted = Math.floor((offset - first.offset) / STRIDE);
  while (anchors.length <= wanted)
    anchors.push(walked(anchors.at(-1) ?? first, first.offset + anchors.length * STRIDE));
  const anchor = anchors[wanted] ?? first;
  return walked(last.offset <= offset && last.offset > anchor.offset ? last : anchor, offset);
}

/**
 * Counting takes about a microsecond per cluster, so their number per source is limited; beyond it, columns count code points. No
 * hand-written line is that long.
 */
const CLUSTERS_COUNTED = 50_000;

function clusterCounter(): Pick<PositionFinder, 'characters'> & { readonly count: (text: string) => number } {
  let left = CLUSTERS_COUNTED;
  const meter = {
    charge: (steps: number): boolean => {
      left -= steps / STEPS_OF_CLUSTER;
      return left >= 0;
    },
  };
  const split = (text: string): readonly string[] =>
    (left > 0 ? clustersOf(text, meter) : undefined) ?? Array.from(text);
  return { characters: split, count: (text) => (left > 0 ? clusterCount(text, meter) : undefined) ?? pointCount(text) };
}

const NOT_ASCII = /[^\0-\x7f]/;

function pointCount(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (!isLowSurrogate(text.charCodeAt(at))) count += 1;
  return count;
}

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

/** A plain copy of the offsets of something. */
export function startSpan(span: Span): Span {
  return { start: span.start, end: span.end };
}

/**
 * Position of a problem with an expression's value: for a template its first part, for a call its name with the opening parenthesis, for
 * a collection its opening bracket, for an operator its left operand, and for all others the whole expression.
 */
export function leadingSpan(expression: Expression): Span {
  let current = expression;
  for (;;) {
    switch (current.kind) {
      case 'template': {
        if (current.passThrough) return current;
        const first = current.parts[0];
        if (first === undefined) return { start: current.end, end: current.end };
        if (first.kind !== 'interpolation') return first;
        current = first.value;
        break;
      }
      case 'call':
        return callHead(current);
      case 'tuple':
      case 'object':
      case 'for':
        return { start: current.start, end: current.start + 1 };
      case 'binary':
        current = current.left;
        break;
      case 'conditional':
        current = current.condition;
        break;
      case 'traversal':
        current = current.source;
        break;
      case 'parentheses':
        current = current.inner;
        break;
      case 'unary':
        return { start: current.start, end: current.start + 1 };
      case 'number':
      case 'keyword':
      case 'reference':
        return current;
    }
  }
}

/** The name of a call with the opening parenthesis. */
export function callHead({ nameSpan, openSpan }: Pick<Call, 'nameSpan' | 'openSpan'>): Span {
  return { start: nameSpan.start, end: openSpan.end };
}

/** The span of a reference's name, without its steps. */
export function nameSpan(reference: Reference): Span {
  return { start: reference.start, end: Math.min(reference.start + reference.name.length, reference.end) };
}
