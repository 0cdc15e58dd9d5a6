import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import type { Matcher, RE2JS } from 're2js';
import type { HclValue } from '../values/value.js';
import { stringType, stringValue } from '../values/value.js';
import { shortened, textAt } from './arguments.js';
import type { CallResult, EagerFunction, FunctionContext, FunctionError } from './function.js';
import { defineFunction, fail, overBudget, parameter } from './function.js';
import { re2 } from './re2.js';

export const regexFunctions: readonly EagerFunction[] = [
  defineFunction(
    'regex_replace',
    [parameter('text', stringType), parameter('pattern', stringType), parameter('replacement', stringType)],
    replaceMatches,
  ),
];

/** Characters of a pattern. */
const MAX_PATTERN = 2_000;

/** `$$`, `$name` with the longest name possible, `${name}`. */
const REFERENCE = /\$(?:\$|([\p{L}\p{Nd}_]+)|\{([\p{L}\p{Nd}_]+)\})/gu;

/**
 * Replaces every match; the replacement may refer to groups by number or name, and a group that is not there is empty. An empty
 * match directly after a match does not count.
 */
function replaceMatches(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const text = textAt(args, 0);
  const replacement = textAt(args, 2);
  const pattern = compiled(textAt(args, 1));
  if (pattern.isErr()) return err(pattern.error);
  const matcher = pattern.value.matcher(text);
  if (!budget.charge(Math.ceil((matcher.programSize() * (text.length + 1)) / 64))) return overBudget('regex_replace');
  const names = new Map(Object.entries(pattern.value.namedGroups()));
  const groups = matcher.groupCount();
  let result = '';
  let done = 0;
  let from = 0;
  while (from <= text.length && matcher.find(from)) {
    const start = matcher.start();
    const end = matcher.end();
    result += text.slice(done, start);
    if (end > done || start === 0) result += expanded(replacement, matcher, groups, names);
    if (!budget.charge(1) || result.length > budget.limits.textLength) return overBudget('regex_replace');
    done = end;
    from = end > from ? end : from + ((text.codePointAt(from) ?? 0) > 0xffff ? 2 : 1);
  }
  return ok(stringValue(result + text.slice(done)));
}

function compiled(pattern: string): Result<RE2JS, FunctionError> {
  if (pattern.length > MAX_PATTERN) return fail(`a regular expression may have at most ${MAX_PATTERN} characters`);
  try {
    return ok(re2().compile(pattern));
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    return fail(`${JSON.stringify(shortened(pattern))} is no regular expression (RE2 syntax): ${reason}`);
  }
}

function expanded(template: string, matcher: Matcher, groups: number, names: ReadonlyMap<string, number>): string {
  return template.replace(REFERENCE, (whole, bare: string | undefined, braced: string | undefined) => {
    if (whole === '$$') return '$';
    const name = bare ?? braced ?? '';
    const group = /^\d+$/.test(name) ? Number(name) : names.get(name);
    return group === undefined || group > groups ? '' : (matcher.group(group) ?? '');
  });
}
