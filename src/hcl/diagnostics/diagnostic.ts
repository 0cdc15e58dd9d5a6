import { type Position, positionFinder, type SourceText } from '../syntax/source.js';
import type { Span } from '../syntax/tree.js';
import type { DiagnosticCode } from './codes.js';

/** Errors prevent a result; warnings accompany one. */
export type Severity = 'error' | 'warning';

/** A problem in a source, ready to be shown: plain data, safe to serialise. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** One sentence without the position. */
  readonly message: string;
  /** How to fix it, or what was found; absent if the message is sufficient. */
  readonly detail?: string;
  /** The name that was probably meant. */
  readonly suggestion?: string;
  /** Name of the source: `job`, `variables`, or the caller's name for it. */
  readonly file: string;
  readonly start: Position;
  /** After the last character. */
  readonly end: Position;
  /** The source line and, below it, a line that marks the span. */
  readonly snippet: string;
}

/** A string, or a function that builds it, because many problems are never shown: `try` discards them, and only the first hundred are rendered. */
type Later = string | (() => string | undefined);

/** The message of a problem, optionally with a detail and a suggestion. */
export type ProblemText =
  | string
  | { readonly message: string; readonly detail?: Later | undefined; readonly suggestion?: Later | undefined };

/** A problem as it is found. Its span is two offsets; line and column are computed later. */
export interface Problem {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly message: string;
  readonly detail?: Later | undefined;
  readonly suggestion?: Later | undefined;
  readonly source: SourceText;
  readonly span: Span;
}

/** Maximum number of problems reported for one source; the last one says how many were left out. */
const MOST_PROBLEMS = 100;

/** Maximum number of problems that are sorted; the first hundred of them are reported. */
const MOST_SORTED = 2000;

/** Sorts problems by source (the main one first) and position, removes duplicates, and computes positions and snippets. */
export function diagnosticsFrom(problems: readonly Problem[], main?: SourceText): Diagnostic[] {
  const finders = new Map<SourceText, ReturnType<typeof positionFinder>>();
  const order = [...new Set([...(main === undefined ? [] : [main]), ...problems.map(({ source }) => source)])];
  const sorted = mostImportant(problems)
    .map((problem, index) => ({ problem, index, file: order.indexOf(problem.source) }))
    .sort(
      (left, right) =>
        left.file - right.file ||
        left.problem.span.start - right.problem.span.start ||
        left.problem.span.end - right.problem.span.end ||
        left.index - right.index,
    )
    .map(({ problem }) => problem)
    .filter((problem, index, all) => index === 0 || !isSame(problem, all[index - 1]));
  const shown = sorted.slice(0, MOST_PROBLEMS);
  const left = sorted.length - shown.length + Math.max(0, problems.length - MOST_SORTED);
  return shown.map((problem, index) => {
    let finder = finders.get(problem.source);
    if (finder === undefined) {
      finder = positionFinder(problem.source.text);
      finders.set(problem.source, finder);
    }
    const start = finder.position(problem.span.start);
    const end = finder.position(Math.max(problem.span.end, problem.span.start));
    const more = index === shown.length - 1 && left > 0 ? `There are ${left} more problems.` : undefined;
    const suggestion = made(problem.suggestion);
    const detail = [made(problem.detail), more].filter((text) => text !== undefined).join(' ');
    return {
      code: problem.code,
      severity: problem.severity,
      message: problem.message,
      ...(detail === '' ? {} : { detail }),
      ...(suggestion === undefined ? {} : { suggestion }),
      file: problem.source.name,
      start,
      end,
      snippet: snippet(finder.line(start.line) ?? '', { start, end }, finder.characters),
    };
  });
}

/** If there are too many problems, keeps the errors found first; the others are only counted. */
function mostImportant(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= MOST_SORTED) return problems;
  const errors = problems.filter(({ severity }) => severity === 'error').slice(0, MOST_SORTED);
  const warnings = problems.filter(({ severity }) => severity === 'warning').slice(0, MOST_SORTED - errors.length);
  return [...errors, ...warnings];
}

function made(text: Later | undefined): string | undefined {
  return typeof text === 'function' ? text() : text;
}

function isSame(left: Problem, right: Problem | undefined): boolean {
  return (
    right !== undefined &&
    left.source === right.source &&
    left.span.start === right.span.start &&
    left.span.end === right.span.end &&
    left.code === right.code &&
    left.message === right.message
  );
}

/** Maximum number of characters of a source line in a snippet. */
const WIDTH = 120;

/**
 * Two lines: the source line, and carets below the marked span. A long line is cut around the span; tabs and other control
 * characters are shown as one space, so that the carets line up.
 *
 * @param characters splits a piece of a line into characters as columns count them
 */
function snippet(
  line: string,
  { start, end }: { readonly start: Position; readonly end: Position },
  characters: (text: string) => readonly string[],
): string {
  // Cut roughly before splitting into characters, so that a line of a megabyte stays cheap.
  const roughStart = Math.max(0, start.column - 1 - WIDTH * 4);
  const cut = characters(line.slice(roughStart, roughStart + WIDTH * 8));
  const before = Math.max(0, start.column - 1 - roughStart);
  const from = before > WIDTH - 20 ? before - (WIDTH - 40) : 0;
  const shown = cut.slice(from, from + WIDTH).map(printable);
  const left = from > 0 || roughStart > 0 ? '…' : '';
  const right = cut.length > from + WIDTH ? '…' : '';
  const marked = start.line === end.line ? end.column - start.column : cut.length - before;
  const room = Math.max(1, shown.length - (before - from));
  const carets = '^'.repeat(Math.max(1, Math.min(marked, room)));
  return `${left}${shown.join('')}${right}\n${' '.repeat(left.length + before - from)}${carets}`;
}

function printable(character: string): string {
  return /^[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]$/u.test(character) ? ' ' : character;
}

/** How diagnostics are printed. */
export interface RenderOptions {
  /** Adds terminal colours. */
  readonly colour?: boolean;
}

/**
 * One diagnostic for display: `file:line,column: error: message`, the snippet, and what to do about it.
 */
export function renderDiagnostic(diagnostic: Diagnostic, options: RenderOptions = {}): string {
  const paint = options.colour === true ? coloured : plain;
  const { file, start, severity, message, detail, suggestion } = diagnostic;
  const tone = severity === 'error' ? RED : YELLOW;
  const lines = [`${paint(BOLD, `${file}:${start.line},${start.column}:`)} ${paint(tone, `${severity}:`)} ${message}`];
  const [code = '', carets = ''] = diagnostic.snippet.split('\n');
  if (code.trim() !== '') {
    const number = String(start.line);
    lines.push(`  ${number} | ${code}`, `  ${' '.repeat(number.length)} | ${paint(tone, carets)}`);
  }
  if (detail !== undefined) lines.push(`  ${detail}`);
  if (suggestion !== undefined) lines.push(`  Did you mean ${paint(BOLD, `"${suggestion}"`)}?`);
  return lines.join('\n');
}

/** All diagnostics, in their order, with an empty line between them. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], options: RenderOptions = {}): string {
  return diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, options)).join('\n\n');
}

const BOLD = '1';
const RED = '31';
const YELLOW = '33';

function plain(_style: string, text: string): string {
  return text;
}

function coloured(style: string, text: string): string {
  return `\u001b[${style}m${text}\u001b[0m`;
}
