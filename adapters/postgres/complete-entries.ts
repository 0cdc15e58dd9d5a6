import { type AnyTable, entryOf, type NamedIndex } from '../../src/storage/records.js';
import { BatchSize } from '../storage-kit/index.js';
import type { Session } from './session.js';
import type { Sql } from './sql.js';
import type { Statement, StatementResult } from './wire.js';

/** The most rows whose entries are stored at once, which takes some milliseconds of everybody's time. */
const mostRows = 250;
/** The most rows that are completed within a turn. */
const mostInTurn = 1000;

/** An index whose entries some rows lack. */
interface Incomplete {
  /** IDs of the table and of the index. */
  readonly table: number;
  readonly column: number;
  readonly definition: { readonly table: AnyTable; readonly index: NamedIndex };
}

interface ReadRow {
  readonly key: string;
  /** Index of its last write. */
  readonly modified: number;
  readonly entry: string | undefined;
}

/**
 * Completes the entries of an index. Nearly all of it is done in parts: rows are read without the lock, and their entries are stored under it if
 * they have not changed since. Whoever has changed a row meanwhile has stored its entry or noted that it lacks one. May be
 * interrupted, and done by several processes.
 */
export class EntryCompletion {
  readonly #session: Session;
  readonly #sql: Sql;
  readonly #of: Incomplete;
  readonly #size = new BatchSize();

  constructor(session: Session, sql: Sql, of: Incomplete) {
    this.#session = session;
    this.#sql = sql;
    this.#of = of;
  }

  /** Whether so few rows lack an entry that everybody can wait for them. */
  async isShort(): Promise<boolean> {
    const { column } = this.#of;
    const [place, behind] = await this.#session.run([
      this.#sql.filledTo(column),
      this.#sql.behind(column, mostInTurn + 1),
    ]);
    return (place?.rows[0]?.[0] ?? undefined) === undefined && (behind?.rows.length ?? 0) <= mostInTurn;
  }

  /** All but the last few rows. Others commit between the parts. */
  async inParts(): Promise<void> {
    const { table, column } = this.#of;
    for (;;) {
      const [place] = await this.#session.run([this.#sql.filledTo(column)]);
      const from = place?.rows[0]?.[0] ?? undefined;
      if (from === undefined) break;
      const limit = this.#limit;
      const [page] = await this.#session.run([this.#sql.rowsFrom(table, from, limit)]);
      const rows = this.#read(page);
      const next = rows.length < limit ? undefined : rows.at(-1)?.key;
      await this.#session.run([...this.#sql.lock(), ...this.#put(rows), this.#sql.fillOn(column, from, next)], true);
    }
    for (let isLast = false; !isLast; ) {
      const limit = this.#limit;
      const { length, statements } = await this.#singleRows(limit);
      isLast = length < limit;
      if (!isLast) await this.#session.run([...this.#sql.lock(), ...statements], true);
    }
  }

  /** The last rows, under the lock: nobody leaves out more meanwhile. */
  async finish(): Promise<void> {
    for (;;) {
      const { length, statements } = await this.#singleRows(this.#limit);
      if (length === 0) return;
      await this.#session.run(statements);
    }
  }

  get #limit(): number {
    return Math.min(mostRows, this.#size.rows);
  }

  async #singleRows(limit: number): Promise<{ length: number; statements: readonly Statement[] }> {
    const { table, column } = this.#of;
    const [behind] = await this.#session.run([this.#sql.behind(column, limit)]);
    const keys = (behind?.rows ?? []).map(([key]) => String(key));
    if (keys.length === 0) return { length: 0, statements: [] };
    const [page] = await this.#session.run([this.#sql.rowsWith(table, keys)]);
    const rows = this.#read(page);
    return { length: keys.length, statements: [...this.#put(rows), this.#sql.caughtUp({ table, column }, keys, rows)] };
  }

  #read(result: StatementResult | undefined): readonly ReadRow[] {
    const { table, index } = this.#of.definition;
    const rows = result?.rows ?? [];
    const characters = rows.reduce((sum, row) => sum + (row[2]?.length ?? 0), 0);
    if (rows.length > 0) this.#size.read(rows.length, characters);
    return rows.map(([key, modified, text]) => ({
      ...{ key: String(key), modified: Number(modified) },
      entry: entryOf(table, index, JSON.parse(String(text))),
    }));
  }

  #put(rows: readonly ReadRow[]): Statement[] {
    const entered = rows.filter(({ entry }) => entry !== undefined);
    return entered.length === 0 ? [] : [this.#sql.putEntries(this.#of.table, this.#of.column, entered)];
  }
}
