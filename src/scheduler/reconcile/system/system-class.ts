import type { Job } from '../../../jobs/document/job.js';
import type { Allocation } from '../../allocation.js';
import { isExpired, needsReconnect } from '../disconnect.js';
import { ranSuccessfully } from '../reschedule-filter.js';
import { isCurrent, type JobSituation, type Taint, taintOf } from '../situation.js';

/** Class of an allocation of a system or sysbatch job that has not ended. */
export type SystemClass =
  | 'stopped'
  /** Its node is draining; no other node is an alternative. */
  | 'migrating'
  | 'lost'
  /** Its node is disconnected. */
  | 'disconnecting'
  | 'reconnecting'
  /** It runs an older version. */
  | 'outdated'
  | 'ignored';

/** Which nodes the job may use: `ready` nodes in general, `target` also limited to its pool and datacenters. */
export interface SystemNodes {
  readonly isReady: (nodeId: string) => boolean;
  readonly isTarget: (nodeId: string) => boolean;
}

/** The first rule that applies. `job` is undefined when the job no longer wants the group, or is stopped. */
export function systemClassOf(
  allocation: Allocation,
  job: Job | undefined,
  situation: JobSituation,
  nodes: SystemNodes,
): SystemClass {
  if (job === undefined) return 'stopped';
  if (allocation.DesiredTransition.Migrate === true) return 'migrating';
  const back = needsReconnect(allocation);
  if (back && isExpired(allocation, situation.groupOf(allocation), situation.now)) return 'lost';
  if (allocation.ClientStatus === 'unknown') return 'ignored';
  const taint = taintOf(situation.cluster, allocation.NodeID);
  if (taint !== 'none') return classOnTainted(allocation, taint);
  return back ? 'reconnecting' : classOnSound(allocation, job, nodes);
}

function classOnTainted(allocation: Allocation, taint: Taint): SystemClass {
  if (allocation.JobType === 'sysbatch' && ranSuccessfully(allocation)) return 'ignored';
  if (taint === 'disconnected' && allocation.ClientStatus === 'running') return 'disconnecting';
  return taint === 'missing' || taint === 'down' ? 'lost' : 'ignored';
}

function classOnSound(allocation: Allocation, job: Job, { isReady, isTarget }: SystemNodes): SystemClass {
  const current = isCurrent(allocation, job);
  if (!isReady(allocation.NodeID)) return current ? 'ignored' : 'stopped';
  if (!isTarget(allocation.NodeID)) return 'stopped';
  return current ? 'ignored' : 'outdated';
}
