import type { Job } from '../../jobs/document/job.js';
import type { ReschedulePolicy } from '../../jobs/document/policies.js';
import { zeroResources } from '../../jobs/document/resources.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Allocation, isClientTerminal } from '../allocation.js';
import type { AllocationMetric, ExhaustedResources } from '../allocation-metric.js';
import { drawFrom } from '../assignment/assign-ports.js';
import { offerOf } from '../assignment/node-offer.js';
import { type AllocationUse, useOf } from '../cluster/capacity.js';
import { isReadyNode } from '../node.js';
import type { Preemptor } from '../preemption/find-victims.js';
import type { GroupRanking, RankedNode } from '../ranking/group-ranking.js';
import type { JobProposal } from '../ranking/job-proposal.js';
import { descriptions, type Intents, type PlaceIntent, type ReplaceIntent } from '../reconcile/intents.js';
import { indexFromName } from '../reconcile/names.js';
import type { SchedulerConfiguration } from '../scheduler-configuration.js';
import type { SchedulingSnapshot } from '../snapshot.js';
import { JobNodes } from './job-nodes.js';
import { acceptedVersion, type ChosenVersion, newAllocation } from './new-allocation.js';
import type { PlanDraft } from './plan-draft.js';

/** The inputs of one plan's placements. */
export interface PlacementContext {
  readonly snapshot: SchedulingSnapshot;
  readonly job: Job;
  /** With the pool's overrides applied. */
  readonly configuration: SchedulerConfiguration;
  readonly proposal: JobProposal;
  readonly jobNodes: JobNodes;
  readonly draft: PlanDraft;
  readonly newId: () => string;
}

interface JobPlacementContext extends PlacementContext {
  /** The deployment that new allocations of the current version belong to. */
  readonly deploymentId: string | undefined;
  /** An allocation's group in the allocation's own version. */
  readonly groupOf: (allocation: Allocation) => TaskGroup | undefined;
}

/** A placement to make: a wanted allocation, or the replacement of one that is stopped if its replacement finds a node. */
interface Placement extends PlaceIntent {
  readonly replaces?: Allocation;
}

/** Assigns nodes to wanted allocations one after the other: each sees the room that earlier ones took. */
export class JobPlacer {
  readonly #context: JobPlacementContext;
  readonly #nodesByVersion = new Map<Job, JobNodes>();
  readonly #preempted = new Map<string, number>();

  constructor(context: JobPlacementContext) {
    this.#context = context;
    this.#nodesByVersion.set(context.job, context.jobNodes);
  }

  /** Replacements first, so that the room they free is available for the rest. Yields after each. */
  *placeAll(intents: Pick<Intents, 'replace' | 'place' | 'names'>): Generator<void, void> {
    const placements = [...intents.replace.map(placementFor), ...intents.place];
    for (const { group } of placements) this.#context.draft.queue(group.Name, 1);
    for (const placement of placements) {
      this.#place(renamed(placement, intents));
      yield;
    }
  }

