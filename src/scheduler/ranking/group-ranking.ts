import type { AllocationMetric, NodeScore } from '../allocation-metric.js';
import { knownClassReason } from '../feasibility/node-checks.js';
import { findVictims, type Preemption, type Preemptor } from '../preemption/find-victims.js';
import { type Assessment, type NodeAssessor, preemptionScore, type RankingContext } from './assess-node.js';
import { CandidateOrder } from './candidate-order.js';
import { type ExtraScores, type NodeCensus, NodeTally, nodeScore, type SpreadScore } from './scores.js';

/** The number of nodes whose scores a metric lists. */
const shownNodes = 5;

/** A node chosen for an allocation, with the scores that explain the choice. */
export interface RankedNode {
  readonly slot: number;
  readonly scores: readonly NodeScore[];
  /** Present when allocations of other jobs are preempted. */
  readonly preemption?: Preemption;
  /** Nodes that lack room but would have it after preemption. */
  readonly roomyAfterPreemption?: readonly number[];
}

/**
 * All nodes that a group may run on, best first. Every node is checked once; afterwards only those that a plan changes are
 * checked again, so that a placement costs about the depth of a heap, whatever the number of nodes.
 */
export class GroupRanking {
  readonly #slots: readonly number[];
  readonly #candidateOf = new Map<number, number>();
  readonly #assessor: NodeAssessor;
  readonly #context: RankingContext;
  readonly #spread: SpreadScore;
  /** By candidate; undefined when a rule about the node alone excludes it. */
  readonly #states: (Assessment | undefined)[] = [];
  /** Candidates with room. */
  readonly #order: CandidateOrder;
  /** A candidate's scores for metrics, without spreads and earlier failures. */
  readonly #plainScores: (NodeScore | undefined)[] = [];
  readonly #tally = new NodeTally();
  /** Nodes counted under the rule that they failed as the first of their class; see `settleClasses`. */
  #firstOfClass: { readonly slot: number; readonly reason: string }[] = [];
  readonly #sharingValue = new Map<string, Map<string, number[]>>();

