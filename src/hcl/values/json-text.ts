import { numberText } from './number.js';
import type { Meter } from './unicode.js';
import { type HclValue, sizeOf } from './value.js';

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
