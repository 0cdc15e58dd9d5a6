import type { ListQuery } from '../../src/ports/storage.js';
import type { Key } from '../../src/shared/table.js';
import { type Snapshot, SortedValues } from '../../src/storage/overlay.js';
import {
  type AnyTable,
  encodeEntry,
  encodeKey,
  indexesOf,
  indexPosition,
  type KeyBounds,
  type KeyedRow,
  type NamedIndex,
  unitOrdered,
} from '../../src/storage/records.js';
import {
  type Batch,
  byPrimaryKey,
  type ChangedTable,
  type FetchedRow,
  type OrderName,
  orderName,
  ReplicaRow,
  type RowChange,
} from './batch.js';

/*
 * What this process knows of the store, as of one batch of its chain: single rows, and ranges of orders that are known completely. Every
 * batch that follows keeps it true, so a read needs the server only for what is missing. All of it may be dropped at any time.
 */

/** A part of an order that is not known. Bounds compare by `<`, see `unitOrdered`. */
export interface Gap {
  readonly table: AnyTable;
  readonly order: OrderName;
  readonly lower: string;
  readonly upper: string;
  readonly reverse: boolean;
  /** How many rows are needed. */
  readonly limit: number;
}

/** What a run has asked for in vain: its result does not count. */
export class Misses {
  readonly unprepared = new Set<AnyTable>();
  readonly rows = new Map<string, Set<string>>();
  readonly gaps: Gap[] = [];
  /** Rows that were put without a look at what they replace. */
  readonly assumedNew = new Map<string, Set<string>>();
  #size = 0;

  get isEmpty(): boolean {
    return this.unprepared.size === 0 && this.rows.size === 0 && this.gaps.length === 0;
  }

  /** Grows with everything that is noted, at least. */
  get size(): number {
    return this.#size + this.gaps.length;
  }

  row(table: string, rowKey: string): void {
    this.#size += 1;
    noted(this.rows, table).add(rowKey);
  }

  add(other: Misses): void {
    for (const table of other.unprepared) this.unprepared.add(table);
    for (const [table, keys] of other.rows) for (const key of keys) this.row(table, key);
    this.gaps.push(...other.gaps);
  }
}

function noted(sets: Map<string, Set<string>>, name: string): Set<string> {
  let set = sets.get(name);
  if (set === undefined) {
    set = new Set();
    sets.set(name, set);
  }
  return set;
}

/** What is known of a row: its content, that there is none, or only that there is one. */
type KnownRow = KeyedRow | 'absent' | 'unread';

interface Interval {
  readonly lower: string;
  readonly upper: string;
}

/** An order of a table's rows, as far as it is known. */
class Order {
  readonly #rows = new SortedValues<string>();
  readonly #positions = new Map<string, string>();
  /** Disjoint parts, by their lower bounds: between the bounds of one, every row is in `#rows`. */
  #covered: SortedValues<Interval> = new SortedValues();
  #parts = 0;

  constructor(readonly index: NamedIndex | undefined) {}

  /** How many parts of it are known. */
  get parts(): number {
    return this.#parts;
  }

  covers(position: string): boolean {
    const known = this.#lastBefore(past(position));
    return known !== undefined && position < known.upper;
  }

  /**
   * Keys of rows from the first bound (or the last one, when reversed) up to the first gap, and that gap. `isContinued`: what is known reaches
   * up to it.
   */
  scan(
    lower: string,
    upper: string,
    reverse: boolean,
    limit: number,
  ): { keys: string[]; gap?: Interval & { readonly isContinued: boolean } } {
    if (reverse) {
      const known = this.#lastBefore(upper);
      const from = known === undefined || known.upper < upper ? upper : known.lower < lower ? lower : known.lower;
      const keys = this.#rows.scan(from, upper, true, limit);
      if (keys.length >= limit || from <= lower) return { keys };
      return { keys, gap: { lower, upper: from, isContinued: from < upper } };
    }
    const known = this.#lastBefore(past(lower));
    const to = known === undefined || known.upper <= lower ? lower : known.upper < upper ? known.upper : upper;
    const keys = this.#rows.scan(lower, to, false, limit);
    if (keys.length >= limit || to >= upper) return { keys };
    return { keys, gap: { lower: to, upper, isContinued: lower < to } };
  }

