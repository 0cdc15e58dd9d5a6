import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Allocation } from '../allocation.js';
import type { NodeScore } from '../allocation-metric.js';
import { clusterFrom } from '../cluster/cluster.js';
import type { Node } from '../node.js';
import { configurationOfPool, type NodePool } from '../node-pool.js';
import { JobScene } from '../plan/job-scene.js';
import { nodeScore } from '../ranking/final-score.js';
import { JobProposal } from '../ranking/job-proposal.js';
import { defaultSchedulerConfiguration, type SchedulerConfiguration } from '../scheduler-configuration.js';
import { kindObstacles } from './kind-obstacles.js';
import { nodeObstacles } from './node-obstacles.js';
import type { PlacementObstacle } from './obstacle.js';
import { roomObstacles } from './room-obstacles.js';

/** What is known besides the job and the nodes. */
export interface ExplainOptions {
  /** What runs on the nodes, of whatever job; nothing unless given. */
  readonly allocations?: readonly Allocation[];
  /** The defaults when absent. */
  readonly configuration?: SchedulerConfiguration;
  /** The pool that the job names, when it sets anything of its own. */
  readonly pool?: NodePool;
}

/** Whether one node would take one more allocation of a group, and if not, what stands in the way. */
export interface NodeExplanation {
  readonly nodeId: string;
  readonly nodeName: string;
  /** Everything that stands in the way of one more allocation; empty: the node would take it. */
  readonly obstacles: readonly PlacementObstacle[];
  /** How well the node suits; undefined when it would not take it. Scores of spreads are not in it. */
  readonly score: NodeScore | undefined;
}

/** How the nodes suit one group of a job. */
export interface GroupExplanation {
  readonly group: string;
  /** Nodes that would take the allocation, the best first; then the others, those that lack least first. */
  readonly nodes: readonly NodeExplanation[];
  /** The node that lacks least to take one more allocation; undefined when one would take it, or there are no nodes. */
  readonly nearest: NodeExplanation | undefined;
}

/**
 * Why each node would, or would not, take one more allocation of each group of a job, and what would have to change. The scheduler stops
 * at the first reason; this function lists all of them. Pure, so it can also be called without an engine.
 */
export function explainPlacement(
  job: Job,
  nodes: Iterable<Node>,
  options: ExplainOptions = {},
): readonly GroupExplanation[] {
  const { allocations = [], configuration = defaultSchedulerConfiguration, pool } = options;
  const own = allocations.filter(({ Namespace, JobID }) => Namespace === job.Namespace && JobID === job.ID);
  const proposal = new JobProposal(clusterFrom(nodes, allocations), own);
  const scene = new JobScene(job, proposal, configurationOfPool(configuration, pool));
  return job.TaskGroups.map((group) => explainGroup(group, scene, proposal));
}

function explainGroup(group: TaskGroup, scene: JobScene, proposal: JobProposal): GroupExplanation {
  const nodes = proposal.nodes.cluster.books.map((_book, slot) => explainNode(group, slot, scene, proposal));
  nodes.sort(
    (left, right) => lackOf(left) - lackOf(right) || (right.score?.NormScore ?? 0) - (left.score?.NormScore ?? 0),
  );
  const [first] = nodes;
  return { group: group.Name, nodes, nearest: first?.obstacles.length === 0 ? undefined : first };
}

function lackOf({ obstacles }: NodeExplanation): number {
  return obstacles.reduce((sum, { lack }) => sum + lack, 0);
}

function explainNode(group: TaskGroup, slot: number, scene: JobScene, proposal: JobProposal): NodeExplanation {
  const state = proposal.nodes.at(slot);
  const assessor = scene.assessorOf(group);
  const { node } = state;
  const obstacles = [
    ...nodeObstacles(node, scene.job),
    ...kindObstacles(assessor.wanted, node, 0),
    ...roomObstacles(assessor, slot, state),
  ];
  const assessed = obstacles.length === 0 ? assessor.assessRoom(slot) : undefined;
  const score =
    assessed?.type === 'fits' ? nodeScore(node.ID, assessed.scores, { spread: 0, penalised: false }) : undefined;
  return { nodeId: node.ID, nodeName: node.Name, obstacles, score };
}
