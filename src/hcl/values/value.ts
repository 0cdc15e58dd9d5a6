import type { HclNumber } from './big-float.js';
import { numberSize } from './number.js';
import { arrangeSet } from './set-order.js';
import { compareCodePoints, normalizeText } from './unicode.js';
import type {
  HclBool,
  HclList,
  HclMap,
  HclNull,
  HclNumeric,
  HclObject,
  HclSet,
  HclString,
  HclTuple,
  HclType,
  HclValue,
} from './value-shape.js';

export type { HclType, HclValue } from './value-shape.js';

export const stringType: HclType = { kind: 'string' };
export const numberType: HclType = { kind: 'number' };
export const boolType: HclType = { kind: 'bool' };
export const dynamicType: HclType = { kind: 'dynamic' };

export function listOf(element: HclType): HclType {
  return { kind: 'list', element };
}

export function setOf(element: HclType): HclType {
  return { kind: 'set', element };
}

export function mapOf(element: HclType): HclType {
  return { kind: 'map', element };
}

export function tupleOf(elements: readonly HclType[]): HclType {
  return { kind: 'tuple', elements };
}

/** An object type; the attributes may come in any order. */
export function objectOf(attributes: Iterable<readonly [string, HclType]>): HclType {
  return { kind: 'object', attributes: sortedMap(attributes) };
}

/** A string, normalised to NFC as every string of the language is. */
export function stringValue(text: string): HclString {
  return { kind: 'string', value: normalizeText(text) };
}

/** For whole numbers and infinities a plain JavaScript number may be given; fractions come from `number.ts`. */
export function numberValue(value: HclNumber): HclNumeric {
  return { kind: 'number', value };
}

export const trueValue: HclBool = { kind: 'bool', value: true };
export const falseValue: HclBool = { kind: 'bool', value: false };

export function boolValue(value: boolean): HclBool {
  return value ? trueValue : falseValue;
}

/** The bare `null`. */
export const dynamicNull: HclNull = { kind: 'null', type: dynamicType };

export function nullValue(type: HclType): HclNull {
  return type.kind === 'dynamic' ? dynamicNull : { kind: 'null', type };
}

/** A list whose items already have the element type (otherwise see `convert` and `unifyTypes`). */
export function listValue(element: HclType, items: readonly HclValue[]): HclList {
  return { kind: 'list', element, items, ...measureItems(items) };
}

/** A set of items that already have the element type; duplicates are dropped and the rest is sorted. */
export function setValue(element: HclType, items: readonly HclValue[]): HclSet {
  const arranged = arrangeSet(element, items);
  return { kind: 'set', element, items: arranged, ...measureItems(arranged) };
}

/** A map of values that already have the element type; a duplicate key keeps its last value. */
export function mapValue(element: HclType, entries: Iterable<readonly [string, HclValue]>): HclMap {
  const sorted = sortedMap(entries);
  return { kind: 'map', element, entries: sorted, ...measureEntries(sorted) };
}

export function tupleValue(items: readonly HclValue[]): HclTuple {
  return { kind: 'tuple', items, ...measureItems(items) };
}

/** An object; a duplicate attribute keeps its last value. */
export function objectValue(entries: Iterable<readonly [string, HclValue]>): HclObject {
  const sorted = sortedMap(entries);
  return { kind: 'object', entries: sorted, ...measureEntries(sorted) };
}

/** The exact type of a value. The types of tuples and objects are computed on the first call and cached. */
export function typeOf(value: HclValue): HclType {
  switch (value.kind) {
    case 'null':
      return value.type;
    case 'string':
      return stringType;
    case 'number':
      return numberType;
    case 'bool':
      return boolType;
    case 'list':
    case 'set':
    case 'map':
    case 'tuple':
    case 'object': {
      const known = knownTypes.get(value);
      if (known !== undefined) return known;
      const type = collectionType(value);
      knownTypes.set(value, type);
      return type;
    }
  }
}

/**
 * Weight of a value: one for each value in it, and one more for every 64 characters of its strings and keys. It is kept up to date
 * by the constructors, so that a value that repeats shared parts a million times is known to be large before anything traverses it.
 */
export function sizeOf(value: HclValue): number {
  switch (value.kind) {
    case 'null':
    case 'bool':
      return 1;
    case 'string':
      return 1 + (value.value.length >>> 6);
    case 'number':
      return numberSize(value.value);
    case 'list':
    case 'set':
    case 'map':
    case 'tuple':
    case 'object':
      return value.size;
  }
}

/** Levels of collections in a value; 0 for a scalar. Creators of values keep it bounded, so that recursive traversal is safe. */
export function depthOf(value: HclValue): number {
  switch (value.kind) {
    case 'null':
    case 'bool':
    case 'string':
    case 'number':
      return 0;
    case 'list':
    case 'set':
    case 'map':
    case 'tuple':
    case 'object':
      return value.depth;
  }
}

/** The items of a list, set or tuple in order, or undefined for any other value. */
export function itemsOf(value: HclValue): readonly HclValue[] | undefined {
  return value.kind === 'list' || value.kind === 'set' || value.kind === 'tuple' ? value.items : undefined;
}

/** The entries of a map or object in code point order of their keys, or undefined for any other value. */
export function entriesOf(value: HclValue): ReadonlyMap<string, HclValue> | undefined {
  return value.kind === 'map' || value.kind === 'object' ? value.entries : undefined;
}

const knownTypes = new WeakMap<HclValue, HclType>();

function collectionType(value: HclList | HclSet | HclMap | HclTuple | HclObject): HclType {
  switch (value.kind) {
    case 'list':
      return listOf(value.element);
    case 'set':
      return setOf(value.element);
    case 'map':
      return mapOf(value.element);
    case 'tuple':
      return tupleOf(value.items.map(typeOf));
    case 'object': {
      const attributes = new Map<string, HclType>();
      for (const [name, item] of value.entries) attributes.set(name, typeOf(item));
      return { kind: 'object', attributes };
    }
  }
}

function measureItems(items: readonly HclValue[]): { readonly size: number; readonly depth: number } {
  let size = 1;
  let depth = 0;
  for (const item of items) {
    size += sizeOf(item);
    depth = Math.max(depth, depthOf(item));
  }
  return { size, depth: depth + 1 };
}

function measureEntries(entries: ReadonlyMap<string, HclValue>): { readonly size: number; readonly depth: number } {
  let size = 1;
  let depth = 0;
  for (const [key, item] of entries) {
    size += (key.length >>> 6) + sizeOf(item);
    depth = Math.max(depth, depthOf(item));
  }
  return { size, depth: depth + 1 };
}

function sortedMap<Item>(entries: Iterable<readonly [string, Item]>): ReadonlyMap<string, Item> {
  const collected = new Map<string, Item>();
  let previous: string | undefined;
  let inOrder = true;
  for (const [name, item] of entries) {
    const key = normalizeText(name);
    if (previous !== undefined && inOrder && compareCodePoints(previous, key) >= 0) inOrder = false;
    previous = key;
    collected.set(key, item);
  }
  if (inOrder) return collected;
  return new Map([...collected].sort((left, right) => compareCodePoints(left[0], right[0])));
}
