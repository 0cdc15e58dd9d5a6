import { ok } from 'neverthrow';
import type { Budget } from '../evaluate/budget.js';
import { convert } from '../values/convert.js';
import type { HclValue } from '../values/value.js';
import {
  dynamicNull,
  entriesOf,
  itemsOf,
  normalizeText,
  objectValue,
  sizeOf,
  stringType,
  stringValue,
  tupleValue,
} from '../values/value.js';
import type { CallResult } from './function.js';
import { fail, overBudget } from './function.js';
import { resolveScalar } from './yaml-resolve.js';
import type { YamlReader } from './yaml-scalars.js';
import {
  atDocumentMarker,
  columnOf,
  isBlank,
  readBlockScalar,
  readPlain,
  readQuoted,
  report,
  skipBlank,
} from './yaml-scalars.js';

/**
 * One YAML document as a value: mappings become objects, sequences tuples, unquoted words, numbers and dates what YAML 1.1 takes them
 * for. Read are block and flow collections, all five kinds of scalars, comments, anchors and aliases, merge keys, the standard tags.
 * Not read, and an error: keys written with `?`, collections as keys, tags of one's own, several documents.
 */
export function decodeYaml(source: string, budget: Budget): CallResult {
  const text = source.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  const reader: Parser = { text, at: 0, problem: undefined, budget, depth: 0, tooLarge: false, anchors: new Map() };
  const value = readDocument(reader);
  if (reader.tooLarge) return overBudget('yamldecode');
  return value === undefined ? fail(reader.problem ?? 'the YAML text cannot be read') : ok(value);
}

interface Parser extends YamlReader {
  readonly budget: Budget;
  /** The value of each anchor; undefined while it is being read. */
  readonly anchors: Map<string, HclValue | undefined>;
  depth: number;
  tooLarge: boolean;
}

interface Properties {
  readonly anchor: string | undefined;
  readonly tag: string | undefined;
}

type Read = HclValue | undefined;

function readDocument(reader: Parser): Read {
  skipBlank(reader, true);
  while (reader.text[reader.at] === '%' && columnOf(reader) === 0) {
    while (reader.at < reader.text.length && reader.text[reader.at] !== '\n') reader.at += 1;
    skipBlank(reader, true);
  }
  if (atDocumentMarker(reader) && reader.text.startsWith('---', reader.at)) reader.at += 3;
  const value = readBlock(reader, -1, false);
  if (value === undefined) return undefined;
  skipBlank(reader, true);
  if (atDocumentMarker(reader) && reader.text.startsWith('...', reader.at)) {
    reader.at += 3;
    skipBlank(reader, true);
  }
  if (reader.at < reader.text.length) {
    return report(
      reader,
      atDocumentMarker(reader) ? 'a second document' : 'something that does not belong to the value',
    );
  }
  return value;
}

/** A node indented more than `indent`; after a mapping key a sequence may also start at the key's own column. */
function readBlock(reader: Parser, indent: number, afterKey: boolean): Read {
  if (!enter(reader)) return undefined;
  const value = readBlockInside(reader, indent, afterKey);
  reader.depth -= 1;
  return value;
}

function readBlockInside(reader: Parser, indent: number, afterKey: boolean): Read {
  const keyLine = afterKey ? lineStart(reader) : -1;
  skipBlank(reader, true);
  if (isOutside(reader, indent, afterKey)) return dynamicNull;
  if (badIndentation(reader)) return report(reader, 'a tab used as indentation');
  const start = reader.at;
  const column = columnOf(reader);
  const line = lineStart(reader);
  const properties = readProperties(reader);
  if (properties === undefined) return undefined;
  const { anchor } = properties;
  if (reader.at !== start) {
    // Properties on the line of a key belong to the key when the collection starts there, else to what follows.
    const sameLine = lineStart(reader) === line && reader.text[reader.at] !== '\n';
    if (sameLine && keyFollows(reader)) {
      if (lineStart(reader) === keyLine) return report(reader, 'a mapping on the line of its key');
      reader.at = start;
      return readMapping(reader, column);
    }
    skipBlank(reader, true);
    if (isOutside(reader, indent, afterKey)) return anchored(reader, anchor, () => scalar(reader, '', properties.tag));
  }
  const here = columnOf(reader);
  const character = reader.text[reader.at] ?? '';
  const dash = character === '-' && isBlank(reader.text[reader.at + 1]);
  if (lineStart(reader) === keyLine && (dash || keyFollows(reader))) {
    return report(reader, 'a collection on the line of its key');
  }
  return anchored(reader, anchor, () => {
    if (dash) {
      return collectionTag(reader, properties.tag, '!!seq') ? readSequence(reader, here) : undefined;
    }
    if (character === '?' && isBlank(reader.text[reader.at + 1]))
      return report(reader, 'a key written with "?", which is not supported,');
    if (keyFollows(reader)) {
      return collectionTag(reader, properties.tag, '!!map') ? readMapping(reader, here) : undefined;
    }
    if (character === '|' || character === '>') {
      const text = readBlockScalar(reader, indent);
      return text === undefined ? undefined : scalar(reader, text, properties.tag ?? '!!str');
    }
    return readInline(reader, indent, false, properties.tag);
  });
}