  /** From now on everything between the bounds is known. */
  cover({ lower, upper }: Interval): void {
    const before = this.#lastBefore(lower);
    const touched = this.#covered.scan(lower, past(upper), false, Number.POSITIVE_INFINITY);
    if (before !== undefined && before.upper >= lower) touched.unshift(before);
    for (const part of touched) this.#covered.remove(part.lower);
    const [first, last] = [touched[0], touched.at(-1)];
    const joined = {
      lower: first !== undefined && first.lower < lower ? first.lower : lower,
      upper: last !== undefined && last.upper > upper ? last.upper : upper,
    };
    this.#covered.set(joined.lower, joined);
    this.#parts += 1 - touched.length;
  }

  /** The last known part that begins before a position. */
  #lastBefore(position: string): Interval | undefined {
    return this.#covered.scan('', position, true, 1)[0];
  }

  place(rowKey: string, position: string): void {
    this.remove(rowKey);
    this.#positions.set(rowKey, position);
    this.#rows.set(position, rowKey);
  }

  remove(rowKey: string): void {
    const position = this.#positions.get(rowKey);
    if (position === undefined) return;
    this.#positions.delete(rowKey);
    this.#rows.remove(position);
  }

  forget(): void {
    for (const position of this.#positions.values()) this.#rows.remove(position);
    this.#positions.clear();
    this.#covered = new SortedValues();
    this.#parts = 0;
  }
}

/** How many rows are read at least where a list continues what is known. */
const readAhead = 256;

/** What is known of one table. */
class ReplicaTable {
  /** Index of the last write that changed the table. */
  index = 1;
  /** When it was used last, counted in uses of tables. */
  usedAt = 0;
  readonly #rows = new Map<string, KnownRow>();
  #rowsSize = 0;
  readonly #orders = new Map<OrderName, Order>();

  /** What it occupies, in characters. */
  get size(): number {
    let parts = 0;
    for (const order of this.#orders.values()) parts += order.parts;
    return this.#rowsSize + parts * rowSize;
  }

  /** Undefined: not known. */
  row(rowKey: string): KnownRow | undefined {
    if (this.index === 1) return 'absent';
    const known = this.#rows.get(rowKey);
    if (known !== undefined) return known;
    return this.#orders.get(byPrimaryKey)?.covers(unitOrdered(rowKey)) === true ? 'absent' : undefined;
  }

  scan(table: AnyTable, query: ListQuery, bounds: KeyBounds, misses: Misses): readonly KeyedRow[] {
    const index = query.index === undefined ? undefined : indexesOf(table)[indexPosition(table, query.index)];
    const [lower, upper] = [unitOrdered(bounds.lower), unitOrdered(bounds.upper)];
    const { reverse = false } = query;
    const { limit = Number.POSITIVE_INFINITY } = query;
    if (this.index === 1 || lower >= upper || limit === 0) return [];
    const name = index === undefined ? byPrimaryKey : orderName(index);
    const order = this.#orderOf(name, index);
    const { keys, gap } = order.scan(lower, upper, reverse, limit);
    if (gap !== undefined)
      misses.gaps.push({
        table,
        order: name,
        ...{ lower: gap.lower, upper: gap.upper, reverse },
        // Who reads on from where the last read ended, as workers on a queue do, will do so again.
        limit: Math.max(limit - keys.length, gap.isContinued ? readAhead : 0),
      });
    return this.#contentOf(keys, (key) => misses.row(table.name, key));
  }

  #contentOf(keys: readonly string[], unread: (key: string) => void): KeyedRow[] {
    const rows: KeyedRow[] = [];
    for (const key of keys) {
      const row = this.#rows.get(key);
      if (typeof row === 'object') rows.push(row);
      else unread(key);
    }
    return rows;
  }

