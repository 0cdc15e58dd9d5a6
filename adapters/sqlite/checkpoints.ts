import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Worker } from 'node:worker_threads';
import { serviceThread } from './service-thread.js';
import type { SqliteDriver, SqliteHandle } from './sqlite-handle.js';

/** Keeps the write-ahead log short: copies the pages that commits appended to it into the file. */
export interface Checkpoints {
  /** To be called after each commit, with about the number of pages that it appended. */
  wrote(pages: number): void;
  /** Resolves when no other connection of this process has the file open. To be called before the connection is closed. */
  end(): Promise<void>;
}

/** SQLite's own: the commit that makes the log longer than a thousand pages copies them, and waits for the disk twice. */
export const checkpointsByCommits: Checkpoints = { wrote: () => undefined, end: () => Promise.resolve() };

/** A checkpoint begins after about this many pages. */
const pagesBetween = 1000;
/** A log of more pages is emptied at the next opportunity. */
const longLog = 2 * pagesBetween;
/** When the thread does not keep up, the commit that makes the log longer copies it. */
const longestLog = 16 * pagesBetween;

/**
 * Checkpoints in a thread of their own: the event loop would stand still for about ten milliseconds with each. Where there can be no
 * thread, commits copy the log as SQLite does by itself.
 *
 * A log can only be used again from its beginning once all of it was copied, and the thread never catches up with a busy store. So when
 * the log is long, the store's connection copies what was appended during the thread's checkpoint, which is little.
 */
export function threadedCheckpoints(handle: SqliteHandle, path: string, driver: SqliteDriver): Checkpoints {
  const thread = new CheckpointThread(path, driver);
  let appended = 0;
  handle.exec(`PRAGMA wal_autocheckpoint = ${longestLog}`);
  thread.once('failed', () => handle.exec(`PRAGMA wal_autocheckpoint = ${pagesBetween}`));
  thread.on('copied', (pagesInLog) => {
    if (pagesInLog > longLog) copyRest(handle);
  });
  return {
    wrote(pages) {
      appended += pages;
      if (appended >= pagesBetween && thread.copy()) appended = 0;
    },
    end: () => thread.end(),
  };
}

function copyRest(handle: SqliteHandle): void {
  try {
    handle.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // Nothing is lost: the pages stay in the log. If the disk is full, the next write tells it.
  }
}

/**
 * A thread with a connection of its own that copies the log on request. It starts with the first request and does not keep the process
 * alive. `copied` gives the pages in the log; `failed` comes once, when there is no thread any more. Neither comes after `end`.
 */
class CheckpointThread extends EventEmitter<{ copied: [pagesInLog: number]; failed: [] }> {
  readonly #path: string;
  readonly #driver: SqliteDriver;
  #worker: Worker | undefined;
  #state: 'idle' | 'copying' | 'over' = 'idle';

  constructor(path: string, driver: SqliteDriver) {
    super();
    this.#path = path;
    this.#driver = driver;
  }

  /** Requests a copy; false while one is under way, or when there is no thread. */
  copy(): boolean {
    if (this.#state !== 'idle') return false;
    this.#worker ??= this.#start();
    if (this.#worker === undefined) return false;
    this.#state = 'copying';
    this.#worker.postMessage('copy');
    return true;
  }

  /** Resolves when the thread has closed its connection. */
  async end(): Promise<void> {
    const worker = this.#state === 'over' ? undefined : this.#worker;
    this.#state = 'over';
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.ref();
    worker.postMessage('end');
    await ended;
  }

  #start(): Worker | undefined {
    const name = this.#moduleOfDriver();
    const worker = name && serviceThread('signalbox-checkpoints', program, { path: this.#path, name });
    if (!worker) {
      this.#failed();
      return undefined;
    }
    worker.on('message', (pagesInLog: number) => this.#copied(pagesInLog));
    worker.on('error', () => this.#failed()).on('exit', () => this.#failed());
    // Listening for messages would keep the process alive again.
    worker.unref();
    return worker;
  }

  #moduleOfDriver(): string | undefined {
    try {
      return this.#driver === 'node:sqlite' ? this.#driver : createRequire(import.meta.url).resolve(this.#driver);
    } catch {
      return undefined;
    }
  }

  #copied(pagesInLog: number): void {
    if (this.#state === 'over') return;
    this.#state = 'idle';
    this.emit('copied', pagesInLog);
  }

  #failed(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.emit('failed');
  }
}

/** It answers each request with the number of pages in the log. */
const program = `
const { parentPort, workerData } = require('node:worker_threads');
const loaded = require(workerData.name);
const handle = new (loaded.DatabaseSync ?? loaded)(workerData.path);
const checkpoint = handle.prepare('PRAGMA wal_checkpoint(PASSIVE)');
parentPort.on('message', (request) => {
  if (request === 'end') {
    handle.close();
    parentPort.close();
    return;
  }
  let pages = 0;
  try {
    pages = checkpoint.get().log;
  } catch {}
  parentPort.postMessage(pages);
});
`;
