import { isWhiteSpace } from '../../shared/values.js';
import { normalizeText } from '../values/unicode.js';
import { buildTemplate, type RawPart } from './build-template.js';
import { beginsSequence, readEscape, sequenceKind } from './escapes.js';
import { continueAt } from './lexer.js';
import { type Parser, report } from './parser.js';
import { readSequence } from './read-sequence.js';
import type { Template } from './tree.js';

/** Reads the quoted template or heredoc that starts at the current token. */
export function readTemplate(parser: Parser): Template | undefined {
  // The content counts as one more token.
  parser.lexer.tokens += 1;
  return parser.lexer.kind === 'quote' ? readQuoted(parser) : readHeredoc(parser);
}

/** Reads a whole source as a template without quotes and escapes: a string of the JSON form. */
export function readWholeText(parser: Parser): Template | undefined {
  const { text } = parser.lexer;
  const raw: RawPart[] = [];
  let at = 0;
  let pieceStart = 0;
  let piece = '';
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    const special = beginsSequence(unit) ? sequenceKind(text, at) : 'none';
    if (special === 'none') {
      at += 1;
      continue;
    }
    piece += text.slice(pieceStart, special === 'escape' ? at + 1 : at);
    at += special === 'escape' ? 2 : 0;
    pieceStart = at;
    if (special === 'escape') continue;
    if (piece !== '') raw.push(literal(piece, at - piece.length, at));
    piece = '';
    const part = readSequence(parser, at);
    if (part === undefined) return undefined;
    raw.push(part);
    at = part.end;
    pieceStart = at;
  }
  piece += text.slice(pieceStart);
  if (piece !== '') raw.push(literal(piece, text.length - piece.length, text.length));
  return buildTemplate(parser, raw, { start: 0, end: text.length }, false);
}

function readQuoted(parser: Parser): Template | undefined {
  const { lexer } = parser;
  const { text } = lexer;
  const { start } = lexer;
  const raw: RawPart[] = [];
  let at = start + 1;
  let pieceStart = at;
  let piece = '';
  let literalStart = at;
  let failed = false;
  const flush = (): void => {
    piece += text.slice(pieceStart, at);
    if (at > literalStart) raw.push(literal(piece, literalStart, at));
    piece = '';
  };
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === 34) break;
    if (unit === 92) {
      piece += text.slice(pieceStart, at);
      const escaped = readEscape(parser, at);
      if (escaped.text === undefined) failed = true;
      else piece += escaped.text;
      at = escaped.end;
      pieceStart = at;
    } else if (beginsSequence(unit)) {
      const special = sequenceKind(text, at);
      if (special === 'none') at += 1;
      else if (special === 'escape') {
        piece += text.slice(pieceStart, at + 1);
        at += 2;
        pieceStart = at;
      } else {
        flush();
        const part = readSequence(parser, at);
        if (part === undefined) {
          // Continue after the string, so that its rest is not parsed as something else.
          continueAt(lexer, quotedEnd(text, start));
          return undefined;
        }
        raw.push(part);
        at = part.end;
        pieceStart = at;
        literalStart = at;
      }
    } else if (at >= text.length || lineEndLength(text, at) > 0) return reportOpenQuote(parser, start, at);
    else at += 1;
  }
  flush();
  continueAt(lexer, at + 1);
  const template = buildTemplate(parser, raw, { start, end: at + 1 }, false);
  return failed ? undefined : template;
}

/** Reports a quoted string that is still open at the end of its line or of the source. */
function reportOpenQuote(parser: Parser, start: number, at: number): undefined {
  const { lexer } = parser;
  const length = lineEndLength(lexer.text, at);
  continueAt(lexer, at);
  if (length === 0) {
    const span = { start, end: start + 1 };
    return report(parser, 'text_not_closed', span, 'This string is never closed with a double quote.');
  }
  return report(
    parser,
    'newline_in_text',
    { start: at, end: at + length },
    {
      message: 'A quoted string cannot continue on the next line.',
      detail: 'Close it with a double quote; use \\n, or a heredoc for a multi-line string.',
    },
  );
}

/** Characters of the line end at an offset, which may be a carriage return on its own; 0 where none is. */
function lineEndLength(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit === 10) return 1;
  if (unit !== 13) return 0;
  return text.charCodeAt(at + 1) === 10 ? 2 : 1;
}

