import { table } from '../shared/table.js';

/** The node attribute that lists what a node provides, separated by commas; a node without it counts as providing everything. */
export const needsAttribute = 'runner.provides';

/**
 * Whether the node's agent sends heartbeats. `disconnected` is set instead of `down` while a group on the node allows it;
 * `initializing` is not set here.
 */
export type NodeStatus = 'initializing' | 'ready' | 'down' | 'disconnected';

/** A task driver, as the node's agent detected it. */
export interface NodeDriver {
  /** Attributes that the driver reports; null for none. */
  readonly Attributes: Readonly<Record<string, string>> | null;
  /** Whether the driver is usable on the host. */
  readonly Detected: boolean;
  /** Whether the driver can start tasks now. Unhealthy drivers get none. */
  readonly Healthy: boolean;
  /** Reason for the driver's health, for display. */
  readonly HealthDescription: string;
  /** RFC 3339. */
  readonly UpdateTime: string;
}

/** A network interface that tasks share with their host, or that a network plugin creates for them. */
export interface NodeNetwork {
  /** `host`, `bridge`, `cni/<name>`. */
  readonly Mode: string;
  /** The interface, such as `eth0`. */
  readonly Device: string;
  /** The address of the interface. */
  readonly IP: string;
  /** The network of the address. */
  readonly CIDR?: string;
  /** The speed of the interface in Mbit/s. Informational only. */
  readonly MBits?: number;
}

/** An interface with its addresses, from which host networks are resolved. */
export interface NodeInterface {
  /** `host` for an interface of the host, otherwise as in `NodeNetwork`. */
  readonly Mode: string;
  /** The interface, such as `eth0`. */
  readonly Device: string;
  /** Hexadecimal bytes with colons. Informational only. */
  readonly MacAddress?: string;
  /** Mbit/s. Informational only. */
  readonly Speed?: number;
  /** Null for none. */
  readonly Addresses: readonly NodeAddress[] | null;
}

/** An address of a network interface of a node. */
export interface NodeAddress {
  /** `ipv4` or `ipv6`. */
  readonly Family?: string;
  /** The host network's name; `default` is the one that ports get unless they name another. */
  readonly Alias: string;
  /** The IP address. */
  readonly Address: string;
  /** Ports that are never assigned to allocations, such as `22,8000-8999`. */
  readonly ReservedPorts?: string;
  /** The router of the network. Informational only. */
  readonly Gateway?: string;
}

/** A typed value; exactly one of the first four members is set. */
export interface DeviceAttribute {
  readonly Float?: number;
  readonly Int?: number;
  readonly String?: string;
  readonly Bool?: boolean;
  /** The unit of a number, such as `MiB` or `GHz`. */
  readonly Unit?: string;
}

/** Devices of one kind: `<vendor>/<type>/<name>`. */
export interface NodeDeviceGroup {
  readonly Vendor: string;
  readonly Type: string;
  readonly Name: string;
  /** The devices; only healthy ones are assigned. */
  readonly Instances: readonly {
    readonly ID: string;
    readonly Healthy: boolean;
    readonly HealthDescription?: string;
  }[];
  /** Attributes that all instances share, for constraints. */
  readonly Attributes: Readonly<Record<string, DeviceAttribute>> | null;
}

/** A folder of the host that allocations may mount. */
export interface NodeHostVolume {
  /** The name by which jobs request it. */
  readonly Name: string;
  /** The folder on the host. */
  readonly Path: string;
  /** Whether allocations may only read it. */
  readonly ReadOnly: boolean;
  readonly ID?: string;
}

/** How a node is drained. */
export interface DrainStrategy {
  /** Nanoseconds; 0 means no deadline, a negative value ends everything at once. */
  readonly Deadline: number;
  /** Whether system jobs stay on the node. */
  readonly IgnoreSystemJobs: boolean;
  /** RFC 3339; null without a deadline. */
  readonly ForceDeadline: string | null;
  /** RFC 3339. */
  readonly StartedAt: string;
}

/** The progress of a node's latest drain, and who requested it. */
export interface DrainMetadata {
  /** RFC 3339. */
  readonly StartedAt: string;
  /** When the status last changed, RFC 3339. */
  readonly UpdatedAt: string;
  /** Whether the drain is in progress, has completed, or was cancelled. */
  readonly Status: 'draining' | 'complete' | 'canceled';
  /** The token that requested the drain; empty for the host. */
  readonly AccessorID: string;
  /** Values that the caller attached to the drain; null for none. */
  readonly Meta: Readonly<Record<string, string>> | null;
}

/** An event of a node, for its operators. */
export interface NodeEvent {
  /** A sentence for display. */
  readonly Message: string;
  /** The subsystem: `Cluster`, `Drain` and others. */
  readonly Subsystem: string;
  /** Further values; null for none. */
  readonly Details: Readonly<Record<string, string>> | null;
  /** RFC 3339. */
  readonly Timestamp: string;
  readonly CreateIndex: number;
}