  #orderOf(name: OrderName, index: NamedIndex | undefined): Order {
    let order = this.#orders.get(name);
    if (order === undefined) {
      order = new Order(index);
      this.#orders.set(name, order);
    }
    return order;
  }

  /** A row that was asked for; undefined when there is none. */
  fetched(rowKey: string, row: FetchedRow | undefined): void {
    this.#set(rowKey, row === undefined ? 'absent' : new ReplicaRow(row));
  }

  /** All rows of a part of an order, with their positions there. */
  fetchedRange(gap: Gap, rows: readonly { readonly row: FetchedRow; readonly position: string }[]): void {
    // It was asked for before, or forgotten meanwhile.
    const index = indexesOf(gap.table).find((each) => orderName(each) === gap.order);
    const order = this.#orderOf(gap.order, index);
    for (const { row, position } of rows) {
      this.fetched(row.rowKey, row);
      order.place(row.rowKey, unitOrdered(position));
    }
    order.cover(coverageOf(gap, rows));
  }

  /** What a committed batch has changed. `isOwn`: this process has written it, and will read it again. */
  apply(changed: ChangedTable, isOwn: boolean): void {
    this.index = changed.index;
    const orders = [...this.#orders].map(([name, order]) => ({ order, at: changed.orders.indexOf(name) }));
    for (const change of changed.rows) this.#applyRow(change, orders, isOwn);
  }

  #applyRow(
    change: RowChange,
    orders: readonly { readonly order: Order; readonly at: number }[],
    isOwn: boolean,
  ): void {
    const { key, after } = change;
    let isKept = isOwn || this.#rows.has(key);
    for (const { order, at } of orders) {
      order.remove(key);
      const position = positionIn(change, order, at);
      if (position === 'unknown') order.forget();
      else if (position !== undefined && order.covers(position)) {
        order.place(key, position);
        isKept = true;
      }
    }
    if (isKept) this.#set(key, after === undefined ? 'absent' : (after.row ?? 'unread'));
  }

  #set(rowKey: string, row: KnownRow): void {
    const before = this.#rows.get(rowKey);
    this.#rowsSize += sizeOf(rowKey, row) - (before === undefined ? 0 : sizeOf(rowKey, before));
    this.#rows.set(rowKey, row);
  }

  forget(): void {
    this.#rows.clear();
    this.#orders.clear();
    this.#rowsSize = 0;
  }
}

/** An estimate of what a row occupies beside its text, and what a known part of an order does. */
const rowSize = 200;

const sizeOf = (rowKey: string, row: KnownRow): number =>
  rowSize + rowKey.length + (typeof row === 'object' ? row.text.length : 0);

/** Where a changed row stands; `unknown` when its writer did not know the index, and its content is not here. */
function positionIn({ key, after }: RowChange, { index }: Order, at: number): string | undefined | 'unknown' {
  if (after === undefined) return undefined;
  if (index === undefined) return unitOrdered(key);
  if (at >= 0) return entryPosition(key, after.entries[at]);
  if (after.row === undefined) return 'unknown';
  const indexKey = index.key(after.row.record);
  return entryPosition(key, indexKey === undefined ? undefined : encodeKey(indexKey));
}

function entryPosition(rowKey: string, entry: string | null | undefined): string | undefined {
  return entry === undefined || entry === null ? undefined : unitOrdered(encodeEntry(entry, rowKey));
}

/** The first string after a position and before all others that follow it. */
const past = (position: string): string => `${position}\u0001`;

/** What is known after a gap was fetched: all of it, or the part up to the last row that was asked for. */
function coverageOf(
  { lower, upper, reverse, limit }: Gap,
  rows: readonly { readonly position: string }[],
): { lower: string; upper: string } {
  if (rows.length < limit) return { lower, upper };
  const positions = rows.map(({ position }) => unitOrdered(position));
  const last = positions.reduce((a, b) => (a < b === reverse ? a : b));
  return reverse ? { lower: last, upper } : { lower, upper: past(last) };
}

/** Recent batches that can be applied again to what was fetched before them. */
const recentLimit = 256;

/** What this process knows of a store. */
export class Replica {
  /** The last batch that is known here. */
  tip: { readonly seq: number; readonly id: string; readonly last: number };
  /** How often it has begun again: answers to what was asked before that are of another history. */
  epoch = 0;
  readonly #tables = new Map<string, ReplicaTable>();
  #recent: Batch[] = [];
  #uses = 0;
  readonly #budget: number;

  /** `budget`: size of what is kept, in characters. */
  constructor(budget: number) {
    this.#budget = budget;
    this.tip = { seq: 0, id: '', last: 1 };
  }

