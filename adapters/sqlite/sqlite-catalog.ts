import { type AnyTable, indexesOf, indexPosition } from '../../src/storage/records.js';
import { UnpreparedTableError } from '../storage-kit/index.js';
import { entriesWithRows, lateRows, scansWithLateRows } from './late-entries.js';
import { type SqliteHandle, type SqliteQuery, type SqliteStatement, select } from './sqlite-handle.js';
import {
  bringUpToDate,
  declareTable,
  EntryStatements,
  fallBehind,
  type KeptTable,
  type NewestChange,
  newestRow,
  versionedName,
} from './sqlite-indexes.js';
import { type IndexIds, numberOfKey } from './sqlite-rows.js';
import type { KeptTableRow } from './sqlite-schema.js';
import {
  type KeyStatements,
  type Scans,
  scansOver,
  statementsByNumber,
  statementsByPlace,
} from './sqlite-statements.js';

/** The description of the tables in the file, as of one version of the file. */
interface Catalog {
  /** The index of the last write. */
  index: number;
  readonly tables: ReadonlyMap<string, CatalogTable>;
}

interface CatalogTable extends KeptTable {
  /** The index of the last write that changed the table. */
  changedAt: number;
  /** Counts the changes of its set of indexes. */
  readonly generation: number;
  /** Its keys are numbers, and those of its rows. */
  readonly numbered: boolean;
  /** The newest row of a table that grows; null for others, whose changes are noted. */
  readonly newest: NewestRow | null;
}

/**
 * The newest row of a table, by its number. What is known of it is kept until another process commits, or a transaction fails. It may have
 * been removed since: then no row is newer, and none has changed as late as the removal.
 */
class NewestRow {
  #known: NewestChange | undefined;

  constructor(readonly statement: ReturnType<typeof newestRow>) {}

  /** Less than every row number when there is no row. */
  get rid(): number {
    return this.#row.rid;
  }

  /** The index of its last change; 1 when there is no row. */
  get modified(): number {
    return this.#row.modified;
  }

  stored(rid: number, modified: number): void {
    if (this.#known !== undefined && rid >= this.#known.rid) this.#known = { rid, modified };
  }

  get #row(): NewestChange {
    this.#known ??= this.statement.get() ?? { rid: -1, modified: 1 };
    return this.#known;
  }
}

/** A declared table, ready to use: its statements and its indexes. */
export interface BoundTable extends KeyStatements {
  readonly name: string;
  readonly generation: number;
  readonly update: SqliteStatement;
  readonly remove: SqliteStatement;
  /** In the order of the declaration. */
  readonly indexes: readonly BoundIndex[];
  /** Their IDs in ascending order. */
  readonly indexIds: readonly number[];
  /** The indexes that may have late rows, and how many of them. */
  readonly lazy: readonly { readonly id: number; readonly lateAtMost: number }[];
  /** Kept for other programs: this definition does not declare them, so their entries cannot be computed here. */
  readonly foreign: readonly number[];
}

interface BoundIndex {
  readonly id: number;
  readonly scans: Scans;
}

/** The tables of one connection: the catalog as last read, and the statements prepared so far. */
export class Tables implements IndexIds {
  /** Inserts and deletes entries of indexes. */
  readonly entries: EntryStatements;
  /** The number of times that the catalog was read. Rows that were cached before the last one may be out of date. */
  epoch = 0;
  /** The catalog as last read. */
  catalog: Catalog = { index: 1, tables: new Map() };
  readonly #handle: SqliteHandle;
  readonly #dataVersion: SqliteQuery<{ data_version: number }>;
  readonly #tableRows: SqliteQuery<TableRow>;
  readonly #indexRows: SqliteQuery<{ id: number; table_id: number; name: string; version: number }>;
  readonly #behindRows: SqliteQuery<{ id: number }>;
  readonly #lateRows: ReturnType<typeof lateRows>;
  readonly #newest = new Map<number, ReturnType<typeof newestRow>>();
  readonly #bound = new WeakMap<AnyTable, BoundTable>();
  /** Tables adopted since the last failure: a rollback undoes their IDs, and the next adoption may assign other ones. */
  #adopted: AnyTable[] = [];
  /** The version of the file that the catalog was read from. */
  #version = -1;
  /** Whether the indexes in the catalog are those of the file. False after a rollback, which may have undone some. */
  #indexesKnown = false;

