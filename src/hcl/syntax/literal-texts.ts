import { simpleEscapes } from '../../shared/source-text.js';
import { normalizeText } from '../values/unicode.js';

type LiteralText =
  | { readonly text: string; readonly end: number }
  | { readonly text: undefined; readonly errorAt: number; readonly message: string };

const ESCAPES: Readonly<Record<string, string>> = { ...simpleEscapes, "'": "'" };

/** A quoted string of version 1: within `${ }` everything is literal, including quotes and line ends. */
export function readLiteralString(text: string, start: number): LiteralText {
  const pieces: string[] = [];
  let at = start + 1;
  let pieceStart = at;
  let braces = 0;
  for (;;) {
    const character = text.charAt(at);
    if (character === '')
      return { text: undefined, errorAt: start, message: 'This string is never closed with a double quote.' };
    if (braces > 0) {
      if (character === '{') braces += 1;
      else if (character === '}') braces -= 1;
      at += 1;
    } else if (character === '"') {
      pieces.push(text.slice(pieceStart, at));
      return { text: literalText(pieces.join('')), end: at + 1 };
    } else if (character === '\n') {
      return { text: undefined, errorAt: at, message: 'A quoted string cannot continue on the next line.' };
    } else if (character === '\\') {
      const escaped = readEscape(text, at);
      if (escaped === undefined) return { text: undefined, errorAt: at, message: 'Unknown escape sequence.' };
      pieces.push(text.slice(pieceStart, at), escaped.text);
      at = escaped.end;
      pieceStart = at;
    } else {
      if (character === '$' && text.charAt(at + 1) === '{') {
        braces = 1;
        at += 1;
      }
      at += 1;
    }
  }
}

function readEscape(text: string, start: number): { text: string; end: number } | undefined {
  const simple = ESCAPES[text.charAt(start + 1)];
  if (simple !== undefined) return { text: simple, end: start + 2 };
  const coded = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/.exec(
    text.slice(start, start + 10),
  );
  if (coded === null) return undefined;
  const [whole, byte, short, long, octal] = coded;
  const point = octal === undefined ? Number.parseInt(byte ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8);
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return undefined;
  return { text: String.fromCodePoint(point), end: start + whole.length };
}

/** Version 1 of the language knows line feeds only. */
function literalText(text: string): string {
  return normalizeText(text.replaceAll('\r\n', '\n'));
}

/**
 * A heredoc of version 1. With `<<-` the indentation of the closing marker is removed from every line, but only if every line has
 * it; with `<<` it is the end of the source.
 */
export function readLiteralHeredoc(text: string, start: number): LiteralText {
  const lineEnd = text.indexOf('\n', start);
  const header = /^<<(-?)([\p{L}\p{N}_]+)[ \t\r]*$/u.exec(lineEnd < 0 ? '' : text.slice(start, lineEnd));
  if (header === null) {
    return {
      text: undefined,
      errorAt: start,
      message: 'A heredoc starts with "<<NAME" or "<<-NAME" at the end of a line.',
    };
  }
  const [, dash, marker = ''] = header;
  const lines: string[] = [];
  let at = lineEnd + 1;
  while (at < text.length) {
    const next = text.indexOf('\n', at);
    const end = next < 0 ? text.length : next;
    const line = text.slice(at, end);
    if (line.trim() === marker) {
      const indentation = line.slice(0, line.indexOf(marker));
      const uniform = dash === '-' && lines.every((each) => each.startsWith(indentation));
      const kept = uniform ? lines.map((each) => each.slice(indentation.length)) : lines;
      const rest = dash === '-' ? '' : indentation;
      return { text: literalText(kept.map((each) => `${each}\n`).join('') + rest), end };
    }
    lines.push(line);
    at = end + 1;
  }
  return {
    text: undefined,
    errorAt: text.length,
    message: `The heredoc is not closed with a line that holds ${marker} only.`,
  };
}

/** Decimal form of a number of version 1, which may be hexadecimal or octal; undefined for anything else. */
export function literalNumber(word: string): string | undefined {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word)) return word;
  const whole = /^(-?)(?:0[xX]([0-9a-fA-F]{1,32})|0([0-7]{1,40}))$/.exec(word);
  if (whole === null) return /^-?\d{1,400}(?:\.\d+)?$/.test(word) ? word : undefined;
  const [, sign = '', hexadecimal, octal = '0'] = whole;
  return sign + BigInt(hexadecimal === undefined ? `0o${octal}` : `0x${hexadecimal}`).toString();
}
