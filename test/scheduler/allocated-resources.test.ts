import { describe, expect, it } from 'vitest';
import { resourceSums } from '../../src/scheduler/allocated-resources.js';

describe('resources in the form in which jobs ask for them', () => {
  it('are those of each task, and of all with what they share', () => {
    const task = (shares: number, cores: number[] | null, memory: number) => ({
      Cpu: { CpuShares: shares, ReservedCores: cores },
      Memory: { MemoryMB: memory, MemoryMaxMB: 2 * memory },
      Networks: null,
      Devices: null,
    });
    const Shared = { Networks: [{ IP: '10.0.0.1' }], DiskMB: 300, Ports: null } as never;
    const sums = resourceSums({
      Tasks: { one: task(100, null, 64), two: task(2000, [3, 4], 128) },
      TaskLifecycles: {},
      Shared,
    });
    expect(sums.Resources).toMatchObject({
      CPU: 2100,
      Cores: 2,
      MemoryMB: 192,
      MemoryMaxMB: 384,
      DiskMB: 300,
      Networks: [{ IP: '10.0.0.1' }],
    });
    expect(sums.TaskResources['two']).toMatchObject({ CPU: 2000, Cores: 2, MemoryMB: 128, DiskMB: 0, Networks: null });
  });
});
