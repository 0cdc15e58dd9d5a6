import { compareBytes } from '../shared/text-values.js';

/** A value of the store: it prints as its text, and tells its name and the path of its variable. */
export interface VariableItem {
  readonly item: true;
  readonly Key: string;
  readonly Value: string;
  readonly Path: string;
}

/** An existing variable, or its name only where names are listed: it prints as its path. */
export interface VariableMetadata {
  readonly metadata: true;
  readonly Path: string;
  readonly Namespace: string;
}

/**
 * What templates work with. Whole numbers are `bigint`, others `number`; `undefined` is a member that a map does not have, and prints
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

/** The text of a text; undefined for everything else. Items of variables are texts. */
export function textOf(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  return isItem(value) ? value.Value : undefined;
}

export function isItem(value: Value): value is VariableItem {
  return typeof value === 'object' && value !== null && 'item' in value;
}

export function isMetadata(value: Value): value is VariableMetadata {
  return typeof value === 'object' && value !== null && 'metadata' in value;
}

/** False for nothing, `false`, zero, and what is empty. */
export function isTrue(value: Value): boolean {
  if (value === undefined || value === null) return false;
  if (isList(value)) return value.length > 0;
  if (isMap(value)) return value.size > 0;
  if (isItem(value)) return value.Value !== '';
  return typeof value === 'object' || Boolean(value);
}

/** The kind of a value as messages name it. */
export function kindOf(value: Value): string {
  if (value === undefined || value === null) return 'nothing';
  if (isList(value)) return 'a list';
  if (isMap(value)) return 'a map';
  if (textOf(value) !== undefined) return 'a text';
  if (typeof value === 'bigint') return 'a whole number';
  return typeof value === 'number' ? 'a number' : typeof value === 'boolean' ? 'a truth value' : 'a variable';
}

/** The names of a map in order: that is how maps are printed and walked. */
export function namesOf(map: ReadonlyMap<string, Value>): readonly string[] {
  return [...map.keys()].sort(compareBytes);
}

/** The value as an action prints it. Undefined when that is longer than `most`. */
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

type Put = (text: string) => boolean;

function print(value: Value, put: Put, outermost: boolean): boolean {
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
  if (isMetadata(value)) return put(value.Path);
  return put(textOf(value) ?? numberText(value));
}

function numberText(value: Value): string {
  return typeof value === 'number' ? shortest(value) : String(value);
}

/** The shortest digits that give the number again; with an exponent below 1e-4 and from 1e21 on. */
export function shortest(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e21)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return String(value);
}
