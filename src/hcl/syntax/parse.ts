import { madeOnce } from '../../shared/remembered.js';
import type { Problem } from '../diagnostics/diagnostic.js';
import type { Steps } from '../steps.js';
import { advance, continueAt } from './lexer.js';
import {
  at,
  createParser,
  isCutShort,
  type ParseLimits,
  type Parser,
  report,
  reportToken,
  tokenName,
} from './parser.js';
import { readFileBody } from './read-body.js';
import { readExpression } from './read-expression.js';
import { readTemplate, readWholeText } from './read-template.js';
import type { SourceText } from './source.js';
import type { Body, Expression, Template } from './tree.js';

/** Parses a source. All errors are added to `problems`; the body contains what could be read. */
export function* parseBody(source: SourceText, limits: ParseLimits, problems: Problem[]): Steps<Body> {
  const parser = start(source, limits, problems);
  const body: Body = parser.stopped ? { kind: 'body', items: [], start: 0, end: 0 } : yield* readFileBody(parser);
  isCutShort(parser);
  return body;
}

/** Parses a source that is one expression; line ends are spaces, as if it were in parentheses. */
export function parseExpression(source: SourceText, limits: ParseLimits, problems: Problem[]): Expression | undefined {
  const parser = start(source, limits, problems);
  if (parser.stopped) return undefined;
  parser.lexer.ignoreNewlines = true;
  continueAt(parser.lexer, source.text.charCodeAt(0) === 0xfeff ? 1 : 0);
  const expression = parser.readExpression(parser);
  if (expression === undefined || isCutShort(parser)) return undefined;
  while (at(parser, 'newline')) advance(parser.lexer);
  if (at(parser, 'end')) return expression;
  return reportToken(
    parser,
    'unexpected_text',
    `The expression is complete here: ${tokenName(parser)} cannot follow it.`,
  );
}

/** Parses a source that is one template: the content of a string in the JSON form. */
export function parseTemplate(source: SourceText, limits: ParseLimits, problems: Problem[]): Template | undefined {
  const parser = start(source, limits, problems);
  const template = parser.stopped ? undefined : readWholeText(parser);
  return isCutShort(parser) ? undefined : template;
}

function start(source: SourceText, limits: ParseLimits, problems: Problem[]): Parser {
  const parser = createParser(source, limits, problems, { readExpression, readTemplate });
  if (!isAcceptable(source, limits, parser)) parser.stopped = true;
  return parser;
}

function isAcceptable(source: SourceText, limits: ParseLimits, parser: Parser): boolean {
  const { text } = source;
  if (text.length > limits.sourceLength) {
    const message = `The source has ${text.length} characters; the limit is ${limits.sourceLength}.`;
    report(parser, 'too_long', { start: 0, end: 0 }, message);
    return false;
  }
  const half = text.search(loneSurrogate());
  if (half < 0) return true;
  report(
    parser,
    'bad_unicode',
    { start: half, end: half + 1 },
    'The source is not valid Unicode: there is an unpaired surrogate here.',
  );
  return false;
}

const loneSurrogate = madeOnce(() => /\p{Surrogate}/u);
