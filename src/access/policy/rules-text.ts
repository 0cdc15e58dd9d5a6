import { err, ok, type Result } from 'neverthrow';

/** One setting of a rules source: `name = value`, or a block `name "label" { … }`. */
export interface RulesItem {
  /** The name, and the labels after it. */
  readonly keys: readonly [string, ...string[]];
  readonly value: RulesValue;
  /** Whether `=` or `:` separates keys and value. */
  readonly assigned: boolean;
  /** Offset of the first key. */
  readonly at: number;
}

type RulesValue =
  /** A quoted string, a heredoc, or a number as written. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'flag'; readonly value: boolean }
  | { readonly type: 'nothing' }
  | { readonly type: 'list'; readonly values: readonly RulesValue[] }
  | { readonly type: 'object'; readonly items: readonly RulesItem[] };

/** Limits that keep the cost of hostile rules at a few milliseconds; real rules are far smaller. */
const maximumRulesLength = 256 * 1024;
const maximumItems = 10_000;
const maximumDepth = 16;

/**
 * Parses the source of a policy's rules, in version 1 of the language or in JSON (policy language). Line ends are white space, commas
 * are optional, and there are no expressions. Linear in the length of the source.
 */
export function readRulesText(text: string): Result<readonly RulesItem[], RulesFault> {
  if (text.length > maximumRulesLength) {
    const message = `the rules have ${text.length} characters; the most allowed is ${maximumRulesLength}`;
    return err({ message, line: 1, column: 1 });
  }
  const start = text.startsWith('\uFEFF') ? 1 : 0;
  const reader: RulesReader = { text, json: /^\s*\{/.test(text.slice(start)), at: start, items: 0, fault: undefined };
  const items = readWhole(reader);
  const { fault } = reader;
  return fault === undefined ? ok(items) : err({ message: fault.message, ...positionOf(text, fault.at) });
}

function readWhole(reader: RulesReader): readonly RulesItem[] {
  if (!reader.json) return readItems(reader, undefined, 0);
  skipBlank(reader);
  reader.at += 1;
  const items = readItems(reader, '}', 1);
  skipBlank(reader);
  if (reader.at < reader.text.length) fail(reader, 'nothing can follow the object of the rules');
  return items;
}

function readItems(reader: RulesReader, end: '}' | undefined, depth: number): readonly RulesItem[] {
  const items: RulesItem[] = [];
  if (depth > maximumDepth) {
    fail(reader, `blocks are nested more than ${maximumDepth} levels deep`);
    return items;
  }
  while (reader.fault === undefined) {
    skipBlank(reader);
    if (reader.at >= reader.text.length) {
      if (end !== undefined) fail(reader, 'a closing brace is missing');
      return items;
    }
    if (end !== undefined && reader.text[reader.at] === end) {
      reader.at += 1;
      return items;
    }
    const item = readItem(reader, depth);
    if (item !== undefined) items.push(item);
    skipComma(reader);
  }
  return items;
}

function readItem(reader: RulesReader, depth: number): RulesItem | undefined {
  if (!counted(reader)) return undefined;
  const { at } = reader;
  const first = readKey(reader);
  if (first === undefined) return undefined;
  const keys: [string, ...string[]] = [first];
  for (;;) {
    skipBlank(reader);
    const next = whatFollows(reader);
    if (next === 'assigned' || next === 'block') {
      if (next === 'assigned') reader.at += 1;
      const value = readValue(reader, depth);
      return value === undefined ? undefined : { keys, value, assigned: next === 'assigned', at };
    }
    if (reader.json) return fail(reader, `"${shown(first)}" needs a colon and a value`);
    const label = next === 'label' ? readKey(reader) : undefined;
    if (label === undefined)
      return fail(reader, `"${shown(first)}" needs a block in braces, or a value after an equals sign`);
    keys.push(label);
  }
}

const name = /[A-Za-z_][A-Za-z0-9_.-]*/y;

function readKey(reader: RulesReader): string | undefined {
  if (reader.text[reader.at] === '"') return readQuoted(reader);
  name.lastIndex = reader.at;
  const match = reader.json ? null : name.exec(reader.text);
  if (match === null) return fail(reader, `a name is expected here, not "${shown(reader.text[reader.at] ?? '')}"`);
  reader.at = name.lastIndex;
  return match[0];
}

const word = /true\b|false\b|null\b|-?[0-9][0-9A-Za-z.+-]*/y;

/** The kind of what follows the keys of an item, by the next character. */
function whatFollows({ text, at, json }: RulesReader): 'assigned' | 'block' | 'label' | undefined {
  const sign = text[at] ?? '';
  if (sign === (json ? ':' : '=')) return 'assigned';
  if (sign === '{' && !json) return 'block';
  return /["A-Za-z_]/.test(sign) ? 'label' : undefined;
}

function readValue(reader: RulesReader, depth: number): RulesValue | undefined {
  skipBlank(reader);
  if (!counted(reader)) return undefined;
  switch (reader.text.charAt(reader.at)) {
    case '{': {
      reader.at += 1;
      return { type: 'object', items: readItems(reader, '}', depth + 1) };
    }
    case '[':
      return readList(reader, depth + 1);
    case '"':
      return textOf(readQuoted(reader));
    case '<':
      return reader.json ? fail(reader, 'a JSON value is expected here') : textOf(readHeredoc(reader));
    default:
      return readWord(reader);
  }
}

function textOf(text: string | undefined): RulesValue | undefined {
  return text === undefined ? undefined : { type: 'text', text };
}

function readWord(reader: RulesReader): RulesValue | undefined {
  word.lastIndex = reader.at;
  const [found] = word.exec(reader.text) ?? [];
  if (found === undefined) return fail(reader, 'a quoted string, a list, a block or a number is expected here');
  reader.at += found.length;
  if (found === 'null') return { type: 'nothing' };
  return found === 'true' || found === 'false'
    ? { type: 'flag', value: found === 'true' }
    : { type: 'text', text: found };
}

function readList(reader: RulesReader, depth: number): RulesValue | undefined {
  if (depth > maximumDepth) return fail(reader, `lists are nested more than ${maximumDepth} levels deep`);
  reader.at += 1;
  const values: RulesValue[] = [];
  for (;;) {
    skipBlank(reader);
    if (reader.text[reader.at] === ']') break;
    if (reader.at >= reader.text.length) return fail(reader, 'a closing bracket is missing');
    const value = readValue(reader, depth);
    if (value === undefined) return undefined;
    values.push(value);
    skipBlank(reader);
    if (!skipComma(reader) && reader.text[reader.at] !== ']')
      return fail(reader, 'a comma or a closing bracket is missing');
  }
  reader.at += 1;
  return { type: 'list', values };
}

function counted(reader: RulesReader): boolean {
  reader.items += 1;
  if (reader.items > maximumItems) fail(reader, `the rules have more than ${maximumItems} parts`);
  return reader.fault === undefined;
}

const blank = /(?:[ \t\r\n]+|#[^\n]*|\/\/[^\n]*)+/y;

/** Skips white space and comments; JSON has no comments. */
function skipBlank(reader: RulesReader): void {
  const { text } = reader;
  for (;;) {
    if (reader.json) {
      while (/[ \t\r\n]/.test(text[reader.at] ?? '')) reader.at += 1;
      return;
    }
    blank.lastIndex = reader.at;
    if (blank.test(text)) reader.at = blank.lastIndex;
    if (!text.startsWith('/*', reader.at)) return;
    const end = text.indexOf('*/', reader.at + 2);
    if (end < 0) {
      fail(reader, 'a comment is not closed');
      reader.at = text.length;
      return;
    }
    reader.at = end + 2;
  }
}

function skipComma(reader: RulesReader): boolean {
  skipBlank(reader);
  if (reader.text[reader.at] !== ',') return false;
  reader.at += 1;
  return true;
}

/** The first error of a rules source, by position. */
export class Faults {
  first: { readonly message: string; readonly at: number } | undefined;

  note(message: string, at: number): undefined {
    if (this.first === undefined || at < this.first.at) this.first = { message, at };
    return undefined;
  }
}

/** A block with a label: `namespace "default" { … }`. */
export interface NamedBlock {
  /** `''` when the label is missing. */
  readonly name: string;
  readonly items: readonly RulesItem[];
  readonly at: number;
}

/**
 * All blocks of a kind, in order: each with its label or, in JSON, several labels as members of one object
 * (`{"namespace": {"a": {…}, "b": {…}}}`), which may be in a list.
 */
export function namedBlocks(items: readonly RulesItem[], kind: string, faults: Faults): readonly NamedBlock[] {
  return items.filter(({ keys }) => keys[0] === kind).flatMap((item) => labelled(item, kind, faults));
}

function labelled({ keys, value, assigned, at }: RulesItem, kind: string, faults: Faults): readonly NamedBlock[] {
  const [, name, ...more] = keys;
  if (more.length > 0) faults.note(`a block ${kind} has one label`, at);
  const bodies = objectsIn(value, kind, at, faults);
  if (name !== undefined || !assigned) return bodies.map((items) => ({ name: name ?? '', items, at }));
  return bodies.flatMap((members) =>
    members.flatMap((member) =>
      objectsIn(member.value, kind, member.at, faults).map((items) => ({ name: member.keys[0], items, at: member.at })),
    ),
  );
}

/** The single block of a kind without labels; undefined if there is none. */
export function areaBlock(items: readonly RulesItem[], kind: string, faults: Faults): RulesItem | undefined {
  const [block, second] = items.filter(({ keys }) => keys[0] === kind);
  if (second !== undefined) faults.note(`the block ${kind} is given twice here`, second.at);
  if (block !== undefined && block.keys.length > 1) faults.note(`a block ${kind} has no label`, block.at);
  return block;
}

/** The members of a block. A list of objects is merged to one block. */
export function bodyOf({ keys, value, at }: RulesItem, faults: Faults): readonly RulesItem[] {
  return objectsIn(value, keys[0], at, faults).flat();
}

function objectsIn(value: RulesValue, kind: string, at: number, faults: Faults): readonly (readonly RulesItem[])[] {
  const values = value.type === 'list' ? value.values : [value];
  return values.map((entry) => {
    if (entry.type === 'object') return entry.items;
    faults.note(`${shown(kind)} must be a block`, at);
    return [];
  });
}

/** The string of a member; undefined when it is absent or null. */
export function textMember(items: readonly RulesItem[], name: string, faults: Faults): string | undefined {
  const [member, second] = membersNamed(items, name);
  if (second !== undefined) faults.note(`"${name}" is given twice here`, second.at);
  if (member === undefined || member.value.type === 'nothing') return undefined;
  if (member.value.type === 'text') return member.value.text;
  return faults.note(`"${name}" must be a string`, member.at);
}

/** The strings of a member, given as a list or as a single string; undefined if absent or null. Repeated members are concatenated. */
export function textList(items: readonly RulesItem[], name: string, faults: Faults): readonly string[] | undefined {
  const members = membersNamed(items, name).filter(({ value }) => value.type !== 'nothing');
  if (members.length === 0) return undefined;
  return members.flatMap(({ value, at }) =>
    (value.type === 'list' ? value.values : [value]).flatMap((entry) => {
      if (entry.type === 'text') return [entry.text];
      faults.note(`"${name}" must be a list of strings`, at);
      return [];
    }),
  );
}

function membersNamed(items: readonly RulesItem[], name: string): readonly RulesItem[] {
  return items.filter(({ keys }) => keys.length === 1 && keys[0] === name);
}

/** An error in a rules source; line and column count from 1. */
export interface RulesFault {
  readonly message: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
}

/** Reads a rules source from left to right and stops at the first error. */
interface RulesReader {
  readonly text: string;
  /** `:` instead of `=`, as in JSON. */
  readonly json: boolean;
  at: number;
  items: number;
  fault: { readonly message: string; readonly at: number } | undefined;
}

/** Records the first error. */
function fail(reader: RulesReader, message: string, at = reader.at): undefined {
  reader.fault ??= { message, at };
  return undefined;
}

/** Line and column, from 1, of an offset in a string. */
export function positionOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: at - lineStart + 1 };
}

/** A string truncated for a message. */
export function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '"': '"',
  '\\': '\\',
  '/': '/',
};
const plain = /[^"\\\n\r]+/y;
const codePoint = /u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})/y;

