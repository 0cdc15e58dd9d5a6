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
  /** When it was taken, in milliseconds. */
  readonly at: number;
}

/** The processes of each group. */
type Groups = ReadonlyMap<number, ReadonlyMap<number, Sample>>;

/** What the processes of a group use, measured over a moment; nothing where there is no `/proc`. */
export async function groupUsage(group: number): Promise<TaskUsage> {
  if (process.platform !== 'linux') return noUsage;
  const before = (await processGroups()).get(group);
  await new Promise((resume) => setTimeout(resume, sampleTime));
  const after = (await processGroups()).get(group) ?? new Map<number, Sample>();
  const processes = [...after].map(([pid, { user, system, pages, at }]): ProcessUsage => {
    const earlier = before?.get(pid) ?? { user: 0, system: 0, at: at - sampleTime };
    const ticks = ((at - earlier.at) / 1000) * ticksPerSecond;
    return {
      pid,
      residentBytes: pages * pageBytes,
      userPercent: (Math.max(0, user - earlier.user) / ticks) * 100,
      systemPercent: (Math.max(0, system - earlier.system) / ticks) * 100,
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

/** Processes that are looked at in one turn of the loop. */
const slice = 64;

/** The look that is under way: all who ask meanwhile share it, such as those for the tasks of one allocation. */
let looking: Promise<Groups> | undefined;

function processGroups(): Promise<Groups> {
  looking ??= lookThrough().finally(() => {
    looking = undefined;
  });
  return looking;
}

async function lookThrough(): Promise<Groups> {
  const groups = new Map<number, Map<number, Sample>>();
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (let at = 0; at < pids.length; at += slice) {
    for (const pid of pids.slice(at, at + slice)) take(groups, pid);
    await new Promise((resume) => setImmediate(resume));
  }
  return groups;
}

function take(groups: Map<number, Map<number, Sample>>, pid: string): void {
  const fields = statOf(pid);
  if (fields === undefined) return;
  // After the command's name: state, parent, group, …, user and system time, …, resident pages.
  const [group, user, system, pages] = [2, 11, 12, 21].map((position) => Number(fields[position]));
  if (group === undefined || user === undefined || system === undefined || pages === undefined) return;
  const members = groups.get(group) ?? new Map<number, Sample>();
  groups.set(group, members.set(Number(pid), { user, system, pages, at: performance.now() }));
}

function statOf(pid: string): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
