import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Allocation } from '../allocation.js';
import type { AllocationMetric } from '../allocation-metric.js';
import { drawFrom } from '../assignment/assign-ports.js';
import { offerOf } from '../assignment/node-offer.js';
import { useOf } from '../cluster/capacity.js';
import type { NodeState } from '../cluster/cluster.js';
import { findVictims, type Preemption } from '../preemption/find-victims.js';
import { type Assessment, preemptionScore } from '../ranking/assess-node.js';
import { NodeTally, nodeScore } from '../ranking/scores.js';
import { descriptions } from '../reconcile/intents.js';
import { newAllocation } from './new-allocation.js';
import { exhausted, type PlacementContext } from './place-job.js';

/** An allocation that must run on a particular node. */
export interface NodePlacement {
  readonly group: TaskGroup;
  readonly nodeId: string;
  readonly name: string;
  readonly previous: Allocation | undefined;
  /** Stopped first, even if its replacement cannot be placed. */
  readonly replaces: Allocation | undefined;
  readonly canary: boolean;
}

/** The resources that a node would assign to a group. */
type NodeVerdict =
  | {
      readonly type: 'suits';
      readonly slot: number;
      readonly preemption: Preemption | undefined;
      readonly metric: AllocationMetric;
    }
  | { readonly type: 'filtered' | 'exhausted'; readonly metric: AllocationMetric };

/** Places the allocations of a system or sysbatch job on their nodes. */
export class SystemPlacer {
  readonly #context: PlacementContext;
  /** By group: the merged metrics of the nodes that do not suit. */
  readonly #filtered = new Map<string, AllocationMetric>();
  #blockedNodeId: string | undefined;

  constructor(context: PlacementContext) {
    this.#context = context;
  }

  /** The first node without room. */
  get blockedNodeId(): string | undefined {
    return this.#blockedNodeId;
  }

  /** Whether the node would take the group's allocation with `without` gone. */
  verdictOn(nodeId: string, group: TaskGroup, without?: Allocation): NodeVerdict['type'] {
    const { proposal } = this.#context;
    if (without !== undefined) proposal.release(without);
    const verdict = this.#assess(nodeId, group);
    if (without !== undefined) proposal.release(without, 1);
    return verdict?.type ?? 'filtered';
  }

  /** `standing` are the groups that have allocations already. Yields after each node. */
  *placeAll(
    placements: readonly NodePlacement[],
    { deploymentId, standing }: { readonly deploymentId: string | undefined; readonly standing: ReadonlySet<string> },
  ): Generator<void, void> {
    const { draft, proposal } = this.#context;
    for (const { group } of placements) draft.queue(group.Name, 1);
    for (const placement of placements) {
      if (placement.replaces !== undefined) {
        draft.stop({ allocation: placement.replaces, description: descriptions.updating });
        proposal.release(placement.replaces);
      }
      const verdict = this.#assess(placement.nodeId, placement.group);
      if (verdict?.type === 'suits') this.#create(placement, verdict, deploymentId);
      else if (verdict !== undefined) this.#fail(placement, verdict, standing);
      yield;
    }
  }

