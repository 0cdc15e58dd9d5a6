import type { NetworkResource } from '../../jobs/document/network.js';
import type { RequestedDevice } from '../../jobs/document/resources.js';
import { freeInstances } from '../assignment/assign-devices.js';
import { drawFrom } from '../assignment/assign-ports.js';
import { lackingDimension, type NodeOffer, offerOf } from '../assignment/node-offer.js';
import { type AllocationUse, addCapacity, type Capacity, subtractCapacity } from '../cluster/capacity.js';
import { ClusterNode, type NodeState } from '../cluster/cluster.js';
import { addressesOf } from '../cluster/host-ports.js';
import { suits } from '../feasibility/device-constraints.js';
import { hostNetworkOf } from '../feasibility/node-checks.js';
import type { GroupRequirements, TaskRequest } from '../feasibility/requirements.js';
import type { NodeDeviceGroup } from '../node.js';

/** Only allocations whose priority is lower by at least this much are preempted. */
const smallestGap = 10;

export interface Preemption {
  readonly victims: readonly AllocationUse[];
  /** The node's offer once they are gone. */
  readonly offer: NodeOffer;
}

/**
 * Finds the allocations of other jobs to preempt on a node so that the group's next allocation has room; undefined when there is no such set.
 * Ports first, then devices, then processor, memory and disk, each time the fewest allocations of the lowest priority.
 */
export function findVictims(preemptor: Preemptor, state: NodeState): Preemption | undefined {
  const { wanted } = preemptor;
  const victims: AllocationUse[] = [];
  let left = state;
  const candidates = (): AllocationUse[] => left.uses.filter((use) => mayPreempt(wanted, use));
  const give = (up: readonly AllocationUse[] | undefined): boolean => {
    if (up === undefined) return false;
    victims.push(...up);
    if (up.length > 0) left = without(left, up);
    return true;
  };
  if (!give(victimsForPorts(wanted, left, candidates()))) return undefined;
  if (!give(victimsForDevices(wanted.devices, left, candidates()))) return undefined;
  const offer = offerOf(wanted, left, drawFrom(''));
  if (offer.isErr()) return undefined;
  const asked = offer.value.capacity;
  const dimension = lackingDimension(left, asked);
  if (dimension !== undefined && !give(victimsForRoom(preemptor, left, asked, candidates()))) return undefined;
  return victims.length === 0 || lackingDimension(left, asked) !== undefined
    ? undefined
    : { victims, offer: offer.value };
}

function mayPreempt({ job }: GroupRequirements, use: AllocationUse): boolean {
  const own = use.jobId === job.ID && use.namespace === job.Namespace;
  return !own && job.Priority - use.priority >= smallestGap;
}

function without({ node, nodeClass, uses }: NodeState, gone: readonly AllocationUse[]): NodeState {
  const ids = new Set(gone.map((use) => use.id));
  return ClusterNode.of(
    node,
    nodeClass,
    uses.filter((use) => !ids.has(use.id)),
  );
}

/** The holders of the requested static ports; undefined when a port is held by an allocation that cannot be preempted. */
function victimsForPorts(
  { network, taskNetworks }: GroupRequirements,
  state: NodeState,
  candidates: readonly AllocationUse[],
): readonly AllocationUse[] | undefined {
  const asked = [...(network === undefined ? [] : [network]), ...taskNetworks.map(({ request }) => request)];
  return allOf(asked, (each) => holdersOf(each, state, candidates));
}

/** The victims for everything that is asked for; undefined if there are none for some of it. */
function allOf<T>(
  asked: readonly T[],
  victimsFor: (one: T) => readonly AllocationUse[] | undefined,
): readonly AllocationUse[] | undefined {
  const victims = new Set<AllocationUse>();
  for (const one of asked) {
    const found = victimsFor(one);
    if (found === undefined) return undefined;
    for (const use of found) victims.add(use);
  }
  return [...victims];
}

function holdersOf(
  asked: NetworkResource,
  { node, ports }: NodeState,
  candidates: readonly AllocationUse[],
): readonly AllocationUse[] | undefined {
  const holders: AllocationUse[] = [];
  for (const port of asked.ReservedPorts ?? []) {
    const value = port.Value ?? 0;
    const name = hostNetworkOf(port.HostNetwork ?? '', node);
    const addresses = addressesOf(node).filter(({ Alias }) => Alias === name);
    if (port.IgnoreCollision === true || addresses.some(({ Address }) => !ports.isTaken(Address, value))) continue;
    const holder = candidates.find((use) =>
      use.ports.some((held) => held.port === value && addresses.some(({ Address }) => Address === held.address)),
    );
    if (holder === undefined) return undefined;
    holders.push(holder);
  }
  return holders;
}

/** Users of devices whose instances are requested; undefined when preempting all of them would not be enough. */
function victimsForDevices(
  requests: readonly TaskRequest<RequestedDevice>[],
  state: NodeState,
  candidates: readonly AllocationUse[],
): readonly AllocationUse[] | undefined {
  return allOf(requests, ({ request }) => cheapest(request, state, candidates));
}

