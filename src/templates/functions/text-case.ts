/* Upper, lower and title case as the upstream has them: character by character, whatever stands around it. */

export function upperCase(text: string): string {
  return ONLY_ASCII.test(text) ? text.toUpperCase() : Array.from(text, upper).join('');
}

export function lowerCase(text: string): string {
  return ONLY_ASCII.test(text) ? text.toLowerCase() : Array.from(text, lower).join('');
}

const ONLY_ASCII = /^[\0-\x7f]*$/;

/** A word: letters, numbers and marks, with a single apostrophe, dot, colon or comma within. */
const WORD = /[\p{L}\p{M}\p{N}\p{Pc}]+(?:['’.:·․﹒＇．﹕︓][\p{L}\p{M}\p{N}\p{Pc}]+)*/gu;

/** The first letter of each word in title case, and the rest as it is. */
export function titleCase(text: string): string {
  return text.replace(WORD, (word) => word.replace(/\p{Cased}/u, title));
}

/** A character whose capital is more than one character stays, unless it has another one for titles. */
function upper(character: string): string {
  return single(character.toUpperCase()) ?? withIota(character) ?? character;
}

/** The capital with a small iota beside it; undefined for what has no iota below. */
function withIota(character: string): string | undefined {
  if (/[\u1f80-\u1f87\u1f90-\u1f97\u1fa0-\u1fa7]/.test(character)) return shifted(character, 8);
  return /[\u1fb3\u1fc3\u1ff3]/.test(character) ? shifted(character, 9) : undefined;
}

function shifted(character: string, distance: number): string {
  return String.fromCharCode(character.charCodeAt(0) + distance);
}

function lower(character: string): string {
  return character === '\u0130' ? 'i' : (single(character.toLowerCase()) ?? character);
}

function single(text: string): string | undefined {
  const [first = '', second] = text;
  return second === undefined ? first : undefined;
}

/** Letters that are written as two, and have a form of their own in title case. */
const PAIRS = ['ǄǅǆǅǇǈǉǈǊǋǌǋǱǲǳǲ'].flatMap((all) => all.match(/.{4}/gu) ?? []);

function title(letter: string): string {
  const pair = PAIRS.find((forms) => forms.includes(letter));
  if (pair !== undefined) return pair.charAt(1);
  if (/[\u10d0-\u10ff]|\p{Lt}/u.test(letter)) return letter;
  const [first = '', ...rest] = withIota(letter) ?? letter.toUpperCase();
  return first + (letter === '\u0149' ? rest.join('') : rest.join('').toLowerCase());
}
