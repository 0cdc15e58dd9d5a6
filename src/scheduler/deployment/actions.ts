import { err, ok, type Result } from 'neverthrow';
import { errorsText } from '../../jobs/validation/problems.js';
import { type Instant, isoFromInstant, unixNanosFromInstant, type WriteStamp } from '../../shared/instant.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import { withAllocation } from './count-allocations.js';
import {
  type Deployment,
  type DeploymentState,
  type DeploymentStatus,
  deploymentDescriptions,
  isActiveDeployment,
} from './deployment.js';
import type { DeploymentError } from './deployment-errors.js';

/** The records that an action changed. Complete, not partial. */
export interface DeploymentChange {
  readonly deployment: Deployment;
  readonly allocations: readonly Allocation[];
  /** Whether the job must be evaluated. */
  readonly evaluates: boolean;
}

/** Pauses the deployment: nothing is replaced or added until it is resumed. Restarts the progress deadline. */
export function pauseDeployment(deployment: Deployment, write: WriteStamp): Result<DeploymentChange, DeploymentError> {
  const { paused } = deploymentDescriptions;
  return whenActive(deployment, 'pause').map(() =>
    changed(withFreshDeadlines(deployment, write), 'paused', paused, write),
  );
}

export function resumeDeployment(deployment: Deployment, write: WriteStamp): Result<DeploymentChange, DeploymentError> {
  const { running } = deploymentDescriptions;
  return whenActive(deployment, 'resume').map(() => ({
    ...changed(withFreshDeadlines(deployment, write), 'running', running, write),
    evaluates: true,
  }));
}

/** Promotes the canaries of the groups, or of all: older allocations may then be replaced. Groups without canaries are skipped. */
export function promoteDeployment(
  deployment: Deployment,
  canaries: readonly Allocation[],
  groups: readonly string[] | undefined,
  write: WriteStamp,
): Result<DeploymentChange, DeploymentError> {
  const chosen = groups ?? Object.keys(deployment.TaskGroups);
  return whenActive(deployment, 'promote')
    .andThen(() => knownGroups(deployment, chosen))
    .andThen(() => healthyCanaries(deployment, canaries, chosen))
    .map((healthy) => promoted(deployment, healthy, chosen, write));
}

/**
 * Sets allocation health. One unhealthy allocation fails the deployment. If an allocation is listed more than once, the last mention
 * counts. `allocations`: the listed allocations.
 */
export function setAllocationHealth(
  deployment: Deployment,
  allocations: readonly Allocation[],
  health: { readonly healthy: readonly string[]; readonly unhealthy: readonly string[] },
  write: WriteStamp,
): Result<DeploymentChange & { readonly unhealthyGroups: readonly string[] }, DeploymentError> {
  if (health.healthy.length + health.unhealthy.length === 0) {
    return err({ type: 'no_allocations', message: 'Name at least one allocation whose health is known' });
  }
  return whenActive(deployment, 'set health of allocations for a').andThen(() => {
    const byId = new Map(allocations.map((allocation) => [allocation.ID, allocation]));
    const changes = new Map<string, Allocation>();
    let counted = deployment;
    for (const [ids, isHealthy] of [
      [health.healthy, true],
      [health.unhealthy, false],
    ] as const) {
      for (const id of ids) {
        const before = changes.get(id) ?? byId.get(id);
        if (before === undefined || before.DeploymentID !== deployment.ID) return err(notOfDeployment(deployment, id));
        const after = withHealth(before, isHealthy, write);
        counted = withAllocation(counted, before, after);
        changes.set(id, after);
      }
    }
    const unhealthyGroups = [...new Set(health.unhealthy.map((id) => byId.get(id)?.TaskGroup ?? ''))];
    return ok({
      deployment: stamped(counted, write),
      allocations: [...changes.values()],
      evaluates: true,
      unhealthyGroups,
    });
  });
}

/** The allocation with its health set, with the times and indexes of the write. */
export function withHealth(allocation: Allocation, healthy: boolean, { now, index }: WriteStamp): Allocation {
  return {
    ...allocation,
    DeploymentStatus: {
      Healthy: healthy,
      Timestamp: isoFromInstant(now),
      Canary: allocation.DeploymentStatus?.Canary ?? false,
      ModifyIndex: index,
    },
    ModifyIndex: index,
    ModifyTime: unixNanosFromInstant(now),
  };
}

/** The deployment with another status. */
export function changed(
  deployment: Deployment,
  status: DeploymentStatus,
  description: string,
  write: WriteStamp,
): DeploymentChange {
  const after = { ...deployment, Status: status, StatusDescription: description };
  return { deployment: stamped(after, write), allocations: [], evaluates: false };
}

