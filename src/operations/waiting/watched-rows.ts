import type { ReadView, Row, WriteView } from '../../ports/storage.js';
import type { Key, Table, TableName } from '../../shared/table.js';
import { ViewOver } from '../../storage/views.js';

type AnyTable = Table<unknown>;

/** The part of a table that affects a result. A table without a part means all of its rows. */
export interface Watch extends TableName {
  /** `none`: no row, for a reader that sees nothing. */
  readonly part?: 'none' | Part;
}

/** The rows whose primary key, or whose key in an index, begins with a prefix. */
interface Part {
  readonly table: AnyTable;
  readonly index: string | undefined;
  readonly prefix: Key;
}

/** The rows of a table under a prefix of the primary key, or of an index. */
export function rowsUnder<R>(table: Table<R>, prefix: Key, index?: string): Watch {
  return { name: table.name, part: { table: table, index, prefix } };
}

/** No row of a table: a result that never changes, with the table's index. */
export function noRows({ name }: TableName): Watch {
  return { name, part: 'none' };
}

/** Rows by the first part of their key; none when there are no names. */
export function rowsNamed<R>(table: Table<R>, names: readonly string[], index?: string): readonly Watch[] {
  return names.length === 0 ? [noRows(table)] : names.map((name) => rowsUnder(table, [name], index));
}

/**
 * The rows in the namespaces that the globs match, of a table that is ordered by namespace or has the index `by_namespace`; all rows if
 * one of the globs has a wildcard.
 */
export function rowsInNamespaces(table: Table<never>, globs: readonly string[]): readonly Watch[] {
  if (globs.some((glob) => glob.includes('*'))) return [table];
  return rowsNamed(table, globs, Object.hasOwn(table.indexes, 'by_namespace') ? 'by_namespace' : undefined);
}

/** A row that a write has put or removed. */
export interface RowChange {
  readonly table: AnyTable;
  readonly key: Key;
  /** Undefined for a new row; `unknown` when the table was not watched at the time. */
  readonly before: Row<unknown> | undefined | 'unknown';
  /** Undefined for a removal. */
  readonly after: unknown;
}

/** Records the changes of one run of a write's work, and the first index that it uses. */
export class NotedView extends ViewOver {
  readonly changes: RowChange[] = [];
  readonly from: number;
  readonly #isWatched: (table: TableName) => boolean;

  constructor(view: WriteView, isWatched: (table: TableName) => boolean) {
    super(view);
    this.#isWatched = isWatched;
    this.from = view.index;
  }

  override put<R>(table: Table<R>, record: R): void {
    this.#note(table, table.key(record), record);
    super.put(table, record);
  }

  override remove<R>(table: Table<R>, key: Key): boolean {
    this.#note(table, key, undefined);
    return super.remove(table, key);
  }

  #note<R>(table: Table<R>, key: Key, after: R | undefined): void {
    const before = this.#isWatched(table) ? this.get(table, key) : 'unknown';
    this.changes.push({ table: table, key, before, after });
  }
}

/** Watches of one form: the same index of a table, and prefixes of the same length. */
interface Form<T> {
  readonly index: string | undefined;
  readonly length: number;
  readonly byPrefix: Map<string, Set<T>>;
}

interface TableWatchers<T> {
  readonly ofAll: Set<T>;
  readonly forms: Map<string, Form<T>>;
}

/** Finds the watchers of a changed row without visiting the others. */
export class WatchIndex<T> {
  readonly #tables = new Map<string, TableWatchers<T>>();

  add(watches: readonly Watch[], watcher: T): void {
    for (const { name, part } of watches) {
      if (part === 'none') continue;
      const watchers = this.#tables.get(name) ?? { ofAll: new Set<T>(), forms: new Map<string, Form<T>>() };
      this.#tables.set(name, watchers);
      if (part === undefined) watchers.ofAll.add(watcher);
      else addTo(formOf(watchers, part).byPrefix, JSON.stringify(part.prefix), watcher);
    }
  }

  remove(watches: readonly Watch[], watcher: T): void {
    for (const { name, part } of watches) {
      const watchers = this.#tables.get(name);
      if (watchers === undefined || part === 'none') continue;
      if (part === undefined) watchers.ofAll.delete(watcher);
      else {
        const form = formOf(watchers, part);
        removeFrom(form.byPrefix, JSON.stringify(part.prefix), watcher);
        if (form.byPrefix.size === 0) watchers.forms.delete(nameOf(part));
      }
      if (watchers.ofAll.size === 0 && watchers.forms.size === 0) this.#tables.delete(name);
    }
  }

  /** Whether rows of a table are watched. */
  has({ name }: TableName): boolean {
    return this.#tables.has(name);
  }

  /** Calls back for each watcher of the row in its previous or new state; possibly more than once for the same watcher. */
  forEach({ table, key, before, after }: RowChange, found: (watcher: T) => void): void {
    const watchers = this.#tables.get(table.name);
    if (watchers === undefined) return;
    watchers.ofAll.forEach(found);
    for (const { index, length, byPrefix } of watchers.forms.values()) {
      if (index !== undefined && before === 'unknown') {
        for (const each of byPrefix.values()) each.forEach(found);
        continue;
      }
      const keys = index === undefined || before === 'unknown' ? [key] : keysIn(table, index, [before?.record, after]);
      for (const each of keys) byPrefix.get(JSON.stringify(each.slice(0, length)))?.forEach(found);
    }
  }
}

/** The keys that records have in an index. */
function keysIn({ indexes }: AnyTable, index: string, records: readonly unknown[]): readonly Key[] {
  return records.flatMap((record) => {
    const key = record === undefined ? undefined : indexes[index]?.key(record);
    return key === undefined ? [] : [key];
  });
}

function nameOf({ index, prefix }: Part): string {
  return `${prefix.length} ${index ?? ''}`;
}

function formOf<T>({ forms }: TableWatchers<T>, part: Part): Form<T> {
  const name = nameOf(part);
  let form = forms.get(name);
  if (form === undefined) {
    form = { index: part.index, length: part.prefix.length, byPrefix: new Map() };
    forms.set(name, form);
  }
  return form;
}

function addTo<T>(sets: Map<string, Set<T>>, name: string, item: T): void {
  const known = sets.get(name);
  if (known === undefined) sets.set(name, new Set([item]));
  else known.add(item);
}

function removeFrom<T>(sets: Map<string, Set<T>>, name: string, item: T): void {
  const known = sets.get(name);
  known?.delete(item);
  if (known?.size === 0) sets.delete(name);
}

/** Whether a view shows a change of a watched table after an index. */
export function changedAfter(view: ReadView, watches: readonly Watch[], index: number): boolean {
  return watches.some((watch) => watch.part !== 'none' && view.tableIndex(watch) > index);
}
