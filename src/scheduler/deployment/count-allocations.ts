import { millisecondsFromNanos } from '../../shared/duration.js';
import { type Instant, instantFromUnixNanos, isoFromInstant } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';
import type { Deployment, DeploymentState } from './deployment.js';

/**
 * The deployment after a write of one of its allocations: counters, canaries and the moment by which there has to be progress. The same
 * object when nothing changes, also for an allocation that is none of its.
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
  const next = withCanary(progressed(counted(state, joined, was, is), { joined, was, is }, after), after);
  return { ...deployment, TaskGroups: { ...deployment.TaskGroups, [after.TaskGroup]: next } };
}

type Health = boolean | null;

/** An allocation that was unhealthy once stays counted so. */
function counted(state: DeploymentState, joined: boolean, was: Health, is: Health): DeploymentState {
  const healthy = was === null && is === true ? 1 : was === true && is === false ? -1 : 0;
  return {
    ...state,
    PlacedAllocs: state.PlacedAllocs + (joined ? 1 : 0),
    HealthyAllocs: state.HealthyAllocs + healthy,
    UnhealthyAllocs: state.UnhealthyAllocs + (was !== false && is === false ? 1 : 0),
  };
}

/** The first placement starts the progress deadline, and every allocation that becomes healthy restarts it. */
function progressed(
  state: DeploymentState,
  { joined, was, is }: { readonly joined: boolean; readonly was: Health; readonly is: Health },
  after: Allocation,
): DeploymentState {
  if (state.ProgressDeadline === 0) return state;
  const before = state.RequireProgressBy === null ? undefined : Date.parse(state.RequireProgressBy);
  const deadline = millisecondsFromNanos(state.ProgressDeadline);
  const begun = joined && before === undefined ? instantFromUnixNanos(after.ModifyTime) + deadline : before;
  const healthySince = was !== true && is === true ? timestampOf(after) : undefined;
  const by = healthySince === undefined ? begun : Math.max(begun ?? 0, healthySince + deadline);
  return by === undefined || by === before ? state : { ...state, RequireProgressBy: isoFromInstant(by) };
}

/** When the health of an allocation was found out. */
function timestampOf({ DeploymentStatus }: Allocation): Instant | undefined {
  const timestamp = DeploymentStatus?.Timestamp ?? null;
  return timestamp === null ? undefined : Date.parse(timestamp);
}

function withCanary(state: DeploymentState, { ID, DeploymentStatus }: Allocation): DeploymentState {
  const placed = state.PlacedCanaries ?? [];
  if (DeploymentStatus?.Canary !== true || placed.includes(ID)) return state;
  return { ...state, PlacedCanaries: [...placed, ID] };
}
