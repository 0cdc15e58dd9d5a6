import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { runs } from '../../src/functions/run.js';
import { deliveries } from '../../src/notifications/delivery/delivery.js';
import { events } from '../../src/notifications/events/event.js';
import type { StorageError } from '../../src/ports/storage.js';
import { messageOf } from '../../src/shared/values.js';
import { DamagedRowError, storageFailure } from '../../src/storage/records.js';
import {
  BatchSize,
  type ContentsReader,
  type ContentsWriter,
  type KeptRow,
  type KeptTable,
} from '../storage-kit/index.js';
import { entryIn, keyIn } from './late-entries.js';
import { syncPath } from './sqlite-backup.js';
import {
  asLists,
  loadDriver,
  type SqliteHandle,
  type SqliteStatement,
  select,
  storageErrorFrom,
} from './sqlite-handle.js';
import { addIndex, createRowsTable, newestChange } from './sqlite-indexes.js';
import {
  columnsOf,
  type Found,
  numberOfKey,
  parseEntries,
  printEntries,
  sumOfDocument,
  sumOfKeys,
} from './sqlite-rows.js';
import { keptTables, migrate, refuseFile, refuseUnmigrated } from './sqlite-schema.js';

/** Reads a store in a file, which servers may use meanwhile: as of now, and without changing it. */
export async function readSqlite(path: string): Promise<Result<ContentsReader, StorageError>> {
  const driver = await loadDriver(undefined);
  if (typeof driver !== 'function') return err(driver);
  if (!existsSync(path)) return err(storageFailure('io', 'The file does not exist.'));
  let handle: SqliteHandle | undefined;
  try {
    handle = driver(path, true);
    // A server may be switching the file to write-ahead logging at this time.
    handle.exec('PRAGMA busy_timeout = 10000');
    handle.exec('BEGIN');
    const refused = refuseFile(handle, false) ?? refuseUnmigrated(handle);
    if (refused === undefined) return ok(new SqliteContents(handle));
    handle.close();
    return err(refused);
  } catch (thrown) {
    handle?.close();
    return err(failureOf(thrown) ?? storageFailure('io', `SQLite: ${messageOf(thrown)}.`));
  }
}

/** A file is there by now at the place of the copy. */
class Occupied extends Error {
  constructor(readonly error: StorageError) {
    super(error.message);
  }
}

/** Also for errors of the file system. */
function failureOf(thrown: unknown): StorageError | undefined {
  if (thrown instanceof Occupied) return thrown.error;
  const error = storageErrorFrom(thrown);
  if (error !== undefined || !(thrown instanceof Error) || !('syscall' in thrown)) return error;
  return storageFailure('code' in thrown && thrown.code === 'ENOSPC' ? 'full' : 'io', `${thrown.message}.`);
}

interface Ids {
  readonly id: number;
  readonly indexes: readonly number[];
}

/** The content of a file, as of the transaction of its connection. */
class SqliteContents implements ContentsReader {
  readonly index: number;
  readonly tables: readonly KeptTable[];
  readonly failureOf = failureOf;
  readonly #handle: SqliteHandle;
  readonly #ids = new Map<string, Ids>();
  readonly #behind: ReadonlySet<number>;

  constructor(handle: SqliteHandle) {
    this.#handle = handle;
    const ofTable = select<{ id: number; name: string; version: number }>(
      handle,
      'SELECT id, name, version FROM signalbox_indexes WHERE table_id = ? ORDER BY id',
    );
    this.tables = keptTables(handle).map(({ id, name, noted_at: noted, growing, numbered }): KeptTable => {
      const indexes = ofTable.all(id);
      this.#ids.set(name, { id, indexes: indexes.map((index) => index.id) });
      return {
        name,
        index: growing === 1 ? Math.max(noted, newestChange(handle, id)) : noted,
        isNumbered: numbered === 1,
        indexes: indexes.map((index) => ({ name: index.name, version: index.version })),
      };
    });
    this.index = this.tables.reduce((most, { index }) => Math.max(most, index), 1);
    const behind = select<{ id: number }>(handle, 'SELECT DISTINCT index_id AS id FROM signalbox_behind');
    this.#behind = new Set(behind.all().map(({ id }) => id));
  }

