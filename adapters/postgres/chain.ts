import { randomUUID } from 'node:crypto';
import type { StorageError } from '../../src/ports/storage.js';
import { storageFailure } from '../../src/storage/failures.js';
import type { Overlay } from '../../src/storage/overlay.js';
import type { AnyTable } from '../../src/storage/records.js';
import { type Batch, type FetchedRow, type OrderName, orderName, parseTables } from './batch.js';
import { batchOf, Catalog } from './catalog.js';
import { EntryCompletion } from './complete-entries.js';
import { type Gap, type Misses, Replica } from './replica.js';
import { ConnectionLost, isOfStore, isPassing, isServerError, type Session } from './session.js';
import { indexesEvery, layout, type Sql } from './sql.js';
import type { Statement, StatementResult } from './wire.js';

type ResultRow = StatementResult['rows'][number];

/**
 * What is kept of the chain for processes that were paused: the last minutes, but no less and no more than so many batches; and how many are
 * removed at once. Who was paused for longer reads anew what it needs.
 */
const kept = { minutes: 10, atLeast: 10_000, atMost: 50_000, most: 250 };
/** So often, what others leave out of an index is completed without holding them up for longer. */
const patience = 3;
/** Every so many times the beginning of the chain is looked for anew. */
const lookEvery = 100;

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
  readonly #sql: Sql;
  readonly #host: ChainHost;
  /** Indexes some of whose entries were left out by programs that do not know them, and how often that was noticed. */
  readonly #behind = new Map<number, number>();
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
    const [format] = await session.run([this.#sql.format()]);
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
    for (const [id] of rowsIn(behind)) this.#noteIndexBehind(Number(id));
    const tip = start?.rows.at(-1);
    if (tip === undefined) throw new Error('The store has no chain: restore the database from a backup.');
    this.replica.reset(tipOf(tip), indexesAt(rowsIn(start)));
  }

  // Read.

  /** Learns what others have committed. */
  async pull(session: Session): Promise<void> {
    const { tip, epoch } = this.replica;
    const [pulled] = await session.run([this.#sql.pull(tip)]);
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
    for (const [order, id] of this.catalog.table(name).indexes) if (!orders.includes(order)) this.#noteIndexBehind(id);
  }

  #noteIndexBehind(id: number): void {
    this.#behind.set(id, (this.#behind.get(id) ?? 0) + 1);
  }

  #columnOf({ table, order }: Gap): number | undefined {
    return this.catalog.table(table.name).indexes.get(order);
  }

  #isBehind(gap: Gap): boolean {
    const id = this.#columnOf(gap);
    return id !== undefined && this.#behind.has(id);
  }

  /** History does not continue from what is known here: this process was paused for long, or the server has lost batches. */
  async #recover(session: Session): Promise<void> {
    const before = this.replica.tip;
    const names = [...this.replica.indexes().keys()];
    await this.#restart(session);
    // A chain that was shortened meanwhile continues from a higher number.
    const [found] = await session.run([this.#sql.has(before.id, before.seq)]);
    if (found?.rows.length === 0 && this.replica.tip.seq - before.seq < kept.atLeast) this.#host.forked();
    this.#host.changed([...new Set([...names, ...this.replica.indexes().keys()])]);
  }

  async #reloadCatalog(session: Session): Promise<void> {
    const queries = [this.#sql.tables(), this.#sql.indexes(), this.#sql.allBehind()];
    const [tables, indexes, behind] = await session.run(queries);
    this.#loadCatalog(tables, indexes);
    for (const [id] of rowsIn(behind)) this.#noteIndexBehind(Number(id));
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
    const completions = await this.#completeInParts(session, misses.gaps);
    const isInTurn = this.#isInTurn && session === this.#turnOf;
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
    else if (completions.size > 0) {
      const read = await this.#readCompleted(session, completions, reads);
      if (read === undefined) return;
      ({ results, seq } = read);
    } else {
      this.#completed = 0;
      const [first, ...others] = await this.#onSnapshot(session, [this.#sql.pull(tip), ...reads]);
      const pulled = rowsIn(first);
      results = others;
      if (epoch !== this.replica.epoch) return;
      seq = Number(pulled.at(-1)?.[0] ?? -1);
      await this.#applyPulled(session, tip, pulled);
    }
    this.replica.take(seq, () => {
      for (const [at, { name, keys }] of rows.entries()) this.#takeRows(name, keys, rowsIn(results[at]));
      for (const [at, group] of gaps.entries()) this.#takeRanges(group, rowsIn(results[rows.length + at]), completions);
    });
  }

  #takeRows(name: string, keys: readonly string[], rows: readonly ResultRow[]): void {
    const found = new Map(rows.map((row) => [row[0] as string, rowOf(row)]));
    for (const key of keys) this.replica.table(name).fetched(key, found.get(key));
  }

  /** `completed`: indexes that lacked no entry when they were read. */
  #takeRanges(gaps: readonly Gap[], rows: readonly ResultRow[], completed: ReadonlyMap<number, unknown>): void {
    const found = gaps.map((): { row: FetchedRow; position: string }[] => []);
    for (const [n, ...row] of rows) found[Number(n)]?.push({ row: rowOf(row), position: row[4] as string });
    // Otherwise entries were left out in what was read: they are completed before it is read again.
    for (const [n, gap] of gaps.entries())
      if (completed.has(this.#columnOf(gap) ?? 0) || !this.#isBehind(gap))
        this.replica.table(gap.table.name).fetchedRange(gap, found[n] ?? []);
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
    this.#committed(batch);
    return true;
  }

  /**
   * As `commit`, with statements of the host in the same transaction: both or neither. They come before the lock, as the host's own
   * transactions do when they come to the store. Rejects with a `HostStatementError` when one of them fails.
   */
  async commitWith(session: Session, host: readonly Statement[], batch: Batch, changes: Overlay): Promise<boolean> {
    const own = [
      this.#sql.append(batch, this.replica.tip, this.#indexesWith(batch)),
      this.#sql.assertTip(batch),
      ...this.#sql.changes(batch, changes, (name) => this.catalog.table(name)),
    ];
    const isInTurn = this.#isInTurn;
    try {
      await session.run(isInTurn ? [...host, ...own, { text: 'COMMIT' }] : [...host, this.#sql.lock(), ...own]);
    } catch (thrown) {
      if (thrown instanceof ConnectionLost || !isServerError(thrown)) throw thrown;
      this.#isInTurn = false;
      if (isInTurn) await session.run([{ text: 'ROLLBACK' }]);
      const failed = (thrown as { completed?: number }).completed ?? host.length;
      if (failed < host.length && !isPassing(thrown) && !isOfStore(thrown))
        throw new HostStatementError(thrown, isInTurn);
      if (thrown.code === '22012' && failed >= host.length) return false;
      throw thrown;
    }
    this.#isInTurn = false;
    this.#committed(batch);
    return true;
  }

  /** A batch that this process has appended. */
  #committed(batch: Batch): void {
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

  /** The last batch that was removed here: those before it need not be passed again, which takes long while a snapshot is open. */
  #removedTo = -1;
  #shortened = 0;

  /** Removes what nobody needs of the chain any more. */
  async shorten(session: Session): Promise<void> {
    this.#shortened += 1;
    if (this.#shortened % lookEvery === 0) this.#removedTo = -1;
    const [removed] = await session.run([this.#sql.shorten(kept, this.#removedTo)]);
    const last = removed?.rows[0]?.[0] ?? null;
    if (last !== null) this.#removedTo = Number(last);
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
      // Empty, so that it takes no longer than the table is read. Its entries come when somebody needs them.
      await session.run([this.#sql.createIndex(id, column)]);
      if (!isNew) await session.run([this.#sql.beginFill(id, column)]);
    }
  }

  /** Begins to complete the indexes whose entries others have left out, by their IDs. Ends a turn. */
  async #completeInParts(session: Session, gaps: readonly Gap[]): Promise<ReadonlyMap<number, EntryCompletion>> {
    const completions = new Map<number, EntryCompletion>();
    for (const gap of gaps) {
      if (!this.#isBehind(gap)) continue;
      const { id, definitions } = this.catalog.table(gap.table.name);
      const column = this.#columnOf(gap) as number;
      const definition = definitions.get(gap.order);
      if (definition !== undefined && !completions.has(column))
        completions.set(column, new EntryCompletion(session, this.#sql, { table: id, column, definition }));
    }
    // Not within a turn, which may be undone.
    if (completions.size > 0 && session === this.#turnOf) await this.endTurn(session);
    for (const completion of completions.values()) await completion.inParts();
    return completions;
  }

  /** How often in a row something was read of indexes that others had left incomplete. */
  #completed = 0;

  /**
   * Completes the indexes, and reads. What others leave out from then on is in their batches, which are applied to what was read (`seq`). If that
   * is not enough again and again, it is read while nobody else commits.
   */
  async #readCompleted(
    session: Session,
    completions: ReadonlyMap<number, EntryCompletion>,
    reads: readonly Statement[],
  ): Promise<{ results: StatementResult[]; seq: number } | undefined> {
    await this.pull(session);
    const { epoch } = this.replica;
    const noticed = new Map<number, number | undefined>();
    const isUnderLock = this.#completed >= patience;
    this.#completed += 1;
    let results: StatementResult[] = [];
    let seq = -1;
    await this.#transaction(session, async () => {
      const { tip } = this.replica;
      const [pulled] = await session.run([this.#sql.pull(tip)]);
      const rows = rowsIn(pulled);
      if (epoch !== this.replica.epoch || !continuesFrom(tip, rows))
        throw new ConnectionLost('The history has changed: it is tried again.');
      seq = Number(rows.at(-1)?.[0]);
      await this.#applyPulled(session, tip, rows);
      for (const [column, completion] of completions) {
        noticed.set(column, this.#behind.get(column));
        await completion.finish();
      }
      if (isUnderLock) results = await session.run(reads);
    });
    if (!isUnderLock) {
      const { tip } = this.replica;
      const [first, ...others] = await this.#onSnapshot(session, [this.#sql.pull(tip), ...reads]);
      if (epoch !== this.replica.epoch) return undefined;
      results = others;
      await this.#applyPulled(session, tip, rowsIn(first));
    }
    if (epoch !== this.replica.epoch) return undefined;
    // Otherwise others have left out more meanwhile.
    for (const [column, times] of noticed) if (this.#behind.get(column) === times) this.#behind.delete(column);
    return { results, seq };
  }
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
export function indexesAt(batches: readonly ResultRow[]): ReadonlyMap<string, number> {
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
