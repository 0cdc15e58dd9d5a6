import { madeOnce } from '../../shared/remembered.js';
import { upperCase } from '../../shared/text-values.js';

/** A word: letters, numbers and marks, with a single apostrophe, dot, colon or comma within. */
const word = madeOnce(() => /[\p{L}\p{M}\p{N}\p{Pc}]+(?:['’.:·․﹒＇．﹕︓][\p{L}\p{M}\p{N}\p{Pc}]+)*/gu);

/** The first letter of each word in title case, and the rest as it is. */
export function titleCase(text: string): string {
  return text.replace(word(), (each) => each.replace(/\p{Cased}/u, title));
}

/** Letters that are written as two, and have a separate form in title case. */
const PAIRS = ['ǄǅǆǅǇǈǉǈǊǋǌǋǱǲǳǲ'].flatMap((all) => all.match(/.{4}/gu) ?? []);

function title(letter: string): string {
  const pair = PAIRS.find((forms) => forms.includes(letter));
  if (pair !== undefined) return pair.charAt(1);
  if (/[\u10d0-\u10ff]|\p{Lt}/u.test(letter)) return letter;
  const capital = upperCase(letter);
  // What has no single capital begins with the first one of several.
  const [first = '', ...rest] = capital === letter ? letter.toUpperCase() : capital;
  return first + (letter === '\u0149' ? rest.join('') : rest.join('').toLowerCase());
}
