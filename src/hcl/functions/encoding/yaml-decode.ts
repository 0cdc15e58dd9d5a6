import { ok } from 'neverthrow';
import type { CST, Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { isBase64, lowerFirst } from '../../../shared/values.js';
import type { Budget } from '../../evaluate/budget.js';
import { convert } from '../../values/convert.js';
import { parseNumber } from '../../values/number.js';
import { normalizeText } from '../../values/unicode.js';
import {
  dynamicNull,
  entriesOf,
  falseValue,
  type HclValue,
  itemsOf,
  numberValue,
  objectValue,
  sizeOf,
  stringType,
  stringValue,
  trueValue,
  tupleValue,
} from '../../values/value.js';
import { normalizationWork } from '../../values/work.js';
import { localTime, timestampText } from '../dates/dates.js';
import { type CallResult, fail, overBudget } from '../function.js';
import { yaml } from '../packages.js';

/**
 * Decodes one YAML document: mappings become objects, sequences become tuples, and plain scalars are resolved as in YAML 1.1.
 * The package parses the syntax; this module resolves types. Collections as keys, custom tags and several documents are
 * errors.
 */
export function decodeYaml(text: string, budget: Budget): CallResult {
  if (!budget.charge(text.length + normalizationWork(text))) return overBudget('yamldecode');
  const read = readDocument(text, budget);
  if (read.problem === TOO_LARGE) return overBudget('yamldecode');
  if (read.problem !== undefined) return fail(placed(read.problem, text));
  const reader: Reader = { text, budget, anchors: new Map(), problem: undefined };
  const value = nodeValue(reader, read.contents);
  if (value !== undefined) return ok(value);
  return reader.problem === undefined || reader.problem === TOO_LARGE
    ? overBudget('yamldecode')
    : fail(placed(reader.problem, text));
}

/** A problem, and its offset in the source. */
interface Problem {
  readonly what: string;
  readonly offset: number;
}

const TOO_LARGE: Problem = { what: 'too much', offset: 0 };

/** Units of work for a token, and for a node in addition to its tokens. */
const LEXEME = 35;
const NODE = 10;

/** A message with the line, counted from 1. */
function placed({ what, offset }: Problem, text: string): string {
  return `${what} on line ${text.slice(0, offset).split('\n').length} of the YAML text`;
}

interface ReadDocument {
  readonly contents: Node | null;
  readonly problem: Problem | undefined;
}

/** The tree of the only document; null contents stand for an empty one (`---`). */
function readDocument(text: string, budget: Budget): ReadDocument {
  const tokens = readTokens(text, budget);
  if ('what' in tokens) return { contents: null, problem: tokens };
  const [document, second] = quickly(() => [...new (yaml().Composer)(OPTIONS).compose(tokens)]);
  const error = document?.errors[0];
  if (error !== undefined)
    return { contents: null, problem: { what: lowerFirst(error.message), offset: error.pos[0] } };
  if (second !== undefined) return { contents: null, problem: { what: 'a second document', offset: second.range[0] } };
  if (document === undefined) return { contents: null, problem: { what: 'there is no document', offset: 0 } };
  return { contents: document.contents, problem: undefined };
}

/** The package builds only the structure: types, merge keys and duplicate keys are handled here. */
const OPTIONS = {
  version: '1.1',
  schema: 'failsafe',
  merge: false,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const;

/** The concrete syntax, token by token, so that parsing stops as soon as a string costs too much, is too deep, or is invalid. */
function readTokens(text: string, budget: Budget): CST.Token[] | Problem {
  const { Lexer, Parser } = yaml();
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    if (!budget.charge(LEXEME)) return TOO_LARGE;
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > budget.limits.depth) return TOO_LARGE;
    const last = tokens.at(-1);
    if (last?.type === 'error') return { what: lowerFirst(last.message), offset: last.offset };
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/** The package creates an error object for each problem; without stack traces, which are unused, they are cheap. */
function quickly<Result>(work: () => Result): Result {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

interface Reader {
  readonly text: string;
  readonly budget: Budget;
  /** The value of each anchor; undefined while it is being read. */
  readonly anchors: Map<string, HclValue | undefined>;
  problem: Problem | undefined;
}

/** The value of a node; undefined after a problem was reported. */
function nodeValue(reader: Reader, node: Node | null): HclValue | undefined {
  if (!reader.budget.charge(NODE)) return report(reader, TOO_LARGE);
  if (node === null) return dynamicNull;
  const { isAlias, isMap, isScalar } = yaml();
  if (isAlias(node)) return aliasedValue(reader, node.source, node);
  const { anchor } = node;
  if (anchor !== undefined) reader.anchors.set(anchor, undefined);
  const value = isScalar(node)
    ? scalarValue(reader, node)
    : isMap<Node | null, Node | null>(node)
      ? mappingValue(reader, node)
      : sequenceValue(reader, node as YAMLSeq<Node>);
  if (anchor !== undefined) reader.anchors.set(anchor, value);
  return value;
}

function aliasedValue(reader: Reader, name: string, node: Node): HclValue | undefined {
  const value = reader.anchors.get(name);
  if (value !== undefined) return value;
  const inside = reader.anchors.has(name);
  return reportAt(reader, node, inside ? 'an alias inside its own anchor' : 'an alias without an anchor');
}

function scalarValue(reader: Reader, node: Scalar): HclValue | undefined {
  const text = scalarText(reader, node);
  const tag = shortTag(node.tag);
  if (tag === '!!str' || (tag === undefined && node.type !== 'PLAIN')) return stringValue(text);
  const quoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
  const value = resolveScalar(text, tag, quoted);
  return value ?? reportAt(reader, node, tag === undefined ? 'a number without a value' : `an invalid ${tag}`);
}

/** The package ends a block scalar with a line break even if the source ends without one. */
function scalarText({ text }: Reader, { value, type, range }: Scalar): string {
  const content = String(value ?? '');
  const isBlock = type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED';
  const added = isBlock && !text.endsWith('\n') && (range?.[1] ?? 0) >= text.length && content.endsWith('\n');
  return added ? content.slice(0, -1) : content;
}

function sequenceValue(reader: Reader, node: YAMLSeq<Node>): HclValue | undefined {
  if (!hasTag(reader, node, '!!seq')) return undefined;
  const items: HclValue[] = [];
  for (const item of node.items) {
    const value = yaml().isPair<Node | null, Node | null>(item) ? pairsValue(reader, [item]) : nodeValue(reader, item);
    if (value === undefined) return undefined;
    items.push(value);
  }
  return kept(reader, tupleValue(items));
}

function mappingValue(reader: Reader, node: YAMLMap<Node | null, Node | null>): HclValue | undefined {
  return hasTag(reader, node, '!!map') ? pairsValue(reader, node.items) : undefined;
}

/** A key that occurs several times, directly or in merged mappings, keeps its last value; within one merge the first mapping's. */
function pairsValue(reader: Reader, pairs: readonly Pair<Node | null, Node | null>[]): HclValue | undefined {
  const entries = new Map<string, HclValue>();
  for (const { key, value } of pairs) {
    const name = isMergeKey(key) ? undefined : keyText(reader, key);
    const item = reader.problem === undefined ? nodeValue(reader, value) : undefined;
    if (item === undefined) return undefined;
    if (name !== undefined) entries.set(name, item);
    else if (!merge(reader, entries, item)) return undefined;
  }
  return kept(reader, objectValue(entries));
}

/** Adds the entries of a mapping, or of several in a sequence; false after a problem was reported. */
function merge(reader: Reader, entries: Map<string, HclValue>, item: HclValue): boolean {
  const sources = item.kind === 'tuple' ? [...item.items].reverse() : [item];
  for (const source of sources) {
    const added = entriesOf(source);
    if (added === undefined) report(reader, { what: 'a merge of a value other than a mapping', offset: 0 });
    else if (!reader.budget.charge(2 * sizeOf(source))) report(reader, TOO_LARGE);
    for (const [key, value] of added ?? []) entries.set(key, value);
  }
  return reader.problem === undefined;
}

function isMergeKey(key: Node | null): boolean {
  return yaml().isScalar(key) && key.type === 'PLAIN' && key.value === '<<' && key.tag === undefined;
}

function keyText(reader: Reader, key: Node | null): string | undefined {
  const value = nodeValue(reader, key);
  if (value === undefined) return undefined;
  const text = value.kind === 'null' ? undefined : convert(value, stringType).unwrapOr(undefined);
  if (text?.kind === 'string') return normalizeText(text.value);
  return key === null
    ? report(reader, { what: 'a key other than a string', offset: 0 })
    : reportAt(reader, key, 'a key other than a string');
}

function hasTag(reader: Reader, node: Node, expected: '!!seq' | '!!map'): boolean {
  const tag = shortTag(node.tag);
  if (tag === undefined || tag === expected || tag === '!') return true;
  reportAt(reader, node, `a collection with the tag ${tag}`);
  return false;
}

const STANDARD = 'tag:yaml.org,2002:';

function shortTag(tag: string | undefined): string | undefined {
  return tag?.startsWith(STANDARD) === true ? `!!${tag.slice(STANDARD.length)}` : tag;
}

/** Aliases can expand a short string to a value of any size, so the size of each collection is checked. */
function kept(reader: Reader, value: HclValue): HclValue | undefined {
  const count = itemsOf(value)?.length ?? entriesOf(value)?.size ?? 0;
  const fits = reader.budget.chargeElements(count) && sizeOf(value) <= reader.budget.limits.valueSize;
  return fits ? value : report(reader, TOO_LARGE);
}

function reportAt(reader: Reader, node: Node, what: string): undefined {
  return report(reader, { what, offset: node.range?.[0] ?? 0 });
}

function report(reader: Reader, problem: Problem): undefined {
  reader.problem ??= problem;
  return undefined;
}

/**
 * The value of a scalar; undefined if it does not fit its tag, or if it is not a number (`.nan`). A tag only decides between
 * several possible meanings: a quoted string stays a string, and a word or a number keeps its type.
 */
function resolveScalar(text: string, tag: string | undefined, quoted: boolean): HclValue | undefined {
  if (tag === '!' || tag === '!!str') return stringValue(text);
  if (tag === '!!binary') return isBase64(text.replace(/[\r\n]/g, '')) ? stringValue(text) : undefined;
  if (tag !== undefined && !TAGS.has(tag)) return undefined;
  if (quoted && SPECIAL_START.test(text)) return stringValue(text);
  if (tag === undefined && /^[-+]?\.(?:nan|NaN|NAN)$/.test(text)) return undefined;
  return resolvePlain(text, tag) ?? resolveTagged(text, tag);
}

const TAGS: ReadonlySet<string> = new Set(['!!bool', '!!null', '!!int', '!!float', '!!timestamp']);

/** The beginning of a string that may be a word, a number or a date. */
const SPECIAL_START = /^(?:$|[-+0-9.yYnNtTfFoO~])/;

/** Resolves, by its tag, a scalar that is neither a word, a date nor an untagged number. */
function resolveTagged(text: string, tag: string | undefined): HclValue | undefined {
  switch (tag) {
    case undefined:
      return stringValue(text);
    case '!!null':
      return dynamicNull;
    case '!!int':
    case '!!float':
      return resolveNumber(text);
    default:
      return undefined;
  }
}

const WORDS: ReadonlyMap<string, HclValue> = new Map<string, HclValue>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, trueValue] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, falseValue] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, dynamicNull] as const),
]);

