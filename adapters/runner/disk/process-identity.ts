import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf, resultOr } from '../../../src/shared/values.js';
import { textIn } from './text-file.js';

/** Identity of a process, which a later process with the same PID does not share. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in clock ticks of the kernel; empty without /proc. */
  readonly startTime: string;
}

/** The scope of process numbers: the host, its boot and the PID namespace. */
export interface ProcessScope {
  readonly host: string;
  readonly boot: string;
  readonly namespace: string;
}

export function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid);
}

export function identityOf(pid: number): ProcessIdentity {
  return { pid, startTime: startTimeOf(pid) ?? '' };
}

export function ownScope(): ProcessScope {
  return {
    host: hostname(),
    boot: resultOr('', () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: resultOr('', () => readlinkSync('/proc/self/ns/pid')),
  };
}

/** A zombie counts as ended; an existing process that cannot be inspected, for example for want of file handles, as alive. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false;
  }
  if (startTime === '') return true;
  try {
    const stat = statOf(pid);
    return stat !== undefined && startTimeFromStat(stat) === startTime && !isZombie(stat);
  } catch {
    return true;
  }
}

function startTimeOf(pid: number): string | undefined {
  const stat = resultOr(undefined, () => statOf(pid));
  return stat === undefined ? undefined : startTimeFromStat(stat);
}

/** Field 22 of /proc/<pid>/stat, counted after the command name, which may contain spaces and brackets. */
export function startTimeFromStat(stat: string): string {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function isZombie(stat: string): boolean {
  const state = stat.charAt(stat.lastIndexOf(')') + 2);
  return state === 'Z' || state === 'X';
}

function statOf(pid: number): string | undefined {
  return textIn(`/proc/${pid}/stat`);
}
