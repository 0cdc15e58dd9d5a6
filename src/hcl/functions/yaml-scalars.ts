/** Where reading stands. The first problem found is kept, and every reader then gives undefined. */
export interface YamlReader {
  readonly text: string;
  at: number;
  problem: string | undefined;
}

export function report(reader: YamlReader, what: string): undefined {
  if (reader.problem === undefined) {
    const line = reader.text.slice(0, reader.at).split('\n').length;
    reader.problem = `${what} on line ${line} of the YAML text`;
  }
  return undefined;
}

/** Columns count from 0. */
export function columnOf({ text, at }: YamlReader): number {
  return at - (text.lastIndexOf('\n', at - 1) + 1);
}

/** Skips blanks, and comments that follow a blank or start a line; with `lines` also line breaks. */
export function skipBlank(reader: YamlReader, lines: boolean): void {
  const { text } = reader;
  for (;;) {
    while (text[reader.at] === ' ' || text[reader.at] === '\t') reader.at += 1;
    const before = text[reader.at - 1];
    if (text[reader.at] === '#' && (before === undefined || /\s/.test(before))) {
      while (reader.at < text.length && text[reader.at] !== '\n') reader.at += 1;
    }
    if (!lines || text[reader.at] !== '\n') return;
    reader.at += 1;
  }
}

/** True at a `---` or `...` that stands for itself at the start of a line. */
export function atDocumentMarker({ text, at }: YamlReader): boolean {
  if (at !== 0 && text[at - 1] !== '\n') return false;
  const mark = text.slice(at, at + 3);
  return (mark === '---' || mark === '...') && isBlank(text[at + 3]);
}

export function isBlank(character: string | undefined): boolean {
  return character === undefined || character === ' ' || character === '\t' || character === '\n';
}

/**
 * Unquoted text. Further lines belong to it when they are indented more than `indent`; line breaks in between become a space, empty
 * lines a line break each.
 */
export function readPlain(reader: YamlReader, indent: number, inFlow: boolean, oneLine: boolean): string {
  let value = plainLine(reader, inFlow);
  while (!oneLine) {
    const start = reader.at;
    skipSpaces(reader);
    if (reader.text[reader.at] !== '\n') break;
    let breaks = 0;
    while (reader.text[reader.at] === '\n') {
      breaks += 1;
      reader.at += 1;
      skipSpaces(reader);
    }
    const onOwnLine = columnOf(reader);
    const next = reader.text[reader.at];
    const goesOn =
      next !== undefined && next !== '#' && onOwnLine > indent && !(onOwnLine === 0 && atDocumentMarker(reader));
    const more = goesOn ? plainLine(reader, inFlow) : '';
    if (more === '') {
      reader.at = start;
      break;
    }
    value += (breaks === 1 ? ' ' : '\n'.repeat(breaks - 1)) + more;
  }
  return value;
}

/** Single quotes: a quote is doubled. Double quotes: escapes. Both fold their lines. */
export function readQuoted(reader: YamlReader, indent: number): string | undefined {
  const quote = reader.text[reader.at];
  let value = '';
  // Blanks before a line break are dropped, unless an escape made them.
  let blanks = '';
  reader.at += 1;
  for (;;) {
    const character = reader.text[reader.at];
    if (character === undefined) return report(reader, 'a quoted string without its closing quote');
    if (character === quote) {
      reader.at += 1;
      if (quote !== "'" || reader.text[reader.at] !== "'") return value + blanks;
      value += `${blanks}'`;
      blanks = '';
      reader.at += 1;
    } else if (character === '\n') {
      value += foldedBreaks(reader);
      blanks = '';
      if (atDocumentMarker(reader)) return report(reader, 'a document marker inside a quoted string');
      if (columnOf(reader) <= indent && reader.at < reader.text.length) {
        return report(reader, 'a line of a quoted string that is not indented enough');
      }
    } else if (character === '\\' && quote === '"') {
      const escaped = readEscape(reader);
      if (escaped === undefined) return undefined;
      value += blanks + escaped;
      blanks = '';
    } else {
      if (character === ' ' || character === '\t') blanks += character;
      else {
        value += blanks + character;
        blanks = '';
      }
      reader.at += 1;
    }
  }
}

