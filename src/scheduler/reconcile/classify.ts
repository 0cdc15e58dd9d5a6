import { type Allocation, isClientTerminal, isTerminalAllocation } from '../allocation.js';
import { examinedPerStep, finish, type Steps } from '../steps.js';
import { isExpired, lostAfter, needsReconnect, replacesDisconnected } from './reconnect.js';
import { type JobSituation, type Taint, taintOf } from './situation.js';

/** Class of an allocation by its node and by the requested transitions. */
type AllocationClass =
  /** Its node is healthy. */
  | 'untainted'
  /** It must move to another node. */
  | 'migrating'
  | 'lost'
  /** Its node is disconnected, and the group waits for it. */
  | 'disconnecting'
  /** Its node is back while the group waited for it. */
  | 'reconnecting'
  /** The wait for its node is over. */
  | 'expiring'
  | 'ignored';

type ClassifiedAllocations = Readonly<Record<AllocationClass, readonly Allocation[]>>;

export function classified(allocations: readonly Allocation[], situation: JobSituation): ClassifiedAllocations {
  return finish(classesInSteps(allocations, situation));
}

/** The same in steps. Yields now and then. */
export function* classesInSteps(
  allocations: readonly Allocation[],
  situation: JobSituation,
): Steps<ClassifiedAllocations> {
  const classes: Record<AllocationClass, Allocation[]> = {
    untainted: [],
    migrating: [],
    lost: [],
    disconnecting: [],
    reconnecting: [],
    expiring: [],
    ignored: [],
  };
  for (const [at, allocation] of allocations.entries()) {
    if (at % examinedPerStep === 0) yield;
    classes[classOf(allocation, situation)].push(allocation);
  }
  return classes;
}

/** The first rule that applies; each function below is a run of rules from the table in docs/interfaces/scheduling.md. */
function classOf(allocation: Allocation, situation: JobSituation): AllocationClass {
  const back = needsReconnect(allocation);
  if (back && allocation.DesiredStatus === 'run' && allocation.ClientStatus === 'failed') return 'reconnecting';
  return (
    (back ? undefined : classOfEnded(allocation)) ??
    classOfUnknown(allocation, situation, back) ??
    classByNode(allocation, situation, back)
  );
}

/** Requested to stop, or finished. */
function classOfEnded(allocation: Allocation): AllocationClass | undefined {
  const { Migrate, MigrateDisablePlacement } = allocation.DesiredTransition;
  if (allocation.DesiredStatus !== 'run') return MigrateDisablePlacement === true ? 'untainted' : 'ignored';
  if (isClientTerminal(allocation) && allocation.DeploymentStatus?.Canary === true && Migrate === true)
    return 'migrating';
  return isTerminalAllocation(allocation) ? 'untainted' : undefined;
}

function classOfUnknown(allocation: Allocation, situation: JobSituation, back: boolean): AllocationClass | undefined {
  if (isExpired(allocation, situation.groupOf(allocation), situation.now)) return 'expiring';
  return back && allocation.ClientStatus === 'failed' && allocation.DesiredStatus === 'stop' ? 'ignored' : undefined;
}

function classByNode(allocation: Allocation, situation: JobSituation, back: boolean): AllocationClass {
  const taint = taintOf(situation.cluster, allocation.NodeID);
  if (taint === 'disconnected') return classOnDisconnected(allocation, situation);
  if (allocation.DesiredTransition.Migrate === true) return 'migrating';
  if (taint === 'none' || taint === 'draining') return back ? 'reconnecting' : 'untainted';
  return classOnLost(allocation, situation, taint);
}

function classOnDisconnected(allocation: Allocation, situation: JobSituation): AllocationClass {
  if (allocation.ClientStatus === 'unknown') return 'untainted';
  if (allocation.ClientStatus === 'pending') return 'lost';
  return lostAfter(situation.groupOf(allocation)) === 0 ? 'lost' : 'disconnecting';
}

function classOnLost(allocation: Allocation, situation: JobSituation, taint: Taint): AllocationClass {
  if (taint === 'missing' || replacesDisconnected(situation.groupOf(allocation))) return 'lost';
  if (allocation.ClientStatus === 'unknown') return 'untainted';
  return allocation.ClientStatus === 'running' ? 'disconnecting' : 'lost';
}
