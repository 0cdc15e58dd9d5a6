import { normalizeText } from '../values/unicode.js';
import type { RawPart } from './build-template.js';
import { advance, continueAt } from './lexer.js';
import { at, type Parser, report, reportToken, tokenName } from './parser.js';
import type { Expression, Span } from './tree.js';

/** Reads the `${ … }` or `%{ … }` at an offset. The caller continues at the end of the part. */
export function readSequence(parser: Parser, start: number): RawPart | undefined {
  const { lexer } = parser;
  const outer = lexer.ignoreNewlines;
  const trimBefore = lexer.text.charCodeAt(start + 2) === 126 && lexer.text.charCodeAt(start + 3) !== 125;
  lexer.ignoreNewlines = true;
  continueAt(lexer, start + (trimBefore ? 3 : 2));
  const part =
    lexer.text.charCodeAt(start) === 36
      ? readInterpolation(parser, start, trimBefore)
      : readDirective(parser, start, trimBefore);
  lexer.ignoreNewlines = outer;
  return part;
}

function readInterpolation(parser: Parser, start: number, trimBefore: boolean): RawPart | undefined {
  if (at(parser, 'end')) return notClosed(parser, start);
  const value = parser.readExpression(parser);
  if (value === undefined) return undefined;
  const close = readClose(parser, start);
  if (close === undefined) return undefined;
  return {
    kind: 'interpolation',
    value: value.kind === 'reference' ? withPlaceholder(parser, value, start) : value,
    trimBefore,
    trimBehind: close.trim,
    start,
    end: close.end,
  };
}

/** A single name in `${ }` is kept as written, with the spaces next to the braces. */
function withPlaceholder(parser: Parser, value: Expression & { kind: 'reference' }, start: number): Expression {
  const { text, start: closeStart, kind } = parser.lexer;
  const before = text.slice(start + 2, value.start);
  const behind = text.slice(value.end, closeStart);
  if (before === '' && behind === '') return value;
  const spaces = /^ *$/;
  const left = spaces.test(before) ? before : '';
  const right = kind === '}' && spaces.test(behind) ? behind : '';
  if (left === '' && right === '') return value;
  return { ...value, placeholder: `\${${left}${normalizeText(text.slice(value.start, value.end))}${right}}` };
}

function readDirective(parser: Parser, start: number, trimBefore: boolean): RawPart | undefined {
  const { lexer } = parser;
  if (at(parser, 'end')) return notClosed(parser, start);
  const word = at(parser, 'identifier') ? lexer.text.slice(lexer.start, lexer.end) : '';
  switch (word) {
    case 'if': {
      advance(lexer);
      const condition = parser.readExpression(parser);
      const close = condition === undefined ? undefined : readClose(parser, start);
      if (condition === undefined || close === undefined) return undefined;
      return { kind: 'if', condition, trimBefore, trimBehind: close.trim, start, end: close.end };
    }
    case 'for':
      return readFor(parser, start, trimBefore);
    case 'else':
    case 'endif':
    case 'endfor': {
      advance(lexer);
      const close = readClose(parser, start);
      return close === undefined
        ? undefined
        : { kind: word, trimBefore, trimBehind: close.trim, start, end: close.end };
    }
    default:
      return reportToken(
        parser,
        'bad_directive',
        `A template directive starts with a keyword, not with ${tokenName(parser)}.`,
        'The keywords are if, else, endif, for and endfor. For a literal "%{" write "%%{".',
      );
  }
}

function readFor(parser: Parser, start: number, trimBefore: boolean): RawPart | undefined {
  const { lexer } = parser;
  const names: string[] = [];
  do {
    advance(lexer);
    if (!at(parser, 'identifier')) {
      return reportToken(
        parser,
        'bad_for',
        `A name is expected here, not ${tokenName(parser)}.`,
        'The form is %{ for key, value in collection }.',
      );
    }
    names.push(normalizeText(lexer.text.slice(lexer.start, lexer.end)));
    advance(lexer);
  } while (names.length < 2 && at(parser, ','));
  if (!at(parser, 'identifier') || lexer.text.slice(lexer.start, lexer.end) !== 'in') {
    return reportToken(
      parser,
      'bad_for',
      `"in" is expected here, not ${tokenName(parser)}.`,
      'The form is %{ for key, value in collection }.',
    );
  }
  advance(lexer);
  const collection = parser.readExpression(parser);
  const close = collection === undefined ? undefined : readClose(parser, start);
  if (collection === undefined || close === undefined) return undefined;
  const [first = '', second] = names;
  return {
    kind: 'for',
    keyName: second === undefined ? undefined : first,
    valueName: second ?? first,
    collection,
    trimBefore,
    trimBehind: close.trim,
    start,
    end: close.end,
  };
}

function readClose(parser: Parser, start: number): { trim: boolean; end: number } | undefined {
  const { lexer } = parser;
  if (at(parser, '}') || at(parser, '~}')) return { trim: at(parser, '~}'), end: lexer.end };
  if (at(parser, 'end')) return notClosed(parser, start);
  return reportToken(parser, 'unexpected_text', `A "}" is expected here, not ${tokenName(parser)}.`);
}

function notClosed(parser: Parser, start: number): undefined {
  const span: Span = { start, end: start + 2 };
  const opening = parser.lexer.text.slice(start, start + 2);
  return report(parser, 'not_closed', span, {
    message: `This "${opening}" is never closed with "}".`,
    detail: `For a literal "${opening}" write "${opening.charAt(0)}${opening}".`,
  });
}
