import type { TaskGroup } from '../../jobs/document/task-group.js';
import { own } from '../../shared/values.js';
import type { AllocatedResources, AllocatedTaskResources } from '../allocated-resources.js';
import type { Allocation } from '../allocation.js';
import type { AllocationMetric } from '../allocation-metric.js';
import { capacityOf, capacityUsedBy, sameCapacity, useOf } from '../cluster/capacity.js';
import type { JobProposal } from '../ranking/job-proposal.js';
import type { Intents, ReplaceIntent, StopIntent } from '../reconcile/intents.js';
import { changeInSteps, type Steps } from '../steps.js';
import type { JobNodes } from './job-nodes.js';
import {
  becameUnknown,
  jobMembers,
  type PlanWrite,
  preempted,
  reconnected,
  stamped,
  stopped,
} from './new-allocation.js';

/** An allocation that was preempted for another one. */
interface PreemptedAllocation {
  readonly before: Allocation;
  readonly by: string;
}

/** The allocations that an evaluation changes and creates, while it is being decided. */
export class PlanDraft {
  readonly #changed = new Map<string, Allocation>();
  readonly #placed: Allocation[] = [];
  readonly #preempted: PreemptedAllocation[] = [];
  readonly #failed = new Map<string, AllocationMetric>();
  readonly #queued = new Map<string, number>();
  #measuredUntil: number;

  constructor(readonly write: PlanWrite) {
    this.#measuredUntil = write.stopwatch?.() ?? 0;
  }

  /** The allocation with the planned changes. */
  latest(allocation: Allocation): Allocation {
    return this.#changed.get(allocation.ID) ?? allocation;
  }

  change(allocation: Allocation): void {
    this.#changed.set(allocation.ID, stamped(allocation, this.write));
  }

  stop(intent: StopIntent): void {
    this.change(stopped(this.latest(intent.allocation), intent, this.write));
  }

  /** Reverts the allocation to its state in the snapshot. */
  forget(allocation: Allocation): void {
    this.#changed.delete(allocation.ID);
  }

  place(allocation: Allocation): void {
    this.#placed.push(allocation);
  }

  preempt(before: Allocation, by: string): void {
    this.#preempted.push({ before, by });
    this.change(preempted(before, by));
  }

  queue(group: string, by: number): void {
    this.#queued.set(group, (this.#queued.get(group) ?? 0) + by);
  }

  queuedOf(group: string): number {
    return this.#queued.get(group) ?? 0;
  }

  hasPlaced(group: string): boolean {
    return this.#placed.some(({ TaskGroup }) => TaskGroup === group);
  }

  fail(group: string, metric: AllocationMetric): void {
    this.#failed.set(group, metric);
  }

