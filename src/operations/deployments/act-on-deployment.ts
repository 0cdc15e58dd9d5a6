import { err, type Result, type ResultAsync } from 'neverthrow';
import { authorise, type PermissionDenied } from '../../access/allows.js';
import type { Capability } from '../../access/capability.js';
import type { Principal } from '../../access/principal.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Deployment, deployments } from '../../scheduler/deployment/deployment.js';
import type { DeploymentError, DeploymentNotFound } from '../../scheduler/deployment/deployment-errors.js';
import type { DeploymentEvent } from '../../scheduler/deployment/transition-deployment.js';
import { commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { type MovedDeployment, moveDeployment } from '../records/deployments/move-deployment.js';
import type { Transaction } from '../write-transaction.js';

/** The deployment of an operation. */
export interface DeploymentReference {
  readonly deploymentId: string;
}

/** The result of an action on a deployment. */
export interface ChangedDeployment {
  /** Empty without an evaluation. */
  readonly evalId: string;
  /** Index at which the evaluation was created; 0 when there is none. */
  readonly evalCreateIndex: number;
  /** Index of the last change of the deployment. */
  readonly deploymentModifyIndex: number;
  /** The version to which the job was reverted; null without a revert. */
  readonly revertedJobVersion: number | null;
  /** Index of the write; 0 when nothing was written. */
  readonly index: number;
}

/** Errors of actions on deployments: missing rights, an unknown deployment, or a state that does not allow the action. */
export type ActOnDeploymentError = PermissionDenied | DeploymentNotFound | DeploymentError | StorageError;

type Refusal = Exclude<ActOnDeploymentError, StorageError>;

/** Applies an event to a deployment. The caller needs the right in the deployment's namespace. */
export function actOnDeployment(
  context: EngineContext,
  caller: Principal,
  { deploymentId, capabilities }: DeploymentReference & { readonly capabilities: readonly Capability[] },
  eventOf: (deployment: Deployment) => DeploymentEvent,
): ResultAsync<ChangedDeployment, ActOnDeploymentError> {
  return commitValue(
    context,
    caller,
    (tx): Result<ChangedDeployment, Refusal> =>
      deploymentFor(tx, caller, { deploymentId, capabilities }).andThen((deployment) => {
        const event = eventOf(deployment);
        // Its changes alone could also come from a node's report.
        if (event.type === 'set_health') tx.cause = 'DeploymentAllocHealth';
        return moveDeployment(tx, deployment, event, true).map((moved) => settle(tx, moved));
      }),
  );
}

/** The deployment, for a caller who has one of the capabilities in its namespace. */
export function deploymentFor(
  view: ReadView,
  caller: Principal,
  { deploymentId, capabilities }: DeploymentReference & { readonly capabilities: readonly Capability[] },
): Result<Deployment, PermissionDenied | DeploymentNotFound> {
  const deployment = view.get(deployments, [deploymentId.toLowerCase()])?.record;
  if (deployment === undefined) return err(deploymentNotFound(deploymentId));
  return authorise(caller, deployment.Namespace, capabilities).map(() => deployment);
}

/** Applies transitions that the action made due, such as the promotion of healthy canaries. */
function settle(tx: Transaction, moved: MovedDeployment): ChangedDeployment {
  const further = moveDeployment(tx, moved.deployment, { type: 'allocations_changed' }).unwrapOr(undefined);
  const evaluations = [moved.evaluation, further?.evaluation].flatMap((evaluation) => evaluation ?? []);
  const { index } = tx;
  const [evaluation] = evaluations;
  return {
    evalId: evaluation?.ID ?? '',
    evalCreateIndex: evaluation === undefined ? 0 : index,
    deploymentModifyIndex: index,
    revertedJobVersion: moved.revertedVersion ?? null,
    index,
  };
}

function deploymentNotFound(deploymentId: string): DeploymentNotFound {
  return { type: 'deployment_not_found', deploymentId, message: 'deployment not found' };
}
