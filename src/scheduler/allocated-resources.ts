import type { NetworkResource } from '../jobs/document/network.js';

/** Instances of one device group that a task may use. */
export interface AllocatedDevice {
  readonly Vendor: string;
  readonly Type: string;
  readonly Name: string;
  /** IDs of the instances that the task may use. */
  readonly DeviceIDs: readonly string[];
}

/** What one task got of the node. */
export interface AllocatedTaskResources {
  readonly Cpu: {
    /** MHz; of reserved cores, the sum of their clock rates. */
    readonly CpuShares: number;
    /** Numbers of the cores that no other task uses; null when the task shares the processor. */
    readonly ReservedCores: readonly number[] | null;
  };
  readonly Memory: {
    /** MiB. */
    readonly MemoryMB: number;
    /** MiB; 0 without oversubscription, -1 without limit. */
    readonly MemoryMaxMB: number;
  };
  /** Networks of the task itself, which groups have replaced; null when there are none. */
  readonly Networks: readonly AllocatedNetwork[] | null;
  /** Null when the task asks for none. */
  readonly Devices: readonly AllocatedDevice[] | null;
}

/** A network as the job asks for it, with the address and the ports that it got. */
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
  /** Whether other allocations of the node may have the same port. */
  readonly IgnoreCollision?: boolean;
}

/** What an allocation got of its node (job interface, AllocatedResources). */
export interface AllocatedResources {
  /** By name of the task. */
  readonly Tasks: Readonly<Record<string, AllocatedTaskResources>>;
  /** By name of the task; null for main tasks. Tasks that never run at the same time share resources. */
  readonly TaskLifecycles: Readonly<Record<string, { readonly Hook: string; readonly Sidecar: boolean } | null>>;
  /** What the tasks of the allocation have together. */
  readonly Shared: {
    readonly Networks: readonly AllocatedNetwork[] | null;
    readonly DiskMB: number;
    readonly Ports: readonly AllocatedPort[] | null;
  };
}
