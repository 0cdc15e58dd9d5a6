/** The callers that wait for a change of some tables. */
export interface Waiters {
  /** Resolves at a wake, an abort or `releaseAll`, whichever comes first. The signal must not be aborted yet. */
  wait(tables: readonly string[], signal: AbortSignal): Promise<void>;
  /** Wakes all waiters of one of the tables. */
  wake(tables: Iterable<string>): void;
  releaseAll(): void;
  /** The number of signals of waiters: 0 exactly when there are no waiters. */
  count(): number;
}

type Wake = () => void;

/** One set of callbacks for each table, so that a write wakes only the waiters of its tables. */
export function waiters(): Waiters {
  const byTable = new Map<string, Set<Wake>>();
  const bySignal = new Map<AbortSignal, Set<Wake>>();
  // One listener for each signal, whatever the number of its waiters: thousands of them share the signal that stops an engine.
  const onAbort = (event: Event) => wakeAll(bySignal.get(event.target as AbortSignal));
  return {
    wait: (tables, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          for (const table of tables) leave(byTable, table, wake);
          if (leave(bySignal, signal, wake)) signal.removeEventListener('abort', onAbort);
          resolve();
        };
        for (const table of tables) enter(byTable, table, wake);
        if (enter(bySignal, signal, wake)) signal.addEventListener('abort', onAbort);
      }),
    wake(tables) {
      for (const table of tables) wakeAll(byTable.get(table));
    },
    releaseAll() {
      for (const waiting of [...bySignal.values()]) wakeAll(waiting);
    },
    count: () => bySignal.size,
  };
}

function wakeAll(waiting: Set<Wake> | undefined): void {
  // A copy, because each callback removes itself from the set.
  for (const wake of [...(waiting ?? [])]) wake();
}

/** Returns whether it is the first waiter. */
function enter<K>(groups: Map<K, Set<Wake>>, group: K, wake: Wake): boolean {
  const waiting = groups.get(group);
  if (waiting === undefined) groups.set(group, new Set([wake]));
  else waiting.add(wake);
  return waiting === undefined;
}

/** Returns whether it was the last waiter. */
function leave<K>(groups: Map<K, Set<Wake>>, group: K, wake: Wake): boolean {
  const waiting = groups.get(group);
  if (waiting === undefined || !waiting.delete(wake) || waiting.size > 0) return false;
  groups.delete(group);
  return true;
}
