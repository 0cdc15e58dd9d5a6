import type { HclType, HclValue } from './value.js';
import { typeOf } from './value.js';

/** The short name of a type, or of a value's type, for messages: `list of string`, `tuple`, `object`; `dynamic` for null. */
export function typeText(valueOrType: HclValue | HclType): string {
  const type = isValue(valueOrType) ? typeOf(valueOrType) : valueOrType;
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'bool':
    case 'dynamic':
    case 'tuple':
    case 'object':
      return type.kind;
    case 'list':
    case 'set':
    case 'map':
      return `${type.kind} of ${typeText(type.element)}`;
  }
}

function isValue(candidate: HclValue | HclType): candidate is HclValue {
  return 'value' in candidate || 'items' in candidate || 'entries' in candidate || candidate.kind === 'null';
}

export function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
