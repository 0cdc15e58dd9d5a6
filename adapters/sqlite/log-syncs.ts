import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import type { SqliteHandle } from './sqlite-handle.js';

/** Makes commits survive a power failure, if SQLite does not do so within the commit. */
export interface LogSyncs {
  /**
   * Call after each commit, with the number of writes that wait for it. Undefined if the commit is already on the disk. Resolves
   * when it is; rejects if the disk does not confirm it: then the state after a restart is unknown.
   */
  sync(writes: number): Promise<void> | undefined;
  /** Call before the connection is closed, and not while a sync is under way. */
  end(): Promise<void>;
}

/** SQLite's default: the commit waits for the disk and blocks the event loop. */
export const syncsByCommits: LogSyncs = { sync: () => undefined, end: () => Promise.resolve() };

/** When the event loop itself syncs: on a fast disk, a write that is alone takes up to a fifth longer in the thread pool. */
interface SyncTerms {
  /** With fewer waiting writes than this. */
  readonly fewWrites: number;
  /** And if the last sync took at most this many milliseconds. */
  readonly fastSync: number;
  /** Also when the thread pool has not synced within this many milliseconds: the host may have filled it with work that hangs. */
  readonly longestInPool: number;
}

const usualTerms: SyncTerms = { fewWrites: 4, fastSync: 1, longestInPool: 1000 };

/**
 * Syncs in Node's thread pool: each would block the event loop, for 0.2 ms on a fast disk and for several on a cloud volume. The first
 * commit waits for the disk itself, and so do all if the log cannot be opened.
 *
 * With `synchronous = NORMAL`, SQLite itself syncs the log before a checkpoint copies it, the file after that, and the header of a
 * restarted log. It omits only the sync after each commit, which is made here through a separate descriptor of the same log. SQLite
 * holds no locks on the log, so closing the descriptor releases none, and the log is not removed while the connection is open.
 */
export function pooledSyncs(handle: SqliteHandle, path: string, terms: SyncTerms = usualTerms): LogSyncs {
  let descriptor: number | undefined;
  let isWithinCommits = false;
  /** Of a sync that the event loop has made in the meantime: nothing later is confirmed either. */
  let lateFault: unknown;
  /** Syncs that the pool has not made: if there is one when the next is needed, the pool is full. */
  let inPoolNow = 0;
  /** Duration of the last sync in milliseconds. */
  let lastTook = 0;

  const open = (): undefined => {
    try {
      // For writing: Windows syncs no other descriptors.
      descriptor = openSync(`${path}-wal`, 'r+');
      // No transaction is open: every one begins and ends within one turn.
      handle.exec('PRAGMA synchronous = NORMAL');
    } catch {
      isWithinCommits = true;
    }
  };
  const now = (opened: number): unknown => {
    const began = performance.now();
    try {
      fdatasyncSync(opened);
      return undefined;
    } catch (thrown) {
      return thrown;
    } finally {
      lastTook = performance.now() - began;
    }
  };
  const inPool = (opened: number): Promise<void> => {
    const began = performance.now();
    inPoolNow += 1;
    return new Promise((resolve, reject) => {
      let isSettled = false;
      const settle = (fault: unknown): void => {
        // The disk reports a fault to one of two syncs, perhaps to the later one.
        if (isSettled) lateFault ??= fault ?? undefined;
        else if (fault) reject(fault);
        else resolve();
        isSettled = true;
      };
      const late = setTimeout(() => settle(now(opened)), terms.longestInPool);
      fdatasync(opened, (fault) => {
        clearTimeout(late);
        inPoolNow -= 1;
        if (!isSettled) lastTook = performance.now() - began;
        settle(fault);
      });
    });
  };
  return {
    sync(writes) {
      if (isWithinCommits) return undefined;
      if (descriptor === undefined) return open();
      const isSlow = writes >= terms.fewWrites || lastTook > terms.fastSync;
      if (isSlow && inPoolNow === 0 && lateFault === undefined) return inPool(descriptor);
      const fault = lateFault ?? now(descriptor);
      return fault === undefined ? undefined : Promise.reject(fault);
    },
    end: () => {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
      return Promise.resolve();
    },
  };
}