/** A quoted string on one line. Undefined, with an error recorded, if it is not closed or contains an invalid escape. */
function readQuoted(reader: RulesReader): string | undefined {
  const start = reader.at;
  const parts: string[] = [];
  reader.at += 1;
  for (;;) {
    plain.lastIndex = reader.at;
    const [run] = plain.exec(reader.text) ?? [''];
    parts.push(run);
    reader.at += run.length;
    const sign = reader.text[reader.at];
    if (sign === '"') {
      reader.at += 1;
      return parts.join('');
    }
    if (sign !== '\\') return fail(reader, 'the quoted string is not closed on its line', start);
    const escaped = readEscape(reader);
    if (escaped === undefined) return undefined;
    parts.push(escaped);
  }
}

function readEscape(reader: RulesReader): string | undefined {
  const at = reader.at + 1;
  const simple = escapes[reader.text[at] ?? ''];
  if (simple !== undefined) {
    reader.at = at + 1;
    return simple;
  }
  codePoint.lastIndex = at;
  const match = codePoint.exec(reader.text);
  const value = Number.parseInt(match?.[1] ?? match?.[2] ?? match?.[3] ?? '', 16);
  if (match === null || value > 0x10ffff) return fail(reader, 'a backslash is followed by nothing that it can escape');
  reader.at = codePoint.lastIndex;
  return String.fromCodePoint(value);
}

const opening = /<<(-?)([A-Za-z_][A-Za-z0-9_]*)\r?\n/y;

/** A heredoc: from the line after `<<NAME` to the line with only the name; `<<-NAME` removes the common indentation. */
function readHeredoc(reader: RulesReader): string | undefined {
  opening.lastIndex = reader.at;
  const match = opening.exec(reader.text);
  if (match === null) return fail(reader, 'a heredoc begins with << and a name at the end of a line');
  const lines: string[] = [];
  let at = opening.lastIndex;
  while (at < reader.text.length) {
    const end = reader.text.indexOf('\n', at);
    const line = reader.text.slice(at, end < 0 ? undefined : end);
    if (line.trim() === match[2]) {
      reader.at = at + line.length;
      return match[1] === '-' ? outdented(lines) : lines.map((text) => `${text}\n`).join('');
    }
    lines.push(line);
    at = end < 0 ? reader.text.length : end + 1;
  }
  return fail(reader, `the heredoc ${match[2] ?? ''} is not closed`);
}

function outdented(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const common = indents.reduce((least, indent) => Math.min(least, indent), Number.POSITIVE_INFINITY);
  return lines.map((line) => `${line.slice(Number.isFinite(common) ? common : 0)}\n`).join('');
}
