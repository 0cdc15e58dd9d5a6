import { instantFromUnixNanos } from '../../shared/instant.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import { type Deployment, isActiveDeployment } from '../deployment/deployment.js';
import type { Node } from '../node.js';
import { isOutOfReach } from '../nodes/silent-status.js';
import type { CollectionTime } from './collectable-evaluation.js';

/** Whether the deployment is over and all its allocations have ended. Reads allocations up to the first that has not. */
export function isCollectableDeployment(
  deployment: Deployment,
  allocations: Iterable<Allocation>,
  { cutoff }: CollectionTime,
): boolean {
  if (isActiveDeployment(deployment) || instantFromUnixNanos(deployment.ModifyTime) > cutoff) return false;
  return areOver(allocations);
}

/** Whether the node has been down or disconnected for long enough and all its allocations have ended. */
export function isCollectableNode(
  node: Pick<Node, 'Status' | 'StatusUpdatedAt'>,
  allocations: Iterable<Allocation>,
  { cutoff }: CollectionTime,
): boolean {
  return isOutOfReach(node) && node.StatusUpdatedAt * 1000 <= cutoff && areOver(allocations);
}

function areOver(allocations: Iterable<Allocation>): boolean {
  for (const allocation of allocations) if (!isTerminalAllocation(allocation)) return false;
  return true;
}
