import type { Job } from '../jobs/document/job.js';
import type { TaskGroup } from '../jobs/document/task-group.js';
import { type Instant, isoFromInstant, unixNanosFromInstant } from '../shared/instant.js';
import { type Allocation, isTerminalAllocation, noTransition } from './allocation.js';
import type { AllocationMetric } from './allocation-metric.js';
import type { Evaluation } from './evaluation.js';
import { candidateNodes, infeasibility, type PlacementAsk, placementAsk } from './feasibility/placement-ask.js';
import type { Node } from './node.js';
import { type Capacity, capacityUsedBy, noCapacity, subtractCapacity } from './node-usage.js';
import { type ClusterState, NodeFinder } from './ranking/node-finder.js';
import {
  descriptions,
  type GroupIntents,
  type LaterIntent,
  type PlaceIntent,
  type StopIntent,
} from './reconcile/intents.js';
import { reconcileGroup } from './reconcile/reconcile-group.js';
import { reconcileSystemGroup } from './reconcile/reconcile-system-group.js';
import { trackerAfterReschedule } from './reconcile/reschedule.js';
import { keepsRunning } from './reconcile/same-tasks.js';

/** What one evaluation is decided on. */
export interface SchedulingSnapshot {
  /** The job as registered now; undefined when it was purged. */
  readonly job: Job | undefined;
  /** Every allocation of the job, finished ones too. */
  readonly allocations: readonly Allocation[];
  /** Older versions of the job that its allocations may run, by version. */
  readonly versions: ReadonlyMap<number, Job>;
  readonly nodes: readonly Node[];
  /** Capacity in use by node id. */
  readonly used: ReadonlyMap<string, Capacity>;
  /** The index of the write that will hold the result. */
  readonly index: number;
}

/** Where the identifiers of new records come from. */
export interface SchedulingIds {
  next(kind: 'allocation' | 'evaluation'): string;
}

/** What to write. Every record is complete. */
export interface SchedulingResult {
  /** Changed and new allocations. A changed one has its old state in the snapshot. */
  readonly allocations: readonly Allocation[];
  /** The evaluation as it ends: complete, or blocked again. */
  readonly evaluation: Evaluation;
  /** A blocked evaluation for what found no place, and pending ones for later reschedules. */
  readonly followUps: readonly Evaluation[];
}

/** Groups of follow-ups whose times are this close share one evaluation. */
const followUpWindow = 5000;

/** Brings a job's allocations to what the job wants, as far as the nodes have room. Pure: same arguments, same result. */
export function schedule(
  snapshot: SchedulingSnapshot,
  evaluation: Evaluation,
  now: Instant,
  ids: SchedulingIds,
): SchedulingResult {
  const plan = new Plan(snapshot, evaluation, now, ids);
  const job = snapshot.job;
  if (job === undefined || job.Stop) {
    plan.stopAll();
    return plan.finish([]);
  }
  for (const name of new Set(snapshot.allocations.map((allocation) => allocation.TaskGroup))) {
    if (!job.TaskGroups.some((group) => group.Name === name)) plan.stopAll(name);
  }
  for (const group of job.TaskGroups) plan.apply(job, group);
  return plan.finish(job.TaskGroups.map((group) => group.Name));
}

class Plan {
  readonly #snapshot: SchedulingSnapshot;
  readonly #evaluation: Evaluation;
  readonly #now: Instant;
  readonly #ids: SchedulingIds;
  readonly #changed = new Map<string, Allocation>();
  readonly #cluster: ClusterState;
  readonly #nodesById: ReadonlyMap<string, Node>;
  readonly #candidates: readonly Node[];
  readonly #failed: Record<string, AllocationMetric> = {};
  readonly #queued: Record<string, number> = {};
  readonly #later: LaterIntent[] = [];