  /** `slots` are the nodes that the job may use, `index` that of the allocation if the group has per-allocation volumes. */
  constructor(
    slots: readonly number[],
    {
      assessor,
      context,
      spread,
      index,
    }: {
      readonly assessor: NodeAssessor;
      readonly context: RankingContext;
      readonly spread: SpreadScore;
      readonly index: number;
    },
  ) {
    this.#slots = slots;
    this.#assessor = assessor;
    this.#context = context;
    this.#spread = spread;
    this.#order = new CandidateOrder(slots, spread);
    for (const [candidate, slot] of slots.entries()) {
      this.#candidateOf.set(slot, candidate);
      this.#assess(candidate, slot, index);
    }
    context.proposal.watch((slot) => this.#changed(slot));
  }

  /** The best node; undefined when none has room. `penalised` are nodes where an allocation that is being replaced has failed. */
  best(penalised: ReadonlySet<number>): RankedNode | undefined {
    const rivals = this.#order.best(shownNodes, this.#withRoom(penalised));
    const slot = this.#slots[rivals[0]?.candidate ?? -1];
    if (slot === undefined) return undefined;
    return {
      slot,
      scores: rivals.map(({ candidate, spread, penalised: failed }) =>
        this.#scoreOf(candidate, { spread, penalised: failed }),
      ),
    };
  }

  /** This particular node, if it has room. */
  only(slot: number, penalised: ReadonlySet<number>): RankedNode | undefined {
    const candidate = this.#candidateOf.get(slot);
    if (candidate === undefined || this.#states[candidate]?.type !== 'fits') return undefined;
    const extra = { spread: this.#spread.scoreAt(slot), penalised: penalised.has(slot) };
    return { slot, scores: [this.#scoreOf(candidate, extra)] };
  }

  /** The best node among those that have room after preempting allocations of other jobs. */
  bestWithPreemption(preemptor: Preemptor, penalised: ReadonlySet<number>): RankedNode | undefined {
    const options: { readonly slot: number; readonly preemption: Preemption; readonly score: NodeScore }[] = [];
    for (const [candidate, slot] of this.#slots.entries()) {
      if (this.#states[candidate]?.type !== 'exhausted') continue;
      const preemption = findVictims(preemptor, this.#context.proposal.nodes.at(slot));
      if (preemption === undefined) continue;
      const { capacity, deviceScore } = preemption.offer;
      const scores = this.#assessor.scores(slot, capacity, deviceScore);
      const extra = {
        spread: this.#spread.scoreAt(slot),
        penalised: penalised.has(slot),
        preemption: preemptionScore(preemption.victims.map((use) => use.priority)),
      };
      options.push({ slot, preemption, score: nodeScore(this.#nodeId(slot), scores, extra) });
    }
    options.sort((left, right) => right.score.NormScore - left.score.NormScore || left.slot - right.slot);
    const [first] = options;
    if (first === undefined) return undefined;
    return {
      slot: first.slot,
      preemption: first.preemption,
      roomyAfterPreemption: options.map(({ slot }) => slot),
      scores: options.slice(0, shownNodes).map(({ score }) => score),
    };
  }

  /** The metric of the last choice. */
  metric(census: NodeCensus, found: RankedNode | undefined): AllocationMetric {
    const roomy = found?.roomyAfterPreemption ?? [];
    for (const slot of roomy) this.#countAt(slot, -1);
    const metric = this.#tally.metric(census, this.#slots.length, found?.scores ?? null);
    for (const slot of roomy) this.#countAt(slot, 1);
    return metric;
  }

  /** From the next choice on, the classes that this one found infeasible count as known. */
  settleClasses(): void {
    for (const { slot, reason } of this.#firstOfClass) {
      const { node } = this.#context.proposal.nodes.at(slot);
      this.#tally.filter(node, reason, -1);
      this.#tally.filter(node, knownClassReason);
    }
    this.#firstOfClass = [];
  }

  #assess(candidate: number, slot: number, index: number): void {
    const unsuitable = this.#assessor.unsuitable(slot, index);
    if (unsuitable === undefined) {
      this.#indexValues(candidate, slot);
      this.#enter(candidate, slot);
      return;
    }
    this.#states[candidate] = undefined;
    this.#tally.filter(this.#context.proposal.nodes.at(slot).node, unsuitable.reason);
    if (unsuitable.ofClass && unsuitable.reason !== knownClassReason) {
      this.#firstOfClass.push({ slot, reason: unsuitable.reason });
    }
  }

  /** Checks the rules that depend on allocations, and files the candidate by the result. */
  #enter(candidate: number, slot: number): void {
    const state = this.#assessor.assessRoom(slot);
    this.#states[candidate] = state;
    this.#count(slot, state, 1);
    if (state.type === 'fits') this.#order.add(candidate, state.scores);
  }

  #leave(candidate: number, slot: number): void {
    const state = this.#states[candidate];
    if (state === undefined) return;
    this.#count(slot, state, -1);
    this.#order.remove(candidate);
    this.#plainScores[candidate] = undefined;
  }

  #countAt(slot: number, by: 1 | -1): void {
    const candidate = this.#candidateOf.get(slot);
    const state = candidate === undefined ? undefined : this.#states[candidate];
    if (state !== undefined) this.#count(slot, state, by);
  }

  #count(slot: number, state: Assessment, by: 1 | -1): void {
    const { node } = this.#context.proposal.nodes.at(slot);
    if (state.type === 'filtered') this.#tally.filter(node, state.reason, by);
    else if (state.type === 'exhausted') this.#tally.exhaust(node, state.dimension, by);
  }

  #changed(slot: number): void {
    const touched = new Set([this.#candidateOf.get(slot)]);
    for (const candidate of this.#sharing(slot)) touched.add(candidate);
    for (const candidate of touched) {
      const at = this.#slots[candidate ?? -1];
      if (candidate === undefined || at === undefined || this.#states[candidate] === undefined) continue;
      this.#leave(candidate, at);
      this.#enter(candidate, at);
    }
  }

  /** The candidates of these nodes that have room. */
  #withRoom(slots: ReadonlySet<number>): readonly number[] {
    const found: number[] = [];
    for (const slot of slots) {
      const candidate = this.#candidateOf.get(slot);
      if (candidate !== undefined && this.#states[candidate]?.type === 'fits') found.push(candidate);
    }
    return found;
  }

  #scoreOf(candidate: number, extra: ExtraScores): NodeScore {
    const plain = extra.spread === 0 && !extra.penalised;
    const known = plain ? this.#plainScores[candidate] : undefined;
    if (known !== undefined) return known;
    const state = this.#states[candidate];
    const scores = state?.type === 'fits' ? state.scores : noScores;
    const score = nodeScore(this.#nodeId(this.#slots[candidate] ?? -1), scores, extra);
    if (plain) this.#plainScores[candidate] = score;
    return score;
  }

  #nodeId(slot: number): string {
    return this.#context.proposal.nodes.at(slot).node.ID;
  }

  /** Candidates by their value of each limited attribute: a placement on one affects all of them. */
  #indexValues(candidate: number, slot: number): void {
    for (const { attribute, scope } of this.#assessor.wanted.distinctProperties) {
      const value = this.#context.proposal.property(attribute, this.#groupOf(scope)).valueAt(slot);
      if (value === undefined) continue;
      let byValue = this.#sharingValue.get(attribute);
      if (byValue === undefined) {
        byValue = new Map();
        this.#sharingValue.set(attribute, byValue);
      }
      const sharing = byValue.get(value);
      if (sharing === undefined) byValue.set(value, [candidate]);
      else sharing.push(candidate);
    }
  }

  #sharing(slot: number): readonly number[] {
    if (this.#sharingValue.size === 0) return [];
    return this.#assessor.wanted.distinctProperties.flatMap(({ attribute, scope }) => {
      const value = this.#context.proposal.property(attribute, this.#groupOf(scope)).valueAt(slot);
      return value === undefined ? [] : (this.#sharingValue.get(attribute)?.get(value) ?? []);
    });
  }

  #groupOf(scope: 'job' | 'group'): string | undefined {
    return scope === 'job' ? undefined : this.#assessor.wanted.group.Name;
  }
}

const noScores = { fit: 0, devices: undefined, antiAffinity: undefined, affinity: undefined };
