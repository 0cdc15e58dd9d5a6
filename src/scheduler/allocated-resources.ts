import type { NetworkResource } from '../jobs/document/network.js';
import { zeroResources } from '../jobs/document/resources.js';

/** Instances of one device group that are assigned to a task. */
export interface AllocatedDevice {
  readonly Vendor: string;
  readonly Type: string;
  readonly Name: string;
  /** IDs of the assigned instances. */
  readonly DeviceIDs: readonly string[];
}

/** Resources assigned to one task. */
export interface AllocatedTaskResources {
  readonly Cpu: {
    /** MHz; of reserved cores, the sum of their clock rates. */
    readonly CpuShares: number;
    /** Numbers of the cores reserved for the task; null when the task shares the processor. */
    readonly ReservedCores: readonly number[] | null;
  };
  readonly Memory: {
    /** MiB. */
    readonly MemoryMB: number;
    /** MiB; 0 without oversubscription, -1 without limit. */
    readonly MemoryMaxMB: number;
  };
  /** Networks of the task itself, superseded by group networks; null when there are none. */
  readonly Networks: readonly AllocatedNetwork[] | null;
  /** Null when the task requests none. */
  readonly Devices: readonly AllocatedDevice[] | null;
}

/** A network as the job requests it, with the assigned address and ports. */
export interface AllocatedNetwork extends NetworkResource {
  /** The interface of the node. */
  readonly Device?: string;
}

/** A port of the group's network. Members with an empty value are left out. */
export interface AllocatedPort {
  /** The name that the job gives the port. */
  readonly Label: string;
  /** The port on the host. */
  readonly Value: number;
  /** The port inside the network namespace. */
  readonly To?: number;
  /** The address of the node on which the port is open. */
  readonly HostIP?: string;
  /** Whether other allocations on the node may use the same port. */
  readonly IgnoreCollision?: boolean;
}

/** Resources assigned to an allocation on its node (job interface, AllocatedResources). */
export interface AllocatedResources {
  /** By name of the task. */
  readonly Tasks: Readonly<Record<string, AllocatedTaskResources>>;
  /** By name of the task; null for main tasks. Tasks that never run at the same time share resources. */
  readonly TaskLifecycles: Readonly<Record<string, { readonly Hook: string; readonly Sidecar: boolean } | null>>;
  /** Resources shared by all tasks of the allocation. */
  readonly Shared: {
    readonly Networks: readonly AllocatedNetwork[] | null;
    readonly DiskMB: number;
    readonly Ports: readonly AllocatedPort[] | null;
  };
}

/** The allocated resources in the form in which jobs request them (job interface, allocations), for older clients. */
export interface ResourceSum {
  /** MHz. */
  readonly CPU: number;
  readonly Cores: number;
  readonly MemoryMB: number;
  readonly MemoryMaxMB: number;
  readonly DiskMB: number;
  readonly IOPS: number;
  readonly Networks: AllocatedResources['Shared']['Networks'];
  readonly Devices: null;
  readonly NUMA: null;
  readonly SecretsMB: number;
}

/** The resources of each task, and the total including shared ones. */
export interface ResourceSums {
  readonly Resources: ResourceSum;
  readonly TaskResources: Readonly<Record<string, ResourceSum>>;
}

export function resourceSums({ Tasks, Shared }: AllocatedResources): ResourceSums {
  const entries = Object.entries(Tasks).map(([task, { Cpu, Memory }]) => {
    const sum = {
      ...zeroResources,
      CPU: Cpu.CpuShares,
      Cores: Cpu.ReservedCores?.length ?? 0,
      MemoryMB: Memory.MemoryMB,
      MemoryMaxMB: Memory.MemoryMaxMB,
    };
    return [task, sum] as const;
  });
  const total = (of: 'CPU' | 'Cores' | 'MemoryMB' | 'MemoryMaxMB'): number =>
    entries.reduce((sum, [, each]) => sum + each[of], 0);
  return {
    Resources: {
      ...zeroResources,
      CPU: total('CPU'),
      Cores: total('Cores'),
      MemoryMB: total('MemoryMB'),
      MemoryMaxMB: total('MemoryMaxMB'),
      DiskMB: Shared.DiskMB,
      Networks: Shared.Networks ?? null,
    },
    TaskResources: Object.fromEntries(entries),
  };
}
