import type { Evaluation } from './evaluation.js';

/**
 * The summary of a related evaluation (job interface, evaluations). Members are those of `Evaluation`; absent IDs and strings
 * are empty.
 */
export interface EvaluationStub {
  readonly ID: string;
  readonly Namespace: string;
  readonly Priority: number;
  readonly Type: string;
  readonly TriggeredBy: string;
  readonly JobID: string;
  readonly NodeID: string;
  readonly DeploymentID: string;
  readonly Status: string;
  readonly StatusDescription: string;
  /** RFC 3339; the year 1 when it is not delayed. */
  readonly WaitUntil: string;
  /** Empty for none. */
  readonly NextEval: string;
  /** Empty for none. */
  readonly PreviousEval: string;
  /** Empty for none. */
  readonly BlockedEval: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  /** Unix nanoseconds. */
  readonly ModifyTime: number;
}

/** The maximum number of related evaluations that are shown. */
const longestChain = 500;

/** The evaluations that led to this one or follow from it, over any number of steps, the nearest first. */
export function relatedEvaluations(
  evaluation: Evaluation,
  find: (id: string) => Evaluation | undefined,
): readonly EvaluationStub[] {
  const seen = new Set([evaluation.ID]);
  const related: Evaluation[] = [];
  visit(evaluation);
  // The list grows during the iteration.
  for (const next of related) visit(next);
  return related.map(evaluationStub);

  function visit({ PreviousEval, NextEval, BlockedEval }: Evaluation): void {
    for (const id of [PreviousEval, NextEval, BlockedEval]) {
      if (id === undefined || id === '' || seen.has(id) || related.length >= longestChain) continue;
      seen.add(id);
      const found = find(id);
      if (found !== undefined) related.push(found);
    }
  }
}

function evaluationStub(evaluation: Evaluation): EvaluationStub {
  const { ID, Namespace, Priority, Type, TriggeredBy, JobID, Status } = evaluation;
  const { CreateIndex, ModifyIndex, CreateTime, ModifyTime } = evaluation;
  return {
    ID,
    Namespace,
    Priority,
    Type,
    TriggeredBy,
    JobID,
    NodeID: evaluation.NodeID ?? '',
    DeploymentID: evaluation.DeploymentID ?? '',
    Status,
    StatusDescription: evaluation.StatusDescription ?? '',
    WaitUntil: evaluation.WaitUntil ?? '0001-01-01T00:00:00Z',
    NextEval: evaluation.NextEval ?? '',
    PreviousEval: evaluation.PreviousEval ?? '',
    BlockedEval: evaluation.BlockedEval ?? '',
    CreateIndex,
    ModifyIndex,
    CreateTime,
    ModifyTime,
  };
}
