import { err, ok, type Result } from 'neverthrow';
import { madeOnce } from '../shared/remembered.js';
import { positionsIn, unquoted } from '../shared/source-text.js';

/** A parsed filter expression. */
export type Expression =
  | { readonly kind: 'or'; readonly operands: readonly Expression[] }
  | { readonly kind: 'and'; readonly operands: readonly Expression[] }
  | { readonly kind: 'not'; readonly operand: Expression }
  | Match
  | Quantified;

/** A test of one value of the record. */
export interface Match {
  readonly kind: 'match';
  readonly test: Test;
  /** True for `!=`, `not in`, `is not empty` … */
  readonly negated: boolean;
  readonly selector: Selector;
  /** The value to compare with; empty for tests without one. */
  readonly value: string;
}

/** `in` is `contains` with its sides exchanged. */
export type Test = 'equal' | 'in' | 'matches' | 'empty' | 'nil';

/** `any` or `all` of the elements of a list or a map. */
export interface Quantified {
  readonly kind: 'any' | 'all';
  readonly selector: Selector;
  readonly names: Names;
  readonly inner: Expression;
}

/** The names between `as` and the brace. */
export interface Names {
  /** A single name: an element of a list, or a key of a map. */
  readonly single?: string;
  /** The first of two names: the position in a list, or the key of a map. */
  readonly index?: string;
  /** The second of two names. */
  readonly value?: string;
}

/** The path from the record to a value. */
export interface Selector {
  readonly path: readonly string[];
  /** As written. */
  readonly text: string;
  /** Offset in UTF-16 units. */
  readonly offset: number;
}

/** Why a filter expression is invalid, and where. */
export interface FilterSyntaxError {
  readonly type: 'filter_syntax';
  /** The problem and what was expected, preceded by the position: `1:8: …`. */
  readonly message: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  /** Offset in UTF-16 units. */
  readonly offset: number;
}

/** Limit on the length of an expression, in characters. */
export const MAX_FILTER_LENGTH = 65_536;

/** Limit on the nesting of parentheses, `not` and braces. */
const MAX_DEPTH = 200;

/** Parses a filter expression (job interface, Filter expressions). */
export function parseFilter(text: string): Result<Expression, FilterSyntaxError> {
  const scanner = new Scanner(text);
  if (text.length > MAX_FILTER_LENGTH) {
    scanner.mistake(`a filter may have at most ${MAX_FILTER_LENGTH} characters, not ${text.length}`);
    return err(syntaxError(scanner));
  }
  scanner.skipSpace();
  const expression = parseOr(scanner, MAX_DEPTH);
  scanner.skipSpace();
  return expression !== undefined && scanner.isAtEnd() ? ok(expression) : err(syntaxError(scanner));
}

/** Operands of `or`, of which only the last may be quantified. */
function parseOr(scanner: Scanner, depth: number): Expression | undefined {
  const operands: Expression[] = [];
  do {
    const operand = scanner.attempt(() => parseAnd(scanner, depth));
    if (operand === undefined) {
      const last = parseQuantified(scanner, depth);
      return last === undefined ? undefined : combined('or', [...operands, last]);
    }
    operands.push(operand);
  } while (readConnective(scanner, 'or'));
  return combined('or', operands);
}

function parseAnd(scanner: Scanner, depth: number): Expression | undefined {
  const operands: Expression[] = [];
  do {
    const operand = parseNot(scanner, depth);
    if (operand === undefined) return undefined;
    operands.push(operand);
  } while (readConnective(scanner, 'and'));
  return combined('and', operands);
}

function combined(kind: 'and' | 'or', operands: readonly Expression[]): Expression | undefined {
  const [only] = operands;
  return operands.length === 1 ? only : { kind, operands };
}

function readConnective(scanner: Scanner, word: 'and' | 'or'): boolean {
  return (
    scanner.attempt(() => (scanner.readSpace() && scanner.readWord(word) && scanner.readSpace()) || undefined) === true
  );
}

