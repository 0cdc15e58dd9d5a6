/* Common to the languages of the project: positions in their sources, and quoted strings. */

/** A position in an expression, from 1; a column is a character. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Converts offsets in UTF-16 units to positions. Offsets in ascending order are found in one pass over the source. */
export function positionsIn(text: string): (offset: number) => TextPosition {
  let [at, line, column] = [0, 1, 1];
  return (offset) => {
    if (offset < at) [at, line, column] = [0, 1, 1];
    while (at < offset) {
      const point = text.codePointAt(at) ?? 0;
      [line, column] = point === 0x0a ? [line + 1, 1] : [line, column + 1];
      at += point > 0xffff ? 2 : 1;
    }
    return { line, column };
  };
}

/**
 * The value of a string literal: between backquotes verbatim, between double quotes with the escapes of Nomad's language.
 * Undefined when an escape is invalid, or a line ends within double quotes.
 */
export function unquoted(literal: string): string | undefined {
  const inner = literal.slice(1, -1);
  if (literal.startsWith('`')) return inner.replaceAll('\r', '');
  if (inner.includes('\n')) return undefined;
  if (!inner.includes('\\')) return inner;
  const parts = inner.match(PART) ?? [];
  if (parts.join('').length !== inner.length) return undefined;
  const bytes = parts.map(bytesOf);
  return bytes.every((each) => each !== undefined)
    ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes.flat()))
    : undefined;
}

/** A run without backslashes, or one escape. */
const PART = /[^\\]+|\\(?:[abfnrtv\\"]|x[0-9a-fA-F]{2}|[0-7]{3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/g;

/** The meaning of a backslash followed by one of these characters. */
export const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};

/** Escaped bytes (`\xff`, `\377`) may form a character together, so all parts are converted to UTF-8 first. */
function bytesOf(part: string): number[] | undefined {
  if (!part.startsWith('\\')) return utf8(part);
  const kind = part.charAt(1);
  const simple = simpleEscapes[kind];
  if (simple !== undefined) return utf8(simple);
  if (kind === 'u' || kind === 'U') return characterBytes(Number.parseInt(part.slice(2), 16));
  const byte = kind === 'x' ? Number.parseInt(part.slice(2), 16) : Number.parseInt(part.slice(1), 8);
  return byte > 0xff ? undefined : [byte];
}

function characterBytes(point: number): number[] | undefined {
  const isCharacter = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  return isCharacter ? utf8(String.fromCodePoint(point)) : undefined;
}

function utf8(text: string): number[] {
  return [...new TextEncoder().encode(text)];
}
