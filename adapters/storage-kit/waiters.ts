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

/** Those that wait for the same tables. They are few: each place in the code waits for its own tables, in one order. */
type Group = Set<Wake>;

/** Groups of callbacks by table, so that a write wakes only the waiters of its tables, and that a waiter enters one set. */
export function waiters(): Waiters {
  const groups = new Map<string, Group>();
  const byTable = new Map<string, Group[]>();
  const bySignal = new Map<EventTarget | null, Set<Wake>>();
  // One listener for each signal, whatever the number of its waiters: thousands of them share the signal that stops an engine.
  const onAbort = (event: Event) => wakeAll(bySignal.get(event.target));
  const groupOf = (tables: readonly string[]): Group => {
    const name = tables.join();
    let group = groups.get(name);
    if (group === undefined) {
      group = new Set();
      groups.set(name, group);
      for (const table of tables) byTable.set(table, [...(byTable.get(table) ?? []), group]);
    }
    return group;
  };
  return {
    wait: (tables, signal) =>
      new Promise((resolve) => {
        const group = groupOf(tables);
        const wake = () => {
          group.delete(wake);
          if (leave(bySignal, signal, wake)) signal.removeEventListener('abort', onAbort);
          resolve();
        };
        group.add(wake);
        if (enter(bySignal, signal, wake)) signal.addEventListener('abort', onAbort);
      }),
    wake(tables) {
      for (const table of tables) for (const group of byTable.get(table) ?? []) wakeAll(group);
    },
    releaseAll() {
      for (const waiting of [...bySignal.values()]) wakeAll(waiting);
    },
    count: () => bySignal.size,
  };
}

function wakeAll(waiting: Set<Wake> | undefined): void {
  // A copy, because each callback removes itself from the set.
  if (waiting !== undefined && waiting.size > 0) for (const wake of [...waiting]) wake();
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
