import { type FSWatcher, watch } from 'node:fs';

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
/** Observation lingers for so many quiet ticks, so that a chain of waits does not set it up each time. */
const LINGER_TICKS = 20;

/**
 * Waiting for changes. A commit of another process shows as a change of the file's data version, which costs less than a
 * microsecond to ask; it is asked when the write-ahead log changes on disk, and by a safety timer. Neither keeps the
 * process alive.
 */
export function sqliteChanges(walPath: string | undefined, changedElsewhere: () => readonly string[]): Changes {
  const byTable = new Map<string, Set<() => void>>();
  const everyone = new Set<() => void>();
  let observation: { readonly timer: NodeJS.Timeout; readonly watcher: FSWatcher | undefined } | undefined;
  let quietTicks = 0;
  let asked = false;

  function ask(): void {
    if (everyone.size > 0) wake(changedElsewhere());
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
    quietTicks = everyone.size > 0 ? 0 : quietTicks + 1;
    if (quietTicks > LINGER_TICKS) stop();
    else ask();
  }

  function stop(): void {
    if (observation === undefined) return;
    clearInterval(observation.timer);
    observation.watcher?.close();
    observation = undefined;
  }

  function wake(tables: readonly string[]): void {
    for (const table of tables) for (const done of [...(byTable.get(table) ?? [])]) done();
  }

  return {
    wake,
    wait: (tables, signal) =>
      new Promise((resolve) => {
        const done = () => {
          for (const table of tables) leave(byTable, table, done);
          everyone.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        for (const table of tables) enter(byTable, table, done);
        everyone.add(done);
        signal.addEventListener('abort', done, { once: true });
      }),
    observe() {
      quietTicks = 0;
      if (observation !== undefined || walPath === undefined) return;
      observation = { timer: setInterval(tick, SAFETY_MS).unref(), watcher: watchFile(walPath, askSoon) };
    },
    close() {
      stop();
      for (const done of [...everyone]) done();
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

function enter(byTable: Map<string, Set<() => void>>, table: string, done: () => void): void {
  const waiting = byTable.get(table);
  if (waiting === undefined) byTable.set(table, new Set([done]));
  else waiting.add(done);
}

function leave(byTable: Map<string, Set<() => void>>, table: string, done: () => void): void {
  const waiting = byTable.get(table);
  waiting?.delete(done);
  if (waiting?.size === 0) byTable.delete(table);
}
