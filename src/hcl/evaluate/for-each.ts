import type { Expression } from '../syntax/tree.js';
import { countNumber } from '../values/number.js';
import { typeText } from '../values/render.js';
import { entriesOf, type HclValue, itemsOf, numberValue, stringValue } from '../values/value.js';
import { type EvaluationContext, outOfBudget, problem, withNames } from './context.js';

/** The header of for-expressions and for-directives: collection and loop variables. */
interface Loop {
  readonly keyName: string | undefined;
  readonly valueName: string;
  readonly collection: Expression;
}

/**
 * Calls `visit` for each element with the loop's names in scope, until it returns false.
 *
 * @returns true if all elements were visited
 */
export function forEach(context: EvaluationContext, loop: Loop, visit: (inner: EvaluationContext) => boolean): boolean {
  const collection = context.evaluate(context, loop.collection);
  if (collection === undefined) return false;
  const pairs = pairsOf(collection);
  if (pairs === undefined) {
    const given = collection.kind === 'null' ? 'null' : `a value of type ${typeText(collection)}`;
    problem(context, 'not_iterable', loop.collection, `A loop needs a list, set, map or object, not ${given}.`);
    return false;
  }
  for (const [key, value] of pairs) {
    if (!context.budget.charge(ROUND)) {
      outOfBudget(context, loop.collection);
      return false;
    }
    const names = new Map<string, HclValue>();
    if (loop.keyName !== undefined) names.set(loop.keyName, key);
    names.set(loop.valueName, value);
    if (!visit(withNames(context, names))) return false;
  }
  return true;
}

/** Units of work for one iteration, in addition to its body. */
const ROUND = 2;

/** Keys and values in the order of iteration, or undefined for a value that has no elements. */
export function pairsOf(value: HclValue): Iterable<readonly [HclValue, HclValue]> | undefined {
  const items = itemsOf(value);
  if (items !== undefined) return itemPairs(items, value.kind === 'set');
  const entries = entriesOf(value);
  return entries === undefined ? undefined : entryPairs(entries);
}

function* itemPairs(items: readonly HclValue[], isSet: boolean): Iterable<readonly [HclValue, HclValue]> {
  for (const [index, item] of items.entries()) yield [isSet ? item : numberValue(countNumber(index)), item];
}

function* entryPairs(entries: ReadonlyMap<string, HclValue>): Iterable<readonly [HclValue, HclValue]> {
  for (const [key, item] of entries) yield [stringValue(key), item];
}
