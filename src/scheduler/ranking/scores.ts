import type { Spread } from '../../jobs/document/placement.js';
import type { AllocationMetric, NodeScore } from '../allocation-metric.js';
import type { GroupRequirements } from '../feasibility/requirements.js';
import type { Node } from '../node.js';
import type { NodeScores } from './assess-node.js';
import type { JobProposal } from './job-proposal.js';
import type { PropertyUse } from './property-use.js';

/** Scores that apply to one placement only, or to all nodes of one kind; absent ones are undefined. */
export interface ExtraScores {
  /** Sum over the group's spreads; 0 means that they do not apply. */
  readonly spread: number;
  /** An allocation that is being replaced has failed on this node. */
  readonly penalised: boolean;
  readonly preemption?: number | undefined;
}

const penalty = -1;

/** The sum and the number of the scores that apply. */
export function summed(scores: NodeScores): { readonly sum: number; readonly parts: number } {
  let sum = scores.fit;
  let parts = 1;
  for (const score of [scores.devices, scores.antiAffinity, scores.affinity]) {
    if (score === undefined) continue;
    sum += score;
    parts += 1;
  }
  return { sum, parts };
}

/** The mean of the scores that apply. */
export function finalScore(sum: number, parts: number, extra: ExtraScores): number {
  let total = sum;
  let count = parts;
  if (extra.spread !== 0) {
    total += extra.spread;
    count += 1;
  }
  if (extra.penalised) {
    total += penalty;
    count += 1;
  }
  if (extra.preemption !== undefined) {
    total += extra.preemption;
    count += 1;
  }
  return total / count;
}

/** A node's scores as metrics report them: a rule that does not apply has the score 0 or is omitted. */
export function nodeScore(nodeId: string, scores: NodeScores, extra: ExtraScores): NodeScore {
  const { sum, parts } = summed(scores);
  return {
    NodeID: nodeId,
    Scores: {
      binpack: scores.fit,
      ...(scores.devices === undefined ? {} : { devices: scores.devices }),
      'job-anti-affinity': scores.antiAffinity ?? 0,
      'node-reschedule-penalty': extra.penalised ? penalty : 0,
      'node-affinity': scores.affinity ?? 0,
      ...(extra.spread === 0 ? {} : { 'allocation-spread': extra.spread }),
      ...(extra.preemption === undefined ? {} : { preemption: extra.preemption }),
    },
    NormScore: finalScore(sum, parts, extra),
  };
}

/** Worst score of one spread. */
const worst = -1;

/** The common target of all values without an explicit one. */
const everyOther = '*';

/** One spread with the desired number of allocations of each value. */
interface SpreadRule {
  readonly use: PropertyUse;
  /** This spread's share of the total weight. */
  readonly share: number;
  /** Empty: spread evenly over the existing values. */
  readonly desired: ReadonlyMap<string, number>;
}

/**
 * How much a further allocation on a node improves the group's spreads. Depends only on the node's values of the spread attributes, so it is
 * computed once for all nodes with the same values.
 */
export class SpreadScore {
  readonly #rules: readonly SpreadRule[];

