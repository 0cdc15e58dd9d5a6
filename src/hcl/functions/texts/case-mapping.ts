import { lengthens, upperCase } from '../../../shared/values.js';

/** Upper-cases the first letter of every word. Letters, digits and `_` make words, so `-` and the apostrophe end one. */
export function titleCase(text: string): string {
  return text.replace(WORD_START, titleCharacter);
}

/** Units of work for mapping a string; characters outside the fast path cost most. */
export function caseWork(text: string): number {
  return lengthens(text) ? text.length : text.length >>> 4;
}

/** The first character of a word. ASCII punctuation and white space separate words. */
const SEPARATORS = '\\0-/:-@[-^`{-\\x7f\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const WORD_START = new RegExp(`(?<![^${SEPARATORS}])[^${SEPARATORS}]`, 'gu');

/** Upper case, except for the four digraphs that have a separate title case. */
function titleCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 0x1c4 && code <= 0x1cc) return String.fromCharCode(0x1c5 + 3 * Math.floor((code - 0x1c4) / 3));
  if (code >= 0x1f1 && code <= 0x1f3) return '\u01f2';
  if (code >= 0x10d0 && code <= 0x10ff) return character;
  return upperCase(character);
}
