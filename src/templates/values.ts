import { type Decimal, decimalOf, formattedFloat } from '../shared/source-text.js';
import { compareBytes } from '../shared/values.js';

/** An item of a variable: it prints as its value, and has its key and the path of its variable. */
interface VariableItem {
  readonly item: true;
  readonly Key: string;
  readonly Value: string;
  readonly Path: string;
  /** Whether it came from `Tuples`: a pair of key and value, which is not a string. */
  readonly tuple?: true;
}

/** An existing variable, or only its name in listings: it prints as its path. */
interface VariableMetadata {
  readonly metadata: true;
  readonly Path: string;
  readonly Namespace: string;
}

/**
 * A value in a template. Integers are `bigint`, floats `number`; `undefined` is a missing key of a map, and prints
 * as `<no value>`.
 */
export type Value =
  | undefined
  | null
  | boolean
  | bigint
  | number
  | string
  | VariableItem
  | VariableMetadata
  | readonly Value[]
  | ReadonlyMap<string, Value>;

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isMap(value: Value): value is ReadonlyMap<string, Value> {
  return value instanceof Map;
}

/** The string of a string value or of an item of a variable; undefined for everything else. */
export function textOf(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  return isItem(value) && value.tuple === undefined ? value.Value : undefined;
}

export function isItem(value: Value): value is VariableItem {
  return typeof value === 'object' && value !== null && 'item' in value;
}

export function isMetadata(value: Value): value is VariableMetadata {
  return typeof value === 'object' && value !== null && 'metadata' in value;
}

/** False for nil, `false`, zero, and empty values. An item is true even if it is empty. */
export function isTrue(value: Value): boolean {
  if (value === undefined || value === null) return false;
  if (isList(value)) return value.length > 0;
  if (isMap(value)) return value.size > 0;
  return typeof value === 'object' || Boolean(value);
}

/** The name of a value's kind in messages. */
export function kindOf(value: Value): string {
  if (value === undefined || value === null) return 'nothing';
  if (isList(value)) return 'a list';
  if (isMap(value)) return 'a map';
  if (textOf(value) !== undefined) return 'a string';
  if (typeof value === 'bigint') return 'a whole number';
  return typeof value === 'number' ? 'a number' : typeof value === 'boolean' ? 'a truth value' : 'a variable';
}

/** The keys of a map, sorted: maps are printed and iterated in this order. */
export function namesOf(map: ReadonlyMap<string, Value>): readonly string[] {
  return [...map.keys()].sort(compareBytes);
}

/** The value as an action prints it; undefined if longer than `most` characters. */
export function printed(value: Value, most: number): string | undefined {
  const parts: string[] = [];
  let left = most;
  const put = (text: string): boolean => {
    parts.push(text);
    left -= text.length;
    return left >= 0;
  };
  return print(value, put, true) ? parts.join('') : undefined;
}

function print(value: Value, put: (text: string) => boolean, outermost: boolean): boolean {
  if (isList(value)) {
    return put('[') && value.every((item, at) => put(at === 0 ? '' : ' ') && print(item, put, false)) && put(']');
  }
  if (isMap(value)) {
    const names = namesOf(value);
    const member = (name: string, at: number): boolean =>
      put(`${at === 0 ? '' : ' '}${name}:`) && print(value.get(name), put, false);
    return put('map[') && names.every(member) && put(']');
  }
  if (value === undefined || value === null) return put(outermost ? '<no value>' : '<nil>');
  return put(typeof value === 'object' ? ofStore(value) : typeof value === 'number' ? shortest(value) : String(value));
}

function ofStore(value: VariableItem | VariableMetadata): string {
  if ('metadata' in value) return value.Path;
  return value.tuple ? `{${value.Key} ${value.Value}}` : value.Value;
}

/** The shortest digits that round-trip; with an exponent below 1e-4 and from 1e6. */
function shortest(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  return floatText(value, 'g');
}

/**
 * A finite number in the form `e`, `f` or `g` of Nomad's template language. Exact for any precision; in the form `g` without one it has
 * the fewest digits that identify it.
 */
export function floatText(value: number, form: 'e' | 'f' | 'g', precision?: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  const digits = { shortest: () => shortestDecimal(size), exact: () => exactDecimal(size) };
  return sign + formattedFloat(form, precision, digits);
}

function shortestDecimal(size: number): Decimal {
  const [mantissa = '', exponent = ''] = size.toExponential().split('e');
  const digits = mantissa.replace('.', '');
  return decimalOf(BigInt(digits), Number(exponent) + 1 - digits.length);
}

/** All digits of a double: at most about 770. */
function exactDecimal(size: number): Decimal {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, size);
  const raw = bits.getBigUint64(0);
  const biased = Number(raw >> 52n);
  const mantissa = (raw & 0xf_ffff_ffff_ffffn) | (biased === 0 ? 0n : 1n << 52n);
  const power = Math.max(biased, 1) - 1075;
  return power >= 0 ? decimalOf(mantissa << BigInt(power), 0) : decimalOf(mantissa * 5n ** BigInt(-power), power);
}

/** The items of a variable of the store, by name. It also has predefined members, which take precedence over items. */
export class VariableItems extends Map<string, Value> {
  /** A missing item is empty. */
  override get(name: string): Value {
    return super.get(name) ?? NO_ITEM;
  }

  /** `Keys`, `Values` and `Tuples` are lists sorted by name, `ItemsMap` a map of plain strings. */
  own(name: string): Value {
    switch (name) {
      case 'Keys':
        return namesOf(this);
      case 'Values':
        return namesOf(this).map((key) => itemValue(this.get(key)));
      case 'Tuples':
        return namesOf(this).map((key) => tupleOf(this.get(key)));
      case 'ItemsMap':
        return new Map(namesOf(this).map((key) => [key, itemValue(this.get(key))]));
      default:
        return undefined;
    }
  }
}

const NO_ITEM: Value = { item: true, Key: '', Value: '', Path: '' };

function tupleOf(value: Value): Value {
  return isItem(value) ? { ...value, tuple: true } : value;
}

function itemValue(value: Value): Value {
  return isItem(value) ? value.Value : value;
}
