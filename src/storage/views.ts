import type { ListQuery, ReadView, Row, TableName, WriteView } from '../ports/storage.js';
import type { Key, Table } from '../shared/table.js';
import { Overlay, type Snapshot } from './overlay.js';
import {
  type AnyTable,
  entriesOf,
  indexPosition,
  type KeyedRow,
  keyBounds,
  rowKeyOf,
  sortKeyFrom,
  UnstorableError,
} from './records.js';

/**
 * The view of one run of a read's work function. It ends with the run, so that it cannot show a later state as if it were the old
 * one, and it keeps the snapshot's exceptions, so that a work function that catches one cannot decide on incomplete
 * data.
 */
export class SnapshotView<S extends Snapshot = Snapshot> implements ReadView {
  /** The first exception of the snapshot. */
  failure: unknown;
  #open = true;

  constructor(protected readonly snapshot: S) {}

  get index(): number {
    return this.guarded((snapshot) => snapshot.index);
  }

  /** Without a closure for each row: most reads are of single rows. */
  get<R>(table: Table<R>, key: Key): Row<R> | undefined {
    this.#assertOpen();
    try {
      return this.snapshot.find(table, key, rowKeyOf(table, key)) as Row<R> | undefined;
    } catch (thrown) {
      throw this.#noted(thrown);
    }
  }

  list<R>(table: Table<R>, query: ListQuery = {}): Row<R>[] {
    return this.guarded((snapshot) => {
      const bounds = keyBounds(query);
      if (bounds === undefined)
        throw new UnstorableError(`A list of table ${table.name} has an invalid key as its bound.`);
      return snapshot.scan(table, query, bounds) as unknown as Row<R>[];
    });
  }

  tableIndex(table: TableName): number {
    return this.guarded((snapshot) => snapshot.tableIndex(table.name));
  }

  end(): void {
    this.#open = false;
  }

  protected guarded<T>(work: (snapshot: S) => T): T {
    this.#assertOpen();
    try {
      return work(this.snapshot);
    } catch (thrown) {
      throw this.#noted(thrown);
    }
  }

  #assertOpen(): void {
    if (this.#open) return;
    throw new Error('This storage view has ended: use it only inside the work function, before it returns.');
  }

  #noted(thrown: unknown): unknown {
    this.failure ??= thrown;
    return thrown;
  }
}

/** The view of one run of a write's work function: its changes stay in the overlay. */
export class OverlayView extends SnapshotView<Overlay> implements WriteView {
  constructor(overlay: Overlay) {
    super(overlay);
    this.#index = overlay.index;
  }

  #index: number;

  /** Fixed until the end and afterwards: records that contain it were made with it. */
  override get index(): number {
    return this.#index;
  }

  nextIndex(): number {
    this.#index = this.guarded((overlay) => overlay.advance());
    return this.#index;
  }

  put<R>(table: Table<R>, record: R): void {
    this.guarded((overlay) => overlay.put(table, record));
  }

  remove<R>(table: Table<R>, key: Key): boolean {
    return this.guarded((overlay) => overlay.remove(table, key));
  }
}

/**
 * A view to rehearse a write on: reads the state of `current`, accepts changes, and is discarded. `current` may return a newer view later; the
 * index remains the one after the first.
 */
export function rehearsalOver(current: () => ReadView): OverlayView {
  return new OverlayView(new Overlay(snapshotOf(current), current().index + 1));
}

/** The rows of a view have no sort keys: they are computed from the records when needed. */
function snapshotOf(current: () => ReadView): Snapshot {
  const keyed = (table: AnyTable, row: Row<unknown>): KeyedRow => new ComputedRow(table, row);
  return {
    index: current().index,
    find: (table, key) => {
      const row = current().get(table, key);
      return row === undefined ? undefined : keyed(table, row);
    },
    scan: (table, query) =>
      current()
        .list(table, query)
        .map((row) => keyed(table, row)),
    tableIndex: (name) => current().tableIndex({ name }),
  };
}

class ComputedRow implements KeyedRow {
  readonly #table: AnyTable;
  readonly #row: Row<unknown>;

  constructor(table: AnyTable, row: Row<unknown>) {
    this.#table = table;
    this.#row = row;
  }

  get record(): unknown {
    return this.#row.record;
  }

  get text(): string {
    return this.#row.text;
  }

  get createIndex(): number {
    return this.#row.createIndex;
  }

  get modifyIndex(): number {
    return this.#row.modifyIndex;
  }

  get rowKey(): string {
    return rowKeyOf(this.#table, this.#table.key(this.#row.record));
  }

  sortKey(table: AnyTable, index: string | undefined): string | undefined {
    if (index === undefined) return sortKeyFrom(this.rowKey, undefined);
    const entry = entriesOf(table, this.#row.record)[indexPosition(table, index)];
    return entry === undefined ? undefined : sortKeyFrom(this.rowKey, entry);
  }
}

/** The view of a write, for views that add something to it. */
export class ViewOver implements WriteView {
  constructor(protected readonly view: WriteView) {}

  get index(): number {
    return this.view.index;
  }

  nextIndex(): number {
    return this.view.nextIndex();
  }

  get<R>(table: Table<R>, key: Key): Row<R> | undefined {
    return this.view.get(table, key);
  }

  list<R>(table: Table<R>, query?: ListQuery): Row<R>[] {
    return this.view.list(table, query);
  }

  tableIndex(table: TableName): number {
    return this.view.tableIndex(table);
  }

  put<R>(table: Table<R>, record: R): void {
    this.view.put(table, record);
  }

  remove<R>(table: Table<R>, key: Key): boolean {
    return this.view.remove(table, key);
  }
}
