import { madeOnce } from '../../shared/remembered.js';
import { upperCase } from '../../shared/values.js';

/** A word: letters, numbers and marks, with a single apostrophe, dot, colon or comma within. */
const word = madeOnce(() => /[\p{L}\p{M}\p{N}\p{Pc}]+(?:['’.:·․﹒＇．﹕︓][\p{L}\p{M}\p{N}\p{Pc}]+)*/gu);

/** The first letter of each word in title case, the rest unchanged. */
export function titleCase(text: string): string {
  return text.replace(word(), (each) => each.replace(/\p{Cased}/u, title));
}

/** Digraph letters, which have a separate title case. */
const PAIRS = ['ǄǅǆǅǇǈǉǈǊǋǌǋǱǲǳǲ'].flatMap((all) => all.match(/.{4}/gu) ?? []);

function title(letter: string): string {
  const pair = PAIRS.find((forms) => forms.includes(letter));
  if (pair !== undefined) return pair.charAt(1);
  if (/[\u10d0-\u10ff]|\p{Lt}/u.test(letter)) return letter;
  const capital = upperCase(letter);
  // A letter without a single capital begins with the first of several.
  const [first = '', ...rest] = capital === letter ? letter.toUpperCase() : capital;
  return first + (letter === '\u0149' ? rest.join('') : rest.join('').toLowerCase());
}