/** A host that runs allocations. */
export interface Node {
  /** A UUID, which the agent keeps over restarts. */
  readonly ID: string;
  /** For display; the host name by default. Need not be unique. */
  readonly Name: string;
  /** The datacenter that the node declares, which jobs select by. */
  readonly Datacenter: string;
  /** The pool that the node belongs to; created when it does not exist. */
  readonly NodePool: string;
  /** A class that operators set; empty for none. */
  readonly NodeClass: string;
  /** Equal for nodes that no feasibility rule distinguishes. */
  readonly ComputedClass?: string;
  /** The configured address of the agent; empty if none. The server does not connect to it. */
  readonly HTTPAddr: string;
  /** Attributes that the agent detected on the host, for constraints (`${attr.cpu.arch}`). */
  readonly Attributes: Readonly<Record<string, string>>;
  /** Metadata of the node, for constraints (`${meta.rack}`): reported by the agent, with changes made over the interface applied. */
  readonly Meta: Readonly<Record<string, string>> | null;
  /** Not set here. */
  readonly Links?: Readonly<Record<string, string>> | null;
  /** All resources of the host. */
  readonly NodeResources: {
    readonly Cpu: {
      /** MHz of all cores. */
      readonly CpuShares: number;
      /** Number of cores. */
      readonly TotalCpuCores: number;
      /** Cores that can be reserved for tasks; null: all. */
      readonly ReservableCpuCores: readonly number[] | null;
    };
    readonly Memory: { readonly MemoryMB: number };
    readonly Disk: { readonly DiskMB: number };
    /** Absent: one host network. */
    readonly Networks?: readonly NodeNetwork[] | null;
    /** Absent: the node's own address, as host network `default`. */
    readonly NodeNetworks?: readonly NodeInterface[] | null;
    readonly Devices?: readonly NodeDeviceGroup[] | null;
    /** The first dynamic port; 20000 by default. */
    readonly MinDynamicPort?: number;
    /** The last dynamic port; 32000 by default. */
    readonly MaxDynamicPort?: number;
  };
  /** Resources that are kept from allocations. */
  readonly ReservedResources: {
    readonly Cpu: { readonly CpuShares: number };
    readonly Memory: { readonly MemoryMB: number };
    readonly Disk: { readonly DiskMB: number };
    readonly Networks?: { readonly ReservedHostPorts: string };
  };
  /** By name of the driver. */
  readonly Drivers: Readonly<Record<string, NodeDriver>>;
  /** By name of the volume. */
  readonly HostVolumes?: Readonly<Record<string, NodeHostVolume>> | null;
  /** Whether the node gets new allocations. */
  readonly SchedulingEligibility: 'eligible' | 'ineligible';
  /** Set while the node is being drained. */
  readonly DrainStrategy?: DrainStrategy | null;
  /** The current or last drain; absent before the first. */
  readonly LastDrain?: DrainMetadata | null;
  /** The maximum number of simultaneous allocations; 0 or absent: no limit. */
  readonly NodeMaxAllocs?: number;
  /** Whether the agent sends heartbeats. */
  readonly Status: NodeStatus;
  /** Reason for the status, for display; may be empty. */
  readonly StatusDescription: string;
  /** Unix seconds. */
  readonly StatusUpdatedAt: number;
  /** The ten newest events. */
  readonly Events?: readonly NodeEvent[] | null;
  /** The index of the write that registered the node. */
  readonly CreateIndex: number;
  /** The index of the last write that changed it. */
  readonly ModifyIndex: number;
}

/** The features that the node declares to provide to tasks; undefined when it declares none, and then counts as providing all of them. */
export function provisionOf({ Attributes }: Pick<Node, 'Attributes'>): string | undefined {
  return Object.hasOwn(Attributes, needsAttribute) ? Attributes[needsAttribute] : undefined;
}

export const nodes = table<Node>('nodes', (node) => [node.ID], {
  /** Nodes that are being drained. */
  draining: { version: 1, key: (node) => (isDraining(node) ? [node.ID] : undefined) },
  by_pool: { version: 1, key: (node) => [node.NodePool, node.ID] },
  /** By provided features; nodes without a declaration come first. */
  by_provision: { version: 1, key: (node) => [provisionOf(node) ?? '', node.ID] },
});

/** When a node was last heard from. A separate record, so that a heartbeat is not a change of the node. */
interface NodeHeartbeat {
  readonly ID: string;
  /** Monotonic time of the process that marked the node as down, and its timeline. */
  readonly timeline: string;
  readonly at: number;
}

export const nodeHeartbeats = table<NodeHeartbeat>('node_heartbeats', (heartbeat) => [heartbeat.ID]);

/** Whether the node takes new allocations. */
export function isReadyNode(node: Pick<Node, 'Status' | 'SchedulingEligibility' | 'DrainStrategy'>): boolean {
  return node.Status === 'ready' && node.SchedulingEligibility === 'eligible' && !isDraining(node);
}

export function isDraining(node: Pick<Node, 'DrainStrategy'>): boolean {
  return node.DrainStrategy !== undefined && node.DrainStrategy !== null;
}
