import type { HclNumber } from './big-float.js';
import { compareNumbers, numberText } from './number.js';
import { compareCodePoints } from './unicode.js';
import type { HclType, HclValue } from './value-shape.js';

/**
 * Items of a set without duplicates, in the iteration order of sets: strings by code point, numbers ascending, false before
 * true, nulls last; everything else by a string that is equal for equal values.
 */
export function arrangeSet(element: HclType, items: readonly HclValue[]): readonly HclValue[] {
  if (items.length < 2) return items;
  const compare = comparison(element);
  const sorted = [...items].sort(compare);
  return sorted.filter((item, at) => at === 0 || compare(sorted[at - 1] as HclValue, item) !== 0);
}

function comparison(element: HclType): (left: HclValue, right: HclValue) => number {
  if (element.kind === 'string' || element.kind === 'number' || element.kind === 'bool') return compareScalars;
  const keys = new Map<HclValue, string>();
  const keyOf = (value: HclValue): string => {
    let key = keys.get(value);
    if (key === undefined) {
      key = valueKey(value);
      keys.set(value, key);
    }
    return key;
  };
  return (left, right) => nullsLast(left, right) ?? compareCodePoints(keyOf(left), keyOf(right));
}

function compareScalars(left: HclValue, right: HclValue): number {
  const nulls = nullsLast(left, right);
  if (nulls !== undefined) return nulls;
  if (left.kind === 'string' && right.kind === 'string') return compareCodePoints(left.value, right.value);
  if (left.kind === 'number' && right.kind === 'number') return compareNumbers(left.value, right.value);
  if (left.kind === 'bool' && right.kind === 'bool') return Number(left.value) - Number(right.value);
  return 0;
}

function nullsLast(left: HclValue, right: HclValue): number | undefined {
  if (left.kind !== 'null' && right.kind !== 'null') return undefined;
  return Number(left.kind === 'null') - Number(right.kind === 'null');
}

/**
 * A string that is equal for equal values of one type and different for different ones: strings are quoted, every part is closed.
 * Numbers are distinguished by all their bits, even if their shortest strings are the same.
 */
export function valueKey(value: HclValue): string {
  switch (value.kind) {
    case 'null':
      return '~';
    case 'string':
      return JSON.stringify(value.value);
    case 'number':
      return numberKey(value.value);
    case 'bool':
      return value.value ? 'T' : 'F';
    case 'list':
    case 'set':
      return `[${value.items.map((item) => `${valueKey(item)};`).join('')}]`;
    case 'tuple':
      return `<${value.items.map((item) => `${valueKey(item)};`).join('')}>`;
    case 'map':
      return `{${[...value.entries].map(([key, item]) => `${JSON.stringify(key)}:${valueKey(item)};`).join('')}}`;
    case 'object':
      return `<${[...value.entries.values()].map((item) => `${valueKey(item)};`).join('')}>`;
  }
}

/** Precision is not part of a number's value, but it determines how many digits its decimal form needs. */
function numberKey(value: HclNumber): string {
  if (typeof value === 'number') return numberText(value + 0);
  return numberText(value.exponent >= 0 ? value : { ...value, precision: 512 });
}
