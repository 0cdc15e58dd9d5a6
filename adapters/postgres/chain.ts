import { randomUUID } from 'node:crypto';
import type { StorageError } from '../../src/ports/storage.js';
import { storageFailure } from '../../src/storage/failures.js';
import type { Overlay } from '../../src/storage/overlay.js';
import { type AnyTable, entryOf } from '../../src/storage/records.js';
import { type Batch, type FetchedRow, type OrderName, orderName, parseTables } from './batch.js';
import { batchOf, Catalog } from './catalog.js';
import { type Gap, type Misses, Replica } from './replica.js';
import { ServerTime } from './server-time.js';
import { ConnectionLost, isOfStore, isPassing, isServerError, type Session } from './session.js';
import { indexesEvery, layout, type Sql } from './sql.js';
import type { Statement, StatementResult } from './wire.js';

type ResultRow = StatementResult['rows'][number];

/** What is kept of the chain for processes that were paused, and how much is removed at once. */
const kept = { batches: 10_000, minutes: 10, most: 2_000 };
/** How long statements of a host may wait for locked rows in a turn, in milliseconds: everybody waits for its end. */
const hostLockMs = 10;
/** How many rows are read at once while an index is built or completed. */
const pageSize = 500;

/** A statement of the host has failed: nothing of its transaction was stored. */
export class HostStatementError extends Error {
  /** The error of `pg`. */
  readonly original: unknown;
  /** Nobody can have committed meanwhile: it was not made from an older state. */
  readonly isFinal: boolean;

  constructor(original: unknown, isFinal: boolean) {
    super('a statement of the host has failed');
    this.original = original;
    this.isFinal = isFinal;
  }
}

/** In a turn, a statement of the host has waited for rows that others have locked. */
export class HostRowsLocked extends Error {}

const waitsForOthers = /^(55P03|40P01)$/;

/** Events for the owner of a store. */
interface ChainHost {
  /** Tables were changed, by this process or another one. */
  changed(tables: readonly string[]): void;
  /** The server has lost batches that were known here: a standby that was behind has taken over, or a backup was restored. */
  forked(): void;
}

/**
 * The chain of batches: each names the one before it, so that what was decided on an older state is never written. One process at a time
 * appends. What happened before a batch is seen by whoever has read it.
 */
export class Chain {
  readonly replica: Replica;
  readonly catalog = new Catalog();
  readonly time = new ServerTime();
  readonly #sql: Sql;
  readonly #host: ChainHost;
  /** Indexes some of whose entries were left out by programs that do not know them. */
  readonly #behind = new Set<number>();
  /** Whether the writer's connection is in a transaction that holds the lock. */
  #isInTurn = false;

  constructor(sql: Sql, budget: number, host: ChainHost) {
    this.#sql = sql;
    this.#host = host;
    this.replica = new Replica(budget);
  }

  get isInTurn(): boolean {
    return this.#isInTurn;
  }

  // Begin.

