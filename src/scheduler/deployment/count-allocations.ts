import { millisecondsFromNanos } from '../../shared/duration.js';
import { type Instant, instantFromUnixNanos, isoFromInstant } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';
import type { Deployment, DeploymentState } from './deployment.js';

/**
 * Updates the deployment after a write of one of its allocations: counters, canaries and progress deadline. Returns the same
 * object when nothing changes, and for an allocation of another deployment.
 */
export function withAllocation(deployment: Deployment, before: Allocation | undefined, after: Allocation): Deployment {
  const state = Object.hasOwn(deployment.TaskGroups, after.TaskGroup)
    ? deployment.TaskGroups[after.TaskGroup]
    : undefined;
  if (state === undefined || after.DeploymentID !== deployment.ID) return deployment;
  const joined = before === undefined || before.DeploymentID !== deployment.ID;
  const was = joined ? null : (before.DeploymentStatus?.Healthy ?? null);
  const is = after.DeploymentStatus?.Healthy ?? null;
  if (!joined && was === is) return deployment;
  const health: HealthChange = { joined, was, is };
  const next: DeploymentState = {
    ...state,
    ...countersAfter(state, health),
    RequireProgressBy: progressDeadline(state, health, after),
    PlacedCanaries: placedCanaries(state, after),
  };
  return { ...deployment, TaskGroups: { ...deployment.TaskGroups, [after.TaskGroup]: next } };
}

type Health = boolean | null;

interface HealthChange {
  /** Whether the allocation is new in the deployment. */
  readonly joined: boolean;
  readonly was: Health;
  readonly is: Health;
}

/** An allocation that was ever unhealthy stays counted as unhealthy. */
function countersAfter(
  state: DeploymentState,
  { joined, was, is }: HealthChange,
): Pick<DeploymentState, 'PlacedAllocs' | 'HealthyAllocs' | 'UnhealthyAllocs'> {
  const healthy = was === null && is === true ? 1 : was === true && is === false ? -1 : 0;
  return {
    PlacedAllocs: state.PlacedAllocs + (joined ? 1 : 0),
    HealthyAllocs: state.HealthyAllocs + healthy,
    UnhealthyAllocs: state.UnhealthyAllocs + (was !== false && is === false ? 1 : 0),
  };
}

/** The first placement starts the progress deadline, and every allocation that becomes healthy restarts it. */
function progressDeadline(
  state: DeploymentState,
  { joined, was, is }: HealthChange,
  after: Allocation,
): DeploymentState['RequireProgressBy'] {
  const before = state.RequireProgressBy;
  if (state.ProgressDeadline === 0) return before;
  const deadline = millisecondsFromNanos(state.ProgressDeadline);
  const begun = joined && before === null ? instantFromUnixNanos(after.ModifyTime) + deadline : undefined;
  const healthySince = was !== true && is === true ? timestampOf(after) : undefined;
  if (healthySince === undefined) return begun === undefined ? before : isoFromInstant(begun);
  const earlier = begun ?? (before === null ? 0 : Date.parse(before));
  const by = healthySince + deadline;
  return by > earlier ? isoFromInstant(by) : begun === undefined ? before : isoFromInstant(begun);
}

/** When the allocation's health was determined. */
function timestampOf({ DeploymentStatus }: Allocation): Instant | undefined {
  const timestamp = DeploymentStatus?.Timestamp ?? null;
  return timestamp === null ? undefined : Date.parse(timestamp);
}

function placedCanaries(
  state: DeploymentState,
  { ID, DeploymentStatus }: Allocation,
): DeploymentState['PlacedCanaries'] {
  const placed = state.PlacedCanaries;
  if (DeploymentStatus?.Canary !== true || placed?.includes(ID) === true) return placed;
  return [...(placed ?? []), ID];
}
