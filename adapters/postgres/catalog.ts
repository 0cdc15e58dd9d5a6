import type { Overlay, PendingRow } from '../../src/storage/overlay.js';
import { type AnyTable, entryOf, indexesOf, type NamedIndex } from '../../src/storage/records.js';
import { type Batch, type ChangedTable, type OrderName, orderName, type RowChange } from './batch.js';

/** One version of an index as some definition of its table declares it. */
interface Definition {
  readonly table: AnyTable;
  readonly index: NamedIndex;
  /** Among the indexes that the table declares. */
  readonly position: number;
}

/** A table as the database has it. */
export interface CatalogTable {
  readonly id: number;
  readonly name: string;
  /** IDs of all versions of its indexes, which name their columns. */
  readonly indexes: ReadonlyMap<OrderName, number>;
  /** Those that this process can compute. */
  readonly definitions: Map<OrderName, Definition>;
}

/** Rows of the tables that describe the store. */
interface CatalogRows {
  readonly tables: readonly { readonly id: number; readonly name: string }[];
  readonly indexes: readonly { readonly id: number; readonly tableId: number; readonly order: OrderName }[];
}

/** The tables of a store, as read last. */
export class Catalog {
  #tables = new Map<string, CatalogTable>();
  #prepared = new WeakSet<AnyTable>();
  /** Definitions that were used here, also of tables that the database does not have yet. */
  readonly #used = new Set<AnyTable>();

  load({ tables, indexes }: CatalogRows): void {
    this.#tables = new Map(
      tables.map(({ id, name }) => {
        const own = indexes.filter((index) => index.tableId === id);
        return [name, { id, name, indexes: new Map(own.map((each) => [each.order, each.id])), definitions: new Map() }];
      }),
    );
    this.#prepared = new WeakSet();
    for (const table of this.#used) this.isPrepared(table);
  }

  /** Throws for a table that nobody has prepared. */
  table(name: string): CatalogTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`Table ${name} is not prepared.`);
    return table;
  }

  has(name: string): boolean {
    return this.#tables.has(name);
  }

  /** Whether the database has the table with every index of this definition. */
  isPrepared(table: AnyTable): boolean {
    if (this.#prepared.has(table)) return true;
    this.#used.add(table);
    const known = this.#tables.get(table.name);
    if (known === undefined || this.missing(table).length > 0) return false;
    for (const [position, index] of indexesOf(table).entries())
      known.definitions.set(orderName(index), { table, index, position });
    this.#prepared.add(table);
    return true;
  }

  /** The indexes of this definition that the database does not have. */
  missing(table: AnyTable): readonly NamedIndex[] {
    const known = this.#tables.get(table.name)?.indexes;
    return indexesOf(table).filter((index) => known?.has(orderName(index)) !== true);
  }
}

/** What a transaction has changed, as the batch after `tip`. */
export function batchOf(changes: Overlay, tip: Pick<Batch, 'seq'>, id: string, catalog: Catalog): Batch {
  const tables = changes.changedTables.map((name): ChangedTable => {
    const { definitions } = catalog.table(name);
    const rows = [...changes.changesOf(name)].map(({ rowKey, table, after }): RowChange => {
      if (after === undefined) return { key: rowKey, after };
      const entries = [...definitions.values()].map((definition) => entryBy(definition, table, after));
      return { key: rowKey, after: { entries, row: after } };
    });
    return { name, index: changes.tableIndex(name), orders: [...definitions.keys()], rows };
  });
  return { seq: tip.seq + 1, id, last: changes.index, tables };
}

function entryBy(definition: Definition, table: AnyTable, row: PendingRow): string | undefined {
  if (definition.table === table) return row.entries[definition.position];
  return entryOf(definition.table, definition.index, row.record);
}