  #assess(nodeId: string, group: TaskGroup): NodeVerdict | undefined {
    const { jobNodes, proposal } = this.#context;
    const slot = proposal.nodes.cluster.slotOf(nodeId);
    if (slot === undefined) return undefined;
    const assessor = jobNodes.assessorOf(group);
    const assessment = assessor.assess(slot, 0);
    const state = proposal.nodes.at(slot);
    if (assessment.type === 'filtered') return { type: 'filtered', metric: this.#metric(state, assessment) };
    if (assessment.type === 'fits') {
      const score = nodeScore(nodeId, assessment.scores, { spread: 0, penalised: false });
      return { type: 'suits', slot, preemption: undefined, metric: this.#metric(state, assessment, score) };
    }
    const preemption = this.#mayPreempt()
      ? findVictims({ wanted: assessor.wanted, preemptedLike: () => 0 }, state)
      : undefined;
    if (preemption === undefined) return { type: 'exhausted', metric: this.#metric(state, assessment) };
    const { capacity, deviceScore } = preemption.offer;
    const extra = {
      spread: 0,
      penalised: false,
      preemption: preemptionScore(preemption.victims.map((victim) => victim.priority)),
    };
    const score = nodeScore(nodeId, assessor.scores(slot, capacity, deviceScore), extra);
    return { type: 'suits', slot, preemption, metric: this.#metric(state, undefined, score) };
  }

  #metric(
    { node }: NodeState,
    assessment: Assessment | undefined,
    score?: ReturnType<typeof nodeScore>,
  ): AllocationMetric {
    const tally = new NodeTally();
    if (assessment?.type === 'filtered') tally.filter(node, assessment.rule);
    if (assessment?.type === 'exhausted') tally.exhaust(node, assessment.dimension);
    const { draft, jobNodes } = this.#context;
    return draft.measured(tally.metric(jobNodes.census, 1, score === undefined ? null : [score]));
  }

  #create(
    placement: NodePlacement,
    { slot, preemption, metric }: Extract<NodeVerdict, { readonly type: 'suits' }>,
    deploymentId: string | undefined,
  ): void {
    const { draft, proposal, job, jobNodes, newId, snapshot } = this.#context;
    const { group, name, previous, canary } = placement;
    const id = newId();
    const victims = preemption?.victims ?? [];
    for (const victim of victims) {
      const allocation = snapshot.readAllocation(victim.id);
      if (allocation !== undefined) draft.preempt(allocation, id);
      proposal.preempt(slot, victim);
    }
    const state = proposal.nodes.at(slot);
    const offer = offerOf(
      jobNodes.assessorOf(group).wanted,
      state,
      drawFrom(`${draft.write.evaluationId} ${name} ${id}`),
    );
    if (offer.isErr()) return;
    const { resources } = offer.value;
    const preempted = victims.map((victim) => victim.id);
    const made = {
      id,
      name,
      job,
      group,
      node: state.node,
      resources,
      metric,
      deploymentId,
      canary,
      previous,
      rescheduledBy: undefined,
      preempted,
    };
    const allocation = newAllocation(made, draft.write);
    draft.place(allocation);
    draft.queue(group.Name, -1);
    const use = useOf(allocation);
    if (use !== undefined) proposal.place(slot, use);
    if (previous !== undefined) draft.change({ ...draft.latest(previous), NextAllocation: id });
  }

  /** Unsuitable nodes are reported only if the group has no allocation on any node. */
  #fail(
    { group, nodeId }: NodePlacement,
    { type, metric }: Extract<NodeVerdict, { readonly type: 'filtered' | 'exhausted' }>,
    standing: ReadonlySet<string>,
  ): void {
    const { draft } = this.#context;
    if (type === 'filtered') {
      draft.queue(group.Name, -1);
      const merged = mergedFiltered(this.#filtered.get(group.Name), metric);
      this.#filtered.set(group.Name, merged);
      if (draft.queuedOf(group.Name) <= 0 && !standing.has(group.Name) && !draft.hasPlaced(group.Name)) {
        // A metric of several nodes has no counts of the pool, so it does not name the pool either.
        draft.fail(group.Name, { ...merged, NodePool: '' });
      }
      return;
    }
    const before = draft.failureOf(group.Name);
    if (before !== undefined) {
      draft.fail(group.Name, { ...exhausted(before, group), CoalescedFailures: before.CoalescedFailures + 1 });
      return;
    }
    this.#blockedNodeId ??= nodeId;
    draft.fail(group.Name, exhausted(metric, group));
  }

  #mayPreempt(): boolean {
    const { PreemptionConfig: config } = this.#context.configuration;
    return this.#context.job.Type === 'sysbatch' ? config.SysBatchSchedulerEnabled : config.SystemSchedulerEnabled;
  }
}

/** Merges the metrics of filtered nodes, without the numbers of available nodes. */
function mergedFiltered(left: AllocationMetric | undefined, right: AllocationMetric): AllocationMetric {
  return {
    ...right,
    NodesEvaluated: (left?.NodesEvaluated ?? 0) + right.NodesEvaluated,
    NodesFiltered: (left?.NodesFiltered ?? 0) + right.NodesFiltered,
    NodesInPool: 0,
    NodesAvailable: null,
    ClassFiltered: summed(left?.ClassFiltered ?? null, right.ClassFiltered),
    ConstraintFiltered: summed(left?.ConstraintFiltered ?? null, right.ConstraintFiltered),
  };
}

type Counts = Readonly<Record<string, number>> | null;

function summed(left: Counts, right: Counts): Counts {
  if (left === null || right === null) return left ?? right;
  const sum = new Map(Object.entries(left));
  for (const [name, count] of Object.entries(right)) sum.set(name, (sum.get(name) ?? 0) + count);
  return Object.fromEntries(sum);
}
