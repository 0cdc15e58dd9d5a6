import type { HostUsage } from '../../agent/link/node-command.js';
import { inArea } from '../access.js';
import { computed, nothing } from '../answers.js';
import { writeServer } from '../call.js';
import { commandErrors } from '../common-inputs.js';
import { inQuery } from '../inputs.js';
import { text } from '../text-codecs.js';

function hostUsageOnTheWire({ memory, processors, disk, uptime, at }: HostUsage): unknown {
  const { total, available } = memory;
  // Without a folder zeros: clients read the members without checking.
  const { folder, size, available: free } = disk ?? { folder: '', size: 0, available: 0 };
  const diskDocument = {
    Device: '',
    Mountpoint: folder,
    Size: size,
    Used: size - free,
    Available: free,
    UsedPercent: size === 0 ? 0 : (100 * (size - free)) / size,
    InodesUsedPercent: 0,
  };
  return {
    Memory: { Total: total, Available: available, Used: total - available, Free: available },
    CPU: processors.map(({ user, system, idle, megahertz }, number) => ({
      CPU: `cpu${number}`,
      User: user,
      System: system,
      Idle: idle,
      TotalPercent: user + system,
      TotalTicks: ((user + system) / 100) * megahertz,
    })),
    DiskStats: disk === null ? [] : [diskDocument],
    AllocDirStats: diskDocument,
    DeviceStats: [],
    Uptime: uptime,
    CPUTicksConsumed: processors.reduce(
      (sum, { user, system, megahertz }) => sum + ((user + system) / 100) * megahertz,
      0,
    ),
    Timestamp: at * 1_000_000,
  };
}

/** Commands for whole nodes. */
export const nodeCommandCalls = {
  /** The current resource usage of a host. */
  stats: writeServer({
    path: '/v1/client/stats',
    methods: ['GET'],
    access: inArea('node', 'read'),
    summary: 'The current resource usage of a host: memory, processors, the disk of its allocations',
    inputs: { nodeId: inQuery('node_id', text, 'The node; default: the only node connected to this server') },
    errors: commandErrors,
    answer: computed<HostUsage>('HostUsage', hostUsageOnTheWire),
  }),

  /** Removes the folders of all ended allocations from a node, with the logs. */
  collect: writeServer({
    path: '/v1/client/gc',
    methods: ['PUT', 'POST', 'GET'],
    access: inArea('node', 'write'),
    summary: 'Removes the folders of all ended allocations from a node, with the logs',
    inputs: { nodeId: inQuery('node_id', text, 'The node; default: all nodes connected to this server') },
    errors: commandErrors,
    answer: nothing(200),
  }),
} as const;
