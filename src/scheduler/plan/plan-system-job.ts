import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Instant } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';
import { type Deployment, isActiveDeployment } from '../deployment/deployment.js';
import type { Evaluation } from '../evaluation.js';
import { isReadyNode } from '../node.js';
import { configurationOfPool } from '../node-pool.js';
import { JobProposal } from '../ranking/job-proposal.js';
import { isCanarying, isDeployed, type UpdateKind, updateClassifier } from '../reconcile/group-deployment.js';
import { descriptions, Intents } from '../reconcile/intents.js';
import { allocationName } from '../reconcile/names.js';
import { type JobSituation, type SchedulingIds, situationOf } from '../reconcile/situation.js';
import { reconcileSystem, type SystemGroup } from '../reconcile/system/reconcile-system.js';
import {
  chooseCanaries,
  type SystemRollout,
  settleSystemDeployment,
  systemDeploymentOf,
  systemPartOf,
} from '../reconcile/system/system-deployment.js';
import type { SchedulingSnapshot } from '../snapshot.js';
import { JobNodes } from './job-nodes.js';
import { momentOf } from './new-allocation.js';
import { type OutcomeRequest, outcomeOf, type SchedulingResult } from './outcome.js';
import { type NodePlacement, SystemPlacer } from './place-on-nodes.js';
import { applyIntents, applyStop, PlanDraft } from './plan-draft.js';
import { latestDeployment, lostWhileStopping, staysOnItsNode } from './plan-job.js';

/** Decides an evaluation of a system or sysbatch job. */
export function* planSystemJob(
  snapshot: SchedulingSnapshot,
  evaluation: Evaluation,
  now: Instant,
  ids: SchedulingIds,
): Generator<void, SchedulingResult> {
  const situation = situationOf(snapshot, evaluation, now, ids);
  const draft = new PlanDraft(momentOf(snapshot, evaluation, now));
  const proposal = new JobProposal(snapshot.cluster, snapshot.allocations);
  for (const allocation of lostWhileStopping(snapshot.allocations, situation)) {
    applyStop({ allocation, description: descriptions.lost, clientStatus: 'lost' }, { draft, proposal });
  }
  const system = { snapshot, situation, draft, proposal, intents: new Intents() };
  const { job } = snapshot;
  const ends = job === undefined || job.Stop ? yield* stopEverything(system) : yield* runEverywhere(system, job);
  return yield* outcomeOf({ snapshot, evaluation, now, ids, intents: system.intents, draft, ...ends });
}

interface SystemPlan {
  readonly snapshot: SchedulingSnapshot;
  readonly situation: JobSituation;
  readonly draft: PlanDraft;
  readonly proposal: JobProposal;
  readonly intents: Intents;
}

type SystemEnds = Pick<OutcomeRequest, 'classes' | 'deploymentId' | 'blockedNodeId' | 'waitsForRoom'>;

/** Whether the job is stopped, or was purged. */
function* stopEverything(system: SystemPlan): Generator<void, SystemEnds> {
  const { snapshot, situation, draft, proposal, intents } = system;
  const { allocations } = snapshot;
  const nodes = { isReady: () => false, isTarget: () => false };
  reconcileSystem({ situation, job: undefined, allocations, nodes, targets: [], intents });
  const latest = latestOf(snapshot);
  systemDeploymentOf(latest, undefined, intents);
  const ending = latest !== undefined && isActiveDeployment(latest) ? latest : undefined;
  intents.deployment = ending;
  yield* applyIntents(intents, { draft, proposal, jobNodes: undefined, deploymentId: ending?.ID });
  const unfinished = latest?.Status === 'successful' ? undefined : latest;
  return { classes: undefined, deploymentId: unfinished?.ID };
}

