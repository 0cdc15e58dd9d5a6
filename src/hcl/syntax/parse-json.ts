import { hasLoneSurrogate } from '../../shared/values.js';
import type { Problem } from '../diagnostics/diagnostic.js';
import type { ParseLimits } from './parser.js';
import type { SourceText } from './source.js';
import type { Span } from './tree.js';

/** The JSON form before a schema has separated attributes from blocks. */
export type JsonValue =
  | JsonObject
  | (Span & { readonly kind: 'json-array'; readonly items: readonly JsonValue[] })
  | JsonString
  | (Span & { readonly kind: 'json-number'; readonly text: string })
  | (Span & { readonly kind: 'json-keyword'; readonly name: 'true' | 'false' | 'null' });

export interface JsonObject extends Span {
  readonly kind: 'json-object';
  readonly members: readonly JsonMember[];
}

interface JsonMember {
  readonly name: string;
  readonly nameSpan: Span;
  readonly value: JsonValue;
}

interface JsonString extends Span {
  readonly kind: 'json-string';
  readonly text: string;
  /** True if the source has no escapes, so that offsets in the text are offsets after the quote. */
  readonly verbatim: boolean;
}

type Code = 'bad_json' | 'too_deep' | 'too_long';

interface Reader {
  readonly text: string;
  readonly limits: ParseLimits;
  at: number;
  /** Values and names read so far. */
  parts: number;
  depth: number;
  failure: { readonly span: Span; readonly message: string; readonly code: Code } | undefined;
}

/** Parses a JSON source. It stops at the first error, which is added to `problems`. */
export function parseJson(source: SourceText, limits: ParseLimits, problems: Problem[]): JsonValue | undefined {
  const reader: Reader = { text: source.text, limits, at: 0, parts: 0, depth: 0, failure: undefined };
  if (source.text.charCodeAt(0) === 0xfeff) reader.at = 1;
  let value: JsonValue | undefined;
  if (source.text.length > limits.sourceLength) {
    fail(reader, NOWHERE, `The source has ${source.text.length} characters; the limit is ${limits.sourceLength}.`);
  } else {
    value = readValue(reader);
    skipSpace(reader);
    if (value !== undefined && reader.at < source.text.length) {
      fail(reader, oneAt(reader.at), 'The JSON value is complete here: nothing can follow it.');
    }
  }
  const { failure } = reader;
  if (failure === undefined) return value;
  problems.push({ ...failure, severity: 'error', source });
  return undefined;
}

function fail(reader: Reader, span: Span, message: string, code: Code = 'bad_json'): undefined {
  reader.failure ??= { span, message, code };
  return undefined;
}

function oneAt(start: number): Span {
  return { start, end: start + 1 };
}

const NOWHERE: Span = { start: 0, end: 0 };

function skipSpace(reader: Reader): void {
  for (;;) {
    const unit = reader.text.charCodeAt(reader.at);
    if (unit !== 32 && unit !== 9 && unit !== 10 && unit !== 13) return;
    reader.at += 1;
  }
}

function readValue(reader: Reader): JsonValue | undefined {
  reader.parts += TOKENS_OF_A_VALUE;
  if (reader.parts > reader.limits.sourceTokens) {
    return fail(reader, NOWHERE, `The source has more than ${reader.limits.sourceTokens} tokens.`, 'too_long');
  }
  skipSpace(reader);
  const { text, at } = reader;
  switch (text.charAt(at)) {
    case '{':
    case '[':
      return readNested(reader);
    case '"':
      return readString(reader);
    case '':
      return fail(reader, { start: text.length, end: text.length }, 'The JSON text ends where a value is expected.');
    default:
      return readScalar(reader);
  }
}

/** Reads a value and the punctuation behind it; a name and its colon are read with the value. */
const TOKENS_OF_A_VALUE = 2;

