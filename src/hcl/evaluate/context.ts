import type { DiagnosticCode } from '../diagnostics/codes.js';
import type { Problem, ProblemText } from '../diagnostics/diagnostic.js';
import type { FunctionContext, HclFunction } from '../functions/function.js';
import type { SourceText } from '../syntax/source.js';
import type { Expression, Span } from '../syntax/tree.js';
import { depthOf, type HclValue, sizeOf } from '../values/value.js';
import type { Budget } from './budget.js';

/** Names that can be referenced; an inner scope shadows an outer one. */
export interface Scope {
  readonly names: ReadonlyMap<string, HclValue>;
  readonly outer: Scope | undefined;
}

/** The context of one evaluation; the same for a whole file except for scope, source and the list of problems. */
export interface EvaluationContext {
  readonly source: SourceText;
  readonly scope: Scope;
  /**
   * Treatment of names that are in no scope: kept as source text, to be filled in on the node that runs the job, or an error.
   * `forbidden`: no references at all.
   */
  readonly unknownNames: 'text' | 'error' | 'forbidden';
  /** Undefined where functions may not be called. */
  readonly functions: ReadonlyMap<string, HclFunction> | undefined;
  /** New UUIDs for the functions that need randomness. */
  readonly ids: FunctionContext['ids'];
  readonly budget: Budget;
  readonly problems: Problem[];
  /** The evaluator itself, for mutual recursion between its parts. Undefined means that a problem was reported. */
  readonly evaluate: (context: EvaluationContext, expression: Expression) => HclValue | undefined;
}

/** The context with additional names in scope. */
export function withNames(context: EvaluationContext, names: ReadonlyMap<string, HclValue>): EvaluationContext {
  // Written out because loops do this once per element and a spread is several times slower.
  return {
    source: context.source,
    scope: { names, outer: context.scope },
    unknownNames: context.unknownNames,
    functions: context.functions,
    ids: context.ids,
    budget: context.budget,
    problems: context.problems,
    evaluate: context.evaluate,
  };
}

/** The context with its own list of problems, for an evaluation that may fail. */
export function aside(context: EvaluationContext): EvaluationContext {
  return { ...context, problems: [] };
}

/** The value of a name, from the innermost scope that has it. */
export function lookUp(scope: Scope, name: string): HclValue | undefined {
  for (let current: Scope | undefined = scope; current !== undefined; current = current.outer) {
    const value = current.names.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** All names in scope, for suggestions. */
export function namesInReach(scope: Scope): string[] {
  const names = new Set<string>();
  for (let current: Scope | undefined = scope; current !== undefined; current = current.outer) {
    for (const name of current.names.keys()) names.add(name);
  }
  return [...names];
}

/** Units of work for recording a problem; its position and message are computed later, for the first hundred only. */
const PROBLEM = 5;

/** Reports a problem. Always returns undefined, so that an evaluation can return the call. */
export function problem(context: EvaluationContext, code: DiagnosticCode, span: Span, text: ProblemText): undefined {
  const { start, end } = span;
  const said = typeof text === 'string' ? { message: text } : text;
  context.budget.charge(PROBLEM);
  context.problems.push({ code, severity: 'error', ...said, source: context.source, span: { start, end } });
  return undefined;
}

const reported = new WeakSet<readonly Problem[]>();

/** Reports a spent budget, once: everything after it would fail in the same way. */
export function outOfBudget(context: EvaluationContext, span: Span): undefined {
  if (reported.has(context.problems)) return undefined;
  reported.add(context.problems);
  return problem(context, 'too_much_work', span, {
    message: 'Evaluating this costs more than is allowed.',
    detail: 'Loop over fewer elements, or use shorter strings.',
  });
}

/** Returns a new value unless it is larger or deeper than allowed. */
export function accepted(context: EvaluationContext, value: HclValue, span: Span): HclValue | undefined {
  const { budget } = context;
  if (sizeOf(value) > budget.limits.valueSize) budget.charge(Number.POSITIVE_INFINITY);
  if (budget.exhausted) return outOfBudget(context, span);
  if (depthOf(value) > budget.limits.depth) {
    return problem(context, 'too_deep', span, `This value is nested more than ${budget.limits.depth} levels deep.`);
  }
  return value;
}

/** Charges work; false, and reported once, if the budget does not cover it. */
export function paidFor(context: EvaluationContext, span: Span, work: number): boolean {
  if (context.budget.charge(work)) return true;
  outOfBudget(context, span);
  return false;
}