function* runEverywhere(system: SystemPlan, job: Job): Generator<void, SystemEnds> {
  const { snapshot, situation, draft, proposal, intents } = system;
  const { allocations } = snapshot;
  const configuration = configurationOfPool(snapshot.configuration, snapshot.pool);
  const jobNodes = new JobNodes(job, proposal, configuration);
  const latest = latestOf(snapshot);
  const nodes = systemNodes(snapshot, jobNodes);
  const groups = reconcileSystem({ situation, job, allocations, nodes, targets: nodes.targets, intents });
  const current = systemDeploymentOf(latest, job, intents);
  const newId = (): string => situation.ids.next('allocation');
  const placer = new SystemPlacer({ job, jobNodes, draft, proposal, snapshot, configuration, newId });
  const plans = [...groups.values()].map((group) => {
    const canStay = (allocation: Allocation, taskGroup: TaskGroup): boolean =>
      staysOnItsNode(allocation, taskGroup, jobNodes, proposal);
    const classify = updateClassifier({ job, group: group.group, situation, canStay });
    return planSystemGroup(group, { job, classify, current, intents, placer });
  });
  const rollouts = plans.map(({ rollout }) => rollout);
  const deployment = settleSystemDeployment(rollouts, { job, current, allocations }, situation, intents);
  const deploymentId = (deployment ?? latest)?.ID;
  yield* applyIntents(intents, { draft, proposal, jobNodes, deploymentId });
  yield* placeEverywhere(plans, { job, draft, placer, deployment });
  const { blockedNodeId } = placer;
  const { classes } = jobNodes.feasibility;
  return { classes, deploymentId, blockedNodeId, waitsForRoom: blockedNodeId !== undefined };
}

/** Places the missing allocations of each group, and counts those that have to wait. */
function* placeEverywhere(
  plans: readonly SystemGroupPlan[],
  {
    job,
    draft,
    placer,
    deployment,
  }: {
    readonly job: Job;
    readonly draft: PlanDraft;
    readonly placer: SystemPlacer;
    readonly deployment: Deployment | undefined;
  },
): Generator<void, void> {
  const placements = plans.flatMap((plan) => plan.placements);
  if (placements.length === 0 && plans.every(({ waiting }) => waiting === 0)) {
    for (const { Name } of job.TaskGroups) draft.queue(Name, 0);
  }
  const deploymentId = deployment !== undefined && isActiveDeployment(deployment) ? deployment.ID : undefined;
  const standing = new Set(plans.filter(({ stands }) => stands).map(({ rollout }) => rollout.group.Name));
  yield* placer.placeAll(placements, { deploymentId, standing });
  for (const { waiting, rollout } of plans) if (waiting > 0) draft.queue(rollout.group.Name, waiting);
}

function systemNodes({ cluster }: SchedulingSnapshot, { slots }: JobNodes) {
  const targets = slots.map((slot) => cluster.stateAt(slot).node.ID);
  const targeted = new Set(targets);
  const isReady = (nodeId: string): boolean => {
    const node = cluster.nodeOf(nodeId);
    return node !== undefined && isReadyNode(node);
  };
  return { targets, isReady, isTarget: (nodeId: string): boolean => targeted.has(nodeId) };
}

/** Sysbatch jobs have no deployments. */
function latestOf({ job, deployments }: SchedulingSnapshot): Deployment | undefined {
  return job?.Type === 'sysbatch' ? undefined : latestDeployment(deployments);
}

interface SystemGroupPlan {
  readonly rollout: SystemRollout;
  readonly placements: readonly NodePlacement[];
  /** Replacements that wait for the canaries. */
  readonly waiting: number;
  /** Whether the group already has allocations. */
  readonly stands: boolean;
}

interface SystemGroupContext {
  readonly job: Job;
  readonly current: Deployment | undefined;
  readonly intents: Intents;
  readonly placer: SystemPlacer;
  readonly classify: (allocation: Allocation) => UpdateKind;
}

