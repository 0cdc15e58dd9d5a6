import type { AllocationMetric } from '../allocation-metric.js';
import { infeasibility, lackingDimension, nodeCapacity, type PlacementAsk } from '../feasibility/placement-ask.js';
import type { Node } from '../node.js';
import { addCapacity, type Capacity, noCapacity, subtractCapacity } from '../node-usage.js';

/** Where the group's next allocation goes, or why nowhere. */
export type Placement =
  | { readonly type: 'placed'; readonly node: Node; readonly metric: AllocationMetric }
  | { readonly type: 'failed'; readonly metric: AllocationMetric };

/** What the plan of one evaluation has done to the nodes so far. */
export interface ClusterState {
  /** By node id: capacity in use, with the plan's stops and placements. */
  readonly used: Map<string, Capacity>;
  /** By node id: allocations of this job on it, by group. */
  readonly ofJob: Map<string, Map<string, number>>;
}

/**
 * Finds nodes for the allocations of one group, best first: bin packing, less the share of the group that the node has
 * already. A node's feasibility is judged once; a placement changes the score of one node only, so only that one is
 * computed again.
 */
export class NodeFinder {
  readonly #feasible: { readonly node: Node; readonly capacity: Capacity; score: number }[] = [];
  readonly #filtered: { readonly node: Node; readonly reason: string }[] = [];
  readonly #nodes: readonly Node[];
  readonly #ask: PlacementAsk;
  readonly #group: string;
  readonly #count: number;
  readonly #cluster: ClusterState;
  readonly #pool: string;

  constructor(
    nodes: readonly Node[],
    pool: string,
    ask: PlacementAsk,
    group: string,
    count: number,
    cluster: ClusterState,
  ) {
    this.#nodes = nodes;
    this.#pool = pool;
    this.#ask = ask;
    this.#group = group;
    this.#count = Math.max(1, count);
    this.#cluster = cluster;
    for (const node of nodes) {
      const reason = infeasibility(ask, node);
      if (reason !== undefined) this.#filtered.push({ node, reason });
      else this.#feasible.push({ node, capacity: nodeCapacity(node), score: 0 });
    }
    for (const candidate of this.#feasible) candidate.score = this.#score(candidate.node, candidate.capacity);
  }

  /** Takes the node's capacity in the cluster state when it places. `avoid` holds nodes where it has just failed: used only if nothing else fits. */
  place(avoid: ReadonlySet<string>): Placement {
    let best: { readonly node: Node; readonly capacity: Capacity; score: number } | undefined;
    let bestScore = Number.NEGATIVE_INFINITY;
    const exhausted: { readonly node: Node; readonly dimension: string }[] = [];
    const colocated: Node[] = [];
    for (const candidate of this.#feasible) {
      if (this.#isTaken(candidate.node)) {
        colocated.push(candidate.node);
        continue;
      }
      const lacking = lackingDimension(this.#free(candidate.node, candidate.capacity), this.#ask.capacity);
      if (lacking !== undefined) {
        exhausted.push({ node: candidate.node, dimension: lacking });
        continue;
      }
      const score = avoid.has(candidate.node.ID) ? (candidate.score - 1) / 2 : candidate.score;
      if (score > bestScore) {
        best = candidate;
        bestScore = score;
      }
    }
    const metric = this.#metric(
      exhausted,
      colocated,
      best === undefined ? undefined : { node: best.node, score: bestScore },
    );
    if (best === undefined) return { type: 'failed', metric };
    this.#take(best.node);
    best.score = this.#score(best.node, best.capacity);
    return { type: 'placed', node: best.node, metric };
  }

  #free(node: Node, capacity: Capacity): Capacity {
    return subtractCapacity(capacity, this.#cluster.used.get(node.ID) ?? noCapacity);
  }

  #take(node: Node): void {
    const { used, ofJob } = this.#cluster;
    used.set(node.ID, addCapacity(used.get(node.ID) ?? noCapacity, this.#ask.capacity));
    const groups = ofJob.get(node.ID) ?? new Map<string, number>();
    groups.set(this.#group, (groups.get(this.#group) ?? 0) + 1);
    ofJob.set(node.ID, groups);
  }

  #isTaken(node: Node): boolean {
    const groups = this.#cluster.ofJob.get(node.ID);
    if (groups === undefined || this.#ask.distinctHosts === 'none') return false;
    return this.#ask.distinctHosts === 'group'
      ? (groups.get(this.#group) ?? 0) > 0
      : [...groups.values()].some((n) => n > 0);
  }

  /** Mean of the bin-packing score, in 0…1, and the anti-affinity to the group's own allocations when it has any there. */
  #score(node: Node, capacity: Capacity): number {
    const free = subtractCapacity(this.#free(node, capacity), this.#ask.capacity);
    const freeCpu = capacity.cpu > 0 ? free.cpu / capacity.cpu : 0;
    const freeMemory = capacity.memory > 0 ? free.memory / capacity.memory : 0;
    const packed = Math.min(18, Math.max(0, 20 - (10 ** freeCpu + 10 ** freeMemory))) / 18;
    const own = this.#cluster.ofJob.get(node.ID)?.get(this.#group) ?? 0;
    return own === 0 ? packed : (packed - (own + 1) / this.#count) / 2;
  }

  #metric(
    exhausted: readonly { readonly node: Node; readonly dimension: string }[],
    colocated: readonly Node[],
    best: { readonly node: Node; readonly score: number } | undefined,
  ): AllocationMetric {
    const filtered = [...this.#filtered, ...colocated.map((node) => ({ node, reason: 'distinct_hosts' }))];
    return {
      NodesEvaluated: this.#nodes.length,
      NodesFiltered: filtered.length,
      NodesInPool: this.#nodes.length,
      NodePool: this.#pool,
      NodesAvailable: tally(this.#nodes.map((node) => node.Datacenter)) ?? {},
      ClassFiltered: tally(filtered.map(({ node }) => node.NodeClass)),
      ConstraintFiltered: tally(filtered.map(({ reason }) => reason)),
      NodesExhausted: exhausted.length,
      ClassExhausted: tally(exhausted.map(({ node }) => node.NodeClass)),
      DimensionExhausted: tally(exhausted.map(({ dimension }) => dimension)),
      QuotaExhausted: null,
      ResourcesExhausted: null,
      Scores: null,
      ScoreMetaData:
        best === undefined
          ? null
          : [{ NodeID: best.node.ID, Scores: { 'normalized-score': best.score }, NormScore: best.score }],
      AllocationTime: 0,
      CoalescedFailures: 0,
    };
  }
}

/** How often each name occurs; null when there is none. Empty names do not count. */
function tally(names: readonly string[]): Record<string, number> | null {
  let counts: Record<string, number> | null = null;
  for (const name of names) {
    if (name === '') continue;
    counts ??= {};
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
