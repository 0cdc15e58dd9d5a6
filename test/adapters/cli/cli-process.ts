import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLineProgram } from '../../support/command-line.js';
import { endProcessesOf } from '../../support/leftovers.js';

export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  out(): string;
  error(): string;
  /** The origin that the first line of the output names. */
  origin(): Promise<string>;
  /** What the group of a pattern finds in the output, as soon as it does. */
  printed(pattern: RegExp): Promise<string>;
}

const children: Child[] = [];
/** Where the processes make their temporary files: a server without a file for its store keeps its runner's files there. */
let temporary: string | undefined;

/** The program and its arguments that are the command line from the sources. */
export function commandLine(args: readonly string[]): readonly [program: string, ...args: string[]] {
  return [process.execPath, commandLineProgram(), ...args];
}

/** Runs the command line from the sources, in a process group of its own. */
export function signalbox(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Child {
  const [program, ...rest] = commandLine(args);
  return start(program, rest, environment);
}

/** Runs any program that prints `listening on ORIGIN` as its first line when it is ready. */
export function start(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Child {
  const child = spawn(program, args, {
    env: { ...process.env, TMPDIR: temporaryFolder(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let out = '';
  let error = '';
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal }) as Ended);
  const origin = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      const found = /^listening on (http:\/\/\S+)\n/m.exec(out)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then((end) => reject(new Error(`ended with ${JSON.stringify(end)}: ${error}`)));
  });
  origin.catch(() => undefined);
  child.stderr.on('data', (chunk: Buffer) => {
    error += chunk.toString();
  });
  const printed = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(out)?.[1];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on('data', look);
      void ended.then((end) => reject(new Error(`ended with ${JSON.stringify(end)}: ${error}`)));
      look();
    });
  const started = { process: child, ended, out: () => out, error: () => error, origin: () => origin, printed };
  children.push(started);
  return started;
}

/** A folder of its own for what is started until the next `endAll`. */
export function temporaryFolder(): string {
  temporary ??= mkdtempSync(join(tmpdir(), 'signalbox-processes-'));
  return temporary;
}

/** Ends whatever the tests so far have started, with all its descendants and the tasks of its runners, and removes their files. */
export function endAll(): void {
  for (const { process: child } of children.splice(0)) {
    try {
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }
  if (temporary === undefined) return;
  endProcessesOf(temporary);
  rmSync(temporary, { recursive: true, force: true });
  temporary = undefined;
}
