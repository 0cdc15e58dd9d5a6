import type { ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { whenActive } from '../../scheduler/deployment/actions.js';
import type { EngineContext } from '../context/engine-context.js';
import {
  type ActOnDeploymentError,
  actOnDeployment,
  type ChangedDeployment,
  type DeploymentReference,
  deploymentFor,
} from './act-on-deployment.js';

/** Marks a deployment as failed. When one of its groups reverts automatically, the job goes back to its last stable version. */
export function failDeployment(
  context: EngineContext,
  caller: Principal,
  input: DeploymentReference,
): ResultAsync<ChangedDeployment, ActOnDeploymentError> {
  const capabilities = ['submit-job', 'fail-deployment'] as const;
  return actOnDeployment(context, caller, { ...input, capabilities }, () => ({ type: 'fail' }));
}

/** What `pauseDeployment` does to which deployment. */
export interface PauseDeploymentInput extends DeploymentReference {
  /** False resumes it: the time to make progress starts over. */
  readonly pause: boolean;
}

/** Pauses a deployment, or resumes it. While it is paused nothing of its job is replaced or added for it. */
export function pauseDeployment(
  context: EngineContext,
  caller: Principal,
  input: PauseDeploymentInput,
): ResultAsync<ChangedDeployment, ActOnDeploymentError> {
  const capabilities = ['submit-job', 'pause-deployment'] as const;
  const type = input.pause ? 'pause' : 'resume';
  return actOnDeployment(context, caller, { ...input, capabilities }, () => ({ type }));
}

/** The deployment whose canaries are accepted, and in which groups. */
export interface PromoteDeploymentInput extends DeploymentReference {
  /** The groups of which the canaries are accepted; all when absent. Groups that the deployment does not have are passed over. */
  readonly groups?: readonly string[];
}

/** Accepts the canaries of a deployment: the allocations of the older version are replaced. All canaries must be healthy. */
export function promoteDeployment(
  context: EngineContext,
  caller: Principal,
  input: PromoteDeploymentInput,
): ResultAsync<ChangedDeployment, ActOnDeploymentError> {
  const capabilities = ['submit-job', 'promote-deployment'] as const;
  const { groups } = input;
  return actOnDeployment(context, caller, { ...input, capabilities }, ({ TaskGroups }) =>
    groups === undefined
      ? { type: 'promote' }
      : { type: 'promote', groups: groups.filter((group) => Object.hasOwn(TaskGroups, group)) },
  );
}

/** IDs of allocations of a deployment that are declared healthy or unhealthy. */
export interface SetAllocationHealthInput extends DeploymentReference {
  /** IDs of allocations. */
  readonly healthy?: readonly string[];
  /** IDs of allocations. */
  readonly unhealthy?: readonly string[];
}

/** Sets the health of allocations, for groups whose health is checked by hand. An unhealthy one fails the deployment. */
export function setAllocationHealth(
  context: EngineContext,
  caller: Principal,
  input: SetAllocationHealthInput,
): ResultAsync<ChangedDeployment, ActOnDeploymentError> {
  const capabilities = ['submit-job', 'set-alloc-health-deployment'] as const;
  const { healthy = [], unhealthy = [] } = input;
  return actOnDeployment(context, caller, { ...input, capabilities }, () => ({
    type: 'set_health',
    healthy,
    unhealthy,
  }));
}

/**
 * Lets a deployment continue that waits for other regions. There is only one region, so no deployment waits and nothing changes. A
 * deployment that is over is refused.
 */
export function unblockDeployment(
  context: EngineContext,
  caller: Principal,
  input: DeploymentReference,
): ResultAsync<ChangedDeployment, ActOnDeploymentError> {
  const capabilities = ['submit-job', 'unblock-deployment'] as const;
  return context.storage
    .read((view) => deploymentFor(view, caller, { ...input, capabilities }))
    .andThen((found) => found)
    .andThen((deployment) => whenActive(deployment, 'unblock'))
    .map(() => ({ evalId: '', evalCreateIndex: 0, deploymentModifyIndex: 0, revertedJobVersion: null, index: 0 }));
}
