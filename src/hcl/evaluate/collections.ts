import { quoted } from '../../shared/values.js';
import type { Conditional, Expression, ForExpression, ObjectExpression, Span, Tuple } from '../syntax/tree.js';
import { convert } from '../values/convert.js';
import { countNumber } from '../values/number.js';
import { typeText } from '../values/render.js';
import { unifyTypes } from '../values/unify.js';
import {
  boolType,
  entriesOf,
  type HclType,
  type HclValue,
  itemsOf,
  numberValue,
  objectValue,
  stringType,
  stringValue,
  tupleValue,
  typeOf,
} from '../values/value.js';
import { conversionWork, keyWork } from '../values/work.js';
import { accepted, aside, type EvaluationContext, outOfBudget, paidFor, problem, withNames } from './context.js';

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

/**
 * The chosen branch, converted to the type that both branches have in common. Errors in the other branch are ignored: it is
 * evaluated for its type only.
 */
export function evaluateConditional(context: EvaluationContext, expression: Conditional): HclValue | undefined {
  const decision = evaluateCondition(context, expression.condition);
  if (decision === undefined) return undefined;
  const chosen = context.evaluate(context, decision ? expression.whenTrue : expression.whenFalse);
  if (chosen === undefined) return undefined;
  const other = context.evaluate(aside(context), decision ? expression.whenFalse : expression.whenTrue);
  if (other === undefined || (chosen.kind === other.kind && isScalar(chosen))) return chosen;
  const work = conversionWork(chosen) + conversionWork(other);
  if (!paidFor(context, expression, work)) return undefined;
  const type = commonType(typeOf(chosen), typeOf(other));
  const span = { start: expression.whenTrue.start, end: expression.whenFalse.end };
  const given = decision ? [chosen, other] : [other, chosen];
  const kinds = given.map((value) => typeText(value)).join(' and ');
  if (type === undefined) {
    return problem(context, 'branches_differ', span, `Both values must have one type, but they are ${kinds}.`);
  }
  const converted = convert(chosen, type);
  if (converted.isOk()) return accepted(context, converted.value, expression);
  return problem(context, 'branches_differ', span, {
    message: `Both values must have one type, but they are ${kinds}.`,
    detail: `The chosen one does not fit: ${converted.error.message}.`,
  });
}

/** The value of a condition: a bool, or a string that represents one; anything else is reported. */
export function evaluateCondition(context: EvaluationContext, condition: Expression): boolean | undefined {
  const value = context.evaluate(context, condition);
  if (value === undefined) return undefined;
  if (value.kind === 'bool') return value.value;
  const bool = value.kind === 'string' ? convert(value, boolType).unwrapOr(undefined) : undefined;
  if (bool?.kind === 'bool') return bool.value;
  const given = value.kind === 'null' ? 'null' : `a value of type ${typeText(value)}`;
  return problem(context, 'bad_condition', condition, `A condition must be true or false, not ${given}.`);
}

function commonType(chosen: HclType, other: HclType): HclType | undefined {
  if (chosen.kind === 'dynamic') return other;
  if (other.kind === 'dynamic') return chosen;
  return unifyTypes([chosen, other]);
}

function isScalar(value: HclValue): boolean {
  return value.kind === 'string' || value.kind === 'number' || value.kind === 'bool';
}

/** Units of work for building an object, and for each entry in addition to its value: keys are sorted. */
const OBJECT = 4;
const ENTRY = 3;

export function evaluateTuple(context: EvaluationContext, tuple: Tuple): HclValue | undefined {
  if (!context.budget.chargeElements(tuple.items.length)) return outOfBudget(context, tuple);
  const items: HclValue[] = [];
  for (const item of tuple.items) {
    const value = context.evaluate(context, item);
    if (value !== undefined) items.push(value);
  }
  return items.length < tuple.items.length ? undefined : accepted(context, tupleValue(items), tuple);
}

