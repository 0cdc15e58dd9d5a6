import type { ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { whenActive } from '../../scheduler/deployment/actions.js';
import { type EngineContext, readResult } from '../context/engine-context.js';
import type { CallManner } from '../operation.js';
import {
  type ActOnDeploymentError,
  actOnDeployment,
  type ChangedDeployment,
  type DeploymentReference,
  deploymentFor,
} from './act-on-deployment.js';

/** Marks a deployment as failed. When one of its groups has auto-revert, the job is reverted to its last stable version. */
export function failDeployment(
  context: EngineContext,
  caller: Principal,
  input: DeploymentReference,
): ResultAsync<ChangedDeployment, ActOnDeploymentError> {
  const capabilities = ['submit-job', 'fail-deployment'] as const;
  return actOnDeployment(context, caller, { ...input, capabilities }, () => ({ type: 'fail' }));
}

/** The input of `pauseDeployment`. */
interface PauseDeploymentInput extends DeploymentReference, Pick<CallManner, 'fromWire'> {
  /** False resumes it and restarts the progress deadline. True when absent, but for a document of the wire. */
  readonly pause?: boolean;
}

/** Pauses or resumes a deployment. While it is paused, no allocations of its job are replaced or added. */
export function pauseDeployment(
  context: EngineContext,
  caller: Principal,
  input: PauseDeploymentInput,
): ResultAsync<ChangedDeployment, ActOnDeploymentError> {
  const capabilities = ['submit-job', 'pause-deployment'] as const;
  const type = (input.pause ?? input.fromWire !== true) ? 'pause' : 'resume';
  return actOnDeployment(context, caller, { ...input, capabilities }, () => ({ type }));
}

/** The deployment and groups whose canaries are promoted. */
interface PromoteDeploymentInput extends DeploymentReference, Pick<CallManner, 'fromWire'> {
  /** Promotes all groups. True when no groups are given, but for a document of the wire. */
  readonly all?: boolean;
  /** The groups to promote unless all are. Unknown groups are ignored. */
  readonly groups?: readonly string[];
}

/** Promotes the canaries of a deployment: the allocations of the older version are replaced. All canaries must be healthy. */
export function promoteDeployment(
  context: EngineContext,
  caller: Principal,
  input: PromoteDeploymentInput,
): ResultAsync<ChangedDeployment, ActOnDeploymentError> {
  const capabilities = ['submit-job', 'promote-deployment'] as const;
  const { groups = [], all = input.fromWire !== true && input.groups === undefined } = input;
  return actOnDeployment(context, caller, { ...input, capabilities }, ({ TaskGroups }) =>
    all ? { type: 'promote' } : { type: 'promote', groups: groups.filter((group) => Object.hasOwn(TaskGroups, group)) },
  );
}

/** Allocations of a deployment to set healthy or unhealthy. */
interface SetAllocationHealthInput extends DeploymentReference {
  /** IDs of allocations. */
  readonly healthy?: readonly string[];
  /** IDs of allocations. */
  readonly unhealthy?: readonly string[];
}

/** Sets the health of allocations, for groups whose health is checked manually. An unhealthy one fails the deployment. */
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
 * Unblocks a deployment that waits for other regions. There is only one region, so no deployment waits and nothing changes. An
 * ended deployment is refused.
 */
export function unblockDeployment(
  context: EngineContext,
  caller: Principal,
  input: DeploymentReference,
): ResultAsync<ChangedDeployment, ActOnDeploymentError> {
  const capabilities = ['submit-job', 'unblock-deployment'] as const;
  return readResult(context, (view) => deploymentFor(view, caller, { ...input, capabilities }))
    .andThen((deployment) => whenActive(deployment, 'unblock'))
    .map(() => ({ evalId: '', evalCreateIndex: 0, deploymentModifyIndex: 0, revertedJobVersion: null, index: 0 }));
}
