import { createHash } from 'node:crypto';
import { encodeEntry, encodeKey } from '../../src/shared/key-encoding.js';
import type { Key, Table } from '../../src/shared/table.js';
import { asLists, type SqliteHandle, type SqliteStatement } from './sqlite-handle.js';

/*
 * For each table of the core: signalbox_rows_<id> holds the rows in a rowid table (long documents in a WITHOUT ROWID
 * table would make its key tree deep and every list slow), and signalbox_entries_<id> holds one narrow, sorted list of
 * entries for each index. A row also keeps its own entries, so that replacing it needs no parse of the old document.
 */

const DOCUMENT_COLUMNS = 'created, modified, doc';

/** A record or key that cannot be stored; the storage turns it into its error. */
export class UnstorableError extends Error {}

/** Thrown through a work function that uses a table which the file does not keep as declared; see `adoptTable`. */
export class UnboundTableError extends Error {
  constructor(readonly table: Table<unknown>) {
    super(`Table ${table.name} must be prepared first.`);
  }
}

/** What the file says about its tables, as of one version of the file. */
export interface Catalog {
  /** The index of the last write. */
  index: number;
  readonly tables: ReadonlyMap<string, CatalogTable>;
}

interface CatalogTable {
  readonly id: number;
  /** The index of the last write that changed the table. */
  changedAt: number;
  /** Fingerprint of the definition by which all index entries are kept. */
  readonly definition: string;
  /** Counts the adoptions: another generation may keep its entries elsewhere. */
  readonly generation: number;
}

/** A declared table, ready to use: its statements and its indexes. */
export interface BoundTable {
  readonly name: string;
  readonly id: number;
  readonly generation: number;
  readonly get: SqliteStatement;
  readonly find: SqliteStatement;
  readonly insert: SqliteStatement;
  readonly update: SqliteStatement;
  readonly remove: SqliteStatement;
  readonly scans: Scans;
  readonly indexes: ReadonlyMap<string, BoundIndex>;
}

export interface BoundIndex {
  readonly id: number;
  readonly key: (record: unknown) => Key | undefined;
  readonly insert: SqliteStatement;
  readonly remove: SqliteStatement;
  readonly scans: Scans;
}

export interface Scans {
  readonly forward: SqliteStatement;
  readonly backward: SqliteStatement;
}

/** The tables of one connection: the catalog as last read, and the statements prepared so far. */
export interface Tables {
  /** Reads the catalog again when another process may have changed it. Call it inside a transaction. */
  refresh(): Catalog;
  /** Whether the catalog is as the file is now, so far as this connection can know. */
  isCurrent(): boolean;
  /** The catalog as last read. */
  current(): Catalog;
  /** Forgets what was read: after a transaction failed, nothing remembered can be trusted. */
  invalidate(): void;
  /** The table as last read; throws `UnboundTableError` when the file does not keep it as declared. */
  bind<R>(table: Table<R>): BoundTable;
  /** Makes the file keep the table as declared: creates what is missing, drops unknown indexes, corrects entries. */
  adopt(table: Table<unknown>): void;
}

export function sqliteTables(handle: SqliteHandle): Tables {
  const dataVersion = handle.prepare('PRAGMA data_version');
  const tableRows = handle.prepare('SELECT id, name, changed_at, definition, generation FROM signalbox_tables');
  const bound = new WeakMap<object, BoundTable>();
  /** Tables adopted since the last failure: a rollback takes back their ids, and the next adoption may hand them out otherwise. */
  let adopted: Table<unknown>[] = [];
  let catalog: Catalog = { index: 1, tables: new Map() };
  let version = -1;

  /** Changes when another connection has committed, never by this one's own commits. */
  function fileVersion(): number {
    return (dataVersion.get() as { data_version: number }).data_version;
  }

  function read(): Catalog {
    const tables = new Map<string, CatalogTable>();
    let index = 1;
    for (const row of tableRows.all() as (CatalogTable & { name: string; changed_at: number })[]) {
      const { id, definition, generation } = row;
      tables.set(row.name, { id, changedAt: row.changed_at, definition, generation });
      // Each write changes some table, so the last change of any is the last write; a commit writes one page less.
      index = Math.max(index, row.changed_at);
    }
    return { index, tables };
  }

  function bind(table: Table<unknown>): BoundTable {
    const known = bound.get(table);
    const entry = catalog.tables.get(table.name);
    if (known !== undefined && known.generation === entry?.generation) return known;
    if (entry?.definition !== fingerprint(table)) throw new UnboundTableError(table);
    const binding = bindTable(handle, table, entry);
    bound.set(table, binding);
    return binding;
  }

  return {
    refresh() {
      const now = fileVersion();
      if (now !== version) {
        catalog = read();
        version = now;
      }
      return catalog;
    },
    isCurrent: () => fileVersion() === version,
    current: () => catalog,
    invalidate() {
      version = -1;
      for (const table of adopted) bound.delete(table);
      adopted = [];
    },
    bind: (table) => bind(table as unknown as Table<unknown>),
    adopt(table) {
      adopted.push(table);
      adoptTable(handle, table);
      catalog = read();
      correctEntries(handle, bind(table));
    },
  };
}