  #place(placement: Placement): void {
    const { draft, proposal } = this.#context;
    const before = draft.failureOf(placement.group.Name);
    if (before !== undefined) {
      draft.fail(placement.group.Name, coalesced(before, placement.group));
      this.#giveUp(placement);
      return;
    }
    const version = this.#versionFor(placement);
    if (placement.replaces !== undefined) {
      draft.stop({ allocation: placement.replaces, description: descriptions.updating });
      proposal.release(placement.replaces);
    }
    const jobNodes = this.#nodesOf(version.job);
    const ranking = jobNodes.rankingOf(version.group, indexFromName(placement.name));
    const found = this.#select(ranking, version, placement);
    const metric = this.#context.draft.measured(ranking.metric(jobNodes.census, found));
    ranking.settleClasses();
    if (found === undefined) {
      draft.fail(placement.group.Name, exhausted(metric, placement.group));
      if (placement.replaces !== undefined) {
        draft.forget(placement.replaces);
        proposal.release(placement.replaces, 1);
      }
      this.#giveUp(placement);
      return;
    }
    this.#create(placement, version, found, metric);
  }

  #select(ranking: GroupRanking, version: ChosenVersion, placement: Placement): RankedNode | undefined {
    const penalised = this.#penalisedSlots(placement.previous);
    const preferred = this.#preferredSlot(version, placement.previous);
    const found = (preferred === undefined ? undefined : ranking.only(preferred, penalised)) ?? ranking.best(penalised);
    if (found !== undefined || !this.#mayPreempt(version.job)) return found;
    ranking.settleClasses();
    return ranking.bestWithPreemption(this.#preemptor(version), penalised);
  }

  #create(placement: Placement, version: ChosenVersion, found: RankedNode, metric: AllocationMetric): void {
    const { draft, proposal, newId } = this.#context;
    const id = newId();
    for (const victim of found.preemption?.victims ?? []) this.#preempt(victim, found.slot, id);
    const wanted = this.#nodesOf(version.job).assessorOf(version.group).wanted;
    const state = proposal.nodes.at(found.slot);
    const offer = offerOf(wanted, state, drawFrom(`${draft.write.evaluationId} ${placement.name} ${id}`));
    if (offer.isErr()) return;
    const { previous } = placement;
    const allocation = newAllocation(
      {
        id,
        name: placement.name,
        job: version.job,
        group: version.group,
        node: state.node,
        resources: offer.value.resources,
        metric,
        deploymentId: version.deploymentId,
        canary: placement.canary === true,
        previous,
        rescheduledBy: this.#policyBehind(placement),
        preempted: (found.preemption?.victims ?? []).map((victim) => victim.id),
      },
      draft.write,
    );
    draft.place(allocation);
    draft.queue(placement.group.Name, -1);
    const use = useOf(allocation);
    if (use !== undefined) proposal.place(found.slot, use);
    if (previous !== undefined) this.#link(previous, placement, id);
  }

  #policyBehind({ previous, reschedule }: Placement): ReschedulePolicy | null | undefined {
    if (previous === undefined || reschedule !== true) return undefined;
    return this.#context.groupOf(previous)?.ReschedulePolicy ?? null;
  }

  /** Links the previous allocation to its replacement, and records that the reschedule policy replaced it. */
  #link(previous: Allocation, { reschedule }: Placement, id: string): void {
    const { draft } = this.#context;
    const latest = draft.latest(previous);
    const tracker = { Events: latest.RescheduleTracker?.Events ?? null, LastReschedule: 'ok' as const };
    draft.change({ ...latest, NextAllocation: id, ...(reschedule === true ? { RescheduleTracker: tracker } : {}) });
  }

  /**
   * Ended allocations that wait for their replacement by the reschedule policy continue to wait, and record the attempt. A running one that
   * was requested to stop is stopped: its room may already be assigned to another.
   */
  #giveUp({ previous, reschedule }: Placement): void {
    if (previous === undefined || reschedule !== true) return;
    const tracker = { Events: previous.RescheduleTracker?.Events ?? null, LastReschedule: 'no placement' as const };
    const { draft } = this.#context;
    const waiting = isClientTerminal(previous) ? previous : draft.latest(previous);
    draft.change({ ...waiting, RescheduleTracker: tracker });
  }

  #preempt(victim: AllocationUse, slot: number, by: string): void {
    const { snapshot, draft, proposal } = this.#context;
    const allocation = snapshot.readAllocation(victim.id);
    if (allocation !== undefined) draft.preempt(allocation, by);
    proposal.preempt(slot, victim);
    const key = likeKey(victim);
    this.#preempted.set(key, (this.#preempted.get(key) ?? 0) + 1);
  }

  #preemptor({ job, group }: ChosenVersion): Preemptor {
    const { wanted } = this.#nodesOf(job).assessorOf(group);
    return { wanted, preemptedLike: (use) => this.#preempted.get(likeKey(use)) ?? 0 };
  }

  #mayPreempt({ Type }: Job): boolean {
    const { PreemptionConfig: config } = this.#context.configuration;
    return Type === 'batch' ? config.BatchSchedulerEnabled : config.ServiceSchedulerEnabled;
  }

  #versionFor(placement: Placement): ChosenVersion {
    const { job, snapshot, deploymentId } = this.#context;
    const older = placement.downgrade === true ? acceptedVersion(placement, { ...snapshot, job }) : undefined;
    return older ?? { job, group: placement.group, deploymentId };
  }

  #nodesOf(job: Job): JobNodes {
    let jobNodes = this.#nodesByVersion.get(job);
    if (jobNodes === undefined) {
      jobNodes = new JobNodes(job, this.#context.proposal, this.#context.configuration);
      this.#nodesByVersion.set(job, jobNodes);
    }
    return jobNodes;
  }

  /** Nodes where the previous allocation, or one before it, failed. */
  #penalisedSlots(previous: Allocation | undefined): ReadonlySet<number> {
    if (previous === undefined) return new Set();
    const nodes = (previous.RescheduleTracker?.Events ?? []).map((event) => event.PrevNodeID);
    if (previous.ClientStatus === 'failed') nodes.push(previous.NodeID);
    const slots = nodes.map((id) => this.#context.snapshot.cluster.slotOf(id));
    return new Set(slots.filter((slot) => slot !== undefined));
  }

  /** The node that holds the previous allocation's ephemeral disk, if the group wants to keep the data. */
  #preferredSlot({ job, group }: ChosenVersion, previous: Allocation | undefined): number | undefined {
    const { snapshot } = this.#context;
    if (previous === undefined || !(group.EphemeralDisk.Sticky || group.EphemeralDisk.Migrate)) return undefined;
    const before = previous.JobVersion === job.Version ? job : snapshot.versions.get(previous.JobVersion);
    if (before === undefined || before.NodePool !== job.NodePool) return undefined;
    if (before.Datacenters.join('\n') !== job.Datacenters.join('\n')) return undefined;
    const slot = snapshot.cluster.slotOf(previous.NodeID);
    const node = snapshot.cluster.nodeOf(previous.NodeID);
    return node !== undefined && isReadyNode(node) ? slot : undefined;
  }
}

