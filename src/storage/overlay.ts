import type { ListQuery } from '../ports/storage.js';
import type { Key } from '../shared/table.js';
import {
  type AnyTable,
  type Entries,
  entriesOf,
  indexPosition,
  type KeyBounds,
  type KeyedRow,
  parseRecord,
  printRecord,
  type RowText,
  rowKeyOf,
  sortKeyFrom,
  unitOrdered,
} from './records.js';

/** The base of an overlay: one immutable state of a store, or another overlay. */
export interface Snapshot {
  /** Index of the last write that it contains. */
  readonly index: number;
  /** `rowKey` is the encoded `key`. */
  find(table: AnyTable, key: Key, rowKey: string): KeyedRow | undefined;
  /** The row that a put replaces, for a store that checks at its commit whether there is one. As `find` when absent. */
  replaced?(table: AnyTable, key: Key, rowKey: string): KeyedRow | undefined;
  /** `bounds` are the encoded keys of the query. */
  scan(table: AnyTable, query: ListQuery, bounds: KeyBounds): readonly KeyedRow[];
  tableIndex(name: string): number;
}

/** The change of one row: `after` is undefined for a removal, `before` for a new row. */
export interface Change {
  /** The table definition with which the row was last put or removed. */
  readonly table: AnyTable;
  readonly rowKey: string;
  /** The row in the snapshot below. */
  readonly before: KeyedRow | undefined;
  readonly after: PendingRow | undefined;
}

/**
 * The changes of a transaction before they are stored: a snapshot with changed rows on top, which reads like a store that
 * contains them. Discarding it undoes everything. Overlays can be stacked, so that several transactions can be
 * stored together: a failed one is not merged into the one below.
 */
export class Overlay implements Snapshot {
  readonly #base: Snapshot;
  readonly #tables = new Map<string, TableChanges>();
  #index: number;

  /** `index` is the first one that the transaction uses. */
  constructor(base: Snapshot, index: number) {
    this.#base = base;
    this.#index = index;
  }

  get index(): number {
    return this.#index;
  }

  /** Advances the transaction to the next index: rows that are put from now on carry it. */
  advance(): number {
    this.#index += 1;
    return this.#index;
  }

  get isChanged(): boolean {
    return this.#tables.size > 0;
  }

