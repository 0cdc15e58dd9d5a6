import { err, ok } from 'neverthrow';
import { lengthens, lowerCase, trimWhiteSpace, upperCase } from '../../../shared/values.js';
import { countNumber } from '../../values/number.js';
import { clusterCount, clustersOf } from '../../values/unicode.js';
import {
  type HclValue,
  listOf,
  listValue,
  numberType,
  numberValue,
  stringType,
  stringValue,
} from '../../values/value.js';
import { integerAt, itemsAt, textAt } from '../arguments.js';
import {
  type CallResult,
  defineFunction,
  type EagerFunction,
  type FunctionContext,
  fail,
  failArgument,
  overBudget,
  parameter,
  perCharacter,
} from '../function.js';

const text = parameter('text', stringType);

export const textFunctions: readonly EagerFunction[] = [
  mapped('upper', upperCase, (args) => caseWork(textAt(args, 0))),
  mapped('lower', lowerCase, perCharacter(1 / 16)),
  mapped('title', titleCase, perCharacter(1)),
  mapped('trimspace', trimWhiteSpace, perCharacter(1 / 4)),
  mapped('chomp', withoutLineEnds, perCharacter(1 / 16)),
  defineFunction('reverse', [text], reversed),
  defineFunction('strrev', [text], reversed),
  defineFunction('trim', [text, parameter('characters', stringType)], (args) => ok(stringValue(trimmed(args))), {
    cost: (args) => perCharacter(1)(args) + perCharacter(1, 1)(args),
  }),
  defineFunction('trimprefix', [text, parameter('prefix', stringType)], (args) => {
    const [value, prefix] = [textAt(args, 0), textAt(args, 1)];
    return ok(stringValue(value.startsWith(prefix) ? value.slice(prefix.length) : value));
  }),
  defineFunction('trimsuffix', [text, parameter('suffix', stringType)], (args) => {
    const [value, suffix] = [textAt(args, 0), textAt(args, 1)];
    return ok(stringValue(value.endsWith(suffix) ? value.slice(0, value.length - suffix.length) : value));
  }),
  defineFunction('indent', [parameter('spaces', numberType), text], indent),
  defineFunction('split', [parameter('separator', stringType), text], split),
  defineFunction('join', [parameter('separator', stringType)], join, {
    variadic: parameter('lists', listOf(stringType)),
  }),
  defineFunction('replace', [text, parameter('search', stringType), parameter('replacement', stringType)], replace),
  defineFunction('strlen', [text], length),
  defineFunction('substr', [text, parameter('offset', numberType), parameter('length', numberType)], substring),
];

function mapped(
  name: string,
  map: (value: string) => string,
  cost: (args: readonly HclValue[]) => number,
): EagerFunction {
  return defineFunction(name, [text], (args) => ok(stringValue(map(textAt(args, 0)))), { cost });
}

function reversed(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const clusters = clustersOf(textAt(args, 0), budget);
  if (clusters === undefined || !budget.charge(clusters.length)) return overBudget('reverse');
  return ok(stringValue([...clusters].reverse().join('')));
}

function length(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const count = clusterCount(textAt(args, 0), budget);
  return count === undefined ? overBudget('strlen') : ok(numberValue(countNumber(count)));
}

function trimmed(args: readonly HclValue[]): string {
  const value = textAt(args, 0);
  const unwanted = new Set(textAt(args, 1));
  let start = 0;
  for (const character of value) {
    if (!unwanted.has(character)) break;
    start += character.length;
  }
  let end = value.length;
  while (end > start) {
    const low = value.charCodeAt(end - 1);
    const width = low >= 0xdc00 && low <= 0xdfff ? 2 : 1;
    if (!unwanted.has(value.slice(end - width, end))) break;
    end -= width;
  }
  return value.slice(start, end);
}

function withoutLineEnds(value: string): string {
  let end = value.length;
  while (end > 0 && (value.charCodeAt(end - 1) === 10 || value.charCodeAt(end - 1) === 13)) end -= 1;
  return value.slice(0, end);
}

