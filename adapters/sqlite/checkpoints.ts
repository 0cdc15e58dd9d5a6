import { EventEmitter } from 'node:events';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { resultOr } from '../../src/shared/values.js';
import { type SqliteDriver, type SqliteHandle, select } from './sqlite-handle.js';

/** Keeps the write-ahead log short: copies the pages that commits appended to it into the file, and empties it. */
export interface Checkpoints {
  /** Call after each commit, with the approximate number of appended pages. */
  wrote(pages: number): void;
  /**
   * Rewrites the file and empties the log: afterwards neither contains anything that was removed or replaced before. Rejects with
   * the driver's error.
   */
  overwrite(): Promise<void>;
  /** Resolves when no other connection of this process has the file open. Call before the connection is closed. */
  end(): Promise<void>;
}

/**
 * SQLite's own: the commit that makes the log longer than a thousand pages copies them, and waits for the disk twice. The log is emptied by
 * `overwrite`, and when the file is closed.
 */
export function checkpointsByCommits(handle: SqliteHandle): Checkpoints {
  return { wrote: () => undefined, overwrite: async () => overwriteOn(handle), end: () => Promise.resolve() };
}

/** A checkpoint starts after about this many pages. */
const pagesBetween = 1000;
/** A log of more pages is emptied at the next opportunity. */
const longLog = 2 * pagesBetween;
/** If the thread does not keep up, the commit that exceeds this many pages copies the log. */
const longestLog = 16 * pagesBetween;

/** When the log is emptied, in milliseconds. */
interface EmptyingTerms {
  /** From the first commit since the log was last emptied. */
  readonly after: number;
  /** From an attempt that another connection prevented. */
  readonly again: number;
}

/** The log keeps what later commits removed or replaced. A minute is the bound that the README states. */
const usualTerms: EmptyingTerms = { after: 60_000, again: 1000 };

/** The store's connection to a file, and the driver for further connections. */
interface CheckpointedFile {
  readonly handle: SqliteHandle;
  readonly path: string;
  readonly driver: SqliteDriver;
}

/**
 * Checkpoints in a separate thread: each would block the event loop for about ten milliseconds. Without a
 * thread, commits copy the log, as is SQLite's default.
 *
 * SQLite reuses a log from its beginning only after all of it was copied, and the thread never catches up with a busy store. So when
 * the log is long, the store's connection copies the few pages that were appended during the thread's checkpoint.
 */
export function threadedCheckpoints(
  { handle, path, driver }: CheckpointedFile,
  terms: EmptyingTerms = usualTerms,
): Checkpoints {
  const thread = new CheckpointThread(path, driver);
  let appended = 0;
  let emptying: NodeJS.Timeout | undefined;
  const emptyIn = (milliseconds: number): void => {
    emptying ??= setTimeout(() => {
      emptying = undefined;
      if (!thread.empty() && !isEmptied(handle)) emptyIn(terms.again);
    }, milliseconds).unref();
  };
  handle.exec(`PRAGMA wal_autocheckpoint = ${longestLog}`);
  thread.once('failed', () => {
    handle.exec(`PRAGMA wal_autocheckpoint = ${pagesBetween}`);
    emptyIn(terms.again);
  });
  thread.on('copied', (pagesInLog) => {
    if (pagesInLog > longLog) copyRest(handle);
  });
  thread.on('prevented', () => {
    clearTimeout(emptying);
    emptying = undefined;
    emptyIn(terms.again);
  });
  // A killed process leaves its log.
  if (hasLog(path)) emptyIn(terms.after);
  return {
    wrote(pages) {
      if (pages > 0) emptyIn(terms.after);
      appended += pages;
      if (appended >= pagesBetween && thread.copy()) appended = 0;
    },
    overwrite: () => thread.overwrite() ?? Promise.resolve().then(() => overwriteOn(handle)),
    end() {
      clearTimeout(emptying);
      return thread.end();
    },
  };
}

function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Whether the log could be emptied; false while another connection reads from it or writes. */
function isEmptied(handle: SqliteHandle): boolean {
  return resultOr(false, () => select<{ busy: number }>(handle, 'PRAGMA wal_checkpoint(TRUNCATE)').get().busy === 0);
}

function overwriteOn(handle: SqliteHandle): void {
  handle.exec('VACUUM');
  if (isEmptied(handle)) return;
  throw Object.assign(new Error('the log is in use by another connection'), { code: 'SQLITE_BUSY' });
}

function copyRest(handle: SqliteHandle): void {
  try {
    handle.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // Nothing is lost: the pages stay in the log. If the disk is full, the next write reports it.
  }
}

interface CheckpointEvents {
  /** The number of pages in the log after a copy. */
  copied: [pagesInLog: number];
  /** The log could not be emptied: another connection reads from it or writes. */
  prevented: [];
  /** The thread has ended. Emitted once. */
  failed: [];
}

/**
 * A thread with a separate connection that copies and empties the log on request. It starts with the first request and does not keep the
 * process alive, except during `overwrite`. After `end` there are no events.
 */
