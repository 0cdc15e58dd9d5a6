import {
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { TaskStart } from './task-driver.js';

const lookInterval = 500;
const chunk = 64 * 1024;

/**
 * Keeps a task's logs within their limits while it runs: `<task>.stdout` is written by the task itself, so that it goes
 * on when the runner does not; when it is full its content moves to `<task>.stdout.<n>`, n rising, and the newest files
 * are kept. Gives a function that ends the watch.
 */
export function followLog(start: TaskStart): () => void {
  const { paths, logs } = start;
  if (paths === null || logs.disabled) return () => undefined;
  const streams = [`${start.task}.stdout`, `${start.task}.stderr`];
  const look = (): void => {
    for (const stream of streams) rotateIfFull(paths.logs, stream, logs.maximumFileBytes, logs.maximumFiles);
  };
  const timer = setInterval(look, lookInterval);
  timer.unref();
  return () => {
    clearInterval(timer);
    look();
  };
}

/** Moves the content of a full log away. What the task writes meanwhile is copied before the cut. */
export function rotateIfFull(directory: string, stream: string, maximumBytes: number, maximumFiles: number): void {
  const live = join(directory, stream);
  if (!existsSync(live) || statSync(live).size < maximumBytes) return;
  const numbers = rotatedNumbers(directory, stream);
  const rotated = join(directory, `${stream}.${(numbers.at(-1) ?? -1) + 1}`);
  copyFileSync(live, `${rotated}.new`);
  const source = openSync(live, 'r+');
  const target = openSync(`${rotated}.new`, 'a');
  try {
    let position = statSync(`${rotated}.new`).size;
    const buffer = Buffer.allocUnsafe(chunk);
    for (
      let read = readSync(source, buffer, 0, chunk, position);
      read > 0;
      read = readSync(source, buffer, 0, chunk, position)
    ) {
      writeSync(target, buffer, 0, read);
      position += read;
    }
    ftruncateSync(source, 0);
  } finally {
    closeSync(source);
    closeSync(target);
  }
  renameSync(`${rotated}.new`, rotated);
  const surplus = numbers.length + 1 - Math.max(1, maximumFiles - 1);
  for (const number of numbers.slice(0, Math.max(0, surplus)))
    rmSync(join(directory, `${stream}.${number}`), { force: true });
}

function rotatedNumbers(directory: string, stream: string): number[] {
  return readdirSync(directory)
    .filter((name) => name.startsWith(`${stream}.`) && /^\d+$/.test(name.slice(stream.length + 1)))
    .map((name) => Number(name.slice(stream.length + 1)))
    .sort((left, right) => left - right);
}