function indent(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const spaces = integerAt(args, 0, 'the number of spaces');
  if (spaces.isErr()) return err(spaces.error);
  if (spaces.value < 0) return fail('the number of spaces must not be negative');
  if (!budget.charge(textAt(args, 1).length >>> 3)) return overBudget('indent');
  const lines = textAt(args, 1).split('\n');
  if (lines.length === 1) return ok(stringValue(textAt(args, 1)));
  if (!budget.chargeText(spaces.value * lines.length)) return overBudget('indent');
  return ok(stringValue(lines.join(`\n${' '.repeat(spaces.value)}`)));
}

function split(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const separator = textAt(args, 0);
  const value = textAt(args, 1);
  const pieces = separator === '' ? Array.from(value) : value.split(separator);
  if (!budget.chargeElements(pieces.length) || !budget.charge(2 * pieces.length)) return overBudget('split');
  return ok(listValue(stringType, pieces.map(stringValue)));
}

function join(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  if (args.length < 2) return fail('join needs at least one list');
  const separator = textAt(args, 0);
  const pieces: string[] = [];
  let length = 0;
  for (let index = 1; index < args.length; index += 1) {
    for (const [at, item] of itemsAt(args, index).entries()) {
      if (item.kind !== 'string') return failArgument(index, `element ${at} is null and cannot be joined`);
      pieces.push(item.value);
      length += item.value.length + separator.length;
    }
  }
  if (!budget.chargeText(length)) return overBudget('join');
  return ok(stringValue(pieces.join(separator)));
}

function replace(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const value = textAt(args, 0);
  const search = textAt(args, 1);
  const replacement = textAt(args, 2);
  if (search === '') {
    if (!budget.charge(value.length)) return overBudget('replace');
    const characters = Array.from(value);
    if (!budget.chargeText(value.length + (characters.length + 1) * replacement.length)) return overBudget('replace');
    return ok(stringValue(replacement + characters.map((character) => character + replacement).join('')));
  }
  const pieces = value.split(search);
  const length = value.length + (pieces.length - 1) * replacement.length;
  if (!budget.charge(pieces.length) || !budget.chargeText(length)) return overBudget('replace');
  return ok(stringValue(pieces.join(replacement)));
}

function substring(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const offset = integerAt(args, 1, 'the offset');
  if (offset.isErr()) return err(offset.error);
  const length = integerAt(args, 2, 'the length');
  if (length.isErr()) return err(length.error);
  const clusters = clustersOf(textAt(args, 0), budget);
  if (clusters === undefined || !budget.charge(clusters.length >>> 1)) return overBudget('substr');
  const start = offset.value < 0 ? Math.max(0, clusters.length + offset.value) : offset.value;
  // With an offset from the end, a length of 0 means the rest of the string, like a negative length.
  const toEnd = length.value < 0 || (length.value === 0 && offset.value < 0);
  const end = toEnd ? clusters.length : start + length.value;
  return ok(stringValue(clusters.slice(start, end).join('')));
}

/** Upper-cases the first letter of every word. Letters, digits and `_` make words, so `-` and the apostrophe end one. */
export function titleCase(text: string): string {
  return text.replace(WORD_START, titleCharacter);
}

/** Units of work for mapping a string; characters outside the fast path cost most. */
function caseWork(text: string): number {
  return lengthens(text) ? text.length : text.length >>> 4;
}

/** The first character of a word. ASCII punctuation and white space separate words. */
const SEPARATORS = '\\0-/:-@[-^`{-\\x7f\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const WORD_START = new RegExp(`(?<![^${SEPARATORS}])[^${SEPARATORS}]`, 'gu');

/** Upper case, except for the four digraphs that have a separate title case. */
function titleCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 0x1c4 && code <= 0x1cc) return String.fromCharCode(0x1c5 + 3 * Math.floor((code - 0x1c4) / 3));
  if (code >= 0x1f1 && code <= 0x1f3) return '\u01f2';
  if (code >= 0x10d0 && code <= 0x10ff) return character;
  return upperCase(character);
}
