import type { DeploymentStatus } from './deployment.js';

/** There is no such deployment. */
export interface DeploymentNotFound {
  readonly type: 'deployment_not_found';
  /** The ID that was asked for. */
  readonly deploymentId: string;
  readonly message: string;
}

/** Why a deployment action is refused. */
export type DeploymentError =
  /** The deployment has ended, with `status`. */
  | {
      readonly type: 'deployment_over';
      readonly deploymentId: string;
      readonly status: DeploymentStatus;
      readonly message: string;
    }
  /** The deployment does not have this group. */
  | { readonly type: 'unknown_deployment_group'; readonly group: string; readonly message: string }
  /** Promotion needs `wanted` healthy canaries of each group. */
  | {
      readonly type: 'canaries_not_healthy';
      readonly groups: readonly { readonly group: string; readonly healthy: number; readonly wanted: number }[];
      readonly message: string;
    }
  /** The allocation does not belong to the deployment. */
  | { readonly type: 'not_of_deployment'; readonly allocationId: string; readonly message: string }
  /** The request lists no allocations. */
  | { readonly type: 'no_allocations'; readonly message: string };
