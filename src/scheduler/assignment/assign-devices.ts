import { err, ok, type Result } from 'neverthrow';
import type { RequestedDevice } from '../../jobs/document/resources.js';
import type { AllocatedDevice } from '../allocated-resources.js';
import { type DevicesInUse, deviceKey } from '../cluster/cluster.js';
import { meetsOnDevice, suits } from '../feasibility/device-constraints.js';
import type { TaskRequest } from '../feasibility/requirements.js';
import type { Node, NodeDeviceGroup } from '../node.js';

interface DeviceOffer {
  readonly byTask: ReadonlyMap<string, readonly AllocatedDevice[]>;
  /** Weighted share of the affinities that are met, −1 to 1; undefined when no request has affinities. */
  readonly score: number | undefined;
}

/** Assigns each request free instances of the device group that meets most of its affinities; ties go to the first group. */
export function assignDevices(
  requests: readonly TaskRequest<RequestedDevice>[],
  node: Node,
  inUse: DevicesInUse,
): Result<DeviceOffer, string> {
  const taken = new Set(inUse);
  const byTask = new Map<string, AllocatedDevice[]>();
  let met = 0;
  let total = 0;
  for (const { task, request } of requests) {
    const choice = bestGroup(request, node, taken);
    if (choice === undefined) return err('devices: no devices match request');
    for (const id of choice.ids) taken.add(deviceKey(choice.device, id));
    const { Vendor, Type, Name } = choice.device;
    const given = { Vendor, Type, Name, DeviceIDs: choice.ids };
    byTask.set(task, [...(byTask.get(task) ?? []), given]);
    met += choice.met;
    total += (request.Affinities ?? []).reduce((sum, { Weight }) => sum + Math.abs(Weight), 0);
  }
  return ok({ byTask, score: total === 0 ? undefined : met / total });
}

interface Choice {
  readonly device: NodeDeviceGroup;
  readonly ids: readonly string[];
  /** Sum of the weights of the met affinities. */
  readonly met: number;
}

function bestGroup(request: RequestedDevice, node: Node, taken: DevicesInUse): Choice | undefined {
  let best: Choice | undefined;
  for (const device of node.NodeResources.Devices ?? []) {
    if (!suits(request, device)) continue;
    const free = freeInstances(device, taken);
    if (free.length < request.Count) continue;
    const met = (request.Affinities ?? []).reduce(
      (sum, affinity) => sum + (meetsOnDevice(affinity, device) ? affinity.Weight : 0),
      0,
    );
    if (best === undefined || met > best.met) best = { device, ids: free.slice(0, request.Count), met };
  }
  return best;
}

/** IDs of the healthy instances that are free. */
export function freeInstances(device: NodeDeviceGroup, taken: DevicesInUse): string[] {
  return device.Instances.filter(({ ID, Healthy }) => Healthy && !taken.has(deviceKey(device, ID))).map(({ ID }) => ID);
}
