import { parseBoolean, parseFloat64, parseInt64 } from '../../shared/values.js';
import { isWhole64 } from '../numbers.js';
import { isList, isMap, isTrue, kindOf, textOf, type Value } from '../values.js';
import { type Call, exactly, ofTexts, quotedStart, type TemplateFunction } from './template-function.js';

/** Arithmetic. A pipe passes its value as the last argument: `5 | subtract 2` is 3. */
export const arithmeticFunctions: Readonly<Record<string, TemplateFunction>> = {
  add: ofNumbers(
    (left, right) => left + right,
    (left, right) => left + right,
  ),
  subtract: ofNumbers(
    (left, right) => right - left,
    (left, right) => right - left,
  ),
  multiply: ofNumbers(
    (left, right) => left * right,
    (left, right) => left * right,
  ),
  divide: ofNumbers(
    (left, right) => (left === 0n ? undefined : right / left),
    (left, right) => right / left,
  ),
  modulo: ofNumbers(
    (left, right) => (left === 0n ? undefined : right % left),
    () => undefined,
  ),
  minimum: chosen((left, right) => right < left),
  maximum: chosen((left, right) => right > left),
  loop: {
    least: 1,
    most: 2,
    run: (args, call) => {
      const [from, to] = (args.length === 1 ? [0n, ...args] : args).map(wholeFrom);
      if (typeof from !== 'bigint' || typeof to !== 'bigint') return call.fail('loop takes whole numbers');
      if (to <= from) return [];
      if (to - from > LONGEST_LOOP || !call.spend(Number(to - from) * 16))
        return call.fail(`loop counts to ${LONGEST_LOOP}`);
      return Array.from({ length: Number(to - from) }, (_, at) => from + BigInt(at));
    },
  },
  parseInt: parser('whole number of 64 bits', parseInt64, 0n),
  parseUint: parser('whole number without a sign', (text) => (/^[0-9]/.test(text) ? parseInt64(text) : undefined), 0n),
  parseFloat: parser('number', parseFloat64, 0),
  parseBool: parser('truth value', parseBoolean, false),
};

function wholeFrom(value: Value): Value {
  const text = textOf(value);
  return text === undefined ? value : text === '' ? 0n : parseInt64(text);
}

const LONGEST_LOOP = 100_000n;

/** Returns an integer for two integers; if either operand is a float, both are converted to floats. */
function ofNumbers(
  whole: (left: bigint, right: bigint) => bigint | undefined,
  other: (left: number, right: number) => number | undefined,
): TemplateFunction {
  return exactly(2, ([left, right], call) => {
    if (typeof left === 'bigint' && typeof right === 'bigint') return wholeResult(whole(left, right), call);
    const [one, two] = [left, right].map((value) => (typeof value === 'bigint' ? Number(value) : value));
    if (typeof one !== 'number') return call.fail(`a number is needed here, not ${kindOf(left)}`);
    if (typeof two !== 'number') return call.fail(`a number is needed here, not ${kindOf(right)}`);
    const result = other(one, two);
    return result !== undefined && Number.isFinite(result) ? result : call.fail('the result is not a number');
  });
}

/** One of two numbers, unchanged: the second if `takesSecond` says so. */
function chosen(takesSecond: (left: bigint | number, right: bigint | number) => boolean): TemplateFunction {
  return exactly(2, ([left, right], call) => {
    if (!isNumber(left)) return call.fail(`a number is needed here, not ${kindOf(left)}`);
    if (!isNumber(right)) return call.fail(`a number is needed here, not ${kindOf(right)}`);
    return takesSecond(left, right) ? right : left;
  });
}

function isNumber(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}

function wholeResult(value: bigint | undefined, call: Call): Value {
  if (value === undefined) return call.fail('nothing can be divided by zero');
  return isWhole64(value) ? value : call.fail('the result does not fit 64 bits');
}

/** Parses a string; the empty one stands for zero. */
function parser(what: string, parse: (text: string) => Value, zero: Value): TemplateFunction {
  return ofTexts(1, ([text = ''], call) => {
    if (text === '') return zero;
    return parse(text) ?? call.fail(`${call.isWritten(text) ? quotedStart(text) : 'the string'} is not a ${what}`);
  });
}

/** Boolean functions and comparisons. `and` and `or` are listed for their argument counts only: the renderer short-circuits them. */
export const logicFunctions: Readonly<Record<string, TemplateFunction>> = {
  and: { least: 1, most: Number.POSITIVE_INFINITY, run: (args) => args.find((value) => !isTrue(value)) ?? args.at(-1) },
  or: { least: 1, most: Number.POSITIVE_INFINITY, run: (args) => args.find(isTrue) ?? args.at(-1) },
  not: exactly(1, ([value]) => !isTrue(value)),
  eq: {
    least: 2,
    most: Number.POSITIVE_INFINITY,
    run: ([first, ...others], call) => {
      for (const other of others) {
        const equal = isEqual(first, other, call);
        if (equal !== false) return equal;
      }
      return false;
    },
  },
  ne: exactly(2, ([left, right], call) => negated(isEqual(left, right, call))),
  lt: exactly(2, ([left, right], call) => isBefore(left, right, call)),
  ge: exactly(2, ([left, right], call) => negated(isBefore(left, right, call))),
  gt: exactly(2, ([left, right], call) => isBefore(right, left, call)),
  le: exactly(2, ([left, right], call) => negated(isBefore(right, left, call))),
};

function negated(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

/** Values of different kinds cannot be compared, except with nil. */
function isEqual(left: Value, right: Value, call: Call): boolean | undefined {
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right);
  const [one, other] = [comparable(left), comparable(right)];
  if (one === undefined || other === undefined || typeof one !== typeof other) return incomparable(left, right, call);
  if (typeof one === 'string' && !call.spend(one.length)) return undefined;
  return one === other;
}

function isBefore(left: Value, right: Value, call: Call): boolean | undefined {
  const [one, other] = [comparable(left), comparable(right)];
  if (typeof one === 'boolean' || one === undefined || other === undefined || typeof one !== typeof other) {
    return incomparable(left, right, call);
  }
  if (typeof one === 'string' && !call.spend(one.length)) return undefined;
  return one < other;
}

function isNothing(value: Value): boolean {
  return value === undefined || value === null;
}

function comparable(value: Value): string | bigint | number | boolean | undefined {
  if (isList(value) || isMap(value) || value === null) return undefined;
  return typeof value === 'object' ? textOf(value) : value;
}

function incomparable(left: Value, right: Value, call: Call): undefined {
  return call.fail(`${kindOf(left)} and ${kindOf(right)} cannot be compared`);
}
