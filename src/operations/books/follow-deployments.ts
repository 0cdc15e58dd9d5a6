import { withAllocation } from '../../scheduler/deployment/count-allocations.js';
import { type Deployment, deployments } from '../../scheduler/deployment/deployment.js';
import type { Evaluation } from '../../scheduler/evaluation.js';
import type { Transaction } from '../commit.js';
import type { AllocationChange } from './job-runs.js';
import { moveDeployment } from './move-deployment.js';

/** What deployments have put in a write. */
export interface FollowedDeployments {
  readonly evaluations: readonly Evaluation[];
  readonly allocations: readonly AllocationChange[];
}

/** Counts changed allocations in their deployments, and moves the deployments on. */
export function followDeployments(tx: Transaction, changes: readonly AllocationChange[]): FollowedDeployments {
  const touched = new Map<string, Deployment>();
  for (const { before, after } of changes) {
    const id = after.DeploymentID;
    const deployment = id === undefined ? undefined : (touched.get(id) ?? tx.get(deployments, [id])?.record);
    if (deployment !== undefined) touched.set(deployment.ID, withAllocation(deployment, before, after));
  }
  const followed = [...touched.values()].flatMap((deployment) => {
    const moved = moveDeployment(tx, deployment, { type: 'allocations_changed' });
    return moved.isOk() ? [moved.value] : [];
  });
  return {
    evaluations: followed.flatMap(({ evaluation }) => evaluation ?? []),
    allocations: followed.flatMap(({ allocations }) => allocations),
  };
}
