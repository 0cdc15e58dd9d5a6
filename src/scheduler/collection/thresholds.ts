import { day, hour, type Milliseconds } from '../../shared/duration.js';

/** How long records are kept after their last change, in milliseconds. */
export interface CollectionThresholds {
  readonly evaluation: Milliseconds;
  /** Evaluations of batch jobs, whose allocations are the record of finished work. */
  readonly batchEvaluation: Milliseconds;
  readonly job: Milliseconds;
  readonly deployment: Milliseconds;
  readonly node: Milliseconds;
}

export const defaultThresholds: CollectionThresholds = {
  evaluation: hour,
  batchEvaluation: day,
  job: 4 * hour,
  deployment: hour,
  node: day,
};

/** For a collection on request: whatever has ended goes, in the order job, evaluation, deployment, node. */
export const forcedThresholds: CollectionThresholds = {
  evaluation: 1,
  batchEvaluation: 1,
  job: 1,
  deployment: 1,
  node: 1,
};
