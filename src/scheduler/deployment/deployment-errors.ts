import type { DeploymentStatus } from './deployment.js';

/** There is no such deployment. */
export interface DeploymentNotFound {
  readonly type: 'deployment_not_found';
  /** The ID that was asked for. */
  readonly deploymentId: string;
  readonly message: string;
}

/** Why an action on a deployment is refused. */
export type DeploymentError =
  /** The deployment has ended, with `status`. */
  | {
      readonly type: 'deployment_over';
      readonly deploymentId: string;
      readonly status: DeploymentStatus;
      readonly message: string;
    }
  /** The deployment has no such group. */
  | { readonly type: 'unknown_deployment_group'; readonly group: string; readonly message: string }
  /** A promotion needs as many healthy canaries of each group as are `wanted`. */
  | {
      readonly type: 'canaries_not_healthy';
      readonly groups: readonly { readonly group: string; readonly healthy: number; readonly wanted: number }[];
      readonly message: string;
    }
  /** The allocation does not belong to the deployment. */
  | { readonly type: 'not_of_deployment'; readonly allocationId: string; readonly message: string }
  /** The request names no allocation whose health is known. */
  | { readonly type: 'no_allocations'; readonly message: string };
