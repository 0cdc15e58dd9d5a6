import type { Milliseconds } from '../../shared/duration.js';

/** How long records are kept after their last change, in milliseconds. */
export interface CollectionThresholds {
  /** Evaluations that have ended, with their allocations. */
  readonly evaluation: Milliseconds;
  /** Evaluations of batch jobs, whose allocations record completed work. */
  readonly batchEvaluation: Milliseconds;
  /** Allocations that failed, timed out or were lost, with their job and evaluation, if this is longer: users need their logs. */
  readonly failedRun: Milliseconds;
  /** Jobs that are dead. */
  readonly job: Milliseconds;
  /** Deployments that are over. */
  readonly deployment: Milliseconds;
  /** Nodes that are down and whose allocations have ended. */
  readonly node: Milliseconds;
}

/** For a collection on request: everything that has ended is removed, in the order job, evaluation, deployment, node. */
export const forcedThresholds: CollectionThresholds = {
  evaluation: 1,
  batchEvaluation: 1,
  failedRun: 1,
  job: 1,
  deployment: 1,
  node: 1,
};
