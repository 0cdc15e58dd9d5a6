/*
 * Untrusted strings on a terminal: names, messages and values may contain anything, and a terminal executes control
 * characters.
 */

const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** All but line feeds and tabs. */
const controlsInLines = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A string on one line: control and bidirectional characters become escapes such as `\n` and `\u001b`. */
export function inOneLine(text: string): string {
  return text.replace(controls, escaped);
}

/** The same, but keeps line feeds and tabs. */
export function inLines(text: string): string {
  return text.replace(controlsInLines, escaped);
}

/** A value as JSON, indented if `indent` is given. Also escapes control characters that JSON allows. */
export function inJson(value: unknown, indent?: number): string {
  return inLines(JSON.stringify(value, null, indent));
}

function escaped(character: string): string {
  const json = JSON.stringify(character).slice(1, -1);
  return json.length > 1 ? json : `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

/** Characters that occupy two cells: East Asian ones and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
/** Characters that occupy no cell: combining marks and joiners. */
const joined = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u;

/** The number of cells of a string without control characters; for joined emoji possibly more than are drawn. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

function cellsOf(character: string): number {
  if (character < '\u0300') return 1;
  return joined.test(character) ? 0 : wide.test(character) ? 2 : 1;
}

/** A string truncated with `…`. */
export function cutTo(text: string, cells: number): string {
  if (widthOf(text) <= cells) return text;
  let kept = '';
  let left = cells - 1;
  for (const character of text) {
    left -= cellsOf(character);
    if (left < 0) break;
    kept += character;
  }
  return `${kept}…`;
}
