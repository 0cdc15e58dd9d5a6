import { parseBoolean, parseFloat64, parseInt64 } from '../../shared/text-values.js';
import { isWhole64 } from '../numbers.js';
import { kindOf, type Value } from '../values.js';
import { ofTexts } from './arguments.js';
import { type Call, exactly, type TemplateFunction } from './template-function.js';

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
  minimum: ofNumbers((left, right) => (left < right ? left : right), Math.min),
  maximum: ofNumbers((left, right) => (left > right ? left : right), Math.max),
  loop: {
    least: 1,
    most: 2,
    run: (args, call) => {
      const [from, to] = args.length === 1 ? [0n, args[0]] : args;
      if (typeof from !== 'bigint' || typeof to !== 'bigint') return call.fail('loop takes whole numbers');
      if (to <= from) return [];
      if (to - from > LONGEST_LOOP || !call.spend(Number(to - from) * 16))
        return call.fail(`loop counts to ${LONGEST_LOOP}`);
      return Array.from({ length: Number(to - from) }, (_, at) => from + BigInt(at));
    },
  },
  parseInt: ofTexts(1, ([text = ''], call) => parseInt64(text) ?? unread(text, 'whole number of 64 bits', call)),
  parseUint: ofTexts(1, ([text = ''], call) => {
    const value = parseInt64(text);
    return value !== undefined && value >= 0n ? value : unread(text, 'whole number without a sign', call);
  }),
  parseFloat: ofTexts(1, ([text = ''], call) => parseFloat64(text) ?? unread(text, 'number', call)),
  parseBool: ofTexts(1, ([text = ''], call) => parseBoolean(text) ?? unread(text, 'truth value', call)),
};

const LONGEST_LOOP = 100_000n;

/** Two integers give an integer; if either operand is a float, both are converted to floats. */
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
    return result !== undefined && Number.isFinite(result) ? result : call.fail('the result is no number');
  });
}

function wholeResult(value: bigint | undefined, call: Call): Value {
  if (value === undefined) return call.fail('nothing can be divided by zero');
  return isWhole64(value) ? value : call.fail('the result does not fit 64 bits');
}

function unread(text: string, what: string, call: Call): undefined {
  return call.fail(`${JSON.stringify(text.slice(0, 40))} is no ${what}`);
}
