import type { Allocation } from '../../../scheduler/allocation.js';
import type { PutAllocation } from '../../../scheduler/cluster/cluster.js';
import { withAllocation } from '../../../scheduler/deployment/count-allocations.js';
import { type Deployment, deployments } from '../../../scheduler/deployment/deployment.js';
import { failsOutside } from '../../../scheduler/deployment/transition-deployment.js';
import type { Evaluation } from '../../../scheduler/evaluation.js';
import type { Transaction } from '../../write-transaction.js';
import { moveDeployment } from './move-deployment.js';

/** Counts changed allocations in their deployments, and applies the resulting transitions. Returns the evaluations that these made. */
export function followDeployments(tx: Transaction, changes: readonly PutAllocation[]): readonly Evaluation[] {
  const touched = new Map<string, { readonly deployment: Deployment; readonly changed: readonly Allocation[] }>();
  for (const { before, after } of changes) {
    const id = after.DeploymentID;
    if (id === undefined) continue;
    const { deployment = tx.get(deployments, [id])?.record, changed = [] } = touched.get(id) ?? {};
    if (deployment === undefined) continue;
    const counted = withAllocation(deployment, before, after);
    if (counted === deployment && !failsNow(deployment, before, after)) continue;
    touched.set(id, { deployment: counted, changed: [...changed, after] });
  }
  return [...touched.values()].flatMap(({ deployment, changed }) => {
    const moved = moveDeployment(tx, deployment, { type: 'allocations_changed', changed });
    return moved.isOk() ? (moved.value.evaluation ?? []) : [];
  });
}

/** Whether it has just failed in a group outside of the deployment. */
function failsNow(deployment: Deployment, before: Allocation | undefined, after: Allocation): boolean {
  return before?.ClientStatus !== 'failed' && failsOutside(deployment, after);
}
