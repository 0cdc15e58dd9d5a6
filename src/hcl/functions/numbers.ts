import { err, ok } from 'neverthrow';
import type { HclNumber } from '../values/big-float.js';
import { compareNumbers, doubleNumber, integerNumber, isInfinite, signOf, toDouble } from '../values/number.js';
import { absoluteNumber, addNumbers, ceilNumber, floorNumber } from '../values/number-arithmetic.js';
import { dynamicType, entriesOf, type HclValue, itemsOf, listValue, numberType, numberValue } from '../values/value.js';
import { arithmeticWork } from '../values/work.js';
import { argumentAt, integerAt, numberAt, shortened } from './arguments.js';
import {
  type CallResult,
  defineFunction,
  type EagerFunction,
  type FunctionContext,
  fail,
  failArgument,
  overBudget,
  parameter,
} from './function.js';

/** Values that one `range` may produce. */
const MAX_RANGE = 1024;

/** Units of work for converting exact numbers to doubles and back. */
const DOUBLE = 20;

const number = parameter('number', numberType);

export const numberFunctions: readonly EagerFunction[] = [
  defineFunction('abs', [number], (args) => ok(numberValue(absoluteNumber(numberAt(args, 0))))),
  defineFunction('ceil', [number], (args) => ok(numberValue(ceilNumber(numberAt(args, 0))))),
  defineFunction('floor', [number], (args) => ok(numberValue(floorNumber(numberAt(args, 0))))),
  defineFunction('signum', [number], (args) => ok(numberValue(signOf(numberAt(args, 0))))),
  defineFunction('max', [], (args) => extreme('max', args, 1), {
    variadic: parameter('numbers', numberType),
  }),
  defineFunction('min', [], (args) => extreme('min', args, -1), {
    variadic: parameter('numbers', numberType),
  }),
  defineFunction(
    'pow',
    [parameter('base', numberType), parameter('exponent', numberType)],
    (args) => ofDoubles('pow', args, power),
    { cost: DOUBLE },
  ),
  defineFunction(
    'log',
    [parameter('number', numberType), parameter('base', numberType)],
    (args) => ofDoubles('log', args, (value, base) => Math.log(value) / Math.log(base)),
    { cost: DOUBLE },
  ),
  defineFunction('parseint', [parameter('text', dynamicType), parameter('base', numberType)], parseInteger),
  defineFunction('range', [], range, { variadic: parameter('limits', numberType) }),
];

function extreme(name: string, args: readonly HclValue[], direction: 1 | -1): CallResult {
  let found = args[0];
  if (found === undefined) return fail(`${name} needs at least one number`);
  for (const value of args) {
    if (value.kind !== 'number' || found.kind !== 'number') continue;
    if (compareNumbers(value.value, found.value) * direction > 0) found = value;
  }
  return ok(found);
}

/** The result for two arguments as doubles; arguments that a double cannot hold are rejected. */
function ofDoubles(
  name: string,
  args: readonly HclValue[],
  compute: (first: number, second: number) => number,
): CallResult {
  const [first, second] = [numberAt(args, 0), numberAt(args, 1)];
  const [x, y] = [toDouble(first), toDouble(second)];
  if (isInfinite(x) !== isInfinite(first) || isInfinite(y) !== isInfinite(second)) {
    return fail(`${name} takes numbers of at most 1.8e308`);
  }
  const made = doubleNumber(compute(x, y));
  return made === undefined ? fail(`${name} has no real result for these numbers`) : ok(numberValue(made));
}

/** Whole exponents by repeated squaring, which is exact as long as doubles are; others by the platform's power. */
function power(base: number, exponent: number): number {
  const times = Math.abs(exponent);
  if (!Number.isInteger(exponent) || times > 2 ** 20) return exponent === 0.5 ? Math.sqrt(base) : base ** exponent;
  let result = 1;
  let square = base;
  for (let rest = times; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result *= square;
    square *= square;
  }
  return exponent < 0 ? 1 / result : result;
}

/** Digits of any base whose value a double holds exactly. */
const GROUP = 8;