/** A `|` or `>` block with its header; `indent` is that of the node it hangs on. */
export function readBlockScalar(reader: YamlReader, indent: number): string | undefined {
  const header = /[|>](?:([1-9])([+-])?|([+-])([1-9])?)?(?:[ \t]+(?:#[^\n]*)?)?(?=\n|$)/y;
  header.lastIndex = reader.at;
  const match = header.exec(reader.text);
  if (match === null) return report(reader, 'a block string with a header that is not valid');
  const folded = match[0].startsWith('>');
  const chomp = match[2] ?? match[3];
  const given = match[1] ?? match[4];
  reader.at += match[0].length + 1;
  const margin = given === undefined ? detectMargin(reader, indent) : Math.max(indent, 0) + Number(given);
  const lines: string[] = [];
  while (reader.at < reader.text.length && !atDocumentMarker(reader)) {
    const end = lineEnd(reader);
    const line = reader.text.slice(reader.at, end);
    const spaces = line.length - line.replace(/^ +/, '').length;
    if (spaces < margin && spaces < line.length) break;
    lines.push(line.slice(margin));
    reader.at = end + 1;
  }
  const openEnd = reader.at > reader.text.length;
  reader.at = Math.min(reader.at, reader.text.length);
  let kept = lines.length;
  while (kept > 0 && lines[kept - 1] === '') kept -= 1;
  const body = lines.slice(0, kept);
  const text = folded ? foldLines(body) : body.join('\n');
  // The last line of the text may end without a line break; then the value does too.
  if (chomp === '-' || (kept === 0 && chomp !== '+') || (openEnd && kept === lines.length)) return text;
  return text + (chomp === '+' ? '\n'.repeat(lines.length - kept + (kept > 0 ? 1 : 0)) : '\n');
}

function lineEnd({ text, at }: YamlReader): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** The indentation of the first line with text, but more than the parent's. */
function detectMargin(reader: YamlReader, indent: number): number {
  const rest = /(?:[ ]*\n)*([ ]*)/y;
  rest.lastIndex = reader.at;
  return Math.max(rest.exec(reader.text)?.[1]?.length ?? 0, indent + 1);
}

/** Lines next to each other become one; empty lines are line breaks; lines that start with a blank keep theirs. */
function foldLines(lines: readonly string[]): string {
  let text = '';
  let breaks = 0;
  let previous: string | undefined;
  for (const line of lines) {
    if (line === '') {
      breaks += 1;
      continue;
    }
    if (previous === undefined) text += '\n'.repeat(breaks);
    else if (/^[ \t]/.test(previous) || /^[ \t]/.test(line)) text += '\n'.repeat(breaks + 1);
    else text += breaks === 0 ? ' ' : '\n'.repeat(breaks);
    text += line;
    breaks = 0;
    previous = line;
  }
  return text;
}

function plainLine(reader: YamlReader, inFlow: boolean): string {
  const { text } = reader;
  const start = reader.at;
  let end = start;
  for (let at = start; at < text.length && text[at] !== '\n'; at += 1) {
    const character = text[at] as string;
    const after = text[at + 1];
    if (character === ':' && (isBlank(after) || (inFlow && /[,[\]{}]/.test(after ?? '')))) break;
    if (character === '#' && at > start && isBlank(text[at - 1])) break;
    if (inFlow && /[,[\]{}]/.test(character)) break;
    if (character !== ' ' && character !== '\t') end = at + 1;
  }
  reader.at = end;
  return text.slice(start, end);
}

function skipSpaces(reader: YamlReader): void {
  while (reader.text[reader.at] === ' ' || reader.text[reader.at] === '\t') reader.at += 1;
}

/** At a line break: skips it and following empty lines; one break is a space, each further one a line break. */
function foldedBreaks(reader: YamlReader): string {
  let breaks = 0;
  while (reader.text[reader.at] === '\n') {
    breaks += 1;
    reader.at += 1;
    skipSpaces(reader);
  }
  return breaks === 1 ? ' ' : '\n'.repeat(breaks - 1);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ['/', '/'],
  ['\\', '\\'],
  ['N', '\u0085'],
  ['_', '\u00a0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);

function readEscape(reader: YamlReader): string | undefined {
  const kind = reader.text[reader.at + 1] ?? '';
  const simple = ESCAPES.get(kind);
  if (simple !== undefined) {
    reader.at += 2;
    return simple;
  }
  if (kind === '\n') {
    reader.at += 1;
    const breaks = foldedBreaks(reader);
    return breaks === ' ' ? '' : breaks;
  }
  const length = kind === 'x' ? 2 : kind === 'u' ? 4 : kind === 'U' ? 8 : 0;
  const digits = reader.text.slice(reader.at + 2, reader.at + 2 + length);
  const code = /^[0-9a-fA-F]+$/.test(digits) ? Number.parseInt(digits, 16) : -1;
  const surrogate = code >= 0xd800 && code <= 0xdfff;
  if (length === 0 || digits.length < length || code < 0 || code > 0x10ffff || surrogate) {
    return report(reader, 'an escape that does not exist');
  }
  reader.at += 2 + length;
  return String.fromCodePoint(code);
}
