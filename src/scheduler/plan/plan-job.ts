import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Instant } from '../../shared/instant.js';
import { type Allocation, isClientTerminal } from '../allocation.js';
import { capacityUsedBy } from '../cluster/capacity.js';
import type { Cluster } from '../cluster/cluster.js';
import { type Deployment, isActiveDeployment } from '../deployment/deployment.js';
import type { Evaluation } from '../evaluation.js';
import { configurationOfPool } from '../node-pool.js';
import { JobProposal } from '../ranking/job-proposal.js';
import { descriptions, Intents } from '../reconcile/intents.js';
import { indexFromName } from '../reconcile/names.js';
import { reconcileJob } from '../reconcile/reconcile-job.js';
import { isCurrent, type JobSituation, type SchedulingIds, situationOf, taintOf } from '../reconcile/situation.js';
import type { SchedulingSnapshot } from '../snapshot.js';
import { changeInSteps } from '../steps.js';
import { JobNodes } from './job-nodes.js';
import { momentOf } from './new-allocation.js';
import { outcomeOf, type SchedulingResult } from './outcome.js';
import { JobPlacer } from './place-job.js';
import { applyFollowups, applyIntents, applyStop, PlanDraft, takeRoomInPlace } from './plan-draft.js';

/** Decides an evaluation of a service or batch job. */
export function* planJob(
  snapshot: SchedulingSnapshot,
  evaluation: Evaluation,
  now: Instant,
  ids: SchedulingIds,
): Generator<void, SchedulingResult> {
  const { job, allocations } = snapshot;
  const situation = situationOf(snapshot, evaluation, now, ids);
  const draft = new PlanDraft(momentOf(snapshot, evaluation, now));
  const latest = followedDeployment(snapshot);
  const settled = settledIntents(snapshot, latest, draft);
  if (settled !== undefined) {
    const ends = { classes: undefined, deploymentId: latest?.ID };
    return yield* outcomeOf({ snapshot, evaluation, now, ids, intents: settled, draft, ...ends });
  }
  yield;
  const proposal = new JobProposal(snapshot.cluster, allocations);
  const configuration = configurationOfPool(snapshot.configuration, snapshot.pool);
  const jobNodes = job === undefined ? undefined : new JobNodes(job, proposal, configuration);
  yield* changeInSteps(lostWhileStopping(allocations, situation), (allocation) =>
    applyStop({ allocation, description: descriptions.lost, clientStatus: 'lost' }, { draft, proposal }),
  );

  yield;
  const canStay = (allocation: Allocation, group: TaskGroup): boolean =>
    jobNodes !== undefined && staysOnItsNode(allocation, group, jobNodes, proposal);
  const intents = yield* reconcileJob({ situation, allocations, deployment: latest, canStay });
  const deployment = intents.deployment ?? latest;
  yield* applyIntents(intents, { draft, proposal, jobNodes, deploymentId: deployment?.ID });
  applyFollowups(intents, allocations, { draft, proposal });

  if (jobNodes !== undefined && intents.place.length + intents.replace.length > 0) {
    const newId = (): string => ids.next('allocation');
    const deploymentId = activeIdOf(deployment);
    const parts = { snapshot, job: jobNodes.job, configuration, proposal, jobNodes, draft, newId, deploymentId };
    const { groupOf } = situation;
    yield* new JobPlacer({ ...parts, groupOf }).placeAll(intents);
  } else queueNothing(job, draft);
  yield;
  const classes = jobNodes?.feasibility.classes;
  return yield* outcomeOf({ snapshot, evaluation, now, ids, intents, draft, classes, deploymentId: deployment?.ID });
}

/** The deployment of new allocations. */
function activeIdOf(deployment: Deployment | undefined): string | undefined {
  return deployment !== undefined && isActiveDeployment(deployment) ? deployment.ID : undefined;
}

function queueNothing(job: Job | undefined, draft: PlanDraft): void {
  for (const { Name } of job?.TaskGroups ?? []) draft.queue(Name, 0);
}

/** The intents for a settled job, whose allocations match its declaration exactly; undefined for any other. */
function settledIntents(
  { job, allocations, cluster }: SchedulingSnapshot,
  deployment: Deployment | undefined,
  draft: PlanDraft,
): Intents | undefined {
  const settled = job === undefined ? undefined : settledGroups({ job, allocations, cluster, deployment });
  if (settled === undefined) return undefined;
  const intents = new Intents();
  for (const [group, count] of settled) {
    intents.desired(group).Ignore = count;
    draft.queue(group, 0);
  }
  return intents;
}

/** Batch jobs are not deployed. */
function followedDeployment({ job, deployments }: SchedulingSnapshot): Deployment | undefined {
  return job?.Type === 'batch' ? undefined : latestDeployment(deployments);
}

export function latestDeployment(deployments: readonly Deployment[]): Deployment | undefined {
  return deployments.reduce<Deployment | undefined>(
    (latest, deployment) =>
      latest === undefined || deployment.CreateIndex >= latest.CreateIndex ? deployment : latest,
    undefined,
  );
}

