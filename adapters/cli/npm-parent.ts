import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resultOr } from '../../src/shared/values.js';

/*
 * npm and npx run a program in a shell and send signals only to that shell, which does not forward them. A server that was started as
 * `npx signalbox serve` would keep running, and keep its port, without its terminal. So it ends with npm. A program that was put in
 * the background before it started (its parent is gone by then) or has its own session (setsid, a service manager) does not end with npm.
 */

/** Milliseconds between two checks, with `/proc` and with the program `ps`. */
const interval = process.platform === 'linux' ? 500 : 2000;

/** A process in the process table. */
interface ListedProcess {
  readonly parent: number;
  readonly session: string;
  readonly command: string;
}

/** Resolves when the npm that started this process has ended; never if npm did not start it. */
export function npmEnded(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const started = environment['npm_lifecycle_event'] !== undefined && process.platform !== 'win32';
  const chain = started ? chainToNpm() : undefined;
  return new Promise((resolve) => {
    if (chain === undefined) return;
    const timer = setInterval(() => {
      if (stands(chain)) return;
      clearInterval(timer);
      resolve();
    }, interval);
    timer.unref();
  });
}

/** The PIDs of this process, of the shell in between (if any) and of npm; undefined if npm is not found. */
function chainToNpm(): readonly number[] | undefined {
  const own = listed(process.pid);
  const parent = own && listed(own.parent);
  if (own === undefined || parent === undefined) return undefined;
  const direct = [process.pid, own.parent];
  if (isNpm(parent.command)) return parent.session === own.session ? direct : undefined;
  const above = isShell(parent.command) ? listed(parent.parent) : undefined;
  if (above === undefined || !isNpm(above.command) || above.session !== own.session) return undefined;
  return [...direct, parent.parent];
}

function isNpm(command: string): boolean {
  return /(^|[\s/])(npm|npx|pnpm|pnpx|yarn|yarnpkg)([\s.-]|$)/.test(command);
}

/** The shell that npm runs a program in: `sh -c 'signalbox' serve`. */
function isShell(command: string): boolean {
  return /^(\S*\/)?\w*sh\s+-\w*c\s/.test(command);
}

/** Whether each process is still the child of the next: the system assigns orphans another parent. */
function stands(chain: readonly number[]): boolean {
  return chain.slice(0, -1).every((pid, at) => {
    const parent = pid === process.pid ? process.ppid : listed(pid)?.parent;
    return parent === chain[at + 1];
  });
}

function listed(pid: number): ListedProcess | undefined {
  return resultOr(undefined, () => (process.platform === 'linux' ? fromProc(pid) : fromPs(pid)));
}

function fromProc(pid: number): ListedProcess {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may contain anything; state, parent, group and session follow.
  const [, parent = '', , session = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  return { parent: Number(parent), session, command };
}

function fromPs(pid: number): ListedProcess {
  const line = execFileSync('ps', ['-o', 'ppid=,sess=,command=', '-p', String(pid)], { encoding: 'utf8' });
  const [, parent = '', session = '', command = ''] = /^\s*(\d+)\s+(\S+)\s+(.*)/.exec(line) ?? [];
  return { parent: Number(parent), session, command };
}