function readHeredoc(parser: Parser): Template | undefined {
  const { lexer } = parser;
  const { text } = lexer;
  const { start, end: headerEnd } = lexer;
  const indented = text.charCodeAt(start + 2) === 45;
  const marker = text.slice(start + (indented ? 3 : 2), headerEnd).trim();
  const raw: RawPart[] = [];
  let at = headerEnd;
  let lineEnd = -1;
  let atLineStart = true;
  for (;;) {
    if (lineEnd < at) lineEnd = text.indexOf('\n', at);
    if (lineEnd < 0) return reportOpenHeredoc(parser, indented, marker);
    if (atLineStart && isMarkerLine(text, at, lineEnd, marker)) break;
    const next = nextSequence(text, at, lineEnd);
    const pieceEnd = next < 0 ? lineEnd + 1 : next;
    const piece = text.slice(at, pieceEnd);
    const lone = piece.search(LONE_RETURN);
    if (lone >= 0) return reportLoneReturn(parser, start, headerEnd, at + lone);
    if (piece !== '') raw.push(literal(unescapeDollars(piece), at, pieceEnd));
    at = pieceEnd;
    atLineStart = next < 0;
    if (next < 0) continue;
    const part = readSequence(parser, at);
    if (part === undefined) {
      // Continue after the heredoc: its lines are not items.
      continueAt(lexer, heredocEnd(text, start, headerEnd));
      return undefined;
    }
    raw.push(part);
    at = part.end;
  }
  const end = markerEnd(text, lineEnd);
  continueAt(lexer, end);
  return buildTemplate(parser, raw, { start, end, close: at }, indented);
}

/** Offset behind the closing marker, before the line end at an offset. */
function markerEnd(text: string, lineEnd: number): number {
  return text.charCodeAt(lineEnd - 1) === 13 ? lineEnd - 1 : lineEnd;
}

const LONE_RETURN = /\r(?!\n)/;

/** Reports a carriage return without a line feed; parsing continues after the heredoc. */
function reportLoneReturn(parser: Parser, start: number, headerEnd: number, at: number): undefined {
  const { lexer } = parser;
  continueAt(lexer, heredocEnd(lexer.text, start, headerEnd));
  return report(
    parser,
    'bad_character',
    { start: at, end: at + 1 },
    {
      message: 'A carriage return needs a line feed after it.',
      detail: 'Save the file with one kind of line end.',
    },
  );
}

/** Reports a heredoc without an end, which contains the rest of the source. */
function reportOpenHeredoc(parser: Parser, indented: boolean, marker: string): undefined {
  const { length } = parser.lexer.text;
  continueAt(parser.lexer, length);
  report(
    parser,
    'heredoc_not_closed',
    { start: length, end: length },
    {
      message: `The heredoc <<${indented ? '-' : ''}${marker} is not closed.`,
      detail: `Close it with a line that contains ${marker} only and ends with a line end.`,
    },
  );
  parser.stopped = true;
  return undefined;
}

/** Offset after a quoted string, found by scanning only; at most the end of its line, outside of sequences. */
// oxlint-disable-next-line complexity -- one scan over code units with a stack of two kinds of levels
export function quotedEnd(text: string, start: number): number {
  // Whether each open level is a quoted string or a sequence in one.
  const levels: ('text' | 'sequence')[] = ['text'];
  let at = start + 1;
  for (; at < text.length && levels.length > 0; at += 1) {
    const unit = text.charCodeAt(at);
    const level = levels.at(-1);
    if (unit === 34) {
      if (level === 'text') levels.pop();
      else levels.push('text');
    } else if (level === 'text') {
      if (unit === 92) at += 1;
      else if (unit === 10) return at;
      else if ((unit === 36 || unit === 37) && text.charCodeAt(at + 1) === 123) {
        levels.push('sequence');
        at += 1;
      }
    } else if (unit === 123) levels.push('sequence');
    else if (unit === 125) levels.pop();
  }
  return Math.min(at, text.length);
}

/** Offset after the closing marker of a heredoc, found by scanning only; the end of the source if there is none. */
export function heredocEnd(text: string, start: number, bodyStart: number): number {
  const marker = text.slice(start, bodyStart).replace(/^<<-?/, '').trim();
  let at = bodyStart;
  for (;;) {
    const lineEnd = text.indexOf('\n', at);
    if (lineEnd < 0) return text.length;
    if (isMarkerLine(text, at, lineEnd, marker)) return lineEnd;
    at = lineEnd + 1;
  }
}

function isMarkerLine(text: string, start: number, lineEnd: number, marker: string): boolean {
  let from = start;
  while (from < lineEnd && isWhiteSpace(text.charCodeAt(from))) from += 1;
  if (!text.startsWith(marker, from)) return false;
  let behind = from + marker.length;
  while (behind < lineEnd && isWhiteSpace(text.charCodeAt(behind))) behind += 1;
  return behind === lineEnd;
}

/** Offset of the next `${` or `%{` before the line end that is not escaped, or -1. */
function nextSequence(text: string, start: number, lineEnd: number): number {
  for (let at = start; at < lineEnd; at += 1) {
    const unit = text.charCodeAt(at);
    if (!beginsSequence(unit)) continue;
    const kind = sequenceKind(text, at);
    if (kind === 'sequence') return at;
    if (kind === 'escape') at += 2;
  }
  return -1;
}

function unescapeDollars(text: string): string {
  return text.includes('{') ? text.replace(/\$\$\{|%%\{/g, (found) => found.slice(1)) : text;
}

function literal(text: string, start: number, end: number): RawPart {
  return { kind: 'text', text: normalizeText(text), start, end };
}
