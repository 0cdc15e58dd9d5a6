import { needsAttribute } from '../jobs/task-needs.js';
import { table } from '../shared/table.js';

/**
 * Whether the node's agent sends heartbeats. `disconnected` is set instead of `down` while a group of the node allows it;
 * `initializing` is not set here.
 */
export type NodeStatus = 'initializing' | 'ready' | 'down' | 'disconnected';

/** A driver of tasks, as the node's agent found it. */
export interface NodeDriver {
  /** What the driver reports of itself; null for nothing. */
  readonly Attributes: Readonly<Record<string, string>> | null;
  /** Whether the driver can be used on the host. */
  readonly Detected: boolean;
  /** Whether the driver can start tasks now. Unhealthy drivers get none. */
  readonly Healthy: boolean;
  /** Why the driver is healthy or not, for people. */
  readonly HealthDescription: string;
  /** RFC 3339. */
  readonly UpdateTime: string;
}

/** A network interface that tasks can share with their host, or that a network plugin makes for them. */
export interface NodeNetwork {
  /** `host`, `bridge`, `cni/<name>`. */
  readonly Mode: string;
  /** The interface, such as `eth0`. */
  readonly Device: string;
  /** The address of the interface. */
  readonly IP: string;
  /** The network of the address. */
  readonly CIDR?: string;
  /** The speed of the interface in Mbit/s. Nothing is decided by it. */
  readonly MBits?: number;
}

/** An interface with its addresses: what host networks are looked up in. */
export interface NodeInterface {
  /** `host` for an interface of the host, otherwise as in `NodeNetwork`. */
  readonly Mode: string;
  /** The interface, such as `eth0`. */
  readonly Device: string;
  /** Hexadecimal bytes with colons. Nothing is decided by it. */
  readonly MacAddress?: string;
  /** Mbit/s. Nothing is decided by it. */
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
  /** Ports that allocations never get, such as `22,8000-8999`. */
  readonly ReservedPorts?: string;
  /** The router of the network. Nothing is decided by it. */
  readonly Gateway?: string;
}

/** A value with its type; of the first four members exactly one is given. */
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
  /** The devices; only healthy ones are given out. */
  readonly Instances: readonly {
    readonly ID: string;
    readonly Healthy: boolean;
    readonly HealthDescription?: string;
  }[];
  /** What all instances have in common, for constraints. */
  readonly Attributes: Readonly<Record<string, DeviceAttribute>> | null;
}

/** A folder of the host that allocations may mount. */
export interface NodeHostVolume {
  /** The name by which jobs ask for it. */
  readonly Name: string;
  /** The folder on the host. */
  readonly Path: string;
  /** Whether allocations may only read it. */
  readonly ReadOnly: boolean;
  readonly ID?: string;
}

/** How a node is emptied. */
export interface DrainStrategy {
  /** Nanoseconds; 0 has no deadline, below 0 everything goes at once. */
  readonly Deadline: number;
  /** Whether system jobs stay on the node. */
  readonly IgnoreSystemJobs: boolean;
  /** RFC 3339; null without a deadline. */
  readonly ForceDeadline: string | null;
  /** RFC 3339. */
  readonly StartedAt: string;
}

/** How the latest drain of a node went, and who asked for it. */
export interface DrainMetadata {
  /** RFC 3339. */
  readonly StartedAt: string;
  /** When the status last changed, RFC 3339. */
  readonly UpdatedAt: string;
  /** Whether the drain continues, has emptied the node, or was ended early. */
  readonly Status: 'draining' | 'complete' | 'canceled';
  /** The token that asked for the drain; empty for the host. */
  readonly AccessorID: string;
  /** What the caller said about the drain; null for nothing. */
  readonly Meta: Readonly<Record<string, string>> | null;
}

