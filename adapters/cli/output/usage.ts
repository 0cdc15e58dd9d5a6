import type { AllocationUsage, HostUsage } from '../../../src/agent/link/node-command.js';
import { facts, tableOf } from './tables.js';

/** The current resource usage of an allocation's tasks. */
export function usageText({ tasks }: AllocationUsage): string {
  const rows = Object.entries(tasks).map(([name, { userPercent, systemPercent, residentBytes, processes }]) => [
    name,
    percent(userPercent + systemPercent),
    mebibytes(residentBytes),
    String(processes.length),
  ]);
  return tableOf(['Task', 'Processor', 'Memory', 'Processes'], rows, 'no task runs');
}

/** The current resource usage of a node. */
export function hostUsageText({ memory, processors, disk, uptime }: HostUsage): string {
  const busy = processors.reduce((sum, { user, system }) => sum + user + system, 0) / Math.max(processors.length, 1);
  return facts({
    Processors: `${percent(busy)} of ${processors.length}`,
    Memory: `${mebibytes(memory.total - memory.available)} of ${mebibytes(memory.total)}`,
    Disk: disk === null ? undefined : `${mebibytes(disk.size - disk.available)} of ${mebibytes(disk.size)}`,
    Folder: disk?.folder,
    Up: `${uptime} s`,
  });
}

function percent(value: number): string {
  return `${value.toFixed(1)} %`;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
