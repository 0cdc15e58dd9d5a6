import type { ListQuery, StorageError } from '../../src/ports/storage.js';
import type { Overlay, Snapshot } from '../../src/storage/overlay.js';
import { type AnyTable, indexPosition, type KeyBounds, type KeyedRow } from '../../src/storage/records.js';
import { HostTransactionError, type ReadOutcome, type Store, type Waiters } from '../storage-kit/index.js';
import { listCache, listKey, rowCache } from './caches.js';
import type { Checkpoints } from './checkpoints.js';
import { type HostTransactions, hostTransactions } from './host-rows.js';
import type { LogSyncs } from './log-syncs.js';
import { type BoundTable, boundIndex, Tables } from './sqlite-catalog.js';
import { type SqliteHandle, storageErrorFrom } from './sqlite-handle.js';
import { type Found, keyedRowFrom, listedRowFrom, type SqliteKeyedRow, type SqliteRow } from './sqlite-rows.js';
import { type Scans, scanned, transactionStatements } from './sqlite-statements.js';
import { type Changes, pagesOf, type StoredChange, sqliteChanges, storeChanges } from './sqlite-writes.js';

/** The file behind a connection. */
interface OpenedFile {
  /** Absolute; none for a store in memory. */
  readonly path: string | undefined;
  readonly checkpoints: Checkpoints;
  readonly syncs: LogSyncs;
  /** Whether the connection is closed with the store. */
  readonly ownsHandle: boolean;
}

/** The size of each row cache in characters; SQLite's own page cache comes on top. */
const rememberedCharacters = 8_000_000;
/** The same for the rows that were written last. */
const writtenCharacters = 250_000;
/** In the cache of rows: there is no row with the key. */
const absent = { text: '' } as const;
/** The most rows of a cached list: longer lists would replace everything else. */
const shortList = 256;

/**
 * Transactions on one connection. Everything in here is synchronous from BEGIN to COMMIT, so no read of this process can
 * run in the middle of a batch, and readers of other processes see a batch only after its commit.
 */
export class SqliteStore implements Store {
  readonly #tables: Tables;
  readonly #statements: ReturnType<typeof transactionStatements>;
  readonly #changes: Changes;
  readonly #file: OpenedFile;
  readonly #handle: SqliteHandle;
  /** For rows of the host inside of a write transaction. */
  readonly host: HostTransactions;
  readonly #cache = rowCache<SqliteKeyedRow | typeof absent>(rememberedCharacters);
  /** The rows that this process has written last and that are not in the other cache: those of a queue are soon read and changed again. */
  readonly #written = rowCache<SqliteKeyedRow>(writtenCharacters);
  readonly #lists = listCache();
  /** Rows of lists. They are compared with the file whenever they are read, so no change has to be applied to them. */
  readonly #listed = rowCache<SqliteRow>(rememberedCharacters);
  #cachedEpoch = 0;
  /** Rows that the open write transaction has read, by table and row key; undefined for a row that does not exist. */
  #found = new Map<string, Map<string, SqliteKeyedRow | undefined>>();
  /** Whether the open write transaction has prepared tables. */
  #prepared = false;
  /** Whether the host has changed rows in the open write transaction. */
  #changedByHost = false;
  /** Whether the last transaction has written anything. */
  #wrote = false;
  /** Why the open transaction is over before its commit, because of statements of the host: then nothing of it may be stored. */
  #over: { readonly reason: unknown } | undefined;
  /** Table indexes as of the last check for foreign commits. */
  #seen = new Map<string, number>();
  #seenEpoch = -1;

  constructor(handle: SqliteHandle, file: OpenedFile) {
    this.#tables = new Tables(handle);
    this.#statements = transactionStatements(handle);
    this.#changes = sqliteChanges(file.path && `${file.path}-wal`, () => this.#changedElsewhere());
    this.#file = file;
    this.#handle = handle;
    const host = hostTransactions(handle, (reason) => {
      this.#over = { reason };
    });
    this.host = {
      within: (run) => {
        // Its savepoint would begin a transaction that commits without the rest.
        this.#assertNotOver();
        this.#changedByHost = true;
        host.within(run);
      },
    };
  }

