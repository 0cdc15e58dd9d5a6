import type { DiagnosticCode } from '../diagnostics/codes.js';

/** Kind of a token; punctuation and operators are their own kind. */
export type TokenKind =
  | 'identifier'
  | 'number'
  | 'newline'
  | 'end'
  | 'quote'
  | 'heredoc'
  | 'bad'
  | '{'
  | '}'
  | '~}'
  | '['
  | ']'
  | '('
  | ')'
  | ','
  | '.'
  | '...'
  | ':'
  | '::'
  | '?'
  | '='
  | '=>'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '&&'
  | '||'
  | '!'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%';

/**
 * Reads one token at a time. `kind`, `start` and `end` describe the current token, `previousEnd` is the end of the one before. A
 * `quote` token is only the opening quote and a `heredoc` token its header line: the template reader reads the rest.
 */
export interface Lexer {
  readonly text: string;
  kind: TokenKind;
  start: number;
  end: number;
  previousEnd: number;
  /** Within brackets of most kinds line ends are spaces. */
  ignoreNewlines: boolean;
  /** Tokens read so far. After the limit, the lexer returns `end`. */
  tokens: number;
  readonly maxTokens: number;
}

export function createLexer(text: string, maxTokens: number): Lexer {
  return { text, kind: 'end', start: 0, end: 0, previousEnd: 0, ignoreNewlines: false, tokens: 0, maxTokens };
}

/** Moves to the next token behind the current one. */
export function advance(lexer: Lexer): void {
  lexer.previousEnd = lexer.end;
  scan(lexer, lexer.end);
}

/** Moves to the first token at or behind an offset, e.g. behind a template that was read character by character. */
export function continueAt(lexer: Lexer, offset: number): void {
  lexer.previousEnd = offset;
  scan(lexer, offset);
}

/** Why the current `bad` token is bad: its code, and what to do about it. */
export function badTokenReason(lexer: Lexer): { code: DiagnosticCode; message: string; detail?: string } {
  const character = String.fromCodePoint(lexer.text.codePointAt(lexer.start) ?? 0xfffd);
  switch (character) {
    case "'":
      return { code: 'bad_character', message: 'Single quotes do not quote strings.', detail: 'Use double quotes.' };
    case '`':
      return {
        code: 'bad_character',
        message: 'Backticks do not quote strings.',
        detail: 'Use double quotes, or a heredoc for a multi-line string.',
      };
    case '&':
    case '|':
    case '^':
    case '~':
      return {
        code: 'bad_character',
        message: `There is no operator "${character}".`,
        ...(character === '&' || character === '|' ? { detail: `Use "${character}${character}" for logic.` } : {}),
      };
    case ';':
      return {
        code: 'bad_character',
        message: 'Semicolons do not separate items.',
        detail: 'Start a new line instead.',
      };
    case '/':
      return { code: 'comment_not_closed', message: 'The comment is not closed.', detail: 'It needs a "*/".' };
    default: {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      return { code: 'bad_character', message: `The character U+${code} does not belong here.` };
    }
  }
}

/** Offset behind the identifier that starts at `offset`, or `offset` itself when none does. */
// oxlint-disable-next-line complexity -- one scan over code units; most of a file's characters pass through it
function identifierEnd(text: string, offset: number): number {
  let at = offset;
  let unit = text.charCodeAt(at);
  if (!(isLetter(unit) || unit === 95)) {
    if (!(unit >= 128)) return offset;
    const first = text.codePointAt(at) ?? 0;
    if (!identifierClasses().start.test(String.fromCodePoint(first))) return offset;
    at += first > 0xffff ? 1 : 0;
  }
  at += 1;
  for (;;) {
    unit = text.charCodeAt(at);
    if (isLetter(unit) || isDigit(unit) || unit === 95 || unit === 45) at += 1;
    else if (unit >= 128) {
      const point = text.codePointAt(at) ?? 0;
      if (!identifierClasses().continuation.test(String.fromCodePoint(point))) return at;
      at += point > 0xffff ? 2 : 1;
    } else return at;
  }
}

/** Whether the string may be a name in the language. */
export function isIdentifier(text: string): boolean {
  return text !== '' && identifierEnd(text, 0) === text.length;
}

/**
 * Built on first use: compiling the two classes takes longer than reading most files, and few names need them. The two joiners,
 * which only newer versions of Unicode have among the characters of names, are not visible and belong to no name.
 */
function identifierClasses(): { readonly start: RegExp; readonly continuation: RegExp } {
  classes ??= { start: /^\p{ID_Start}$/u, continuation: /^(?!\p{Join_Control})\p{ID_Continue}$/u };
  return classes;
}

let classes: { readonly start: RegExp; readonly continuation: RegExp } | undefined;

