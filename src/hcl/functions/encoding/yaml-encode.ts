import { jsonText } from '../../values/plain.js';
import type { Meter } from '../../values/unicode.js';
import { entriesOf, type HclValue, itemsOf } from '../../values/value.js';

/**
 * The value as one YAML document in block style: keys and strings in double quotes, strings of several lines as literal blocks
 * where YAML allows it, long strings folded after column 80.
 *
 * @returns undefined if the budget is spent
 */
export function yamlText(value: HclValue, meter: Meter): string | undefined {
  const writer: Writer = { text: '', column: 0, meter, stopped: false };
  writeNode(writer, value, -1, 'root');
  if (writer.stopped) return undefined;
  if (!writer.text.endsWith('\n')) writer.text += '\n';
  // A plain scalar could continue on the next line, so the end of the document is marked.
  if (value.kind === 'null' || value.kind === 'bool' || value.kind === 'number') writer.text += '...\n';
  return writer.text;
}

interface Writer {
  text: string;
  column: number;
  readonly meter: Meter;
  /** The budget is spent: nothing more is written. */
  stopped: boolean;
}

/** Units of work for a node, in addition to its characters. */
const NODE = 4;

/** The parent of the node. `compact`: a dash, or the colon after an explicit key; a collection starts on the same line. */
type Parent = 'root' | 'mapping' | 'compact';

const FOLD_AFTER = 80;
const LONGEST_SIMPLE_KEY = 128;

function writeNode(writer: Writer, value: HclValue, indent: number, parent: Parent): void {
  if (writer.stopped || !pays(writer, NODE + indent)) return;
  const items = itemsOf(value);
  const entries = entriesOf(value);
  if (items !== undefined && items.length > 0) {
    // A sequence inside a mapping is not indented further: its dashes set it off.
    const own = parent === 'root' ? 0 : parent === 'mapping' ? Math.max(indent, 0) : indent + 2;
    writeSequence(writer, items, own, parent === 'mapping');
  } else if (entries !== undefined && entries.size > 0) {
    writeMapping(writer, entries, parent === 'root' ? 0 : indent + 2, parent === 'mapping');
  } else {
    if (parent !== 'root') put(writer, ' ');
    writeScalar(writer, value, indent < 0 ? 2 : indent + 2);
  }
}

function writeSequence(writer: Writer, items: readonly HclValue[], indent: number, onNewLine: boolean): void {
  for (const [at, item] of items.entries()) {
    if (at > 0 || onNewLine) newLine(writer, indent);
    else if (writer.column > 0) put(writer, ' ');
    put(writer, '-');
    writeNode(writer, item, indent, 'compact');
  }
}

function writeMapping(
  writer: Writer,
  entries: ReadonlyMap<string, HclValue>,
  indent: number,
  onNewLine: boolean,
): void {
  let first = true;
  for (const [key, item] of entries) {
    if (!first || onNewLine) newLine(writer, indent);
    else if (writer.column > 0) put(writer, ' ');
    first = false;
    if (Buffer.byteLength(key) <= LONGEST_SIMPLE_KEY && !key.includes('\n')) {
      writeQuoted(writer, key, undefined);
      put(writer, ':');
      writeNode(writer, item, indent, 'mapping');
    } else {
      put(writer, '? ');
      writeQuoted(writer, key, indent + 2);
      newLine(writer, indent);
      put(writer, ':');
      writeNode(writer, item, indent, 'compact');
    }
  }
}

function writeScalar(writer: Writer, value: HclValue, indent: number): void {
  // Null, numbers, booleans and empty collections are written as in JSON.
  if (value.kind !== 'string') put(writer, jsonText(value));
  else if (isLiteral(value.value)) writeLiteral(writer, value.value, indent);
  else writeQuoted(writer, value.value, indent);
}

/** Characters that need an escape. Characters beyond the basic multilingual plane are escaped too. */
const UNPRINTABLE = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u;

/** Several lines, no character that needs an escape, and no white space that a parser could drop. */
function isLiteral(text: string): boolean {
  return text.includes('\n') && !UNPRINTABLE.test(text) && !/ \n| $|[\u2028\u2029]/.test(text);
}

function writeLiteral(writer: Writer, text: string, indent: number): void {
  if (!pays(writer, text.length >>> 1)) return;
  const start = text.startsWith(' ') || text.startsWith('\n') ? '2' : '';
  const end = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
  put(writer, `|${start}${end}`);
  const margin = ' '.repeat(indent);
  const lines = text.split('\n').map((line) => (line === '' ? '' : margin + line));
  writer.text += `\n${lines.join('\n')}`;
  writer.column = lines.at(-1)?.length ?? 0;
}

/** Without an indent the string must stay on its line, as a key has to. */
function writeQuoted(writer: Writer, text: string, indent: number | undefined): void {
  if (!pays(writer, text.length)) return;
  put(writer, '"');
  const characters = Array.from(text);
  let afterSpace = false;
  for (const [at, character] of characters.entries()) {
    const mayFold = indent !== undefined && !afterSpace && at > 0 && at < characters.length - 1;
    if (character === ' ' && mayFold && writer.column > FOLD_AFTER) {
      newLine(writer, indent);
      if (characters[at + 1] === ' ') put(writer, '\\');
    } else put(writer, quotedCharacter(character));
    afterSpace = character === ' ';
  }
  put(writer, '"');
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\x1b', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0085', '\\N'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
]);

function quotedCharacter(character: string): string {
  const short = SHORT_ESCAPES.get(character);
  if (short !== undefined) return short;
  if (!UNPRINTABLE.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

function pays(writer: Writer, work: number): boolean {
  writer.stopped ||= !writer.meter.charge(Math.max(0, work));
  return !writer.stopped;
}

function put(writer: Writer, text: string): void {
  writer.text += text;
  writer.column += text.length;
}

/** A literal block that ends with a line break has already started the next line. */
function newLine(writer: Writer, indent: number): void {
  if (writer.column > 0) writer.text += '\n';
  writer.text += ' '.repeat(indent);
  writer.column = indent;
}
