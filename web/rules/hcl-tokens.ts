/*
 * The tokens of HCL (and of JSON, whose strings, numbers and words are the same) for colours, line by line, with the state at the
 * end of the line before. What is wrong with a source is the server's to say; every source has tokens.
 */

/** What a piece of a source is; blanks and plain names are undefined. */
type TokenKind = 'comment' | 'string' | 'number' | 'literal' | 'block' | 'attribute' | 'call' | 'operator' | 'bracket';

interface Heredoc {
  readonly until: string;
}

/** What is open at a position, the innermost last: brackets, interpolations, strings, comments, heredocs. */
export type HclState = readonly ('{' | '[' | '(' | '${' | '"' | '/*' | Heredoc)[];

export const atStart: HclState = [];
/** What is opened deeper than this is not kept, so that a line of brackets costs no more than other lines. */
const deepest = 100;

function opened(state: HclState, inner: HclState[number]): HclState {
  return state.length < deepest ? [...state, inner] : state;
}

export interface Token {
  /** Position after the token; always beyond where it begins. */
  readonly end: number;
  readonly kind: TokenKind | undefined;
  readonly state: HclState;
}

const word = /[\p{L}_][\p{L}\p{N}_-]*/uy;
const number = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const blank = /\s+/y;
const operator = /=>|\.\.\.|[=!<>]=|&&|\|\||[=!<>+\-*/%?:]/y;
const heredoc = /<<-?([\p{L}_][\p{L}\p{N}_-]*)\s*$/uy;
/** Up to an interpolation, the end of the string, or the line's end; doubled signs are no interpolation. */
const inString = /(?:\\.|\$\$\{|%%\{|[^"\\$%]|[$%](?!\{))+/y;
const inHeredoc = /(?:\$\$\{|%%\{|[^$%]|[$%](?!\{))+/y;
const beforeBlock = /(?:\s*"[^"]*"|\s+[\p{L}_][\p{L}\p{N}_-]*)*\s*\{/uy;
const beforeValue = /\s*=(?![=>])/y;
const closing: Readonly<Record<string, string>> = { '}': '{', ']': '[', ')': '(' };

function endOf(pattern: RegExp, line: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(line) ? pattern.lastIndex : undefined;
}

/** The token of the line that begins at the position, which is within the line. */
export function nextToken(line: string, at: number, state: HclState): Token {
  const inner = state.at(-1);
  if (inner === '/*') return inComment(line, at, state);
  if (inner === '"' || typeof inner === 'object') return inTemplate(line, at, state, inner);
  return inCode(line, at, state);
}

function inComment(line: string, at: number, state: HclState): Token {
  const end = line.indexOf('*/', at);
  if (end === -1) return { end: line.length, kind: 'comment', state };
  return { end: end + 2, kind: 'comment', state: state.slice(0, -1) };
}

function inTemplate(line: string, at: number, state: HclState, inner: '"' | Heredoc): Token {
  const outer = state.slice(0, -1);
  if (inner !== '"' && at === 0 && line.trim() === inner.until)
    return { end: line.length, kind: 'string', state: outer };
  if (/^[$%]\{/.test(line.slice(at, at + 2))) return { end: at + 2, kind: 'bracket', state: opened(state, '${') };
  if (inner !== '"') return { end: endOf(inHeredoc, line, at) ?? at + 1, kind: 'string', state };
  if (line[at] === '"') return { end: at + 1, kind: 'string', state: outer };
  const end = endOf(inString, line, at) ?? at + 1;
  // A string ends with its line, so that one forgotten quote does not colour the rest.
  return { end, kind: 'string', state: end === line.length ? outer : state };
}

function inCode(line: string, at: number, state: HclState): Token {
  const first = line[at] ?? '';
  const plain = (end: number, kind?: TokenKind): Token => ({ end, kind, state });
  const space = endOf(blank, line, at);
  if (space !== undefined) return plain(space);
  if (first === '#' || line.startsWith('//', at)) return plain(line.length, 'comment');
  if (line.startsWith('/*', at)) return inComment(line, at + 2, opened(state, '/*'));
  if (first === '"') return { end: at + 1, kind: 'string', state: at + 1 === line.length ? state : opened(state, '"') };
  heredoc.lastIndex = at;
  const until = heredoc.exec(line)?.[1];
  if (until !== undefined) return { end: line.length, kind: 'string', state: opened(state, { until }) };
  const named = endOf(word, line, at);
  if (named !== undefined) return plain(named, kindOfWord(line, at, named, state));
  const digits = endOf(number, line, at);
  if (digits !== undefined) return plain(digits, 'number');
  if (first === '{' || first === '[' || first === '(')
    return { end: at + 1, kind: 'bracket', state: opened(state, first) };
  const opener = closing[first];
  if (opener !== undefined) {
    const closes = state.at(-1) === opener || (first === '}' && state.at(-1) === '${');
    return { end: at + 1, kind: 'bracket', state: closes ? state.slice(0, -1) : state };
  }
  const end = endOf(operator, line, at);
  return end === undefined ? plain(at + 1) : plain(end, 'operator');
}

const literals: ReadonlySet<string> = new Set(['true', 'false', 'null']);

function kindOfWord(line: string, at: number, end: number, state: HclState): TokenKind | undefined {
  if (literals.has(line.slice(at, end))) return 'literal';
  if (line[at - 1] === '.') return undefined;
  if (line[end] === '(') return 'call';
  if (state.includes('${')) return undefined;
  if (endOf(beforeValue, line, end) !== undefined) return 'attribute';
  return line.search(/\S/) === at && endOf(beforeBlock, line, end) !== undefined ? 'block' : undefined;
}

/** How deep the code is indented where the state holds, in levels; undefined within a string or a comment, whose blanks count. */
export function depthOf(state: HclState): number | undefined {
  const inner = state.at(-1);
  if (inner === '"' || inner === '/*' || typeof inner === 'object') return undefined;
  return state.length;
}

export interface Piece {
  readonly text: string;
  readonly kind: TokenKind | undefined;
}

/** A source in pieces, which together are the source. Neighbours of one kind are one piece. */
export function piecesOf(source: string): readonly Piece[] {
  const pieces: { text: string; kind: TokenKind | undefined }[] = [];
  const push = (text: string, kind: TokenKind | undefined): void => {
    const last = pieces.at(-1);
    if (last !== undefined && last.kind === kind) last.text += text;
    else if (text !== '') pieces.push({ text, kind });
  };
  let state = atStart;
  for (const [number, line] of source.split('\n').entries()) {
    if (number > 0) push('\n', undefined);
    for (let at = 0; at < line.length; ) {
      const token = nextToken(line, at, state);
      push(line.slice(at, token.end), token.kind);
      ({ state } = token);
      at = token.end;
    }
  }
  return pieces;
}