function readSequence(reader: Parser, column: number): Read {
  const items: HclValue[] = [];
  for (;;) {
    reader.at += 1;
    const item = readBlock(reader, column, false);
    if (item === undefined) return undefined;
    items.push(item);
    skipBlank(reader, true);
    const here = columnOf(reader);
    const dash = reader.text[reader.at] === '-' && isBlank(reader.text[reader.at + 1]);
    if (reader.at >= reader.text.length || here < column || atDocumentMarker(reader) || (here === column && !dash))
      break;
    if (here > column) return report(reader, 'an element that is indented differently');
  }
  return kept(reader, tupleValue(items));
}

function readMapping(reader: Parser, column: number): Read {
  const entries = new Map<string, HclValue>();
  const merged: HclValue[] = [];
  for (;;) {
    const key = readKey(reader, false);
    if (key === undefined) return undefined;
    const value = readBlock(reader, column, true);
    if (value === undefined) return undefined;
    if (!addEntry(reader, entries, merged, key, value)) return undefined;
    skipBlank(reader, true);
    if (reader.at >= reader.text.length || columnOf(reader) < column || atDocumentMarker(reader)) break;
    if (columnOf(reader) > column) return report(reader, 'a key that is indented differently');
    if (badIndentation(reader)) return report(reader, 'a tab used as indentation');
    if (!keyFollows(reader)) return report(reader, 'no key where one is expected');
  }
  return withMerged(reader, entries, merged);
}

/** A node that starts and ends by itself: quoted, flow, alias, or unquoted text. */
function readInline(reader: Parser, indent: number, inFlow: boolean, tag: string | undefined): Read {
  switch (reader.text[reader.at] ?? '') {
    case '"':
    case "'": {
      const text = readQuoted(reader, indent);
      return text === undefined ? undefined : scalar(reader, text, tag ?? '!!str');
    }
    case '[':
      return collectionTag(reader, tag, '!!seq') ? readFlowSequence(reader, indent) : undefined;
    case '{':
      return collectionTag(reader, tag, '!!map') ? readFlowMapping(reader, indent) : undefined;
    case '*':
      return readAlias(reader);
    default: {
      if (!startsPlain(reader, inFlow)) return report(reader, 'a character that cannot start a value');
      const text = readPlain(reader, indent, inFlow, false);
      skipBlank(reader, false);
      if (!inFlow && reader.text[reader.at] === ':') return report(reader, 'a mapping in a place where none can be');
      return scalar(reader, text, tag);
    }
  }
}

function readFlowSequence(reader: Parser, indent: number): Read {
  const items: HclValue[] = [];
  reader.at += 1;
  for (;;) {
    skipBlank(reader, true);
    if (reader.text[reader.at] === ']') break;
    const item = readFlowItem(reader, indent);
    if (item === undefined) return undefined;
    items.push(item);
    skipBlank(reader, true);
    if (reader.text[reader.at] === ',') reader.at += 1;
    else if (reader.text[reader.at] !== ']') return report(reader, 'no comma or closing bracket');
  }
  reader.at += 1;
  return kept(reader, tupleValue(items));
}

/** An element, or a single `key: value` pair as an object. */
function readFlowItem(reader: Parser, indent: number): Read {
  if (!keyFollows(reader, true)) return readFlowNode(reader, indent);
  const entries = new Map<string, HclValue>();
  const key = readKey(reader, true);
  const value = key === undefined ? undefined : readFlowValue(reader, indent);
  if (key === undefined || value === undefined) return undefined;
  const merged: HclValue[] = [];
  return addEntry(reader, entries, merged, key, value) ? withMerged(reader, entries, merged) : undefined;
}

