import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { serviceThread } from './service-thread.js';
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

/** The conditions for a sync in the thread. */
interface SyncTerms {
  /** The thread starts after this many commits. */
  readonly commitsBefore: number;
  /** With fewer waiting writes than this, the event loop itself syncs a fast disk. */
  readonly fewWrites: number;
  /** The longest sync of a fast disk in milliseconds; the last one is compared. */
  readonly fastSync: number;
}

/** Most tests and tools make few commits. A sync in the thread costs 0.1 ms more CPU time, half of the time of a fast disk. */
const usualTerms: SyncTerms = { commitsBefore: 32, fewWrites: 4, fastSync: 1 };

/**
 * Syncs in a separate thread: each would block the event loop, for 0.2 ms on a fast disk and for several on a cloud volume. Until
 * the thread runs, and without a thread, commits wait for the disk themselves.
 *
 * With `synchronous = NORMAL`, SQLite itself syncs the log before a checkpoint copies it, the file after that, and the header of a
 * restarted log. It omits only the sync after each commit, which is made here through a separate descriptor of the same log. SQLite
 * holds no locks on the log, so closing the descriptor releases none, and the log is not removed while the connection is open.
 */
export function threadedSyncs(
  handle: SqliteHandle,
  path: string,
  terms: SyncTerms = usualTerms,
  startThread: typeof serviceThread = serviceThread,
): LogSyncs {
  return new SyncThread({ handle, log: `${path}-wal`, terms, startThread });
}

interface SyncOptions {
  readonly handle: SqliteHandle;
  readonly log: string;
  readonly terms: SyncTerms;
  readonly startThread: typeof serviceThread;
}

interface Awaited {
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

class SyncThread implements LogSyncs {
  readonly #options: SyncOptions;
  #commits = 0;
  /** Duration of the last sync in milliseconds. */
  #lastTook = 0;
  /**
   * `threaded`: commits do not wait for the disk. `alone`: they still do not, but the thread has ended and the event loop makes the
   * syncs. In the other states commits sync on their own.
   */
  #state: 'whole' | 'starting' | 'threaded' | 'alone' | 'over' = 'whole';
  #descriptor: number | undefined;
  #worker: Worker | undefined;
  #awaited: Awaited | undefined;

  constructor(options: SyncOptions) {
    this.#options = options;
  }

  sync(writes: number): Promise<void> | undefined {
    const { fewWrites, fastSync, commitsBefore } = this.#options.terms;
    if (this.#state === 'alone') return this.#syncNow();
    if (this.#state === 'threaded') {
      return writes < fewWrites && this.#lastTook <= fastSync ? this.#syncNow() : this.#ask();
    }
    this.#commits += 1;
    if (this.#state === 'whole' && this.#commits > commitsBefore) this.#start();
    return undefined;
  }

  async end(): Promise<void> {
    this.#state = 'over';
    // Its program waits for messages only, so nothing is cut off.
    await this.#worker?.terminate();
    this.#closeLog();
  }

  #syncNow(): Promise<void> | undefined {
    const fault = this.#syncHere();
    return fault === undefined ? undefined : Promise.reject(new Error(fault));
  }

  #ask(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#awaited = { resolve, reject };
      this.#worker?.ref();
      this.#worker?.postMessage('sync');
    });
  }

  #start(): void {
    this.#state = 'starting';
    try {
      // For writing: Windows syncs no other descriptors.
      this.#descriptor = openSync(this.#options.log, 'r+');
    } catch {
      this.#state = 'over';
      return;
    }
    const worker = this.#options.startThread('signalbox-syncs', program, { descriptor: this.#descriptor });
    if (worker === undefined) {
      this.#failed();
      return;
    }
    worker.on('message', (message: SyncMessage) => this.#received(message));
    worker.on('error', () => this.#failed()).on('exit', () => this.#failed());
    // Listening for messages would keep the process alive again.
    worker.unref();
    this.#worker = worker;
  }

  #received(message: SyncMessage): void {
    if (message === 'ready') {
      if (this.#state === 'starting') this.#beginThreaded();
      return;
    }
    this.#worker?.unref();
    this.#lastTook = message.took;
    this.#answer(message.fault);
  }

  /** From here on commits do not wait. No transaction is open: every one begins and ends within one turn. */
  #beginThreaded(): void {
    try {
      this.#options.handle.exec('PRAGMA synchronous = NORMAL');
      this.#state = 'threaded';
    } catch {
      this.#failed();
    }
  }

  #failed(): void {
    if (this.#state === 'over' || this.#state === 'alone') return;
    const isNeeded = this.#state === 'threaded';
    this.#state = isNeeded ? 'alone' : 'over';
    void this.#worker?.terminate();
    if (this.#awaited !== undefined) this.#answer(this.#syncHere());
    if (!isNeeded) this.#closeLog();
  }

  #syncHere(): string | undefined {
    const began = performance.now();
    try {
      fdatasyncSync(this.#descriptor as number);
      return undefined;
    } catch (thrown) {
      return (thrown as Error).message;
    } finally {
      this.#lastTook = performance.now() - began;
    }
  }

  #answer(fault: string | undefined): void {
    const awaited = this.#awaited;
    this.#awaited = undefined;
    if (fault === undefined) awaited?.resolve();
    else awaited?.reject(new Error(fault));
  }

  #closeLog(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** The messages of the thread: that it is ready, and the result and duration (in milliseconds) of each sync. */
type SyncMessage = 'ready' | { readonly fault: string | undefined; readonly took: number };

const program = `
const { fdatasyncSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
parentPort.on('message', () => {
  let fault;
  const began = performance.now();
  try {
    fdatasyncSync(workerData.descriptor);
  } catch (thrown) {
    fault = thrown.message;
  }
  parentPort.postMessage({ fault, took: performance.now() - began });
});
parentPort.postMessage('ready');
`;