/** Among the suitable device groups, the one whose users have the lowest total priority. */
function cheapest(
  request: RequestedDevice,
  { node, devices }: NodeState,
  candidates: readonly AllocationUse[],
): readonly AllocationUse[] | undefined {
  let best: { readonly users: readonly AllocationUse[]; readonly priorities: number } | undefined;
  for (const device of node.NodeResources.Devices ?? []) {
    if (!suits(request, device)) continue;
    const free = freeInstances(device, devices).length;
    if (free >= request.Count) return [];
    const users = usersToGo(device, request.Count - free, candidates);
    if (users === undefined) continue;
    const priorities = users.reduce((sum, use) => sum + use.priority, 0);
    if (best === undefined || priorities < best.priorities) best = { users, priorities };
  }
  return best?.users;
}

/** The users of lowest priority that hold `missing` instances of a device; one that holds many is preferred to several that hold few. */
function usersToGo(
  device: NodeDeviceGroup,
  missing: number,
  candidates: readonly AllocationUse[],
): readonly AllocationUse[] | undefined {
  const users: AllocationUse[] = [];
  let held = 0;
  for (const use of byPriority(candidates).flat()) {
    const instances = instancesOf(use, device);
    if (instances === 0) continue;
    users.push(use);
    held += instances;
    if (held >= missing) break;
  }
  if (held < missing) return undefined;
  users.sort((left, right) => instancesOf(right, device) - instancesOf(left, device));
  let kept = 0;
  return users.filter((use) => {
    if (kept >= missing) return false;
    kept += instancesOf(use, device);
    return true;
  });
}

function instancesOf(use: AllocationUse, { Vendor, Type, Name }: NodeDeviceGroup): number {
  return use.devices
    .filter((device) => device.Vendor === Vendor && device.Type === Type && device.Name === Name)
    .reduce((sum, device) => sum + device.DeviceIDs.length, 0);
}

/** The job that needs room, and what its evaluation has preempted so far. */
export interface Preemptor {
  readonly wanted: GroupRequirements;
  /** Number of already preempted allocations of the same group as this one. */
  readonly preemptedLike: (use: AllocationUse) => number;
}

/** Added to the distance for each allocation of a group above its migrate limit. */
const penaltyBeyondParallel = 50;

/**
 * Allocations that make room for `asked`: the lowest priority first, within one priority the one closest in size to the
 * missing amount. Allocations that turn out to be unnecessary are kept. Undefined when all of them together are not enough.
 */
function victimsForRoom(
  preemptor: Preemptor,
  { capacity, used }: NodeState,
  asked: Capacity,
  candidates: readonly AllocationUse[],
): readonly AllocationUse[] | undefined {
  const free = subtractCapacity(capacity, used);
  const chosen: AllocationUse[] = [];
  let room = free;
  let needed = asked;
  for (const level of byPriority(candidates)) {
    while (level.length > 0 && !covers(room, asked)) {
      const next = takeClosest(preemptor, level, needed);
      chosen.push(next);
      room = addCapacity(room, next);
      needed = subtractCapacity(needed, next);
    }
  }
  return covers(room, asked) ? neededOf(chosen, free, asked) : undefined;
}

/** Those whose size differs most from the request first, until enough is free. */
function neededOf(chosen: readonly AllocationUse[], free: Capacity, asked: Capacity): AllocationUse[] {
  const farthest = [...chosen].sort((left, right) => distance(asked, right) - distance(asked, left));
  const needed: AllocationUse[] = [];
  let room = free;
  for (const use of farthest) {
    needed.push(use);
    room = addCapacity(room, use);
    if (covers(room, asked)) break;
  }
  return needed;
}

/** Lists of equal priority, lowest first; within one, ordered by ID. */
function byPriority(uses: readonly AllocationUse[]): AllocationUse[][] {
  const levels = new Map<number, AllocationUse[]>();
  for (const use of uses) {
    const level = levels.get(use.priority);
    if (level === undefined) levels.set(use.priority, [use]);
    else level.push(use);
  }
  const sorted = [...levels.entries()].sort(([left], [right]) => left - right).map(([, level]) => level);
  for (const level of sorted) level.sort((left, right) => (left.id < right.id ? -1 : 1));
  return sorted;
}

function takeClosest(preemptor: Preemptor, level: AllocationUse[], needed: Capacity): AllocationUse {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [at, use] of level.entries()) {
    const far = distance(needed, use) + parallelPenalty(use, preemptor.preemptedLike(use));
    if (far < least) {
      best = at;
      least = far;
    }
  }
  return level.splice(best, 1)[0] as AllocationUse;
}

function parallelPenalty({ parallel }: AllocationUse, preempted: number): number {
  return parallel > 0 && preempted >= parallel ? (preempted + 1 - parallel) * penaltyBeyondParallel : 0;
}

/** Distance in size; each dimension is relative to the requested amount. */
function distance(asked: Capacity, use: Capacity): number {
  const part = (of: keyof Capacity): number => (asked[of] > 0 ? (asked[of] - use[of]) / asked[of] : 0);
  return Math.hypot(part('memory'), part('cpu'), part('disk'));
}

function covers(room: Capacity, asked: Capacity): boolean {
  return room.cpu >= asked.cpu && room.memory >= asked.memory && room.disk >= asked.disk;
}
