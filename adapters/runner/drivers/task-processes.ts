import { readdirSync } from 'node:fs';
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
