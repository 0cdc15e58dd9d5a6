/**
 * Simple (one-to-one) case mapping: `ß` stays `ß`, and a final sigma is mapped like any other. JavaScript's own mapping
 * may lengthen texts and depends on neighbouring characters.
 */
export function upperCase(text: string): string {
  if (!LENGTHENED.test(text)) return text.toUpperCase();
  return text.replace(RUNS, (run) => (LENGTHENED.test(run) ? run.replace(WITH_IOTA, iotaCapital) : run.toUpperCase()));
}

export function lowerCase(text: string): string {
  // The only character whose lower case has two characters, and the only one whose lower case depends on its neighbours.
  return text.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3').toLowerCase();
}

/** Upper-cases the first letter of every word. Letters, digits and `_` make words, so `-` and the apostrophe end one. */
export function titleCase(text: string): string {
  return text.replace(WORD_START, titleCharacter);
}

/** Units of work for mapping a text; characters outside the fast path cost most. */
export function caseWork(text: string): number {
  return LENGTHENED.test(text) ? text.length : text.length >>> 4;
}

/** The first character of a word. ASCII punctuation and white space separate words. */
const SEPARATORS = '\\0-/:-@[-^`{-\\x7f\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const WORD_START = new RegExp(`(?<![^${SEPARATORS}])[^${SEPARATORS}]`, 'gu');

/** The characters whose upper case is longer in JavaScript. */
const LENGTHENED =
  /[\u00df\u0149\u01f0\u0390\u03b0\u0587\u1e96-\u1e9a\u1f50\u1f52\u1f54\u1f56\u1f80-\u1faf\u1fb2-\u1fb4\u1fb6\u1fb7\u1fbc\u1fc2-\u1fc4\u1fc6\u1fc7\u1fcc\u1fd2\u1fd3\u1fd6\u1fd7\u1fe2-\u1fe4\u1fe6\u1fe7\u1ff2-\u1ff4\u1ff6\u1ff7\u1ffc\ufb00-\ufb06\ufb13-\ufb17]/;
const RUNS = new RegExp(`${LENGTHENED.source}+|${LENGTHENED.source.replace('[', '[^')}+`, 'g');

/** Greek small letters with an iota subscript: one capital letter each, although JavaScript writes the iota out. */
const WITH_IOTA = /[\u1f80-\u1f87\u1f90-\u1f97\u1fa0-\u1fa7\u1fb3\u1fc3\u1ff3]/g;

function iotaCapital(character: string): string {
  const code = character.charCodeAt(0);
  return String.fromCharCode(code < 0x1fb0 ? code + 8 : code + 9);
}

/** Upper case, except for the four digraphs that have a separate title case. */
function titleCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 0x1c4 && code <= 0x1cc) return String.fromCharCode(0x1c5 + 3 * Math.floor((code - 0x1c4) / 3));
  if (code >= 0x1f1 && code <= 0x1f3) return '\u01f2';
  if (code >= 0x10d0 && code <= 0x10ff) return character;
  return upperCase(character);
}
