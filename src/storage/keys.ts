import type { Key, KeyPart } from '../shared/table.js';

/*
 * Storage adapters store keys as strings. The encoding is chosen so that plain string order, by code point, is the order that the
 * table contract requires of tuples, and so that the start of a tuple is the start of its encoding. Then one sorted column
 * (UTF-8 bytes compare like code points) answers point reads, prefixes and ranges alike.
 *
 *   part    = 'a' (null) | 'b' (false) | 'c' (true) | 'n' digits | 's' characters ' '
 *   digits  = the 64 bits of a double, made unsigned-comparable, as 11 digits of an ascending 64-letter alphabet
 *
 * Within a string, the end mark (a blank) and all lower characters are written as '!' and a letter, so that a string sorts
 * before its extensions; lone surrogates, which UTF-8 cannot carry, are written after U+D7FF, where they belong in order.
 * The encoding is never decoded: a record computes its keys, but keys never yield a record.
 */

/** The smallest string that is greater than every encoded key. */
export const PAST_ALL_KEYS = 't';
const DIGITS = Array.from('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', (c) => c.charCodeAt(0));
const NEEDS_ESCAPE = /[\u0000-\u0021\ud7ff-\udfff]/;

const bits = new DataView(new ArrayBuffer(8));

/** An encoded key range: `lower` is included, `upper` is not. */
export interface KeyBounds {
  readonly lower: string;
  readonly upper: string;
}

/** The part of a list query that selects keys; see `ListQuery` of the storage port. */
interface KeyRange {
  readonly prefix?: Key;
  readonly textPrefix?: string;
  readonly from?: Key;
  readonly to?: Key;
}

/**
 * The order-preserving encoding of a key: well-formed Unicode without control characters. `undefined` for invalid keys:
 * NaN, the infinities, and values of other types. Minus zero is zero, as in JSON.
 */
export function encodeKey(key: Key): string | undefined {
  let text = '';
  for (let i = 0; i < key.length; i++) {
    const part = encodePart(key[i] as KeyPart);
    if (part === undefined) return undefined;
    text += part;
  }
  return text;
}

/** The position of a row in an index: by index key, then by primary key. A shorter index key sorts before its extensions. */
export function encodeEntry(indexKey: string, primaryKey: string): string {
  return `${indexKey} ${primaryKey}`;
}

/** The bounds of a list query, for encoded primary keys and index entries alike; `undefined` for an invalid key. */
export function keyBounds(range: KeyRange): KeyBounds | undefined {
  const bounds = prefixBounds(range);
  if (bounds === undefined) return undefined;
  const from = range.from === undefined ? '' : encodeKey(range.from);
  const to = range.to === undefined ? PAST_ALL_KEYS : encodeKey(range.to);
  if (from === undefined || to === undefined) return undefined;
  return {
    lower: isBefore(bounds.lower, from) ? from : bounds.lower,
    upper: isBefore(to, bounds.upper) ? to : bounds.upper,
  };
}

function prefixBounds({ prefix: key, textPrefix }: KeyRange): KeyBounds | undefined {
  const prefix = encodeKey(key ?? []);
  if (prefix === undefined) return undefined;
  const lower = textPrefix === undefined ? prefix : `${prefix}s${encodeText(textPrefix)}`;
  return { lower, upper: lower === '' ? PAST_ALL_KEYS : afterPrefix(lower) };
}

/**
 * Makes an encoded key comparable with `<`, which compares UTF-16 units: there an emoji sorts before U+FFFF. Most keys
 * are returned unchanged.
 */
export function unitOrdered(encoded: string): string {
  return /[\ud800-\uffff]/.test(encoded) ? encoded.replace(/[\ud800-\uffff]/g, rotateUnit) : encoded;
}

function rotateUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  return String.fromCharCode(code >= 0xe000 ? code - 0x800 : code + 0x2000);
}

function isBefore(a: string, b: string): boolean {
  return unitOrdered(a) < unitOrdered(b);
}

function encodePart(part: KeyPart): string | undefined {
  if (typeof part === 'string') return `s${encodeText(part)} `;
  if (typeof part === 'number') return Number.isFinite(part) ? encodeNumber(part) : undefined;
  if (part === null) return 'a';
  if (part === false) return 'b';
  if (part === true) return 'c';
  return undefined;
}

function encodeText(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return text;
  let escaped = '';
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code <= 0x21) escaped += `!${String.fromCharCode(0x30 + code)}`;
    else if (code === 0xd7ff) escaped += '\ud7ff0';
    else if (code >= 0xd800 && code <= 0xdfff) escaped += `\ud7ff1${(code - 0xd800).toString(16).padStart(3, '0')}`;
    else escaped += character;
  }
  return escaped;
}

function encodeNumber(value: number): string {
  bits.setFloat64(0, value === 0 ? 0 : value);
  let high = bits.getUint32(0);
  let low = bits.getUint32(4);
  // Doubles sort like their bits when positive, and in reverse when negative.
  if (high >>> 31 === 1) {
    high = ~high >>> 0;
    low = ~low >>> 0;
  } else {
    high = (high | 0x80000000) >>> 0;
  }
  return String.fromCharCode(
    0x6e,
    digit(high >>> 28),
    digit(high >>> 22),
    digit(high >>> 16),
    digit(high >>> 10),
    digit(high >>> 4),
    digit((high << 2) | (low >>> 30)),
    digit(low >>> 24),
    digit(low >>> 18),
    digit(low >>> 12),
    digit(low >>> 6),
    digit(low),
  );
}

function digit(value: number): number {
  return DIGITS[value & 63] as number;
}

/** The smallest string greater than every string that begins with `prefix` (which is not empty and not all U+10FFFF). */
function afterPrefix(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1);
  if (last < 0xd7ff) return prefix.slice(0, -1) + String.fromCharCode(last + 1);
  const characters = Array.from(prefix);
  while (characters.length > 0) {
    const code = (characters.pop() as string).codePointAt(0) as number;
    if (code < 0x10ffff) return characters.join('') + String.fromCodePoint(code === 0xd7ff ? 0xe000 : code + 1);
  }
  return PAST_ALL_KEYS;
}
