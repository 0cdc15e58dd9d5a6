/** The callers that wait for a change of some tables. */
export interface Waiters {
  /** Resolves at a wake, an abort or `releaseAll`, whichever comes first. */
  wait(tables: readonly string[], signal: AbortSignal): Promise<void>;
  /** Wakes everyone who waits for one of the tables. */
  wake(tables: Iterable<string>): void;
  releaseAll(): void;
}

/** One set of callbacks for each table, so that a write wakes only those whom it concerns. */
export function waiters(): Waiters {
  const byTable = new Map<string, Set<() => void>>();
  const everyone = new Set<() => void>();
  return {
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
    wake(tables) {
      for (const table of tables) for (const done of [...(byTable.get(table) ?? [])]) done();
    },
    releaseAll() {
      for (const done of [...everyone]) done();
    },
  };
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
