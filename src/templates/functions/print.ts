import type { Verb } from '../../shared/source-text.js';
import { kindOf, type Value } from '../values.js';
import { VariableItems } from '../variable-items.js';
import { made, shown, textsFrom } from './arguments.js';
import { formatParts } from './format.js';
import { formattedValue } from './format-value.js';
import type { Call, TemplateFunction } from './template-function.js';

/** Functions that format values as strings. */
export const printFunctions: Readonly<Record<string, TemplateFunction>> = {
  print: { least: 0, most: Number.POSITIVE_INFINITY, run: (args, call) => joined(args, call, printedAs) },
  println: {
    least: 0,
    most: Number.POSITIVE_INFINITY,
    run: (args, call) => {
      const parts = args.map((value) => printedAs(value, call)?.text);
      return parts.every((part) => part !== undefined) ? made(`${parts.join(' ')}\n`, call) : undefined;
    },
  },
  printf: {
    least: 1,
    most: Number.POSITIVE_INFINITY,
    run: ([format, ...args], call) => formatted(format, args, call),
    refusal: (format, count) => (typeof format === 'string' ? unfitFormat(format, count - 1) : undefined),
  },
};

/** Formats and quoted strings are read character by character. */
const STEP_OF_A_CHARACTER = 32;

interface Printed {
  readonly text: string;
  readonly isText: boolean;
}

/** The values as one string, with a space between neighbours that are both not strings. */
export function joined(
  args: readonly Value[],
  call: Call,
  print: (value: Value, call: Call) => Printed | undefined,
): Value {
  let text = '';
  let isApart = false;
  for (const value of args) {
    const part = print(value, call);
    if (part === undefined) return undefined;
    text += (isApart && !part.isText ? ' ' : '') + part.text;
    isApart = !part.isText;
  }
  return made(text, call);
}

/** As `print` shows a value. Items of a variable are shown as references. */
function printedAs(value: Value, call: Call): Printed | undefined {
  if (value === undefined || value === null) return { text: '<nil>', isText: false };
  const text = shown(value, call);
  if (text === undefined) return undefined;
  return { text: value instanceof VariableItems ? `&${text}` : text, isText: typeof value === 'string' };
}

/** A value as an action shows it. */
export function shownAs(value: Value, call: Call): Printed | undefined {
  const text = shown(value, call);
  return text === undefined
    ? undefined
    : { text, isText: typeof value === 'string' || value === undefined || value === null };
}

/** Why the format does not fit this number of values. */
function unfitFormat(format: string, count: number): string | undefined {
  return formatParts(format).match(
    (parts) => {
      const verbs = parts.filter((part) => typeof part !== 'string').length;
      return verbs === count ? undefined : `printf: the format has ${verbs} verbs, not one for each of ${count} values`;
    },
    (problem) => `printf: ${problem}`,
  );
}

function formatted(format: Value, args: readonly Value[], call: Call): Value {
  const [pattern] = textsFrom([format], call) ?? [];
  if (pattern === undefined || !call.spend(pattern.length * STEP_OF_A_CHARACTER)) return undefined;
  const problem = unfitFormat(pattern, args.length);
  if (problem !== undefined) return call.fail(problem);
  const values = args.values();
  const texts = formatParts(pattern)
    ._unsafeUnwrap()
    .map((part) => (typeof part === 'string' ? part : verbText(part, values.next().value, call)));
  return texts.every((text) => text !== undefined) ? made(texts.join(''), call) : undefined;
}

function verbText(verb: Verb, value: Value, call: Call): string | undefined {
  if (!call.spend((verb.width ?? 0) + (verb.precision ?? 0)) || shown(value, call) === undefined) return undefined;
  const text = formattedValue(verb, value);
  if (text === undefined) return call.fail(`printf: %${verb.letter} does not accept ${kindOf(value)}`);
  return call.spend(text.length * STEP_OF_A_CHARACTER) ? text : undefined;
}