  /** If several spreads use one attribute, the targets of the last one apply to all. */
  constructor({ group, spreads }: GroupRequirements, proposal: JobProposal) {
    const weights = spreads.reduce((sum, { Weight }) => sum + Weight, 0);
    const targets = new Map(spreads.map((spread) => [spread.Attribute, spread]));
    this.#rules = spreads.map((own) => {
      const use = proposal.property(own.Attribute, group.Name);
      const spread = targets.get(own.Attribute) ?? own;
      return { use, share: weights === 0 ? 0 : spread.Weight / weights, desired: desiredCounts(spread, group.Count) };
    });
  }

  /** Nodes with the same string get the same score; empty for every node when there are no spreads. */
  valuesAt(slot: number): string {
    if (this.#rules.length === 0) return '';
    return JSON.stringify(this.#rules.map(({ use }) => use.valueAt(slot) ?? null));
  }

  /** The sum over all spreads for this node's values. */
  scoreAt(slot: number): number {
    let sum = 0;
    for (const rule of this.#rules) sum += scoreOf(rule, rule.use.valueAt(slot));
    return sum;
  }
}

function scoreOf({ use, share, desired }: SpreadRule, value: string | undefined): number {
  if (value === undefined) return worst;
  if (desired.size === 0) return evenScore(use, value);
  const target = desired.has(value) ? value : everyOther;
  const wanted = desired.get(target);
  if (wanted === undefined) return worst;
  if (wanted === 0) return worst;
  const used = target === everyOther ? countOfOthers(use, desired) : use.countOf(value);
  return ((wanted - (used + 1)) / wanted) * share;
}

function countOfOthers(use: PropertyUse, desired: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [value, count] of use.counts) if (value === everyOther || !desired.has(value)) sum += count;
  return sum;
}

/** Prefers the least used values; values without any allocation are excluded from the minimum and the maximum. */
function evenScore(use: PropertyUse, value: string): number {
  if (use.counts.size === 0) return 0;
  const { least, most } = use.extremes;
  const own = use.countOf(value);
  if (own !== least) return (least - own) / least;
  return least === most ? worst : (most - least) / least;
}

/** The percentages as counts; the remainder to 100 % is for all other values together. */
function desiredCounts({ SpreadTarget }: Spread, count: number): ReadonlyMap<string, number> {
  const desired = new Map<string, number>();
  let sum = 0;
  for (const { Value, Percent } of SpreadTarget ?? []) {
    const wanted = (Percent / 100) * count;
    desired.set(Value, wanted);
    sum += wanted;
  }
  if (sum > 0 && sum < count) desired.set(everyOther, count - sum);
  return desired;
}

/** The nodes that a job may use, as metrics report them. */
export interface NodeCensus {
  readonly pool: string;
  /** Ready nodes of the job's pool and datacenters. */
  readonly nodes: number;
  readonly byDatacenter: Readonly<Record<string, number>>;
}

/** Counts nodes by the reason why they cannot be used. Counts are revised when a plan changes a node. */
export class NodeTally {
  #filtered = 0;
  #exhausted = 0;
  readonly #filteredBy = new Map<string, number>();
  readonly #filteredClasses = new Map<string, number>();
  readonly #exhaustedBy = new Map<string, number>();
  readonly #exhaustedClasses = new Map<string, number>();

  filter(node: Node, reason: string, by: 1 | -1 = 1): void {
    this.#filtered += by;
    add(this.#filteredBy, reason, by);
    if (node.NodeClass !== '') add(this.#filteredClasses, node.NodeClass, by);
  }

  exhaust(node: Node, dimension: string, by: 1 | -1 = 1): void {
    this.#exhausted += by;
    add(this.#exhaustedBy, dimension, by);
    if (node.NodeClass !== '') add(this.#exhaustedClasses, node.NodeClass, by);
  }

  metric(census: NodeCensus, evaluated: number, scores: readonly NodeScore[] | null): AllocationMetric {
    return {
      NodesEvaluated: evaluated,
      NodesFiltered: this.#filtered,
      NodesInPool: census.nodes,
      NodePool: census.pool,
      NodesAvailable: census.byDatacenter,
      ClassFiltered: recordOf(this.#filteredClasses),
      ConstraintFiltered: recordOf(this.#filteredBy),
      NodesExhausted: this.#exhausted,
      ClassExhausted: recordOf(this.#exhaustedClasses),
      DimensionExhausted: recordOf(this.#exhaustedBy),
      QuotaExhausted: null,
      ResourcesExhausted: null,
      Scores: null,
      ScoreMetaData: scores,
      AllocationTime: 0,
      CoalescedFailures: 0,
    };
  }
}

function add(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}

function recordOf(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> | null {
  return counts.size === 0 ? null : Object.fromEntries(counts);
}
