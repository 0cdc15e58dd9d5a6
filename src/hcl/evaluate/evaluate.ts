import { suggestName } from '../diagnostics/suggest.js';
import { nameSpan } from '../syntax/spans.js';
import type { Expression, NumberLiteral, Reference } from '../syntax/tree.js';
import { parseNumber } from '../values/number.js';
import { dynamicNull, falseValue, type HclValue, numberValue, stringValue, trueValue } from '../values/value.js';
import { literalWork } from '../values/work.js';
import { evaluateCall } from './calls.js';
import { evaluateFor, evaluateObject, evaluateTuple } from './collections.js';
import { evaluateConditional } from './conditional.js';
import { type EvaluationContext, lookUp, namesInReach, outOfBudget, problem, type Scope } from './context.js';
import { evaluateBinary, evaluateUnary } from './operators.js';
import { applySteps } from './steps.js';
import { evaluateTemplate } from './templates.js';

/** The value of an expression, or undefined after all its problems were reported. */
export function evaluate(context: EvaluationContext, expression: Expression): HclValue | undefined {
  if (!context.budget.charge(1)) return outOfBudget(context, expression);
  switch (expression.kind) {
    case 'number':
      return numberFrom(context, expression);
    case 'keyword':
      if (expression.name === 'null') return dynamicNull;
      return expression.name === 'true' ? trueValue : falseValue;
    case 'template':
      return evaluateTemplate(context, expression);
    case 'reference':
      return evaluateReference(context, expression);
    case 'traversal': {
      const source = evaluate(context, expression.source);
      return source === undefined ? undefined : applySteps(context, source, expression.steps);
    }
    case 'unary':
      return evaluateUnary(context, expression);
    case 'binary':
      return evaluateBinary(context, expression);
    case 'conditional':
      return evaluateConditional(context, expression);
    case 'tuple':
      return evaluateTuple(context, expression);
    case 'object':
      return evaluateObject(context, expression);
    case 'for':
      return evaluateFor(context, expression);
    case 'call':
      return evaluateCall(context, expression);
    case 'parentheses':
      return evaluate(context, expression.inner);
  }
}

function numberFrom(context: EvaluationContext, literal: NumberLiteral): HclValue | undefined {
  const work = literalWork(literal.text);
  if (work > 0 && !context.budget.charge(work)) return outOfBudget(context, literal);
  const number = parseNumber(literal.text);
  if (number === undefined) return problem(context, 'bad_number', literal, 'This number is too large to work with.');
  return numberValue(number);
}

/** An undefined name is kept as source text, together with its constant steps. */
function evaluateReference(context: EvaluationContext, reference: Reference): HclValue | undefined {
  const value = lookUp(context.scope, reference.name);
  if (value !== undefined) return applySteps(context, value, reference.steps);
  if (context.unknownNames === 'text') return stringValue(reference.placeholder);
  if (context.unknownNames === 'forbidden') {
    return problem(context, 'unknown_variable', nameSpan(reference), {
      message: 'Nothing can be referred to here.',
      detail: 'The value must be constant.',
    });
  }
  const { scope } = context;
  return problem(context, 'unknown_variable', nameSpan(reference), {
    message: `There is no "${reference.name.slice(0, 60)}".`,
    detail: () => knownNames(scope),
    suggestion: () => suggestName(reference.name, namesInReach(scope)),
  });
}

function knownNames(scope: Scope): string {
  const names = namesInReach(scope);
  if (names.length === 0) return 'No names are defined here.';
  const shown = names.slice(0, 10).join(', ');
  return `Known here: ${shown}${names.length > 10 ? ` and ${names.length - 10} more` : ''}.`;
}