function parseNot(scanner: Scanner, depth: number): Expression | undefined {
  if (depth === 0) return scanner.mistake(`a filter may be nested at most ${MAX_DEPTH} levels deep`);
  const operand = scanner.attempt(() =>
    scanner.readWord('not') && scanner.readSpace() ? parseNot(scanner, depth - 1) : undefined,
  );
  if (operand !== undefined) return { kind: 'not', operand };
  return scanner.attempt(() => parseGroup(scanner, depth)) ?? scanner.attempt(() => parseMatch(scanner));
}

function parseGroup(scanner: Scanner, depth: number): Expression | undefined {
  if (!scanner.readWord('(')) return undefined;
  scanner.skipSpace();
  const expression = parseOr(scanner, depth - 1);
  if (expression === undefined) return undefined;
  scanner.skipSpace();
  return scanner.readWord(')') ? expression : scanner.mistake('a parenthesis is not closed');
}

/** `any Tasks as t { t.Driver == "exec" }` */
function parseQuantified(scanner: Scanner, depth: number): Expression | undefined {
  if (depth === 0) return undefined;
  const kind = (['any', 'all'] as const).find((word) => scanner.readWord(word));
  if (kind === undefined || !scanner.readSpace()) return undefined;
  const selector = readSelector(scanner);
  if (selector === undefined || !scanner.readSpace() || !scanner.readWord('as') || !scanner.readSpace())
    return undefined;
  const names = readNames(scanner);
  if (names === undefined) return undefined;
  scanner.skipSpace();
  if (!scanner.readWord('{')) return undefined;
  scanner.skipSpace();
  const inner = parseOr(scanner, depth - 1);
  scanner.skipSpace();
  return inner !== undefined && scanner.readWord('}') ? { kind, selector, names, inner } : undefined;
}

/** `x`, `i, v`, `i, _` or `_, v`. */
function readNames(scanner: Scanner): Names | undefined {
  const first = scanner.read(NAME_OR_BLANK, 'a name');
  if (first === undefined) return undefined;
  const second = scanner.attempt(() => {
    scanner.skipSpace();
    if (!scanner.readWord(',')) return undefined;
    scanner.skipSpace();
    return scanner.read(NAME_OR_BLANK, 'a name');
  });
  if (second === undefined) return first === '_' ? undefined : { single: first };
  if (first === '_' && second === '_') return undefined;
  return { ...(first === '_' ? {} : { index: first }), ...(second === '_' ? {} : { value: second }) };
}

/** Tests whose selector comes first. */
const BINARY: readonly { readonly test: Test; readonly negated: boolean; readonly words: readonly string[] }[] = [
  { test: 'in', negated: false, words: ['contains'] },
  { test: 'in', negated: true, words: ['not', 'contains'] },
  { test: 'matches', negated: false, words: ['matches'] },
  { test: 'matches', negated: true, words: ['not', 'matches'] },
];

const UNARY: typeof BINARY = [
  { test: 'empty', negated: false, words: ['is', 'empty'] },
  { test: 'empty', negated: true, words: ['is', 'not', 'empty'] },
  { test: 'nil', negated: false, words: ['is', 'nil'] },
  { test: 'nil', negated: true, words: ['is', 'not', 'nil'] },
];

function parseMatch(scanner: Scanner): Match | undefined {
  return (
    scanner.attempt(() => {
      const selector = readSelector(scanner);
      return selector === undefined
        ? undefined
        : (parseEquality(scanner, selector) ?? parseBinary(scanner, selector) ?? parseUnary(scanner, selector));
    }) ?? scanner.attempt(() => parseMembership(scanner))
  );
}

