import { err, ok, type Result } from 'neverthrow';
import type { Matcher, RE2JS } from 're2js';
import { programBound } from '../../../shared/regular-expression.js';
import { madeOnce } from '../../../shared/remembered.js';
import type { Budget } from '../../evaluate/budget.js';
import { type HclValue, stringType, stringValue } from '../../values/value.js';
import { shortened, textAt } from '../arguments.js';
import {
  type CallResult,
  defineFunction,
  type EagerFunction,
  type FunctionContext,
  type FunctionError,
  fail,
  overBudget,
  parameter,
} from '../function.js';
import { re2 } from '../packages.js';

export const regexFunctions: readonly EagerFunction[] = [
  defineFunction(
    'regex_replace',
    [parameter('text', stringType), parameter('pattern', stringType), parameter('replacement', stringType)],
    replaceMatches,
  ),
];

/** Characters of a pattern, and instructions of the program that it is compiled to. */
const MAX_PATTERN = 2_000;
const MAX_PROGRAM = 10_000;

/** Units of work for compiling a pattern, by its length (long classes are slow) and by the size of the program. */
function compilingWork(pattern: string, size: number): number {
  return 50 + 100 * pattern.length + 20 * size;
}

/** Units of work for finding one match and for writing its replacement, in addition to the characters read. */
const FIND = 8;
const REPLACE = 3;

/**
 * Replaces every match. The replacement may refer to groups by number or name; an unknown group is empty. An empty
 * match directly after another match is ignored.
 */
function replaceMatches(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const text = textAt(args, 0);
  const pattern = compiled(textAt(args, 1), budget);
  if (pattern.isErr()) return err(pattern.error);
  try {
    return replaced(text, pattern.value, textAt(args, 2), budget);
  } catch (stop) {
    // The only way to stop the engine within a search: every search may read the whole input.
    if (stop instanceof OutOfWork) return overBudget('regex_replace');
    throw stop;
  }
}

function replaced(text: string, pattern: RE2JS, replacement: string, budget: Budget): CallResult {
  const subject = new MeteredText(text, pattern.programSize(), budget);
  // The package requires a string; this object has the methods of a string that it uses.
  const matcher = pattern.matcher(subject as unknown as string);
  const template = readTemplate(replacement, pattern);
  let result = '';
  let done = 0;
  let from = 0;
  while (from <= text.length) {
    if (!budget.charge(FIND + subject.searchWork)) return overBudget('regex_replace');
    if (!matcher.find(from)) break;
    const start = matcher.start();
    const end = matcher.end();
    result += text.slice(done, start);
    if (end > done || start === 0) result += expanded(template, matcher);
    const fits = result.length <= budget.limits.textLength && budget.charge(REPLACE * (1 + template.length));
    if (!fits) return overBudget('regex_replace');
    done = end;
    from = end > from ? end : from + ((text.codePointAt(from) ?? 0) > 0xffff ? 2 : 1);
  }
  return ok(stringValue(result + text.slice(done)));
}

function compiled(pattern: string, budget: Budget): Result<RE2JS, FunctionError> {
  if (pattern.length > MAX_PATTERN) return fail(`a regular expression may have at most ${MAX_PATTERN} characters`);
  const size = programBound(pattern);
  if (size > MAX_PROGRAM) return fail('the repetitions make this regular expression too large');
  if (!budget.charge(compilingWork(pattern, size))) return overBudget('regex_replace');
  try {
    return ok(re2().compile(pattern));
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    return fail(`${JSON.stringify(shortened(pattern))} is not a regular expression (RE2 syntax): ${reason}`);
  }
}

/** `$$`, `$name` with the longest name possible, `${name}`. */
const reference = madeOnce(() => /\$(?:\$|([\p{L}\p{Nd}_]+)|\{([\p{L}\p{Nd}_]+)\})/gu);

/** A replacement in pieces: a literal, or the number of a group. */
type Template = readonly (string | number)[];

function readTemplate(replacement: string, pattern: RE2JS): Template {
  const names = new Map(Object.entries(pattern.namedGroups()));
  const groups = pattern.groupCount();
  const pieces: (string | number)[] = [];
  let done = 0;
  for (const { 0: whole, 1: bare, 2: braced, index } of replacement.matchAll(reference())) {
    pieces.push(replacement.slice(done, index));
    done = index + whole.length;
    const name = bare ?? braced ?? '';
    // A number with a leading zero is a name.
    const group = /^(?:0|[1-9]\d*)$/.test(name) ? Number(name) : names.get(name);
    if (whole === '$$') pieces.push('$');
    else if (group !== undefined && group <= groups) pieces.push(group);
  }
  pieces.push(replacement.slice(done));
  return pieces.filter((piece) => piece !== '');
}

function expanded(template: Template, matcher: Matcher): string {
  let text = '';
  for (const piece of template) text += typeof piece === 'string' ? piece : (matcher.group(piece) ?? '');
  return text;
}

/** Thrown to stop the regular expression engine, which offers no other way. */
class OutOfWork extends Error {}

/** Characters charged at once. */
const BATCH = 512;

/**
 * A string for the regular expression engine that charges every character read. The time of one search is linear in
 * the input, but a search for each of many matches may read all of it again.
 */
class MeteredText extends String {
  /** Units of work for one search in addition to the characters: a short program clears a table of visited states each time. */
  readonly searchWork: number;
  private readonly text: string;
  private readonly budget: Budget;
  private readonly batchWork: number;
  private paid = 0;

  constructor(text: string, programSize: number, budget: Budget) {
    super(text);
    this.text = text;
    this.budget = budget;
    const states = programSize * (text.length + 1);
    const backtracks = programSize <= BACKTRACKING_PROGRAM && states <= BACKTRACKING_STATES;
    this.searchWork = backtracks ? states >>> 15 : 0;
    // Beyond its limits the engine simulates all states of the program in parallel.
    this.batchWork = Math.ceil(BATCH * (backtracks ? 0.4 + programSize / 50 : 0.5 + programSize / 16));
  }

  override charCodeAt(index: number): number {
    if (this.paid === 0) {
      if (!this.budget.charge(this.batchWork)) throw new OutOfWork();
      this.paid = BATCH;
    }
    this.paid -= 1;
    return this.text.charCodeAt(index);
  }

  override indexOf(search: string, from = 0): number {
    const found = this.text.indexOf(search, from);
    const passed = (found < 0 ? this.text.length : found) - from;
    if (!this.budget.charge(1 + (passed >>> 8) * (1 + (search.length >>> 2)))) throw new OutOfWork();
    return found;
  }

  override substring(start: number, end?: number): string {
    return this.text.substring(start, end);
  }
}

/** The limits below which the engine backtracks. */
const BACKTRACKING_PROGRAM = 500;
const BACKTRACKING_STATES = 262_144;
