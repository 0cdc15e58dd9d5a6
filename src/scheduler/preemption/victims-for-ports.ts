import type { NetworkResource } from '../../jobs/document/network.js';
import type { AllocationUse } from '../cluster/allocation-use.js';
import type { NodeState } from '../cluster/cluster-node.js';
import { addressesOf } from '../cluster/host-ports.js';
import { hostNetworkOf } from '../feasibility/node-checks.js';
import type { GroupRequirements } from '../feasibility/requirements.js';

/** The holders of the requested static ports; undefined when a port is held by an allocation that cannot be preempted. */
export function victimsForPorts(
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
