/*
 * Values whose type is not known, what was thrown, and quotations of them; then conversions of strings where the interface compares them with numbers: the number syntax of Nomad's language, its white
 * space, its order of strings, its upper and lower case, base64 and valid Unicode.
 */

/** Whether a value is an object with members: no array, and not null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The message of what was thrown. What is no error says nothing, since it may contain anything. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'unknown error';
}

/** The code of a failed system call, such as `ENOENT`; empty for other errors. */
export function codeOf(thrown: unknown): string {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown ? String(thrown.code) : '';
}

/** Above this number of characters, strings from outside are cut in messages, so that those stay small. */
const mostQuoted = 128;

/** A string in quotes, for a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > mostQuoted ? `${text.slice(0, mostQuoted)}…` : text);
}

const INT64_LIMIT = 2n ** 63n;
const UINT64_LIMIT = 2n ** 64n;

/** A signed 64-bit integer in decimal digits with an optional sign; undefined when the string is anything else. */
export function parseInt64(text: string): bigint | undefined {
  return /^[+-]?[0-9]{1,400}$/.test(text) ? withinInt64(BigInt(text.replace(/^\+/, ''))) : undefined;
}

/**
 * A signed 64-bit integer in a literal's own base: decimal, or after `0x`, `0b`, `0o` or a leading `0`, with single underscores
 * between digits.
 */
export function parseInt64Literal(text: string): bigint | undefined {
  const negative = text.startsWith('-');
  const magnitude = integerLiteral(negative || text.startsWith('+') ? text.slice(1) : text);
  return magnitude === undefined ? undefined : withinInt64(negative ? -magnitude : magnitude);
}

/** As `parseInt64Literal`, without sign and up to 2^64 - 1. */
export function parseUint64Literal(text: string): bigint | undefined {
  const value = integerLiteral(text);
  return value !== undefined && value < UINT64_LIMIT ? value : undefined;
}

/**
 * The nearest double: decimal or hexadecimal (`0x1.8p4`, where the exponent is needed), `inf`, `infinity` and `nan` in any case.
 * A finite number that no double can hold is undefined, as is any other string.
 */
export function parseFloat64(text: string): number | undefined {
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return NaN;
  const value = /^[+-]?0[xX]/.test(text) ? hexadecimalFloat(text) : decimalFloat(text);
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}

/** `1`, `t`, `T`, `true`, `True`, `TRUE` and their opposites; undefined for any other string. */
export function parseBoolean(text: string): boolean | undefined {
  if (/^(?:1|t|T|true|True|TRUE)$/.test(text)) return true;
  return /^(?:0|f|F|false|False|FALSE)$/.test(text) ? false : undefined;
}

/** The message for a string that `parseBoolean` rejects. The string is cut to keep the message short. */
export function noBooleanText(name: string, text: string): string {
  return `${name} value is not a boolean: strconv.ParseBool: parsing ${JSON.stringify(text.slice(0, 80))}: invalid syntax`;
}