/** Something that happened to a node, for its operators. */
export interface NodeEvent {
  /** A sentence for people. */
  readonly Message: string;
  /** What the event is about: `Cluster`, `Drain` and others. */
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
  /** For people; the host name unless the agent is given another. Need not be unique. */
  readonly Name: string;
  /** The datacenter that the node says it is in, by which jobs choose. */
  readonly Datacenter: string;
  /** The pool that the node belongs to; a new one is made when it does not exist. */
  readonly NodePool: string;
  /** A class that operators give; empty for none. */
  readonly NodeClass: string;
  /** Equal for nodes that every rule of feasibility sees as the same. */
  readonly ComputedClass?: string;
  /** The address that the agent is given; empty if none. The server does not connect to it. */
  readonly HTTPAddr: string;
  /** What the agent found out about the host, for constraints (`${attr.cpu.arch}`). */
  readonly Attributes: Readonly<Record<string, string>>;
  /** Names and values about the node, for constraints (`${meta.rack}`): those that the agent reports, with the changes made by the interface. */
  readonly Meta: Readonly<Record<string, string>> | null;
  /** Not set here. */
  readonly Links?: Readonly<Record<string, string>> | null;
  /** All that the host has. */
  readonly NodeResources: {
    readonly Cpu: {
      /** MHz of all cores. */
      readonly CpuShares: number;
      /** Number of cores. */
      readonly TotalCpuCores: number;
      /** Cores that tasks may have for themselves; null: all. */
      readonly ReservableCpuCores: readonly number[] | null;
    };
    readonly Memory: { readonly MemoryMB: number };
    readonly Disk: { readonly DiskMB: number };
    /** Absent: one host network. */
    readonly Networks?: readonly NodeNetwork[] | null;
    /** Absent: the node's own address, as host network `default`. */
    readonly NodeNetworks?: readonly NodeInterface[] | null;
    readonly Devices?: readonly NodeDeviceGroup[] | null;
    /** The first port that dynamic ports are taken from; 20000 unless given. */
    readonly MinDynamicPort?: number;
    /** The last port that dynamic ports are taken from; 32000 unless given. */
    readonly MaxDynamicPort?: number;
  };
  /** What of it is not for allocations. */
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
  /** While the node is being emptied. */
  readonly DrainStrategy?: DrainStrategy | null;
  /** The present drain, or the last one; absent before the first. */
  readonly LastDrain?: DrainMetadata | null;
  /** The most allocations at a time; 0 or absent: any number. */
  readonly NodeMaxAllocs?: number;
  /** Whether the agent sends heartbeats. */
  readonly Status: NodeStatus;
  /** Why the node has this status, for people; may be empty. */
  readonly StatusDescription: string;
  /** Unix seconds. */
  readonly StatusUpdatedAt: number;
  /** The last ten. */
  readonly Events?: readonly NodeEvent[] | null;
  /** The index of the write that registered the node. */
  readonly CreateIndex: number;
  /** The index of the last write that changed it. */
  readonly ModifyIndex: number;
}

/** What the node declares that it provides to tasks; undefined when it declares nothing, and then counts as providing everything. */
export function provisionOf({ Attributes }: Pick<Node, 'Attributes'>): string | undefined {
  return Object.hasOwn(Attributes, needsAttribute) ? Attributes[needsAttribute] : undefined;
}

export const nodes = table<Node>('nodes', (node) => [node.ID], {
  /** Those that are being emptied. */
  draining: { version: 1, key: (node) => (isDraining(node) ? [node.ID] : undefined) },
  by_pool: { version: 1, key: (node) => [node.NodePool, node.ID] },
  /** By what nodes provide to tasks; those without a declaration come first. */
  by_provision: { version: 1, key: (node) => [provisionOf(node) ?? '', node.ID] },
});

/** When each node was last heard from. A separate record, so that a heartbeat does not count as a change of the node. */
interface NodeHeartbeat {
  readonly ID: string;
  /** The monotonic time of the process that marked the node as down, and its timeline. */
  readonly timeline: string;
  readonly at: number;
}

export const nodeHeartbeats = table<NodeHeartbeat>('node_heartbeats', (heartbeat) => [heartbeat.ID]);

/** Takes new allocations. */
export function isReadyNode(node: Pick<Node, 'Status' | 'SchedulingEligibility' | 'DrainStrategy'>): boolean {
  return node.Status === 'ready' && node.SchedulingEligibility === 'eligible' && !isDraining(node);
}

export function isDraining(node: Pick<Node, 'DrainStrategy'>): boolean {
  return node.DrainStrategy !== undefined && node.DrainStrategy !== null;
}