function readNested(reader: Reader): JsonValue | undefined {
  reader.depth += 1;
  if (reader.depth > reader.limits.depth) {
    const message = `This is nested more than ${reader.limits.depth} levels deep.`;
    return fail(reader, oneAt(reader.at), message, 'too_deep');
  }
  const value = reader.text.charAt(reader.at) === '{' ? readObject(reader) : readArray(reader);
  reader.depth -= 1;
  return value;
}

function readObject(reader: Reader): JsonValue | undefined {
  const start = reader.at;
  const members: JsonMember[] = [];
  reader.at += 1;
  skipSpace(reader);
  if (reader.text.charAt(reader.at) === '}') reader.at += 1;
  else
    for (;;) {
      skipSpace(reader);
      if (reader.text.charAt(reader.at) !== '"') {
        return fail(reader, oneAt(reader.at), 'The quoted name of a member is expected here.');
      }
      const name = readString(reader);
      if (name === undefined) return undefined;
      skipSpace(reader);
      if (reader.text.charAt(reader.at) !== ':') {
        return fail(reader, oneAt(reader.at), 'A ":" is expected after the name.');
      }
      reader.at += 1;
      const value = readValue(reader);
      if (value === undefined) return undefined;
      members.push({ name: name.text, nameSpan: { start: name.start, end: name.end }, value });
      const more = readSeparator(reader, '}', start);
      if (more === undefined) return undefined;
      if (!more) break;
    }
  return { kind: 'json-object', members, start, end: reader.at };
}

function readArray(reader: Reader): JsonValue | undefined {
  const start = reader.at;
  const items: JsonValue[] = [];
  reader.at += 1;
  skipSpace(reader);
  if (reader.text.charAt(reader.at) === ']') reader.at += 1;
  else
    for (;;) {
      const item = readValue(reader);
      if (item === undefined) return undefined;
      items.push(item);
      const more = readSeparator(reader, ']', start);
      if (more === undefined) return undefined;
      if (!more) break;
    }
  return { kind: 'json-array', items, start, end: reader.at };
}

function readSeparator(reader: Reader, close: string, start: number): boolean | undefined {
  skipSpace(reader);
  const character = reader.text.charAt(reader.at);
  if (character === ',' || character === close) {
    reader.at += 1;
    return character === ',';
  }
  if (character === '') return fail(reader, oneAt(start), `This is never closed with "${close}".`);
  return fail(reader, oneAt(reader.at), `A "," or "${close}" is expected here.`);
}

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y;

function readString(reader: Reader): (JsonValue & { kind: 'json-string' }) | undefined {
  const start = reader.at;
  const end = stringEnd(reader.text, start);
  if (end === undefined) return fail(reader, oneAt(start), 'Invalid JSON string.');
  reader.at = end;
  const inner = reader.text.slice(start + 1, end - 1);
  const verbatim = !inner.includes('\\');
  const text = verbatim ? inner : (JSON.parse(reader.text.slice(start, end)) as string);
  if (hasLoneSurrogate(text)) return fail(reader, { start, end }, 'The string is not valid Unicode.');
  return { kind: 'json-string', text, verbatim, start, end };
}

/** Offset behind a string; undefined when it is not closed, or contains a control character or an invalid escape. */
function stringEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 34) return at + 1;
    if (unit < 32) return undefined;
    if (unit !== 92) continue;
    const letter = text.charAt(at + 1);
    if (letter === 'u') {
      if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) return undefined;
      at += 5;
    } else if (letter !== '' && '"\\/bfnrt'.includes(letter)) at += 1;
    else return undefined;
  }
  return undefined;
}

function readScalar(reader: Reader): JsonValue | undefined {
  const start = reader.at;
  SCALAR.lastIndex = start;
  const text = SCALAR.exec(reader.text)?.[0];
  if (text === undefined) return fail(reader, oneAt(start), 'Invalid JSON value.');
  reader.at = start + text.length;
  const span = { start, end: reader.at };
  if (text === 'true' || text === 'false' || text === 'null') return { kind: 'json-keyword', name: text, ...span };
  return { kind: 'json-number', text, ...span };
}
