import { err, ok, type Result } from 'neverthrow';

/**
 * Translates a JavaScript regular expression, as in `pattern`, to the syntax of RE2, which takes linear time. Both mean the same; what RE2
 * lacks is rejected. Characters are code points, as with the flag `u`, but letters and punctuation may be escaped where that is harmless.
 */
export function re2Pattern(pattern: string): Result<string, string> {
  let translated = '';
  let at = 0;
  while (at < pattern.length) {
    const piece = pieceAt(pattern, at);
    if (typeof piece === 'string') return err(piece);
    translated += piece.text;
    at = piece.end;
  }
  return ok(translated);
}

/** A part of the pattern in RE2's syntax, and the offset of the next one. */
interface Piece {
  readonly text: string;
  readonly end: number;
}

const lineEnds = '\\n\\r\u2028\u2029';
const blanks = '\\t-\\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
const otherThanBlanks =
  '\\x00-\\x08\\x0e-\\x1f!-\u009f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\\x{10ffff}';

const repetition = /\{(\d+)(?:,(\d*))?\}/y;
const groupStart = /\(\?(?::|<([A-Za-z_$][\w$]*)>)/y;

function pieceAt(pattern: string, at: number): Piece | string {
  const character = pattern.charAt(at);
  switch (character) {
    case '\\':
      return escapeAt(pattern, at, false);
    case '[':
      return classAt(pattern, at);
    case '.':
      return { text: `[^${lineEnds}]`, end: at + 1 };
    case '(':
      return groupAt(pattern, at);
    case '{': {
      const found = matchAt(repetition, pattern, at);
      // A brace without numbers is a literal character.
      return found === null ? { text: '\\{', end: at + 1 } : { text: found[0], end: at + found[0].length };
    }
    default:
      return { text: character, end: at + 1 };
  }
}

/** Groups capture nothing here, so they need no names. */
function groupAt(pattern: string, at: number): Piece | string {
  if (pattern[at + 1] !== '?') return { text: '(?:', end: at + 1 };
  const found = matchAt(groupStart, pattern, at);
  if (found !== null) return { text: '(?:', end: at + found[0].length };
  return /^\(\?<?[=!]/.test(pattern.slice(at, at + 4))
    ? 'it looks ahead or behind, which takes exponential time in the worst case; use allOf, not or several patterns'
    : `it has a group that is not supported: ${pattern.slice(at, at + 4)}`;
}

/** Escapes that stand for a class, outside a class and within one. */
const classEscapes: Readonly<Record<string, readonly [string, string]>> = {
  d: ['\\d', '\\d'],
  D: ['\\D', '\\D'],
  w: ['\\w', '\\w'],
  W: ['\\W', '\\W'],
  s: [`[${blanks}]`, blanks],
  S: [`[${otherThanBlanks}]`, otherThanBlanks],
};

const unicodeClass = /\\([pP])\{(?:(?:gc|General_Category|sc|Script|scx|Script_Extensions)=)?([A-Za-z_]+)\}/y;
const coded =
  /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})(?:\\u([Dd][C-Fc-f][0-9A-Fa-f]{2}))?|u\{([0-9A-Fa-f]+)\}|c([A-Za-z]))/y;

function escapeAt(pattern: string, at: number, inClass: boolean): Piece | string {
  const letter = pattern[at + 1];
  if (letter === undefined) return 'it ends with a backslash';
  const known = classEscapes[letter];
  if (known !== undefined) return { text: known[inClass ? 1 : 0], end: at + 2 };
  if (!inClass && (letter === 'b' || letter === 'B')) return { text: `\\${letter}`, end: at + 2 };
  if (letter === 'p' || letter === 'P') return unicodeClassAt(pattern, at);
  if (!inClass && /[1-9k]/.test(letter))
    return 'it refers back to a group, which takes exponential time in the worst case';
  const single = characterAt(pattern, at, inClass);
  return typeof single === 'string' ? single : { text: literal(single.code), end: single.end };
}

/** Long names of Unicode categories, which RE2 knows by their short ones. */
const categories: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Titlecase_Letter: 'Lt',
  Modifier_Letter: 'Lm',
  Other_Letter: 'Lo',
  Mark: 'M',
  Nonspacing_Mark: 'Mn',
  Number: 'N',
  Decimal_Number: 'Nd',
  digit: 'Nd',
  Punctuation: 'P',
  punct: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Control: 'Cc',
};

