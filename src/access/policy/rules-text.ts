import { err, ok, type Result } from 'neverthrow';
import { fail, positionOf, type RulesFault, type RulesReader, readHeredoc, readQuoted, shown } from './rules-reader.js';

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

export type RulesValue =
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
