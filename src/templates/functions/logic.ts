import { isList, isMap, isTrue, kindOf, textOf, type Value } from '../values.js';
import { type Call, exactly, type TemplateFunction } from './template-function.js';

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
