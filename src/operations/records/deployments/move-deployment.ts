import { ok, type Result } from 'neverthrow';
import { decideRegistration, decideRevert } from '../../../jobs/changes/decide-registration.js';
import { jobSubmissions } from '../../../jobs/changes/submissions.js';
import type { Job } from '../../../jobs/document/job.js';
import type { ListQuery, ReadView } from '../../../ports/storage.js';
import { type Allocation, allocations } from '../../../scheduler/allocation.js';
import type { PutAllocation } from '../../../scheduler/cluster/cluster.js';
import { withAllocation } from '../../../scheduler/deployment/count-allocations.js';
import { type Deployment, deployments } from '../../../scheduler/deployment/deployment.js';
import type { DeploymentError } from '../../../scheduler/deployment/deployment-errors.js';
import {
  type DeploymentEvent,
  type DeploymentStep,
  failsOutside,
  newestHealth,
  placedCanaries,
  transitionDeployment,
  type WatchedDeployment,
} from '../../../scheduler/deployment/transition-deployment.js';
import { type Evaluation, evaluations } from '../../../scheduler/evaluation.js';
import type { Transaction } from '../../write-transaction.js';
import { readJobRow, readJobVersion, readJobVersions, writeRegistration } from '../jobs/job-rows.js';
import { newEvaluation } from '../scheduling/new-evaluation.js';

/** The rows put by a transition of a deployment. */
export interface MovedDeployment {
  readonly deployment: Deployment;
  readonly evaluation: Evaluation | undefined;
  /** The version that the job was registered again as; undefined when it was not. */
  readonly revertedVersion: number | undefined;
}

/** The number of a job's newest evaluations that are read to find the index up to which it was evaluated. */
const newestEvaluations = 10;

/**
 * Applies a transition of a deployment and writes its effects: changed allocations, the reverted job, an evaluation. `always` creates an evaluation even if one is due anyway, for callers that return its ID.
 */
export function moveDeployment(
  tx: Transaction,
  deployment: Deployment,
  event: DeploymentEvent,
  always = false,
): Result<MovedDeployment, DeploymentError> {
  const watched = watchedDeployment(tx, deployment);
  if (watched === undefined) {
    return ok({ deployment, evaluation: undefined, revertedVersion: undefined });
  }
  return transitionDeployment(watched, event, { now: tx.now, index: tx.index }).map((step) =>
    write(tx, watched, step, always),
  );
}

/** A deployment without its allocations, of which there may be many. */
export type WatchedHead = Pick<WatchedDeployment, 'deployment' | 'job' | 'version'>;

/** Undefined when its job was removed. */
export function watchedHead(view: ReadView, deployment: Deployment): WatchedHead | undefined {
  const { Namespace, JobID, JobVersion } = deployment;
  const job = readJobRow(view, Namespace, JobID)?.record;
  if (job === undefined) return undefined;
  return { deployment, job, version: readJobVersion(view, Namespace, JobID, JobVersion)?.record ?? job };
}

/** The inputs of the rules of a deployment; undefined when its job was removed. */
export function watchedDeployment(view: ReadView, deployment: Deployment): WatchedDeployment | undefined {
  const { ID, Namespace, JobID } = deployment;
  const head = watchedHead(view, deployment);
  if (head === undefined) return undefined;
  const named = (ids: readonly string[]): readonly Allocation[] =>
    ids.flatMap((id) => view.get(allocations, [id])?.record ?? []).filter(({ DeploymentID }) => DeploymentID === ID);
  let own: readonly Allocation[] | undefined;
  let failing: readonly Allocation[] | undefined;
  return {
    ...head,
    get allocations() {
      own ??= listed(view, { index: 'by_deployment', prefix: [ID] });
      return own;
    },
    get failing() {
      failing ??= listed(view, { index: 'by_health', prefix: [ID, 'failing'] });
      return failing;
    },
    get healthy() {
      return listed(view, { index: 'by_health', prefix: [ID, 'healthy'] });
    },
    named,
    get canaries() {
      return named(placedCanaries(deployment));
    },
    get healthyIndex() {
      const last = listed(view, { index: 'by_health', prefix: [ID, 'healthy'], limit: 1 });
      return newestHealth([...last, ...this.failing]);
    },
    versions: () => readJobVersions(view, Namespace, JobID).map(({ record }) => record),
    evaluatedIndex: evaluatedIndexOf(view, deployment),
  };
}

function listed(view: ReadView, query: ListQuery): readonly Allocation[] {
  return view.list(allocations, query).map(({ record }) => record);
}

