import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessUsage, TaskUsage } from '../../../src/agent/link/node-command.js';

/** Ticks in a second and bytes in a page: what Linux has on every machine that Node runs on. */
const ticksPerSecond = 100;
const pageBytes = 4096;
const sampleTime = 200;

export const noUsage: TaskUsage = { residentBytes: 0, userPercent: 0, systemPercent: 0, processes: [] };

/** Times in ticks since the process began. */
interface Sample {
  readonly user: number;
  readonly system: number;
  readonly pages: number;
}

/** What the processes of a group use, measured over a moment; nothing where there is no `/proc`. */
export async function groupUsage(group: number): Promise<TaskUsage> {
  if (process.platform !== 'linux') return noUsage;
  const before = sample(group);
  const began = performance.now();
  await new Promise((resume) => setTimeout(resume, sampleTime));
  const after = sample(group);
  const ticks = ((performance.now() - began) / 1000) * ticksPerSecond;
  const processes = [...after].map(([pid, { user, system, pages }]): ProcessUsage => {
    const earlier = before.get(pid);
    return {
      pid,
      residentBytes: pages * pageBytes,
      userPercent: (Math.max(0, user - (earlier?.user ?? 0)) / ticks) * 100,
      systemPercent: (Math.max(0, system - (earlier?.system ?? 0)) / ticks) * 100,
    };
  });
  const sum = (of: (usage: ProcessUsage) => number): number => processes.reduce((total, each) => total + of(each), 0);
  return {
    residentBytes: sum(({ residentBytes }) => residentBytes),
    userPercent: sum(({ userPercent }) => userPercent),
    systemPercent: sum(({ systemPercent }) => systemPercent),
    processes,
  };
}

function sample(group: number): ReadonlyMap<number, Sample> {
  const samples = new Map<number, Sample>();
  for (const pid of readdirSync('/proc')) {
    const fields = /^\d+$/.test(pid) ? statOf(pid) : undefined;
    // After the command's name: state, parent, group, …, user and system time, …, resident pages.
    if (fields === undefined || Number(fields[2]) !== group) continue;
    samples.set(Number(pid), { user: Number(fields[11]), system: Number(fields[12]), pages: Number(fields[21]) });
  }
  return samples;
}

function statOf(pid: string): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
