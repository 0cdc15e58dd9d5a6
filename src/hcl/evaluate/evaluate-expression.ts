import { err, ok, type Result } from 'neverthrow';
import { type Diagnostic, diagnosticsFrom, type Problem } from '../diagnostics/diagnostic.js';
import { suggestName } from '../diagnostics/suggest.js';
import type { FunctionContext, HclFunction } from '../functions/function.js';
import { hclFunctions } from '../functions/index.js';
import { parseExpression } from '../syntax/parse.js';
import { nameSpan, type SourceText } from '../syntax/source.js';
import type { Expression, NumberLiteral, Reference } from '../syntax/tree.js';
import { parseNumber } from '../values/number.js';
import { meteredJsonText } from '../values/plain.js';
import { typeText } from '../values/render.js';
import { dynamicNull, falseValue, type HclValue, numberValue, stringValue, trueValue } from '../values/value.js';
import { literalWork } from '../values/work.js';
import { type Budget, createBudget } from './budget.js';
import { evaluateCall } from './calls.js';
import { evaluateConditional, evaluateFor, evaluateObject, evaluateTuple } from './collections.js';
import { type EvaluationContext, lookUp, namesInReach, outOfBudget, problem, type Scope } from './context.js';
import { evaluateBinary, evaluateUnary } from './operators.js';
import { applySteps } from './steps.js';
import { evaluateTemplate } from './templates.js';

/** The names and functions available to an expression. */
export interface ExpressionScope {
  /** Values by name, e.g. `var`. Default: none. */
  readonly names?: ReadonlyMap<string, HclValue>;
  /** Treatment of names that are not in `names`: an error (the default), or kept as source text within `${ }`. */
  readonly unknownNames?: 'error' | 'text';
  /** Default: all functions of the language. */
  readonly functions?: ReadonlyMap<string, HclFunction>;
  /** New UUIDs for the functions that need them. Without it, `uuidv4` and random salts are the same in each evaluation. */
  readonly ids?: FunctionContext['ids'];
  readonly budget?: Budget;
  /** Name of the source in diagnostics. Default `expression`. */
  readonly file?: string;
}

/** The value of an expression. */
export interface Evaluated {
  /** Short name of the value's type: `list of string`, `object`, `dynamic` for a null of no type. */
  readonly type: string;
  /** The value as JSON, with exact numbers and sorted keys. */
  readonly text: string;
  readonly value: HclValue;
}

/**
 * Parses and evaluates a source that is one expression. Line ends count as spaces.
 *
 * @returns all problems found, sorted by position, when there are any
 */
export function evaluateExpression(text: string, scope: ExpressionScope = {}): Result<Evaluated, Diagnostic[]> {
  const source: SourceText = { name: scope.file ?? 'expression', text };
  const problems: Problem[] = [];
  const budget = scope.budget ?? createBudget();
  const expression = parseExpression(source, budget.limits, problems);
  if (expression === undefined) return err(diagnosticsFrom(problems));
  const context: EvaluationContext = { source, ...surroundingsOf(scope), budget, problems, evaluate };
  const value = evaluate(context, expression);
  const printed = value === undefined ? undefined : meteredJsonText(value, budget);
  if (value !== undefined && printed === undefined) outOfBudget(context, expression);
  if (value === undefined || printed === undefined || problems.length > 0) return err(diagnosticsFrom(problems));
  return ok({ type: typeText(value), text: printed, value });
}

/** The scope of an expression, with defaults for everything that the caller leaves out. */
function surroundingsOf(
  scope: ExpressionScope,
): Pick<EvaluationContext, 'scope' | 'unknownNames' | 'functions' | 'ids'> {
  return {
    scope: { names: scope.names ?? new Map(), outer: undefined },
    unknownNames: scope.unknownNames ?? 'error',
    functions: scope.functions ?? hclFunctions,
    ids: scope.ids ?? noIds,
  };
}

const noIds: FunctionContext['ids'] = { next: () => '00000000-0000-4000-8000-000000000000' };

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