/** A duplicate key keeps its last value. */
export function evaluateObject(context: EvaluationContext, object: ObjectExpression): HclValue | undefined {
  if (!context.budget.chargeElements(object.items.length)) return outOfBudget(context, object);
  if (!paidFor(context, object, OBJECT + ENTRY * object.items.length)) return undefined;
  const entries: [string, HclValue][] = [];
  for (const item of object.items) {
    const key = evaluateKey(context, item.key);
    const value = context.evaluate(context, item.value);
    if (key === undefined || value === undefined || !paidFor(context, item.key, keyWork(key.length))) continue;
    entries.push([key, value]);
  }
  return entries.length < object.items.length ? undefined : accepted(context, objectValue(entries), object);
}

/** A bare name is a literal key; everything else is evaluated. */
function evaluateKey(context: EvaluationContext, key: Expression): string | undefined {
  if (key.kind === 'keyword') return key.name;
  if (key.kind === 'reference') {
    if (key.steps.length === 0) return key.name;
    return problem(context, 'bad_key', key, {
      message: 'This key could be a name or a reference.',
      detail: 'Quote it to use it as written, or put it in parentheses to use what it refers to.',
    });
  }
  const value = context.evaluate(context, key);
  return value === undefined ? undefined : keyText(context, value, key);
}

function keyText(context: EvaluationContext, value: HclValue, span: Span): string | undefined {
  if (value.kind === 'string') return value.value;
  const text = value.kind === 'null' ? undefined : convert(value, stringType).unwrapOr(undefined);
  if (text?.kind === 'string') return text.value;
  const given = value.kind === 'null' ? 'null' : `a value of type ${typeText(value)}`;
  return problem(context, 'bad_key', span, `A key must be a string, not ${given}.`);
}

export function evaluateFor(context: EvaluationContext, expression: ForExpression): HclValue | undefined {
  return expression.key === undefined
    ? evaluateTupleFor(context, expression)
    : evaluateObjectFor(context, expression, expression.key);
}

function evaluateTupleFor(context: EvaluationContext, expression: ForExpression): HclValue | undefined {
  const items: HclValue[] = [];
  const complete = forEach(context, expression, (inner) => {
    const taken = isTaken(inner, expression);
    if (taken !== true) return taken === false;
    const value = inner.evaluate(inner, expression.value);
    if (value === undefined) return false;
    items.push(value);
    return true;
  });
  if (!complete) return undefined;
  if (!context.budget.chargeElements(items.length)) return outOfBudget(context, expression);
  return accepted(context, tupleValue(items), expression);
}

function evaluateObjectFor(
  context: EvaluationContext,
  expression: ForExpression,
  keyExpression: Expression,
): HclValue | undefined {
  const groups = new Map<string, HclValue[]>();
  const complete = forEach(context, expression, (inner) => {
    const taken = isTaken(inner, expression);
    if (taken !== true) return taken === false;
    const keyValue = inner.evaluate(inner, keyExpression);
    const key = keyValue === undefined ? undefined : keyText(inner, keyValue, keyExpression);
    const value = inner.evaluate(inner, expression.value);
    if (key === undefined || value === undefined) return false;
    if (!paidFor(inner, keyExpression, keyWork(key.length))) return false;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else if (expression.grouped) group.push(value);
    else {
      problem(inner, 'duplicate_key', keyExpression, {
        message: `Two elements have the key ${quoted(key)}.`,
        detail: 'Write "..." after the value to collect all values of a key.',
      });
      return false;
    }
    return true;
  });
  if (!complete) return undefined;
  if (!context.budget.chargeElements(groups.size)) return outOfBudget(context, expression);
  if (!paidFor(context, expression, OBJECT + ENTRY * groups.size)) return undefined;
  const entries: [string, HclValue][] = [];
  for (const [key, [first, ...rest]] of groups) {
    if (expression.grouped) entries.push([key, tupleValue(first === undefined ? [] : [first, ...rest])]);
    else if (first !== undefined) entries.push([key, first]);
  }
  return accepted(context, objectValue(entries), expression);
}

function isTaken(inner: EvaluationContext, { condition }: ForExpression): boolean | undefined {
  return condition === undefined ? true : evaluateCondition(inner, condition);
}