function parseEquality(scanner: Scanner, selector: Selector): Match | undefined {
  return scanner.attempt(() => {
    scanner.skipSpace();
    const isEqual = scanner.readWord('==');
    if (!isEqual && !scanner.readWord('!=')) return undefined;
    scanner.skipSpace();
    const value = readValue(scanner);
    return value === undefined ? undefined : { kind: 'match', test: 'equal', negated: !isEqual, selector, value };
  });
}

function parseBinary(scanner: Scanner, selector: Selector): Match | undefined {
  for (const { test, negated, words } of BINARY) {
    const value = scanner.attempt(() =>
      readWords(scanner, words) && scanner.readSpace() ? readValue(scanner) : undefined,
    );
    if (value !== undefined) return { kind: 'match', test, negated, selector, value };
  }
  return undefined;
}

function parseUnary(scanner: Scanner, selector: Selector): Match | undefined {
  const found = UNARY.find(({ words }) => scanner.attempt(() => readWords(scanner, words) || undefined) === true);
  return found === undefined
    ? undefined
    : { kind: 'match', test: found.test, negated: found.negated, selector, value: '' };
}

/** `"x" in List`, `x not in List`. */
function parseMembership(scanner: Scanner): Match | undefined {
  const value = readValue(scanner);
  if (value === undefined) return undefined;
  const negated = [false, true].find(
    (not) =>
      scanner.attempt(() => (readWords(scanner, not ? ['not', 'in'] : ['in']) && scanner.readSpace()) || undefined) ===
      true,
  );
  if (negated === undefined) return undefined;
  const selector = readSelector(scanner);
  if (selector === undefined)
    return scanner.mistake('a selector is needed after in: a list of values cannot be written');
  return { kind: 'match', test: 'in', negated, selector, value };
}

/** Words, each preceded by space. */
function readWords(scanner: Scanner, words: readonly string[]): boolean {
  return words.every((word) => scanner.readSpace() && scanner.readWord(word));
}

const NAME = /[a-zA-Z][a-zA-Z0-9_/]*/y;
const NAME_OR_BLANK = /[a-zA-Z][a-zA-Z0-9_/]*|_/y;
const DIGITS = /[0-9]+/y;
const pointer = madeOnce(() => /"(?:\/[\p{L}\p{N}\-_.~:|]+)*"/uy);
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?/y;
const AFTER_NUMBER = /(?=[ \t\r\n)]|$)/y;
const QUOTED = /"[^"]*"|`[^`]*`/y;

/** Names with dots and brackets, or a JSON pointer in double quotes. */
function readSelector(scanner: Scanner): Selector | undefined {
  const offset = scanner.at;
  const path = readPath(scanner) ?? readPointer(scanner);
  return path === undefined ? undefined : { path, offset, text: scanner.text.slice(offset, scanner.at) };
}

function readPath(scanner: Scanner): string[] | undefined {
  const first = scanner.read(NAME, 'a name');
  if (first === undefined) return undefined;
  const path = [first];
  for (;;) {
    const next = scanner.attempt(() => readMember(scanner)) ?? scanner.attempt(() => readIndex(scanner));
    if (next === undefined) return path;
    path.push(next);
  }
}

function readMember(scanner: Scanner): string | undefined {
  return scanner.readWord('.') ? (scanner.read(NAME, 'a name') ?? scanner.read(DIGITS, 'a number')) : undefined;
}

function readIndex(scanner: Scanner): string | undefined {
  if (!scanner.readWord('[')) return undefined;
  scanner.skipSpace();
  const index = readQuoted(scanner);
  if (index === undefined) return scanner.mistake('a quoted string is needed between brackets');
  scanner.skipSpace();
  return scanner.readWord(']') ? index : scanner.mistake('a bracket is not closed');
}

