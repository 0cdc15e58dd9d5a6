import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import { type Diagnostic, diagnosticsFrom, type Problem } from '../diagnostics/diagnostic.js';
import type { FunctionContext, HclFunction } from '../functions/function.js';
import { hclFunctions } from '../functions/index.js';
import { parseExpression } from '../syntax/parse.js';
import type { SourceText } from '../syntax/source.js';
import { meteredJsonText } from '../values/json-text.js';
import { typeText } from '../values/render.js';
import type { HclValue } from '../values/value.js';
import { type Budget, createBudget } from './budget.js';
import { type EvaluationContext, outOfBudget } from './context.js';
import { evaluate } from './evaluate.js';

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