/** Allocations that were requested to stop earlier and whose nodes are now lost. */
export function lostWhileStopping(
  allocations: readonly Allocation[],
  { cluster }: JobSituation,
): readonly Allocation[] {
  return allocations.filter((allocation) => {
    if (allocation.DesiredStatus === 'run' || isClientTerminal(allocation) || allocation.ClientStatus === 'unknown')
      return false;
    const taint = taintOf(cluster, allocation.NodeID);
    return taint === 'down' || taint === 'missing';
  });
}

/** Whether the node still suits. If so, the allocation uses the group's current resources from now on. */
export function staysOnItsNode(
  allocation: Allocation,
  group: TaskGroup,
  jobNodes: JobNodes,
  proposal: JobProposal,
): boolean {
  if (!suitsItsNode(allocation, group, jobNodes, proposal)) return false;
  takeRoomInPlace(allocation, group, { jobNodes, proposal });
  return true;
}

/** Whether the node still suits: it is in the job's pool and datacenters and has room for the group's current resources. Eligibility is ignored. */
function suitsItsNode(allocation: Allocation, group: TaskGroup, jobNodes: JobNodes, proposal: JobProposal): boolean {
  const { cluster } = proposal.nodes;
  const slot = cluster.slotOf(allocation.NodeID);
  const node = cluster.nodeOf(allocation.NodeID);
  if (slot === undefined || node === undefined || !jobNodes.covers(node)) return false;
  const assessor = jobNodes.assessorOf(group);
  const canContinue = assessor.canContinue(slot, indexFromName(allocation.Name), capacityUsedBy(allocation));
  if (canContinue !== undefined) return canContinue;
  proposal.release(allocation);
  const assessment = assessor.assess(slot, indexFromName(allocation.Name));
  proposal.release(allocation, 1);
  return assessment.type === 'fits';
}

/** The inputs that decide whether a job is settled. */
interface Settling {
  readonly job: Job;
  readonly allocations: readonly Allocation[];
  readonly cluster: Cluster;
  /** The job's newest deployment, if any. */
  readonly deployment: Deployment | undefined;
}

/**
 * The number of allocations of each group if the job is settled: each group has its count, all of the current
 * version, running on healthy nodes with no transition requested, and no deployment is active. Undefined for any other job. The full
 * comparison returns the same result for a settled job, many times slower.
 */
export function settledGroups({
  job,
  allocations,
  cluster,
  deployment,
}: Settling): ReadonlyMap<string, number> | undefined {
  if (job.Stop || !isOver(deployment, job)) return undefined;
  const counts = countsAtWork(job, allocations, cluster);
  if (counts === undefined) return undefined;
  for (const { Name, Count } of job.TaskGroups) {
    if ((counts.get(Name) ?? 0) !== Count) return undefined;
    counts.set(Name, Count);
  }
  return counts.size === job.TaskGroups.length ? counts : undefined;
}

/** Undefined if any allocation is not simply running. */
function countsAtWork(job: Job, allocations: readonly Allocation[], cluster: Cluster): Map<string, number> | undefined {
  const counts = new Map<string, number>();
  // Allocations of a group are mostly adjacent: they are counted in a local number.
  let group = '';
  let count = 0;
  for (const allocation of allocations) {
    if (isPast(allocation, job)) continue;
    if (!isAtWork(allocation, job) || taintOf(cluster, allocation.NodeID) !== 'none') return undefined;
    if (allocation.TaskGroup !== group) {
      if (count > 0) counts.set(group, (counts.get(group) ?? 0) + count);
      group = allocation.TaskGroup;
      count = 0;
    }
    count += 1;
  }
  if (count > 0) counts.set(group, (counts.get(group) ?? 0) + count);
  return counts;
}

/** For a service, allocations that were requested to stop and have stopped. */
function isPast(allocation: Allocation, { Type }: Job): boolean {
  return Type === 'service' && allocation.DesiredStatus !== 'run' && isClientTerminal(allocation);
}

/** Whether there is no deployment, or a successful one of the current version without unpromoted canaries. */
function isOver(deployment: Deployment | undefined, job: Job): boolean {
  if (deployment === undefined) return true;
  if (deployment.JobVersion !== job.Version || deployment.JobCreateIndex !== job.CreateIndex) return false;
  const promoted = Object.values(deployment.TaskGroups).every(
    (state) => state.Promoted || state.PlacedCanaries === null,
  );
  return deployment.Status === 'successful' && promoted;
}

function isAtWork(allocation: Allocation, job: Job): boolean {
  const { DesiredStatus, ClientStatus, AllocStates, DesiredTransition } = allocation;
  if (DesiredStatus !== 'run' || (ClientStatus !== 'running' && ClientStatus !== 'pending')) return false;
  if (!isCurrent(allocation, job) || AllocStates !== undefined) return false;
  const { Migrate, Reschedule, ForceReschedule, MigrateDisablePlacement } = DesiredTransition;
  return (Migrate ?? Reschedule ?? ForceReschedule ?? MigrateDisablePlacement ?? false) === false;
}
