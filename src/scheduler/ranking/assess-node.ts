import { drawFrom } from '../assignment/assign-ports.js';
import { isUniform, lackingDimension, offerOf } from '../assignment/node-offer.js';
import { addCapacity, type Capacity, subtractCapacity } from '../cluster/capacity.js';
import type { NodeClass } from '../cluster/node-class.js';
import { type Feasibility, meets } from '../feasibility/node-checks.js';
import type { DistinctProperty, GroupRequirements } from '../feasibility/requirements.js';
import type { SchedulerAlgorithm, SchedulerConfiguration } from '../scheduler-configuration.js';
import type { JobProposal } from './job-proposal.js';

/** Whether a node can take a group's next allocation, and its scores. */
export type Assessment =
  | {
      readonly type: 'filtered';
      readonly reason: string;
      readonly rule: string;
      /** Whether the reason holds for all nodes of its class. */
      readonly ofClass: boolean;
    }
  | { readonly type: 'exhausted'; readonly dimension: string }
  | { readonly type: 'fits'; readonly scores: NodeScores };

/** The scores of a node that depend only on the node and its allocations. Undefined: the rule does not apply. */
export interface NodeScores {
  readonly fit: number;
  readonly devices: number | undefined;
  readonly antiAffinity: number | undefined;
  readonly affinity: number | undefined;
}

/** The context of node selection within one evaluation. */
export interface RankingContext {
  readonly proposal: JobProposal;
  readonly feasibility: Feasibility;
  /** With the pool's overrides applied. */
  readonly configuration: SchedulerConfiguration;
}

/** Room is checked with arbitrary ports; the actual ones are drawn at placement. */
const anyDraw = drawFrom('');

/** Checks nodes for one group of a job: feasibility, room and scores. */
export class NodeAssessor {
  readonly wanted: GroupRequirements;
  readonly #context: RankingContext;
  readonly #uniform: boolean;
  readonly #affinityWeight: number;
  readonly #affinities = new Map<NodeClass, number>();
  readonly #affinityOfClass: boolean;

