import { madeOnce } from '../../shared/remembered.js';
import { simpleEscapes } from '../../shared/source-text.js';
import type { Problem } from '../diagnostics/diagnostic.js';
import { normalizeText } from '../values/unicode.js';
import type { ParseLimits } from './parser.js';
import type { SourceText } from './source.js';
import type { Body, BodyItem, Expression, Label, ObjectItem, Span } from './tree.js';

/** State of the reader of version 1 sources: position, depth, and the first error, at which it stops. */
interface LiteralReader {
  readonly text: string;
  readonly maxDepth: number;
  readonly maxTokens: number;
  at: number;
  /** Tokens of the keys and values read so far. */
  tokens: number;
  depth: number;
  failure: { readonly span: Span; readonly message: string } | undefined;
}

/**
 * Parses a source of version 1 of the language, in which nothing is evaluated: `${…}` is literal, keys may be quoted or contain dots, items
 * may share a line and be separated by commas, numbers may be hexadecimal or octal, and `name = { … }` is a block. It stops at the first
 * error, which is added to `problems`.
 */
export function parseLiteralBody(source: SourceText, limits: ParseLimits, problems: Problem[]): Body {
  const { text } = source;
  const reader: LiteralReader = {
    text,
    maxDepth: limits.depth,
    maxTokens: limits.sourceTokens,
    at: 0,
    tokens: 0,
    depth: 0,
    failure: undefined,
  };
  if (text.charCodeAt(0) === 0xfeff) reader.at = 1;
  let items: readonly BodyItem[] | undefined;
  if (text.length > limits.sourceLength) {
    fail(reader, 0, 0, `The source has ${text.length} characters; the limit is ${limits.sourceLength}.`);
  } else items = readItems(reader, undefined);
  if (reader.failure !== undefined) {
    const { span, message } = reader.failure;
    problems.push({ code: 'unexpected_text', severity: 'error', message, source, span });
  }
  return { kind: 'body', items: items ?? [], start: 0, end: text.length };
}

function fail(reader: LiteralReader, start: number, end: number, message: string): undefined {
  reader.failure ??= { span: { start, end }, message };
  return undefined;
}

/** Items up to the closing brace, which is left to the caller, or to the end of the source. */
function readItems(reader: LiteralReader, open: number | undefined): BodyItem[] | undefined {
  const items: BodyItem[] = [];
  const attributes = new Map<string, number>();
  for (;;) {
    skipSpace(reader);
    const character = reader.text.charAt(reader.at);
    if (character === ',') {
      reader.at += 1;
      continue;
    }
    if (character === '') return open === undefined ? items : fail(reader, open, open + 1, 'This "{" is never closed.');
    if (character === '}' && open !== undefined) return items;
    const item = readItem(reader);
    if (item === undefined) return undefined;
    const earlier = item.kind === 'attribute' ? attributes.get(item.name) : undefined;
    if (earlier !== undefined) items[earlier] = item;
    else {
      if (item.kind === 'attribute') attributes.set(item.name, items.length);
      items.push(item);
    }
  }
}

function readItem(reader: LiteralReader): BodyItem | undefined {
  if (!counted(reader)) return undefined;
  const start = reader.at;
  const keys = readKeys(reader);
  if (keys === undefined) return undefined;
  const [first, ...labels] = keys;
  if (first === undefined) return fail(reader, reader.at, reader.at + 1, 'A key is expected here.');
  if (reader.text.charAt(reader.at) === '=') {
    const [label] = labels;
    if (label !== undefined) return fail(reader, label.start, label.end, 'Only one key can come before "=".');
    reader.at += 1;
    skipSpace(reader);
    if (reader.text.charAt(reader.at) !== '{') {
      const value = readValue(reader);
      if (value === undefined) return undefined;
      const nameSpan = { start: first.start, end: first.end };
      return { kind: 'attribute', name: first.text, nameSpan, value, start, end: value.end };
    }
  }
  const body = readBraces(reader);
  if (body === undefined) return undefined;
  const typeSpan = { start: first.start, end: first.end };
  return { kind: 'block', type: first.text, typeSpan, labels, body, start, end: body.end };
}

/** The name of an attribute, or the type and labels of a block, up to what follows them. */
function readKeys(reader: LiteralReader): readonly Label[] | undefined {
  const keys: Label[] = [];
  for (;;) {
    skipSpace(reader);
    const character = reader.text.charAt(reader.at);
    if (character === '=' || character === '{') return keys;
    const key = character === '"' ? readKeyString(reader) : readWord(reader);
    if (key === undefined) {
      return fail(reader, reader.at, reader.at + 1, 'A key, a "=" or a "{" is expected here.');
    }
    keys.push(key);
  }
}

function readBraces(reader: LiteralReader): Body | undefined {
  const start = reader.at;
  if (!enter(reader)) return undefined;
  reader.at += 1;
  const items = readItems(reader, start);
  reader.depth -= 1;
  if (items === undefined) return undefined;
  reader.at += 1;
  return { kind: 'body', items, start, end: reader.at };
}

