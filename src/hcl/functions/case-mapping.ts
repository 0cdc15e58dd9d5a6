/**
 * Case mapping character by character, one to one: `ß` stays `ß` and a final sigma is an ordinary one. JavaScript's own mapping
 * may lengthen texts and look at neighbours.
 */
export function upperCase(text: string): string {
  return ASCII.test(text) ? text.toUpperCase() : mapCharacters(text, upperCharacter);
}

export function lowerCase(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : mapCharacters(text, lowerCharacter);
}

/** Upper-cases the first letter of every word. Letters, digits and `_` make words, so `-` and the apostrophe end one. */
export function titleCase(text: string): string {
  let result = '';
  let inWord = false;
  for (const character of text) {
    result += inWord ? character : titleCharacter(character);
    inWord = !isSeparator(character);
  }
  return result;
}

const ASCII = /^[\0-\x7f]*$/;

function mapCharacters(text: string, map: (character: string) => string): string {
  let result = '';
  for (const character of text) result += map(character);
  return result;
}

function upperCharacter(character: string): string {
  const upper = character.toUpperCase();
  if (upper.length === character.length) return upper;
  return iotaCapital(character.charCodeAt(0)) ?? character;
}

function lowerCharacter(character: string): string {
  // The one character whose lower case is two: I with a dot above.
  return character === '\u0130' ? 'i' : character.toLowerCase();
}

/** Like upper case, but for the four digraphs that have a form of their own in titles. */
function titleCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 0x1c4 && code <= 0x1cc) return String.fromCharCode(0x1c5 + 3 * Math.floor((code - 0x1c4) / 3));
  if (code >= 0x1f1 && code <= 0x1f3) return '\u01f2';
  if (code >= 0x10d0 && code <= 0x10ff) return character;
  return upperCharacter(character);
}

/** Greek small letters with an iota below: one capital character each, though JavaScript writes the iota out. */
function iotaCapital(code: number): string | undefined {
  const inBlock = code >= 0x1f80 && code <= 0x1faf && (code & 8) === 0;
  if (inBlock) return String.fromCharCode(code + 8);
  return code === 0x1fb3 || code === 0x1fc3 || code === 0x1ff3 ? String.fromCharCode(code + 9) : undefined;
}

function isSeparator(character: string): boolean {
  return ASCII.test(character) ? !/[A-Za-z0-9_]/.test(character) : /^[\s\u0085]$/.test(character);
}