  constructor(handle: SqliteHandle) {
    this.#handle = handle;
    this.entries = new EntryStatements(handle);
    this.#dataVersion = select(handle, 'PRAGMA data_version');
    this.#tableRows = select(handle, 'SELECT id, name, noted_at, generation, growing, numbered FROM signalbox_tables');
    this.#indexRows = select(handle, 'SELECT id, table_id, name, version FROM signalbox_indexes');
    this.#behindRows = select(handle, 'SELECT DISTINCT index_id AS id FROM signalbox_behind');
    this.#lateRows = lateRows(handle);
  }

  /** Reads the catalog again when another process may have changed it. Call it inside a transaction. */
  refresh(): Catalog {
    const now = this.#fileVersion();
    if (now !== this.#version) {
      this.#read();
      this.#version = now;
    }
    return this.catalog;
  }

  /** Whether the catalog is up to date, as far as this connection can detect. */
  isCurrent(): boolean {
    return this.#fileVersion() === this.#version;
  }

  /** Discards the catalog: after a failed transaction it may be wrong. */
  invalidate(): void {
    this.#version = -1;
    this.#indexesKnown = false;
    this.#newest.clear();
    this.entries.forget();
    for (const table of this.#adopted) this.#bound.delete(table);
    this.#adopted = [];
  }

  changedAt(name: string): number {
    return this.catalog.tables.get(name)?.changedAt ?? 1;
  }

  /** Throws `UnpreparedTableError` if the file does not have the table as declared, or if one of its indexes is outdated. */
  bind(table: AnyTable): BoundTable {
    const entry = this.catalog.tables.get(table.name);
    const isAsTold = entry !== undefined && (entry.newest !== null || table.hints.grows !== true);
    if (!isAsTold) throw new UnpreparedTableError(table);
    let bound = this.#bound.get(table);
    if (bound?.generation !== entry.generation) {
      bound = bindTable(this.#handle, table, entry, this.entries.late);
      this.#bound.set(table, bound);
    }
    if (entry.behind.size > 0 && bound.indexes.some(({ id }) => entry.behind.has(id))) {
      throw new UnpreparedTableError(table);
    }
    return bound;
  }

  indexId(table: AnyTable, index: string): number {
    return boundIndex(this.bind(table), table, index).id;
  }

  /** Creates the table as declared and brings its indexes up to date. Call it inside a transaction. */
  adopt(table: AnyTable): void {
    this.#adopted.push(table);
    declareTable(this.#handle, table);
    this.#read();
    const kept = this.catalog.tables.get(table.name);
    if (kept !== undefined) bringUpToDate(this.#handle, table, kept, this.entries);
    this.#read();
    this.bind(table);
  }

  /** Records rows that are missing in an index of another program from now on. */
  fallBehind(index: number, rows: readonly number[]): void {
    fallBehind(this.#handle, index, rows);
    // Makes other definitions in this process refresh as well.
    this.#read();
  }

  /** Changes when another connection has committed, never by this one's own commits. */
  #fileVersion(): number {
    return this.#dataVersion.get().data_version;
  }

  #read(): void {
    const rows = this.#tableRows.all();
    const unchanged =
      this.#indexesKnown &&
      rows.every(({ name, generation }) => this.catalog.tables.get(name)?.generation === generation);
    const indexes = unchanged ? knownIndexes(this.catalog) : this.#readIndexes();
    const behind = new Set(this.#behindRows.all().map((row) => row.id));
    const tables = new Map<string, CatalogTable>();
    // Each write changes a table, so the newest change of all tables is the last write. This saves one page for each commit.
    let index = 1;
    for (const { id, name, noted_at: notedAt, generation, growing, numbered } of rows) {
      const newest = growing === 1 ? this.#newestOf(id) : null;
      const changedAt = newest === null ? notedAt : Math.max(notedAt, newest.modified);
      const kept = { indexes: indexes.get(id) ?? new Map(), behind, newest, numbered: numbered === 1 };
      tables.set(name, { id, changedAt, generation, ...kept });
      index = Math.max(index, changedAt);
    }
    const kept = unchanged ? undefined : [...indexes.values()].flatMap((each) => [...each.values()]);
    if (kept !== undefined) this.entries.kept = new Set(kept);
    this.entries.late = this.#lateRows();
    this.entries.forget();
    this.catalog = { index, tables };
    this.#indexesKnown = true;
    this.epoch += 1;
  }

  /** Whether the newest row of the table says that it changed last at this index: then nothing else has to. */
  tellsByItself(name: string, index: number): boolean {
    return this.catalog.tables.get(name)?.newest?.modified === index;
  }

  /** Whether a key of a table that is numbered and grows is above those of all rows. */
  isPastAll(name: string, rowKey: string): boolean {
    const { numbered = false, newest = null } = this.catalog.tables.get(name) ?? {};
    return numbered && newest !== null && numberOfKey(rowKey) > newest.rid;
  }

  /** A row has been stored in the open transaction. */
  stored(name: string, rid: number, modified: number): void {
    this.catalog.tables.get(name)?.newest?.stored(rid, modified);
  }

  /** As of now: not what an earlier transaction has read or written. */
  #newestOf(id: number): NewestRow {
    const newest = new NewestRow(this.#newest.get(id) ?? newestRow(this.#handle, id));
    this.#newest.set(id, newest.statement);
    return newest;
  }

  #readIndexes(): Map<number, ReadonlyMap<string, number>> {
    const byTable = new Map<number, Map<string, number>>();
    for (const row of this.#indexRows.all()) {
      const indexes = byTable.get(row.table_id) ?? new Map<string, number>();
      indexes.set(versionedName(row.name, row.version), row.id);
      byTable.set(row.table_id, indexes);
    }
    return byTable;
  }
}

interface TableRow extends KeptTableRow {
  readonly generation: number;
}

function knownIndexes(catalog: Catalog): Map<number, ReadonlyMap<string, number>> {
  return new Map(Array.from(catalog.tables.values(), ({ id, indexes }) => [id, indexes]));
}

/** The index of the table that `bound` is of. */
export function boundIndex(bound: BoundTable, table: AnyTable, index: string): BoundIndex {
  return bound.indexes[indexPosition(table, index)] as BoundIndex;
}

function bindTable(
  handle: SqliteHandle,
  table: AnyTable,
  entry: CatalogTable,
  late: ReadonlyMap<number, unknown>,
): BoundTable {
  const rows = `signalbox_rows_${entry.id}`;
  const indexes = indexesOf(table).map(({ name, version, lazy }) => {
    const id = entry.indexes.get(versionedName(name, version));
    if (id === undefined || (lazy !== undefined && !late.has(id))) throw new UnpreparedTableError(table);
    return late.has(id)
      ? { id, scans: scansWithLateRows(handle, id, entry.id), lateAtMost: lazy ?? 0 }
      : { id, scans: scansOver(handle, entriesWithRows(id, entry.id), 'e.entry'), lateAtMost: null };
  });
  return {
    name: table.name,
    generation: entry.generation,
    ...(entry.numbered ? statementsByNumber(handle, rows) : statementsByPlace(handle, rows)),
    update: handle.prepare(
      `UPDATE ${rows} SET created = ?, modified = ?, entries = ?, doc = ?, doc_sum = ?, key_sum = ? WHERE rid = ?`,
    ),
    remove: handle.prepare(`DELETE FROM ${rows} WHERE rid = ?`),
    indexes,
    indexIds: indexes.map(({ id }) => id).toSorted((one, other) => one - other),
    lazy: indexes.flatMap(({ id, lateAtMost }) => (lateAtMost === null ? [] : { id, lateAtMost })),
    foreign: [...entry.indexes.values()].filter((id) => !indexes.some((index) => index.id === id)),
  };
}
