import type { Affinity, Constraint } from '../../jobs/document/placement.js';
import type { RequestedDevice } from '../../jobs/document/resources.js';
import { healthyInstances } from '../cluster/node-class.js';
import type { Node, NodeDeviceGroup } from '../node.js';
import { checkDeviceConstraint, resolveDeviceTarget } from './device-constraints.js';
import type { TaskRequest } from './requirements.js';

/** Whether the node's healthy devices could satisfy all requests if they were all free. */
export function hasDevices(requests: readonly TaskRequest<RequestedDevice>[], node: Node): boolean {
  if (requests.length === 0) return true;
  const groups = node.NodeResources.Devices ?? [];
  const left = groups.map(healthyInstances);
  return requests.every(({ request }) => {
    const at = groups.findIndex((device, index) => (left[index] ?? 0) >= request.Count && suits(request, device));
    if (at < 0) return false;
    left[at] = (left[at] ?? 0) - request.Count;
    return true;
  });
}

/** Whether the device is of the requested kind. */
export function suits(request: RequestedDevice, device: NodeDeviceGroup): boolean {
  return (
    isNamed(request.Name, device) &&
    (request.Constraints ?? []).every((constraint) => meetsOnDevice(constraint, device))
  );
}

export function meetsOnDevice(
  { LTarget, RTarget, Operand }: Pick<Constraint | Affinity, 'LTarget' | 'RTarget' | 'Operand'>,
  device: NodeDeviceGroup,
): boolean {
  return checkDeviceConstraint(Operand, resolveDeviceTarget(LTarget, device), resolveDeviceTarget(RTarget, device));
}

/** `<type>`, `<vendor>/<type>` or `<vendor>/<type>/<name>`; the name may contain slashes. */
function isNamed(name: string, { Vendor, Type, Name }: NodeDeviceGroup): boolean {
  return name === Type || name === `${Vendor}/${Type}` || name === `${Vendor}/${Type}/${Name}`;
}
