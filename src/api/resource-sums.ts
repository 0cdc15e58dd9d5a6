import type { AllocatedResources } from '../scheduler/allocated-resources.js';

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
export function resourceSums({ Tasks, Shared }: AllocatedResources): {
  readonly Resources: ResourceSum;
  readonly TaskResources: Readonly<Record<string, ResourceSum>>;
} {
  const entries = Object.entries(Tasks).map(([task, { Cpu, Memory }]) => {
    const sum = {
      ...nothing,
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
      ...nothing,
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

const nothing: ResourceSum = {
  CPU: 0,
  Cores: 0,
  MemoryMB: 0,
  MemoryMaxMB: 0,
  DiskMB: 0,
  IOPS: 0,
  Networks: null,
  Devices: null,
  NUMA: null,
  SecretsMB: 0,
};
