import { err, ok, type Result } from 'neverthrow';
import { madeOnce } from '../shared/remembered.js';
import type { FaultAt } from './tree.js';

export type TokenKind =
  /** A literal part outside actions, trimmed by the markers of adjacent actions. */
  | 'text'
  /** Delimiters of an action. */
  | 'open'
  | 'close'
  /** A name, such as a keyword or a function. */
  | 'name'
  /** `.Name`, and the dot alone. */
  | 'field'
  | 'dot'
  /** `$` and `$name`. */
  | 'variable'
  | 'string'
  | 'number'
  /** Space between words: `a .b` and `a.b` differ. */
  | 'space'
  /** `(`, `)`, `|`, `,`, `:=` and `=`. */
  | 'mark';

export interface Token {
  readonly kind: TokenKind;
  /** As in the template; for `text` after trimming. */
  readonly text: string;
  readonly offset: number;
}

export interface Delimiters {
  readonly left: string;
  readonly right: string;
}

/** White space, for trimming and for separating words. */
const SPACE = /[ \t\r\n]/;

/** Splits a template into literal parts and actions. `{{-` and `-}}` trim adjacent space; an action beginning with a slash and a star is a comment. */
export function tokensOf(source: string, { left, right }: Delimiters): Result<readonly Token[], FaultAt> {
  const tokens: Token[] = [];
  let at = 0;
  let trimsNext = false;
  for (;;) {
    const open = source.indexOf(left, at);
    const end = open < 0 ? source.length : open;
    const inner = open + left.length;
    const trimsBefore = open >= 0 && source.charAt(inner) === '-' && SPACE.test(source.charAt(inner + 1));
    const text = textToken(source, { start: at, end }, { start: trimsNext, end: trimsBefore });
    if (text !== undefined) tokens.push(text);
    if (open < 0) return ok(tokens);
    const start = trimsBefore ? spaceEnd(source, inner + 1) : inner;
    const action = isComment(source, start)
      ? commentEnd(source, start, right)
      : actionTokens(source, { open, start, left, right }, tokens);
    if (action.isErr()) return err(action.error);
    ({ next: at, trims: trimsNext } = action.value);
  }
}

/** The literal part between two offsets after trimming; undefined if nothing is left. */
function textToken(
  source: string,
  span: { readonly start: number; readonly end: number },
  trims: { readonly start: boolean; readonly end: boolean },
): Token | undefined {
  let { start, end } = span;
  while (trims.start && start < end && SPACE.test(source.charAt(start))) start += 1;
  while (trims.end && end > start && SPACE.test(source.charAt(end - 1))) end -= 1;
  return end > start ? { kind: 'text', text: source.slice(start, end), offset: start } : undefined;
}

/** Offset after an action, and whether the following space is trimmed. */
interface ActionEnd {
  readonly next: number;
  readonly trims: boolean;
}

function isComment(source: string, at: number): boolean {
  return source.startsWith('/*', at);
}

function commentEnd(source: string, at: number, right: string): Result<ActionEnd, FaultAt> {
  const end = source.indexOf('*/', at + 2);
  if (end < 0) return err({ offset: at, message: 'the comment has no end' });
  const close = closeAt(source, end + 2, right);
  return close === undefined
    ? err({ offset: end, message: `a comment ends with */${right} or */ -${right}` })
    : ok(close);
}

/** The right delimiter here; with white space and a hyphen before it, it trims. */
function closeAt(source: string, at: number, right: string): ActionEnd | undefined {
  if (source.startsWith(right, at)) return { next: at + right.length, trims: false };
  const marker = spaceEnd(source, at);
  const trims = marker > at && source.startsWith(`-${right}`, marker);
  return trims ? { next: marker + 1 + right.length, trims: true } : undefined;
}

function spaceEnd(source: string, start: number): number {
  let at = start;
  while (SPACE.test(source.charAt(at))) at += 1;
  return at;
}

const kinds: readonly (readonly [TokenKind, RegExp])[] = [
  ['space', /[ \t\r\n]+/],
  ['string', /"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"|`[^`]*`/],
  [
    'number',
    /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oObB][0-7_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]*)?)/,
  ],
  ['field', /\.[\p{L}_][\p{L}\p{Nd}_]*/u],
  ['dot', /\./],
  ['variable', /\$(?:[\p{L}_][\p{L}\p{Nd}_]*)?/u],
  ['name', /[\p{L}_][\p{L}\p{Nd}_]*/u],
  ['mark', /:=|[()|,=]/],
];

/** The first kind that matches at an offset; one group for each. */
const word = madeOnce(() => new RegExp(kinds.map(([, { source }]) => `(${source})`).join('|'), 'uy'));

interface Action extends Delimiters {
  /** The left delimiter. */
  readonly open: number;
  /** The offset after it. */
  readonly start: number;
}

function actionTokens(source: string, action: Action, tokens: Token[]): Result<ActionEnd, FaultAt> {
  tokens.push({ kind: 'open', text: action.left, offset: action.open });
  let at = action.start;
  while (at < source.length) {
    const close = closeAt(source, at, action.right);
    if (close !== undefined) {
      tokens.push({ kind: 'close', text: action.right, offset: at });
      return ok(close);
    }
    const token = wordAt(source, at);
    if (token === undefined) return err(unreadable(source, at));
    tokens.push(token);
    at += token.text.length;
  }
  return err({ offset: action.open, message: `the action has no ${action.right}` });
}

function wordAt(source: string, at: number): Token | undefined {
  const pattern = word();
  pattern.lastIndex = at;
  const found = pattern.exec(source);
  if (found === null) return undefined;
  const [text] = found;
  const kind = kinds[found.indexOf(text, 1) - 1]?.[0];
  return kind && { kind, text, offset: at };
}

function unreadable(source: string, at: number): FaultAt {
  const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
  const message =
    character === '"' || character === '`'
      ? 'the string is not closed'
      : character === "'"
        ? 'characters in single quotes are not supported: use a string in double quotes'
        : `${JSON.stringify(character)} is not possible in an action`;
  return { offset: at, message };
}
