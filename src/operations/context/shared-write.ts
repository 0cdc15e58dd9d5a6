import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { HostRows } from '../../functions/define-function.js';
import type { Storage, StorageError, WriteView, Written } from '../../ports/storage.js';
import type { Key, Table } from '../../shared/table.js';
import { ViewOver } from '../../storage/views.js';
import type { EngineContext } from './engine-context.js';

/** The operation was not stored, because its transaction was refused for another reason: the `cause`. */
export class NotCommittedError extends Error {
  override readonly name = 'NotCommittedError';
  /** The tag of the error. */
  readonly type = 'not_committed';

  constructor(cause: unknown) {
    super(`nothing of the transaction was stored: ${messageOf(cause)}`, { cause });
  }
}

function messageOf(error: unknown): string {
  const { message, type } = (error ?? {}) as { readonly message?: unknown; readonly type?: unknown };
  if (typeof message === 'string') return message;
  return typeof type === 'string' ? type.replaceAll('_', ' ') : 'an exception';
}

/** Several operations that commit together or not at all, while they are collected. */
export interface OpenTransaction {
  /**
   * Statements on the host's own tables, executed with the operations. Needs a store that has these tables (`sqliteStorage`,
   * `postgresStorage`), else it throws a TypeError.
   */
  alongside(rows: HostRows): void;
  /**
   * The operations finish the transaction that the host has begun on this client of `pg`: its statements and the operations commit
   * together. When they are refused, that transaction is still open and as it was. See `commitWith` of `postgresStorage`, which it needs,
   * else it throws a TypeError; also with `alongside`, whose statements the host can make on the client.
   */
  commitWith(client: HostTransaction): void;
}

/** A client of `pg` on which the host has begun a transaction. */
export interface HostTransaction {
  query(query: never): unknown;
}

type Work = (view: WriteView) => Result<unknown, unknown>;
type HostStorage = Storage & {
  readonly alongside?: (rows: HostRows) => Storage;
  readonly commitWith?: (client: HostTransaction) => Storage;
};

/** The write of an operation, which waits for the others. */
interface PartWrite {
  readonly work: Work;
  readonly resolve: (result: Result<unknown, unknown>) => void;
  readonly reject: (error: unknown) => void;
}

/** One operation of a transaction. */
interface Part {
  write: PartWrite | undefined;
  isOver: boolean;
}

/** Why nothing was stored. */
interface Refusal {
  readonly error: unknown;
}

const mostOperations = 1000;

const eitherOr =
  'engine.transaction: with commitWith, make your statements on its client: alongside is for those that the store makes';

/**
 * One write for several operations. Each gets a storage whose `write` waits until all operations have called theirs. Then one write of
 * the store runs them in the order of their calls, each with its own indexes, and executes the statements of the host.
 */
export class SharedWrite {
  readonly #storage: HostStorage;
  readonly #rows: HostRows[] = [];
  /** Finishes the transaction of the host. */
  #finishing: Storage | undefined;
  readonly #parts: Part[] = [];
  readonly #results = new Set<unknown>();
  #isOpen = true;
  /** The write has begun, or nothing will be written. */
  #isDecided = false;
  /** The first error of an operation that was not only taken along by another one. */
  #refusal: Refusal | undefined;
  /** Why the write has failed. */
  #failure: Refusal | undefined;
  #written: Promise<void> | undefined;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  alongside(rows: HostRows): void {
    this.#assertOpen();
    if (this.#storage.alongside === undefined)
      throw new TypeError(
        'engine.transaction: alongside needs a store that has the tables of the host, such as sqliteStorage',
      );
    this.#addRows(rows);
  }

  #addRows(rows: HostRows): void {
    if (this.#finishing !== undefined) throw new TypeError(eitherOr);
    this.#rows.push(rows);
  }

