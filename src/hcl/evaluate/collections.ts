import { quoted } from '../../shared/values.js';
import type { Expression, ForExpression, ObjectExpression, Span, Tuple } from '../syntax/tree.js';
import { convert } from '../values/convert.js';
import { typeText } from '../values/render.js';
import { type HclValue, objectValue, stringType, tupleValue } from '../values/value.js';
import { keyWork } from '../values/work.js';
import { evaluateCondition } from './conditional.js';
import { accepted, type EvaluationContext, outOfBudget, paidFor, problem } from './context.js';
import { forEach } from './for-each.js';

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
