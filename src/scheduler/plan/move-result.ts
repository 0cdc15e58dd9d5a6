import type { Allocation } from '../allocation.js';
import type { Deployment } from '../deployment/deployment.js';
import type { Evaluation } from '../evaluation.js';
import type { SchedulingResult } from './outcome.js';

/** Rebases a decision that was made for a write at index `from`, which no earlier record can have, to a write at index `to`. */
export function movedResult(result: SchedulingResult, from: number, to: number): SchedulingResult {
  if (from === to) return result;
  const index = (was: number): number => (was === from ? to : was);
  const evaluation = (one: Evaluation): Evaluation => ({
    ...one,
    CreateIndex: index(one.CreateIndex),
    ModifyIndex: index(one.ModifyIndex),
    ...(one.SnapshotIndex === undefined ? {} : { SnapshotIndex: index(one.SnapshotIndex) }),
  });
  const allocation = (one: Allocation): Allocation => ({
    ...one,
    CreateIndex: index(one.CreateIndex),
    ModifyIndex: index(one.ModifyIndex),
    AllocModifyIndex: index(one.AllocModifyIndex),
    ...(one.DeploymentStatus === undefined
      ? {}
      : {
          DeploymentStatus: { ...one.DeploymentStatus, ModifyIndex: index(one.DeploymentStatus.ModifyIndex) },
        }),
  });
  const deployment = (one: Deployment): Deployment => ({
    ...one,
    CreateIndex: index(one.CreateIndex),
    ModifyIndex: index(one.ModifyIndex),
  });
  return {
    ...result,
    allocations: result.allocations.map(allocation),
    deployments: result.deployments.map(deployment),
    decided: { ...result.decided, uncounted: result.decided.uncounted.map(deployment) },
    evaluation: evaluation(result.evaluation),
    followUps: result.followUps.map(evaluation),
    preemptions: result.preemptions.map(evaluation),
  };
}
