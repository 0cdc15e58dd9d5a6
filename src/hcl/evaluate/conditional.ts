import type { Conditional, Expression } from '../syntax/tree.js';
import { convert } from '../values/convert.js';
import { typeText } from '../values/render.js';
import { unifyTypes } from '../values/unify.js';
import { boolType, type HclType, type HclValue, typeOf } from '../values/value.js';
import { conversionWork } from '../values/work.js';
import { accepted, aside, type EvaluationContext, paidFor, problem } from './context.js';

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
