import { readdirSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { ProcessUsage, TaskUsage } from '../../../src/agent/link/node-command.js';
import { textIn } from '../disk/text-file.js';
import { untilPossible } from '../waiting.js';

/** The owner of processes: both values are in the environment of each process, also after it left its group. */
interface ProcessOwner {
  readonly allocationId: string;
  readonly task: string;
}

interface Request extends ProcessOwner {
  readonly done: () => void;
}

/** Milliseconds within which several task ends share one scan of the processes. */
const gathering = 10;
/** Processes read per turn of the event loop. */
const slice = 64;
/** The most scans: a process may have forked during a scan. */
const rounds = 5;

let waiting: Request[] = [];

/**
 * Ends processes of a task that left its group, for example by `setsid`. They are found by their environment, if there is a
 * `/proc`; a process with a replaced environment is not found. Resolves when a scan finds none.
 */
export function endStrays(owner: ProcessOwner): Promise<void> {
  if (process.platform !== 'linux') return Promise.resolve();
  return new Promise((done) => {
    waiting.push({ ...owner, done });
    if (waiting.length > 1) return;
    setTimeout(() => {
      const requests = waiting;
      waiting = [];
      // Processes that cannot be read now may be alive: scan again.
      untilPossible(() => sweep(requests)).then(
        () => settle(requests),
        () => settle(requests),
      );
    }, gathering);
  });
}

/** Whether any process of a task is alive; undefined without `/proc`. Rejects if the processes cannot be read now. */
export async function hasProcesses(owner: ProcessOwner): Promise<boolean | undefined> {
  if (process.platform !== 'linux') return undefined;
  return (await processesOf(new Set([keyOf(owner)]))).length > 0;
}

function settle(requests: readonly Request[]): void {
  for (const { done } of requests) done();
}

async function sweep(requests: readonly ProcessOwner[]): Promise<void> {
  const wanted = new Set(requests.map(keyOf));
  for (let round = 0; round < rounds; round += 1) {
    const found = await processesOf(wanted);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    await new Promise((resume) => setTimeout(resume, 5 * (round + 1)));
  }
}

async function processesOf(wanted: ReadonlySet<string>): Promise<number[]> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found: number[] = [];
  for (let at = 0; at < pids.length; at += slice) {
    for (const pid of pids.slice(at, at + slice)) {
      const owner = ownerOf(pid);
      if (owner !== undefined && wanted.has(keyOf(owner))) found.push(Number(pid));
    }
    await new Promise((resume) => setImmediate(resume));
  }
  return found;
}

/** Undefined for processes without a task, of another user, or that have ended (their environment is empty). */
function ownerOf(pid: string): ProcessOwner | undefined {
  if (Number(pid) === process.pid) return undefined;
  const environment = textIn(`/proc/${pid}/environ`) ?? '';
  if (!environment.includes('SIGNALBOX_ALLOC_ID=')) return undefined;
  const variables = environment.split('\0');
  const value = (name: string): string =>
    variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
  return { allocationId: value('SIGNALBOX_ALLOC_ID'), task: value('SIGNALBOX_TASK_NAME') };
}

function keyOf({ allocationId, task }: ProcessOwner): string {
  return `${allocationId}/${task}`;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Clock ticks per second and bytes per page: the same on every Linux machine that Node supports. */
const ticksPerSecond = 100;
const pageBytes = 4096;
/** Milliseconds between two samples. */
const sampleTime = 1000;
/** Milliseconds that sampling continues after the last request: reading all processes is expensive. */
const sampledAfterRequest = 300_000;

export const noUsage: TaskUsage = { residentBytes: 0, userPercent: 0, systemPercent: 0, processes: [] };

/** CPU times in ticks since the start of the process. */
interface Sample {
  readonly user: number;
  readonly system: number;
  readonly pages: number;
  /** The start of the process and the time of the sample, in milliseconds since the host's boot. */
  readonly began: number;
  readonly at: number;
}

/** The processes of each group. */
type Groups = ReadonlyMap<number, ReadonlyMap<number, Sample>>;

/**
 * The usage of a process group in the second before the latest sample, without waiting for one. Without requests for
 * minutes, sampling stops: the next answer is then the average since each process started. Empty outside of Linux.
 */
export async function groupUsage(group: number): Promise<TaskUsage> {
  if (process.platform !== 'linux') return noUsage;
  const { before, last } = await samplesWith(group);
  const processes = [...(last.get(group) ?? [])].map(([pid, { user, system, pages, began, at }]): ProcessUsage => {
    const same = before?.get(group)?.get(pid);
    const earlier = same?.began === began ? same : { user: 0, system: 0, at: began };
    const ticks = (Math.max(at - earlier.at, 1000 / ticksPerSecond) / 1000) * ticksPerSecond;
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

interface Samples {
  readonly before: Groups | undefined;
  readonly last: Groups;
}

let samples: Promise<Samples> | undefined;
let requestedAt = 0;

/** A group that began after the latest sample gets a separate sample, which callers who ask meanwhile share. */
async function samplesWith(group: number): Promise<Samples> {
  const present = await latestSamples();
  if (present.last.has(group)) return present;
  young ??= processGroups().finally(() => {
    young = undefined;
  });
  return { before: present.last, last: await young };
}

let young: Promise<Groups> | undefined;

function latestSamples(): Promise<Samples> {
  requestedAt = performance.now();
  samples ??= firstSamples().catch((error: unknown) => {
    samples = undefined;
    throw error;
  });
  return samples;
}

async function firstSamples(): Promise<Samples> {
  const last = await processGroups();
  setTimeout(sampleAgain, sampleTime).unref();
  return { before: undefined, last };
}

function sampleAgain(): void {
  const present = samples;
  if (present === undefined || performance.now() - requestedAt > sampledAfterRequest) {
    samples = undefined;
    return;
  }
  // A sample that fails ends the sampling; the next request begins anew.
  sampleAfter(present).catch(() => {
    samples = undefined;
  });
}

async function sampleAfter(present: Promise<Samples>): Promise<void> {
  const [{ last }, next] = await Promise.all([present, processGroups()]);
  samples = Promise.resolve({ before: last, last: next });
  setTimeout(sampleAgain, sampleTime).unref();
}

async function processGroups(): Promise<Groups> {
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
  // After the command's name: state, parent, group, …, user and system time, …, start, …, resident pages.
  const [group = 0, user = 0, system = 0, start = 0, pages = 0] = [2, 11, 12, 19, 21].map((at) => Number(fields[at]));
  const members = groups.get(group) ?? new Map<number, Sample>();
  const began = (start / ticksPerSecond) * 1000;
  groups.set(group, members.set(Number(pid), { user, system, pages, began, at: uptime() * 1000 }));
}

function statOf(pid: string): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
