import { ok } from 'neverthrow';
import { wellFormed } from '../../../shared/values.js';
import type { Budget } from '../../evaluate/budget.js';
import { typesEqual } from '../../values/equal.js';
import { parseNumber } from '../../values/number.js';
import { normalizeText } from '../../values/unicode.js';
import {
  boolValue,
  dynamicNull,
  type HclValue,
  numberValue,
  objectValue,
  stringValue,
  tupleValue,
  typeOf,
} from '../../values/value.js';
import { literalWork, normalizationWork } from '../../values/work.js';
import { type CallResult, fail, overBudget } from '../function.js';

/**
 * JSON text as a value: objects become objects, arrays tuples, numbers exact decimals (which the platform's parser would round).
 * A duplicate property keeps its last value; two values of different types are an error.
 */
export function decodeJson(text: string, budget: Budget): CallResult {
  if (!budget.charge((text.length >>> 4) + normalizationWork(text))) return overBudget('jsondecode');
  const reader: Reader = { text, at: 0, budget };
  const value = readValue(reader, 0);
  if (typeof value === 'string') return value === TOO_LARGE ? overBudget('jsondecode') : fail(value);
  skipSpace(reader);
  return reader.at === text.length ? ok(value) : fail(`there is more after the JSON value, at offset ${reader.at}`);
}

interface Reader {
  readonly text: string;
  readonly budget: Budget;
  at: number;
}

/** A value, or an error message. */
type Read = HclValue | string;

const TOO_LARGE = 'too large';

/** Units of work for one value, and for one property in addition to its value. */
const VALUE = 5;
const PROPERTY = 5;

const LITERALS: ReadonlyMap<string, HclValue> = new Map<string, HclValue>([
  ['true', boolValue(true)],
  ['false', boolValue(false)],
  ['null', dynamicNull],
]);

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const LITERAL = /true|false|null/y;

function readValue(reader: Reader, depth: number): Read {
  if (depth > reader.budget.limits.depth || !reader.budget.charge(VALUE)) return TOO_LARGE;
  skipSpace(reader);
  switch (reader.text[reader.at] ?? '') {
    case '{':
      return readObject(reader, depth);
    case '[':
      return readArray(reader, depth);
    case '"': {
      const text = readString(reader);
      return text === undefined ? problem(reader, 'a string that is not valid JSON') : stringValue(text);
    }
    case '':
      return 'the JSON text ends where a value is expected';
    default: {
      const literal = match(reader, LITERAL);
      if (literal !== undefined) return LITERALS.get(literal) ?? dynamicNull;
      const digits = match(reader, NUMBER);
      if (digits !== undefined && !reader.budget.charge(literalWork(digits))) return TOO_LARGE;
      const number = digits === undefined ? undefined : parseNumber(digits);
      return number === undefined ? problem(reader, 'no JSON value') : numberValue(number);
    }
  }
}

function readObject(reader: Reader, depth: number): Read {
  const entries = new Map<string, HclValue>();
  reader.at += 1;
  if (next(reader, '}')) return objectValue(entries);
  do {
    if (!reader.budget.charge(PROPERTY)) return TOO_LARGE;
    skipSpace(reader);
    const name = readString(reader);
    if (name === undefined) return problem(reader, 'no property name');
    if (!next(reader, ':')) return problem(reader, 'no colon after a property name');
    const value = readValue(reader, depth + 1);
    if (typeof value === 'string') return value;
    const key = normalizeText(name);
    const earlier = entries.get(key);
    if (earlier !== undefined && !typesEqual(typeOf(earlier), typeOf(value))) {
      return `the property ${JSON.stringify(key)} comes twice with different types`;
    }
    entries.set(key, value);
  } while (next(reader, ','));
  return next(reader, '}') ? objectValue(entries) : problem(reader, 'no comma or closing brace');
}

function readArray(reader: Reader, depth: number): Read {
  const items: HclValue[] = [];
  reader.at += 1;
  if (next(reader, ']')) return tupleValue(items);
  do {
    const value = readValue(reader, depth + 1);
    if (typeof value === 'string') return value;
    items.push(value);
  } while (next(reader, ','));
  return next(reader, ']') ? tupleValue(items) : problem(reader, 'no comma or closing bracket');
}

function readString(reader: Reader): string | undefined {
  const literal = match(reader, STRING);
  if (literal === undefined) return undefined;
  return wellFormed(String(JSON.parse(literal)));
}

function next(reader: Reader, character: string): boolean {
  skipSpace(reader);
  if (reader.text[reader.at] !== character) return false;
  reader.at += 1;
  return true;
}

function skipSpace(reader: Reader): void {
  match(reader, SPACE);
}

function match(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text)?.[0];
  if (found !== undefined) reader.at += found.length;
  return found;
}

function problem({ text, at }: Reader, what: string): string {
  return at >= text.length ? 'the JSON text ends too early' : `${what} at offset ${at} of the JSON text`;
}
