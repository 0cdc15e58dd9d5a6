import type { Job } from '../../../jobs/document/job.js';
import type { TaskGroup } from '../../../jobs/document/task-group.js';
import { type Allocation, isTerminalAllocation } from '../../allocation.js';
import { descriptions, type Intents } from '../intents.js';
import { allocationName } from '../names.js';
import { ranSuccessfully } from '../reschedule.js';
import { isCurrent, isExpired, type JobSituation, needsReconnect, type Taint, taintOf } from '../situation.js';

/** A group's allocation that is missing on a node. */
interface MissingOnNode {
  readonly nodeId: string;
  readonly name: string;
  /** The ended allocation that it replaces there. */
  readonly previous: Allocation | undefined;
}

/** The state of a group of a system or sysbatch job on the nodes. */
export interface SystemGroup {
  readonly group: TaskGroup;
  readonly ignored: Allocation[];
  /** Allocations of an older version; for a sysbatch job including finished ones, which run again. */
  readonly outdated: Allocation[];
  readonly reconnecting: Allocation[];
  readonly missing: MissingOnNode[];
  /** Whether any node had it when the evaluation began. */
  readonly stood: boolean;
}

interface SystemRequest {
  readonly situation: JobSituation;
  /** Undefined when the job is stopped or purged. */
  readonly job: Job | undefined;
  readonly allocations: readonly Allocation[];
  readonly nodes: SystemNodes;
  /** The nodes that should run each group. */
  readonly targets: readonly string[];
  readonly intents: Intents;
}

/** One allocation of each group per node: kept running by `system`, run to its end once per version by `sysbatch`. */
export function reconcileSystem(request: SystemRequest): ReadonlyMap<string, SystemGroup> {
  const { job, allocations, situation, intents, nodes } = request;
  const groups = new Map<string, SystemGroup>();
  for (const group of job?.TaskGroups ?? []) {
    intents.desired(group.Name);
    if (group.Count === 0) continue;
    const stood = allocations.some((one) => one.TaskGroup === group.Name && !isTerminalAllocation(one));
    groups.set(group.Name, { group, ignored: [], outdated: [], reconnecting: [], missing: [], stood });
  }
  const served = new Map<string, Set<string>>();
  for (const allocation of allocations) {
    if (isTerminalAllocation(allocation)) continue;
    const group = groups.get(allocation.TaskGroup);
    const wanted = group === undefined || isDuplicate(served, allocation) ? undefined : job;
    file(allocation, systemClassOf(allocation, wanted, situation, nodes), group, intents);
  }
  if (job !== undefined) for (const group of groups.values()) findMissing(group, job, request, served);
  return groups;
}

/** Whether the node already has an allocation of the group. */
function isDuplicate(served: Map<string, Set<string>>, { TaskGroup, NodeID }: Allocation): boolean {
  const nodes = served.get(TaskGroup) ?? new Set();
  served.set(TaskGroup, nodes);
  if (nodes.has(NodeID)) return true;
  nodes.add(NodeID);
  return false;
}

function file(allocation: Allocation, kind: SystemClass, group: SystemGroup | undefined, intents: Intents): void {
  const desired = intents.desired(allocation.TaskGroup);
  switch (kind) {
    case 'stopped':
      desired.Stop += 1;
      intents.stopAll([allocation], descriptions.notNeeded);
      return;
    case 'migrating':
      desired.Migrate += 1;
      intents.stopAll([allocation], descriptions.nodeTainted);
      return;
    case 'lost':
      intents.stopAll([allocation], descriptions.lost, 'lost');
      return;
    case 'disconnecting':
      desired.Disconnect += 1;
      intents.unknown.push({ allocation, followupEvalId: undefined });
      return;
    case 'reconnecting':
      desired.Reconnect += 1;
      intents.reconnected.push(allocation);
      group?.reconnecting.push(allocation);
      return;
    case 'outdated':
      group?.outdated.push(allocation);
      return;
    case 'ignored':
      desired.Ignore += 1;
      group?.ignored.push(allocation);
  }
}

/** Nodes without a live allocation of the group. Work that a sysbatch job has finished there in this version is not repeated. */
function findMissing(
  group: SystemGroup,
  job: Job,
  { targets, allocations, intents }: SystemRequest,
  served: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  const name = allocationName(job.ID, group.group.Name, 0);
  const ended = lastEnded(allocations, group.group.Name);
  for (const nodeId of targets) {
    if (served.get(group.group.Name)?.has(nodeId) === true) continue;
    const previous = ended.get(nodeId);
    if (job.Type !== 'sysbatch' || previous === undefined) group.missing.push({ nodeId, name, previous });
    else if (!isCurrent(previous, job)) group.outdated.push(previous);
    else {
      intents.desired(group.group.Name).Ignore += 1;
      group.ignored.push(previous);
    }
  }
}

/** By node: the newest ended allocation of the group. */
function lastEnded(allocations: readonly Allocation[], group: string): ReadonlyMap<string, Allocation> {
  const ended = new Map<string, Allocation>();
  for (const allocation of allocations) {
    if (allocation.TaskGroup !== group || !isTerminalAllocation(allocation)) continue;
    const known = ended.get(allocation.NodeID);
    if (known === undefined || allocation.CreateIndex >= known.CreateIndex) ended.set(allocation.NodeID, allocation);
  }
  return ended;
}

/** Class of an allocation of a system or sysbatch job that has not ended. */
type SystemClass =
  | 'stopped'
  /** Its node is draining; no other node is an alternative. */
  | 'migrating'
  | 'lost'
  /** Its node is disconnected. */
  | 'disconnecting'
  | 'reconnecting'
  /** It runs an older version. */
  | 'outdated'
  | 'ignored';

/** Which nodes the job may use: `ready` nodes in general, `target` also limited to its pool and datacenters. */
interface SystemNodes {
  readonly isReady: (nodeId: string) => boolean;
  readonly isTarget: (nodeId: string) => boolean;
}

/** The first rule that applies. `job` is undefined when the job no longer wants the group, or is stopped. */
function systemClassOf(
  allocation: Allocation,
  job: Job | undefined,
  situation: JobSituation,
  nodes: SystemNodes,
): SystemClass {
  if (job === undefined) return 'stopped';
  if (allocation.DesiredTransition.Migrate === true) return 'migrating';
  const back = needsReconnect(allocation);
  if (back && isExpired(allocation, situation.groupOf(allocation), situation.now)) return 'lost';
  if (allocation.ClientStatus === 'unknown') return 'ignored';
  const taint = taintOf(situation.cluster, allocation.NodeID);
  if (taint !== 'none') return classOnTainted(allocation, taint);
  return back ? 'reconnecting' : classOnSound(allocation, job, nodes);
}

function classOnTainted(allocation: Allocation, taint: Taint): SystemClass {
  if (allocation.JobType === 'sysbatch' && ranSuccessfully(allocation)) return 'ignored';
  if (taint === 'disconnected' && allocation.ClientStatus === 'running') return 'disconnecting';
  return taint === 'missing' || taint === 'down' ? 'lost' : 'ignored';
}

function classOnSound(allocation: Allocation, job: Job, { isReady, isTarget }: SystemNodes): SystemClass {
  const current = isCurrent(allocation, job);
  if (!isReady(allocation.NodeID)) return current ? 'ignored' : 'stopped';
  if (!isTarget(allocation.NodeID)) return 'stopped';
  return current ? 'ignored' : 'outdated';
}
