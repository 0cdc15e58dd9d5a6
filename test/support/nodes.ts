import type { Node } from '../../src/scheduler/node.js';

/** A ready node with capacity for ten allocations of 100 MHz and 100 MB. */
export function nodeFrom(id: string, change: Partial<Node> = {}): Node {
  return {
    ID: id,
    Name: `node-${id}`,
    Datacenter: 'dc1',
    NodePool: 'default',
    NodeClass: '',
    HTTPAddr: '',
    Attributes: {},
    Meta: null,
    NodeResources: {
      Cpu: { CpuShares: 1000, TotalCpuCores: 1, ReservableCpuCores: null },
      Memory: { MemoryMB: 1000 },
      Disk: { DiskMB: 1000 },
    },
    ReservedResources: { Cpu: { CpuShares: 0 }, Memory: { MemoryMB: 0 }, Disk: { DiskMB: 0 } },
    Drivers: {
      raw_exec: {
        Attributes: null,
        Detected: true,
        Healthy: true,
        HealthDescription: '',
        UpdateTime: '2026-01-01T00:00:00Z',
      },
    },
    SchedulingEligibility: 'eligible',
    Status: 'ready',
    StatusDescription: '',
    StatusUpdatedAt: 0,
    CreateIndex: 1,
    ModifyIndex: 1,
    ...change,
  };
}

/** Resources of a node for a thousand of those allocations. */
export const muchRoom = {
  NodeResources: {
    Cpu: { CpuShares: 100_000, TotalCpuCores: 1, ReservableCpuCores: null },
    Memory: { MemoryMB: 100_000 },
    Disk: { DiskMB: 100_000 },
  },
};