function evaluatedIndexOf(view: ReadView, { Namespace, JobID }: Deployment): number {
  const query = { index: 'by_job', prefix: [Namespace, JobID], reverse: true, limit: newestEvaluations };
  let newest = 0;
  for (const { record } of view.list(evaluations, query)) {
    if (record.Status !== 'canceled') newest = Math.max(newest, record.SnapshotIndex ?? record.CreateIndex);
  }
  return newest;
}

function write(
  tx: Transaction,
  { job, deployment: before }: WatchedDeployment,
  step: DeploymentStep,
  always: boolean,
): MovedDeployment {
  const stored = tx.get(deployments, [before.ID])?.record;
  const deployment = { ...step.deployment, ModifyIndex: tx.index };
  const changed = step.deployment !== stored;
  if (changed) {
    tx.put(deployments, deployment);
    const { ID: deploymentId, Namespace: namespace, JobID: jobId, Status: status } = deployment;
    if (status !== stored?.Status) tx.emit('deployment.status', { namespace, deploymentId, jobId, status });
  }
  for (const allocation of step.allocations) tx.put(allocations, allocation);
  const reverted = revert(tx, job, step);
  return {
    deployment: changed ? deployment : step.deployment,
    evaluation: reverted?.evaluation ?? evaluationFor(tx, job, step, always),
    revertedVersion: reverted?.version,
  };
}

/** Reverts the job by a registration; undefined without a revert. */
function revert(
  tx: Transaction,
  job: Job,
  { deployment, effects }: DeploymentStep,
): { readonly version: number; readonly evaluation: Evaluation | undefined } | undefined {
  const effect = effects.find(({ type }) => type === 'revert');
  if (effect?.type !== 'revert') return undefined;
  const { version } = effect;
  const target = readJobVersion(tx, job.Namespace, job.ID, version)?.record;
  const registration = decideRevert(job, target, { version, enforcedPriorVersion: null }).andThen((document) =>
    decideRegistration(job, { job: document, version: null, policyId: () => tx.ids.next('uuid') }, tx.index, tx.now),
  );
  if (registration.isErr()) return undefined;
  const source = tx.get(jobSubmissions, [job.Namespace, job.ID, version])?.record;
  const options = { triggeredBy: 'deployment-watcher' as const, deploymentId: deployment.ID };
  return { version, evaluation: writeRegistration(tx, registration.value, options, source).evaluation };
}

function evaluationFor(
  tx: Transaction,
  job: Job,
  { deployment, effects }: DeploymentStep,
  always: boolean,
): Evaluation | undefined {
  if (!effects.some(({ type }) => type === 'evaluate')) return undefined;
  if (!always && hasDueEvaluation(tx, job)) return undefined;
  const priority = deployment.EvalPriority > 0 ? deployment.EvalPriority : job.Priority;
  const options = { triggeredBy: 'deployment-watcher' as const, priority, deploymentId: deployment.ID };
  const evaluation = newEvaluation(tx, job, options);
  tx.put(evaluations, evaluation);
  return evaluation;
}

function hasDueEvaluation(tx: Transaction, { Namespace, ID }: Job): boolean {
  const open = tx.list(evaluations, { index: 'open_by_job', prefix: [Namespace, ID, 'pending'] });
  return open.some(({ record }) => record.WaitUntil === undefined);
}

/** Counts changed allocations in their deployments, and applies the resulting transitions. Returns the evaluations that these made. */
export function followDeployments(tx: Transaction, changes: readonly PutAllocation[]): readonly Evaluation[] {
  const touched = new Map<string, { readonly deployment: Deployment; readonly changed: readonly Allocation[] }>();
  for (const { before, after } of changes) {
    const id = after.DeploymentID;
    if (id === undefined) continue;
    const { deployment = tx.get(deployments, [id])?.record, changed = [] } = touched.get(id) ?? {};
    if (deployment === undefined) continue;
    const counted = withAllocation(deployment, before, after);
    if (counted === deployment && !failsNow(deployment, before, after)) continue;
    touched.set(id, { deployment: counted, changed: [...changed, after] });
  }
  return [...touched.values()].flatMap(({ deployment, changed }) => {
    const moved = moveDeployment(tx, deployment, { type: 'allocations_changed', changed });
    return moved.isOk() ? (moved.value.evaluation ?? []) : [];
  });
}

/** Whether it has just failed in a group outside of the deployment. */
function failsNow(deployment: Deployment, before: Allocation | undefined, after: Allocation): boolean {
  return before?.ClientStatus !== 'failed' && failsOutside(deployment, after);
}
