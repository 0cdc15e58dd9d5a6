import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ProgramEnd {
  /** Null if it was killed at the limit. */
  readonly code: number | null;
  /** Standard output and standard error, interleaved. */
  readonly output: string;
}

/** Runs the program in a temporary folder instead of a folder of the project. */
export const ownFolder = Symbol('own folder');

/**
 * Runs a Node program to its end, for at most `limit` milliseconds. Its temporary files are in a folder that is removed at its end.
 * With `prints`, it is stopped when its output contains that string, which counts as success.
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
      output += `\nkilled: the program did not end within ${limit} ms\n`;
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

/** The environment without the variables of the test runner. */
function environment(temporary: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|TINYPOOL|NODE_OPTIONS|NODE_ENV)/.test(name));
  return { ...Object.fromEntries(own), TMPDIR: temporary };
}

/** Runs the tasks with limited concurrency. */
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
