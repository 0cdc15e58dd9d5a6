import type { Node, NodeDeviceGroup } from '../node.js';
import { textHash } from '../text-hash.js';

/** Nodes of one class get the same result from every rule that checks the node alone. */
export interface NodeClass {
  /** The class name that evaluations and nodes store. */
  readonly computed: string;
}

/** Prefix of attributes and meta whose values are unique to each node. */
const uniquePrefix = 'unique.';

/**
 * The name of a node's class (job interface, ComputedClass): equal for nodes with the same datacenter, pool, class, devices, attributes
 * and meta, except values unique to a node. A 64-bit hash in decimal digits, the format that existing clients expect.
 */
export function computedClassOf(node: Node): string {
  const text = classText(node);
  const hash = `${textHash(0x811c9dc5, text)}${textHash(0x9e3779b9, text)}`.slice(0, 16);
  return `v1:${BigInt(`0x${hash}`)}`;
}

/**
 * The inputs of feasibility beyond the computed class, as a string: health of drivers and devices, and host networks. Two nodes with the
 * same class and the same string get the same verdict.
 */
export function feasibilityText(node: Node): string {
  const { Networks, NodeNetworks, Devices } = node.NodeResources;
  return JSON.stringify([
    classText(node),
    sorted(node.Drivers).map(([name, driver]) => [name, driver.Detected && driver.Healthy]),
    (Networks ?? []).map((network) => network.Mode),
    (NodeNetworks ?? []).flatMap((network) => (network.Addresses ?? []).map((address) => address.Alias)),
    (Devices ?? []).map((device) => healthyInstances(device)),
  ]);
}

/** Number of usable instances. */
export function healthyInstances(device: NodeDeviceGroup): number {
  return device.Instances.filter((instance) => instance.Healthy).length;
}

function classText(node: Node): string {
  return JSON.stringify([
    node.Datacenter,
    node.NodePool,
    node.NodeClass,
    shared(node.Attributes),
    shared(node.Meta ?? {}),
    (node.NodeResources.Devices ?? []).map(({ Vendor, Type, Name, Attributes }) => [
      Vendor,
      Type,
      Name,
      shared(Attributes ?? {}),
    ]),
  ]);
}

function shared<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return sorted(record).filter(([name]) => !name.startsWith(uniquePrefix));
}

function sorted<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
}
