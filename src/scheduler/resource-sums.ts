import { zeroResources } from '../jobs/document/resources.js';
import type { AllocatedResources } from './allocated-resources.js';

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
