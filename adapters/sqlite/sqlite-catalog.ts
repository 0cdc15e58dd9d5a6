import { type AnyTable, indexesOf, indexPosition } from '../../src/storage/records.js';
import { UnpreparedTableError } from '../storage-kit/index.js';
import { asLists, type SqliteHandle, type SqliteStatement } from './sqlite-handle.js';
import {
  bringUpToDate,
  declareTable,
  EntryStatements,
  fallBehind,
  type KeptTable,
  versionedName,
} from './sqlite-indexes.js';
import { DOCUMENT_COLUMNS, type IndexIds, KEYED_COLUMNS } from './sqlite-rows.js';

/** The description of the tables in the file, as of one version of the file. */
export interface Catalog {
  /** The index of the last write. */
  index: number;
  readonly tables: ReadonlyMap<string, CatalogTable>;
}

export interface CatalogTable extends KeptTable {
  /** The index of the last write that changed the table. */
  changedAt: number;
  /** Counts the changes of its set of indexes. */
  readonly generation: number;
}

/** A declared table, ready to use: its statements and its indexes. */
export interface BoundTable {
  readonly name: string;
  readonly generation: number;
  readonly find: SqliteStatement;
  readonly insert: SqliteStatement;
  readonly update: SqliteStatement;
  readonly remove: SqliteStatement;
  readonly scans: Scans;
  /** In the order of the declaration. */
  readonly indexes: readonly BoundIndex[];
  /** Kept for other programs: this definition does not declare them, so their entries cannot be computed here. */
  readonly foreign: readonly number[];
}

export interface BoundIndex {
  readonly id: number;
  readonly scans: Scans;
}

/** Statements over a range of an order: for readers, and with the additional columns that a writer needs. */
export interface Scans {
  readonly forward: SqliteStatement;
  readonly backward: SqliteStatement;
  readonly keyedForward: SqliteStatement;
  readonly keyedBackward: SqliteStatement;
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
  readonly #dataVersion: SqliteStatement;
  readonly #tableRows: SqliteStatement;
  readonly #indexRows: SqliteStatement;
  readonly #behindRows: SqliteStatement;
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
    this.#dataVersion = handle.prepare('PRAGMA data_version');
    this.#tableRows = handle.prepare('SELECT id, name, changed_at, generation FROM signalbox_tables');
    this.#indexRows = handle.prepare('SELECT id, table_id, name, version FROM signalbox_indexes');
    this.#behindRows = handle.prepare('SELECT DISTINCT index_id AS id FROM signalbox_behind');
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
    for (const table of this.#adopted) this.#bound.delete(table);
    this.#adopted = [];
  }

  changedAt(name: string): number {
    return this.catalog.tables.get(name)?.changedAt ?? 1;
  }

