import { wellFormed } from '../../shared/values.js';

/*
 * Users write run messages, names and identifiers; chat services and mail programs read them as markup. These functions
 * make a string harmless before a renderer puts its own markup around it.
 */

/** The mark at the end of a string that was cut. */
const cutMark = '…';

/** Invisible, zero width, no line break. */
const joiner = '\u2060';

/** The string on one line: no control characters, line breaks, or marks that change the writing direction. */
export function onOneLine(text: string): string {
  return cleaned(text).replace(/\s+/gu, ' ').trim();
}

/** The string with its line breaks, as `\n`, and without other control characters; at most one empty line in a row. */
export function onSeveralLines(text: string): string {
  return cleaned(text)
    .replace(/[^\S\n]+/gu, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Output of a program, without control characters, with its indentation. */
export function outputLines(text: string): string {
  return cleaned(text.slice(-longestText))
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+|\n+$/g, '');
}

/** The last lines of a string whose escaped form costs at most `limit`; a single line that is too long is cut. */
export function escapeLastLines(text: string, limit: number, spelling: Escaping): readonly string[] {
  const lines: string[] = [];
  let left = limit;
  for (const line of text.split('\n').toReversed()) {
    const cost = spelling.costOf(spelling.escape(line)) + 1;
    if (cost > left && lines.length > 0) break;
    lines.unshift(escapeWithin(line, left, spelling));
    left -= cost;
  }
  return lines;
}

/** In characters; more than any message shows. */
const longestText = 40_000;

function cleaned(text: string): string {
  const bounded = text.length > longestText ? text.slice(0, longestText) + cutMark : text;
  const plain = bounded
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(/[\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/(?!\n)\p{Cc}/gu, ' ');
  return wellFormed(plain);
}

/**
 * Neutralises everything that a chat service could interpret as a mention, as a link whose text differs from its target, or
 * as one of its functions. Nothing visible changes: an invisible character is inserted between `@` and a name, between `]` and
 * `(`, between two braces, and after a `<` or `&` that begins a mention or an entity.
 */
export function withoutMentions(text: string): string {
  return text
    .replace(/(?<![\p{L}\p{N}])@(?=[^\s@])/gu, `@${joiner}`)
    .replace(/\](?=\()/g, `]${joiner}`)
    .replace(/\{(?=\{)/g, `{${joiner}`)
    .replace(/<(?=\/?at\b|[!@#])/gi, `<${joiner}`)
    .replace(/&(?=#|[a-z]\w*;)/gi, `&${joiner}`);
}

/** The escaping of a string for its position, and the length there. */
export interface Escaping {
  /** Escapes a piece; must not depend on its neighbours. */
  readonly escape: (piece: string) => string;
  /** The length of an escaped piece, in the unit of the limit. */
  readonly costOf: (escaped: string) => number;
}

/**
 * The escaped string, with a cost of at most `limit`. If it is too long, it ends with `…` after the last whole
 * grapheme: an emoji of several code points, a letter with its accents.
 */
export function escapeWithin(text: string, limit: number, { escape: escapePiece, costOf }: Escaping): string {
  // Escaping never shortens; this bounds the work for very long strings.
  const bounded = text.slice(0, limit + 1);
  const costOfFirst = (length: number): number => costOf(escapePiece(bounded.slice(0, length)));
  if (costOfFirst(bounded.length) <= limit) return escapePiece(bounded);
  const mark = escapePiece(cutMark);
  const room = limit - costOf(mark);
  let fits = 0;
  let tooLong = bounded.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (costOfFirst(middle) <= room) fits = middle;
    else tooLong = middle;
  }
  return escapePiece(bounded.slice(0, wholeCharacters(bounded, fits))).trimEnd() + mark;
}

/** The largest length up to `length` that does not cut a grapheme. */
function wholeCharacters(text: string, length: number): number {
  // Segmentation is slow, so it begins at the last offset that certainly lies between two graphemes.
  let start = length;
  while (start > 0 && !(standsAlone(text, start) && standsAlone(text, start - 1))) start -= 1;
  const found = graphemes()
    .segment(text.slice(start, length + longestGrapheme))
    .containing(length - start);
  return found === undefined ? length : start + found.index;
}

/** ASCII, kana and ideographs always begin a grapheme after another of them. */
function standsAlone(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return (unit >= 0x20 && unit < 0x7f) || (unit >= 0x3041 && unit <= 0x3096) || (unit >= 0x4e00 && unit <= 0x9fff);
}

/** Created at the first use: it would be by far the most expensive part of loading the package. */
function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter;
}

let segmenter: Intl.Segmenter | undefined;
const longestGrapheme = 64;

/** Length in UTF-16 units, the unit of most services' limits. */
export function lengthOf(escaped: string): number {
  return escaped.length;
}

/** Bytes in JSON text that is written in ASCII only, the longest way to write it: every other unit takes six. */
export function jsonLengthOf(escaped: string): number {
  let length = 0;
  for (let index = 0; index < escaped.length; index++) {
    const unit = escaped.charCodeAt(index);
    if (unit < 0x20 || unit > 0x7e) length += 6;
    else length += unit === 0x22 || unit === 0x5c ? 2 : 1;
  }
  return length;
}

const longestLink = 2048;

/**
 * An address that may stand in a link of any markup: http or https, without user name and password, every character that
 * could end the link percent-encoded. Null when it is invalid, or longer than 2,048 characters: no link is better than half of one.
 */
export function linkFrom(address: string | null | undefined): string | null {
  if (address === null || address === undefined || address.length > longestLink || !URL.canParse(address)) return null;
  const url = new URL(address);
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '')
    return null;
  const link = url.href.replace(
    /["'()<>@\\^`{|}\s]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
  return link.length > longestLink ? null : link;
}
