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

/** What the file says about its tables, as of one version of the file. */
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
  /** Kept for other programs: this definition does not declare them, so nobody here knows their entries. */
  readonly foreign: readonly number[];
}

export interface BoundIndex {
  readonly id: number;
  readonly scans: Scans;
}

/** Statements over a range of an order: for those who only read, and with what it takes to change the rows. */
export interface Scans {
  readonly forward: SqliteStatement;
  readonly backward: SqliteStatement;
  readonly keyedForward: SqliteStatement;
  readonly keyedBackward: SqliteStatement;
}

/** The tables of one connection: the catalog as last read, and the statements prepared so far. */
export class Tables implements IndexIds {
  /** Puts and takes out entries of indexes. */
  readonly entries: EntryStatements;
  /** Counts the times that anything was read: what was remembered of rows before the last one may be old. */
  epoch = 0;
  /** The catalog as last read. */
  catalog: Catalog = { index: 1, tables: new Map() };
  readonly #handle: SqliteHandle;
  readonly #dataVersion: SqliteStatement;
  readonly #tableRows: SqliteStatement;
  readonly #indexRows: SqliteStatement;
  readonly #behindRows: SqliteStatement;
  readonly #bound = new WeakMap<AnyTable, BoundTable>();
  /** Tables adopted since the last failure: a rollback takes back their ids, and the next adoption may hand them out otherwise. */
  #adopted: AnyTable[] = [];
  /** The version of the file that the catalog was read from. */
  #version = -1;
  /** Whether the indexes in the catalog are the file's: not after a rollback, which may have taken some back. */
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

  /** Whether the catalog is as the file is now, so far as this connection can know. */
  isCurrent(): boolean {
    return this.#fileVersion() === this.#version;
  }

  /** Forgets what was read: after a transaction failed, nothing remembered can be trusted. */
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

  /** Makes the file keep the table as declared, and brings its indexes up to date. Call it inside a transaction. */
  adopt(table: AnyTable): void {
    this.#adopted.push(table);
    declareTable(this.#handle, table);
    this.#read();
    bringUpToDate(this.#handle, table, this.catalog.tables.get(table.name) as CatalogTable, this.entries);
    this.#read();
    this.bind(table);
  }

  /** Notes rows that an index of others lacks from now on. */
  fallBehind(index: number, rows: readonly number[]): void {
    fallBehind(this.#handle, index, rows);
    // Other definitions of this process notice, too.
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
    // Each write changes some table, so the last change of any is the last write; a commit writes one page less.
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
      // SQLite reads a bare parameter of LIMIT while it compiles, and then compiles anew for every value that is bound:
      // as an operand it is one like the others, and the scan costs a quarter.
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

/** Most orders are scanned in one or two of four ways: a statement is prepared when it is first used. */
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
