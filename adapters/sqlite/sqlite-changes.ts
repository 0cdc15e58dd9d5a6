import { type FSWatcher, watch } from 'node:fs';
import type { Waiters } from '../storage-kit/index.js';

export interface Changes {
  /** Watches for commits of other processes while there are waiters; `begun` if it was not watching before. */
  observe(waiting: Waiters): 'begun' | 'continued';
  close(): void;
}

/** Interval of the checks for foreign commits when the file system reports nothing: network volumes, exhausted watches. */
const safetyMs = 100;
/** Ticks without a waiter after which observation ends, so that consecutive waits do not set it up each time. */
const lingerTicks = 20;

/**
 * Commits of other processes. One shows as a change of the file's data version, which costs less than a microsecond to
 * ask; it is asked when the write-ahead log changes on disk, and by a safety timer. Neither keeps the process alive.
 * `changedElsewhere` names the tables that changed since it was last called.
 */
export function sqliteChanges(walPath: string | undefined, changedElsewhere: () => readonly string[]): Changes {
  let observation: { readonly timer: NodeJS.Timeout; readonly watcher: FSWatcher | undefined } | undefined;
  let idleTicks = 0;
  let asked = false;

  function ask(waiting: Waiters): void {
    if (waiting.count() > 0) waiting.wake(changedElsewhere());
  }

  function askSoon(waiting: Waiters): void {
    if (asked) return;
    asked = true;
    // The log is written in pieces; by the end of the loop turn most of their reports have arrived.
    setImmediate(() => {
      asked = false;
      if (observation !== undefined) ask(waiting);
    });
  }

  function tick(waiting: Waiters): void {
    idleTicks = waiting.count() > 0 ? 0 : idleTicks + 1;
    if (idleTicks > lingerTicks) stop();
    else ask(waiting);
  }

  function stop(): void {
    if (observation === undefined) return;
    clearInterval(observation.timer);
    observation.watcher?.close();
    observation = undefined;
  }

  return {
    observe(waiting) {
      idleTicks = 0;
      if (observation !== undefined) return 'continued';
      if (walPath === undefined) return 'begun';
      const timer = setInterval(() => tick(waiting), safetyMs).unref();
      observation = { timer, watcher: watchFile(walPath, () => askSoon(waiting)) };
      return 'begun';
    },
    close: stop,
  };
}

function watchFile(path: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, changed);
    // For example when the file is removed: the safety timer continues to check.
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
