import type { ReadView, Row, TableName, WriteView } from '../../ports/storage.js';
import type { Key, Table } from '../../shared/table.js';
import type { Transaction } from '../write-transaction.js';

/**
 * What follows from changed rows, in the write that changes them. It depends on the changes and the rows alone, so that no operation can
 * forget it, or apply it twice.
 */
export interface Reaction {
  /** It runs in writes that change rows of these. */
  readonly tables: readonly TableName[];
  readonly react: (tx: Transaction, changes: Changes) => void;
}

/** A row before and after a write; undefined where it does not exist. */
export interface RowChange<R> {
  readonly before: R | undefined;
  readonly after: R | undefined;
  /** The row afterwards; the one before when it was removed. */
  readonly row: R;
}

/** The changed rows of the tables that reactions depend on. */
export interface Changes {
  /** The changed rows of a table, in the order of their first change. Rows that exist neither before nor after are left out. */
  of<R>(table: Table<R>): readonly RowChange<R>[];
  /** A row as it is now. One that the write has changed is not parsed again. */
  latest<R>(view: ReadView, table: Table<R>, key: Key): R | undefined;
  /** Index of the last change before this write of a table that it changes. */
  indexBefore(table: TableName): number | undefined;
}

/** A change as it is recorded. */
export class StoredChange implements RowChange<unknown> {
  after: unknown;
  /** Index of the last change. */
  index = 0;

  constructor(
    readonly table: string,
    readonly key: Key,
    readonly stored: Row<unknown> | undefined,
  ) {}

  /** Parsed when it is asked for. */
  get before(): unknown {
    return this.stored?.record;
  }

  get row(): unknown {
    return this.after ?? this.before;
  }

  get isVoid(): boolean {
    return this.stored === undefined && this.after === undefined;
  }
}

/** The changes of one write, while it is made. */
export class ChangeSet implements Changes {
  readonly #tables: ReadonlySet<string>;
  readonly #indexes = new Map<string, number>();
  /** Since the last reactions, by table and key. */
  #recent = new Map<string, Map<string, StoredChange>>();
  /** All of the write: a row again when it is changed after reactions. */
  readonly #all: StoredChange[] = [];
  #reacted = 0;

  /** Changes of other tables are not recorded. */
  constructor(tables: ReadonlySet<string>) {
    this.#tables = tables;
  }

  /** Call it before the change. */
  note<R>(
    view: WriteView,
    { table, key }: { readonly table: Table<R>; readonly key: Key },
    after: R | undefined,
  ): void {
    const { name } = table;
    if (!this.#tables.has(name)) return;
    if (!this.#indexes.has(name)) this.#indexes.set(name, view.tableIndex(table));
    let rows = this.#recent.get(name);
    if (rows === undefined) {
      rows = new Map();
      this.#recent.set(name, rows);
    }
    const id = key.join(' ');
    let change = rows.get(id);
    if (change === undefined) {
      change = new StoredChange(name, key, view.get(table, key));
      rows.set(id, change);
      this.#all.push(change);
    }
    change.after = after;
    change.index = view.index;
  }

  of<R>(table: Table<R>): readonly RowChange<R>[] {
    const found: StoredChange[] = [];
    for (const change of this.#recent.get(table.name)?.values() ?? []) if (!change.isVoid) found.push(change);
    return found as unknown as readonly RowChange<R>[];
  }

  latest<R>(view: ReadView, table: Table<R>, key: Key): R | undefined {
    const known = this.#recent.get(table.name)?.get(key.join(' '));
    return known === undefined ? view.get(table, key)?.record : (known.after as R | undefined);
  }

  indexBefore(table: TableName): number | undefined {
    return this.#indexes.get(table.name);
  }

  /** Runs the reactions to the changes since the last call, each of which sees the changes of those before it. */
  react(tx: Transaction, reactions: readonly Reaction[]): void {
    if (this.#recent.size === 0) return;
    for (const { tables, react } of reactions) if (tables.some(({ name }) => this.#recent.has(name))) react(tx, this);
    this.#recent = new Map();
    this.#reacted += 1;
  }

  /** The changes of the whole write: each row once, in the order of their first change. */
  get all(): Iterable<StoredChange> {
    if (this.#reacted < 2) return this.#all;
    const merged = new Map<string, StoredChange>();
    for (const change of this.#all) {
      const { table, key, after, index } = change;
      const id = `${table} ${key.join(' ')}`;
      const first = merged.get(id)?.stored;
      const whole = merged.has(id) ? new StoredChange(table, key, first) : change;
      merged.set(id, Object.assign(whole, { after, index }));
    }
    return merged.values();
  }
}
