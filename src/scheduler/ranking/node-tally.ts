import type { AllocationMetric, NodeScore } from '../allocation-metric.js';
import type { Node } from '../node.js';

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