/** Refuses actions on an ended deployment. `verb` names the action in the message. */
export function whenActive(deployment: Deployment, verb: string): Result<undefined, DeploymentError> {
  if (isActiveDeployment(deployment)) return ok(undefined);
  const { ID: deploymentId, Status: status } = deployment;
  const message = `can't ${verb} terminal deployment`;
  return err({ type: 'deployment_over', deploymentId, status, message });
}

function withFreshDeadlines(deployment: Deployment, { now }: WriteStamp): Deployment {
  return mapStates(deployment, (state) =>
    state.ProgressDeadline === 0 ? state : { ...state, RequireProgressBy: progressBy(state, now) },
  );
}

function promoted(
  deployment: Deployment,
  healthy: readonly Allocation[],
  groups: readonly string[],
  write: WriteStamp,
): DeploymentChange {
  const { now, index } = write;
  const next = mapStates(deployment, (state, name) => {
    if (!groups.includes(name)) return state;
    const restarted = state.RequireProgressBy === null ? {} : { RequireProgressBy: progressBy(state, now) };
    return { ...state, Promoted: true, ...restarted };
  });
  const waits = Object.values(next.TaskGroups).some((state) => state.DesiredCanaries > 0 && !state.Promoted);
  const description = waits ? deployment.StatusDescription : deploymentDescriptions.running;
  const allocations = healthy.map((canary) => ({
    ...canary,
    ...(canary.DeploymentStatus === undefined
      ? {}
      : { DeploymentStatus: { ...canary.DeploymentStatus, Canary: false } }),
    ModifyIndex: index,
    ModifyTime: unixNanosFromInstant(now),
  }));
  return { deployment: stamped({ ...next, StatusDescription: description }, write), allocations, evaluates: true };
}

function progressBy({ ProgressDeadline }: DeploymentState, now: Instant): string {
  return isoFromInstant(now + ProgressDeadline / 1_000_000);
}

function knownGroups(deployment: Deployment, groups: readonly string[]): Result<undefined, DeploymentError> {
  const unknown = groups.find((group) => !Object.hasOwn(deployment.TaskGroups, group));
  if (unknown === undefined) return ok(undefined);
  const message = `Deployment "${deployment.ID}" has no group "${unknown}"`;
  return err({ type: 'unknown_deployment_group', group: unknown, message });
}

/** The healthy canaries of the groups, or an error that says how many are missing. */
function healthyCanaries(
  deployment: Deployment,
  placed: readonly Allocation[],
  groups: readonly string[],
): Result<readonly Allocation[], DeploymentError> {
  const all: Allocation[] = [];
  const missing: { group: string; healthy: number; wanted: number }[] = [];
  for (const [group, state] of Object.entries(deployment.TaskGroups)) {
    if (!groups.includes(group) || state.DesiredCanaries === 0) continue;
    const canaries = healthyOf(state, placed);
    if (canaries.length < state.DesiredCanaries) {
      missing.push({ group, healthy: canaries.length, wanted: state.DesiredCanaries });
    }
    all.push(...canaries);
  }
  if (missing.length === 0) return ok(all);
  const texts = missing.map(
    ({ group, healthy, wanted }) => `Task group "${group}" has ${healthy}/${wanted} healthy allocations`,
  );
  const message = errorsText(texts);
  return err({ type: 'canaries_not_healthy', groups: missing, message });
}

/** Placed canaries that are healthy and live. */
export function healthyOf(state: DeploymentState, allocations: readonly Allocation[]): readonly Allocation[] {
  const placed = new Set(state.PlacedCanaries ?? []);
  return allocations.filter(
    (allocation) =>
      placed.has(allocation.ID) && !isTerminalAllocation(allocation) && allocation.DeploymentStatus?.Healthy === true,
  );
}

function notOfDeployment({ ID }: Deployment, allocationId: string): DeploymentError {
  const message = `Allocation "${allocationId}" does not belong to deployment "${ID}"`;
  return { type: 'not_of_deployment', allocationId, message };
}

function mapStates(
  deployment: Deployment,
  map: (state: DeploymentState, group: string) => DeploymentState,
): Deployment {
  const states = Object.entries(deployment.TaskGroups).map(([group, state]): [string, DeploymentState] => [
    group,
    map(state, group),
  ]);
  return { ...deployment, TaskGroups: Object.fromEntries(states) };
}

function stamped(deployment: Deployment, { now, index }: WriteStamp): Deployment {
  return { ...deployment, ModifyIndex: index, ModifyTime: unixNanosFromInstant(now) };
}