  /** Creates the tables if there are none, and reads where the chain is. */
  async open(session: Session): Promise<StorageError | undefined> {
    const [there] = await session.run([this.#sql.hasStore()]);
    if (there?.rows[0]?.[0] !== 't') await this.#create(session);
    const sent = performance.now();
    const [format, time] = await session.run([this.#sql.format(), this.#sql.time()]);
    this.time.measured(sent, Number(time?.rows[0]?.[0]));
    const found = Number(format?.rows[0]?.[0]);
    if (found > layout)
      return storageFailure('too_new', `The store has layout ${found}, and this version reads ${layout}: update it.`);
    await this.#restart(session);
    return undefined;
  }

  async #create(session: Session): Promise<void> {
    await this.#transaction(session, async () => {
      const [there] = await session.run([this.#sql.hasStore()]);
      if (there?.rows[0]?.[0] === 't') return;
      // The right to create schemas is needed only for that.
      const [schema] = await session.run([this.#sql.hasSchema()]);
      if (schema?.rows[0]?.[0] !== 't') await session.run([this.#sql.createSchema()]);
      await session.run(this.#sql.createStore(randomUUID()));
    });
  }

  /** Several round trips under the lock; only for what is rare. */
  async #transaction(session: Session, work: () => Promise<void>): Promise<void> {
    await session.run([{ text: 'BEGIN' }, this.#sql.lock()]);
    try {
      await work();
      await session.run([{ text: 'COMMIT' }]);
    } catch (thrown) {
      session.abandon();
      throw thrown;
    }
  }

  /** Queries that see the same state, in one round trip. */
  async #onSnapshot(session: Session, queries: readonly Statement[]): Promise<StatementResult[]> {
    const begin = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' };
    return (await session.run([begin, ...queries, { text: 'COMMIT' }])).slice(1, -1);
  }

  async #restart(session: Session): Promise<void> {
    const [start, tables, indexes, behind] = await this.#onSnapshot(session, [
      this.#sql.start(),
      this.#sql.tables(),
      this.#sql.indexes(),
      this.#sql.allBehind(),
    ]);
    this.#loadCatalog(tables, indexes);
    this.#behind.clear();
    for (const [id] of rowsIn(behind)) this.#behind.add(Number(id));
    const tip = start?.rows.at(-1);
    if (tip === undefined) throw new Error('The store has no chain: restore the database from a backup.');
    this.replica.reset(tipOf(tip), indexesAt(rowsIn(start)));
  }

  // Read.

  /** Learns what others have committed. */
  async pull(session: Session): Promise<void> {
    const { tip, epoch } = this.replica;
    const sent = performance.now();
    const asked = this.time.isDue ? [this.#sql.time()] : [];
    const [pulled, time] = await session.run([this.#sql.pull(tip), ...asked]);
    if (time !== undefined) this.time.measured(sent, Number(time.rows[0]?.[0]));
    if (epoch === this.replica.epoch) await this.#applyPulled(session, tip, rowsIn(pulled));
  }

  async #applyPulled(session: Session, from: Replica['tip'], rows: readonly ResultRow[]): Promise<void> {
    if (!continuesFrom(from, rows)) return this.#recover(session);
    let isCatalogNew = false;
    for (const row of rows) {
      const { seq, id, last } = tipOf(row);
      if (seq !== this.replica.tip.seq + 1) continue;
      const batch: Batch = { seq, id, last, tables: parseTables(row[3] ?? '[]') };
      isCatalogNew ||= batch.tables.length === 0;
      for (const { name, orders } of batch.tables) this.#noteBehind(name, orders);
      this.#host.changed(this.replica.apply(batch));
    }
    // What was read of the old catalog cannot be wrong, but new columns have to be known before anything is written.
    if (isCatalogNew) await this.#reloadCatalog(session);
  }

  #noteBehind(name: string, orders: readonly OrderName[]): void {
    if (!this.catalog.has(name)) return;
    for (const [order, id] of this.catalog.table(name).indexes) if (!orders.includes(order)) this.#behind.add(id);
  }

  #isBehind({ table, order }: Gap): boolean {
    const id = this.catalog.table(table.name).indexes.get(order);
    return id !== undefined && this.#behind.has(id);
  }

  /** History does not continue from what is known here: this process was paused for long, or the server has lost batches. */
  async #recover(session: Session): Promise<void> {
    const before = this.replica.tip;
    const names = [...this.replica.indexes().keys()];
    await this.#restart(session);
    // A chain that was shortened meanwhile continues from a higher number.
    const [found] = await session.run([this.#sql.has(before.id, before.seq)]);
    if (found?.rows.length === 0 && this.replica.tip.seq - before.seq < kept.batches) this.#host.forked();
    this.#host.changed([...new Set([...names, ...this.replica.indexes().keys()])]);
  }

  async #reloadCatalog(session: Session): Promise<void> {
    const [tables, indexes] = await session.run([this.#sql.tables(), this.#sql.indexes()]);
    this.#loadCatalog(tables, indexes);
  }

  #loadCatalog(tables: StatementResult | undefined, indexes: StatementResult | undefined): void {
    this.catalog.load({
      tables: rowsIn(tables).map(([id, name]) => ({ id: Number(id), name: String(name) })),
      indexes: rowsIn(indexes).map(([id, tableId, order]) => ({
        ...{ id: Number(id), tableId: Number(tableId), order: String(order) },
      })),
    });
  }

  /** Reads what a run has missed, together with what others have committed, in one round trip. May end a turn. */
  async fetch(session: Session, misses: Misses): Promise<void> {
    for (const gap of misses.gaps) if (this.#isBehind(gap)) await this.#catchUp(session, gap.table, gap.order);
    const isInTurn = this.#guests.has(session) || (this.#isInTurn && session === this.#turnOf);
    const rows = [...misses.rows].map(([name, keys]) => ({ name, keys: [...keys] }));
    const gaps = groupedByOrder(misses.gaps);
    const reads = [
      ...rows.map(({ name, keys }) => this.#sql.rowsOf(this.catalog.table(name), keys)),
      ...gaps.map((each) => this.#sql.ranges(this.catalog.table((each[0] as Gap).table.name), each)),
    ];
    const { tip, epoch } = this.replica;
    let results: StatementResult[];
    let seq = tip.seq;
    if (isInTurn) results = await session.run(reads);
    else {
      const [first, ...others] = await this.#onSnapshot(session, [this.#sql.pull(tip), ...reads]);
      const pulled = rowsIn(first);
      results = others;
      if (epoch !== this.replica.epoch) return;
      seq = Number(pulled.at(-1)?.[0] ?? -1);
      await this.#applyPulled(session, tip, pulled);
    }
    this.replica.take(seq, () => {
      for (const [at, { name, keys }] of rows.entries()) this.#takeRows(name, keys, rowsIn(results[at]));
      for (const [at, group] of gaps.entries()) this.#takeRanges(group, rowsIn(results[rows.length + at]));
    });
  }

  #takeRows(name: string, keys: readonly string[], rows: readonly ResultRow[]): void {
    const found = new Map(rows.map((row) => [row[0] as string, rowOf(row)]));
    for (const key of keys) this.replica.table(name).fetched(key, found.get(key));
  }

  #takeRanges(gaps: readonly Gap[], rows: readonly ResultRow[]): void {
    const found = gaps.map((): { row: FetchedRow; position: string }[] => []);
    for (const [n, ...row] of rows) found[Number(n)]?.push({ row: rowOf(row), position: row[4] as string });
    // Otherwise entries were left out in what was read: they are completed before it is read again.
    for (const [n, gap] of gaps.entries())
      if (!this.#isBehind(gap)) this.replica.table(gap.table.name).fetchedRange(gap, found[n] ?? []);
  }

  // Write.

  #turnOf: Session | undefined;

  /** Waits for this process's turn: from then on nobody else commits until it ends. */
  async beginTurn(session: Session): Promise<void> {
    const { tip, epoch } = this.replica;
    const results = await session.run([
      { text: 'BEGIN' },
      { text: "SET LOCAL idle_in_transaction_session_timeout = '500ms'" },
      this.#sql.lock(),
      this.#sql.pull(tip),
    ]);
    this.#isInTurn = true;
    this.#turnOf = session;
    const rows = rowsIn(results[3]);
    if (epoch === this.replica.epoch && continuesFrom(tip, rows)) return this.#applyPulled(session, tip, rows);
    // What is read to begin again is read in a transaction of another kind.
    await this.endTurn(session);
    await this.pull(session);
  }

  /** Sessions of hosts whose transactions hold the lock. */
  readonly #guests = new Set<Session>();

  /** A transaction of a host holds the lock, and has pulled after it: nobody commits until it ends. False if history is another one there. */
  async joinTurn(
    session: Session,
    { tip, epoch, rows }: { readonly tip: Replica['tip']; readonly epoch: number; readonly rows: readonly ResultRow[] },
  ): Promise<boolean> {
    if (epoch !== this.replica.epoch || !continuesFrom(tip, rows)) return false;
    this.#guests.add(session);
    await this.#applyPulled(session, tip, rows);
    return true;
  }

  leaveTurn(session: Session): void {
    this.#guests.delete(session);
  }

  /** Whether something is missing that is created or completed in a separate transaction. */
  needsTransaction(misses: Misses): boolean {
    return misses.unprepared.size > 0 || misses.gaps.some((gap) => this.#isBehind(gap));
  }

  /** Ends a turn in which nothing was committed. */
  async endTurn(session: Session): Promise<void> {
    if (!this.#isInTurn) return;
    this.#isInTurn = false;
    await session.run([{ text: 'ROLLBACK' }]);
  }

  /** After a failure the connection's transaction is over, or unknown. */
  loseTurn(session: Session): void {
    if (!this.#isInTurn) return;
    this.#isInTurn = false;
    session.abandon();
  }

  batchOf(changes: Overlay): Batch {
    return batchOf(changes, this.replica.tip, randomUUID(), this.catalog);
  }

  /** Stores a batch, if nobody has committed since the state that it was decided on; false if somebody has. */
  async commit(session: Session, batch: Batch, changes: Overlay): Promise<boolean> {
    const { tip } = this.replica;
    const append = this.#sql.append(batch, tip, this.#indexesWith(batch));
    const rows = this.#sql.changes(batch, changes, (name) => this.catalog.table(name));
    const statements: Statement[] = this.#isInTurn
      ? [append, ...rows, { text: 'COMMIT' }]
      : [this.#sql.lock(), append, ...rows];
    const at = this.#isInTurn ? 0 : 1;
    const results = await session.run(statements, true);
    this.#isInTurn = false;
    if (results[at]?.count !== 1) return false;
    this.committed(batch);
    return true;
  }

  /**
   * As `commit`, with statements of the host in the same transaction: both or neither. They come before the lock, as the host's own
   * transactions do when they come to the store. Rejects with a `HostStatementError` when one of them fails.
   */
  async commitWith(session: Session, host: readonly Statement[], batch: Batch, changes: Overlay): Promise<boolean> {
    const own = this.statementsOf(batch, changes);
    const isInTurn = this.#isInTurn;
    // Whoever has locked those rows may wait for the turn to end.
    const shortly = { text: `SET LOCAL lock_timeout = ${hostLockMs}` };
    try {
      await session.run(
        isInTurn ? [shortly, ...host, ...own, { text: 'COMMIT' }] : [...host, this.#sql.lock(), ...own],
      );
    } catch (thrown) {
      if (thrown instanceof ConnectionLost || !isServerError(thrown)) throw thrown;
      this.#isInTurn = false;
      if (isInTurn) await session.run([{ text: 'ROLLBACK' }]);
      return lostWith(thrown, host.length, isInTurn);
    }
    this.#isInTurn = false;
    this.committed(batch);
    return true;
  }

  /** What stores a batch within a transaction that has the lock, or fails (22012) as the second statement if somebody has committed before. */
  statementsOf(batch: Batch, changes: Overlay): Statement[] {
    return [
      this.#sql.append(batch, this.replica.tip, this.#indexesWith(batch)),
      this.#sql.assertTip(batch),
      ...this.#sql.changes(batch, changes, (name) => this.catalog.table(name)),
    ];
  }

  /** A batch that this process has appended. */
  committed(batch: Batch): void {
    // A reader may have pulled it before its acknowledgement came.
    if (this.replica.tip.seq === batch.seq - 1) this.replica.apply(batch, true);
    this.#host.changed(batch.tables.map(({ name }) => name));
  }

  /** Whether a batch was appended whose acknowledgement was lost. Waits until the server has ended the session that sent it. */
  async wasAppended(session: Session, batch: Batch): Promise<boolean> {
    const results = await session.run([
      { text: 'BEGIN' },
      this.#sql.lock(),
      this.#sql.has(batch.id, batch.seq),
      { text: 'COMMIT' },
    ]);
    return results[2]?.rows.length === 1;
  }

  #indexesWith(batch: Batch): string | null {
    if (batch.seq % indexesEvery !== 0) return null;
    const indexes = new Map(this.replica.indexes());
    for (const { name, index } of batch.tables) indexes.set(name, index);
    return JSON.stringify(Object.fromEntries(indexes));
  }

  /** Removes what nobody needs of the chain any more. */
  async shorten(session: Session): Promise<void> {
    await session.run([this.#sql.shorten(kept.batches, kept.minutes, kept.most)]);
  }

  // Tables and indexes.

  /** Creates what the database does not have of these definitions. */
  async prepare(session: Session, tables: Iterable<AnyTable>): Promise<void> {
    // Never within a turn: it has read tables that are to be changed.
    if (session === this.#turnOf) await this.endTurn(session);
    await this.pull(session);
    await this.#transaction(session, async () => {
      const { tip, epoch } = this.replica;
      const [pulled] = await session.run([this.#sql.pull(tip)]);
      if (epoch !== this.replica.epoch || !continuesFrom(tip, rowsIn(pulled)))
        throw new ConnectionLost('The history has changed: it is tried again.');
      await this.#applyPulled(session, tip, rowsIn(pulled));
      await this.#reloadCatalog(session);
      let isChanged = false;
      for (const table of tables) {
        if (this.catalog.isPrepared(table)) continue;
        await this.#extend(session, table);
        isChanged = true;
        await this.#reloadCatalog(session);
      }
      // So that the others see it before they write.
      if (isChanged) {
        const before = this.replica.tip;
        const batch: Batch = { seq: before.seq + 1, id: randomUUID(), last: before.last, tables: [] };
        await session.run([this.#sql.append(batch, before, this.#indexesWith(batch))]);
      }
    });
    await this.pull(session);
    for (const table of tables) this.catalog.isPrepared(table);
  }

  async #extend(session: Session, table: AnyTable): Promise<void> {
    const [tables, indexes] = await session.run([this.#sql.tables(), this.#sql.indexes()]);
    const next = (result: StatementResult | undefined): number =>
      rowsIn(result).reduce((most, [id]) => Math.max(most, Number(id)), 0) + 1;
    const isNew = !this.catalog.has(table.name);
    const id = isNew ? next(tables) : this.catalog.table(table.name).id;
    if (isNew) await session.run(this.#sql.createTable(id, table.name));
    for (const [at, index] of this.catalog.missing(table).entries()) {
      const column = next(indexes) + at;
      await session.run(this.#sql.addColumn(id, column, orderName(index)));
      if (!isNew)
        for (let after = ''; ; ) {
          const [page] = await session.run([this.#sql.rowsAfter(id, after, pageSize)]);
          const found = rowsIn(page).map(rowOf);
          if (found.length === 0) break;
          const entries = found.map((row) => [row.rowKey, entryOf(table, index, JSON.parse(row.text))] as const);
          await session.run([this.#sql.putEntries(id, column, entries)]);
          after = found.at(-1)?.rowKey as string;
        }
      await session.run([this.#sql.createIndex(id, column)]);
    }
  }

  /** Completes the entries of an index that others have left out. */
  async #catchUp(session: Session, table: AnyTable, order: OrderName): Promise<void> {
    const { id, indexes, definitions } = this.catalog.table(table.name);
    const column = indexes.get(order) as number;
    const definition = definitions.get(order);
    if (definition === undefined) return;
    // Not within a turn, which may be undone.
    if (session === this.#turnOf) await this.endTurn(session);
    await this.#transaction(session, async () => {
      for (;;) {
        const [behind] = await session.run([this.#sql.behind(column, pageSize)]);
        const keys = rowsIn(behind).map(([key]) => key as string);
        if (keys.length === 0) return;
        const [rows] = await session.run([this.#sql.rowsOf(this.catalog.table(table.name), keys)]);
        const entries = rowsIn(rows)
          .map(rowOf)
          .map((row) => {
            return [row.rowKey, entryOf(table, definition.index, JSON.parse(row.text))] as const;
          });
        await session.run([this.#sql.putEntries(id, column, entries), this.#sql.caughtUp(column, keys)]);
      }
    });
    this.#behind.delete(column);
    this.replica.table(table.name).forgetOrder(order);
  }
}

/** False for a lost race. Throws what else has gone wrong in a commit with statements of the host. */
function lostWith(thrown: Error & { readonly code: string }, statements: number, isInTurn: boolean): false {
  const failed = ((thrown as { completed?: number }).completed ?? statements) - (isInTurn ? 1 : 0);
  if (failed >= statements) {
    if (thrown.code === '22012') return false;
    throw thrown;
  }
  if (isInTurn && waitsForOthers.test(thrown.code)) throw new HostRowsLocked();
  if (isPassing(thrown) || isOfStore(thrown)) throw thrown;
  throw new HostStatementError(thrown, isInTurn);
}

const rowsIn = (result: StatementResult | undefined): StatementResult['rows'] => result?.rows ?? [];

function tipOf([seq, id, last]: ResultRow): Replica['tip'] {
  return { seq: Number(seq), id: id as string, last: Number(last) };
}

function rowOf([rowKey, created, modified, text]: ResultRow): FetchedRow {
  return {
    rowKey: rowKey as string,
    createIndex: Number(created),
    modifyIndex: Number(modified),
    text: text as string,
  };
}

/** Whether history continues from a batch: it comes first in what was pulled. */
function continuesFrom({ seq, id }: Replica['tip'], [first]: readonly ResultRow[]): boolean {
  return first !== undefined && Number(first[0]) === seq && first[1] === id;
}

/** Index of the last change of each table, from a batch that lists them and those after it. */
function indexesAt(batches: readonly ResultRow[]): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  for (const [, , , all, changes] of batches) {
    for (const [name, index] of Object.entries(JSON.parse(all ?? '{}') as Record<string, number>))
      known.set(name, index);
    for (const { name, index } of parseTables(changes ?? '[]')) known.set(name, index);
  }
  return known;
}

/** Gaps of one order and direction are read by one statement. */
function groupedByOrder(gaps: readonly Gap[]): Gap[][] {
  const groups = new Map<string, Gap[]>();
  for (const gap of gaps) {
    const key = `${gap.table.name} ${gap.order} ${gap.reverse}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [gap]);
    else group.push(gap);
  }
  return [...groups.values()];
}