class CheckpointThread extends EventEmitter<CheckpointEvents> {
  readonly #path: string;
  readonly #driver: SqliteDriver;
  #worker: Worker | undefined;
  #state: 'idle' | 'copying' | 'over' = 'idle';
  #overwriting: { readonly resolve: () => void; readonly reject: (reason: Error) => void }[] = [];

  constructor(path: string, driver: SqliteDriver) {
    super();
    this.#path = path;
    this.#driver = driver;
  }

  /** Requests a copy; false while one is under way, or without a thread. */
  copy(): boolean {
    if (this.#state !== 'idle' || !this.#request('copy')) return false;
    this.#state = 'copying';
    return true;
  }

  /** Requests that the log is copied and emptied; false without a thread. */
  empty(): boolean {
    return this.#request('empty');
  }

  /** Undefined without a thread. */
  overwrite(): Promise<void> | undefined {
    if (!this.#request('overwrite')) return undefined;
    this.#worker?.ref();
    return new Promise((resolve, reject) => this.#overwriting.push({ resolve, reject }));
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

  #request(request: 'copy' | 'empty' | 'overwrite'): boolean {
    if (this.#state === 'over') return false;
    this.#worker ??= this.#start();
    this.#worker?.postMessage(request);
    return this.#worker !== undefined;
  }

  #start(): Worker | undefined {
    const name = this.#moduleOfDriver();
    const worker = name && startThread({ path: this.#path, name });
    if (!worker) {
      this.#failed();
      return undefined;
    }
    worker.on('message', (answer: Answer) => this.#answered(answer));
    worker.on('error', () => this.#failed()).on('exit', () => this.#failed());
    // A message listener would keep the process alive again.
    worker.unref();
    return worker;
  }

  #moduleOfDriver(): string | undefined {
    return resultOr(undefined, () =>
      this.#driver === 'node:sqlite' ? this.#driver : createRequire(import.meta.url).resolve(this.#driver),
    );
  }

  #answered(answer: Answer): void {
    if ('overwritten' in answer) this.#overwritten(answer.overwritten);
    if (this.#state === 'over') return;
    if ('pagesInLog' in answer) {
      this.#state = 'idle';
      this.emit('copied', answer.pagesInLog);
    }
    if ('emptied' in answer && !answer.emptied) this.emit('prevented');
  }

  #overwritten(fault: DriverFault | undefined): void {
    const awaited = this.#overwriting.shift();
    if (this.#overwriting.length === 0 && this.#state !== 'over') this.#worker?.unref();
    if (fault === undefined) awaited?.resolve();
    else awaited?.reject(Object.assign(new Error(fault.message), fault));
  }

  #failed(): void {
    while (this.#overwriting.length > 0) {
      this.#overwritten({ message: 'the thread that rewrites the file has ended', code: 'SQLITE_IOERR' });
    }
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.emit('failed');
  }
}

/**
 * Starts a thread from a source string: a separate file would have to be found beside the host's bundle. Undefined if no thread
 * can be started: Node's permission model, no more handles.
 */
function startThread(workerData: unknown): Worker | undefined {
  try {
    return new Worker(program, {
      eval: true,
      workerData,
      name: 'signalbox-checkpoints',
      // Does not inherit modules that the host preloads into its threads.
      execArgv: ['--no-warnings'],
      env: {},
    });
  } catch {
    return undefined;
  }
}

/** The members of a driver's error that are transferred between threads. */
interface DriverFault {
  readonly message: string;
  readonly code: unknown;
  readonly errcode?: unknown;
}

type Answer =
  | { readonly pagesInLog: number }
  | { readonly emptied: boolean }
  | { readonly overwritten: DriverFault | undefined };

/** Keeps temporary data in files: the copy of a large store would not fit into memory. */
const program = `
const { parentPort, workerData } = require('node:worker_threads');
const loaded = require(workerData.name);
const handle = new (loaded.DatabaseSync ?? loaded)(workerData.path);
handle.exec('PRAGMA busy_timeout = 1000');
const copy = handle.prepare('PRAGMA wal_checkpoint(PASSIVE)');
const empty = handle.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
const tries = 10;
const whileBusy = (attempt) => {
  for (let tried = 1; ; tried += 1) {
    try {
      return attempt();
    } catch (thrown) {
      if (tried === tries || ((thrown.errcode & 0xff) !== 5 && !String(thrown.code).startsWith('SQLITE_BUSY'))) throw thrown;
    }
  }
};
const emptied = () => empty.get().busy === 0;
const answers = {
  copy() {
    try {
      return { pagesInLog: copy.get().log };
    } catch {
      return { pagesInLog: 0 };
    }
  },
  empty() {
    try {
      return { emptied: emptied() };
    } catch {
      return { emptied: false };
    }
  },
  overwrite() {
    try {
      whileBusy(() => handle.exec('VACUUM'));
      whileBusy(() => {
        if (!emptied()) throw Object.assign(new Error('the log is in use by another connection'), { code: 'SQLITE_BUSY' });
      });
      return { overwritten: undefined };
    } catch ({ message, code, errcode }) {
      return { overwritten: { message, code, errcode } };
    }
  },
};
parentPort.on('message', (request) => {
  if (request === 'end') {
    handle.close();
    parentPort.close();
    return;
  }
  parentPort.postMessage(answers[request]());
});
`;
