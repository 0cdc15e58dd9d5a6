import { normalizeText } from '../values/value.js';
import { advance, type Lexer } from './lexer.js';
import { at, type Parser, report, reportToken, tokenName } from './parser.js';
import { leadingSpan, startSpan } from './spans.js';
import type { Expression, ObjectItem, Span } from './tree.js';

/** Reads `[ … ]`: a tuple, or a for-expression that makes one. */
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

/** Reads `{ … }`: an object, in which line ends separate items, or a for-expression that makes one. */
export function readObject(parser: Parser): Expression | undefined {
  const { lexer } = parser;
  const open = startSpan(lexer);
  const outer = lexer.ignoreNewlines;
  lexer.ignoreNewlines = false;
  advance(lexer);
  let expression: Expression | undefined;
  if (isWord(lexer, 'for')) {
    lexer.ignoreNewlines = true;
    expression = readFor(parser, open, outer);
  } else expression = readObjectItems(parser, open, outer);
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
    const key = parser.readExpression(parser);
    if (key === undefined) return undefined;
    if (!at(parser, '=') && !at(parser, ':')) {
      return reportToken(
        parser,
        'separator_expected',
        `A "=" or ":" is expected behind the key, not ${tokenName(parser)}.`,
        at(parser, '=>') ? '"=>" belongs to for-expressions only.' : undefined,
      );
    }
    advance(lexer);
    const value = parser.readExpression(parser);
    if (value === undefined) return undefined;
    items.push({ key, value });
    if (at(parser, ',') || at(parser, 'newline')) advance(lexer);
    else if (at(parser, 'end')) return report(parser, 'not_closed', open, 'This "{" is never closed.');
    else if (!at(parser, '}')) {
      return reportToken(
        parser,
        'separator_expected',
        `A "," or a new line is expected behind the value, not ${tokenName(parser)}.`,
      );
    }
  }
  lexer.ignoreNewlines = outer;
  advance(lexer);
  return { kind: 'object', items, start: open.start, end: lexer.previousEnd };
}

/** Reads a for-expression whose `for` is the current token. */
function readFor(parser: Parser, open: Span, outer: boolean): Expression | undefined {
  const { lexer } = parser;
  const object = lexer.text.charCodeAt(open.start) === 123;
  const form = object ? '{for key, value in collection : key => value}' : '[for value in collection : value]';
  const fail = (message: string): undefined => reportToken(parser, 'bad_for', message, `The form is ${form}.`);
  advance(lexer);
  let valueName = readName(parser);
  if (valueName === undefined) return fail(`A name is expected behind "for", not ${tokenName(parser)}.`);
  let keyName: string | undefined;
  if (at(parser, ',')) {
    advance(lexer);
    keyName = valueName;
    valueName = readName(parser);
    if (valueName === undefined) return fail(`A second name is expected behind the comma, not ${tokenName(parser)}.`);
  }
  if (!isWord(lexer, 'in')) return fail(`"in" is expected here, not ${tokenName(parser)}.`);
  advance(lexer);
  const collection = parser.readExpression(parser);
  if (collection === undefined) return undefined;
  if (!at(parser, ':')) return fail(`A ":" is expected behind the collection, not ${tokenName(parser)}.`);
  advance(lexer);
  let key: Expression | undefined;
  let value = parser.readExpression(parser);
  if (value === undefined) return undefined;
  if (at(parser, '=>')) {
    if (!object) {
      return report(
        parser,
        'bad_for',
        leadingSpan(value),
        'A for-expression in "[ ]" makes values without keys.',
        `The form is ${form}.`,
      );
    }
    advance(lexer);
    key = value;
    value = parser.readExpression(parser);
    if (value === undefined) return undefined;
  } else if (object) {
    return fail(`"=>" and a value are expected behind the key, not ${tokenName(parser)}.`);
  }
  const grouped = at(parser, '...');
  if (grouped) {
    if (!object) return fail('Only a for-expression in "{ }" can group its values.');
    advance(lexer);
  }
  let condition: Expression | undefined;
  if (isWord(lexer, 'if')) {
    advance(lexer);
    condition = parser.readExpression(parser);
    if (condition === undefined) return undefined;
  }
  const close = object ? '}' : ']';
  if (!at(parser, close)) return fail(`A "${close}" is expected here, not ${tokenName(parser)}.`);
  lexer.ignoreNewlines = outer;
  advance(lexer);
  return {
    kind: 'for',
    keyName,
    valueName,
    collection,
    key,
    value,
    grouped,
    condition,
    start: open.start,
    end: lexer.previousEnd,
  };
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
