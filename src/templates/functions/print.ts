import { err, ok, type Result } from 'neverthrow';
import { remembered } from '../../shared/remembered.js';
import type { Verb } from '../../shared/source-text.js';
import { kindOf, type Value } from '../values.js';
import { VariableItems } from '../variable-items.js';
import { formattedValue } from './format-value.js';
import { type Call, made, shown, type TemplateFunction, textsFrom } from './template-function.js';

/** `%`, flags, width, precision and letter. */
const VERB = /%([-+ 0#]*)([0-9]*)(?:\.([0-9]*))?([\s\S]?)/u;

const LETTERS = 'vsqtdxXobOcUfFeEgG';

const MAX_WIDTH = 9_999;
const MAX_PRECISION = 999;

/** The parts of a format: strings and verbs; or why it is invalid. The last few dozen are cached. */
const formatParts: (format: string) => Result<readonly (string | Verb)[], string> = remembered(parse, 64, 4_096);

function parse(format: string): Result<readonly (string | Verb)[], string> {
  const parts: (string | Verb)[] = [];
  let rest = format;
  for (let found = VERB.exec(rest); found !== null; found = VERB.exec(rest)) {
    const [whole, flags = '', width = '', precision, letter = ''] = found;
    parts.push(rest.slice(0, found.index));
    rest = rest.slice(found.index + whole.length);
    const verb = {
      flags: new Set(flags),
      width: width === '' ? undefined : Number(width),
      precision: precision === undefined ? undefined : Number(precision),
      letter,
    };
    const problem = letter === '%' ? undefined : problemOf(verb);
    if (problem !== undefined) return err(problem);
    parts.push(letter === '%' ? '%' : verb);
  }
  return ok([...parts, rest]);
}

function problemOf({ flags, width = 0, precision = 0, letter }: Verb): string | undefined {
  if (letter === '') return 'a verb is missing after %';
  if (!LETTERS.includes(letter)) return `%${letter} is not supported`;
  if (letter === 'v' && flags.has('#')) return '%#v is not supported';
  return width > MAX_WIDTH || precision > MAX_PRECISION
    ? `a width may be at most ${MAX_WIDTH}, a precision ${MAX_PRECISION}`
    : undefined;
}

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
