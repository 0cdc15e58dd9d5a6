import { readdirSync, readFileSync } from 'node:fs';

/** The most scans: a process may have forked during a scan, or not have ended yet. */
const rounds = 1500;
/** Milliseconds between two scans. */
const pause = 20;

/**
 * Kills every process whose command or environment contains the folder, each with its process group: the tasks of a runner with its
 * files in the folder, and the collectors of their output. They have separate groups and outlive a killed server. Does nothing without
 * `/proc`.
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

/** A zombie counts as ended. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

/** Processes that contain the folder, except those of this process's group. */
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

/** Field 5 of `stat`, counted after the command, which may contain blanks. Undefined for ended processes and zombies. */
function groupOf(pid: string): number | undefined {
  const stat = readOf(pid, 'stat');
  const [state = 'Z', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || group === undefined ? undefined : Number(group);
}

/** Empty for an ended process or one of another user. */
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