function readValue(reader: LiteralReader): Expression | undefined {
  if (!counted(reader)) return undefined;
  skipSpace(reader);
  const { text, at: start } = reader;
  switch (text.charAt(start)) {
    case '"': {
      const found = readLiteralString(text, start);
      if (found.text === undefined) return fail(reader, found.errorAt, found.errorAt + 1, found.message);
      reader.at = found.end;
      return textTemplate(found.text, start, found.end);
    }
    case '<': {
      const found = readLiteralHeredoc(text, start);
      if (found.text === undefined) return fail(reader, found.errorAt, found.errorAt, found.message);
      reader.at = found.end;
      return textTemplate(found.text, start, found.end);
    }
    case '[':
      return readList(reader);
    case '{': {
      const body = readBraces(reader);
      return body === undefined ? undefined : objectFrom(body);
    }
    case '':
      return fail(reader, start, start, 'The source ends where a value is expected.');
    default:
      return readScalar(reader);
  }
}

function readList(reader: LiteralReader): Expression | undefined {
  const start = reader.at;
  if (!enter(reader)) return undefined;
  reader.at += 1;
  const items: Expression[] = [];
  for (;;) {
    skipSpace(reader);
    if (reader.text.charAt(reader.at) === ']') break;
    const item = readValue(reader);
    if (item === undefined) return undefined;
    items.push(item);
    skipSpace(reader);
    if (reader.text.charAt(reader.at) === ',') reader.at += 1;
    else if (reader.text.charAt(reader.at) !== ']') {
      return fail(reader, reader.at, reader.at + 1, 'A "," or "]" is expected here.');
    }
  }
  reader.depth -= 1;
  reader.at += 1;
  return { kind: 'tuple', items, start, end: reader.at };
}

const SCALAR = /-?[\w.]+(?:[eE][+-]\d+)?/y;

function readScalar(reader: LiteralReader): Expression | undefined {
  const start = reader.at;
  SCALAR.lastIndex = start;
  const word = SCALAR.exec(reader.text)?.[0];
  if (word === undefined) return fail(reader, start, start + 1, 'A value is expected here.');
  const end = start + word.length;
  reader.at = end;
  if (word === 'true' || word === 'false') return { kind: 'keyword', name: word, start, end };
  const number = literalNumber(word);
  if (number === undefined) {
    return fail(reader, start, end, `A value is expected here; strings are written in double quotes.`);
  }
  const negative = number.startsWith('-');
  const operand: Expression = { kind: 'number', text: negative ? number.slice(1) : number, start, end };
  return negative ? { kind: 'unary', operator: '-', operand, start, end } : operand;
}

function objectFrom(body: Body): Expression {
  const items = body.items.map((item): ObjectItem => {
    if (item.kind === 'attribute') return { key: keyTemplate(item.name, item.nameSpan), value: item.value };
    let value = objectFrom(item.body);
    for (const label of [...item.labels].reverse()) {
      const { start, end } = value;
      value = { kind: 'object', items: [{ key: keyTemplate(label.text, label), value }], start, end };
    }
    return { key: keyTemplate(item.type, item.typeSpan), value };
  });
  return { kind: 'object', items, start: body.start, end: body.end };
}

function keyTemplate(text: string, span: Span): Expression {
  return textTemplate(text, span.start, span.end);
}

function textTemplate(text: string, start: number, end: number): Expression {
  const quoted = end - start >= 2;
  const parts =
    text === ''
      ? []
      : [{ kind: 'text' as const, text, start: quoted ? start + 1 : start, end: quoted ? end - 1 : end }];
  return { kind: 'template', parts, passThrough: false, start, end };
}

function readKeyString(reader: LiteralReader): Label | undefined {
  const start = reader.at;
  const found = readLiteralString(reader.text, start);
  if (found.text === undefined) return fail(reader, found.errorAt, found.errorAt + 1, found.message);
  reader.at = found.end;
  return { text: found.text, start, end: found.end };
}

const wordForm = madeOnce(() => /[\p{L}_][\p{L}\p{N}_.-]*/uy);

function readWord(reader: LiteralReader): Label | undefined {
  const form = wordForm();
  form.lastIndex = reader.at;
  const text = form.exec(reader.text)?.[0];
  if (text === undefined) return undefined;
  const start = reader.at;
  reader.at += text.length;
  return { text, start, end: reader.at };
}

/** Counts a key or a value with the punctuation behind it; false, and reported, when there are too many. */
function counted(reader: LiteralReader): boolean {
  reader.tokens += 2;
  if (reader.tokens <= reader.maxTokens) return true;
  fail(reader, 0, 0, `The source has more than ${reader.maxTokens} tokens.`);
  return false;
}

function enter(reader: LiteralReader): boolean {
  reader.depth += 1;
  if (reader.depth <= reader.maxDepth) return true;
  fail(reader, reader.at, reader.at + 1, `This is nested more than ${reader.maxDepth} levels deep.`);
  return false;
}

