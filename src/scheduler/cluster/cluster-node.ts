import type { AllocatedDevice } from '../allocated-resources.js';
import type { Node } from '../node.js';
import type { AllocationUse } from './allocation-use.js';
import { addCapacity, type Capacity, noCapacity, nodeCapacity } from './capacity.js';
import { TakenPorts } from './host-ports.js';
import type { NodeClass } from './node-class.js';

/** Instances in use, as `<vendor>/<type>/<name>#<id>`. */
export type DevicesInUse = ReadonlySet<string>;

/** A node and its usage, actual or planned. */
export interface NodeState {
  readonly node: Node;
  readonly nodeClass: NodeClass;
  readonly capacity: Capacity;
  readonly used: Capacity;
  /** Number of allocations. */
  readonly count: number;
  /** By allocation; unordered. */
  readonly uses: readonly AllocationUse[];
  readonly ports: TakenPorts;
  readonly cores: ReadonlySet<number>;
  readonly devices: DevicesInUse;
}

/**
 * A node and the usage of its allocations. Immutable; ports, cores and devices, which few jobs need, are computed on first use and
 * cached.
 */
export class ClusterNode implements NodeState {
  readonly node: Node;
  readonly nodeClass: NodeClass;
  readonly capacity: Capacity;
  readonly used: Capacity;
  readonly uses: readonly AllocationUse[];
  #ports: TakenPorts | undefined;
  #cores: ReadonlySet<number> | undefined;
  #devices: DevicesInUse | undefined;

  constructor(node: Node, nodeClass: NodeClass, uses: readonly AllocationUse[], used: Capacity) {
    this.node = node;
    this.nodeClass = nodeClass;
    this.capacity = nodeCapacity(node);
    this.uses = uses;
    this.used = used;
  }

  static of(node: Node, nodeClass: NodeClass, uses: readonly AllocationUse[]): ClusterNode {
    return new ClusterNode(node, nodeClass, uses, uses.reduce<Capacity>(addCapacity, noCapacity));
  }

  get count(): number {
    return this.uses.length;
  }

  get ports(): TakenPorts {
    this.#ports ??= TakenPorts.of(this.node, this.uses);
    return this.#ports;
  }

  get cores(): ReadonlySet<number> {
    this.#cores ??= coresInUse(this.uses);
    return this.#cores;
  }

  get devices(): DevicesInUse {
    this.#devices ??= devicesInUse(this.uses);
    return this.#devices;
  }
}

export function coresInUse(uses: Iterable<AllocationUse>): ReadonlySet<number> {
  const cores = new Set<number>();
  for (const use of uses) for (const core of use.cores) cores.add(core);
  return cores;
}

export function devicesInUse(uses: Iterable<AllocationUse>): DevicesInUse {
  const instances = new Set<string>();
  for (const use of uses) {
    for (const device of use.devices) for (const id of device.DeviceIDs) instances.add(deviceKey(device, id));
  }
  return instances;
}

export function deviceKey(device: Pick<AllocatedDevice, 'Vendor' | 'Type' | 'Name'>, id: string): string {
  return `${device.Vendor}/${device.Type}/${device.Name}#${id}`;
}
