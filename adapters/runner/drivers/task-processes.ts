import { readdirSync } from 'node:fs';
import { textIn } from '../disk/text-file.js';
import { untilPossible } from '../waiting.js';

/** Whose processes: they carry both names in their environment, wherever they went. */
interface ProcessOwner {
  readonly allocationId: string;
  readonly task: string;
}

interface Request extends ProcessOwner {
  readonly done: () => void;
}

/** Ends that come close together share one look through the processes. In milliseconds. */
const gathering = 10;
/** Processes that are considered in one turn of the loop. */
const slice = 64;
/** A process may have forked while it was looked for. */
const rounds = 5;

let waiting: Request[] = [];

/**
 * Ends processes of a task that left its group, as by `setsid`. They are found by their environment, where there is a
 * `/proc`; one that was given another environment is not. Resolves when none was found any more.
 */
export function endStrays(owner: ProcessOwner): Promise<void> {
  if (process.platform !== 'linux') return Promise.resolve();
  return new Promise((done) => {
    waiting.push({ ...owner, done });
    if (waiting.length > 1) return;
    setTimeout(() => {
      const requests = waiting;
      waiting = [];
      // Processes that cannot be considered at present may live: they are looked for again.
      untilPossible(() => sweep(requests)).then(
        () => settle(requests),
        () => settle(requests),
      );
    }, gathering);
  });
}

/** Whether any process of a task lives; undefined without `/proc`. Rejects when they cannot be considered at present. */
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

/** Undefined for processes that belong to no task or to another user, or that have ended (a dead process has no environment). */
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
