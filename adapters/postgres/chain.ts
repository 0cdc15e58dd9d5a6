import { randomUUID } from 'node:crypto';
import type { StorageError } from '../../src/ports/storage.js';
import type { Overlay } from '../../src/storage/overlay.js';
import { type AnyTable, storageFailure } from '../../src/storage/records.js';
import { type Batch, type FetchedRow, type OrderName, orderName, parseTables } from './batch.js';
import { batchOf, Catalog } from './catalog.js';
import { EntryCompletion } from './complete-entries.js';
import { type Gap, type Misses, Replica } from './replica.js';
import { ServerTime } from './server-time.js';
import { ConnectionLost, isOfStore, isPassing, isServerError, type Session, TryAgain } from './session.js';
import { indexesEvery, layout, type Sql } from './sql.js';
import type { Statement, StatementResult } from './wire.js';

type ResultRow = StatementResult['rows'][number];

/**
 * What is kept of the chain for processes that were paused: the last minutes, but no less and no more than so many batches; and how many are
 * removed at once. Who was paused for longer reads anew what it needs.
 */
const kept = { minutes: 10, atLeast: 10_000, atMost: 50_000, most: 250 };
/** So often in a row, what others leave out of an index is completed without holding them up for longer. */
const mostTries = 3;
/** Every so many times the beginning of the chain is looked for anew. */
const lookEvery = 100;
/** How long a table that is to be changed is waited for, in milliseconds: everybody waits for the lock meanwhile. */
const tableLockMs = 250;
/** How long statements of a host may wait for locked rows in a turn, in milliseconds: everybody waits for its end. */
const hostLockMs = 10;

/** A statement of the host has failed: nothing of its transaction was stored. */
export class HostStatementError extends Error {
  constructor(
    /** The error of `pg`. */
    readonly original: unknown,
    /** Nobody can have committed meanwhile: it was not made from an older state. */
    readonly isFinal: boolean,
  ) {
    super('a statement of the host has failed');
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
  /** Something waits for the lock of the store: until it settles, sessions that hold the lock without working are ended. */
  locking<T>(work: Promise<T>): Promise<T>;
  /**
   * Who has the lock waits for a table. Commits that wait for the lock keep the tables that they will write: until it settles, they are
   * cancelled, which they repeat.
   */
  clearing<T>(work: Promise<T>): Promise<T>;
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
  /** Indexes some of whose entries were left out by programs that do not know them, and how often that was noticed. */
  readonly #behind = new Map<number, number>();
  /** The batch as of which the catalog was read, at least, and the last one known here that has changed it. */
  #catalogRead = 0;
  #catalogChanged = 0;
  /** The newest epoch that has ended: a read and a write may find the same fork, which is reported once. */
  #recovered = -1;
  /** Whether the writer's connection is in a transaction that holds the lock. */
  #isInTurn = false;
  /** The batch that this process has sent and whose acknowledgement has not come: a reader may see it before. */
  #sent: Batch | undefined;

  constructor(sql: Sql, budget: number, host: ChainHost) {
    this.#sql = sql;
    this.#host = host;
    this.replica = new Replica(budget);
  }

  get isInTurn(): boolean {
    return this.#isInTurn;
  }

  // Begin.

  /** Otherwise what follows the lock would not see what was committed before it. */
  #isolationFault(level: string): StorageError | undefined {
    return this.#sql.hasLocks && level !== 'read committed' ? unsuitable(level) : undefined;
  }

