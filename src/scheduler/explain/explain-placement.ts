import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Allocation } from '../allocation.js';
import type { AllocationMetric, NodeScore } from '../allocation-metric.js';
import { type Cluster, clusterFrom } from '../cluster/cluster.js';
import { hasDriver, missingDrivers } from '../feasibility/node-checks.js';
import type { Node } from '../node.js';
import { configurationOfPool, type NodePool } from '../node-pool.js';
import { JobNodes } from '../plan/job-nodes.js';
import { JobProposal } from '../ranking/job-proposal.js';
import { nodeScore } from '../ranking/scores.js';
import { defaultSchedulerConfiguration, type SchedulerConfiguration } from '../scheduler-configuration.js';
import { finish, type Steps } from '../steps.js';
import { kindObstacles, nodeObstacles, type PlacementObstacle, roomObstacles } from './obstacles.js';

/** Groups named in a reason; further ones are only counted. */
const mostGroups = 5;

/**
 * One line that says why allocations could not be placed: the missing driver, the constraint or the exhausted resource, by group. `missing`:
 * the drivers that a group needs and some node lacks, as metrics do not name them.
 */
export function placementReason(
  failed: Readonly<Record<string, AllocationMetric>>,
  missing: (group: string) => readonly string[] = () => [],
): string {
  const groups = Object.entries(failed);
  const named = groups
    .slice(0, mostGroups)
    .map(([group, metric]) => `group ${JSON.stringify(group)}: ${reasonOf(metric, missing(group))}`);
  const rest = groups.length - named.length;
  return [...named, ...(rest > 0 ? [`and ${rest} more groups`] : [])].join('; ');
}

function reasonOf(metric: AllocationMetric, drivers: readonly string[]): string {
  const reasons = [
    ...counted(metric.ConstraintFiltered, (rule, nodes) => `${named(rule, drivers)} (${nodes})`),
    ...counted(metric.ClassFiltered, (name, nodes) => `class ${JSON.stringify(name)} does not fit (${nodes})`),
    ...counted(metric.DimensionExhausted, (resource, nodes) => `${resource} exhausted on ${nodes}`),
  ];
  if (reasons.length > 0) return reasons.join(', ');
  if (metric.NodesExhausted > 0) return `no room on ${nodesText(metric.NodesExhausted)}`;
  return `no ready node in the pool ${JSON.stringify(metric.NodePool)} and the datacenters of the job`;
}

function named(rule: string, drivers: readonly string[]): string {
  return rule === missingDrivers && drivers.length > 0
    ? `${rule} ${drivers.map((name) => JSON.stringify(name)).join(', ')}`
    : rule;
}

/** The group's drivers that at least one of the nodes lacks. */
export function driversMissing({ Tasks }: Pick<TaskGroup, 'Tasks'>, nodes: readonly Node[]): readonly string[] {
  const drivers = new Set(Tasks.map(({ Driver }) => Driver));
  return [...drivers].filter((driver) => nodes.some((node) => !hasDriver(node, driver)));
}

function counted(
  counters: Readonly<Record<string, number>> | null,
  text: (name: string, nodes: string) => string,
): string[] {
  return Object.entries(counters ?? {}).map(([name, count]) => text(name, nodesText(count)));
}

function nodesText(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}

/** Context besides the job and the nodes. */
export interface ExplainOptions {
  /** Allocations on the nodes, of any job; none by default. */
  readonly allocations?: readonly Allocation[];
  /** Defaults when absent. */
  readonly configuration?: SchedulerConfiguration;
  /** The pool that the job names, if it overrides any setting. */
  readonly pool?: NodePool;
}

/** Whether one node would take one more allocation of a group, and if not, why. */
export interface NodeExplanation {
  readonly nodeId: string;
  readonly nodeName: string;
  /** Everything that prevents one more allocation; empty: the node would take it. */
  readonly obstacles: readonly PlacementObstacle[];
  /** The node's score; undefined when it would not take the allocation. Excludes spread scores. */
  readonly score: NodeScore | undefined;
}

/** How the nodes suit one group of a job. */
export interface GroupExplanation {
  readonly group: string;
  /** Nodes that would take the allocation, best first; then the others, those closest to suitable first. */
  readonly nodes: readonly NodeExplanation[];
  /** The node closest to taking one more allocation; undefined when one would take it, or there are no nodes. */
  readonly nearest: NodeExplanation | undefined;
}

