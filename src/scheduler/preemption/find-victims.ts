import type { NetworkResource } from '../../jobs/document/network.js';
import { drawFrom } from '../assignment/draw.js';
import { lackingDimension, type NodeOffer, offerOf } from '../assignment/node-offer.js';
import type { AllocationUse } from '../cluster/allocation-use.js';
import { ClusterNode, type NodeState } from '../cluster/cluster-node.js';
import { addressesOf } from '../cluster/host-ports.js';
import { hostNetworkOf } from '../feasibility/node-checks.js';
import type { GroupRequirements } from '../feasibility/requirements.js';
import { victimsForDevices } from './victims-for-devices.js';
import { type Preemptor, victimsForRoom } from './victims-for-room.js';

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
  const victims = new Set<AllocationUse>();
  for (const asked of [...(network === undefined ? [] : [network]), ...taskNetworks.map(({ request }) => request)]) {
    const holders = holdersOf(asked, state, candidates);
    if (holders === undefined) return undefined;
    for (const holder of holders) victims.add(holder);
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