  read(run: (snapshot: Snapshot) => ReadOutcome): ReadOutcome {
    return this.#readInside(run, true) ?? (this.#readInside(run, false) as ReadOutcome);
  }

  begin(): Snapshot {
    if (isInTransaction(this.#handle)) {
      throw new HostTransactionError(
        'Your transaction is open on this connection: end it first, or let the store run your statements (`alongside`).',
      );
    }
    this.#statements.beginWrite.run();
    this.#over = undefined;
    this.#found = new Map();
    this.#prepared = false;
    this.#changedByHost = false;
    try {
      this.#refresh();
    } catch (thrown) {
      this.rollBack();
      throw thrown;
    }
    return {
      index: this.#tables.catalog.index,
      find: (table, _key, rowKey) => this.#findForWrite(table, rowKey),
      scan: (table, query, bounds) => this.#scanForWrite(table, query, bounds),
      tableIndex: (name) => this.#tables.changedAt(name),
    };
  }

  prepare(table: AnyTable): void {
    const { savepoint, release, rollbackTo } = this.#statements;
    savepoint.run();
    this.#prepared = true;
    this.#found = new Map();
    try {
      this.#tables.adopt(table);
    } catch (thrown) {
      rollbackTo.run();
      this.#tables.invalidate();
      throw thrown;
    } finally {
      release.run();
      this.#refresh();
    }
  }

  commit(overlay: Overlay): void {
    this.#assertNotOver();
    const { entries } = this.#tables;
    const entriesBefore = entries.changes;
    const stored = storeChanges(this.#tables, overlay, this.#prepared);
    const changed = overlay.changedTables;
    for (const name of changed) {
      const index = overlay.tableIndex(name);
      if (!this.#tables.tellsByItself(name, index)) this.#statements.noteChange.run(index, name);
    }
    this.#statements.commit.run();
    this.#wrote = changed.length > 0 || this.#prepared || this.#changedByHost;
    this.#file.checkpoints.wrote(pagesOf(stored, entries.changes - entriesBefore));
    this.#remember(stored);
    this.#tables.catalog.index = overlay.index;
    for (const name of changed) {
      const entry = this.#tables.catalog.tables.get(name);
      if (entry !== undefined) entry.changedAt = overlay.tableIndex(name);
    }
  }

  #assertNotOver(): void {
    if (this.#over !== undefined) throw this.#over.reason;
  }

  sync(writes: number): Promise<void> | undefined {
    return this.#wrote ? this.#file.syncs.sync(writes) : undefined;
  }

  overwriteRemoved(): Promise<void> {
    return this.#file.checkpoints.overwrite();
  }

  rollBack(): void {
    this.#tables.invalidate();
    this.#forget();
    try {
      this.#statements.rollback.run();
    } catch {
      // SQLite has rolled back on its own, or never began: both leave nothing to undo.
    }
  }

  failureOf(thrown: unknown): StorageError | undefined {
    return storageErrorFrom(thrown);
  }

  changedAt(name: string): number {
    return this.#tables.changedAt(name);
  }

  observe(waiting: Waiters): void {
    // If the log is watched already, the watch reports every foreign commit.
    if (this.#changes.observe(waiting) === 'begun') this.#look();
  }

  async close(): Promise<void> {
    this.#changes.close();
    await Promise.all([this.#file.checkpoints.end(), this.#file.syncs.end()]);
    if (this.#file.ownsHandle) this.#handle.close();
  }

  /**
   * Brings the catalog up to date, and discards cached rows that another process may have changed. Call it inside a
   * transaction.
   */
  #refresh(): void {
    this.#tables.refresh();
    if (this.#cachedEpoch === this.#tables.epoch) return;
    this.#forget();
    this.#cachedEpoch = this.#tables.epoch;
  }

  /** Applies committed changes to the cached rows. */
  #remember(stored: readonly StoredChange[]): void {
    for (const { table, rowKey, row } of stored) {
      const cache = this.#cache.drop(table, rowKey) ? this.#cache : this.#written;
      if (row === undefined) this.#written.drop(table, rowKey);
      else cache.keep(table, rowKey, row);
    }
  }

  #forget(): void {
    this.#cache.clear();
    this.#written.clear();
  }

  /** Null for a key that is known to have no row. */
  #cached(table: string, rowKey: string): SqliteKeyedRow | null | undefined {
    const found = this.#cache.get(table, rowKey);
    if (found === absent) return null;
    return (found as SqliteKeyedRow | undefined) ?? this.#written.get(table, rowKey);
  }

  /** Reads the state of the file. On failure the previous state is kept: a waiting caller gets the failure at its next read. */
  #look(): void {
    try {
      if (this.#tables.isCurrent()) return;
      this.#statements.begin.run();
      try {
        this.#refresh();
      } finally {
        this.#statements.commit.run();
      }
    } catch (thrown) {
      if (storageErrorFrom(thrown) === undefined) throw thrown;
    }
  }

  #changedElsewhere(): string[] {
    this.#look();
    // This process's own commits have woken their waiters already.
    if (this.#seenEpoch === this.#tables.epoch) return [];
    this.#seenEpoch = this.#tables.epoch;
    const now = new Map(Array.from(this.#tables.catalog.tables, ([name, table]) => [name, table.changedAt]));
    const changed = [...now.keys()].filter((name) => now.get(name) !== this.#seen.get(name));
    this.#seen = now;
    return changed;
  }

  /**
   * Runs a work that reads. Lazily, it begins without a transaction: for as long as memory has the answers and the file has not changed,
   * and for one point read. A snapshot is held from the next access on: if the catalog is still up to date then, nothing was committed in
   * between. Otherwise the result is undefined, and the work must run again with the snapshot held from the start.
   */
  #readInside(run: (snapshot: Snapshot) => ReadOutcome, lazily: boolean): ReadOutcome | undefined {
    const tables = this.#tables;
    let held = false;
    let stale = false;
    let answers = 0;
    let checked = false;
    /** Whether the file has not changed since the catalog was read: then all answers are of one state. */
    const isCurrent = (): boolean => {
      checked ||= tables.isCurrent();
      return checked;
    };
    const hold = (): void => {
      if (held) return;
      this.#statements.begin.run();
      held = true;
      stale = answers > 0 && !tables.isCurrent();
      if (stale) throw new Error('The store has changed during this read; it runs again.');
      this.#refresh();
    };
    const fromCatalog = <T>(get: () => T): T => {
      if (!lazily || !isCurrent()) hold();
      answers += 1;
      return get();
    };
    const outcome = run({
      get index() {
        return fromCatalog(() => tables.catalog.index);
      },
      find: (table, _key, rowKey) => {
        if (lazily && !held) {
          const bound = tables.bind(table);
          const known = this.#cached(bound.name, rowKey);
          answers += 1;
          if (known !== undefined && isCurrent()) return known ?? undefined;
          if (answers === 1) return this.#findInFile(bound, rowKey);
          answers -= 1;
        }
        hold();
        const bound = this.#boundForRead(table, held);
        return bound === undefined ? undefined : this.#find(bound, rowKey);
      },
      scan: (table, query, bounds) => {
        hold();
        const bound = this.#boundForRead(table, held, query.index);
        return bound === undefined ? [] : this.#scan(bound, table, query, bounds);
      },
      tableIndex: (name) => fromCatalog(() => tables.changedAt(name)),
    });
    // Nothing was changed, so the commit only ends the snapshot and cannot fail for lack of space.
    if (held) this.#statements.commit.run();
    return stale || ('unprepared' in outcome && !held) ? undefined : outcome;
  }

  /** Undefined for a table missing in the snapshot: it has no rows, and creating it would fail on a full disk. */
  #boundForRead(table: AnyTable, held: boolean, index?: string): BoundTable | undefined {
    if (!held || this.#tables.catalog.tables.has(table.name)) return this.#tables.bind(table);
    if (index !== undefined) indexPosition(table, index);
    return undefined;
  }

  #find(bound: BoundTable, rowKey: string): SqliteKeyedRow | undefined {
    const known = this.#cached(bound.name, rowKey);
    return known === undefined ? this.#findInFile(bound, rowKey) : (known ?? undefined);
  }

  #findInFile(bound: BoundTable, rowKey: string): SqliteKeyedRow | undefined {
    const found = bound.find.get(rowKey);
    const row = found ? keyedRowFrom(found, this.#tables) : undefined;
    // Read under the version of the file that the catalog has, or cleared with the next refresh.
    this.#cache.offer(bound.name, rowKey, row ?? absent);
    return row;
  }

  /** Rows for readers, without the columns that a writer needs. Those of a short list are known when the list is read again. */
  #scan(bound: BoundTable, table: AnyTable, query: ListQuery, bounds: KeyBounds): readonly KeyedRow[] {
    const order = orderOf(bound, table, query.index);
    const rows = this.#scanned(order, query, bounds, false);
    if (rows.length === 0) this.#noteFound(order, query, bounds);
    const isShort = rows.length <= shortList;
    const known = {
      get: (rowKey: string) => this.#listed.get(bound.name, rowKey) ?? this.#cached(bound.name, rowKey) ?? undefined,
      offer: (rowKey: string, row: SqliteRow) => {
        if (isShort) this.#listed.offer(bound.name, rowKey, row);
      },
    };
    return rows.map((found) => listedRowFrom(found, known)) as readonly unknown[] as readonly KeyedRow[];
  }

  #findForWrite(table: AnyTable, rowKey: string): SqliteKeyedRow | undefined {
    const bound = this.#tables.bind(table);
    const rows = this.#rowsOf(table.name);
    if (rows.has(rowKey)) return rows.get(rowKey);
    const row = this.#tables.isPastAll(table.name, rowKey) ? undefined : this.#find(bound, rowKey);
    rows.set(rowKey, row);
    return row;
  }

  #scanForWrite(table: AnyTable, query: ListQuery, bounds: KeyBounds): readonly KeyedRow[] {
    const list = listKey(table, query, bounds);
    if (list === undefined) return this.#scanFile(table, query, bounds);
    const state = { changedAt: this.#tables.changedAt(table.name), epoch: this.#tables.epoch };
    const known = this.#lists.get(list, state);
    if (known !== undefined) return known;
    const found = this.#scanFile(table, query, bounds);
    this.#lists.offer(list, state, found);
    return found;
  }

  #scanFile(table: AnyTable, query: ListQuery, bounds: KeyBounds): readonly SqliteKeyedRow[] {
    const bound = this.#tables.bind(table);
    const order = orderOf(bound, table, query.index);
    const rows = this.#rowsOf(table.name);
    // Each row is one object for the whole transaction, so that its text is parsed once.
    const known = {
      get: (rowKey: string) => rows.get(rowKey) ?? this.#cached(table.name, rowKey) ?? undefined,
      offer: (rowKey: string, row: SqliteKeyedRow) => void rows.set(rowKey, row),
    };
    const found = this.#scanned(order, query, bounds, true).map((row) => keyedRowFrom(row, this.#tables, known));
    this.#noteFound(order, query, bounds, found[0]?.sortKey(table, query.index));
    return found;
  }

  /** Nothing is read of an index that is known to have nothing within the bounds. */
  #scanned({ id, scans }: Order, query: ListQuery, bounds: KeyBounds, keyed: boolean): Found[] {
    if (id !== undefined && this.#tables.entries.hasNone(id, bounds)) return [];
    const { forward, backward, keyedForward, keyedBackward } = scans;
    const [up, down] = keyed ? [keyedForward, keyedBackward] : [forward, backward];
    return scanned(query.reverse === true ? down : up, query, bounds);
  }

  #noteFound({ id }: Order, { reverse = false, limit = 1 }: ListQuery, bounds: KeyBounds, first?: string): void {
    if (id !== undefined && !reverse && limit > 0) this.#tables.entries.found(id, bounds, first);
  }

  #rowsOf(name: string): Map<string, SqliteKeyedRow | undefined> {
    let rows = this.#found.get(name);
    if (rows === undefined) {
      rows = new Map();
      this.#found.set(name, rows);
    }
    return rows;
  }
}

/** Some drivers do not report it; their own error then applies. */
function isInTransaction(handle: SqliteHandle & { inTransaction?: unknown; isTransaction?: unknown }): boolean {
  return handle.inTransaction === true || handle.isTransaction === true;
}

/** An order of a table: of an index, or of its keys, which has no ID. */
interface Order {
  readonly id?: number;
  readonly scans: Scans;
}

function orderOf(bound: BoundTable, table: AnyTable, index: string | undefined): Order {
  return index === undefined ? bound : boundIndex(bound, table, index);
}
