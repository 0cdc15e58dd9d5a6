import { typeText } from '../../values/type-text.js';
import type { HclValue } from '../../values/value.js';

/** The kind of a value in a message, with its article: `a string`, `an object`, `null`. */
export function described(value: HclValue): string {
  return value.kind === 'null' ? 'null' : article(typeText(value));
}

export function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