/**
 * Explains for each node why it would or would not take one more allocation of each group, and what would have to change. The scheduler stops
 * at the first reason; this function lists all of them. Pure, so it can also be called without an engine.
 */
export function explainPlacement(
  job: Job,
  nodes: Iterable<Node>,
  options: ExplainOptions = {},
): readonly GroupExplanation[] {
  const { allocations = [] } = options;
  const own = allocations.filter(({ Namespace, JobID }) => Namespace === job.Namespace && JobID === job.ID);
  return finish(explainInSteps(job, clusterFrom(nodes, allocations), { ...options, allocations: own }));
}

/** The same in steps, on a known cluster. `allocations` are those of the job. */
export function* explainInSteps(
  job: Job,
  cluster: Cluster,
  { allocations = [], configuration = defaultSchedulerConfiguration, pool }: ExplainOptions,
): Steps<readonly GroupExplanation[]> {
  const proposal = new JobProposal(cluster, allocations);
  const jobNodes = new JobNodes(job, proposal, configurationOfPool(configuration, pool));
  const groups: GroupExplanation[] = [];
  for (const group of job.TaskGroups) groups.push(yield* explainGroup(group, jobNodes, proposal));
  return groups;
}

/** Nodes that are explained between two yields. */
const explainedPerStep = 16;

function* explainGroup(group: TaskGroup, jobNodes: JobNodes, proposal: JobProposal): Steps<GroupExplanation> {
  const nodes: NodeExplanation[] = [];
  for (const slot of proposal.nodes.cluster.nodeStates.keys()) {
    if (slot % explainedPerStep === 0) yield;
    nodes.push(explainNode(group, slot, jobNodes, proposal));
  }
  nodes.sort(
    (left, right) => lackOf(left) - lackOf(right) || (right.score?.NormScore ?? 0) - (left.score?.NormScore ?? 0),
  );
  const [first] = nodes;
  return { group: group.Name, nodes, nearest: first?.obstacles.length === 0 ? undefined : first };
}

function lackOf({ obstacles }: NodeExplanation): number {
  return obstacles.reduce((sum, { lack }) => sum + lack, 0);
}

function explainNode(group: TaskGroup, slot: number, jobNodes: JobNodes, proposal: JobProposal): NodeExplanation {
  const state = proposal.nodes.at(slot);
  const assessor = jobNodes.assessorOf(group);
  const { node } = state;
  const obstacles = [
    ...nodeObstacles(node, jobNodes.job),
    ...kindObstacles(assessor.wanted, node, 0),
    ...roomObstacles(assessor, slot, state),
  ];
  const assessed = obstacles.length === 0 ? assessor.assessRoom(slot) : undefined;
  const score =
    assessed?.type === 'fits' ? nodeScore(node.ID, assessed.scores, { spread: 0, penalised: false }) : undefined;
  return { nodeId: node.ID, nodeName: node.Name, obstacles, score };
}

/** What one more allocation of the group would find, as a sentence. */
export function placementSentence({ nodes, nearest }: GroupExplanation): string {
  if (nodes.length === 0) return 'There is no node';
  if (nearest === undefined) return `One more allocation would fit now, best on ${nameOf(nodes[0])}`;
  const obstacles = nearest.obstacles.map(({ message }) => message).join('; ');
  return `No node takes one more allocation. Nearest is ${nameOf(nearest)}: ${obstacles}`;
}

function nameOf(node: Pick<NodeExplanation, 'nodeName'> | undefined): string {
  return node === undefined || node.nodeName === '' ? 'a node' : node.nodeName;
}

/** For callers who may not read nodes: without names, IDs, and what only the node says. */
export function withoutNode({ obstacles, score }: NodeExplanation): NodeExplanation {
  const shown = obstacles.map(({ kind, message, lack, changes }) => ({
    kind,
    message: kind === 'constraint' ? 'A constraint of the job is not met' : message,
    lack,
    changes: changes.filter(({ of }) => of === 'job'),
  }));
  return { nodeId: '', nodeName: '', obstacles: shown, score: score && { ...score, NodeID: '' } };
}
