import type { ListQuery, ReadView, Row, WriteView } from '../../src/ports/storage.js';
import { encodeKey, keyBounds } from '../../src/shared/key-encoding.js';
import type { Key, Table } from '../../src/shared/table.js';
import {
  type BoundTable,
  entriesOf,
  moveEntries,
  parseEntries,
  printEntries,
  type Scans,
  type Tables,
  UnboundTableError,
  UnstorableError,
  unkeyable,
} from './sqlite-catalog.js';
import { storageErrorFrom } from './sqlite-handle.js';

/** One run of a work function inside an open transaction. */
export interface Run {
  readonly tables: Tables;
  /**
   * Called before each access: from here on everything must come from one snapshot. A point read says so; when it is the
   * only access of the run, it needs no transaction around it.
   */
  readonly hold: (pointRead: boolean) => void;
  /** Known once the snapshot is held. */
  index: number;
  /** Tables that earlier writes of the same batch changed, with the index of the last of them. */
  readonly changedBefore: ReadonlyMap<string, number>;
  readonly changed: Set<string>;
  /** Called before the first change: the place to set a savepoint. */
  readonly beforeChange: () => void;
  open: boolean;
  /** A failure that ends the run even when the work function catches the exception that reported it. */
  failure: unknown;
}

/** Thrown when a stored document is not JSON: only a damaged file holds such a thing. */
export class DamagedRowError extends Error {}

export function readView(run: Run): ReadView {
  return {
    get index() {
      enter(run, false);
      return run.index;
    },
    get: (table, key) => getRow(run, table, key),
    list: (table, query) => listRows(run, table, query ?? {}),
    tableIndex: (table) => tableIndex(run, table.name),
  };
}

export function writeView(run: Run): WriteView {
  return {
    index: run.index,
    get: (table, key) => getRow(run, table, key),
    list: (table, query) => listRows(run, table, query ?? {}),
    tableIndex: (table) => tableIndex(run, table.name),
    put: (table, record) => change(run, table, (bound) => putRow(run, bound, table, record)),
    remove: (table, key) => change(run, table, (bound) => removeRow(run, bound, key)),
  };
}

/** What `DOCUMENT_COLUMNS` selects: a list of columns where the driver can give one, which is cheaper, else an object. */
type FoundDocument =
  | readonly [created: number, modified: number, doc: string]
  | { readonly created: number; readonly modified: number; readonly doc: string };

/** A row as read. A class because the lazy getter then lives once, on the prototype. */
class SqliteRow implements Row<unknown> {
  private parsed: unknown = undefined;

  constructor(
    readonly text: string,
    readonly createIndex: number,
    readonly modifyIndex: number,
  ) {}

  get record(): unknown {
    if (this.parsed === undefined) this.parsed = parseDocument(this.text);
    return this.parsed;
  }
}

function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DamagedRowError('A stored document is not JSON. The file is damaged: restore it from a backup.');
  }
}

function getRow<R>(run: Run, table: Table<R>, key: Key): Row<R> | undefined {
  enter(run, true);
  const found = bind(run, table).get.get(placeOf(table.name, key)) as FoundDocument | null | undefined;
  return found ? (rowFrom(found) as Row<R>) : undefined;
}

function listRows<R>(run: Run, table: Table<R>, query: ListQuery): Row<R>[] {
  enter(run, false);
  const bound = bind(run, table);
  const bounds = keyBounds(query);
  if (bounds === undefined) throw new UnstorableError(`A list of table ${table.name} is bounded by what is no key.`);
  const scans = scansFor(bound, query.index);
  const scan = query.reverse === true ? scans.backward : scans.forward;
  const found = scan.all(bounds.lower, bounds.upper, rowLimit(query.limit)) as FoundDocument[];
  return found.map(rowFrom) as Row<unknown>[] as Row<R>[];
}

/** SQLite takes a negative limit as none. */
function rowLimit(limit: number | undefined): number {
  if (limit === undefined || limit >= Number.MAX_SAFE_INTEGER) return -1;
  return limit > 0 ? Math.ceil(limit) : 0;
}

function scansFor(table: BoundTable, index: string | undefined): Scans {
  if (index === undefined) return table.scans;
  const found = table.indexes.get(index);
  if (found === undefined) throw new UnstorableError(`Table ${table.name} declares no index ${index}.`);
  return found.scans;
}

function tableIndex(run: Run, name: string): number {
  enter(run, false);
  if (run.changed.has(name)) return run.index;
  return run.changedBefore.get(name) ?? run.tables.current().tables.get(name)?.changedAt ?? 1;
}

/** Several statements make one change: when one of them fails, the whole run has failed, caught or not. */
function change<R, T>(run: Run, table: Table<R>, step: (bound: BoundTable) => T): T {
  enter(run, false);
  const bound = bind(run, table);
  try {
    return step(bound);
  } catch (thrown) {
    if (storageErrorFrom(thrown) !== undefined) run.failure ??= thrown;
    throw thrown;
  }
}

function putRow<R>(run: Run, bound: BoundTable, table: Table<R>, record: R): void {
  const text = serialise(table.name, record);
  const place = placeOf(table.name, table.key(record));
  const entries = entriesOf(bound, record);
  const entriesText = printEntries(entries);
  run.beforeChange();
  const found = bound.find.get(place) as { rid: number; created: number; entries: string } | null | undefined;
  if (found) {
    bound.update.run(run.index, entriesText, text, found.rid);
    if (entriesText !== found.entries) moveEntries(bound, place, found.rid, parseEntries(found.entries), entries);
  } else {
    const added = bound.insert.run(place, run.index, run.index, entriesText, text);
    moveEntries(bound, place, Number(added.lastInsertRowid), {}, entries);
  }
  run.changed.add(bound.name);
}

function removeRow(run: Run, bound: BoundTable, key: Key): boolean {
  const place = placeOf(bound.name, key);
  const found = bound.find.get(place) as { rid: number; entries: string } | null | undefined;
  if (!found) return false;
  run.beforeChange();
  bound.remove.run(found.rid);
  moveEntries(bound, place, found.rid, parseEntries(found.entries), {});
  run.changed.add(bound.name);
  return true;
}

function bind<R>(run: Run, table: Table<R>): BoundTable {
  try {
    return run.tables.bind(table);
  } catch (thrown) {
    if (thrown instanceof UnboundTableError) run.failure ??= thrown;
    throw thrown;
  }
}

function enter(run: Run, pointRead: boolean): void {
  if (!run.open)
    throw new Error('This storage view has ended: use it only inside the work function, before it returns.');
  run.hold(pointRead);
}

function rowFrom(found: FoundDocument): SqliteRow {
  return 'doc' in found
    ? new SqliteRow(found.doc, found.created, found.modified)
    : new SqliteRow(found[2], found[0], found[1]);
}

function placeOf(table: string, key: Key): string {
  const encoded = encodeKey(key);
  if (encoded === undefined) throw new UnstorableError(unkeyable(table, 'primary key'));
  return encoded;
}

/** JSON's own rules apply: undefined members vanish, NaN becomes null, what JSON cannot print is refused. */
function serialise(table: string, record: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(record);
  } catch {
    text = undefined;
  }
  if (text === undefined)
    throw new UnstorableError(`A record for table ${table} is not JSON: circular, BigInt or no value.`);
  return text;
}