/** The entries of a record: encoded index keys by index id. */
export function entriesOf(table: BoundTable, record: unknown): Entries {
  const entries: Entries = {};
  for (const index of table.indexes.values()) {
    const key = index.key(record);
    if (key === undefined) continue;
    const encoded = encodeKey(key);
    if (encoded === undefined) throw new UnstorableError(unkeyable(table.name, 'index key'));
    entries[index.id] = encoded;
  }
  return entries;
}

/** The entries as a row keeps them. Equal entries have equal texts: members named by numbers come in their order. */
export function printEntries(entries: Entries): string {
  return JSON.stringify(entries);
}

export function parseEntries(text: string): Entries {
  return JSON.parse(text) as Entries;
}

/** Moves a row in the indexes from its old entries to its new ones. */
export function moveEntries(table: BoundTable, place: string, rid: number, before: Entries, after: Entries): void {
  for (const index of table.indexes.values()) {
    const from = before[index.id];
    const to = after[index.id];
    if (from === to) continue;
    if (from !== undefined) index.remove.run(encodeEntry(from, place));
    if (to !== undefined) index.insert.run(encodeEntry(to, place), rid);
  }
}

export function unkeyable(table: string, what: string): string {
  return `A ${what} of table ${table} holds a part that is no text, finite number, boolean or null.`;
}

export interface Entries {
  [indexId: number]: string;
}

/** Two definitions with the same fingerprint keep the same entries, as far as their source text tells. */
function fingerprint(table: Table<unknown>): string {
  const known = fingerprints.get(table);
  if (known !== undefined) return known;
  const indexes = Object.entries(table.indexes).map(([name, index]) => [name, String(index.key)]);
  const made = createHash('sha256')
    .update(JSON.stringify(indexes.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))))
    .digest('hex')
    .slice(0, 32);
  fingerprints.set(table, made);
  return made;
}

const fingerprints = new WeakMap<object, string>();

function adoptTable(handle: SqliteHandle, table: Table<unknown>): void {
  handle
    .prepare(
      `INSERT INTO signalbox_tables (name, changed_at, definition, generation) VALUES (?, 1, ?, 1)
       ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, generation = generation + 1`,
    )
    .run(table.name, fingerprint(table));
  const { id } = handle.prepare('SELECT id FROM signalbox_tables WHERE name = ?').get(table.name) as { id: number };
  handle.exec(
    `CREATE TABLE IF NOT EXISTS signalbox_rows_${id} (
       rid INTEGER PRIMARY KEY,
       place TEXT NOT NULL UNIQUE,
       created INTEGER NOT NULL,
       modified INTEGER NOT NULL,
       entries TEXT NOT NULL,
       doc TEXT NOT NULL
     )`,
  );
  const missing = new Set(Object.keys(table.indexes));
  for (const [name, index] of indexIds(handle, id)) {
    // Nobody will keep the entries of an undeclared index from now on, so nobody may read them later.
    if (!missing.delete(name)) dropIndex(handle, index);
  }
  for (const name of missing) addIndex(handle, id, name);
}

function dropIndex(handle: SqliteHandle, id: number): void {
  handle.exec(`DROP TABLE signalbox_entries_${id}`);
  handle.prepare('DELETE FROM signalbox_indexes WHERE id = ?').run(id);
}