/** Whether a string contains an unpaired surrogate: neither UTF-8 nor a path can represent it. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

/** The string with the replacement character for each unpaired surrogate. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

const standardBase64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Whether a string is base64 with the standard letters and padding (RFC 4648, section 4); line ends are invalid. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && standardBase64.test(text);
}

/** Trims white space at both ends, as Unicode defines it: `U+0085` counts and `U+FEFF` does not, unlike in `String.trim`. */
export function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isWhiteSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Negative, zero or positive if `left` sorts before, with or after `right` by UTF-8 bytes. */
export function compareBytes(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const difference = codePointOrder(left.charCodeAt(at)) - codePointOrder(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Surrogates represent code points above all others, so they are moved behind the rest of the 16-bit units. */
function codePointOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/**
 * Simple (one-to-one) case mapping: `ß` stays `ß`, and a final sigma is mapped like any other. JavaScript's own mapping
 * may lengthen strings and depends on neighbouring characters.
 */
export function upperCase(text: string): string {
  if (!LENGTHENED.test(text)) return text.toUpperCase();
  return text.replace(RUNS, (run) => (LENGTHENED.test(run) ? run.replace(WITH_IOTA, iotaCapital) : run.toUpperCase()));
}

export function lowerCase(text: string): string {
  // The only character whose lower case has two characters, and the only one whose lower case depends on its neighbours.
  return text.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3').toLowerCase();
}

/** Whether a string has characters whose upper case is longer in JavaScript, so that mapping it costs more. */
export function lengthens(text: string): boolean {
  return LENGTHENED.test(text);
}

/** The characters whose upper case is longer in JavaScript. */
const LENGTHENED =
  /[\u00df\u0149\u01f0\u0390\u03b0\u0587\u1e96-\u1e9a\u1f50\u1f52\u1f54\u1f56\u1f80-\u1faf\u1fb2-\u1fb4\u1fb6\u1fb7\u1fbc\u1fc2-\u1fc4\u1fc6\u1fc7\u1fcc\u1fd2\u1fd3\u1fd6\u1fd7\u1fe2-\u1fe4\u1fe6\u1fe7\u1ff2-\u1ff4\u1ff6\u1ff7\u1ffc\ufb00-\ufb06\ufb13-\ufb17]/;
const RUNS = new RegExp(`${LENGTHENED.source}+|${LENGTHENED.source.replace('[', '[^')}+`, 'g');

/** Greek small letters with an iota subscript: one capital letter each, although JavaScript writes the iota out. */
const WITH_IOTA = /[\u1f80-\u1f87\u1f90-\u1f97\u1fa0-\u1fa7\u1fb3\u1fc3\u1ff3]/g;

/** The capital with an iota beside it, of a letter with an iota below. */
function iotaCapital(character: string): string {
  const code = character.charCodeAt(0);
  return String.fromCharCode(code < 0x1fb0 ? code + 8 : code + 9);
}

/** Unicode white space, including line ends: separates words. */
export function isWhiteSpace(unit: number): boolean {
  if (unit < 0x85) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return wideSpace.test(String.fromCharCode(unit));
}

const wideSpace = /[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

function withinInt64(value: bigint): bigint | undefined {
  return value >= -INT64_LIMIT && value < INT64_LIMIT ? value : undefined;
}

const INTEGER_LITERAL =
  /^(?:(?<decimal>0|[1-9](?:_?[0-9])*)|0[xX](?<hexadecimal>(?:_?[0-9a-fA-F])+)|0[bB](?<binary>(?:_?[01])+)|0[oO]?(?<octal>(?:_?[0-7])+))$/;

function integerLiteral(text: string): bigint | undefined {
  const groups = text.length > 400 ? undefined : INTEGER_LITERAL.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { decimal, hexadecimal, binary, octal = '' } = groups;
  const digits = decimal ?? (hexadecimal && `0x${hexadecimal}`) ?? (binary && `0b${binary}`) ?? `0o${octal}`;
  return BigInt(digits.replaceAll('_', ''));
}

/** Underscores may stand between two digits. */
const DECIMAL_FLOAT = /^[+-]?(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?$/;

function decimalFloat(text: string): number | undefined {
  return DECIMAL_FLOAT.test(text) ? Number(text.replaceAll('_', '')) : undefined;
}

const HEXADECIMAL_FLOAT =
  /^(?<sign>[+-]?)0[xX](?<whole>(?:_?[0-9a-fA-F])*)(?:\.(?<fraction>(?:[0-9a-fA-F](?:_?[0-9a-fA-F])*)?))?[pP](?<exponent>[+-]?\d(?:_?\d)*)$/;

/** More digits than a double can distinguish are rejected instead of parsed. */
const MAX_HEXADECIMAL_FLOAT = 400;

function hexadecimalFloat(text: string): number | undefined {
  const groups = text.length > MAX_HEXADECIMAL_FLOAT ? undefined : HEXADECIMAL_FLOAT.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { sign = '', whole = '', fraction = '', exponent = '' } = groups;
  const digits = (whole + fraction).replaceAll('_', '');
  if (digits === '') return undefined;
  const power = Number(exponent.replaceAll('_', '')) - 4 * fraction.replaceAll('_', '').length;
  const value = scaled(BigInt(`0x${digits}`), power);
  return sign === '-' ? -value : value;
}

/** `mantissa` × 2^`power`. At most 64 bits are kept; the last of them is set if bits were lost, so that rounding is right. */
function scaled(mantissa: bigint, power: number): number {
  if (mantissa === 0n) return 0;
  const surplus = Math.max(0, mantissa.toString(2).length - 64);
  const kept = mantissa >> BigInt(surplus);
  const lost = kept << BigInt(surplus) === mantissa ? 0n : 1n;
  const exponent = Math.max(-1200, Math.min(1200, power + surplus));
  const half = Math.trunc(exponent / 2);
  return Number(kept | lost) * 2 ** half * 2 ** (exponent - half);
}

/** The member that the record itself has. A name from outside may be that of something inherited. */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

export function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

/** The result of the work; the fallback if it throws. */
export function resultOr<T>(fallback: T, work: () => T): T {
  try {
    return work();
  } catch {
    return fallback;
  }
}

/** Without its percent-encoding, or unchanged where that is not valid. */
export function percentDecoded(text: string): string {
  return resultOr(text, () => decodeURIComponent(text));
}

type Stated<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that have a value. */
export function stated<T extends object>(members: T): Stated<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Stated<T>;
}

/** Whether the pattern, in which `*` stands for any characters, matches the whole name. Linear in the lengths' product, no backtracking blow-up. */
export function globMatches(pattern: string, name: string): boolean {
  let patternAt = 0;
  let nameAt = 0;
  let starAt = -1;
  let resumeAt = 0;
  while (nameAt < name.length) {
    if (pattern[patternAt] === '*') {
      starAt = patternAt;
      resumeAt = nameAt;
      patternAt += 1;
    } else if (patternAt < pattern.length && pattern[patternAt] === name[nameAt]) {
      patternAt += 1;
      nameAt += 1;
    } else if (starAt >= 0) {
      patternAt = starAt + 1;
      resumeAt += 1;
      nameAt = resumeAt;
    } else {
      return false;
    }
  }
  while (pattern[patternAt] === '*') patternAt += 1;
  return patternAt === pattern.length;
}

export function withoutEndSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
