import { normalizeText } from '../values/unicode.js';
import { advance, type Lexer } from './lexer.js';
import { at, type Parser, report, reportToken, tokenName } from './parser.js';
import { leadingSpan, startSpan } from './source.js';
import type { Expression, ObjectItem, Span } from './tree.js';

/** Reads `[ … ]`: a tuple, or a for-expression that creates one. */
export function readTuple(parser: Parser): Expression | undefined {
  const { lexer } = parser;
  const open = startSpan(lexer);
  const outer = lexer.ignoreNewlines;
  lexer.ignoreNewlines = true;
  advance(lexer);
  const expression = isWord(lexer, 'for') ? readFor(parser, open, outer) : readTupleItems(parser, open, outer);
  lexer.ignoreNewlines = outer;
  return expression;
}

function readTupleItems(parser: Parser, open: Span, outer: boolean): Expression | undefined {
  const { lexer } = parser;
  const items: Expression[] = [];
  while (!at(parser, ']')) {
    if (at(parser, 'end')) return report(parser, 'not_closed', open, 'This "[" is never closed.');
    const item = parser.readExpression(parser);
    if (item === undefined) return undefined;
    items.push(item);
    if (at(parser, ',')) advance(lexer);
    else if (at(parser, 'end')) return report(parser, 'not_closed', open, 'This "[" is never closed.');
    else if (!at(parser, ']')) {
      return reportToken(
        parser,
        'separator_expected',
        `A "," or "]" is expected here, not ${tokenName(parser)}.`,
        at(parser, '...')
          ? '"..." groups values in an object for-expression, and expands the last argument of a call.'
          : undefined,
      );
    }
  }
  lexer.ignoreNewlines = outer;
  advance(lexer);
  return { kind: 'tuple', items, start: open.start, end: lexer.previousEnd };
}

/**
 * Reads `{ … }`: an object, in which line ends separate items, or a for-expression that creates one, in which they are spaces. The
 * word `for` decides, even on a later line, so it cannot be the key of the first item.
 */
export function readObject(parser: Parser): Expression | undefined {
  const { lexer } = parser;
  const open = startSpan(lexer);
  const outer = lexer.ignoreNewlines;
  lexer.ignoreNewlines = true;
  advance(lexer);
  const isFor = isWord(lexer, 'for');
  lexer.ignoreNewlines = isFor;
  const expression = isFor ? readFor(parser, open, outer) : readObjectItems(parser, open, outer);
  lexer.ignoreNewlines = outer;
  return expression;
}

function readObjectItems(parser: Parser, open: Span, outer: boolean): Expression | undefined {
  const { lexer } = parser;
  const items: ObjectItem[] = [];
  for (;;) {
    while (at(parser, 'newline')) advance(lexer);
    if (at(parser, '}')) break;
    if (at(parser, 'end')) return report(parser, 'not_closed', open, 'This "{" is never closed.');
    const item = readObjectItem(parser);
    if (item === undefined) return undefined;
    items.push(item);
    if (at(parser, ',') || at(parser, 'newline')) advance(lexer);
    else if (at(parser, 'end')) return report(parser, 'not_closed', open, 'This "{" is never closed.');
    else if (!at(parser, '}')) {
      return reportToken(
        parser,
        'separator_expected',
        `A "," or a new line is expected after the value, not ${tokenName(parser)}.`,
      );
    }
  }
  lexer.ignoreNewlines = outer;
  advance(lexer);
  return { kind: 'object', items, start: open.start, end: lexer.previousEnd };
}

function readObjectItem(parser: Parser): ObjectItem | undefined {
  const key = parser.readExpression(parser);
  if (key === undefined) return undefined;
  if (!at(parser, '=') && !at(parser, ':')) {
    return reportToken(
      parser,
      'separator_expected',
      `A "=" or ":" is expected after the key, not ${tokenName(parser)}.`,
      at(parser, '=>') ? '"=>" belongs to for-expressions only.' : undefined,
    );
  }
  advance(parser.lexer);
  const value = parser.readExpression(parser);
  return value === undefined ? undefined : { key, value };
}

type ForExpression = Extract<Expression, { kind: 'for' }>;

/** The two kinds of for-expressions: result, closing bracket and form. */
interface ForKind {
  readonly object: boolean;
  readonly close: ']' | '}';
  readonly form: string;
}