  /** The metric with the time since the previous measured one, or since the beginning. */
  measured(metric: AllocationMetric): AllocationMetric {
    const { stopwatch } = this.write;
    if (stopwatch === undefined) return metric;
    const from = this.#measuredUntil;
    this.#measuredUntil = stopwatch();
    return { ...metric, AllocationTime: Math.round(this.#measuredUntil - from) };
  }

  failureOf(group: string): AllocationMetric | undefined {
    return this.#failed.get(group);
  }

  get placed(): readonly Allocation[] {
    return this.#placed;
  }

  get preempted(): readonly PreemptedAllocation[] {
    return this.#preempted;
  }

  /** All records to write. */
  get allocations(): readonly Allocation[] {
    return [...this.#changed.values(), ...this.#placed];
  }

  get failed(): Readonly<Record<string, AllocationMetric>> | undefined {
    return this.#failed.size === 0 ? undefined : Object.fromEntries(this.#failed);
  }

  /** By group: allocations that have no node yet. */
  get queued(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#queued);
  }
}

interface IntentTarget {
  readonly draft: PlanDraft;
  readonly proposal: JobProposal;
  readonly jobNodes: JobNodes | undefined;
  /** The deployment that updated allocations belong to. */
  readonly deploymentId: string | undefined;
}

/** Everything that needs no node: stops, marks and in-place updates. Yields now and then. */
export function* applyIntents(intents: Intents, target: IntentTarget): Steps<void> {
  const { draft, jobNodes } = target;
  yield* changeInSteps(intents.stop, (intent) => applyStop(intent, target));
  yield* changeInSteps(intents.unknown, ({ allocation, followupEvalId }) =>
    draft.change(becameUnknown(draft.latest(allocation), followupEvalId, draft.write)),
  );
  yield* changeInSteps(intents.reconnected, (allocation) =>
    draft.change(reconnected(draft.latest(allocation), draft.write)),
  );
  if (jobNodes !== undefined)
    yield* changeInSteps(intents.inPlace, (intent) => updateInPlace(intent, jobNodes, target));
}

/** Allocations that wait for their replacement name the evaluation that will create it. */
export function applyFollowups(
  intents: Intents,
  allocations: Iterable<Allocation>,
  { draft, proposal }: Pick<IntentTarget, 'draft' | 'proposal'>,
): void {
  if (intents.followups.size === 0) return;
  for (const allocation of allocations) {
    const followup = intents.followups.get(allocation.ID);
    if (followup === undefined) continue;
    draft.change({ ...draft.latest(allocation), FollowupEvalID: followup });
    proposal.keepInPlace(allocation);
  }
}

export function applyStop(intent: StopIntent, { draft, proposal }: Pick<IntentTarget, 'draft' | 'proposal'>): void {
  draft.stop(intent);
  proposal.release(intent.allocation);
}

function updateInPlace({ allocation, group }: ReplaceIntent, jobNodes: JobNodes, target: IntentTarget): void {
  const { draft, proposal, deploymentId } = target;
  const before = draft.latest(allocation);
  const AllocatedResources = underVersion(before.AllocatedResources, jobNodes.assessorOf(group).wanted.resources);
  const { JobType, JobVersion, JobCreateIndex, JobPriority, MigrateParallel } = jobMembers(jobNodes.job, group);
  const EvalID = draft.write.evaluationId;
  // Written out member by member: with thousands of allocations, copying and spreading dominates the cost of an in-place update.
  const moved: { -readonly [K in keyof Allocation]: Allocation[K] } = {
    ...withoutFormer(before, deploymentId),
    ...{ EvalID, JobType, JobVersion, JobCreateIndex, AllocatedResources },
  };
  if (JobPriority !== undefined) moved.JobPriority = JobPriority;
  if (MigrateParallel !== undefined) moved.MigrateParallel = MigrateParallel;
  if (deploymentId !== undefined) moved.DeploymentID = deploymentId;
  draft.change(moved);
  if (takesOtherRoom(allocation, AllocatedResources)) takeRoom(allocation, AllocatedResources, proposal);
}

/**
 * Counts an allocation that is updated in place with the group's current resources, so that later placements see what is left.
 */
export function takeRoomInPlace(
  allocation: Allocation,
  group: TaskGroup,
  { jobNodes, proposal }: { readonly jobNodes: JobNodes; readonly proposal: JobProposal },
): void {
  const resources = underVersion(allocation.AllocatedResources, jobNodes.assessorOf(group).wanted.resources);
  if (takesOtherRoom(allocation, resources)) takeRoom(allocation, resources, proposal);
}

function takeRoom(allocation: Allocation, AllocatedResources: AllocatedResources, proposal: JobProposal): void {
  const use = useOf({ ...allocation, AllocatedResources });
  if (use !== undefined) proposal.resize(allocation, use);
}

/** Clears what the previous version may have set; in another deployment its health starts over. */
function withoutFormer(allocation: Allocation, deploymentId: string | undefined): Allocation {
  const { MigrateParallel, DeploymentID, DeploymentStatus } = allocation;
  const moves = DeploymentID !== deploymentId && (DeploymentID ?? DeploymentStatus) !== undefined;
  if (MigrateParallel === undefined && !moves) return allocation;
  const { MigrateParallel: _parallel, ...rest } = allocation;
  if (!moves) return rest;
  const { DeploymentID: _deployment, DeploymentStatus: _status, ...others } = rest;
  return others;
}

/** The resources that the new version requests; what was picked for the allocation on its node is kept. */
function underVersion(before: AllocatedResources, asked: AllocatedResources): AllocatedResources {
  const { Networks, Ports } = before.Shared;
  const all = Object.entries(asked.Tasks);
  const picked = Networks !== null || Ports !== null || all.some(([name]) => hasPicked(own(before.Tasks, name)));
  if (!picked) return asked;
  const tasks = all.map(([name, task]) => [name, keepingPicked(task, own(before.Tasks, name))] as const);
  return {
    Tasks: Object.fromEntries(tasks),
    TaskLifecycles: asked.TaskLifecycles,
    Shared: { Networks, Ports, DiskMB: asked.Shared.DiskMB },
  };
}

function hasPicked(task: AllocatedTaskResources | undefined): boolean {
  return task !== undefined && (task.Cpu.ReservedCores ?? task.Networks ?? task.Devices) !== null;
}

function keepingPicked(
  asked: AllocatedTaskResources,
  before: AllocatedTaskResources | undefined,
): AllocatedTaskResources {
  if (before === undefined) return asked;
  const Cpu = before.Cpu.ReservedCores === null ? asked.Cpu : before.Cpu;
  return { ...asked, Cpu, Networks: before.Networks, Devices: before.Devices };
}

function takesOtherRoom(allocation: Allocation, resources: AllocatedResources): boolean {
  return !sameCapacity(capacityUsedBy(allocation), capacityOf(resources));
}
