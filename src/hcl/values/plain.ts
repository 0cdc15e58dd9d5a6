import { err, ok, type Result } from 'neverthrow';
import { isInfinite, numberText, parseNumber, toDouble } from './number.js';
import type { Meter } from './unicode.js';
import {
  boolValue,
  dynamicNull,
  type HclValue,
  numberValue,
  objectValue,
  sizeOf,
  stringValue,
  tupleValue,
} from './value.js';

/**
 * The value as JSON on one line: keys in code point order, numbers in full decimal notation, `<`, `>`, `&` and the two Unicode line
 * separators escaped. Sets are arrays. Infinities, which JSON lacks, are written as `+Inf` and `-Inf`; `jsonencode` rejects them.
 */
export function jsonText(value: HclValue): string {
  return meteredJsonText(value, { charge: () => true }) ?? '';
}

/** The same; undefined if the budget is spent. */
export function meteredJsonText(value: HclValue, meter: Meter): string | undefined {
  const writer: Writer = { meter, stopped: false };
  const text = written(writer, value);
  return writer.stopped ? undefined : text;
}

interface Writer {
  readonly meter: Meter;
  /** Set when the budget is spent: nothing more is written. */
  stopped: boolean;
}

/** Units of work for a value, in addition to its characters. */
const VALUE = 2;

function written(writer: Writer, value: HclValue): string {
  if (writer.stopped || !pays(writer, VALUE)) return '';
  switch (value.kind) {
    case 'null':
      return 'null';
    case 'string':
      return quoted(writer, value.value);
    case 'number':
      return pays(writer, 2 * sizeOf(value)) ? numberText(value.value) : '';
    case 'bool':
      return value.value ? 'true' : 'false';
    case 'list':
    case 'set':
    case 'tuple':
      return `[${value.items.map((item) => written(writer, item)).join(',')}]`;
    case 'map':
    case 'object': {
      const members = Array.from(value.entries, ([key, item]) => `${quoted(writer, key)}:${written(writer, item)}`);
      return `{${members.join(',')}}`;
    }
  }
}

function quoted(writer: Writer, text: string): string {
  return pays(writer, quotingWork(text)) ? quotedText(text) : '';
}

function pays(writer: Writer, work: number): boolean {
  writer.stopped ||= !writer.meter.charge(work);
  return !writer.stopped;
}

/** Units of work for quoting a string; escapes beyond JSON's own rules cost most. */
export function quotingWork(text: string): number {
  return 1 + (MARKUP.test(text) ? text.length >>> 1 : text.length >>> 4);
}

/** A JSON string literal with the escapes of `jsonText`. */
export function quotedText(text: string): string {
  const literal = JSON.stringify(text);
  if (!MARKUP.test(literal)) return literal;
  // Splitting and joining takes a third of the time of a replacement.
  return ESCAPES.reduce((escaped, [character, written]) => escaped.split(character).join(written), literal);
}

const MARKUP = /[<>&\u2028\u2029]/;

const ESCAPES: readonly (readonly [string, string])[] = [
  ['<', '\\u003c'],
  ['>', '\\u003e'],
  ['&', '\\u0026'],
  ['\u2028', '\\u2028'],
  ['\u2029', '\\u2029'],
];

/** JSON data, as `JSON.parse` returns it. */
export type PlainData = string | number | boolean | null | readonly PlainData[] | { readonly [key: string]: PlainData };

/** Why a value has no counterpart in the other representation. */
export type PlainError =
  /** JSON has no infinities. */
  | { readonly type: 'infinite_number' }
  /** Not JSON data: a function, a `Date`, an `undefined` inside an array, NaN. */
  | { readonly type: 'not_plain_data'; readonly found: string }
  | { readonly type: 'too_deep'; readonly limit: number };

/**
 * The value as JSON data. Numbers become the nearest double: `0.1` is `0.1`, but whole numbers beyond 2^53 lose their last digits
 * and `1/3` its tail; `valueText` gives exact numbers. Keys keep code point order, except that JavaScript puts
 * keys that look like array indexes first.
 */
export function toPlain(value: HclValue): Result<PlainData, PlainError> {
  switch (value.kind) {
    case 'null':
      return ok(null);
    case 'string':
    case 'bool':
      return ok(value.value);
    case 'number':
      return isInfinite(value.value) ? err({ type: 'infinite_number' }) : ok(toDouble(value.value));
    case 'list':
    case 'set':
    case 'tuple': {
      const items: PlainData[] = [];
      for (const item of value.items) {
        const plain = toPlain(item);
        if (plain.isErr()) return plain;
        items.push(plain.value);
      }
      return ok(items);
    }
    case 'map':
    case 'object': {
      const entries: [string, PlainData][] = [];
      for (const [key, item] of value.entries) {
        const plain = toPlain(item);
        if (plain.isErr()) return plain;
        entries.push([key, plain.value]);
      }
      return ok(Object.fromEntries(entries));
    }
  }
}

/**
 * JSON data as a value: arrays become tuples, objects objects, numbers the decimal that they print as (`0.1` is exactly `0.1`).
 * Properties that are `undefined` are left out.
 */
export function fromPlain(data: unknown, depthLimit = 200): Result<HclValue, PlainError> {
  return valueFrom(data, depthLimit, depthLimit);
}

function valueFrom(data: unknown, left: number, limit: number): Result<HclValue, PlainError> {
  if (data === null) return ok(dynamicNull);
  if (typeof data === 'string') return ok(stringValue(data));
  if (typeof data === 'boolean') return ok(boolValue(data));
  if (typeof data === 'number') return numberFrom(data);
  if (typeof data !== 'object') return err({ type: 'not_plain_data', found: typeof data });
  if (left === 0) return err({ type: 'too_deep', limit });
  return Array.isArray(data) ? tupleFrom(data, left - 1, limit) : objectFrom(data, left - 1, limit);
}

function numberFrom(data: number): Result<HclValue, PlainError> {
  const number = Number.isSafeInteger(data) ? data : Number.isFinite(data) ? parseNumber(String(data)) : undefined;
  return number === undefined ? err({ type: 'not_plain_data', found: String(data) }) : ok(numberValue(number));
}

function tupleFrom(data: readonly unknown[], left: number, limit: number): Result<HclValue, PlainError> {
  const items: HclValue[] = [];
  for (const item of data) {
    const value = valueFrom(item, left, limit);
    if (value.isErr()) return value;
    items.push(value.value);
  }
  return ok(tupleValue(items));
}

function objectFrom(data: object, left: number, limit: number): Result<HclValue, PlainError> {
  const prototype: unknown = Object.getPrototypeOf(data);
  if (prototype !== Object.prototype && prototype !== null)
    return err({ type: 'not_plain_data', found: 'an instance' });
  const entries: [string, HclValue][] = [];
  for (const [key, item] of Object.entries(data)) {
    if (item === undefined) continue;
    const value = valueFrom(item, left, limit);
    if (value.isErr()) return value;
    entries.push([key, value.value]);
  }
  return ok(objectValue(entries));
}
