/** What an expression cannot do with a record. */
export interface FilterEvaluationError {
  readonly type: 'filter_evaluation';
  /** What is wrong, with the position of the selector before it: `1:8: …`. */
  readonly message: string;
}

/** The state of one evaluation. It is kept from record to record, so that nothing is made for each of them. */
export interface Evaluation {
  record: unknown;
  /** What the names of quantified expressions stand for, outermost first. */
  readonly names: unknown[];
  /** Steps that are left. */
  work: number;
  error: FilterEvaluationError | undefined;
}

/** Whether the record matches. After an error the answer means nothing. */
export type Predicate = (evaluation: Evaluation) => boolean;

/** Gives up. Only the first reason counts. */
export function fail(evaluation: Evaluation, message: string): false {
  evaluation.error ??= { type: 'filter_evaluation', message };
  return false;
}

/** Pays for work that depends on the record; false when there has been too much of it. */
export function spend(evaluation: Evaluation, steps: number): boolean {
  evaluation.work -= steps;
  return evaluation.work >= 0 || fail(evaluation, 'the filter takes too much work with this record');
}