function addIndex(handle: SqliteHandle, tableId: number, name: string): void {
  // The id is never used twice: rows may still hold entries under the id of an index that was dropped.
  const added = handle.prepare('INSERT INTO signalbox_indexes (table_id, name) VALUES (?, ?)').run(tableId, name);
  handle.exec(
    `CREATE TABLE signalbox_entries_${added.lastInsertRowid} (entry TEXT PRIMARY KEY, rid INTEGER NOT NULL) WITHOUT ROWID`,
  );
}

/** Computes the entries of all rows again, and writes those that differ. */
function correctEntries(handle: SqliteHandle, table: BoundTable): void {
  const page = handle.prepare(
    `SELECT rid, place, entries, doc FROM signalbox_rows_${table.id} WHERE rid > ? ORDER BY rid LIMIT 256`,
  );
  const update = handle.prepare(`UPDATE signalbox_rows_${table.id} SET entries = ? WHERE rid = ?`);
  let last = -1;
  for (;;) {
    const rows = page.all(last) as { rid: number; place: string; entries: string; doc: string }[];
    if (rows.length === 0) return;
    for (const row of rows) {
      const entries = entriesOf(table, JSON.parse(row.doc));
      const text = printEntries(entries);
      if (text !== row.entries) {
        update.run(text, row.rid);
        moveEntries(table, row.place, row.rid, parseEntries(row.entries), entries);
      }
      last = row.rid;
    }
  }
}

function indexIds(handle: SqliteHandle, tableId: number): Map<string, number> {
  const rows = handle.prepare('SELECT id, name FROM signalbox_indexes WHERE table_id = ?').all(tableId);
  return new Map((rows as { id: number; name: string }[]).map((row) => [row.name, row.id]));
}

function bindTable(handle: SqliteHandle, table: Table<unknown>, entry: CatalogTable): BoundTable {
  const rows = `signalbox_rows_${entry.id}`;
  const ids = indexIds(handle, entry.id);
  const indexes = new Map<string, BoundIndex>();
  for (const [name, index] of Object.entries(table.indexes)) {
    indexes.set(name, bindIndex(handle, rows, ids.get(name) as number, index.key));
  }
  return {
    name: table.name,
    id: entry.id,
    generation: entry.generation,
    get: asLists(handle.prepare(`SELECT ${DOCUMENT_COLUMNS} FROM ${rows} WHERE place = ?`)),
    find: handle.prepare(`SELECT rid, created, entries FROM ${rows} WHERE place = ?`),
    insert: handle.prepare(`INSERT INTO ${rows} (place, created, modified, entries, doc) VALUES (?, ?, ?, ?, ?)`),
    update: handle.prepare(`UPDATE ${rows} SET modified = ?, entries = ?, doc = ? WHERE rid = ?`),
    remove: handle.prepare(`DELETE FROM ${rows} WHERE rid = ?`),
    scans: scans(handle, `SELECT ${DOCUMENT_COLUMNS} FROM ${rows}`, 'place'),
    indexes,
  };
}

function bindIndex(handle: SqliteHandle, rows: string, id: number, key: BoundIndex['key']): BoundIndex {
  const entries = `signalbox_entries_${id}`;
  // CROSS JOIN keeps SQLite's planner from reading the rows first.
  const select = `SELECT ${DOCUMENT_COLUMNS} FROM ${entries} AS e CROSS JOIN ${rows} AS r ON r.rid = e.rid`;
  return {
    id,
    key,
    insert: handle.prepare(`INSERT INTO ${entries} (entry, rid) VALUES (?, ?)`),
    remove: handle.prepare(`DELETE FROM ${entries} WHERE entry = ?`),
    scans: scans(handle, select, 'entry'),
  };
}

function scans(handle: SqliteHandle, select: string, column: string): Scans {
  const between = `${select} WHERE ${column} >= ? AND ${column} < ? ORDER BY ${column}`;
  return {
    forward: asLists(handle.prepare(`${between} LIMIT ?`)),
    backward: asLists(handle.prepare(`${between} DESC LIMIT ?`)),
  };
}
