import { type FSWatcher, watch } from 'node:fs';
import { waiters } from './sqlite-waiters.js';

export interface Changes {
  /** Resolves at a wake that concerns one of the tables, at an abort or at `close`. */
  wait(tables: readonly string[], signal: AbortSignal): Promise<void>;
  /** This process committed changes to these tables. */
  wake(tables: readonly string[]): void;
  /** Starts looking for commits of other processes, for as long as someone waits. */
  observe(): void;
  close(): void;
}

/** Looks for foreign commits even when the file system reports nothing: network volumes, exhausted watches. */
const SAFETY_MS = 100;
/** Observation lingers for so many ticks without anyone waiting, so that a chain of waits does not set it up each time. */
const LINGER_TICKS = 20;

/**
 * Waiting for changes. A commit of another process shows as a change of the file's data version, which costs less than a
 * microsecond to ask; it is asked when the write-ahead log changes on disk, and by a safety timer. Neither keeps the
 * process alive. `changedElsewhere` names the tables that changed since it was last called.
 */
export function sqliteChanges(walPath: string | undefined, changedElsewhere: () => readonly string[]): Changes {
  const waiting = waiters();
  let observation: { readonly timer: NodeJS.Timeout; readonly watcher: FSWatcher | undefined } | undefined;
  let idleTicks = 0;
  let asked = false;

  function ask(): void {
    if (waiting.count() > 0) waiting.wake(changedElsewhere());
  }

  function askSoon(): void {
    if (asked) return;
    asked = true;
    // The log is written in pieces; by the end of the loop turn most of their reports have arrived.
    setImmediate(() => {
      asked = false;
      if (observation !== undefined) ask();
    });
  }

  function tick(): void {
    idleTicks = waiting.count() > 0 ? 0 : idleTicks + 1;
    if (idleTicks > LINGER_TICKS) stop();
    else ask();
  }

  function stop(): void {
    if (observation === undefined) return;
    clearInterval(observation.timer);
    observation.watcher?.close();
    observation = undefined;
  }

  return {
    wait: (tables, signal) => waiting.wait(tables, signal),
    wake: (tables) => waiting.wake(tables),
    observe() {
      idleTicks = 0;
      if (observation !== undefined || walPath === undefined) return;
      observation = { timer: setInterval(tick, SAFETY_MS).unref(), watcher: watchFile(walPath, askSoon) };
    },
    close() {
      stop();
      waiting.releaseAll();
    },
  };
}

function watchFile(path: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, changed);
    // For example when the file goes away: the safety timer still looks.
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
