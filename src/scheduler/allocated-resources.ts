import type { NetworkResource } from '../jobs/document/network.js';

/** Instances of one device group that a task may use. */
export interface AllocatedDevice {
  readonly Vendor: string;
  readonly Type: string;
  readonly Name: string;
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
    readonly MemoryMB: number;
    /** 0 without oversubscription, -1 without limit. */
    readonly MemoryMaxMB: number;
  };
  readonly Networks: readonly AllocatedNetwork[] | null;
  readonly Devices: readonly AllocatedDevice[] | null;
}

/** A network as the job asks for it, with the address and the ports that it got. */
export interface AllocatedNetwork extends NetworkResource {
  readonly Device?: string;
}

/** A port of the group's network. Members with an empty value are left out. */
export interface AllocatedPort {
  readonly Label: string;
  /** The port on the host. */
  readonly Value: number;
  /** The port inside the network namespace. */
  readonly To?: number;
  readonly HostIP?: string;
  readonly IgnoreCollision?: boolean;
}

/** What an allocation got of its node (job interface, AllocatedResources). */
export interface AllocatedResources {
  readonly Tasks: Readonly<Record<string, AllocatedTaskResources>>;
  readonly TaskLifecycles: Readonly<Record<string, { readonly Hook: string; readonly Sidecar: boolean } | null>>;
  readonly Shared: {
    readonly Networks: readonly AllocatedNetwork[] | null;
    readonly DiskMB: number;
    readonly Ports: readonly AllocatedPort[] | null;
  };
}