/** Skips white space, line ends and comments. */
// oxlint-disable-next-line complexity -- one scan over white space and comments
function skipSpace(reader: LiteralReader): void {
  const { text } = reader;
  for (;;) {
    const character = text.charAt(reader.at);
    const next = text.charAt(reader.at + 1);
    if (character === ' ' || character === '\t' || character === '\n' || character === '\r') reader.at += 1;
    else if (character === '#' || (character === '/' && next === '/')) {
      const lineEnd = text.indexOf('\n', reader.at);
      reader.at = lineEnd < 0 ? text.length : lineEnd;
    } else if (character === '/' && next === '*') {
      const close = text.indexOf('*/', reader.at + 2);
      if (close < 0) {
        fail(reader, reader.at, reader.at + 2, 'The comment is not closed.');
        reader.at = text.length;
        return;
      }
      reader.at = close + 2;
    } else return;
  }
}

type LiteralText =
  | { readonly text: string; readonly end: number }
  | { readonly text: undefined; readonly errorAt: number; readonly message: string };

const ESCAPES: Readonly<Record<string, string>> = { ...simpleEscapes, "'": "'" };

/** A quoted string of version 1: within `${ }` everything is literal, including quotes and line ends. */
function readLiteralString(text: string, start: number): LiteralText {
  const pieces: string[] = [];
  let at = start + 1;
  let pieceStart = at;
  let braces = 0;
  for (;;) {
    const character = text.charAt(at);
    if (character === '')
      return { text: undefined, errorAt: start, message: 'This string is never closed with a double quote.' };
    if (braces > 0) {
      if (character === '{') braces += 1;
      else if (character === '}') braces -= 1;
      at += 1;
    } else if (character === '"') {
      pieces.push(text.slice(pieceStart, at));
      return { text: literalText(pieces.join('')), end: at + 1 };
    } else if (character === '\n') {
      return { text: undefined, errorAt: at, message: 'A quoted string cannot continue on the next line.' };
    } else if (character === '\\') {
      const escaped = readEscape(text, at);
      if (escaped === undefined) return { text: undefined, errorAt: at, message: 'Unknown escape sequence.' };
      pieces.push(text.slice(pieceStart, at), escaped.text);
      at = escaped.end;
      pieceStart = at;
    } else {
      if (character === '$' && text.charAt(at + 1) === '{') {
        braces = 1;
        at += 1;
      }
      at += 1;
    }
  }
}

function readEscape(text: string, start: number): { text: string; end: number } | undefined {
  const simple = ESCAPES[text.charAt(start + 1)];
  if (simple !== undefined) return { text: simple, end: start + 2 };
  const coded = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/.exec(
    text.slice(start, start + 10),
  );
  if (coded === null) return undefined;
  const [whole, byte, short, long, octal] = coded;
  const point = octal === undefined ? Number.parseInt(byte ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8);
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return undefined;
  return { text: String.fromCodePoint(point), end: start + whole.length };
}

/** Version 1 of the language knows line feeds only. */
function literalText(text: string): string {
  return normalizeText(text.replaceAll('\r\n', '\n'));
}

/**
 * A heredoc of version 1. With `<<-` the indentation of the closing marker is removed from every line, but only if every line has
 * it; with `<<` it is the end of the source.
 */
function readLiteralHeredoc(text: string, start: number): LiteralText {
  const lineEnd = text.indexOf('\n', start);
  const header = /^<<(-?)([\p{L}\p{N}_]+)[ \t\r]*$/u.exec(lineEnd < 0 ? '' : text.slice(start, lineEnd));
  if (header === null) {
    return {
      text: undefined,
      errorAt: start,
      message: 'A heredoc starts with "<<NAME" or "<<-NAME" at the end of a line.',
    };
  }
  const [, dash, marker = ''] = header;
  const lines: string[] = [];
  let at = lineEnd + 1;
  while (at < text.length) {
    const next = text.indexOf('\n', at);
    const end = next < 0 ? text.length : next;
    const line = text.slice(at, end);
    if (line.trim() === marker) {
      const indentation = line.slice(0, line.indexOf(marker));
      const uniform = dash === '-' && lines.every((each) => each.startsWith(indentation));
      const kept = uniform ? lines.map((each) => each.slice(indentation.length)) : lines;
      const rest = dash === '-' ? '' : indentation;
      return { text: literalText(kept.map((each) => `${each}\n`).join('') + rest), end };
    }
    lines.push(line);
    at = end + 1;
  }
  return {
    text: undefined,
    errorAt: text.length,
    message: `The heredoc is not closed with a line that holds ${marker} only.`,
  };
}

/** Decimal form of a number of version 1, which may be hexadecimal or octal; undefined for anything else. */
function literalNumber(word: string): string | undefined {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word)) return word;
  const whole = /^(-?)(?:0[xX]([0-9a-fA-F]{1,32})|0([0-7]{1,40}))$/.exec(word);
  if (whole === null) return /^-?\d{1,400}(?:\.\d+)?$/.test(word) ? word : undefined;
  const [, sign = '', hexadecimal, octal = '0'] = whole;
  return sign + BigInt(hexadecimal === undefined ? `0o${octal}` : `0x${hexadecimal}`).toString();
}
