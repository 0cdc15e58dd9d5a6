import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ProgramEnd {
  /** Null when it was killed because it did not end by itself. */
  readonly code: number | null;
  /** Standard output and standard error as they came. */
  readonly output: string;
}

/** Where a program runs when it needs no folder of the project: its own temporary folder. */
export const ownFolder = Symbol('own folder');

/**
 * Runs a Node program to its end, at most for `limit` milliseconds. Its temporary files are made in a folder that is removed when it has
 * ended. With `prints`, it is stopped once its output contains that string,
 * which counts as success.
 */
export function runProgram(
  args: readonly string[],
  cwd: string | typeof ownFolder,
  limit: number,
  prints?: string,
): Promise<ProgramEnd> {
  const temporary = mkdtempSync(join(tmpdir(), 'signalbox-program-'));
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: cwd === ownFolder ? temporary : cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment(temporary),
    });
    let output = '';
    let printed = false;
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
      if (prints === undefined || printed || !output.includes(prints)) return;
      printed = true;
      child.kill('SIGKILL');
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const timer = setTimeout(() => {
      output += `\nkilled: the program did not end by itself within ${limit} ms\n`;
      child.kill('SIGKILL');
    }, limit);
    child.once('error', (error) => {
      output += error.message;
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
      resolve({ code: printed ? 0 : code, output });
    });
  });
}

/** What a program of a reader would see: nothing of the test runner. */
function environment(temporary: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|TINYPOOL|NODE_OPTIONS|NODE_ENV)/.test(name));
  return { ...Object.fromEntries(own), TMPDIR: temporary };
}

/** At most so many of the given tasks at a time: the machine has other work. */
export function inTurns(atOnce: number): <T>(task: () => Promise<T>) => Promise<T> {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
