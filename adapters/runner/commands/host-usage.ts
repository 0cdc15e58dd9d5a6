import { statfsSync } from 'node:fs';
import { type CpuInfo, cpus, freemem, totalmem, uptime } from 'node:os';
import type { HostUsage } from '../../../src/agent/link/node-command.js';
import { assumedMegahertz } from '../node/describe-host.js';

type Times = CpuInfo['times'];
type ProcessorUsage = HostUsage['processors'][number];

/** Fewest milliseconds of one processor between two measurements: the system counts in steps of 10. */
const shortestSpan = 200;

/** Measures the resource usage of this host. CPU shares count from the previous reading, in the first reading from the host's start. */
export class HostMeter {
  readonly #processors: () => readonly Pick<CpuInfo, 'times' | 'speed'>[];
  #last: readonly { readonly times: Times; readonly usage: ProcessorUsage }[] = [];

  constructor(processors: () => readonly Pick<CpuInfo, 'times' | 'speed'>[] = cpus) {
    this.#processors = processors;
  }

  /** `folder`: the agent's, on the measured disk; `at`: the time of the reading. */
  read(folder: string | null, at: number): HostUsage {
    return {
      memory: { total: totalmem(), available: freemem() },
      processors: this.#readProcessors(),
      disk: folder === null ? null : diskOf(folder),
      uptime: Math.floor(uptime()),
      at,
    };
  }

  #readProcessors(): readonly ProcessorUsage[] {
    this.#last = this.#processors().map(({ times, speed }, number) => {
      const last = this.#last[number];
      if (last === undefined) return { times, usage: usageIn(times, speed) };
      const passed = timesSince(last.times, times);
      return total(passed) < shortestSpan ? last : { times, usage: usageIn(passed, speed) };
    });
    return this.#last.map(({ usage }) => usage);
  }
}

function usageIn(times: Times, megahertz: number): ProcessorUsage {
  const all = total(times);
  const share = (part: number): number => (all === 0 ? 0 : (100 * part) / all);
  return {
    user: share(times.user + times.nice),
    system: share(times.sys + times.irq),
    idle: share(times.idle),
    megahertz: megahertz || assumedMegahertz,
  };
}

function timesSince(before: Times, now: Times): Times {
  return {
    user: now.user - before.user,
    nice: now.nice - before.nice,
    sys: now.sys - before.sys,
    idle: now.idle - before.idle,
    irq: now.irq - before.irq,
  };
}

function total({ user, nice, sys, idle, irq }: Times): number {
  return user + nice + sys + idle + irq;
}

function diskOf(folder: string): HostUsage['disk'] {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { folder, size: blocks * bsize, available: bavail * bsize };
}
