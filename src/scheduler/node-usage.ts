import { table } from '../shared/table.js';
import type { AllocatedResources } from './allocated-resources.js';
import type { Allocation } from './allocation.js';
import { isClientTerminal } from './allocation.js';

/** Amounts in MHz, MiB and MiB. */
export interface Capacity {
  readonly cpu: number;
  readonly memory: number;
  readonly disk: number;
}

export const noCapacity: Capacity = { cpu: 0, memory: 0, disk: 0 };

/** What the allocations use that a node has not finished with; kept beside the node so that no placement has to add them up. */
export interface NodeUsage extends Capacity {
  readonly ID: string;
}

export const nodeUsages = table<NodeUsage>('node_usages', (usage) => [usage.ID]);

/** What an allocation uses of its node: nothing once the node has finished with it. */
export function capacityUsedBy(allocation: Allocation | undefined): Capacity {
  return allocation === undefined || isClientTerminal(allocation)
    ? noCapacity
    : capacityOf(allocation.AllocatedResources);
}

/** The most that the tasks use at one moment: main tasks with their sidecars, before them the prestart tasks, after them the poststop tasks. */
export function capacityOf(resources: AllocatedResources): Capacity {
  const phases = { before: { cpu: 0, memory: 0 }, main: { cpu: 0, memory: 0 }, after: { cpu: 0, memory: 0 } };
  for (const [name, task] of Object.entries(resources.Tasks)) {
    const lifecycle = resources.TaskLifecycles[name] ?? null;
    for (const phase of phasesOf(lifecycle)) {
      phases[phase].cpu += task.Cpu.CpuShares;
      phases[phase].memory += task.Memory.MemoryMB;
    }
  }
  return {
    cpu: Math.max(phases.before.cpu, phases.main.cpu, phases.after.cpu),
    memory: Math.max(phases.before.memory, phases.main.memory, phases.after.memory),
    disk: resources.Shared.DiskMB,
  };
}

export function addCapacity(left: Capacity, right: Capacity): Capacity {
  return { cpu: left.cpu + right.cpu, memory: left.memory + right.memory, disk: left.disk + right.disk };
}

export function subtractCapacity(left: Capacity, right: Capacity): Capacity {
  return { cpu: left.cpu - right.cpu, memory: left.memory - right.memory, disk: left.disk - right.disk };
}

function phasesOf(
  lifecycle: { readonly Hook: string; readonly Sidecar: boolean } | null,
): readonly ('before' | 'main' | 'after')[] {
  if (lifecycle === null || lifecycle.Hook === 'poststart') return ['main'];
  if (lifecycle.Hook === 'poststop') return ['after'];
  return lifecycle.Sidecar ? ['before', 'main'] : ['before'];
}
