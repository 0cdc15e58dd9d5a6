import type { Job } from '../../jobs/document/job.js';
import { type Instant, isoFromInstant } from '../../shared/instant.js';
import { type Allocation, isClientTerminal, isTerminalAllocation } from '../allocation.js';
import { type Deployment, isActiveDeployment } from '../deployment/deployment.js';
import { progressDeadlineOf } from '../deployment/transition-deployment.js';
import { isDraining, type Node } from '../node.js';
import { type DrainDecision, type DrainedNode, decideDrains } from '../nodes/decide-drain.js';
import { finish, type Steps } from '../steps.js';
import { Agents } from './simulated-agents.js';
import { SimulatedWorld } from './simulated-world.js';
import type { SimulatedCluster, SimulatedEvent, Simulation } from './simulation.js';

/** How much one simulation does at most: times, records examined and lines of its timeline. A cluster whose events never end is cut there. */
const boundless = { times: 100_000, records: Number.POSITIVE_INFINITY, lines: Number.POSITIVE_INFINITY };

/**
 * Simulates a cluster on virtual time, up to `until`: how the scheduler, the deployments, the drains and the nodes react to the events. The
 * decisions are an engine's, made by the same functions. Pure: equal arguments give the same timeline.
 */
export function simulate(start: SimulatedCluster, events: readonly SimulatedEvent[], until: Instant): Simulation {
  return finish(simulateInSteps(start, events, until));
}

/** The same in steps of a few milliseconds for thousands of records, within limits. */
export function* simulateInSteps(
  start: SimulatedCluster,
  events: readonly SimulatedEvent[],
  until: Instant,
  most: typeof boundless = boundless,
): Steps<Simulation> {
  const world = new SimulatedWorld(start);
  const agents = new Agents(world, start.agents);
  const refused: { event: SimulatedEvent; reason: string }[] = [];
  const waiting = [...events].sort((left, right) => left.at - right.at);
  let playedUntil = until;
  for (let count = 1; ; count += 1) {
    const drains = decideDrains(drainsOf(world));
    yield;
    const reports = agents.next;
    yield;
    const deadlines = yield* deadline(world);
    const next = Math.min(waiting[0]?.at ?? Infinity, reports, world.nextWait, drains.next ?? Infinity, deadlines);
    if (!isWork(drains) && next > until) break;
    if (isCut(world, count, most)) {
      playedUntil = world.now;
      break;
    }
    if (!isWork(drains)) world.now = Math.max(world.now, next);
    world.index += 1;
    settleDrains(world, drains);
    while (waiting[0] !== undefined && waiting[0].at <= world.now) {
      const event = waiting.shift() as SimulatedEvent;
      const reason = applyEvent(world, agents, event);
      if (reason !== undefined) refused.push({ event, reason });
    }
    yield* agents.report();
    for (const { ID } of activeDeployments(world)) {
      yield;
      world.moveDeployment(ID, { type: 'deadline' });
    }
    yield* world.work();
  }
  const { timeline, jobs, nodes, allocations, deployments, evaluations } = world;
  const lists = { nodes: [...nodes.values()], allocations: [...allocations.values()], jobs: [...jobs.values()] };
  const rest = { deployments: [...deployments.values()], evaluations: [...evaluations.values()] };
  return { timeline, ...lists, ...rest, refused, playedUntil };
}

function isCut({ examined, timeline }: SimulatedWorld, times: number, most: typeof boundless): boolean {
  return times > most.times || examined > most.records || timeline.length > most.lines;
}

function activeDeployments({ deployments }: SimulatedWorld): Deployment[] {
  return [...deployments.values()].filter(isActiveDeployment);
}

/** Applies an event; returns the reason when it cannot be applied. */
function applyEvent(world: SimulatedWorld, agents: Agents, event: SimulatedEvent): string | undefined {
  switch (event.do) {
    case 'register':
      world.register(event.job, 'job-register');
      return undefined;
    case 'stop': {
      const job = world.jobOf(named(event));
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
      return failAllocations(world, agents, event);
    case 'deployment': {
      const deployment = world.latestDeploymentOf(named(event));
      if (deployment === undefined) return `job "${event.jobId}" has no deployment`;
      return world.moveDeployment(deployment.ID, { type: event.action });
    }
  }
}

function named({ namespace = 'default', jobId }: { readonly namespace?: string; readonly jobId: string }) {
  return { Namespace: namespace, JobID: jobId };
}

function failAllocations(
  world: SimulatedWorld,
  agents: Agents,
  { namespace = 'default', allocation: name }: { readonly namespace?: string; readonly allocation: string },
): string | undefined {
  const isNamed = (one: Allocation): boolean => one.Name === name && one.Namespace === namespace;
  const live = [...world.allocations.values()].filter((one) => isNamed(one) && !isTerminalAllocation(one));
  for (const allocation of live) agents.statusChanged(allocation, 'failed');
  return live.length === 0 ? `there is no live allocation "${name}"` : undefined;
}

/** Evaluates the jobs affected by a changed node, and retries what waits for room. */
function changeNode(world: SimulatedWorld, node: Node, text: string): undefined {
  world.nodes.set(node.ID, { ...node, ModifyIndex: world.index });
  world.log('node', node.Name, text);
  const onNode = [...world.allocations.values()].filter((one) => one.NodeID === node.ID && !isClientTerminal(one));
  const concerned = new Set(onNode.map((one) => world.jobOf(one)));
  for (const job of world.jobs.values()) if (job.Type === 'system' && !job.Stop) concerned.add(job);
  for (const job of concerned) if (job !== undefined) world.evaluate(job, 'node-update', node.ID);
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
    jobOf: (one: Allocation) => world.jobOf(one),
    liveOf: (one: Allocation) => world.allocationsOf(one).filter((each) => !isTerminalAllocation(each)),
    now: world.now,
  };
}

function isWork({ migrations, completed }: DrainDecision): boolean {
  return migrations.length + completed.length > 0;
}

function settleDrains(world: SimulatedWorld, { migrations, completed }: DrainDecision): void {
  const concerned = new Set<Job | undefined>();
  for (const { allocation, transition } of migrations) {
    world.allocations.set(allocation.ID, { ...allocation, DesiredTransition: transition, ModifyIndex: world.index });
    concerned.add(world.jobOf(allocation));
  }
  for (const node of completed) {
    world.nodes.set(node.ID, { ...node, DrainStrategy: null, ModifyIndex: world.index });
    world.log('node', node.Name, 'is drained');
  }
  for (const job of concerned) if (job !== undefined) world.evaluate(job, 'node-drain');
}

/** When the first deployment fails unless there is progress. */
function* deadline(world: SimulatedWorld): Steps<Instant> {
  let first = Number.POSITIVE_INFINITY;
  for (const deployment of activeDeployments(world)) {
    yield;
    const allocations = world.allocationsOf(deployment).filter(({ DeploymentID }) => DeploymentID === deployment.ID);
    first = Math.min(first, progressDeadlineOf({ deployment, allocations }) ?? Number.POSITIVE_INFINITY);
  }
  return first;
}