function placementFor({ allocation, group }: ReplaceIntent): Placement {
  return { name: allocation.Name, group, previous: allocation, replaces: allocation };
}

/** Of several allocations that share a name, one keeps it and the others get free names. */
function renamed(placement: Placement, { names }: Pick<Intents, 'names'>): Placement {
  const index = names.get(placement.group.Name);
  if (index === undefined || !index.isDuplicate(placement.name)) return placement;
  const [name] = index.next(1);
  index.release(placement.name);
  return name === undefined ? placement : { ...placement, name };
}

function likeKey({ namespace, jobId, group }: AllocationUse): string {
  return JSON.stringify([namespace, jobId, group]);
}

/** A failed placement, with the requested amounts of the exhausted dimensions. */
export function exhausted(metric: AllocationMetric, group: TaskGroup): AllocationMetric {
  const short = metric.DimensionExhausted;
  if (short === null) return metric;
  const known = metric.ResourcesExhausted ?? {};
  const tasks = group.Tasks.map((task): [string, ExhaustedResources] => {
    const before = Object.hasOwn(known, task.Name) ? known[task.Name] : undefined;
    const { CPU, MemoryMB } = task.Resources;
    return [
      task.Name,
      {
        ...zeroResources,
        CPU: Object.hasOwn(short, 'cpu') ? (before?.CPU ?? 0) + CPU : 0,
        MemoryMB: Object.hasOwn(short, 'memory') ? (before?.MemoryMB ?? 0) + MemoryMB : 0,
      },
    ];
  });
  return { ...metric, ResourcesExhausted: Object.fromEntries(tasks) };
}

/** One more placement of a group that was skipped because an earlier one had failed. */
function coalesced(metric: AllocationMetric, group: TaskGroup): AllocationMetric {
  return { ...exhausted(metric, group), CoalescedFailures: metric.CoalescedFailures + 1 };
}