  async *rows({ name, isNumbered = false }: KeptTable): AsyncGenerator<readonly KeptRow[]> {
    const { id, indexes } = this.#ids.get(name) as Ids;
    const behind = indexes.map((index) =>
      this.#behind.has(index)
        ? `EXISTS (SELECT 1 FROM signalbox_behind WHERE index_id = ${index} AND rid = r.rid)`
        : '0',
    );
    const order = isNumbered ? 'r.rid' : 'r.place';
    const columns = ['r.rid', 'r.place', 'r.created', 'r.modified', 'r.entries', 'r.doc', 'r.doc_sum', 'r.key_sum'];
    const pageFrom = (comparison: '>=' | '>') =>
      asLists(
        select<Found>(
          this.#handle,
          `SELECT ${columns.join(', ')}, ${behind.map((each, at) => `${each} AS behind${at}`).join(', ') || '0'}
           FROM signalbox_rows_${id} AS r WHERE ${order} ${comparison} ? ORDER BY ${order} LIMIT ?`,
        ),
      );
    const size = new BatchSize();
    let page = pageFrom('>=');
    for (let after: string | number = isNumbered ? 0 : ''; ; page = pageFrom('>')) {
      const found = page.all(after, size.rows).map((row) => columnsOf<KeptColumns>(row));
      const last = found.at(-1);
      if (last === undefined) return;
      size.read(
        found.length,
        found.reduce((sum, row) => sum + row[5].length, 0),
      );
      yield found.map((row) => keptRow(name, row, indexes));
      after = last[isNumbered ? 0 : 1];
    }
  }

  async *positions({ name }: KeptTable, index: number): AsyncGenerator<readonly string[]> {
    const { id: tableId, indexes } = this.#ids.get(name) as Ids;
    const id = indexes[index];
    if (id === undefined) return;
    const late = `SELECT ${entryIn(id)} AS entry FROM signalbox_rows_${tableId} AS r
      WHERE r.rid > (SELECT entered_to FROM signalbox_indexes WHERE id = ${id}) AND ${keyIn(id)} IS NOT NULL`;
    const page = asLists(
      select<Found>(
        this.#handle,
        `SELECT entry FROM signalbox_entries_${id} WHERE entry > ? UNION ALL SELECT entry FROM (${late}) WHERE entry > ?
         ORDER BY entry LIMIT ?`,
      ),
    );
    const size = new BatchSize();
    for (let after = ''; ; ) {
      const found = page.all(after, after, size.rows).map((row) => columnsOf<readonly [entry: string]>(row)[0]);
      const last = found.at(-1);
      if (last === undefined) return;
      size.read(
        found.length,
        found.reduce((sum, each) => sum + each.length, 0),
      );
      yield found;
      after = last;
    }
  }

  async close(): Promise<void> {
    this.#handle.close();
  }
}

type KeptColumns = readonly [number, string, number, number, string, string, number, number, ...number[]];

function keptRow(table: string, columns: KeptColumns, indexes: readonly number[]): KeptRow {
  const [, key, createIndex, modifyIndex, entries, text, documentSum, keySum, ...behind] = columns;
  if (sumOfDocument(text, createIndex, modifyIndex) !== documentSum || sumOfKeys(key, entries) !== keySum)
    throw new DamagedRowError(`A row of table ${table} has a wrong checksum: restore the file from a backup.`);
  const known = parseEntries(entries);
  return {
    ...{ key, createIndex, modifyIndex, text },
    entries: indexes.map((id, at) => known.get(id) ?? (behind[at] === 1 ? undefined : null)),
  };
}

/** Tables whose rows are stored under their numbers, for sources that do not distinguish them. */
const numbered: ReadonlySet<string> = new Set([runs, events, deliveries].map(({ name }) => name));

/** Writes a store to a file beside the one that is named, which appears with the commit. Only its owner can read it. */
export async function writeSqlite(path: string): Promise<Result<ContentsWriter, StorageError>> {
  const driver = await loadDriver(undefined);
  if (typeof driver !== 'function') return err(driver);
  const place = placeOf(path);
  if (place.isErr()) return err(place.error);
  const to = place.value;
  const partial = join(dirname(to), `.${basename(to)}.${randomBytes(4).toString('hex')}.new`);
  try {
    // Created first, so that other users can never read it.
    closeSync(openSync(partial, 'wx', 0o600));
    const handle = driver(partial, false);
    // Nobody else sees the file, and after a failure it is removed.
    handle.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE');
    handle.exec('PRAGMA cache_size = -65536');
    migrate(handle);
    return ok(new SqliteCopy(handle, partial, to));
  } catch (thrown) {
    rmSync(partial, { force: true });
    return err(failureOf(thrown) ?? storageFailure('io', `SQLite: ${messageOf(thrown)}.`));
  }
}