function unicodeClassAt(pattern: string, at: number): Piece | string {
  const found = matchAt(unicodeClass, pattern, at);
  if (found === null) return 'a class of Unicode must be written as \\p{L} or \\p{Script=Greek}';
  const [whole, sign, name = ''] = found;
  return { text: `\\${sign}{${categories[name] ?? name}}`, end: at + whole.length };
}

interface Character {
  readonly code: number;
  readonly end: number;
}

/** One character, as itself or escaped. */
function characterAt(pattern: string, at: number, inClass: boolean): Character | string {
  if (pattern[at] !== '\\') return plainCharacter(pattern, at);
  const found = matchAt(coded, pattern, at);
  if (found !== null) return codedCharacter(found, at);
  const letter = pattern[at + 1] ?? '';
  const code = letter === 'b' && !inClass ? undefined : namedCodes[letter];
  const isDigitNext = /\d/.test(pattern[at + 2] ?? '');
  if (code !== undefined && !(letter === '0' && isDigitNext)) return { code, end: at + 2 };
  return /^[A-Za-z0-9]?$/.test(letter)
    ? `\\${letter} is not an escape of a regular expression`
    : plainCharacter(pattern, at + 1);
}

function plainCharacter(pattern: string, at: number): Character {
  const code = pattern.codePointAt(at) as number;
  return { code, end: at + (code > 0xffff ? 2 : 1) };
}

/** Characters that are escaped by one letter. */
const namedCodes: Readonly<Record<string, number>> = { '0': 0, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

function codedCharacter(found: RegExpExecArray, at: number): Character | string {
  const [whole, byte, unit, second, point, control] = found;
  const end = at + whole.length;
  if (control !== undefined) return { code: control.charCodeAt(0) % 32, end };
  const code = Number.parseInt(byte ?? unit ?? point ?? '', 16);
  if (second === undefined)
    return code <= 0x10ffff ? { code, end } : 'it has a character beyond the last one of Unicode';
  if (code < 0xd800 || code > 0xdbff) return { code, end: end - 6 };
  return { code: 0x10000 + ((code - 0xd800) << 10) + (Number.parseInt(second, 16) - 0xdc00), end };
}

function literal(code: number): string {
  return /[A-Za-z0-9_]/.test(String.fromCodePoint(code)) ? String.fromCodePoint(code) : `\\x{${code.toString(16)}}`;
}

/** A class of characters. It is rewritten because brackets, hyphens and names within it mean other things in RE2's syntax. */
function classAt(pattern: string, start: number): Piece | string {
  let at = start + 1;
  const isNegated = pattern[at] === '^';
  if (isNegated) at += 1;
  let items = '';
  while (at < pattern.length && pattern[at] !== ']') {
    const item = classItemAt(pattern, at);
    if (typeof item === 'string') return item;
    items += item.text;
    at = item.end;
  }
  if (at >= pattern.length) return 'a [ is not closed';
  const isAny = items === '' && isNegated;
  const text = items === '' ? `[${isAny ? '' : '^'}\\x00-\\x{10ffff}]` : `[${isNegated ? '^' : ''}${items}]`;
  return { text, end: at + 1 };
}

function classItemAt(pattern: string, at: number): Piece | string {
  if (pattern[at] === '\\' && /[dDwWsSpP]/.test(pattern[at + 1] ?? '')) return escapeAt(pattern, at, true);
  const first = characterAt(pattern, at, true);
  if (typeof first === 'string') return first;
  const isRange = pattern[first.end] === '-' && ![']', undefined].includes(pattern[first.end + 1]);
  if (!isRange || /^-\\[dDwWsSpP]/.test(pattern.slice(first.end, first.end + 3))) {
    return { text: literal(first.code), end: first.end };
  }
  const last = characterAt(pattern, first.end + 1, true);
  if (typeof last === 'string') return last;
  if (last.code < first.code) return 'a range of characters is in the wrong order';
  return { text: `${literal(first.code)}-${literal(last.code)}`, end: last.end };
}

function matchAt(expression: RegExp, pattern: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(pattern);
}
