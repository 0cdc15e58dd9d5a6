import { table } from '../../shared/table.js';

/**
 * How far a deployment is. It is over when it is `successful`, `failed` or `cancelled`; `initializing`, `pending`, `blocked` and
 * `unblocking` are for several regions and are not set here.
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

/** How far the allocations of one group have come. Counters never fall when an allocation is replaced. */
export interface DeploymentState {
  /** Whether the job goes back to its latest stable version when the deployment fails. */
  readonly AutoRevert: boolean;
  /** Whether canaries are accepted as soon as all are healthy. */
  readonly AutoPromote: boolean;
  /** Nanoseconds without progress after which the deployment fails; 0: any unhealthy allocation fails it. */
  readonly ProgressDeadline: number;
  /** RFC 3339: when the next allocation has to be healthy; null before the first placement. */
  readonly RequireProgressBy: string | null;
  /** The canaries were accepted, and the allocations of the older version may be replaced. */
  readonly Promoted: boolean;
  /** IDs of every canary that was placed; null when there was none. */
  readonly PlacedCanaries: readonly string[] | null;
  /** Canaries that are placed before anything is replaced; 0 for none. */
  readonly DesiredCanaries: number;
  /** Allocations that have to be healthy in the end. */
  readonly DesiredTotal: number;
  /** Allocations of the new version that were placed. */
  readonly PlacedAllocs: number;
  /** Those of them that became healthy. */
  readonly HealthyAllocs: number;
  /** Those of them that became unhealthy. */
  readonly UnhealthyAllocs: number;
}

/** The progress of one job version from its first placement until it is healthy (job interface, Deployment). */
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
  /** CreateIndex of the job's registration: a job registered again after a purge is another one. */
  readonly JobCreateIndex: number;
  /** Always false: an installation is one region. */
  readonly IsMultiregion: boolean;
  /** By name of the group; groups that are not deployed have no entry. */
  readonly TaskGroups: Readonly<Record<string, DeploymentState>>;
  readonly Status: DeploymentStatus;
  /** Why it has this status, for people. */
  readonly StatusDescription: string;
  /** Priority of the evaluations that the deployment asks for. */
  readonly EvalPriority: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  /** When it was last changed, in Unix nanoseconds. */
  readonly ModifyTime: number;
}

export const deployments = table<Deployment>('deployments', (deployment) => [deployment.ID], {
  by_job: { version: 1, key: (deployment) => [deployment.Namespace, deployment.JobID, deployment.CreateIndex] },
  by_create: { version: 2, key: (deployment) => [deployment.CreateIndex, deployment.ID] },
  by_namespace: { version: 2, key: (deployment) => [deployment.Namespace, deployment.CreateIndex, deployment.ID] },
  /** Those that are under way: they keep their job running, and have to be watched. */
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