function readPointer(scanner: Scanner): string[] | undefined {
  const quoted = scanner.attempt(() => scanner.read(pointer(), 'a name'));
  if (quoted === undefined) return undefined;
  const parts = quoted.slice(1, -1).split('/').slice(1);
  return parts.length === 0 ? [''] : parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A word, a number or a quoted string. A word with dots or brackets stands for its parts with dots between them. */
function readValue(scanner: Scanner): string | undefined {
  return (
    scanner.attempt(() => readPath(scanner)?.join('.')) ??
    scanner.attempt(() => readNumber(scanner)) ??
    scanner.attempt(() => readQuoted(scanner))
  );
}

function readNumber(scanner: Scanner): string | undefined {
  const number = scanner.read(NUMBER, 'a number');
  if (number === undefined) return undefined;
  return scanner.read(AFTER_NUMBER, 'a space') === undefined
    ? scanner.mistake(`invalid characters after the number ${number}; quote a value that is not a number`)
    : number;
}

function readQuoted(scanner: Scanner): string | undefined {
  const offset = scanner.at;
  const quoted = scanner.read(QUOTED, 'a quoted string');
  if (quoted === undefined) {
    return /["`]/y.test(scanner.text.charAt(offset)) ? scanner.mistake('a quoted string is not closed') : undefined;
  }
  return (
    unquoted(quoted) ??
    scanner.mistake('the quoted string contains an invalid escape; the quote itself cannot be escaped', offset)
  );
}

function syntaxError({ text, problem }: Scanner): FilterSyntaxError {
  const { line, column } = positionsIn(text)(problem.offset);
  const message = `${line}:${column}: ${problem.message}`;
  return { type: 'filter_syntax', message, line, column, offset: problem.offset };
}

/** A position in the expression, and the furthest failed expectation. */
class Scanner {
  at = 0;
  /** The first definite error. */
  #mistake: { readonly offset: number; readonly message: string } | undefined;
  #furthest = 0;
  #expected = new Set<string>();

  constructor(readonly text: string) {}

  /** Reads a match of the sticky pattern; undefined, at an unchanged position, if there is none. */
  read(pattern: RegExp, expected: string): string | undefined {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [];
    if (found === undefined) {
      this.expect(expected);
      return undefined;
    }
    this.at += found.length;
    return found;
  }

  /** Reads exactly this word; no word boundary is required after it. */
  readWord(word: string): boolean {
    const isHere = this.text.startsWith(word, this.at);
    if (isHere) this.at += word.length;
    else this.expect(JSON.stringify(word));
    return isHere;
  }

  readSpace(): boolean {
    return this.read(SPACE, 'a space') !== undefined;
  }

  skipSpace(): void {
    this.readSpace();
  }

  isAtEnd(): boolean {
    const isEnd = this.at === this.text.length;
    if (!isEnd) this.expect('the end');
    return isEnd;
  }

  /** Tries a reader; if it fails, the position is restored. */
  attempt<T>(parse: () => T | undefined): T | undefined {
    const start = this.at;
    const result = this.#mistake === undefined ? parse() : undefined;
    if (result === undefined) this.at = start;
    return result;
  }

  /** Reports a definite error: no alternative is tried after it. */
  mistake(message: string, offset = this.at): undefined {
    this.#mistake ??= { offset, message };
    return undefined;
  }

  expect(what: string): void {
    if (this.at < this.#furthest) return;
    if (this.at > this.#furthest) this.#expected.clear();
    this.#furthest = this.at;
    this.#expected.add(what);
  }

  /** The syntax error and its position: that of the definite error, otherwise the furthest position reached. */
  get problem(): { readonly offset: number; readonly message: string } {
    if (this.#mistake !== undefined) return this.#mistake;
    const [character] = this.text.slice(this.#furthest);
    const found = character === undefined ? 'the end' : JSON.stringify(character);
    return { offset: this.#furthest, message: `expected ${listed([...this.#expected])}, found ${found}` };
  }
}

const SPACE = /[ \t\r\n]+/y;

function listed(items: readonly string[]): string {
  const sorted = [...items].sort();
  return sorted.length < 2 ? (sorted[0] ?? '') : `${sorted.slice(0, -1).join(', ')} or ${sorted.at(-1)}`;
}