function placeOf(path: string): Result<string, StorageError> {
  const found = statSync(path, { throwIfNoEntry: false });
  const to = found === undefined ? resolve(path) : realpathSync(path);
  const occupied = found === undefined || (found.isFile() && found.size === 0) ? leftBeside(to) : path;
  if (occupied !== undefined)
    return err(storageFailure('io', `${occupied} exists already: a copy needs a new file. Nothing was changed.`));
  if (!existsSync(dirname(to))) return err(storageFailure('io', `There is no folder ${dirname(to)}.`));
  return ok(to);
}

/** Such a file of another store would be taken for a part of this one. */
function leftBeside(path: string): string | undefined {
  return [`${path}-wal`, `${path}-journal`].find((each) => existsSync(each));
}

interface WrittenTable extends Ids {
  readonly insert: SqliteStatement;
  readonly isNumbered: boolean;
}

class SqliteCopy implements ContentsWriter {
  readonly failureOf = failureOf;
  readonly #handle: SqliteHandle;
  readonly #partial: string;
  readonly #to: string;
  readonly #tables = new Map<string, WrittenTable>();
  readonly #fallBehind: SqliteStatement;
  #rows = 0;
  #isOpen = true;

  constructor(handle: SqliteHandle, partial: string, to: string) {
    this.#handle = handle;
    this.#partial = partial;
    this.#to = to;
    this.#fallBehind = handle.prepare('INSERT INTO signalbox_behind (index_id, rid) VALUES (?, ?)');
  }

  async begin({ index, tables }: Pick<ContentsReader, 'index' | 'tables'>): Promise<void> {
    this.#handle.exec('BEGIN');
    for (const table of tables) this.#create(table);
    // A file has the index of the last change of any table. Of the last write, only removed or reserved indexes may be left.
    if (index === 1 || tables.some((table) => table.index >= index)) return;
    this.#create({ name: 'last_write', index, isNumbered: false, indexes: [] });
  }

  #create({ name, index, indexes, isNumbered = numbered.has(name) }: KeptTable): void {
    // A table that is declared to grow is marked so at its first use.
    const add = this.#handle.prepare(
      'INSERT INTO signalbox_tables (name, noted_at, generation, growing, numbered) VALUES (?, ?, 1, 0, ?)',
    );
    const id = Number(add.run(name, index, Number(isNumbered)).lastInsertRowid);
    createRowsTable(this.#handle, id, isNumbered);
    const ids = indexes.map((each) => addIndex(this.#handle, id, each.name, each.version));
    const insert = this.#handle.prepare(
      `INSERT INTO signalbox_rows_${id} (rid, place, created, modified, entries, doc, doc_sum, key_sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#tables.set(name, { id, indexes: ids, insert, isNumbered });
  }

  async write({ name }: KeptTable, rows: readonly KeptRow[]): Promise<void> {
    const { insert, indexes, isNumbered } = this.#tables.get(name) as WrittenTable;
    for (const { key, createIndex, modifyIndex, text, entries } of rows) {
      this.#rows += 1;
      const rid = isNumbered ? numberOfKey(key) : this.#rows;
      const known = new Map<number, string>();
      for (const [at, id] of indexes.entries()) {
        const entry = entries[at];
        if (entry === undefined) this.#fallBehind.run(id, rid);
        else if (entry !== null) known.set(id, entry);
      }
      const printed = printEntries(known, indexes);
      const sums = [sumOfDocument(text, createIndex, modifyIndex), sumOfKeys(key, printed)] as const;
      insert.run(rid, key, createIndex, modifyIndex, printed, text, ...sums);
    }
  }

  async finish(): Promise<ContentsReader> {
    for (const { id: tableId, indexes } of this.#tables.values())
      for (const id of indexes)
        this.#handle.exec(
          `INSERT INTO signalbox_entries_${id} (entry, rid)
           SELECT ${entryIn(id)} AS entry, r.rid FROM signalbox_rows_${tableId} AS r WHERE ${keyIn(id)} IS NOT NULL ORDER BY 1`,
        );
    this.#handle.exec('COMMIT');
    return new SqliteContents(this.#handle);
  }

  async commit(): Promise<void> {
    this.#end();
    syncPath(this.#partial);
    const place = placeOf(this.#to);
    if (place.isErr()) throw new Occupied(place.error);
    renameSync(this.#partial, this.#to);
    syncPath(dirname(this.#to));
  }

  async close(): Promise<void> {
    this.#end();
    for (const path of [this.#partial, `${this.#partial}-journal`]) rmSync(path, { force: true });
  }

  #end(): void {
    if (this.#isOpen) this.#handle.close();
    this.#isOpen = false;
  }
}