  /** Throws `UnpreparedTableError` if the file does not have the table as declared, or if one of its indexes is outdated. */
  bind(table: AnyTable): BoundTable {
    const entry = this.catalog.tables.get(table.name);
    if (entry === undefined) throw new UnpreparedTableError(table);
    let bound = this.#bound.get(table);
    if (bound?.generation !== entry.generation) {
      bound = bindTable(this.#handle, table, entry);
      this.#bound.set(table, bound);
    }
    if (entry.behind.size > 0 && bound.indexes.some(({ id }) => entry.behind.has(id))) {
      throw new UnpreparedTableError(table);
    }
    return bound;
  }

  indexId(table: AnyTable, index: string): number {
    return (this.bind(table).indexes[indexPosition(table, index)] as BoundIndex).id;
  }

  /** Creates the table as declared and brings its indexes up to date. Call it inside a transaction. */
  adopt(table: AnyTable): void {
    this.#adopted.push(table);
    declareTable(this.#handle, table);
    this.#read();
    bringUpToDate(this.#handle, table, this.catalog.tables.get(table.name) as CatalogTable, this.entries);
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
    return (this.#dataVersion.get() as { data_version: number }).data_version;
  }

  #read(): void {
    const rows = this.#tableRows.all() as { id: number; name: string; changed_at: number; generation: number }[];
    const unchanged =
      this.#indexesKnown &&
      rows.every(({ name, generation }) => this.catalog.tables.get(name)?.generation === generation);
    const indexes = unchanged ? knownIndexes(this.catalog) : this.#readIndexes();
    const behind = new Set((this.#behindRows.all() as { id: number }[]).map((row) => row.id));
    const tables = new Map<string, CatalogTable>();
    // Each write changes a table, so the newest change of all tables is the last write. This saves one page for each commit.
    let index = 1;
    for (const { id, name, changed_at: changedAt, generation } of rows) {
      tables.set(name, { id, changedAt, generation, indexes: indexes.get(id) ?? new Map(), behind });
      index = Math.max(index, changedAt);
    }
    const kept = unchanged ? undefined : [...indexes.values()].flatMap((each) => [...each.values()]);
    if (kept !== undefined) this.entries.kept = new Set(kept);
    this.catalog = { index, tables };
    this.#indexesKnown = true;
    this.epoch += 1;
  }

  #readIndexes(): Map<number, ReadonlyMap<string, number>> {
    const byTable = new Map<number, Map<string, number>>();
    for (const row of this.#indexRows.all() as { id: number; table_id: number; name: string; version: number }[]) {
      const indexes = byTable.get(row.table_id) ?? new Map<string, number>();
      indexes.set(versionedName(row.name, row.version), row.id);
      byTable.set(row.table_id, indexes);
    }
    return byTable;
  }
}

function knownIndexes(catalog: Catalog): Map<number, ReadonlyMap<string, number>> {
  return new Map(Array.from(catalog.tables.values(), ({ id, indexes }) => [id, indexes]));
}

function bindTable(handle: SqliteHandle, table: AnyTable, entry: CatalogTable): BoundTable {
  const rows = `signalbox_rows_${entry.id}`;
  const ids = indexesOf(table).map(({ name, version }) => {
    const id = entry.indexes.get(versionedName(name, version));
    if (id === undefined) throw new UnpreparedTableError(table);
    return id;
  });
  return {
    name: table.name,
    generation: entry.generation,
    find: asLists(handle.prepare(`SELECT ${KEYED_COLUMNS} FROM ${rows} AS r WHERE r.place = ?`)),
    insert: handle.prepare(
      `INSERT INTO ${rows} (place, created, modified, entries, doc, doc_sum, key_sum) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    update: handle.prepare(
      `UPDATE ${rows} SET created = ?, modified = ?, entries = ?, doc = ?, doc_sum = ?, key_sum = ? WHERE rid = ?`,
    ),
    remove: handle.prepare(`DELETE FROM ${rows} WHERE rid = ?`),
    scans: scansOver(handle, `${rows} AS r`, 'r.place'),
    indexes: ids.map((id) => {
      // CROSS JOIN keeps SQLite's planner from reading the rows first.
      const from = `signalbox_entries_${id} AS e CROSS JOIN ${rows} AS r ON r.rid = e.rid`;
      return { id, scans: scansOver(handle, from, 'e.entry') };
    }),
    foreign: [...entry.indexes.values()].filter((id) => !ids.includes(id)),
  };
}

function scansOver(handle: SqliteHandle, from: string, column: string): Scans {
  const scan = (columns: string, direction: string): SqliteStatement =>
    lazily(() => {
      // SQLite reads a plain parameter of LIMIT during compilation and compiles the statement again for every bound value. As
      // an operand of an addition it does not, and the scan takes a quarter of the time.
      const range = `${column} >= ? AND ${column} < ?`;
      const order = `ORDER BY ${column}${direction} LIMIT (? + 0)`;
      return asLists(handle.prepare(`SELECT ${columns} FROM ${from} WHERE ${range} ${order}`));
    });
  return {
    forward: scan(DOCUMENT_COLUMNS, ''),
    backward: scan(DOCUMENT_COLUMNS, ' DESC'),
    keyedForward: scan(KEYED_COLUMNS, ''),
    keyedBackward: scan(KEYED_COLUMNS, ' DESC'),
  };
}

/** Most orders use one or two of the four statements, so each is prepared at its first use. */
function lazily(prepare: () => SqliteStatement): SqliteStatement {
  let prepared: SqliteStatement | undefined;
  const statement = (): SqliteStatement => {
    prepared ??= prepare();
    return prepared;
  };
  return {
    run: (...values) => statement().run(...values),
    get: (...values) => statement().get(...values),
    all: (...values) => statement().all(...values),
  };
}
