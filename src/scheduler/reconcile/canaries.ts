import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Allocation } from '../allocation.js';
import type { Deployment, DeploymentState } from '../deployment/deployment.js';
import { classified } from './classify.js';
import { type GroupDeployment, isDeployed } from './group-deployment.js';
import type { GroupRequest } from './group-request.js';
import { descriptions, without } from './intents.js';
import type { NameIndex } from './names.js';

interface SettledCanaries {
  /** Canaries of the current deployment that can stay, or that are waited for while their node is disconnected. */
  readonly canaries: readonly Allocation[];
  /** The group's allocations without the stopped canaries. */
  readonly rest: readonly Allocation[];
}

/**
 * Stops unpromoted canaries when their deployment is over, and those whose node is lost or draining. The latter are
 * not counted as stopped, because they are replaced.
 */
export function settleCanaries(
  all: readonly Allocation[],
  { standing, situation, intents, group }: Pick<GroupRequest, 'standing' | 'situation' | 'intents' | 'group'>,
): SettledCanaries {
  const unwanted = new Set(unpromotedCanaries(standing.old, group));
  if (standing.failed) for (const id of unpromotedCanaries(standing.current, group)) unwanted.add(id);
  const stopped = all.filter(({ ID }) => unwanted.has(ID));
  intents.stopAll(stopped, descriptions.notNeeded);
  intents.desired(group.Name).Stop += stopped.length;
  const rest = without(all, stopped);

  const placed = new Set(placedCanaries(standing.current, group));
  if (placed.size === 0) return { canaries: [], rest };
  const classes = classified(
    rest.filter(({ ID }) => placed.has(ID)),
    situation,
  );
  intents.stopAll(classes.migrating, descriptions.migrating);
  intents.stopAll(classes.lost, descriptions.lost, 'lost');
  const back = classes.reconnecting.filter(({ ClientStatus }) => ClientStatus !== 'failed');
  return {
    canaries: [...classes.untainted, ...classes.disconnecting, ...back],
    rest: without(without(rest, classes.migrating), classes.lost),
  };
}

/**
 * Whether further canaries are needed: something has to be replaced, there are too few, and none was promoted yet. A group without
 * deployments (`max_parallel` 0) has none, as nothing could promote them.
 */
export function wantsCanaries(
  group: TaskGroup,
  { state }: GroupDeployment,
  replaced: readonly Allocation[],
  canaries: readonly Allocation[],
): boolean {
  if (!isDeployed(group) || replaced.length === 0 || state.Promoted) return false;
  return canaries.length < (group.Update?.Canary ?? 0);
}

/** Plans the missing canaries, under the names of the allocations that they will replace. */
export function placeCanaries(
  { group, intents }: Pick<GroupRequest, 'group' | 'intents'>,
  replaced: readonly Allocation[],
  canaries: readonly Allocation[],
  names: NameIndex,
): void {
  const missing = (group.Update?.Canary ?? 0) - canaries.length;
  intents.desired(group.Name).Canary += missing;
  for (const name of names.nextCanaries(missing, canaries, replaced)) intents.place.push({ name, group, canary: true });
}

function unpromotedCanaries(deployment: Deployment | undefined, group: TaskGroup): readonly string[] {
  return stateOf(deployment, group)?.Promoted === true ? [] : placedCanaries(deployment, group);
}

/** IDs of the group's placed canaries. */
function placedCanaries(deployment: Deployment | undefined, group: TaskGroup): readonly string[] {
  return stateOf(deployment, group)?.PlacedCanaries ?? [];
}

function stateOf(deployment: Deployment | undefined, { Name }: TaskGroup): DeploymentState | undefined {
  const states = deployment?.TaskGroups ?? {};
  return Object.hasOwn(states, Name) ? states[Name] : undefined;
}
