import type { DiagnosticCode } from '../diagnostics/codes.js';
import type { Problem, ProblemText } from '../diagnostics/diagnostic.js';
import { badTokenReason, createLexer, type Lexer, type TokenKind } from './lexer.js';
import type { SourceText } from './source.js';
import type { Expression, Span, Template } from './tree.js';

/**
 * State shared by the readers of one source. A reader returns undefined after it has reported a problem, and the reader of items
 * continues with the next line, so that one run finds many errors.
 */
export interface Parser {
  readonly source: SourceText;
  readonly lexer: Lexer;
  readonly problems: Problem[];
  readonly maxDepth: number;
  depth: number;
  /** Whether the rest of the source cannot be interpreted: no more problems are reported. */
  stopped: boolean;
  /** Whether the last item had an error: problems that are probably caused by it (`FOLLOW_UPS`) are not reported. */
  recovering: boolean;
  /** Readers of expressions and templates, which are mutually recursive. */
  readonly readExpression: (parser: Parser) => Expression | undefined;
  readonly readTemplate: (parser: Parser) => Template | undefined;
}

/** Reading stops at this number of errors: the source is probably in another language. */
const MOST_PROBLEMS_KEPT = 1000;

/** Codes of problems that are usually caused by an error in the item before. */
const FOLLOW_UPS: ReadonlySet<DiagnosticCode> = new Set(['item_expected', 'newline_expected', 'block_header']);

type Readers = Pick<Parser, 'readExpression' | 'readTemplate'>;

export interface ParseLimits {
  readonly depth: number;
  readonly sourceLength: number;
  readonly sourceTokens: number;
}

export function createParser(source: SourceText, limits: ParseLimits, problems: Problem[], readers: Readers): Parser {
  return {
    source,
    lexer: createLexer(source.text, limits.sourceTokens),
    problems,
    maxDepth: limits.depth,
    depth: 0,
    stopped: false,
    recovering: false,
    readExpression: readers.readExpression,
    readTemplate: readers.readTemplate,
  };
}

/** True if the source has too many tokens. This is reported once and ends the reading, to avoid follow-up errors. */
export function isCutShort(parser: Parser): boolean {
  const { lexer, source } = parser;
  if (lexer.tokens <= lexer.maxTokens) return false;
  if (!parser.stopped) {
    const message = `The source has more than ${lexer.maxTokens} tokens.`;
    parser.problems.push({ code: 'too_long', severity: 'error', message, source, span: { start: 0, end: 0 } });
    parser.stopped = true;
  }
  return true;
}

/** Whether the current token is of a kind. (A function, because TypeScript would otherwise assume that `kind` never changes.) */
export function at(parser: Parser, kind: TokenKind): boolean {
  return parser.lexer.kind === kind;
}

/** Reports a problem. Always returns undefined, so that a reader can return the call. */
export function report(parser: Parser, code: DiagnosticCode, span: Span, text: ProblemText): undefined {
  const repeated = parser.recovering && FOLLOW_UPS.has(code);
  if (isCutShort(parser)) return undefined;
  if (!parser.stopped && !repeated) {
    const { start, end } = span;
    const said = typeof text === 'string' ? { message: text } : text;
    if (parser.problems.length >= MOST_PROBLEMS_KEPT) parser.stopped = true;
    parser.problems.push({ code, severity: 'error', ...said, source: parser.source, span: { start, end } });
  }
  return undefined;
}

/** Reports an unexpected token; a character that is invalid everywhere gets its own message. */
export function reportToken(parser: Parser, code: DiagnosticCode, message: string, detail?: string): undefined {
  const { lexer } = parser;
  if (lexer.kind !== 'bad') return report(parser, code, lexer, { message, detail });
  const reason = badTokenReason(lexer);
  const closes = reason.code === 'comment_not_closed';
  report(parser, reason.code, closes ? { start: lexer.start, end: lexer.start + 2 } : lexer, {
    message: reason.message,
    detail: reason.detail,
  });
  if (closes) parser.stopped = true;
  return undefined;
}

/** Goes one level deeper; false (and reported) when that is too deep, which also ends the reading. */
export function enter(parser: Parser, span: Span = parser.lexer): boolean {
  parser.depth += 1;
  if (parser.depth <= parser.maxDepth) return true;
  report(
    parser,
    'too_deep',
    { start: span.start, end: span.end },
    { message: `This is nested more than ${parser.maxDepth} levels deep.`, detail: 'Name inner parts with locals.' },
  );
  parser.stopped = true;
  return false;
}

export function leave(parser: Parser): void {
  parser.depth -= 1;
}

/** Name of the current token in messages. */
export function tokenName(parser: Parser): string {
  const { lexer } = parser;
  // Most kinds are their own name.
  const kind: string = lexer.kind;
  switch (kind) {
    case 'newline':
      return 'the end of the line';
    case 'end':
      return 'the end of the source';
    case 'quote':
      return 'a quoted string';
    case 'heredoc':
      return 'a heredoc';
    default: {
      const text = lexer.text.slice(lexer.start, lexer.end);
      return `"${text.length > 40 ? `${text.slice(0, 40)}…` : text}"`;
    }
  }
}
