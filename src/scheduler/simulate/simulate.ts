import { type Instant, isoFromInstant } from '../../shared/instant.js';
import { isClientTerminal, isTerminalAllocation } from '../allocation.js';
import { progressDeadlineOf } from '../deployment/transition-deployment.js';
import { isDraining, type Node } from '../node.js';
import { type DrainDecision, type DrainedNode, decideDrains } from '../nodes/decide-drain.js';
import { Agents } from './simulated-agents.js';
import { SimulatedWorld } from './simulated-world.js';
import type { SimulatedCluster, SimulatedEvent, Simulation } from './simulation.js';

/** The maximum number of distinct times in one simulation: bounds a cluster whose events never end. */
const mostTimes = 100_000;

/**
 * Simulates a cluster on virtual time, up to `until`: how the scheduler, the deployments, the drains and the nodes react to the events. The
 * decisions are an engine's, made by the same functions. Pure: equal arguments give the same timeline.
 */
export function simulate(start: SimulatedCluster, events: readonly SimulatedEvent[], until: Instant): Simulation {
  const world = new SimulatedWorld(start);
  const agents = new Agents(world, start.agents);
  const refused: { event: SimulatedEvent; reason: string }[] = [];
  const waiting = [...events].sort((left, right) => left.at - right.at);
  for (let count = 0; count < mostTimes; count += 1) {
    const drains = decideDrains(drainsOf(world));
    const next = Math.min(
      waiting[0]?.at ?? Infinity,
      agents.next,
      world.nextWait,
      drains.next ?? Infinity,
      deadline(world),
    );
    if (!isWork(drains) && next > until) break;
    if (!isWork(drains)) world.now = Math.max(world.now, next);
    world.index += 1;
    settleDrains(world, drains);
    while (waiting[0] !== undefined && waiting[0].at <= world.now) {
      const event = waiting.shift() as SimulatedEvent;
      const reason = applyEvent(world, agents, event);
      if (reason !== undefined) refused.push({ event, reason });
    }
    agents.report();
    for (const { ID } of world.deployments.values()) world.moveDeployment(ID, { type: 'deadline' });
    world.work();
  }
  const { timeline, jobs, nodes, allocations, deployments, evaluations } = world;
  const lists = { nodes: [...nodes.values()], allocations: [...allocations.values()], jobs: [...jobs.values()] };
  const rest = { deployments: [...deployments.values()], evaluations: [...evaluations.values()] };
  return { timeline, ...lists, ...rest, refused };
}

/** Applies an event; returns the reason when it cannot be applied. */
function applyEvent(world: SimulatedWorld, agents: Agents, event: SimulatedEvent): string | undefined {
  switch (event.do) {
    case 'register':
      world.register(event.job, 'job-register');
      return undefined;
    case 'stop': {
      const job = world.jobs.get(event.jobId);
      if (job === undefined) return `there is no job "${event.jobId}"`;
      world.stop(job);
      return undefined;
    }
    case 'join':
      return changeNode(world, event.node, 'joined');
    case 'status':
    case 'drain': {
      const node = world.nodes.get(event.nodeId);
      if (node === undefined) return `there is no node "${event.nodeId}"`;
      if (event.do === 'drain') return changeNode(world, drained(node, world.now, event.deadline), 'is being drained');
      return changeNode(world, { ...node, Status: event.status }, `is ${event.status}`);
    }
    case 'fail':
      return failAllocations(world, agents, event.allocation);
    case 'deployment': {
      const deployment = world.latestDeploymentOf(event.jobId);
      if (deployment === undefined) return `job "${event.jobId}" has no deployment`;
      return world.moveDeployment(deployment.ID, { type: event.action });
    }
  }
}

function failAllocations(world: SimulatedWorld, agents: Agents, name: string): string | undefined {
  const live = [...world.allocations.values()].filter((one) => one.Name === name && !isTerminalAllocation(one));
  for (const allocation of live) agents.statusChanged(allocation, 'failed');
  return live.length === 0 ? `there is no live allocation "${name}"` : undefined;
}

/** Evaluates the jobs affected by a changed node, and retries what waits for room. */
function changeNode(world: SimulatedWorld, node: Node, text: string): undefined {
  world.nodes.set(node.ID, { ...node, ModifyIndex: world.index });
  world.log('node', node.Name, text);
  const onNode = [...world.allocations.values()].filter((one) => one.NodeID === node.ID && !isClientTerminal(one));
  const concerned = new Set(onNode.map(({ JobID }) => JobID));
  for (const job of world.jobs.values()) if (job.Type === 'system' && !job.Stop) concerned.add(job.ID);
  for (const id of concerned) {
    const job = world.jobs.get(id);
    if (job !== undefined) world.evaluate(job, 'node-update', node.ID);
  }
  world.unblock();
}

function drained(node: Node, now: Instant, deadline: number | undefined): Node {
  const strategy = {
    Deadline: (deadline ?? 0) * 1_000_000,
    IgnoreSystemJobs: false,
    ForceDeadline: deadline === undefined ? null : isoFromInstant(now + deadline),
    StartedAt: isoFromInstant(now),
  };
  return { ...node, DrainStrategy: strategy, SchedulingEligibility: 'ineligible' };
}

function drainsOf(world: SimulatedWorld) {
  const all = [...world.allocations.values()];
  const nodes = [...world.nodes.values()].filter(isDraining).map((node) => ({
    node,
    allocations: all.filter((one) => one.NodeID === node.ID && !isClientTerminal(one)),
  }));
  return {
    nodes: nodes as readonly DrainedNode[],
    jobOf: ({ JobID }: { readonly JobID: string }) => world.jobs.get(JobID),
    liveOf: ({ JobID }: { readonly JobID: string }) =>
      world.allocationsOf(JobID).filter((one) => !isTerminalAllocation(one)),
    now: world.now,
  };
}

function isWork({ migrations, completed }: DrainDecision): boolean {
  return migrations.length + completed.length > 0;
}

function settleDrains(world: SimulatedWorld, { migrations, completed }: DrainDecision): void {
  const concerned = new Set<string>();
  for (const { allocation, transition } of migrations) {
    world.allocations.set(allocation.ID, { ...allocation, DesiredTransition: transition, ModifyIndex: world.index });
    concerned.add(allocation.JobID);
  }
  for (const node of completed) {
    world.nodes.set(node.ID, { ...node, DrainStrategy: null, ModifyIndex: world.index });
    world.log('node', node.Name, 'is drained');
  }
  for (const id of concerned) {
    const job = world.jobs.get(id);
    if (job !== undefined) world.evaluate(job, 'node-drain');
  }
}

/** When the first deployment fails unless there is progress. */
function deadline(world: SimulatedWorld): Instant {
  const moments = [...world.deployments.values()].map((deployment) => {
    const allocations = world
      .allocationsOf(deployment.JobID)
      .filter(({ DeploymentID }) => DeploymentID === deployment.ID);
    return progressDeadlineOf({ deployment, allocations }) ?? Number.POSITIVE_INFINITY;
  });
  return Math.min(Number.POSITIVE_INFINITY, ...moments);
}
