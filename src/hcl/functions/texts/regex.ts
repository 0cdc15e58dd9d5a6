import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import type { Matcher, RE2JS } from 're2js';
import { programBound } from '../../../shared/regular-expression.js';
import { madeOnce } from '../../../shared/remembered.js';
import type { Budget } from '../../evaluate/budget.js';
import type { HclValue } from '../../values/value.js';
import { stringType, stringValue } from '../../values/value.js';
import { shortened, textAt } from '../arguments.js';
import type { CallResult, EagerFunction, FunctionContext, FunctionError } from '../function.js';
import { defineFunction, fail, overBudget, parameter } from '../function.js';
import { re2 } from '../packages.js';
import { MeteredText, OutOfWork } from './metered-text.js';

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