  table(name: string): ReplicaTable {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = new ReplicaTable();
      this.#tables.set(name, table);
    }
    table.usedAt = this.#uses++;
    return table;
  }

  tableIndex(name: string): number {
    return this.#tables.get(name)?.index ?? 1;
  }

  /** Begins again from a batch and the last indexes of all tables. */
  reset(tip: Replica['tip'], indexes: ReadonlyMap<string, number>): void {
    this.#tables.clear();
    this.#recent = [];
    this.tip = tip;
    this.epoch += 1;
    for (const [name, index] of indexes) this.table(name).index = index;
  }

  /** Index of the last change of every table. */
  indexes(): ReadonlyMap<string, number> {
    return new Map([...this.#tables].filter(([, { index }]) => index > 1).map(([name, { index }]) => [name, index]));
  }

  /** Applies the batch after the tip; gives the names of the tables that it has changed. */
  apply(batch: Batch, isOwn = false): readonly string[] {
    this.tip = { seq: batch.seq, id: batch.id, last: batch.last };
    this.#recent.push(batch);
    if (this.#recent.length > recentLimit) this.#recent = this.#recent.slice(-recentLimit / 2);
    for (const changed of batch.tables) this.table(changed.name).apply(changed, isOwn);
    return batch.tables.map(({ name }) => name);
  }

  /** Takes up what was fetched as of a batch; nothing, when that batch is too old. */
  take(seq: number, fetched: () => void): void {
    const later = this.#recent.filter((batch) => batch.seq > seq);
    if (later.length < this.tip.seq - seq) return;
    fetched();
    for (const batch of later) for (const changed of batch.tables) this.table(changed.name).apply(changed, true);
  }

  /** Forgets tables that were not used for long when too much is kept. Nothing that was fetched for a run may be needed still. */
  trim(): void {
    const tables = [...this.#tables.values()];
    let size = tables.reduce((sum, table) => sum + table.size, 0);
    if (size <= this.#budget) return;
    for (const table of tables.sort((a, b) => a.usedAt - b.usedAt)) {
      if (size <= this.#budget / 2) return;
      size -= table.size;
      table.forget();
    }
  }
}

/** Ends a run whose result does not count. */
class Interrupted extends Error {}

/**
 * What a run reads: the replica, and a note of what is missing there. A run usually continues as if there were nothing, so that all that it
 * misses is read together. But a run that has asked for the index of a table, and misses some of its rows, may be about to keep what it has
 * found for as long as that index stays the same: it is interrupted.
 */
export class ReplicaSnapshot implements Snapshot {
  readonly #asked = new Set<string>();
  readonly #missed = new Set<string>();
  readonly index: number;
  readonly misses = new Misses();
  /** How many reads there were before the first that missed something. */
  known = 0;
  readonly #replica: Replica;
  readonly #isPrepared: (table: AnyTable) => boolean;

  constructor(replica: Replica, isPrepared: (table: AnyTable) => boolean) {
    this.#replica = replica;
    this.#isPrepared = isPrepared;
    this.index = replica.tip.last;
  }

  find(table: AnyTable, _key: Key, rowKey: string): KeyedRow | undefined {
    if (!this.#has(table)) return undefined;
    const row = this.#replica.table(table.name).row(rowKey);
    if (row === undefined || row === 'unread') {
      this.misses.row(table.name, rowKey);
      this.#miss(table.name);
    }
    return typeof row === 'object' ? row : undefined;
  }

  /** A row that was never read is taken for new: the server refuses it if it is not. */
  replaced(table: AnyTable, key: Key, rowKey: string): KeyedRow | undefined {
    if (!this.#has(table)) return undefined;
    if (this.#replica.table(table.name).row(rowKey) !== undefined) return this.find(table, key, rowKey);
    noted(this.misses.assumedNew, table.name).add(rowKey);
    return undefined;
  }

  scan(table: AnyTable, query: ListQuery, bounds: KeyBounds): readonly KeyedRow[] {
    if (!this.#has(table)) return [];
    const before = this.misses.size;
    const rows = this.#replica.table(table.name).scan(table, query, bounds, this.misses);
    if (this.misses.size > before) this.#miss(table.name);
    return rows;
  }

  tableIndex(name: string): number {
    if (this.#missed.has(name)) throw new Interrupted();
    this.#asked.add(name);
    return this.#replica.tableIndex(name);
  }

  #miss(name: string): void {
    this.#missed.add(name);
    if (this.#asked.has(name)) throw new Interrupted();
  }

  #has(table: AnyTable): boolean {
    if (this.misses.isEmpty) this.known += 1;
    if (this.#isPrepared(table)) return true;
    this.misses.unprepared.add(table);
    this.#miss(table.name);
    return false;
  }
}

/** Far more than others' commits, which make what is known unknown again, can cause. */
const mostInVain = 1000;

/**
 * Finds functions that never read all that they ask for. A function that depends only on its view reads further in each run than in the
 * runs before; one that creates new keys each time does not.
 */
export class Progress {
  #most = -1;
  #inVain = 0;

  /** Called after a run that has missed something. Throws after too many runs without progress. */
  note({ known }: ReplicaSnapshot): void {
    this.#inVain = known > this.#most ? 0 : this.#inVain + 1;
    this.#most = Math.max(this.#most, known);
    if (this.#inVain > mostInVain)
      throw new Error(
        `A function that reads or writes the store asked for other rows each of the ${mostInVain} times that it was run. It may run several times, so it must depend only on what it reads: create ids and times outside of it`,
      );
  }
}