  constructor(snapshot: SchedulingSnapshot, evaluation: Evaluation, now: Instant, ids: SchedulingIds) {
    this.#snapshot = snapshot;
    this.#evaluation = evaluation;
    this.#now = now;
    this.#ids = ids;
    this.#nodesById = new Map(snapshot.nodes.map((node) => [node.ID, node]));
    this.#candidates = snapshot.job === undefined ? [] : candidateNodes(snapshot.job, snapshot.nodes);
    this.#cluster = { used: new Map(snapshot.used), ofJob: new Map() };
    for (const allocation of snapshot.allocations) {
      if (!isTerminalAllocation(allocation)) this.#countOfJob(allocation, 1);
    }
  }

  stopAll(group?: string): void {
    for (const allocation of this.#snapshot.allocations) {
      if (group !== undefined && allocation.TaskGroup !== group) continue;
      if (isTerminalAllocation(allocation)) continue;
      const lost = this.#isNodeLost(allocation.NodeID);
      this.#stop({
        allocation,
        description: lost ? descriptions.lost : descriptions.notNeeded,
        ...(lost ? { clientStatus: 'lost' as const } : {}),
      });
    }
  }

  apply(job: Job, group: TaskGroup): void {
    const ask = placementAsk(job, group);
    const intents = this.#reconcile(job, group, ask);
    this.#queued[group.Name] = 0;
    for (const intent of intents.stop) this.#stop(intent);
    for (const allocation of intents.inPlace) this.#keep(job, ask, allocation);
    this.#later.push(...intents.later);
    this.#place(job, group, ask, intents.place);
  }

  finish(groups: readonly string[]): SchedulingResult {
    const evaluation = this.#evaluation;
    const followUps: Evaluation[] = [];
    const failed = Object.keys(this.#failed).length > 0;
    const base = {
      ...evaluation,
      ModifyIndex: this.#snapshot.index,
      ModifyTime: this.#nanos(),
      SnapshotIndex: this.#snapshot.index,
    };
    const outcome = {
      ...(failed ? { FailedTGAllocs: this.#failed } : {}),
      QueuedAllocations: Object.fromEntries(groups.map((group) => [group, this.#queued[group] ?? 0])),
    };
    if (failed && evaluation.Status === 'blocked') {
      return {
        allocations: [...this.#changed.values()],
        evaluation: { ...base, ...outcome },
        followUps: this.#scheduleLater(followUps),
      };
    }
    let finished: Evaluation = { ...withoutFailures(base), ...outcome, Status: 'complete', StatusDescription: '' };
    if (failed) {
      const blocked = this.#followUp('queued-allocs', {
        Status: 'blocked',
        FailedTGAllocs: this.#failed,
        SnapshotIndex: this.#snapshot.index,
      });
      followUps.push(blocked);
      finished = { ...finished, BlockedEval: blocked.ID };
    }
    this.#scheduleLater(followUps);
    const last = followUps.findLast((followUp) => followUp.WaitUntil !== undefined);
    return {
      allocations: [...this.#changed.values()],
      evaluation: last === undefined ? finished : { ...finished, NextEval: last.ID },
      followUps,
    };
  }

  #reconcile(job: Job, group: TaskGroup, ask: PlacementAsk): GroupIntents {
    const situation = {
      job,
      group,
      allocations: this.#snapshot.allocations.filter(
        (allocation) => allocation.TaskGroup === group.Name && allocation.JobCreateIndex === job.CreateIndex,
      ),
      evaluationId: this.#evaluation.ID,
      now: this.#now,
      isNodeLost: (nodeId: string) => this.#isNodeLost(nodeId),
      canStay: (allocation: Allocation) => this.#canStay(job, group, ask, allocation),
    };
    if (job.Type !== 'system' && job.Type !== 'sysbatch') return reconcileGroup(situation);
    const nodes = this.#candidates.filter((node) => infeasibility(ask, node) === undefined);
    return reconcileSystemGroup({ ...situation, nodes });
  }

  #canStay(job: Job, group: TaskGroup, ask: PlacementAsk, allocation: Allocation): boolean {
    const before = this.#snapshot.versions.get(allocation.JobVersion);
    const oldGroup = before?.TaskGroups.find((candidate) => candidate.Name === group.Name);
    if (before === undefined || oldGroup === undefined || !keepsRunning(before, oldGroup, job, group)) return false;
    const node = this.#candidates.find((candidate) => candidate.ID === allocation.NodeID);
    return node !== undefined && infeasibility(ask, node) === undefined;
  }

  #place(job: Job, group: TaskGroup, ask: PlacementAsk, places: readonly PlaceIntent[]): void {
    if (places.length === 0) return;
    const finder = new NodeFinder(this.#candidates, job.NodePool, ask, group.Name, group.Count, this.#cluster);
    for (const [position, intent] of places.entries()) {
      if (intent.replaces !== null) this.#stop(intent.replaces);
      const placement = this.#finderFor(intent, job, group, ask, finder).place(nodesToAvoid(intent.previous));
      if (placement.type === 'placed') {
        this.#create(job, group, ask, intent, placement.node, placement.metric);
        continue;
      }
      if (intent.replaces !== null) this.#takeBack(intent.replaces);
      const waiting = places.length - position;
      const before = this.#failed[group.Name];
      if (intent.nodeId !== null) {
        this.#queued[group.Name] = (this.#queued[group.Name] ?? 0) + 1;
        this.#failed[group.Name] = {
          ...placement.metric,
          CoalescedFailures: before === undefined ? 0 : before.CoalescedFailures + 1,
        };
        continue;
      }
      this.#queued[group.Name] = waiting;
      this.#failed[group.Name] = { ...placement.metric, CoalescedFailures: waiting - 1 };
      return;
    }
  }

  #finderFor(intent: PlaceIntent, job: Job, group: TaskGroup, ask: PlacementAsk, finder: NodeFinder): NodeFinder {
    if (intent.nodeId === null) return finder;
    const only = this.#candidates.filter((node) => node.ID === intent.nodeId);
    return new NodeFinder(only, job.NodePool, ask, group.Name, group.Count, this.#cluster);
  }

  #create(
    job: Job,
    group: TaskGroup,
    ask: PlacementAsk,
    intent: PlaceIntent,
    node: Node,
    metric: AllocationMetric,
  ): void {
    const { index } = this.#snapshot;
    const { previous } = intent;
    const created: Allocation = {
      ID: this.#ids.next('allocation'),
      Namespace: job.Namespace,
      EvalID: this.#evaluation.ID,
      Name: intent.name,
      NodeID: node.ID,
      NodeName: node.Name,
      JobID: job.ID,
      JobType: job.Type,
      JobVersion: job.Version,
      JobCreateIndex: job.CreateIndex,
      TaskGroup: group.Name,
      AllocatedResources: ask.resources,
      Metrics: metric,
      DesiredStatus: 'run',
      DesiredTransition: noTransition,
      ClientStatus: 'pending',
      ...(previous === null ? {} : { PreviousAllocation: previous.ID }),
      ...this.#trackerOf(intent, group),
      CreateIndex: index,
      ModifyIndex: index,
      AllocModifyIndex: index,
      CreateTime: this.#nanos(),
      ModifyTime: this.#nanos(),
    };
    this.#changed.set(created.ID, created);
    if (previous === null) return;
    const latest = this.#changed.get(previous.ID) ?? previous;
    const tracker = intent.reschedule
      ? { RescheduleTracker: { Events: latest.RescheduleTracker?.Events ?? null, LastReschedule: 'ok' as const } }
      : {};
    this.#change({ ...latest, NextAllocation: created.ID, ...tracker });
  }

  #trackerOf({ previous, reschedule }: PlaceIntent, group: TaskGroup): Pick<Allocation, 'RescheduleTracker'> {
    if (previous === null) return {};
    if (reschedule) return { RescheduleTracker: trackerAfterReschedule(previous, group.ReschedulePolicy, this.#now) };
    return previous.RescheduleTracker === undefined ? {} : { RescheduleTracker: previous.RescheduleTracker };
  }

  #keep(job: Job, ask: PlacementAsk, allocation: Allocation): void {
    this.#change({
      ...allocation,
      EvalID: this.#evaluation.ID,
      JobVersion: job.Version,
      AllocatedResources: ask.resources,
    });
  }

  #stop({ allocation, description, clientStatus }: StopIntent): void {
    const stopped: Allocation = { ...allocation, DesiredStatus: 'stop', DesiredDescription: description };
    this.#change(
      clientStatus === undefined ? stopped : { ...stopped, ClientStatus: clientStatus, ClientDescription: description },
    );
    this.#release(allocation, 1);
  }

  #takeBack({ allocation }: StopIntent): void {
    this.#changed.delete(allocation.ID);
    this.#release(allocation, -1);
  }

  /** `sign` 1 gives the node back what the allocation uses, −1 takes it again. */
  #release(allocation: Allocation, sign: 1 | -1): void {
    const use = capacityUsedBy(allocation);
    const used = this.#cluster.used.get(allocation.NodeID) ?? noCapacity;
    const change = { cpu: sign * use.cpu, memory: sign * use.memory, disk: sign * use.disk };
    this.#cluster.used.set(allocation.NodeID, subtractCapacity(used, change));
    if (!isTerminalAllocation(allocation)) this.#countOfJob(allocation, -sign);
  }

  #countOfJob(allocation: Allocation, amount: number): void {
    const groups = this.#cluster.ofJob.get(allocation.NodeID) ?? new Map<string, number>();
    groups.set(allocation.TaskGroup, (groups.get(allocation.TaskGroup) ?? 0) + amount);
    this.#cluster.ofJob.set(allocation.NodeID, groups);
  }

  #change(allocation: Allocation): void {
    const { index } = this.#snapshot;
    this.#changed.set(allocation.ID, {
      ...allocation,
      ModifyIndex: index,
      AllocModifyIndex: index,
      ModifyTime: this.#nanos(),
    });
  }

  #scheduleLater(followUps: Evaluation[]): Evaluation[] {
    const sorted = [...this.#later].sort((left, right) => left.at - right.at);
    let batch: { readonly until: Instant; readonly evaluation: Evaluation } | undefined;
    for (const { allocation, at } of sorted) {
      if (batch === undefined || at > batch.until) {
        const trigger = batch === undefined ? 'alloc-reschedule' : 'alloc-failure';
        const evaluation = this.#followUp(trigger, { Status: 'pending', WaitUntil: isoFromInstant(at) });
        followUps.push(evaluation);
        batch = { until: at + followUpWindow, evaluation };
      }
      this.#change({ ...(this.#changed.get(allocation.ID) ?? allocation), FollowupEvalID: batch.evaluation.ID });
    }
    return followUps;
  }

  #followUp(
    trigger: Evaluation['TriggeredBy'],
    particular: Pick<Evaluation, 'Status'> &
      Partial<Pick<Evaluation, 'WaitUntil' | 'FailedTGAllocs' | 'SnapshotIndex'>>,
  ): Evaluation {
    const { ID, Namespace, Priority, Type, JobID, JobModifyIndex } = this.#evaluation;
    return {
      ID: this.#ids.next('evaluation'),
      Namespace,
      Priority,
      Type,
      TriggeredBy: trigger,
      JobID,
      ...(JobModifyIndex === undefined ? {} : { JobModifyIndex }),
      PreviousEval: ID,
      ...particular,
      CreateIndex: this.#snapshot.index,
      ModifyIndex: this.#snapshot.index,
      CreateTime: this.#nanos(),
      ModifyTime: this.#nanos(),
    };
  }

  #isNodeLost(nodeId: string): boolean {
    const node = this.#nodesById.get(nodeId);
    return node === undefined || node.Status === 'down';
  }

  #nanos(): number {
    return unixNanosFromInstant(this.#now);
  }
}

function withoutFailures(evaluation: Evaluation): Evaluation {
  const { FailedTGAllocs: _failures, ...rest } = evaluation;
  return rest;
}

/** Nodes where the predecessor, or one before it, has just failed. */
function nodesToAvoid(previous: Allocation | null): ReadonlySet<string> {
  if (previous === null) return new Set();
  const nodes = new Set((previous.RescheduleTracker?.Events ?? []).map((event) => event.PrevNodeID));
  if (previous.ClientStatus === 'failed') nodes.add(previous.NodeID);
  return nodes;
}
