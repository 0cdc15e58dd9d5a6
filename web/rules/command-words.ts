/**
 * The words of a command line, as a shell would split it without variables, patterns and operators: blanks part words, quotes keep
 * them together, and a backslash keeps the next character. Undefined when a quote is not closed.
 */
export function commandWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  const part = /\s+|'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^\s'"\\]+)|(.)/gsy;
  let word: string | undefined;
  for (const [found, single, double, escaped, plain, open] of line.matchAll(part)) {
    if (open !== undefined) return undefined;
    if (/^\s/.test(found)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + (single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? plain ?? '');
  }
  return word === undefined ? words : [...words, word];
}

/** What a line of input shows and sends while a program that is not in a terminal reads it. */
interface LineInput {
  /** Not sent yet. */
  readonly line: string;
  readonly shown: string;
  readonly sent: string;
  /** The input of the program ends. */
  readonly ends: boolean;
}

/** The line after typed keys: Enter sends it, Backspace takes a character back, Ctrl D sends what there is or ends the input. */
export function withKeys(before: string, keys: string): LineInput {
  let line = before;
  let shown = '';
  let sent = '';
  let ends = false;
  // Arrows and function keys mean nothing there.
  for (const key of keys.replaceAll(/\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])/g, '')) {
    if (key === '\r' || key === '\n') {
      sent += `${line}\n`;
      shown += '\r\n';
      line = '';
    } else if (key === '\u007f' || key === '\b') {
      if (line !== '') shown += '\b \b';
      line = [...line].slice(0, -1).join('');
    } else if (key === '\u0004') {
      if (line === '') ends = true;
      sent += line;
      line = '';
    } else if (key >= ' ' || key === '\t') {
      line += key;
      shown += key;
    }
  }
  return { line, shown, sent, ends };
}
