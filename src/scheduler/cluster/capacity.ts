import type { AllocatedResources, AllocatedTaskResources } from '../allocated-resources.js';
import { type Allocation, isClientTerminal } from '../allocation.js';
import type { Node } from '../node.js';

/** Amounts in MHz (processor), MiB (memory) and MiB (disk). */
export interface Capacity {
  readonly cpu: number;
  readonly memory: number;
  readonly disk: number;
}

export const noCapacity: Capacity = { cpu: 0, memory: 0, disk: 0 };

export function sameCapacity(one: Capacity, other: Capacity): boolean {
  return one.cpu === other.cpu && one.memory === other.memory && one.disk === other.disk;
}

/** A node's capacity for allocations: its resources less the reserved ones. */
export function nodeCapacity(node: Pick<Node, 'NodeResources' | 'ReservedResources'>): Capacity {
  const { NodeResources: all, ReservedResources: reserved } = node;
  return {
    cpu: all.Cpu.CpuShares - reserved.Cpu.CpuShares,
    memory: all.Memory.MemoryMB - reserved.Memory.MemoryMB,
    disk: all.Disk.DiskMB - reserved.Disk.DiskMB,
  };
}

/** The resources that an allocation uses: none once its node has finished with it. */
export function capacityUsedBy(allocation: Allocation | undefined): Capacity {
  return allocation === undefined || isClientTerminal(allocation)
    ? noCapacity
    : capacityOf(allocation.AllocatedResources);
}

/** The peak use of the tasks: main tasks with their sidecars, before them the prestart tasks, after them the poststop tasks. */
export function capacityOf(resources: AllocatedResources): Capacity {
  const main = { cpu: 0, memory: 0 };
  const before = { cpu: 0, memory: 0 };
  const after = { cpu: 0, memory: 0 };
  for (const name in resources.Tasks) {
    const task = resources.Tasks[name]!;
    const lifecycle = resources.TaskLifecycles[name] ?? null;
    if (lifecycle === null || lifecycle.Hook === 'poststart') grow(main, task);
    else if (lifecycle.Hook === 'poststop') grow(after, task);
    else {
      grow(before, task);
      if (lifecycle.Sidecar) grow(main, task);
    }
  }
  return {
    cpu: Math.max(before.cpu, main.cpu, after.cpu),
    memory: Math.max(before.memory, main.memory, after.memory),
    disk: resources.Shared.DiskMB,
  };
}

function grow(phase: { cpu: number; memory: number }, { Cpu, Memory }: AllocatedTaskResources): void {
  phase.cpu += Cpu.CpuShares;
  phase.memory += Memory.MemoryMB;
}

export function addCapacity(left: Capacity, right: Capacity): Capacity {
  return { cpu: left.cpu + right.cpu, memory: left.memory + right.memory, disk: left.disk + right.disk };
}

export function subtractCapacity(left: Capacity, right: Capacity): Capacity {
  return { cpu: left.cpu - right.cpu, memory: left.memory - right.memory, disk: left.disk - right.disk };
}
