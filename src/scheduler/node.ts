import { table } from '../shared/table.js';

export type NodeStatus = 'initializing' | 'ready' | 'down' | 'disconnected';

export interface NodeDriver {
  readonly Attributes: Readonly<Record<string, string>> | null;
  readonly Detected: boolean;
  readonly Healthy: boolean;
  readonly HealthDescription: string;
  /** RFC 3339. */
  readonly UpdateTime: string;
}

/** A host that runs allocations. */
export interface Node {
  readonly ID: string;
  readonly Name: string;
  readonly Datacenter: string;
  readonly NodePool: string;
  readonly NodeClass: string;
  readonly HTTPAddr: string;
  readonly Attributes: Readonly<Record<string, string>>;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly NodeResources: {
    readonly Cpu: {
      readonly CpuShares: number;
      readonly TotalCpuCores: number;
      readonly ReservableCpuCores: readonly number[] | null;
    };
    readonly Memory: { readonly MemoryMB: number };
    readonly Disk: { readonly DiskMB: number };
  };
  readonly ReservedResources: {
    readonly Cpu: { readonly CpuShares: number };
    readonly Memory: { readonly MemoryMB: number };
    readonly Disk: { readonly DiskMB: number };
  };
  readonly Drivers: Readonly<Record<string, NodeDriver>>;
  readonly SchedulingEligibility: 'eligible' | 'ineligible';
  readonly Status: NodeStatus;
  readonly StatusDescription: string;
  /** Unix seconds. */
  readonly StatusUpdatedAt: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export const nodes = table<Node>('nodes', (node) => [node.ID]);

/** When each node was last heard of; apart from the node, so that a heartbeat does not count as a change of the node. */
export interface NodeHeartbeat {
  readonly ID: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export const nodeHeartbeats = table<NodeHeartbeat>('node_heartbeats', (heartbeat) => [heartbeat.ID], {
  by_expiry: { key: (heartbeat) => [heartbeat.expiresAt] },
});

/** Takes new allocations. */
export function isReadyNode(node: Pick<Node, 'Status' | 'SchedulingEligibility'>): boolean {
  return node.Status === 'ready' && node.SchedulingEligibility === 'eligible';
}