function readFlowMapping(reader: Parser, indent: number): Read {
  const entries = new Map<string, HclValue>();
  const merged: HclValue[] = [];
  reader.at += 1;
  for (;;) {
    skipBlank(reader, true);
    if (reader.text[reader.at] === '}') break;
    const pair = keyFollows(reader, true);
    const key = pair ? readKey(reader, true) : readFlowNode(reader, indent);
    const value = key === undefined ? undefined : pair ? readFlowValue(reader, indent) : dynamicNull;
    if (key === undefined || value === undefined) return undefined;
    if (!addEntry(reader, entries, merged, typeof key === 'object' && 'key' in key ? key : { key, plain: '' }, value)) {
      return undefined;
    }
    skipBlank(reader, true);
    if (reader.text[reader.at] === ',') reader.at += 1;
    else if (reader.text[reader.at] !== '}') return report(reader, 'no comma or closing brace');
  }
  reader.at += 1;
  return withMerged(reader, entries, merged);
}

function readFlowValue(reader: Parser, indent: number): Read {
  skipBlank(reader, true);
  return /[,\]}]/.test(reader.text[reader.at] ?? '') ? dynamicNull : readFlowNode(reader, indent);
}

function readFlowNode(reader: Parser, indent: number): Read {
  if (!enter(reader)) return undefined;
  const properties = readProperties(reader);
  let value: Read;
  if (properties !== undefined) {
    skipBlank(reader, true);
    const empty = /[,\]}]/.test(reader.text[reader.at] ?? '');
    value = anchored(reader, properties.anchor, () =>
      empty ? scalar(reader, '', properties.tag) : readInline(reader, indent, true, properties.tag),
    );
  }
  reader.depth -= 1;
  return value;
}

interface Key {
  readonly key: HclValue;
  /** The text as written, when it is not quoted: only then can it be the merge key. */
  readonly plain: string;
}

/** Reads a key and its colon; only called where `keyFollows`. */
function readKey(reader: Parser, inFlow: boolean): Key | undefined {
  const properties = readProperties(reader);
  if (properties === undefined) return undefined;
  const first = reader.text[reader.at];
  const start = reader.at;
  let key: Read;
  if (first === '*') key = readAlias(reader);
  else if (first === '"' || first === "'") {
    const text = readQuoted(reader, -1);
    key = text === undefined ? undefined : scalar(reader, text, properties.tag ?? '!!str');
  } else key = scalar(reader, readPlain(reader, -1, inFlow, true), properties.tag);
  if (key === undefined) return undefined;
  if (properties.anchor !== undefined) reader.anchors.set(properties.anchor, key);
  const plain = properties.tag === undefined ? reader.text.slice(start, reader.at) : '';
  skipBlank(reader, false);
  reader.at += 1;
  return { key, plain };
}

/** Looks ahead: is there a key on this line, with a colon after it? */
function keyFollows(reader: Parser, inFlow = false): boolean {
  const { at, problem } = reader;
  const line = lineStart(reader);
  let found = false;
  if (readProperties(reader) !== undefined) {
    const first = reader.text[reader.at] ?? '';
    if (first === '"' || first === "'") found = readQuoted(reader, -1) !== undefined;
    else if (first === '*') found = /^\*[^\s,[\]{}]+/.test(reader.text.slice(reader.at, reader.at + 200));
    else found = first === ':' || startsPlain(reader, inFlow);
    if (first === '*') while (!isBlank(reader.text[reader.at])) reader.at += 1;
    else if (found && first !== '"' && first !== "'") readPlain(reader, -1, inFlow, true);
    const quoted = first === '"' || first === "'";
    skipBlank(reader, false);
    const after = reader.text[reader.at + 1];
    const closes = isBlank(after) || (inFlow && (quoted || /[,[\]{}]/.test(after ?? '')));
    found = found && reader.text[reader.at] === ':' && closes && lineStart(reader) === line;
  }
  reader.at = at;
  reader.problem = problem;
  return found;
}

function addEntry(
  reader: Parser,
  entries: Map<string, HclValue>,
  merged: HclValue[],
  { key, plain }: Key,
  value: HclValue,
): boolean {
  if (plain === '<<') {
    merged.push(...(value.kind === 'tuple' ? value.items : [value]));
    return true;
  }
  const text = key.kind === 'null' ? undefined : convert(key, stringType).unwrapOr(undefined);
  if (text?.kind !== 'string') {
    report(reader, 'a key that is no text');
    return false;
  }
  entries.set(normalizeText(text.value), value);
  return true;
}

