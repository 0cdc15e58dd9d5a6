import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Allocation } from '../allocation.js';
import type { Deployment } from '../deployment/deployment.js';
import { isCanarying, isDeployed } from '../reconcile/group-deployment.js';
import type { Intents } from '../reconcile/intents.js';
import { allocationName } from '../reconcile/names.js';
import type { SystemGroup } from '../reconcile/system/reconcile-system.js';
import { chooseCanaries, type SystemRollout, systemPartOf } from '../reconcile/system/system-deployment.js';
import type { UpdateKind } from '../reconcile/updates.js';
import type { NodePlacement, SystemPlacer } from './place-on-nodes.js';

export interface SystemGroupPlan {
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
export function planSystemGroup(found: SystemGroup, context: SystemGroupContext): SystemGroupPlan {
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