  /** Names of the changed tables. */
  get changedTables(): string[] {
    return [...this.#tables.keys()];
  }

  /** The changed rows of a table; a row that was put and removed again may be among them, with neither side. */
  changesOf(name: string): Iterable<Change> {
    return this.#tables.get(name)?.changes.values() ?? [];
  }

  find(table: AnyTable, key: Key, rowKey: string): KeyedRow | undefined {
    const change = this.#tables.get(table.name)?.changes.get(rowKey);
    return change === undefined ? this.#base.find(table, key, rowKey) : change.after;
  }

  replaced(table: AnyTable, key: Key, rowKey: string): KeyedRow | undefined {
    const change = this.#tables.get(table.name)?.changes.get(rowKey);
    if (change !== undefined) return change.after;
    const base = this.#base;
    return base.replaced === undefined ? base.find(table, key, rowKey) : base.replaced(table, key, rowKey);
  }

  scan(table: AnyTable, query: ListQuery, bounds: KeyBounds): readonly KeyedRow[] {
    const changes = this.#tables.get(table.name);
    return changes === undefined
      ? this.#base.scan(table, query, bounds)
      : changes.scan(this.#base, table, query, bounds);
  }

  tableIndex(name: string): number {
    return this.#tables.get(name)?.index ?? this.#base.tableIndex(name);
  }

  put(table: AnyTable, record: unknown): void {
    const text = printRecord(table, record);
    const key = table.key(record);
    const rowKey = rowKeyOf(table, key);
    const entries = entriesOf(table, record);
    const known = this.#tables.get(table.name)?.changes.get(rowKey);
    const before = known === undefined ? this.replaced(table, key, rowKey) : known.before;
    const present = known === undefined ? before : known.after;
    const stored = { text, rowKey, createIndex: present?.createIndex ?? this.#index, modifyIndex: this.#index };
    this.#change({ table, rowKey, before, after: new PendingRow(table, stored, entries) });
  }

  remove(table: AnyTable, key: Key): boolean {
    const rowKey = rowKeyOf(table, key);
    const known = this.#tables.get(table.name)?.changes.get(rowKey);
    const before = known === undefined ? this.#base.find(table, key, rowKey) : known.before;
    if ((known === undefined ? before : known.after) === undefined) return false;
    this.#change({ table, rowKey, before, after: undefined });
    return true;
  }

  /** Merges an overlay that is stacked on this one, with its index. That overlay must not be used any more. */
  absorb(above: Overlay): void {
    for (const [name, changes] of above.#tables) {
      const own = this.#tables.get(name);
      if (own === undefined) this.#tables.set(name, changes);
      else own.absorb(changes);
    }
    this.#index = above.index;
  }

  #change(change: Change): void {
    const { name } = change.table;
    const changes = this.#tables.get(name) ?? new TableChanges(this.index);
    this.#tables.set(name, changes);
    changes.set(change);
    changes.index = this.#index;
  }
}

/** A row that is not stored yet. It reads like a stored one: members that JSON drops are already removed from its record. */
export class PendingRow implements KeyedRow {
  readonly text: string;
  readonly createIndex: number;
  readonly modifyIndex: number;
  readonly rowKey: string;
  #record: unknown = undefined;

  constructor(
    readonly table: AnyTable,
    stored: RowText,
    /** By the table's own definition. */
    readonly entries: Entries,
  ) {
    this.text = stored.text;
    this.createIndex = stored.createIndex;
    this.modifyIndex = stored.modifyIndex;
    this.rowKey = stored.rowKey;
  }

  get record(): unknown {
    if (this.#record === undefined) this.#record = parseRecord(this.text);
    return this.#record;
  }

  sortKey(table: AnyTable, index: string | undefined): string | undefined {
    if (index === undefined) return sortKeyFrom(this.rowKey, undefined);
    const entries = table === this.table ? this.entries : entriesOf(table, parseRecord(this.text));
    const entry = entries[indexPosition(table, index)];
    return entry === undefined ? undefined : sortKeyFrom(this.rowKey, entry);
  }
}

/** The changed rows in the order of one index, or of the primary key. */
interface Order {
  readonly table: AnyTable;
  readonly rows: SortedValues<PendingRow>;
  /** The sort keys of the rows that they replace, in no order. */
  readonly replaced: string[];
}

/** The changed rows of one table, and their order in the indexes that were listed. */
class TableChanges {
  readonly changes = new Map<string, Change>();
  /** Built on demand: most transactions change a row or two and list none. */
  #orders: Map<string | undefined, Order> | undefined;

  constructor(
    /** Index of the last write that changed the table. */
    public index: number,
  ) {}

  set(change: Change): void {
    const known = this.changes.get(change.rowKey);
    this.changes.set(change.rowKey, change);
    this.#orders?.forEach(({ table, rows, replaced }, index) => {
      const from = known?.after?.sortKey(table, index);
      const to = change.after?.sortKey(table, index);
      if (from !== undefined && from !== to) rows.remove(from);
      if (to !== undefined) rows.set(to, change.after as PendingRow);
      const below = known === undefined ? change.before?.sortKey(table, index) : undefined;
      if (below !== undefined) replaced.push(below);
    });
  }

  /** Merges changes that were made on top of these. */
  absorb(above: TableChanges): void {
    for (const change of above.changes.values()) {
      const known = this.changes.get(change.rowKey);
      this.set(known === undefined ? change : { ...change, before: known.before });
    }
    this.index = above.index;
  }

  scan(base: Snapshot, table: AnyTable, query: ListQuery, bounds: KeyBounds): readonly KeyedRow[] {
    const { index, limit = Number.POSITIVE_INFINITY, reverse = false } = query;
    const lower = unitOrdered(bounds.lower);
    const upper = unitOrdered(bounds.upper);
    const order = this.#orderOf(table, index);
    const hidden = order.replaced.filter((key) => key >= lower && key < upper).length;
    const pending = order.rows.scan(lower, upper, reverse, limit);
    const wanted = hidden === 0 || query.limit === undefined ? query : { ...query, limit: query.limit + hidden };
    const stored = base.scan(table, wanted, bounds);
    if (hidden === 0 && pending.length === 0) return stored;
    const kept = stored.filter((row) => !this.changes.has(row.rowKey));
    return merged(kept, pending, (row) => row.sortKey(table, index) as string, { reverse, limit });
  }

  #orderOf(table: AnyTable, index: string | undefined): Order {
    const known = this.#orders?.get(index);
    if (known?.table === table) return known;
    const order: Order = { table, rows: new SortedValues(), replaced: [] };
    for (const { before, after } of this.changes.values()) {
      const key = after?.sortKey(table, index);
      if (key !== undefined) order.rows.set(key, after as PendingRow);
      const below = before?.sortKey(table, index);
      if (below !== undefined) order.replaced.push(below);
    }
    this.#orders ??= new Map();
    this.#orders.set(index, order);
    return order;
  }
}

