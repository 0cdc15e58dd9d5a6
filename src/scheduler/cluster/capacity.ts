import type {
  AllocatedDevice,
  AllocatedNetwork,
  AllocatedResources,
  AllocatedTaskResources,
} from '../allocated-resources.js';
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
    const task = resources.Tasks[name];
    if (task === undefined) continue;
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

/** A port on one address of a node. */
export interface HostPort {
  readonly address: string;
  readonly port: number;
}

/** The resources that an allocation uses until its node has finished with it, and the data that preemption needs. */
export interface AllocationUse extends Capacity {
  readonly id: string;
  readonly namespace: string;
  readonly jobId: string;
  readonly group: string;
  readonly priority: number;
  /** How many allocations of its group may be preempted before others are preferred; 0: no limit. */
  readonly parallel: number;
  readonly cores: readonly number[];
  readonly ports: readonly HostPort[];
  readonly devices: readonly AllocatedDevice[];
}

/** Priority of allocations written before the priority was stored with them. */
const defaultPriority = 50;

/** Undefined when the node has finished with it. */
export function useOf(allocation: Allocation): AllocationUse | undefined {
  if (isClientTerminal(allocation)) return undefined;
  const resources = allocation.AllocatedResources;
  const { cpu, memory, disk } = capacityOf(resources);
  return {
    cpu,
    memory,
    disk,
    id: allocation.ID,
    namespace: allocation.Namespace,
    jobId: allocation.JobID,
    group: allocation.TaskGroup,
    priority: allocation.JobPriority ?? defaultPriority,
    parallel: allocation.MigrateParallel ?? 0,
    cores: coresOf(resources),
    ports: portsOf(resources),
    devices: devicesOf(resources),
  };
}

const noCores: readonly number[] = [];
const noPorts: readonly HostPort[] = [];
const noDevices: readonly AllocatedDevice[] = [];

function coresOf(resources: AllocatedResources): readonly number[] {
  let cores: number[] | undefined;
  for (const name in resources.Tasks) {
    const reserved = resources.Tasks[name]?.Cpu.ReservedCores ?? null;
    if (reserved !== null && reserved.length > 0) cores = [...(cores ?? []), ...reserved];
  }
  return cores ?? noCores;
}

function devicesOf(resources: AllocatedResources): readonly AllocatedDevice[] {
  let devices: AllocatedDevice[] | undefined;
  for (const name in resources.Tasks) {
    const given = resources.Tasks[name]?.Devices ?? null;
    if (given !== null && given.length > 0) devices = [...(devices ?? []), ...given];
  }
  return devices ?? noDevices;
}

function portsOf(resources: AllocatedResources): readonly HostPort[] {
  const ports: HostPort[] = [];
  for (const { HostIP = '', Value } of resources.Shared.Ports ?? []) ports.push({ address: HostIP, port: Value });
  for (const name in resources.Tasks) {
    for (const network of resources.Tasks[name]?.Networks ?? []) addNetworkPorts(ports, network);
  }
  return ports.length === 0 ? noPorts : ports;
}

function addNetworkPorts(ports: HostPort[], network: AllocatedNetwork): void {
  for (const { Value } of [...(network.ReservedPorts ?? []), ...(network.DynamicPorts ?? [])]) {
    if (Value !== undefined) ports.push({ address: network.IP ?? '', port: Value });
  }
}
