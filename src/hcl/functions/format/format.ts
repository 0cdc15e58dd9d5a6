import { err, ok, type Result } from 'neverthrow';
import { cased, filled, formattedFloat, formattedInteger, signOf, type Verb } from '../../../shared/source-text.js';
import type { Budget } from '../../evaluate/budget.js';
import { type HclNumber, parts } from '../../values/big-float.js';
import { convert } from '../../values/convert.js';
import { toBigInt } from '../../values/number.js';
import { digitsOf, shortestDigits } from '../../values/number-text.js';
import { meteredJsonText, quotedText, quotingWork } from '../../values/plain.js';
import { clusterCount, clustersOf } from '../../values/unicode.js';
import {
  boolType,
  dynamicType,
  type HclType,
  type HclValue,
  itemsOf,
  listValue,
  numberType,
  numberValue,
  stringType,
  stringValue,
} from '../../values/value.js';
import { textWork } from '../../values/work.js';
import { argumentAt, textAt } from '../arguments.js';
import {
  type CallResult,
  defineFunction,
  type EagerFunction,
  type FunctionContext,
  type FunctionError,
  fail,
  failArgument,
  nullableParameter,
  overBudget,
  parameter,
} from '../function.js';
import { holdsInfinity } from '../numbers.js';

const format = parameter('format', stringType);
const formatted = nullableParameter('values', dynamicType);

export const formatFunctions: readonly EagerFunction[] = [
  defineFunction(
    'format',
    [format],
    (args, { budget }) => formatText(textAt(args, 0), args.slice(1), budget).map(stringValue),
    { variadic: formatted },
  ),
  defineFunction('formatlist', [format], formatList, { variadic: formatted }),
];

type TextResult = Result<string, FunctionError>;

/** Lists, sets and tuples are iterated in parallel; every other argument is the same in each iteration. */
function formatList(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const pattern = textAt(args, 0);
  const columns = args.slice(1).map((value) => itemsOf(value));
  const chooser = columns.findIndex((items) => items !== undefined);
  const rounds = columns[chooser]?.length ?? 1;
  for (const [at, items] of columns.entries()) {
    if (items !== undefined && items.length !== rounds) {
      const message = `argument ${at + 1} has ${items.length} elements, but argument ${chooser + 1} has ${rounds}`;
      return failArgument(at + 1, message);
    }
  }
  if (!budget.chargeElements(rounds * args.length)) return overBudget('formatlist');
  const texts: HclValue[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const row = columns.map((items, at) => (items === undefined ? argumentAt(args, at + 1) : argumentAt(items, round)));
    const text = formatText(pattern, row, budget);
    if (text.isErr()) return err(inRound(round, text.error));
    texts.push(stringValue(text.value));
  }
  return ok(listValue(stringType, texts));
}

/** The values of a round belong to no single argument, so the whole call is at fault. */
function inRound(round: number, { type, message }: FunctionError): FunctionError {
  return {
    type: type === 'budget_exceeded' ? type : 'function_failed',
    message: `in round ${round}: ${message}`,
  };
}