/** Merges two ordered lists, at most `limit` rows. */
function merged(
  stored: readonly KeyedRow[],
  pending: readonly KeyedRow[],
  keyOf: (row: KeyedRow) => string,
  { reverse, limit }: { readonly reverse: boolean; readonly limit: number },
): KeyedRow[] {
  const rows: KeyedRow[] = [];
  let s = 0;
  let p = 0;
  while (rows.length < limit && (s < stored.length || p < pending.length)) {
    const [one, other] = [stored[s], pending[p]];
    const first = other === undefined || (one !== undefined && keyOf(one) < keyOf(other) !== reverse);
    rows.push((first ? one : other) as KeyedRow);
    if (first) s += 1;
    else p += 1;
  }
  return rows;
}

interface Chunk<V> {
  readonly keys: string[];
  readonly values: V[];
}

/** Above this a chunk is cut in two. Shifting a hundred references costs less than one more level of search. */
const CHUNK_LIMIT = 128;

/** Values under string keys in `<` order. Inserts and removals shift at most one chunk, so they stay cheap at any size. */
export class SortedValues<V> {
  readonly #chunks: Chunk<V>[] = [];
  /** Where each chunk begins, the first one with every key. Searched instead of the chunks, which are apart in memory. */
  readonly #starts: string[] = [''];

  set(key: string, value: V): void {
    // Appending is the common case (growing indexes, times) and must pay neither for a search nor for a shift.
    const end = this.#chunks.length - 1;
    const last = this.#chunks[end];
    if (last !== undefined && key > (last.keys.at(-1) as string)) {
      last.keys.push(key);
      last.values.push(value);
      if (last.keys.length > CHUNK_LIMIT) this.#split(end, last);
      return;
    }
    const at = this.#chunkFor(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push({ keys: [key], values: [value] });
      return;
    }
    const position = lowerBound(chunk.keys, key);
    if (chunk.keys[position] === key) {
      chunk.values[position] = value;
      return;
    }
    insert(chunk.keys, position, key);
    insert(chunk.values, position, value);
    if (chunk.keys.length > CHUNK_LIMIT) this.#split(at, chunk);
  }

  remove(key: string): void {
    const at = this.#chunkFor(key);
    const { keys, values } = this.#chunks[at] ?? nothing;
    const position = lowerBound(keys, key);
    if (keys[position] !== key) return;
    keys.splice(position, 1);
    values.splice(position, 1);
    if (keys.length > 0) return;
    this.#chunks.splice(at, 1);
    // The chunk after the first one takes its place.
    this.#starts.splice(Math.max(at, 1), 1);
  }

  /** Values with `lower <= key < upper`, first (or last, when reversed) first, at most `limit`. */
  scan(lower: string, upper: string, reverse: boolean, limit: number): V[] {
    const found: V[] = [];
    const step = reverse ? -1 : 1;
    for (let at = this.#chunkFor(reverse ? upper : lower); found.length < limit; at += step) {
      const chunk = this.#chunks[at];
      if (chunk === undefined) break;
      const start = lowerBound(chunk.keys, lower);
      const end = lowerBound(chunk.keys, upper);
      let i = reverse ? end - 1 : start;
      for (; i >= start && i < end && found.length < limit; i += step) found.push(chunk.values[i] as V);
      // Keys beyond the bound are in this chunk: none of the next is within it.
      if (reverse ? start > 0 : end < chunk.keys.length) break;
    }
    return found;
  }

  #split(at: number, { keys, values }: Chunk<V>): void {
    // At the very end keys are likely to keep growing: leave the full chunk full.
    const cut = at === this.#chunks.length - 1 ? CHUNK_LIMIT - (CHUNK_LIMIT >> 3) : CHUNK_LIMIT >> 1;
    this.#starts.splice(at + 1, 0, keys[cut] as string);
    this.#chunks.splice(at + 1, 0, { keys: keys.splice(cut), values: values.splice(cut) });
  }

  /** The chunk that has the key, or would get it. */
  #chunkFor(key: string): number {
    const above = lowerBound(this.#starts, key);
    return above === 0 || this.#starts[above] === key ? above : above - 1;
  }
}

const nothing = { keys: [], values: [] };

/** As `splice`, in a third of the time at the length of a chunk. */
function insert<T>(values: T[], position: number, value: T): void {
  values.push(value);
  for (let at = values.length - 1; at > position; at -= 1) values[at] = values[at - 1] as T;
  values[position] = value;
}

/** Position of the first key that is at least `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
