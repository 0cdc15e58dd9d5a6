import { table } from '../../shared/table.js';

/**
 * Status of a deployment. `successful`, `failed` and `cancelled` are final; `initializing`, `pending`, `blocked` and
 * `unblocking` belong to multi-region deployments and are not set here.
 */
export type DeploymentStatus =
  | 'initializing'
  | 'pending'
  | 'running'
  | 'paused'
  | 'blocked'
  | 'unblocking'
  | 'successful'
  | 'failed'
  | 'cancelled';

/** The progress of one group. Counters never decrease when an allocation is replaced. */
export interface DeploymentState {
  /** Whether the job reverts to its latest stable version when the deployment fails. */
  readonly AutoRevert: boolean;
  /** Whether canaries are promoted automatically once all are healthy. */
  readonly AutoPromote: boolean;
  /** Nanoseconds without progress after which the deployment fails; 0: the first unhealthy allocation fails it. */
  readonly ProgressDeadline: number;
  /** RFC 3339: when the next allocation must be healthy; null before the first placement. */
  readonly RequireProgressBy: string | null;
  /** Whether the canaries were promoted, so that allocations of the older version may be replaced. */
  readonly Promoted: boolean;
  /** IDs of all canaries that were placed; null when there was none. */
  readonly PlacedCanaries: readonly string[] | null;
  /** Number of canaries to place before anything is replaced; 0 for none. */
  readonly DesiredCanaries: number;
  /** Number of allocations that must be healthy in the end. */
  readonly DesiredTotal: number;
  /** Number of allocations of the new version that were placed. */
  readonly PlacedAllocs: number;
  /** Number of placed allocations that became healthy. */
  readonly HealthyAllocs: number;
  /** Number of placed allocations that became unhealthy. */
  readonly UnhealthyAllocs: number;
}

/** The rollout of one job version, from its first placement until it is healthy (job interface, Deployment). */
export interface Deployment {
  /** A UUID. */
  readonly ID: string;
  readonly Namespace: string;
  readonly JobID: string;
  /** The version that is deployed. */
  readonly JobVersion: number;
  /** The job's ModifyIndex when the deployment began. */
  readonly JobModifyIndex: number;
  /** The job's JobModifyIndex when the deployment began. */
  readonly JobSpecModifyIndex: number;
  /** CreateIndex of the job's registration: registering a job again after a purge creates a different one. */
  readonly JobCreateIndex: number;
  /** Always false: an installation is one region. */
  readonly IsMultiregion: boolean;
  /** By group name; groups that are not deployed have no entry. */
  readonly TaskGroups: Readonly<Record<string, DeploymentState>>;
  readonly Status: DeploymentStatus;
  /** Reason for the status, for display. */
  readonly StatusDescription: string;
  /** Priority of the evaluations that the deployment creates. */
  readonly EvalPriority: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  /** Time of the last change, in Unix nanoseconds. */
  readonly ModifyTime: number;
}

export const deployments = table<Deployment>('deployments', (deployment) => [deployment.ID], {
  by_job: { version: 1, key: (deployment) => [deployment.Namespace, deployment.JobID, deployment.CreateIndex] },
  by_create: { version: 2, key: (deployment) => [deployment.CreateIndex, deployment.ID] },
  by_namespace: { version: 2, key: (deployment) => [deployment.Namespace, deployment.CreateIndex, deployment.ID] },
  /** Deployments under way: they keep their job running and must be watched. */
  active: {
    version: 1,
    key: (deployment) =>
      isActiveDeployment(deployment) ? [deployment.Namespace, deployment.JobID, deployment.ID] : undefined,
  },
});

/** Not yet successful, failed or cancelled. */
export function isActiveDeployment(deployment: Pick<Deployment, 'Status'>): boolean {
  return deployment.Status !== 'successful' && deployment.Status !== 'failed' && deployment.Status !== 'cancelled';
}

/** Status descriptions of deployments. Existing clients compare these strings. */
export const deploymentDescriptions = {
  running: 'Deployment is running',
  needsPromotion: 'Deployment is running but requires manual promotion',
  autoPromotion: 'Deployment is running pending automatic promotion',
  paused: 'Deployment is paused',
  successful: 'Deployment completed successfully',
  jobStopped: 'Cancelled because job is stopped',
  newerVersion: 'Cancelled due to newer version of job',
  unhealthy: 'Failed due to unhealthy allocations',
  progressDeadline: 'Failed due to progress deadline',
  failedByUser: 'Deployment marked as failed',
} as const;

/** The suffix of a failed deployment's description about reverting. */
export const rollbackDescriptions = {
  to: (version: number): string => `rolling back to job version ${version}`,
  same: (version: number): string =>
    `not rolling back to stable job version ${version} as current job has same specification`,
  none: 'no stable job version to auto revert to',
} as const;