/** The changes of one group in this evaluation, limited by `max_parallel` and canaries. */
function planSystemGroup(found: SystemGroup, context: SystemGroupContext): SystemGroupPlan {
  const { job, current, intents, placer } = context;
  const { group, ignored, reconnecting, missing } = found;
  const { inPlace, replaced } = splitOutdated(found, context);
  const canaries = ignored.filter((allocation) => isCanaryOf(allocation, current));
  const part = systemPartOf(context, group, replaced, canaries);
  const chosen = chooseCanaries(part, replaced, canaries);
  const budget = budgetOf(group, job, ignored, current);
  const canarying = isCanarying(part);
  const now = canarying ? replaced.filter(({ ID }) => chosen.has(ID)).slice(0, budget) : replaced.slice(0, budget);
  const suiting = replaced.filter(
    (allocation) => placer.verdictOn(allocation.NodeID, group, allocation) === 'suits',
  ).length;
  const verdicts = missing.map(({ nodeId }) => placer.verdictOn(nodeId, group));
  const free = verdicts.filter((verdict) => verdict === 'suits').length;
  const total = ignored.length + inPlace.length + reconnecting.length + suiting + free;

  const desired = intents.desired(group.Name);
  desired.Place += job.Type === 'sysbatch' ? verdicts.filter((verdict) => verdict !== 'filtered').length : total;
  if (canarying && replaced.length > 0) desired.Canary += part.state.DesiredCanaries;
  const placements = [
    ...now.map((allocation) => replacementOf(allocation, group, chosen.has(allocation.ID), job)),
    ...missing.map(({ nodeId, name, previous }) => ({
      group,
      nodeId,
      name,
      previous,
      replaces: undefined,
      canary: false,
    })),
  ];
  const updates = inPlace.length + replaced.length > 0;
  return {
    rollout: { group, part, total, updates, touched: found.missing.length > 0 || found.stood },
    placements,
    waiting: canarying && budget > 0 ? replaced.length - now.length : 0,
    stands: ignored.length + inPlace.length + reconnecting.length + replaced.length > 0,
  };
}

function splitOutdated({ group, outdated, reconnecting }: SystemGroup, { classify, intents }: SystemGroupContext) {
  const desired = intents.desired(group.Name);
  const inPlace: Allocation[] = [];
  const replaced: Allocation[] = [];
  let finished = 0;
  for (const allocation of outdated) {
    const kind = classify(allocation);
    if (kind === 'ignore') finished += 1;
    else if (kind === 'inPlace') inPlace.push(allocation);
    else replaced.push(allocation);
  }
  for (const allocation of [...inPlace, ...reconnecting]) intents.inPlace.push({ allocation, group });
  desired.InPlaceUpdate += inPlace.length + reconnecting.length + finished;
  desired.DestructiveUpdate += replaced.length;
  return { inPlace, replaced };
}

function isCanaryOf({ DeploymentID, DeploymentStatus }: Allocation, current: Deployment | undefined): boolean {
  return current !== undefined && DeploymentID === current.ID && DeploymentStatus?.Canary === true;
}

/** How many may be replaced now: `max_parallel` of the group, or of the job, less the deployment's allocations of unknown health. */
function budgetOf(group: TaskGroup, job: Job, ignored: readonly Allocation[], current: Deployment | undefined): number {
  const own = group.Update?.MaxParallel ?? 0;
  const parallel = own > 0 ? own : job.Update.MaxParallel;
  if (parallel <= 0) return Number.POSITIVE_INFINITY;
  if (current === undefined || !isDeployed(group)) return parallel;
  const unknown = ignored.filter(
    ({ DeploymentID, DeploymentStatus }) => DeploymentID === current.ID && (DeploymentStatus?.Healthy ?? null) === null,
  );
  return Math.max(parallel - unknown.length, 0);
}

function replacementOf(allocation: Allocation, group: TaskGroup, canary: boolean, job: Job): NodePlacement {
  return {
    group,
    nodeId: allocation.NodeID,
    name: allocationName(job.ID, group.Name, 0),
    previous: allocation,
    replaces: allocation,
    canary,
  };
}
