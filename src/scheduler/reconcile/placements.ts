import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import type { GroupRequest } from './group-request.js';
import { descriptions, type Intents, type PlaceIntent } from './intents.js';
import type { NameIndex } from './names.js';
import type { GroupSets } from './situation.js';

/** Replacements first, each under the name of its previous allocation, then the missing number of new ones. */
export function wantedPlacements(
  group: TaskGroup,
  { untainted, migrating, replacedNow, lost }: GroupSets,
  names: NameIndex,
  canarying: boolean,
): readonly PlaceIntent[] {
  const replacing = (previous: Allocation): PlaceIntent => {
    const canary = previous.DeploymentStatus?.Canary === true;
    return { name: previous.Name, group, previous, canary, downgrade: canarying && !canary };
  };
  const placements: PlaceIntent[] = replacedNow.map((previous) => ({ ...replacing(previous), reschedule: true }));
  let existing = untainted.length + migrating.length + replacedNow.length;
  for (const previous of lost) {
    if (existing >= group.Count) break;
    placements.push({ ...replacing(previous), lost: true });
    existing += 1;
  }
  const missing = group.Count - existing;
  if (missing > 0) for (const name of names.next(missing)) placements.push({ name, group, downgrade: canarying });
  return placements;
}

/** Places all wanted allocations. */
export function placeAll(
  { intents, group }: GroupRequest,
  placements: readonly PlaceIntent[],
  replacedNow: readonly Allocation[],
): void {
  const desired = intents.desired(group.Name);
  intents.place.push(...placements);
  desired.Place += placements.length;
  const here = replacedNow.filter((allocation) => !isDisconnected(allocation, intents));
  const failed = here.filter((allocation) => !isRequestedToMove(allocation));
  intents.stopAll(failed, descriptions.rescheduled);
  desired.Stop += failed.length;
  const sentAway = here.filter(isRequestedToMove);
  intents.stopAll(sentAway, descriptions.migrating);
  desired.Migrate += sentAway.length;
}

/** Whether it runs and its replacement by the reschedule policy was requested: it counts as moved. */
function isRequestedToMove(allocation: Allocation): boolean {
  return allocation.DesiredTransition.Migrate === true && !isTerminalAllocation(allocation);
}

/** A paused or failed deployment places nothing new; lost allocations and failures outside it are replaced all the same. */
export function placeReplacements(
  { intents, group, standing }: GroupRequest,
  placements: readonly PlaceIntent[],
): void {
  const desired = intents.desired(group.Name);
  for (const placement of placements) {
    const { previous } = placement;
    if (previous === undefined) continue;
    if (placement.reschedule === true && standing.failed && previous.DeploymentID === standing.current?.ID) continue;
    intents.place.push(placement);
    desired.Place += 1;
    if (placement.reschedule !== true || isDisconnected(previous, intents)) continue;
    intents.stopAll([previous], descriptions.rescheduled);
    desired.Stop += 1;
  }
}

/** Its node is disconnected: it is replaced, but not stopped. */
function isDisconnected(allocation: Allocation, intents: Intents): boolean {
  return allocation.ClientStatus === 'unknown' || intents.makesUnknown(allocation);
}
