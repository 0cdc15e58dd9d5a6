import { numberText } from './number.js';
import type { HclValue } from './value.js';

/**
 * The value as JSON on one line: keys in code point order, numbers in full decimal notation, `<`, `>`, `&` and the two Unicode line
 * separators escaped. Sets are arrays. Infinities, which JSON has not, come out as `+Inf` and `-Inf`; `jsonencode` refuses them.
 */
export function jsonText(value: HclValue): string {
  switch (value.kind) {
    case 'null':
      return 'null';
    case 'string':
      return quotedText(value.value);
    case 'number':
      return numberText(value.value);
    case 'bool':
      return value.value ? 'true' : 'false';
    case 'list':
    case 'set':
    case 'tuple':
      return `[${value.items.map(jsonText).join(',')}]`;
    case 'map':
    case 'object':
      return `{${Array.from(value.entries, ([key, item]) => `${quotedText(key)}:${jsonText(item)}`).join(',')}}`;
  }
}

/** A JSON string literal with the escapes of `jsonText`. */
export function quotedText(text: string): string {
  return JSON.stringify(text).replace(MARKUP, escapeUnit);
}

const MARKUP = /[<>&\u2028\u2029]/g;

function escapeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