  constructor(wanted: GroupRequirements, context: RankingContext) {
    this.wanted = wanted;
    this.#context = context;
    this.#uniform = isUniform(wanted);
    this.#affinityWeight = wanted.affinities.reduce((sum, { Weight }) => sum + Math.abs(Weight), 0);
    this.#affinityOfClass = !wanted.affinities.some(
      ({ LTarget, RTarget }) => namesUnique(LTarget) || namesUnique(RTarget),
    );
  }

  /** Runs all checks, in the order in which the first failure counts. `index` is that of the allocation. */
  assess(slot: number, index: number): Assessment {
    const unsuitable = this.unsuitable(slot, index);
    return unsuitable ?? this.assessRoom(slot);
  }

  /**
   * Whether an allocation that uses `own` of the node can continue there with the group's current resources. Undefined when that depends on what
   * was picked for it, or on other allocations: it must then be assessed without it.
   */
  canContinue(slot: number, index: number, own: Capacity): boolean | undefined {
    const { distinctHosts, distinctProperties, capacity } = this.wanted;
    if (!this.#uniform || distinctHosts !== undefined || distinctProperties.length > 0) return undefined;
    if (this.unsuitable(slot, index) !== undefined) return false;
    const { node, capacity: all, used, count } = this.#context.proposal.nodes.at(slot);
    const others = { node, capacity: all, used: subtractCapacity(used, own), count: count - 1 };
    return lackingDimension(others, capacity) === undefined;
  }

  /** The first failed rule about the node alone; undefined when it meets all. */
  unsuitable(slot: number, index: number): Extract<Assessment, { readonly type: 'filtered' }> | undefined {
    const { proposal, feasibility } = this.#context;
    const verdict = feasibility.check(this.wanted, proposal.nodes.at(slot), index);
    return verdict && { type: 'filtered', ...verdict };
  }

  /** The checks that depend on allocations: other allocations of the job, room, scores. */
  assessRoom(slot: number): Assessment {
    const neighbour = this.#neighbourReason(slot);
    if (neighbour !== undefined) return { type: 'filtered', reason: neighbour, rule: neighbour, ofClass: false };
    return this.#uniform ? this.#fitting(slot, this.wanted.capacity, undefined) : this.#picking(slot);
  }

  /** Also for a node that lacks room, whose load is then above its capacity. */
  scores(slot: number, asked: Capacity, devices: number | undefined): NodeScores {
    const { proposal, configuration } = this.#context;
    const { group } = this.wanted;
    const own = proposal.own.ofGroupOn(slot, group.Name);
    const state = proposal.nodes.at(slot);
    const used = addCapacity(state.used, asked);
    return {
      fit: fitScore(configuration.SchedulerAlgorithm, state.capacity, used),
      devices,
      antiAffinity: own > 0 ? antiAffinityScore(own, group.Count) : undefined,
      affinity: this.#affinityWeight > 0 ? this.#affinityAt(slot) : undefined,
    };
  }

  #picking(slot: number): Assessment {
    const offer = offerOf(this.wanted, this.#context.proposal.nodes.at(slot), anyDraw);
    if (offer.isErr()) return { type: 'exhausted', dimension: offer.error };
    return this.#fitting(slot, offer.value.capacity, offer.value.deviceScore);
  }

  #fitting(slot: number, asked: Capacity, devices: number | undefined): Assessment {
    const dimension = lackingDimension(this.#context.proposal.nodes.at(slot), asked);
    if (dimension !== undefined) return { type: 'exhausted', dimension };
    return { type: 'fits', scores: this.scores(slot, asked, devices) };
  }

  #neighbourReason(slot: number): string | undefined {
    const { distinctHosts, distinctProperties, group } = this.wanted;
    const { own } = this.#context.proposal;
    if (distinctHosts === 'job' && own.on(slot) > 0) return 'distinct_hosts';
    if (distinctHosts === 'group' && own.ofGroupOn(slot, group.Name) > 0) return 'distinct_hosts';
    for (const property of distinctProperties) {
      const reason = this.#propertyReason(property, slot);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  #propertyReason({ attribute, scope, limit, limitText }: DistinctProperty, slot: number): string | undefined {
    if (limit === undefined) return `distinct_property: "${limitText}" is not a whole number`;
    const use = this.#context.proposal.property(attribute, scope === 'job' ? undefined : this.wanted.group.Name);
    const value = use.valueAt(slot);
    if (value === undefined) return `missing property "${attribute}"`;
    const count = use.countOf(value);
    return count < limit ? undefined : `distinct_property: ${attribute}=${value} used by ${count} allocs`;
  }

  /** Weighted share of the affinities that the node meets, −1 to 1. */
  #affinityAt(slot: number): number {
    const { node, nodeClass } = this.#context.proposal.nodes.at(slot);
    const known = this.#affinityOfClass ? this.#affinities.get(nodeClass) : undefined;
    if (known !== undefined) return known;
    let met = 0;
    for (const affinity of this.wanted.affinities) if (meets(affinity, node)) met += affinity.Weight;
    const share = met / this.#affinityWeight;
    this.#affinities.set(nodeClass, share);
    return share;
  }
}

function namesUnique(target: string): boolean {
  return target.includes('unique.');
}

/** The highest fit value before it is scaled to 0…1. */
const highestFit = 18;

/**
 * How well the load suits the node, 0 to 1: a full node is best for `binpack`, an empty one for `spread`. `used` includes the new allocation
 * and may exceed the capacity.
 */
function fitScore(algorithm: SchedulerAlgorithm, capacity: Capacity, used: Capacity): number {
  const free = powerOfTen(freeShare(used.cpu, capacity.cpu)) + powerOfTen(freeShare(used.memory, capacity.memory));
  const fit = algorithm === 'spread' ? free - 2 : 20 - free;
  return Math.min(Math.max(fit, 0), highestFit) / highestFit;
}

/** −2/count and less: the node already runs `own` allocations of the group. */
function antiAffinityScore(own: number, count: number): number {
  return -(own + 1) / Math.max(count, 1);
}

/** Near 1 for few allocations of low priority, near 0 for many or high-priority ones. */
export function preemptionScore(priorities: readonly number[]): number {
  const highest = Math.max(...priorities);
  const sum = priorities.reduce((total, priority) => total + priority, 0);
  const net = highest === 0 ? 0 : highest + sum / highest;
  return 1 / (1 + Math.exp(0.0048 * (net - 2048)));
}

function freeShare(used: number, capacity: number): number {
  return capacity > 0 ? 1 - used / capacity : 0;
}

/** `10 ** exponent`, several times as fast on current engines; the last digit may differ. */
function powerOfTen(exponent: number): number {
  return Math.exp(exponent * Math.LN10);
}
