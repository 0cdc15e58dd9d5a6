import type { RequestedDevice } from '../../jobs/document/resources.js';
import { freeInstances } from '../assignment/assign-devices.js';
import type { AllocationUse } from '../cluster/allocation-use.js';
import type { NodeState } from '../cluster/cluster-node.js';
import { suits } from '../feasibility/device-match.js';
import type { TaskRequest } from '../feasibility/requirements.js';
import type { NodeDeviceGroup } from '../node.js';
import { byPriority } from './victims-for-room.js';

/** Users of devices whose instances are requested; undefined when preempting all of them would not be enough. */
export function victimsForDevices(
  requests: readonly TaskRequest<RequestedDevice>[],
  state: NodeState,
  candidates: readonly AllocationUse[],
): readonly AllocationUse[] | undefined {
  const victims = new Set<AllocationUse>();
  for (const { request } of requests) {
    const chosen = cheapest(request, state, candidates);
    if (chosen === undefined) return undefined;
    for (const use of chosen) victims.add(use);
  }
  return [...victims];
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