// oxlint-disable-next-line complexity -- one scan over white space and comments, which every token begins with
function scan(lexer: Lexer, from: number): Lexer {
  const { text } = lexer;
  lexer.tokens += 1;
  if (lexer.tokens > lexer.maxTokens) return token(lexer, 'end', text.length, 0);
  let at = from;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === 32 || unit === 9) at += 1;
    else if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) === 10)) {
      const length = unit === 10 ? 1 : 2;
      if (!lexer.ignoreNewlines) return token(lexer, 'newline', at, length);
      at += length;
    } else if (unit === 35 || (unit === 47 && text.charCodeAt(at + 1) === 47)) {
      const lineEnd = text.indexOf('\n', at);
      if (lineEnd < 0) return token(lexer, 'end', text.length, 0);
      at = text.charCodeAt(lineEnd - 1) === 13 ? lineEnd - 1 : lineEnd;
    } else if (unit === 47 && text.charCodeAt(at + 1) === 42) {
      const close = text.indexOf('*/', at + 2);
      // Treats the rest as comment; otherwise every further `/*` would report the same error.
      if (close < 0) return token(lexer, 'bad', at, text.length - at);
      at = close + 2;
    } else if (at >= text.length) return token(lexer, 'end', text.length, 0);
    else return scanToken(lexer, at, unit);
  }
}

// oxlint-disable-next-line complexity -- one switch over the language's punctuation, with the possible continuations of each
function scanToken(lexer: Lexer, at: number, unit: number): Lexer {
  const { text } = lexer;
  if (isDigit(unit)) return token(lexer, 'number', at, numberEnd(text, at) - at);
  const wordEnd = identifierEnd(text, at);
  if (wordEnd > at) return token(lexer, 'identifier', at, wordEnd - at);
  const next = text.charCodeAt(at + 1);
  switch (unit) {
    case 34:
      return token(lexer, 'quote', at, 1);
    case 123:
      return token(lexer, '{', at, 1);
    case 125:
      return token(lexer, '}', at, 1);
    case 91:
      return token(lexer, '[', at, 1);
    case 93:
      return token(lexer, ']', at, 1);
    case 40:
      return token(lexer, '(', at, 1);
    case 41:
      return token(lexer, ')', at, 1);
    case 44:
      return token(lexer, ',', at, 1);
    case 46:
      return next === 46 && text.charCodeAt(at + 2) === 46 ? token(lexer, '...', at, 3) : token(lexer, '.', at, 1);
    case 58:
      return next === 58 ? token(lexer, '::', at, 2) : token(lexer, ':', at, 1);
    case 63:
      return token(lexer, '?', at, 1);
    case 61:
      if (next === 61) return token(lexer, '==', at, 2);
      return next === 62 ? token(lexer, '=>', at, 2) : token(lexer, '=', at, 1);
    case 33:
      return next === 61 ? token(lexer, '!=', at, 2) : token(lexer, '!', at, 1);
    case 60: {
      if (next === 61) return token(lexer, '<=', at, 2);
      const header = next === 60 ? heredocHeaderEnd(text, at) : at;
      return header > at ? token(lexer, 'heredoc', at, header - at) : token(lexer, '<', at, 1);
    }
    case 62:
      return next === 61 ? token(lexer, '>=', at, 2) : token(lexer, '>', at, 1);
    case 38:
      return next === 38 ? token(lexer, '&&', at, 2) : token(lexer, 'bad', at, 1);
    case 124:
      return next === 124 ? token(lexer, '||', at, 2) : token(lexer, 'bad', at, 1);
    case 126:
      return next === 125 ? token(lexer, '~}', at, 2) : token(lexer, 'bad', at, 1);
    case 43:
      return token(lexer, '+', at, 1);
    case 45:
      return token(lexer, '-', at, 1);
    case 42:
      return token(lexer, '*', at, 1);
    case 47:
      return token(lexer, '/', at, 1);
    case 37:
      return token(lexer, '%', at, 1);
  }
  return token(lexer, 'bad', at, (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

function token(lexer: Lexer, kind: TokenKind, start: number, length: number): Lexer {
  lexer.kind = kind;
  lexer.start = start;
  lexer.end = start + length;
  return lexer;
}

/** A number includes every digit, dot and exponent that could belong to it, but no final dot, so `a.0.b` contains the number `0`. */
function numberEnd(text: string, start: number): number {
  let at = start + 1;
  let end = at;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (isDigit(unit)) {
      at += 1;
      end = at;
    } else if (unit === 46) at += 1;
    else if (unit === 101 || unit === 69) {
      const sign = text.charCodeAt(at + 1);
      const digit = sign === 43 || sign === 45 ? at + 2 : at + 1;
      if (!isDigit(text.charCodeAt(digit))) return end;
      at = digit + 1;
      end = at;
    } else return end;
  }
}

function heredocHeaderEnd(text: string, start: number): number {
  const nameStart = text.charCodeAt(start + 2) === 45 ? start + 3 : start + 2;
  const nameEnd = identifierEnd(text, nameStart);
  if (nameEnd === nameStart) return start;
  const lineEnd = text.charCodeAt(nameEnd) === 13 ? nameEnd + 1 : nameEnd;
  return text.charCodeAt(lineEnd) === 10 ? lineEnd + 1 : start;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

function isLetter(unit: number): boolean {
  return (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90);
}
