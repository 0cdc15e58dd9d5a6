import { zeroResources } from '../jobs/document/resources.js';
import type { AllocatedResources } from './allocated-resources.js';

/** What is allocated, in the form in which jobs ask for it (job interface, allocations): older clients read this one. */
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

/** The resources of each task, and of all together with what they share. */
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