/** Words, numbers and dates; undefined for any other string. */
function resolvePlain(text: string, tag: string | undefined): HclValue | undefined {
  const word = WORDS.get(text);
  if (word !== undefined || !/^[-+.\d]/.test(text)) return word;
  const time = tag === undefined || tag === '!!timestamp' ? resolveTimestamp(text) : undefined;
  return time ?? (NUMBER.test(text) ? resolveNumber(text) : undefined);
}

/** Form of a number without a tag. */
const NUMBER =
  /^[-+]?(?:[0-9_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))$/;

function resolveNumber(text: string): HclValue | undefined {
  const infinite = /^([-+]?)\.(?:inf|Inf|INF)$/.exec(text);
  if (infinite !== null) return numberValue(infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  const plain = text.replaceAll('_', '');
  const based = /^([-+]?)(0x[0-9a-fA-F]{1,64}|0o[0-7]{1,64}|0b[01]{1,64})$/.exec(plain);
  const number = based === null ? parseNumber(plain) : parseNumber(`${based[1]}${BigInt(based[2] ?? '0')}`);
  return number === undefined || !/\d/.test(plain) ? undefined : numberValue(number);
}

const TIMESTAMP =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?(?:Z|([+-])(\d{2}):(\d{2})))| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?)?$/;

/** Dates and times become RFC 3339 text; without a zone they are in UTC. */
function resolveTimestamp(text: string): HclValue | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, sign, offsetHour, offsetMinute, h, m, s] = match.map((part) => part);
  const local = localTime([year, month, day, hour ?? h ?? 0, minute ?? m ?? 0, second ?? s ?? 0].map(Number));
  if (local === undefined) return undefined;
  const shown = timestampText({ local, nanoseconds: 0, offsetMinutes: minutesAhead(sign, offsetHour, offsetMinute) });
  return shown === undefined ? undefined : stringValue(shown);
}

/** Offset of a zone from UTC, in minutes; positive east of Greenwich. */
function minutesAhead(sign: string | undefined, hours = '0', minutes = '0'): number {
  const ahead = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -ahead : ahead;
}