/** Keys of its own win over merged ones, and of those the first. */
function withMerged(reader: Parser, entries: Map<string, HclValue>, merged: readonly HclValue[]): Read {
  for (const source of merged) {
    const added = entriesOf(source);
    if (added === undefined) return report(reader, 'a merge of something that is no mapping');
    if (!reader.budget.charge(added.size)) return exceed(reader);
    for (const [key, value] of added) if (!entries.has(key)) entries.set(key, value);
  }
  return kept(reader, objectValue(entries));
}

const PROPERTY = /&([^\s,[\]{}]+)|(!(?:![\w-]+|<[^>\s]*>|[^\s,[\]{}]*))/y;

/** Anchor and tag, in either order. */
function readProperties(reader: Parser): Properties | undefined {
  let anchor: string | undefined;
  let tag: string | undefined;
  for (let found = 0; found < 2; found += 1) {
    PROPERTY.lastIndex = reader.at;
    const match = PROPERTY.exec(reader.text);
    if (match === null) break;
    if (!isBlank(reader.text[PROPERTY.lastIndex]) && !/[,\]}]/.test(reader.text[PROPERTY.lastIndex] ?? '')) {
      return report(reader, 'a tag or anchor that is not valid');
    }
    anchor = match[1] ?? anchor;
    tag = match[2]?.replace(/^!<tag:yaml\.org,2002:(.*)>$/, '!!$1') ?? tag;
    reader.at = PROPERTY.lastIndex;
    skipBlank(reader, false);
  }
  return { anchor, tag };
}

function readAlias(reader: Parser): Read {
  const match = /^\*([^\s,[\]{}]+)/.exec(reader.text.slice(reader.at, reader.at + 200));
  const name = match?.[1] ?? '';
  const value = reader.anchors.get(name);
  if (value === undefined) {
    return report(reader, reader.anchors.has(name) ? 'an alias inside its own anchor' : 'an alias without an anchor');
  }
  reader.at += name.length + 1;
  return value;
}

function anchored(reader: Parser, anchor: string | undefined, read: () => Read): Read {
  if (anchor === undefined) return read();
  reader.anchors.set(anchor, undefined);
  const value = read();
  reader.anchors.set(anchor, value);
  return value;
}

function scalar(reader: Parser, text: string, tag: string | undefined): Read {
  if (tag === '!!str' || tag === '!') return stringValue(text);
  const value = resolveScalar(text, tag);
  return value ?? report(reader, tag === undefined ? 'a number without a value' : `a value that is no ${tag}`);
}

function collectionTag(reader: Parser, tag: string | undefined, expected: string): boolean {
  if (tag === undefined || tag === expected || tag === '!') return true;
  report(reader, `a collection with the tag ${tag}`);
  return false;
}

function startsPlain({ text, at }: Parser, inFlow: boolean): boolean {
  const first = text[at];
  if (first === undefined || isBlank(first)) return false;
  if (/[-?:]/.test(first)) return !isBlank(text[at + 1]) && !(inFlow && /[,[\]{}]/.test(text[at + 1] ?? ''));
  return !/[,[\]{}#&*!|>'"%@`]/.test(first);
}

function isOutside(reader: Parser, indent: number, afterKey: boolean): boolean {
  if (reader.at >= reader.text.length || atDocumentMarker(reader)) return true;
  const column = columnOf(reader);
  if (column > indent) return false;
  return !(afterKey && column === indent && reader.text[reader.at] === '-' && isBlank(reader.text[reader.at + 1]));
}

/** Tabs before a block node at the start of its line. */
function badIndentation(reader: Parser): boolean {
  const before = reader.text.slice(lineStart(reader), reader.at);
  return before.includes('\t') && /^[ \t]*$/.test(before);
}

function lineStart({ text, at }: Parser): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

function enter(reader: Parser): boolean {
  if (reader.depth >= reader.budget.limits.depth || !reader.budget.charge(1)) {
    exceed(reader);
    return false;
  }
  reader.depth += 1;
  return true;
}

/** Aliases can make a value of any size from a short text, so each collection is weighed. */
function kept(reader: Parser, value: HclValue): Read {
  const count = itemsOf(value)?.length ?? entriesOf(value)?.size ?? 0;
  const fits = reader.budget.chargeElements(count) && sizeOf(value) <= reader.budget.limits.valueSize;
  return fits ? value : exceed(reader);
}

function exceed(reader: Parser): undefined {
  reader.tooLarge = true;
  return report(reader, 'too much');
}
