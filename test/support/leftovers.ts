import { readdirSync, readFileSync } from 'node:fs';

/** Looks through the processes until none is found any more; one may have forked while it was looked for, or have had no time to end. */
const rounds = 1500;
/** Milliseconds between two looks. */
const pause = 20;

/**
 * Ends every process whose command or environment names the folder, each with its process group: the tasks of a runner that
 * keeps its files there, and the collectors of their output. They have groups of their own and outlive a server that is
 * killed. Does nothing where there is no `/proc`.
 */
export function endProcessesOf(folder: string): void {
  for (let round = 0; round < rounds; round += 1) {
    const found = processesOf(folder);
    if (found.length === 0) return;
    for (const { pid, group } of found) {
      kill(-group);
      kill(pid);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
  }
}

interface Found {
  readonly pid: number;
  readonly group: number;
}

/** A process that ended but that nobody has collected yet counts as gone. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

/** Processes that name the folder, without those of this process's own group. */
export function processesOf(folder: string): readonly Found[] {
  const own = groupOf('self');
  return pids().flatMap((pid) => {
    const group = groupOf(pid);
    if (group === undefined || group === own || !names(pid, folder)) return [];
    return [{ pid: Number(pid), group }];
  });
}

function pids(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function names(pid: string, folder: string): boolean {
  return readOf(pid, 'cmdline').includes(folder) || readOf(pid, 'environ').includes(folder);
}

/** Field 5 of `stat`, counted behind the command, which may hold blanks. Undefined for what is gone or only not collected. */
function groupOf(pid: string): number | undefined {
  const stat = readOf(pid, 'stat');
  const [state = 'Z', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || group === undefined ? undefined : Number(group);
}

/** Empty for a process that is gone or somebody else's. */
function readOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
