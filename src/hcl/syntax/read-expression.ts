import { normalizeText } from '../values/unicode.js';
import { advance, type TokenKind } from './lexer.js';
import { at, enter, leave, type Parser, report, reportToken, tokenName } from './parser.js';
import { readObject, readTuple } from './read-collection.js';
import { readSteps } from './read-steps.js';
import { callHead, startSpan } from './source.js';
import type { BinaryOperator, Expression, Span } from './tree.js';

/** Reads one expression from the current token; afterwards the current token is the one after it. */
export function readExpression(parser: Parser): Expression | undefined {
  if (!enter(parser)) return undefined;
  const expression = readConditional(parser);
  leave(parser);
  return expression;
}

function readConditional(parser: Parser): Expression | undefined {
  const { lexer } = parser;
  const condition = readBinary(parser, 1);
  if (condition === undefined || !at(parser, '?')) return condition;
  advance(lexer);
  const whenTrue = readExpression(parser);
  if (whenTrue === undefined) return undefined;
  if (!at(parser, ':')) {
    return reportToken(
      parser,
      'separator_expected',
      `A conditional needs ":" and a second value here, not ${tokenName(parser)}.`,
      'Its form is: condition ? value : other value.',
    );
  }
  advance(lexer);
  const whenFalse = readExpression(parser);
  if (whenFalse === undefined) return undefined;
  return { kind: 'conditional', condition, whenTrue, whenFalse, start: condition.start, end: whenFalse.end };
}

const PRECEDENCE: Readonly<Partial<Record<TokenKind, number>>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 4,
  '<=': 4,
  '>': 4,
  '>=': 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
  '%': 6,
};

/** Binary operators of at least one precedence, left to right; a chain of any length is read without going deeper. */
function readBinary(parser: Parser, lowest: number): Expression | undefined {
  const { lexer } = parser;
  let left = readUnary(parser);
  while (left !== undefined) {
    const precedence = PRECEDENCE[lexer.kind];
    if (precedence === undefined || precedence < lowest) return left;
    const operator = lexer.kind as BinaryOperator;
    advance(lexer);
    const right: Expression | undefined = readBinary(parser, precedence + 1);
    if (right === undefined) return undefined;
    left = { kind: 'binary', operator, left, right, start: left.start, end: right.end };
  }
  return left;
}

function readUnary(parser: Parser): Expression | undefined {
  const { lexer } = parser;
  if (lexer.kind !== '-' && lexer.kind !== '!') {
    const term = readTerm(parser);
    return term === undefined ? undefined : readSteps(parser, term);
  }
  const operator = lexer.kind;
  const start = lexer.start;
  if (!enter(parser)) return undefined;
  advance(lexer);
  const operand = readUnary(parser);
  leave(parser);
  return operand === undefined ? undefined : { kind: 'unary', operator, operand, start, end: operand.end };
}

function readTerm(parser: Parser): Expression | undefined {
  const { lexer } = parser;
  const { start, end } = lexer;
  const kind: string = lexer.kind;
  switch (kind) {
    case 'number': {
      const text = lexer.text.slice(start, end);
      if (!NUMBER.test(text)) {
        return report(parser, 'bad_number', lexer, `"${text.slice(0, 40)}" is not a number.`);
      }
      advance(lexer);
      return { kind: 'number', text, start, end };
    }
    case 'identifier':
      return readName(parser);
    case 'quote':
    case 'heredoc':
      return parser.readTemplate(parser);
    case '(':
      return readParentheses(parser);
    case '[':
      return readTuple(parser);
    case '{':
      return readObject(parser);
    default:
      return reportToken(
        parser,
        'expression_expected',
        `A value is expected here, not ${tokenName(parser)}.`,
        kind === '<' && lexer.text.charCodeAt(start + 1) === 60
          ? 'A heredoc starts with "<<NAME" or "<<-NAME", without quotes or spaces, at the end of a line.'
          : undefined,
      );
  }
}

const NUMBER = /^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readParentheses(parser: Parser): Expression | undefined {
  const { lexer } = parser;
  const open: Span = startSpan(lexer);
  const outer = lexer.ignoreNewlines;
  lexer.ignoreNewlines = true;
  advance(lexer);
  const inner = readItem(parser, open, '(');
  lexer.ignoreNewlines = outer;
  if (inner === undefined) return undefined;
  if (!at(parser, ')')) {
    return reportToken(parser, 'not_closed', `A ")" is expected here, not ${tokenName(parser)}.`);
  }
  advance(lexer);
  return { kind: 'parentheses', inner, start: open.start, end: lexer.previousEnd };
}

/** An expression within brackets. At the end of the source the error refers to the open bracket. */
function readItem(parser: Parser, open: Span, bracket: string): Expression | undefined {
  if (at(parser, 'end')) {
    return report(parser, 'not_closed', open, `This "${bracket}" is never closed.`);
  }
  return parser.readExpression(parser);
}

function readName(parser: Parser): Expression | undefined {
  const { lexer } = parser;
  const { start } = lexer;
  let end = lexer.end;
  const first = normalizeText(lexer.text.slice(start, end));
  advance(lexer);
  let name = first;
  let qualified = false;
  while (at(parser, '::')) {
    qualified = true;
    advance(lexer);
    if (!at(parser, 'identifier')) {
      return reportToken(parser, 'expression_expected', 'The name of a function is expected after "::".');
    }
    name += `::${lexer.text.slice(lexer.start, lexer.end)}`;
    end = lexer.end;
    advance(lexer);
  }
  if (at(parser, '(')) return readCall(parser, name, { start, end });
  if (qualified) {
    return reportToken(
      parser,
      'expression_expected',
      'A name with "::" must be called: its arguments in "( )" are missing.',
    );
  }
  if (name === 'true' || name === 'false' || name === 'null') return { kind: 'keyword', name, start, end };
  return { kind: 'reference', name, steps: [], placeholder: `\${${name}}`, start, end };
}

function readCall(parser: Parser, name: string, nameSpan: Span): Expression | undefined {
  const { lexer } = parser;
  const openSpan = startSpan(lexer);
  const outer = lexer.ignoreNewlines;
  lexer.ignoreNewlines = true;
  advance(lexer);
  const given: Expression[] = [];
  let expandLast = false;
  while (!at(parser, ')')) {
    const argument = readItem(parser, openSpan, '(');
    if (argument === undefined) {
      lexer.ignoreNewlines = outer;
      return undefined;
    }
    given.push(argument);
    if (at(parser, '...')) {
      expandLast = true;
      advance(lexer);
      if (at(parser, ')')) break;
      lexer.ignoreNewlines = outer;
      return reportToken(
        parser,
        'not_closed',
        'Only the last argument may be followed by "...".',
        'A ")" is expected here.',
      );
    }
    if (at(parser, ',')) advance(lexer);
    else if (!at(parser, ')')) {
      lexer.ignoreNewlines = outer;
      return at(parser, 'end')
        ? report(
            parser,
            'not_closed',
            callHead({ nameSpan, openSpan }),
            `The call of ${name} is never closed with ")".`,
          )
        : reportToken(
            parser,
            'separator_expected',
            `A "," or ")" is expected here, not ${tokenName(parser)}.`,
            'Arguments of a function are separated by commas.',
          );
    }
  }
  lexer.ignoreNewlines = outer;
  advance(lexer);
  return {
    kind: 'call',
    name,
    nameSpan,
    openSpan,
    arguments: given,
    expandLast,
    start: nameSpan.start,
    end: lexer.previousEnd,
  };
}