const FOR_TUPLE: ForKind = { object: false, close: ']', form: '[for value in collection : value]' };
const FOR_OBJECT: ForKind = { object: true, close: '}', form: '{for key, value in collection : key => value}' };

/** Reads a for-expression whose `for` is the current token. */
function readFor(parser: Parser, open: Span, outer: boolean): Expression | undefined {
  const { lexer } = parser;
  const kind = lexer.text.charCodeAt(open.start) === 123 ? FOR_OBJECT : FOR_TUPLE;
  const names = readForNames(parser, kind);
  if (names === undefined) return undefined;
  const collection = parser.readExpression(parser);
  if (collection === undefined) return undefined;
  if (!at(parser, ':')) {
    return badFor(parser, kind, `A ":" is expected after the collection, not ${tokenName(parser)}.`);
  }
  advance(lexer);
  const made = readForElement(parser, kind);
  if (made === undefined) return undefined;
  const conditional = isWord(lexer, 'if');
  if (conditional) advance(lexer);
  const condition = conditional ? parser.readExpression(parser) : undefined;
  if (conditional && condition === undefined) return undefined;
  if (!at(parser, kind.close)) {
    return badFor(parser, kind, `A "${kind.close}" is expected here, not ${tokenName(parser)}.`);
  }
  lexer.ignoreNewlines = outer;
  advance(lexer);
  return { kind: 'for', ...names, collection, ...made, condition, start: open.start, end: lexer.previousEnd };
}

/** `for key, value in` or `for value in`. */
function readForNames(parser: Parser, kind: ForKind): Pick<ForExpression, 'keyName' | 'valueName'> | undefined {
  const { lexer } = parser;
  advance(lexer);
  const first = readName(parser);
  if (first === undefined) return badFor(parser, kind, `A name is expected after "for", not ${tokenName(parser)}.`);
  let second: string | undefined;
  if (at(parser, ',')) {
    advance(lexer);
    second = readName(parser);
    if (second === undefined) {
      return badFor(parser, kind, `A second name is expected after the comma, not ${tokenName(parser)}.`);
    }
  }
  if (!isWord(lexer, 'in')) return badFor(parser, kind, `"in" is expected here, not ${tokenName(parser)}.`);
  advance(lexer);
  return second === undefined ? { keyName: undefined, valueName: first } : { keyName: first, valueName: second };
}

/** The result of each iteration: a value, or `key => value` for an object; a trailing `...` groups values by key. */
function readForElement(parser: Parser, kind: ForKind): Pick<ForExpression, 'key' | 'value' | 'grouped'> | undefined {
  const { lexer } = parser;
  const first = parser.readExpression(parser);
  if (first === undefined) return undefined;
  const keyed = at(parser, '=>');
  if (keyed && !kind.object) {
    const text = { message: 'A for-expression in "[ ]" makes values without keys.', detail: formOf(kind) };
    return report(parser, 'bad_for', leadingSpan(first), text);
  }
  if (!keyed && kind.object) {
    return badFor(parser, kind, `"=>" and a value are expected after the key, not ${tokenName(parser)}.`);
  }
  if (!keyed) {
    if (at(parser, '...')) return badFor(parser, kind, 'Only a for-expression in "{ }" can group its values.');
    return { key: undefined, value: first, grouped: false };
  }
  advance(lexer);
  const value = parser.readExpression(parser);
  if (value === undefined) return undefined;
  const grouped = at(parser, '...');
  if (grouped) advance(lexer);
  return { key: first, value, grouped };
}

function badFor(parser: Parser, kind: ForKind, message: string): undefined {
  return reportToken(parser, 'bad_for', message, formOf(kind));
}

function formOf({ form }: ForKind): string {
  return `The form is ${form}.`;
}

function readName(parser: Parser): string | undefined {
  const { lexer } = parser;
  if (!at(parser, 'identifier')) return undefined;
  const name = normalizeText(lexer.text.slice(lexer.start, lexer.end));
  advance(lexer);
  return name;
}

function isWord(lexer: Lexer, word: string): boolean {
  return (
    lexer.kind === 'identifier' && lexer.end - lexer.start === word.length && lexer.text.startsWith(word, lexer.start)
  );
}