  /** Creates the tables if there are none, and reads where the chain is. */
  async open(session: Session): Promise<StorageError | undefined> {
    const [there, isolation] = await session.run([this.#sql.hasStore(), this.#sql.isolation()]);
    const refused = this.#isolationFault(String(isolation?.rows[0]?.[0]));
    if (refused !== undefined) return refused;
    if (there?.rows[0]?.[0] !== 't') await this.#create(session).catch(createdByOther);
    const sent = performance.now();
    const [format, time] = await session.run([this.#sql.format(), this.#sql.time()]);
    this.time.measured(sent, Number(time?.rows[0]?.[0]));
    const found = Number(format?.rows[0]?.[0]);
    if (found > layout)
      return storageFailure('too_new', `The store has layout ${found}, and this version reads ${layout}: update it.`);
    await this.#restart(session);
    return undefined;
  }

  /** Without locks, one of two that create it at the same time fails, and finds it created. */
  async #create(session: Session): Promise<void> {
    await this.#host.locking(session.run([{ text: 'BEGIN' }, ...this.#sql.lock()]));
    await this.#within(session, async () => {
      const [there] = await session.run([this.#sql.hasStore()]);
      if (there?.rows[0]?.[0] === 't') return;
      // The right to create schemas is needed only for that.
      const [schema] = await session.run([this.#sql.hasSchema()]);
      if (schema?.rows[0]?.[0] !== 't') await session.run([this.#sql.createSchema()]);
      await session.run(this.#sql.createStore(randomUUID()));
    });
  }

  /** Several round trips while nobody else commits; only for what is rare. */
  async #transaction(session: Session, work: () => Promise<void>): Promise<void> {
    await this.#exclude(session);
    await this.#within(session, work);
  }

  /** To the end of a transaction that has begun. */
  async #within(session: Session, work: () => Promise<void>): Promise<void> {
    session.hold();
    try {
      await work();
      await session.run([{ text: 'COMMIT' }]);
      session.release();
    } catch (thrown) {
      session.abandon();
      throw thrown;
    }
  }

  /** Begins a transaction that nobody else commits beside. Tables that others read for long are not waited for meanwhile. */
  async #exclude(session: Session): Promise<void> {
    const begin = { text: 'BEGIN' };
    const shortly = { text: `SET LOCAL lock_timeout = ${tableLockMs}` };
    if (this.#sql.hasLocks) {
      await this.#host.locking(session.run([begin, ...this.#sql.lock(), shortly]));
      return;
    }
    // The batch after the tip is nobody else's: those who append wait for the end of this transaction, and have lost the race.
    await this.pull(session);
    const batch = this.#emptyBatch();
    const append = this.#sql.append(batch, this.replica.tip, this.#indexesWith(batch));
    const results = await this.#host.locking(session.run([begin, append, shortly])).catch(lostRaceOf);
    if (results?.[1]?.count !== 1) throw new TryAgain();
  }

  #emptyBatch(): Batch {
    const { seq, last } = this.replica.tip;
    return { seq: seq + 1, id: randomUUID(), last, tables: [] };
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
    const tip = start?.rows.at(-1);
    if (tip === undefined) throw new Error('The store has no chain: restore the database from a backup.');
    this.catalog.load(catalogRows(tables, indexes));
    this.#behind.clear();
    for (const [id] of rowsIn(behind)) this.#noteIndexBehind(Number(id));
    this.replica.reset(tipOf(tip), indexesAt(rowsIn(start)));
    this.#catalogRead = this.replica.tip.seq;
    this.#catalogChanged = 0;
  }

  // Read.

  /** Learns what others have committed. */
  async pull(session: Session): Promise<void> {
    const { tip, epoch } = this.replica;
    const own = this.#sent;
    const sent = performance.now();
    const asked = this.time.isDue ? [this.#sql.time()] : [];
    const [pulled, time] = await session.run([this.#sql.pull(tip, own), ...asked]);
    if (time !== undefined) this.time.measured(sent, Number(time.rows[0]?.[0]));
    if (epoch === this.replica.epoch) await this.#applyPulled(session, tip, rowsIn(pulled), own);
  }

  /** `sent`: the batch of this process whose content was not asked for. */
  async #applyPulled(session: Session, from: Replica['tip'], rows: readonly ResultRow[], sent?: Batch): Promise<void> {
    if (!continuesFrom(from, rows)) return this.#recover(session);
    for (const row of rows) {
      const { seq, id, last } = tipOf(row);
      if (seq !== this.replica.tip.seq + 1) continue;
      const own = sent?.id === id ? sent : undefined;
      const batch: Batch = own ?? { seq, id, last, tables: parseTables(row[3] ?? '[]') };
      if (batch.tables.length === 0) this.#catalogChanged = seq;
      for (const { name, orders } of batch.tables) this.#noteBehind(name, orders);
      this.#host.changed(this.replica.apply(batch, own !== undefined));
    }
    await this.refresh(session);
  }

  /**
   * Reads the catalog again if it has changed since. What was read of the old one cannot be wrong, but new columns have to be known before a
   * batch is decided: nothing may be awaited in between, because reads learn of changes at any time.
   */
  async refresh(session: Session): Promise<void> {
    for (let tries = 0; !this.isCatalogCurrent; tries += 1) {
      const { epoch } = this.replica;
      const [tip, tables, indexes, behind] = await session.run([
        this.#sql.tip(),
        this.#sql.tables(),
        this.#sql.indexes(),
        this.#sql.allBehind(),
      ]);
      if (epoch !== this.replica.epoch) return;
      const seq = Number(tip?.rows[0]?.[0]);
      // Otherwise the other session has read a newer one meanwhile.
      if (seq >= this.#catalogRead) {
        this.catalog.load(catalogRows(tables, indexes));
        this.#catalogRead = seq;
        // Of indexes that were not known when the batches that left them out were read.
        for (const [id] of rowsIn(behind)) this.#noteIndexBehind(Number(id));
      }
      if (tries < 3) continue;
      // The server has lost the batch that changed it, which the next look at the chain shows.
      this.#catalogChanged = 0;
      throw new ConnectionLost('The history has changed: it is tried again.');
    }
  }

  get isCatalogCurrent(): boolean {
    return this.#catalogRead >= this.#catalogChanged;
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
    const { tip: before, epoch } = this.replica;
    const names = [...this.replica.indexes().keys()];
    await this.#restart(session);
    // The chain may only have been shortened past what is known here.
    const [found] = await session.run([this.#sql.traceOf(before)]);
    const [isThere, oldest] = found?.rows[0] ?? [];
    if (isThere !== 't' && Number(oldest) <= before.seq && epoch > this.#recovered) this.#host.forked();
    this.#recovered = Math.max(this.#recovered, epoch);
    this.#host.changed([...new Set([...names, ...this.replica.indexes().keys()])]);
  }

  /**
   * Whether this session has a turn in which it can read what is missing. A few entries are completed in it: before the next turn, others who
   * write without a pause would leave out more. For many, the turn is ended.
   */
  async #staysInTurn(session: Session, completions: ReadonlyMap<number, EntryCompletion>): Promise<boolean> {
    if (this.#guests.has(session)) return true;
    if (!this.#isInTurn || session !== this.#turnOf) return false;
    if (await areShort(completions)) return true;
    await this.endTurn(session);
    return false;
  }

  /** Reads what a run has missed, together with what others have committed, in one round trip. May end a turn. */
  async fetch(session: Session, misses: Misses): Promise<void> {
    const completions = this.#completionsOf(session, misses.gaps);
    const isInTurn = await this.#staysInTurn(session, completions);
    const rows = [...misses.rows].map(([name, keys]) => ({ name, keys: [...keys] }));
    const gaps = groupedByOrder(misses.gaps);
    const reads = [
      ...rows.map(({ name, keys }) => this.#sql.rowsOf(this.catalog.table(name), keys)),
      ...gaps.map((each) => this.#sql.ranges(this.catalog.table(each[0].table.name), each)),
    ];
    const { tip, epoch } = this.replica;
    let results: StatementResult[];
    let seq = tip.seq;
    if (isInTurn) {
      for (const completion of completions.values()) await completion.finish();
      results = await session.run(reads);
    } else if (completions.size > 0) {
      const read = await this.#readCompleted(session, completions, reads);
      if (read === undefined) return;
      ({ results, seq } = read);
    } else {
      const sent = this.#sent;
      const [first, ...others] = await this.#onSnapshot(session, [this.#sql.pull(tip, sent), ...reads]);
      const pulled = rowsIn(first);
      results = others;
      if (epoch !== this.replica.epoch) return;
      seq = Number(pulled.at(-1)?.[0] ?? -1);
      await this.#applyPulled(session, tip, pulled, sent);
    }
    this.replica.take(seq, () => {
      for (const [at, { name, keys }] of rows.entries()) this.#takeRows(name, keys, rowsIn(results[at]));
      for (const [at, group] of gaps.entries()) this.#takeRanges(group, rowsIn(results[rows.length + at]), completions);
    });
  }

  #takeRows(name: string, keys: readonly string[], rows: readonly ResultRow[]): void {
    const found = new Map(rows.map((row) => [row[0], rowOf(row)]));
    for (const key of keys) this.replica.table(name).fetched(key, found.get(key));
  }

  /** `completed`: indexes that lacked no entry when they were read. */
  #takeRanges(gaps: readonly Gap[], rows: readonly ResultRow[], completed: ReadonlyMap<number, unknown>): void {
    const found = gaps.map((): { row: FetchedRow; position: string }[] => []);
    for (const [n, ...row] of rows) found[Number(n)]?.push({ row: rowOf(row), position: String(row[4]) });
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
    const results = await this.#host.locking(
      session.run([
        { text: 'BEGIN' },
        { text: "SET LOCAL idle_in_transaction_session_timeout = '500ms'" },
        ...this.#sql.lock(),
        this.#sql.pull(tip),
      ]),
    );
    session.hold();
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
  async needsTransaction(session: Session, misses: Misses): Promise<boolean> {
    return misses.unprepared.size > 0 || !(await areShort(this.#completionsOf(session, misses.gaps)));
  }

  /** Ends a turn in which nothing was committed. */
  async endTurn(session: Session): Promise<void> {
    if (!this.#isInTurn) return;
    await this.#ended(session, [{ text: 'ROLLBACK' }]);
  }

  /** Runs the last statements of a turn. The connection of a transaction that has failed is not used again. */
  async #ended(session: Session, statements: readonly Statement[], isBoundFirst = false): Promise<StatementResult[]> {
    this.#isInTurn = false;
    try {
      return await session.run(statements, isBoundFirst);
    } catch (thrown) {
      session.abandon();
      throw thrown;
    } finally {
      session.release();
    }
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
    const lock = this.#sql.lock();
    const isInTurn = this.#isInTurn;
    this.#sent = batch;
    const results = await (isInTurn
      ? this.#ended(session, [append, ...rows, { text: 'COMMIT' }], true)
      : this.#host.locking(session.run([...lock, append, ...rows], true)).catch(lostRaceOf)
    ).finally(() => {
      this.#sent = undefined;
    });
    if (results?.[isInTurn ? 0 : lock.length]?.count !== 1) return false;
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
      await (isInTurn
        ? this.#ended(session, [shortly, ...host, ...own, { text: 'COMMIT' }])
        : this.#host.locking(session.run([...host, ...this.#sql.lock(), ...own])));
    } catch (thrown) {
      if (thrown instanceof ConnectionLost || !isServerError(thrown)) throw thrown;
      return lostWith(thrown, host.length, isInTurn);
    }
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

  /**
   * Whether a batch was appended whose acknowledgement was lost. An empty batch is appended first. When it was not there, it will never
   * be, although the network may deliver it later; when it was, the empty one is as durable as an acknowledgement must be: a server that was
   * waiting for its standby when the connection was lost shows what the standby does not have.
   */
  async wasAppended(session: Session, batch: Batch): Promise<boolean> {
    const statements = [
      { text: 'BEGIN' },
      ...this.#sql.lock(),
      this.#sql.appendEmpty(randomUUID()),
      this.#sql.traceOf(batch),
      { text: 'COMMIT' },
    ];
    const results = await this.#host.locking(session.run(statements)).catch(lostRaceOf);
    if (results === undefined) throw new TryAgain();
    return results.at(-2)?.rows[0]?.[0] === 't';
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
      if (this.#sql.hasLocks) {
        const { tip, epoch } = this.replica;
        const [pulled] = await session.run([this.#sql.pull(tip)]);
        if (epoch !== this.replica.epoch || !continuesFrom(tip, rowsIn(pulled)))
          throw new ConnectionLost('The history has changed: it is tried again.');
        await this.#applyPulled(session, tip, rowsIn(pulled));
      }
      // What is created here is known to others, and here, when it is committed.
      const created = new Catalog();
      let isChanged = false;
      for (const table of tables) {
        created.load(catalogRows(...(await this.#readCatalog(session))));
        if (created.isPrepared(table)) continue;
        await this.#extend(session, table, created);
        isChanged = true;
      }
      // So that all learn of it before they write. Without locks the transaction has begun with it.
      if (isChanged && this.#sql.hasLocks) await session.run([this.#sql.appendEmpty(randomUUID())]);
    });
    await this.pull(session);
    for (const table of tables) this.catalog.isPrepared(table);
  }

  async #readCatalog(session: Session): Promise<Parameters<typeof catalogRows>> {
    const [tables, indexes] = await session.run([this.#sql.tables(), this.#sql.indexes()]);
    return [tables, indexes];
  }

  async #extend(session: Session, table: AnyTable, catalog: Catalog): Promise<void> {
    const [tables, indexes] = await this.#readCatalog(session);
    const next = (result: StatementResult | undefined): number =>
      rowsIn(result).reduce((most, [id]) => Math.max(most, Number(id)), 0) + 1;
    const isNew = !catalog.has(table.name);
    const id = isNew ? next(tables) : catalog.table(table.name).id;
    if (isNew) await session.run(this.#sql.createTable(id, table.name));
    else await this.#host.clearing(session.run([this.#sql.lockRows(id)]));
    for (const [at, index] of catalog.missing(table).entries()) {
      const column = next(indexes) + at;
      await session.run(this.#sql.addColumn(id, column, orderName(index)));
      // Empty, so that it takes no longer than the table is read. Its entries come when somebody needs them.
      await session.run([this.#sql.createIndex(id, column)]);
      if (!isNew) await session.run([this.#sql.beginFill(id, column)]);
    }
  }

  /** How often in a row an index was completed, and was incomplete again before it was read. By its ID. */
  readonly #tries = new Map<number, number>();

  /** For the indexes whose entries others have left out, by their IDs. */
  #completionsOf(session: Session, gaps: readonly Gap[]): ReadonlyMap<number, EntryCompletion> {
    const completions = new Map<number, EntryCompletion>();
    for (const gap of gaps) {
      if (!this.#isBehind(gap)) continue;
      const { id, definitions } = this.catalog.table(gap.table.name);
      const column = this.#columnOf(gap);
      const definition = definitions.get(gap.order);
      if (column !== undefined && definition !== undefined && !completions.has(column))
        completions.set(column, new EntryCompletion(session, this.#sql, { table: id, column, definition }));
    }
    return completions;
  }

  /**
   * Completes the indexes, and reads. What others leave out from then on is in their batches, which are applied to what was read (`seq`). If that
   * is not enough again and again, it is read while nobody else commits.
   */
  async #readCompleted(
    session: Session,
    completions: ReadonlyMap<number, EntryCompletion>,
    reads: readonly Statement[],
  ): Promise<{ results: StatementResult[]; seq: number } | undefined> {
    const isUnderLock = [...completions.keys()].some((column) => (this.#tries.get(column) ?? 0) >= mostTries);
    if (!isUnderLock) for (const completion of completions.values()) await completion.inParts();
    await this.pull(session);
    const { epoch } = this.replica;
    const noticed = new Map<number, number | undefined>();
    for (const column of completions.keys())
      this.#tries.set(column, isUnderLock ? 0 : (this.#tries.get(column) ?? 0) + 1);
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

async function areShort(completions: ReadonlyMap<number, EntryCompletion>): Promise<boolean> {
  for (const completion of completions.values()) if (!(await completion.isShort())) return false;
  return true;
}

function catalogRows(
  tables: StatementResult | undefined,
  indexes: StatementResult | undefined,
): Parameters<Catalog['load']>[0] {
  return {
    tables: rowsIn(tables).map(([id, name]) => ({ id: Number(id), name: String(name) })),
    indexes: rowsIn(indexes).map(([id, tableId, order]) => ({
      ...{ id: Number(id), tableId: Number(tableId), order: String(order) },
    })),
  };
}

/** False for a lost race. Throws what else has gone wrong in a commit with statements of the host. */
function lostWith(thrown: Error & { code: string; completed?: number }, statements: number, isInTurn: boolean): false {
  const failed = (thrown.completed ?? statements) - (isInTurn ? 1 : 0);
  if (failed >= statements) {
    if (thrown.code === '22012' || isLostRace(thrown)) return false;
    throw thrown;
  }
  if (isInTurn && waitsForOthers.test(thrown.code)) throw new HostRowsLocked();
  if (isPassing(thrown) || isOfStore(thrown)) throw thrown;
  throw new HostStatementError(thrown, isInTurn);
}

const unsuitable = (level: string): StorageError =>
  storageFailure(
    'io',
    `Transactions of this role are "${level}" by default: ALTER ROLE … SET default_transaction_isolation = 'read committed'.`,
  );

/** Somebody else has appended the batch after the tip. */
const isLostRace = (thrown: unknown): boolean =>
  isServerError(thrown) && (thrown.code === '40001' || (thrown.code === '23505' && thrown.table === 'sb_chain'));

/** Without locks, two may create a store at the same time. */
function createdByOther(thrown: unknown): never {
  throw isServerError(thrown) && /^(42P0[67]|23505|40001)$/.test(thrown.code) ? new TryAgain() : thrown;
}

function lostRaceOf(thrown: unknown): undefined {
  if (!isLostRace(thrown)) throw thrown;
}

const rowsIn = (result: StatementResult | undefined): StatementResult['rows'] => result?.rows ?? [];

function tipOf([seq, id, last]: ResultRow): Replica['tip'] {
  return { seq: Number(seq), id: String(id), last: Number(last) };
}

function rowOf([rowKey, created, modified, text]: ResultRow): FetchedRow {
  return { rowKey: String(rowKey), createIndex: Number(created), modifyIndex: Number(modified), text: String(text) };
}

/** Whether history continues from a batch: it comes first in what was pulled. */
function continuesFrom({ seq, id }: Replica['tip'], [first]: readonly ResultRow[]): boolean {
  return first !== undefined && Number(first[0]) === seq && first[1] === id;
}

/** Index of the last change of each table, from a batch that lists them and those after it. */
export function indexesAt(batches: readonly ResultRow[]): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  for (const [, , , all, changes] of batches) {
    for (const [name, index] of Object.entries<number>(JSON.parse(all ?? '{}'))) known.set(name, index);
    for (const { name, index } of parseTables(changes ?? '[]')) known.set(name, index);
  }
  return known;
}

/** Gaps of one order and direction are read by one statement; those that begin at the same place, as one. */
function groupedByOrder(gaps: readonly Gap[]): (readonly [Gap, ...Gap[]])[] {
  const groups = new Map<string, Map<string, Gap>>();
  for (const gap of gaps) {
    const key = `${gap.table.name} ${gap.order} ${gap.reverse}`;
    const group = groups.get(key) ?? new Map<string, Gap>();
    groups.set(key, group);
    const begin = gap.reverse ? gap.upper : gap.lower;
    const same = group.get(begin) ?? gap;
    group.set(begin, {
      ...gap,
      lower: same.lower < gap.lower ? same.lower : gap.lower,
      upper: same.upper > gap.upper ? same.upper : gap.upper,
      limit: Math.max(same.limit, gap.limit),
    });
  }
  return [...groups.values()].flatMap((group) => {
    const [first, ...others] = group.values();
    return first === undefined ? [] : [[first, ...others] as const];
  });
}
