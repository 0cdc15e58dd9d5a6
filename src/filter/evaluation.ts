/** An error of evaluating an expression on a record. */
export interface FilterEvaluationError {
  readonly type: 'filter_evaluation';
  /** The problem, preceded by the position of the selector: `1:8: …`. */
  readonly message: string;
}

/** The state of one evaluation. It is reused for all records, to avoid an allocation per record. */
export interface Evaluation {
  record: unknown;
  /** The values of the names of quantified expressions, outermost first. */
  readonly names: unknown[];
  /** Steps left in the budget. */
  work: number;
  error: FilterEvaluationError | undefined;
}

/** Whether the record matches. Unspecified after an error. */
export type Predicate = (evaluation: Evaluation) => boolean;

/** Fails the evaluation. Only the first error is kept. */
export function fail(evaluation: Evaluation, message: string): false {
  evaluation.error ??= { type: 'filter_evaluation', message };
  return false;
}

/** Charges work that depends on the record; false if the budget is spent. */
export function spend(evaluation: Evaluation, steps: number): boolean {
  evaluation.work -= steps;
  return evaluation.work >= 0 || fail(evaluation, 'evaluating the filter on this record takes too much work');
}
