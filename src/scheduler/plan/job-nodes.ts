import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { globMatches } from '../../shared/values.js';
import type { Cluster } from '../cluster/cluster.js';
import { Feasibility } from '../feasibility/node-checks.js';
import { type GroupRequirements, requirementsOf } from '../feasibility/requirements.js';
import { isReadyNode, type Node } from '../node.js';
import { allNodePool } from '../node-pool.js';
import { NodeAssessor } from '../ranking/assess-node.js';
import { GroupRanking } from '../ranking/group-ranking.js';
import type { JobProposal } from '../ranking/job-proposal.js';
import { type NodeCensus, SpreadScore } from '../ranking/scores.js';
import type { SchedulerConfiguration } from '../scheduler-configuration.js';

/**
 * One job version and its candidate nodes: which nodes it may use, and how they rank for its groups. Everything is computed on
 * first use.
 */
export class JobNodes {
  readonly job: Job;
  readonly feasibility: Feasibility;
  readonly #proposal: JobProposal;
  readonly #configuration: SchedulerConfiguration;
  readonly #assessors = new Map<string, NodeAssessor>();
  readonly #rankings = new Map<string, GroupRanking>();
  readonly #datacenters = new Map<string, boolean>();
  #slots: readonly number[] | undefined;
  #census: NodeCensus | undefined;

  constructor(job: Job, proposal: JobProposal, configuration: SchedulerConfiguration) {
    this.job = job;
    this.feasibility = new Feasibility(job);
    this.#proposal = proposal;
    this.#configuration = configuration;
  }

  /** The nodes that the job may use: ready, in its pool and in one of its datacenters. */
  get slots(): readonly number[] {
    this.#slots ??= slotsOf(this.#proposal.nodes.cluster, (node) => isReadyNode(node) && this.covers(node));
    return this.#slots;
  }

  get census(): NodeCensus {
    this.#census ??= censusOf(this.#proposal.nodes.cluster, this.slots, this.job.NodePool);
    return this.#census;
  }

  /** Whether the node is in the job's pool and in one of its datacenters. */
  covers(node: Node): boolean {
    const { NodePool: pool } = this.job;
    return (pool === allNodePool || pool === '' || node.NodePool === pool) && this.#isInDatacenters(node.Datacenter);
  }

  assessorOf(group: TaskGroup): NodeAssessor {
    let assessor = this.#assessors.get(group.Name);
    if (assessor === undefined) {
      const { MemoryOversubscriptionEnabled: oversubscription } = this.#configuration;
      assessor = new NodeAssessor(requirementsOf(this.job, group, oversubscription), this.#rankingContext);
      this.#assessors.set(group.Name, assessor);
    }
    return assessor;
  }

  /** All nodes for the group's allocation with this index; the index only matters for per-allocation volumes. */
  rankingOf(group: TaskGroup, index: number): GroupRanking {
    const assessor = this.assessorOf(group);
    const name = hasVolumePerAllocation(assessor.wanted) ? `${group.Name}[${index}]` : group.Name;
    let ranking = this.#rankings.get(name);
    if (ranking === undefined) {
      const spread = new SpreadScore(assessor.wanted, this.#proposal);
      ranking = new GroupRanking(this.slots, { assessor, spread, context: this.#rankingContext, index });
      this.#rankings.set(name, ranking);
    }
    return ranking;
  }

  get #rankingContext() {
    return { proposal: this.#proposal, feasibility: this.feasibility, configuration: this.#configuration };
  }

  #isInDatacenters(name: string): boolean {
    let known = this.#datacenters.get(name);
    if (known === undefined) {
      known = this.job.Datacenters.some((pattern) => globMatches(pattern, name));
      this.#datacenters.set(name, known);
    }
    return known;
  }
}

function slotsOf({ nodeStates }: Cluster, accepts: (node: Node) => boolean): readonly number[] {
  const slots: number[] = [];
  for (const [slot, { node }] of nodeStates.entries()) if (accepts(node)) slots.push(slot);
  return slots;
}

function censusOf(cluster: Cluster, slots: readonly number[], pool: string): NodeCensus {
  const counts = new Map<string, number>();
  for (const slot of slots) {
    const { Datacenter } = cluster.stateAt(slot).node;
    counts.set(Datacenter, (counts.get(Datacenter) ?? 0) + 1);
  }
  return { pool, nodes: slots.length, byDatacenter: Object.fromEntries(counts) };
}

function hasVolumePerAllocation({ volumes }: GroupRequirements): boolean {
  return volumes.some((volume) => volume.PerAlloc);
}
