import { statfsSync } from 'node:fs';
import { cpus, freemem, totalmem, uptime } from 'node:os';
import type { HostUsage } from '../../../src/agent/link/node-command.js';

/** What this host uses at present. */
export function hostUsage(folder: string | null, at: number): HostUsage {
  return {
    memory: { total: totalmem(), available: freemem() },
    processors: cpus().map(({ times }) => {
      const all = times.user + times.nice + times.sys + times.idle + times.irq;
      const share = (part: number): number => (all === 0 ? 0 : (100 * part) / all);
      return { user: share(times.user + times.nice), system: share(times.sys + times.irq), idle: share(times.idle) };
    }),
    disk: folder === null ? null : diskOf(folder),
    uptime: Math.floor(uptime()),
    at,
  };
}

function diskOf(folder: string): HostUsage['disk'] {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { folder, size: blocks * bsize, available: bavail * bsize };
}