  commitWith(client: HostTransaction): void {
    this.#assertOpen();
    if (this.#storage.commitWith === undefined)
      throw new TypeError('engine.transaction: commitWith needs a store in the database of the host: postgresStorage');
    if (this.#finishing !== undefined)
      throw new TypeError('engine.transaction: commitWith is called once: one commit finishes one transaction');
    if (this.#rows.length > 0) throw new TypeError(eitherOr);
    this.#finishing = this.#storage.commitWith(client);
  }

  /** Adds an operation: it writes once, to the storage that it gets. Its promise settles after the write. */
  add<T>(operate: (storage: Storage) => Promise<T>): Promise<T> {
    this.#assertOpen();
    if (this.#parts.length === mostOperations)
      throw new TypeError(`engine.transaction: at most ${mostOperations} operations: use several transactions`);
    const part: Part = { write: undefined, isOver: false };
    this.#parts.push(part);
    const result = operate(this.#storageOf(part));
    this.#results.add(result);
    result.then(
      () => this.#end(part, undefined),
      (error: unknown) => this.#end(part, error instanceof NotCommittedError ? undefined : { error }),
    );
    return result;
  }

  /** Whether this is the promise of one of its operations. */
  has(result: unknown): boolean {
    return this.#results.has(result);
  }

  /** Stores nothing. */
  abandon(error: unknown): void {
    this.#isOpen = false;
    this.#refuse({ error });
  }

  /** Adds no more operations. Resolves when all have ended; with the reason when nothing was stored. */
  async commit(): Promise<Refusal | undefined> {
    this.#isOpen = false;
    this.#writeIfComplete();
    await Promise.allSettled(this.#results);
    await this.#written;
    return this.#refusal ?? this.#failure;
  }

  #assertOpen(): void {
    if (!this.#isOpen)
      throw new TypeError(
        'engine.transaction: the transaction is over: make all calls before its function returns, without await between them',
      );
  }

  #storageOf(part: Part): HostStorage {
    const { alongside } = this.#storage;
    const storage: HostStorage = {
      read: (work) => this.#storage.read(work),
      waitForChange: (tables, after, signal) => this.#storage.waitForChange(tables, after, signal),
      close: () => this.#storage.close(),
      write: <T, E>(work: (view: WriteView) => Result<T, E>) =>
        new ResultAsync(this.#write(part, work) as Promise<Result<Written<T>, E | StorageError>>),
      ...(alongside !== undefined && {
        alongside: (rows: HostRows): Storage => {
          this.#addRows(rows);
          return storage;
        },
      }),
    };
    return storage;
  }

  #write(part: Part, work: Work): Promise<Result<unknown, unknown>> {
    if (part.write !== undefined)
      return Promise.reject(new TypeError('engine.transaction: an operation with several writes cannot be part of it'));
    return new Promise((resolve, reject) => {
      part.write = { work, resolve, reject };
      if (this.#refusal === undefined) this.#writeIfComplete();
      else reject(new NotCommittedError(this.#refusal.error));
    });
  }

  #end(part: Part, refusal: Refusal | undefined): void {
    part.isOver = true;
    if (refusal === undefined) this.#writeIfComplete();
    else this.#refuse(refusal);
  }

  #refuse(refusal: Refusal): void {
    this.#refusal ??= refusal;
    if (this.#isDecided) return;
    this.#isDecided = true;
    for (const { write } of this.#parts) write?.reject(new NotCommittedError(refusal.error));
  }

  /** Writes when every operation has called its write, or has ended without one. */
  #writeIfComplete(): void {
    if (this.#isOpen || this.#isDecided) return;
    if (!this.#parts.every(({ write, isOver }) => isOver || write !== undefined)) return;
    this.#isDecided = true;
    const writes = this.#parts.flatMap(({ write, isOver }) => (isOver || write === undefined ? [] : [write]));
    const hasOfHost = this.#rows.length > 0 || this.#finishing !== undefined;
    if (writes.length > 0 || hasOfHost) this.#written = this.#commit(writes);
  }

  async #commit(writes: readonly PartWrite[]): Promise<void> {
    const run = new SharedRun(writes);
    await this.#storageWithRows()
      .write((view) => run.over(view))
      .then(
        (result) => {
          if (result.isOk()) return run.resolve();
          this.#failure = { error: result.error };
          run.refuse(result.error, (write) => write.resolve(result));
        },
        (error: unknown) => {
          this.#failure = { error };
          const isOfHost = run.refused === undefined;
          run.refuse(error, (write) => write.reject(isOfHost ? new NotCommittedError(error) : error));
        },
      );
  }

  #storageWithRows(): Storage {
    if (this.#finishing !== undefined) return this.#finishing;
    if (this.#rows.length === 0 || this.#storage.alongside === undefined) return this.#storage;
    return this.#storage.alongside((sql): unknown => {
      for (const rows of this.#rows) {
        const given: unknown = rows(sql);
        // The store refuses it.
        if (isPromise(given)) return given;
      }
      return undefined;
    });
  }
}

/** The writes of the operations within the one write of the store, which may run several times. */
class SharedRun {
  readonly #writes: readonly PartWrite[];
  #written: Written<unknown>[] = [];
  /** The one that has returned an error or thrown an exception. */
  refused: PartWrite | undefined;

  constructor(writes: readonly PartWrite[]) {
    this.#writes = writes;
  }

  over(view: WriteView): Result<void, unknown> {
    this.#written = [];
    let isBehind = false;
    for (const write of this.#writes) {
      this.refused = write;
      const part: PartView = new PartView(view, isBehind);
      const result: Result<unknown, unknown> = write.work(part);
      if (result.isErr()) return err(result.error);
      this.#written.push({ value: result.value, index: part.lastIndex, changed: part.isChanged });
      isBehind ||= part.isChanged;
    }
    this.refused = undefined;
    return ok(undefined);
  }

  resolve(): void {
    for (const [at, write] of this.#writes.entries()) write.resolve(ok(this.#written[at]));
  }

  /** `settle` gets the one that was refused; all of them when the reason was none of them. */
  refuse(error: unknown, settle: (write: PartWrite) => void): void {
    for (const write of this.#writes)
      if (this.refused === undefined || this.refused === write) settle(write);
      else write.reject(new NotCommittedError(error));
  }
}

/** The view of one operation: after one that has changed something, it begins with the next index. */
class PartView extends ViewOver {
  /** The current index of the view belongs to an earlier operation. */
  #isBehind: boolean;
  isChanged = false;

  constructor(view: WriteView, isBehind: boolean) {
    super(view);
    this.#isBehind = isBehind;
  }

  override get index(): number {
    return this.#isBehind ? super.index + 1 : super.index;
  }

  /** See `Written.index`. */
  get lastIndex(): number {
    return this.isChanged ? super.index : this.index - 1;
  }

  override nextIndex(): number {
    this.#catchUp();
    return super.nextIndex();
  }

  override put<R>(table: Table<R>, record: R): void {
    this.#change();
    super.put(table, record);
  }

  override remove<R>(table: Table<R>, key: Key): boolean {
    if (this.get(table, key) === undefined) return false;
    this.#change();
    return super.remove(table, key);
  }

  #change(): void {
    this.#catchUp();
    this.isChanged = true;
  }

  /** Only for a change: an index without any would be a gap. */
  #catchUp(): void {
    if (!this.#isBehind) return;
    this.#isBehind = false;
    super.nextIndex();
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** Open transactions, by the object that the host's function has. */
const transactions = new WeakMap<object, { readonly write: SharedWrite; readonly context: EngineContext }>();

/** Lets operations join the transaction by this object. */
export function openTransaction(transaction: object, write: SharedWrite, context: EngineContext): void {
  transactions.set(transaction, { write, context });
}

/** The write of a transaction of this engine. Throws a TypeError for anything else. */
export function sharedWriteOf(caller: string, transaction: unknown, { definitions }: EngineContext): SharedWrite {
  const known = transactions.get(transaction as object);
  if (known === undefined)
    throw new TypeError(`${caller}: the argument is what engine.transaction passes to its function`);
  if (known.context.definitions !== definitions)
    throw new TypeError(`${caller}: the transaction is one of another engine`);
  return known.write;
}
