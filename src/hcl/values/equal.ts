import { numbersEqual } from './number.js';
import type { HclType, HclValue } from './value.js';
import { typeOf } from './value.js';

/** True when both types are the same, element for element and attribute for attribute. */
export function typesEqual(left: HclType, right: HclType): boolean {
  if (left === right) return true;
  switch (left.kind) {
    case 'string':
    case 'number':
    case 'bool':
    case 'dynamic':
      return left.kind === right.kind;
    case 'list':
    case 'set':
    case 'map':
      return left.kind === right.kind && typesEqual(left.element, right.element);
    case 'tuple':
      return right.kind === 'tuple' && everyPair(left.elements, right.elements, typesEqual);
    case 'object':
      if (right.kind !== 'object' || left.attributes.size !== right.attributes.size) return false;
      for (const [name, type] of left.attributes) {
        const other = right.attributes.get(name);
        if (other === undefined || !typesEqual(type, other)) return false;
      }
      return true;
  }
}

/**
 * The language's `==`: strict about types (`"1"` is not `1`, a tuple is not a list, an object is not a map), and null equals
 * only null, whatever the types of the nulls.
 */
export function valuesEqual(left: HclValue, right: HclValue): boolean {
  if (left.kind === 'null' || right.kind === 'null') return left.kind === right.kind;
  if (left.kind === 'string' && right.kind === 'string') return left.value === right.value;
  if (left.kind === 'number' && right.kind === 'number') return numbersEqual(left.value, right.value);
  if (left.kind === 'bool' && right.kind === 'bool') return left.value === right.value;
  return left === right || (typesEqual(typeOf(left), typeOf(right)) && sameContent(left, right));
}

/** Equality of two values of one type. */
function sameContent(left: HclValue, right: HclValue): boolean {
  if (left === right) return true;
  switch (left.kind) {
    case 'null':
      return right.kind === 'null';
    case 'string':
    case 'bool':
      return right.kind === left.kind && left.value === right.value;
    case 'number':
      return right.kind === 'number' && numbersEqual(left.value, right.value);
    case 'list':
    case 'set':
    case 'tuple':
      return right.kind === left.kind && everyPair(left.items, right.items, sameContent);
    case 'map':
    case 'object':
      if (right.kind !== left.kind || left.entries.size !== right.entries.size) return false;
      for (const [key, item] of left.entries) {
        const other = right.entries.get(key);
        if (other === undefined || !sameContent(item, other)) return false;
      }
      return true;
  }
}

/** Whether there are as many of both, and a test holds for the pairs. */
export function everyPair<T>(left: readonly T[], right: readonly T[], holds: (one: T, other: T) => boolean): boolean {
  return left.length === right.length && left.every((one, at) => holds(one, right[at] as T));
}
