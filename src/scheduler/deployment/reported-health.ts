import type { WriteStamp } from '../../shared/instant.js';
import { type Allocation, isClientTerminal } from '../allocation.js';
import { withHealth } from './actions.js';

/**
 * Merges a node's report of an allocation with its health for its deployment; null: unknown so far. An allocation that failed before its
 * health was known is unhealthy. Unhealthy is final.
 */
export function withReportedHealth(reported: Allocation, healthy: boolean | null, write: WriteStamp): Allocation {
  if (reported.DeploymentID === undefined) return reported;
  const known = reported.DeploymentStatus?.Healthy ?? null;
  const next = healthy ?? (hasFailed(reported) && known === null ? false : null);
  if (next === null || next === known || known === false) return reported;
  return withHealth(reported, next, write);
}

function hasFailed(allocation: Allocation): boolean {
  return allocation.ClientStatus === 'failed' && isClientTerminal(allocation);
}
