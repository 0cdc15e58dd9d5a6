import { readdirSync, readFileSync } from 'node:fs';
import type { TaskUsage } from '../../../src/agent/link/node-command.js';

/** Ticks in a second and bytes in a page: what Linux has on every machine that Node runs on. */
const ticksPerSecond = 100;
const pageBytes = 4096;
const sampleTime = 200;

export const noUsage: TaskUsage = { residentBytes: 0, userPercent: 0, systemPercent: 0, processes: [] };

interface Sample {
  readonly user: number;
  readonly system: number;
  readonly pages: number;
  readonly processes: number[];
}

/** What the processes of a group use, measured over a moment; nothing where there is no `/proc`. */
export async function groupUsage(group: number): Promise<TaskUsage> {
  if (process.platform !== 'linux') return noUsage;
  const before = sample(group);
  const began = performance.now();
  await new Promise((resume) => setTimeout(resume, sampleTime));
  const after = sample(group);
  const ticks = ((performance.now() - began) / 1000) * ticksPerSecond;
  return {
    residentBytes: after.pages * pageBytes,
    userPercent: (Math.max(0, after.user - before.user) / ticks) * 100,
    systemPercent: (Math.max(0, after.system - before.system) / ticks) * 100,
    processes: after.processes,
  };
}

function sample(group: number): Sample {
  const sum: { user: number; system: number; pages: number; processes: number[] } = {
    user: 0,
    system: 0,
    pages: 0,
    processes: [],
  };
  for (const pid of readdirSync('/proc')) {
    const fields = /^\d+$/.test(pid) ? statOf(pid) : undefined;
    // After the command's name: state, parent, group, …, user and system time, …, resident pages.
    if (fields === undefined || Number(fields[2]) !== group) continue;
    sum.user += Number(fields[11]);
    sum.system += Number(fields[12]);
    sum.pages += Number(fields[21]);
    sum.processes.push(Number(pid));
  }
  return sum;
}

function statOf(pid: string): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