/** Flags, `[n]` before or after width and precision, letter. */
const SEQUENCE = /%(?:%|([0#\-+ ]*)(?:\[([1-9]\d*)\])?([1-9]\d*)?(?:\.(\d*))?(?:\[([1-9]\d*)\])?([a-zA-Z]))/y;

/** Units of work for one sequence of a format. */
const VERB = 8;

function formatText(pattern: string, values: readonly HclValue[], budget: Budget): TextResult {
  let text = '';
  let at = 0;
  let next = 1;
  let highest = 0;
  for (;;) {
    const sequence = pattern.indexOf('%', at);
    if (sequence === -1) break;
    text += pattern.slice(at, sequence);
    SEQUENCE.lastIndex = sequence;
    const match = SEQUENCE.exec(pattern);
    if (match === null) return fail(`the sequence that starts at offset ${sequence} of the format is not valid`);
    at = sequence + match[0].length;
    const verb = verbOf(match);
    if (verb === undefined) {
      text += '%';
      continue;
    }
    const place = `${match[0]} at offset ${sequence}`;
    const explicit = match[2] ?? match[5];
    const chosen = explicit === undefined ? next : Number(explicit);
    const value = values[chosen - 1];
    if (value === undefined) {
      return fail(`${place} needs value ${chosen}, but there are only ${values.length}`);
    }
    highest = Math.max(highest, chosen);
    next = chosen + 1;
    if (!paysFor(verb, text, budget)) return overBudget('format');
    const part = formatValue(verb, value, budget).mapErr(
      (error): FunctionError =>
        error.type === 'budget_exceeded' ? error : { ...error, message: `${place}: ${error.message}` },
    );
    if (part.isErr()) return part;
    text += part.value;
  }
  if (highest < values.length) {
    return failArgument(highest + 1, `the format uses ${highest} of ${values.length} values; the others would be lost`);
  }
  return ok(text + pattern.slice(at));
}

/** Charges a sequence and its padding; false if the budget is spent or the result would be too long. */
function paysFor(verb: Verb, text: string, budget: Budget): boolean {
  const room = (verb.width ?? 0) + (verb.precision ?? 0);
  const fits = text.length + room <= budget.limits.textLength;
  return fits && budget.chargeText(room) && budget.charge(VERB);
}

function verbOf(match: RegExpExecArray): Verb | undefined {
  const [, flags, , width, precision, , letter] = match;
  if (letter === undefined) return undefined;
  return {
    letter,
    flags: new Set(flags),
    width: width === undefined ? undefined : Number(width),
    precision: precision === undefined ? undefined : Number(precision),
  };
}

function formatValue(verb: Verb, value: HclValue, budget: Budget): TextResult {
  if (verb.letter === 'v') return anyText(verb, value, budget);
  if (value.kind === 'null') return fail('a null has no string form; only %v accepts it');
  switch (verb.letter) {
    case 't':
      return converted(value, boolType).map((bool) => (bool.kind === 'bool' && bool.value ? 'true' : 'false'));
    case 'b':
    case 'd':
    case 'o':
    case 'x':
    case 'X':
      return converted(value, numberType).andThen((number) => {
        const whole = number.kind === 'number' ? toBigInt(number.value) : undefined;
        if (!budget.charge(textWork(number))) return overBudget('format');
        return whole === undefined ? fail('a whole number is required') : ok(formattedInteger(verb, whole, true));
      });
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
      return converted(value, numberType).andThen((number) => {
        if (number.kind !== 'number') return ok('');
        return budget.charge(floatWork(verb, number.value)) ? ok(floatText(verb, number.value)) : overBudget('format');
      });
    case 's':
    case 'q':
      return converted(value, stringType).andThen((text) =>
        stringText(verb, text.kind === 'string' ? text.value : '', budget),
      );
    default:
      return fail(`there is no verb %${verb.letter}`);
  }
}

/** How `%v` shows a number. */
const general: Verb = { letter: 'g', flags: new Set(), width: undefined, precision: undefined };

function anyText(verb: Verb, value: HclValue, budget: Budget): TextResult {
  if (!verb.flags.has('#') && value.kind === 'string') return padded(verb, value.value, budget);
  if (!verb.flags.has('#') && value.kind === 'number') {
    if (!budget.charge(textWork(value))) return overBudget('format');
    return padded(verb, floatText(general, value.value), budget);
  }
  if (holdsInfinity(value)) return fail('an infinite number has no JSON form');
  const text = meteredJsonText(value, budget);
  return text === undefined ? overBudget('format') : padded(verb, text, budget);
}

function stringText(verb: Verb, text: string, budget: Budget): TextResult {
  const { precision } = verb;
  const clusters = precision === undefined || precision === 0 ? undefined : clustersOf(text, budget);
  if (!budget.charge(verb.letter === 'q' ? quotingWork(text) : 1)) return overBudget('format');
  const cut = clusters === undefined ? text : clusters.slice(0, precision).join('');
  return padded(verb, verb.letter === 'q' ? quotedText(cut) : cut, budget);
}

/** Widths count grapheme clusters. */
function padded(verb: Verb, text: string, budget: Budget): TextResult {
  if (verb.width === undefined) return ok(text);
  const count = clusterCount(text, budget);
  if (count === undefined) return overBudget('format');
  const missing = verb.width - count;
  if (missing <= 0) return ok(text);
  const padding = (verb.flags.has('0') ? '0' : ' ').repeat(missing);
  return ok(verb.flags.has('-') ? text + padding : padding + text);
}

function converted(value: HclValue, type: HclType): Result<HclValue, FunctionError> {
  return convert(value, type).mapErr(({ message }): FunctionError => ({ type: 'function_failed', message }));
}

/** `%e %E %f %g %G`. */
function floatText(verb: Verb, value: HclNumber): string {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return filled(verb, value < 0 ? '-' : verb.flags.has(' ') ? ' ' : '+', 'Inf', false);
  }
  const { mantissa, exponent, precision } = parts(value);
  const magnitude = mantissa < 0n ? -mantissa : mantissa;
  const text = formattedFloat(verb.letter.toLowerCase() as 'e' | 'f' | 'g', verb.precision, {
    shortest: () => shortestDigits(magnitude, exponent, precision),
    exact: (wanted) => digitsOf(magnitude, exponent, wanted),
  });
  return filled(verb, mantissa < 0n || Object.is(value, -0) ? '-' : signOf(verb), cased(verb, text), true);
}

/** Units of work for `floatText`: large numbers, and many decimals of small ones, need big-integer arithmetic. */
function floatWork({ precision = 6 }: Verb, value: HclNumber): number {
  if (typeof value === 'number') return 20;
  const { exponent } = value;
  const digits = exponent > 0 ? exponent : Math.min(-exponent, precision);
  return textWork(numberValue(value)) + digits + (digits * digits) / 4096;
}
