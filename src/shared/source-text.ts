/* Common to the languages of the project: positions in their sources, quoted strings, and numbers in the verbs of `printf`. */

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

/** A verb of `printf`, such as `%-8.3f`. Width and precision are undefined when not given. */
export interface Verb {
  /** `+`, `-`, `#`, `0` and the space. */
  readonly flags: ReadonlySet<string>;
  readonly width: number | undefined;
  readonly precision: number | undefined;
  readonly letter: string;
}

/** The bases of the verbs for whole numbers. */
export const basesOfVerbs: ReadonlyMap<string, number> = new Map([
  ['v', 10],
  ['d', 10],
  ['x', 16],
  ['X', 16],
  ['o', 8],
  ['O', 8],
  ['b', 2],
]);

/**
 * A whole number: zeros fill it up to the precision or, with the flag `0`, up to the width. Numbers of any size (`isBig`) have other rules
 * than those of a machine: the prefix of a base is always written and counts as a part of the width, and a zero keeps its sign.
 */
export function formattedInteger(verb: Verb, value: bigint, isBig: boolean): string {
  const { width = 0, precision } = verb;
  const size = value < 0n ? -value : value;
  const sign = value < 0n ? '-' : signOf(verb);
  const base = basesOfVerbs.get(verb.letter) ?? 10;
  const digits = precision === 0 && size === 0n ? '' : size.toString(base).padStart(precision ?? 0, '0');
  if (isBig) return cased(verb, filled(verb, sign + prefixOf(verb, base), digits, precision === undefined));
  if (digits === '') return ' '.repeat(width);
  const wide = precision === undefined && hasZeros(verb) ? digits.padStart(width - sign.length, '0') : digits;
  return cased(verb, filled(verb, sign + prefixOf(verb, base, wide), wide, false));
}

function prefixOf({ letter, flags }: Verb, base: number, digits = ''): string {
  const always = letter === 'O' ? '0o' : '';
  if (!flags.has('#') || base === 10) return always;
  return always + (base === 16 ? '0x' : base === 2 ? '0b' : digits.startsWith('0') ? '' : '0');
}

/** A number, signed, with spaces or zeros up to the width. Zeros come after the sign. */
export function filled(verb: Verb, sign: string, digits: string, mayHaveZeros: boolean): string {
  const missing = Math.max((verb.width ?? 0) - sign.length - digits.length, 0);
  if (mayHaveZeros && hasZeros(verb)) return sign + '0'.repeat(missing) + digits;
  const spaces = ' '.repeat(missing);
  return verb.flags.has('-') ? sign + digits + spaces : spaces + sign + digits;
}

function hasZeros({ flags }: Verb): boolean {
  return flags.has('0') && !flags.has('-');
}

/** The sign of a number that is not negative. */
export function signOf({ flags }: Verb): string {
  return flags.has('+') ? '+' : flags.has(' ') ? ' ' : '';
}

/** In upper case for verbs in upper case. */
export function cased({ letter }: Verb, text: string): string {
  return letter === 'X' || letter === 'E' || letter === 'G' ? text.toUpperCase() : text;
}

/** Significant decimal digits without zeros at either end; the value is `0.DIGITS * 10 ** point`. Zero has no digits. */
export interface Decimal {
  readonly digits: string;
  readonly point: number;
}

/** The digits of a number, which is not negative. */
interface DigitSource {
  /** The fewest digits that identify the number. */
  shortest(): Decimal;
  /** At least this many decimals or leading digits, followed by one that is not 0 if the number has more. */
  exact(wanted: { readonly decimals: number } | { readonly leading: number }): Decimal;
}

/**
 * A number that is not negative in the form `e`, `f` or `g`. The precision counts decimals, in the form `g` significant digits; without
 * one it is 6, in the form `g` the fewest digits that identify the number. Halves are rounded to the even digit, unlike in
 * `Number.toFixed`.
 */
export function formattedFloat(form: 'e' | 'f' | 'g', precision: number | undefined, source: DigitSource): string {
  if (form === 'g') {
    if (precision === undefined) return general(source.shortest(), 6);
    const significant = Math.max(precision, 1);
    const decimal = rounded(source.exact({ leading: significant + 3 }), significant);
    const { length } = decimal.digits;
    return general(decimal, significant > length && length >= decimal.point ? length : significant);
  }
  const decimals = precision ?? 6;
  if (form === 'e') return scientific(rounded(source.exact({ leading: decimals + 3 }), decimals + 1), decimals);
  const exact = source.exact({ decimals: decimals + 1 });
  return decimalText(rounded(exact, exact.point + decimals), decimals);
}

/** With an exponent below 1e-4 and from 10^`limit`. */
function general(decimal: Decimal, limit: number): string {
  const { digits, point } = decimal;
  const hasExponent = point <= -4 || point > limit;
  return hasExponent ? scientific(decimal, Math.max(digits.length - 1, 0)) : decimalText(decimal);
}

function scientific({ digits, point }: Decimal, decimals: number): string {
  const exponent = digits === '' ? 0 : point - 1;
  const fraction = digits.slice(1).padEnd(decimals, '0');
  const power = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits.charAt(0) || '0'}${fraction && `.${fraction}`}e${exponent < 0 ? '-' : '+'}${power}`;
}

/** Plain notation with as many decimals as there are digits, or with `decimals` when given (zeros appended). */
export function decimalText({ digits, point }: Decimal, decimals = 0): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const fraction = point > 0 ? digits.slice(point) : digits === '' ? '' : '0'.repeat(-point) + digits;
  const shown = fraction.padEnd(decimals, '0');
  return whole + (shown && `.${shown}`);
}

/** At most `kept` digits, rounded to the nearest; halves go to the even digit. */
function rounded(decimal: Decimal, kept: number): Decimal {
  const { digits, point } = decimal;
  if (kept >= digits.length) return decimal;
  if (kept < 0) return { digits: '', point: 0 };
  const rest = digits.slice(kept);
  const cut = BigInt(digits.slice(0, kept) || '0');
  const isUp = rest > '5' || (rest === '5' && (cut & 1n) === 1n);
  return decimalOf(isUp ? cut + 1n : cut, point - kept);
}

/** `whole * 10 ** power`, which is not negative. */
export function decimalOf(whole: bigint, power: number): Decimal {
  const text = String(whole);
  return text === '0' ? { digits: '', point: 0 } : { digits: withoutZeros(text), point: text.length + power };
}

/** Without the zeros at the end. */
export function withoutZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end -= 1;
  return digits.slice(0, end);
}