function parseInteger(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const source = argumentAt(args, 0);
  if (source.kind !== 'string') return failArgument(0, 'the first argument of parseint must be a string');
  const whole = integerAt(args, 1, 'the base', true);
  if (whole.isErr()) return err(whole.error);
  const base = whole.value;
  if (base < 2 || base > 62) return failArgument(1, 'the base must be between 2 and 62');
  const digits = source.value.replace(/^[+-]/, '');
  // The conversion takes time quadratic in the length.
  const work = 10 + digits.length + ((digits.length * digits.length) >>> 9);
  if (digits.length > 10_000 || !budget.charge(work)) return overBudget('parseint');
  const value = wholeNumber(digits, base);
  if (value === undefined) return unreadable(source.value, base);
  return ok(numberValue(integerNumber(source.value.startsWith('-') ? -value : value)));
}

/** The value of digits in a base; undefined if there are none, or if one is not a digit of the base. */
function wholeNumber(digits: string, base: number): bigint | undefined {
  let value = 0n;
  for (let at = 0; at < digits.length; at += GROUP) {
    const group = digits.slice(at, at + GROUP);
    let worth = 0;
    for (const digit of group) worth = worth * base + (digitWorth(digit, base) ?? Number.NaN);
    if (Number.isNaN(worth)) return undefined;
    value = value * BigInt(base) ** BigInt(group.length) + BigInt(worth);
  }
  return digits === '' ? undefined : value;
}

function unreadable(text: string, base: number): CallResult {
  return failArgument(0, `${JSON.stringify(shortened(text))} is not a whole number of base ${base}`);
}

/** Up to base 36 letters are case-insensitive; beyond it upper case letters follow the lower case ones. */
function digitWorth(digit: string, base: number): number | undefined {
  const code = digit.charCodeAt(0);
  let worth: number;
  if (code >= 48 && code <= 57) worth = code - 48;
  else if (code >= 97 && code <= 122) worth = code - 87;
  else if (code >= 65 && code <= 90) worth = base <= 36 ? code - 55 : code - 29;
  else return undefined;
  return worth < base ? worth : undefined;
}

/** Without a start a range begins at 0; without a step it goes by one towards its end. */
function rangeOf(args: readonly HclValue[]): Readonly<Record<'start' | 'end' | 'step', HclNumber>> {
  const start = args.length === 1 ? 0 : numberAt(args, 0);
  const end = numberAt(args, args.length === 1 ? 0 : 1);
  const step = args.length === 3 ? numberAt(args, 2) : compareNumbers(end, start) < 0 ? -1 : 1;
  return { start, end, step };
}

function range(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  if (args.length < 1 || args.length > 3)
    return fail('range takes an end, a start and an end, or a start, an end and a step');
  const { start, end, step } = rangeOf(args);
  const direction = signOf(step);
  if (direction === 0) return fail('the step of range must not be zero');
  if (compareNumbers(end, start) * direction < 0) {
    return failArgument(
      1,
      `the end must be ${direction < 0 ? 'less' : 'greater'} than the start when the step is ${direction < 0 ? 'negative' : 'positive'}`,
    );
  }
  const items: HclValue[] = [];
  let current: HclNumber = start;
  while (compareNumbers(end, current) * direction > 0) {
    if (items.length >= MAX_RANGE) return fail(`range makes at most ${MAX_RANGE} values`);
    if (!budget.charge(1 + arithmeticWork(current, step) + arithmeticWork(end, current))) return overBudget('range');
    items.push(numberValue(current));
    const next = addNumbers(current, step);
    if (next.isErr()) return fail('range runs out of the numbers that can be represented');
    current = next.value;
  }
  return ok(listValue(numberType, items));
}

/** True when the value is or contains an infinite number. */
export function holdsInfinity(value: HclValue): boolean {
  if (value.kind === 'number') return isInfinite(value.value);
  const parts = itemsOf(value) ?? entriesOf(value)?.values() ?? [];
  for (const part of parts) if (holdsInfinity(part)) return true;
  return false;
}
