import type { DiagnosticCode } from '../diagnostics/codes.js';
import type { ProblemText } from '../diagnostics/diagnostic.js';
import { type EvaluationContext, paidFor, problem } from '../evaluate/context.js';
import { interruption, type Steps } from '../steps.js';
import type { Span } from '../syntax/tree.js';
import type { ContentReader } from './content.js';
import type { SourceRange } from './schema.js';

/** An evaluation, and the mode in which the source is read. */
export interface Decoding {
  readonly evaluation: EvaluationContext;
  /** Whether the source is version 1: weak conversion, and a block is equivalent to an object attribute. */
  readonly legacy: boolean;
  readonly dynamicAllowed: boolean;
}

export function withEvaluation(decoding: Decoding, evaluation: EvaluationContext): Decoding {
  return { ...decoding, evaluation };
}

export function readerOf({ evaluation }: Decoding): ContentReader {
  const { source, problems, budget, unknownNames } = evaluation;
  return { source, problems, budget, limits: budget.limits, plainStrings: unknownNames === 'forbidden' };
}

export function rangeOf({ evaluation }: Decoding, span: Span): SourceRange {
  return { source: evaluation.source, start: span.start, end: span.end };
}

/** Units of work for an attribute or a block, in addition to its value. */
export const ITEM = 8;

/**
 * Charges one item of a body. The work can be interrupted between two items.
 *
 * @returns false if the budget is spent, which is then reported
 */
export function* nextItem({ evaluation }: Decoding, span: Span): Steps<boolean> {
  const { budget } = evaluation;
  if (budget.turnIsLong) yield* interruption(budget);
  return paidFor(evaluation, span, ITEM);
}

export function decodingProblem(decoding: Decoding, code: DiagnosticCode, span: Span, text: ProblemText): undefined {
  return problem(decoding.evaluation, code, span, text);
}

/** The empty span where a body opens: the position of problems about missing items. */
export function openingOf(span: Span): Span {
  return { start: span.start, end: span.start };
}

export function ruleFor<Rule>(rules: Readonly<Record<string, Rule>> | undefined, name: string): Rule | undefined {
  return rules !== undefined && Object.hasOwn(rules, name) ? rules[name] : undefined;
}
