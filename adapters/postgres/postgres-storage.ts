import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { Logger } from '../../src/ports/logger.js';
import type { ReadView, Storage, StorageError, StoreFigures, WriteView, Written } from '../../src/ports/storage.js';
import { messageOf } from '../../src/shared/values.js';
import type { Overlay } from '../../src/storage/overlay.js';
import { awayMessage, closedFailure, storageFailure } from '../../src/storage/records.js';
import {
  HostTransactionError,
  type Outcome,
  type ReadWork,
  runRead,
  usedTwice,
  type Waiters,
  type WriteWork,
  waiters,
} from '../storage-kit/index.js';
import type { Batch } from './batch.js';
import { Chain, HostRowsLocked, HostStatementError } from './chain.js';
import { countFigures, readFigures, type StoreCounts } from './figures.js';
import { assertClient, HostCommit, type PgTransaction, type PostgresRows, runOn, statementsOf } from './host-commit.js';
import { Listener } from './listener.js';
import { Misses, Progress, type Replica, ReplicaSnapshot } from './replica.js';
import {
  ConnectionLost,
  failureOf,
  isInTheWay,
  isPassing,
  isRefusedConnection,
  isServerError,
  type Lent,
  Session,
  TryAgain,
} from './session.js';
import { Sql } from './sql.js';
import type { Statement } from './wire.js';

/** Where the store is, and how long it is waited for. */
interface StoreOptions {
  readonly schema: string;
  /** Milliseconds that reads and writes wait for the server. */
  readonly busyMs: number;
  /** Size of what is kept in memory, in characters. */
  readonly budget: number;
  readonly connect: () => Promise<Lent>;
  /** A connection on which notifications arrive. */
  readonly listen: () => Promise<Lent>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Whether the engine has advisory locks. */
  readonly hasLocks: boolean;
}

interface Waiting {
  readonly since: number;
  readonly resolve: (result: Result<unknown, unknown>) => void;
  readonly reject: (thrown: unknown) => void;
}

interface WaitingRead extends Waiting {
  run(snapshot: ReplicaSnapshot): Outcome;
  readonly progress: Progress;
}

interface WaitingWrite extends Waiting {
  readonly work: WriteWork;
  /** Statements of the host that are committed with it, of its last run. */
  readonly host?: { statements: readonly Statement[] };
}

const batchLimit = 512;
/** A batch takes no more writes after this many milliseconds. */
const batchMs = 8;
/** After a lost race this process asks for turns, until so many in a row had no other writer. */
const turnsAfterLoss = 20;
/** Without locks, the random waits after lost races become longer up to this many of them, then 32 ms. */
const mostLosses = 5;
/** Waits between tries while the server is away, in milliseconds. */
const retry = { first: 5, last: 500 };
/** How often others' commits are looked for while somebody waits, in milliseconds: with notifications, and without. */
const poll = { notified: 250, blind: 25 };
/** How often commits that keep a table from being changed are cancelled, in milliseconds. */
const clearEveryMs = 20;
/** After so many milliseconds at the lock it is checked who holds it. */
const longWaitMs = 1000;
/** A connection that has not answered for so long, or for half of the time that callers wait, is given up. */
const leastAnswerMs = 5000;
/** How often it is logged that the server is away; what depends on the store logs it at other times. */
const logEveryMs = 2000;
/** How often the chain is shortened, in batches of this process. */
const shortenEvery = 100;

const nothing = (): void => undefined;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A store in a schema of a PostgreSQL database. */
export interface PostgresStorage extends Storage {
  /**
   * The storage for one write that is committed together with your own rows in the same database, both or neither: what
   * `alongside` of `engine.transaction` uses.
   *
   * ```ts
   * await engine.transaction((tx) => {
   *   tx.alongside((sql) => sql.run('INSERT INTO orders (id) VALUES ($1)', order.id));
   *   return tx.as(principal).jobs.dispatch('invoice');
   * });
   * ```
   *
   * If the operation is refused, nothing is executed. If one of your statements fails, the operation is rolled back and its promise
   * rejects with the error of `pg`, such as a violated constraint; a failure of the server is the operation's `storage_failed`. The promise
   * rejects with a `HostTransactionError` if `rows` is asynchronous, tries to end the transaction or names tables of the store, or if the
   * operation writes a second time.
   */
  alongside(rows: PostgresRows): Storage;
  /**
   * The storage for one write that finishes a transaction of your own, both or neither: what `commitWith` of `engine.transaction` uses. Begin the
   * transaction as READ COMMITTED on a client of `pg`, and make your statements there.
   *
   * ```ts
   * const client = await pool.connect();
   * await client.query('BEGIN');
   * await client.query('INSERT INTO orders (id) VALUES ($1)', [order.id]);
   * await engine.transaction((tx) => {
   *   tx.commitWith(client);
   *   return tx.as(principal).jobs.dispatch('invoice');
   * });
   * client.release();
   * ```
   *
   * If the operation is refused, your transaction is still open and as it was: roll it back, or continue. If COMMIT itself fails, for example
   * because of a deferred constraint, the transaction is over and the promise rejects with the error of `pg`. The promise rejects with a
   * `HostTransactionError`, and nothing is written, if no transaction is open there, if it has failed, is read-only, REPEATABLE READ or
   * SERIALIZABLE, or is one of another database, and if the operation writes a second time. Do not use the client until the promise settles.
   * Throws a TypeError for a pool, and for a client with `pipeline: true`.
   */
  commitWith(client: PgTransaction): Storage;
}

/** The storage of one process over a chain in PostgreSQL. */
export class PostgresStore {
  readonly #options: StoreOptions;
  readonly #answerMs: number;
  readonly #chain: Chain;
  readonly #writer: Session;
  readonly #reader: Session;
  readonly #waiting: Waiters = waiters();
  #writes: WaitingWrite[] = [];
  #reads: WaitingRead[] = [];
  /** Those who wait for figures. */
  #figures: ((result: Result<StoreFigures, StorageError>) => void)[] = [];
  readonly #counts: StoreCounts = { optimistic: 0, turn: 0, racesLost: 0 };
  #writing: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  readonly #listener: Listener;
  readonly #sql: Sql;
  /** Reads wait for what they have missed: nothing of it may be forgotten. */
  #isFetching = false;
  /** Turns of hosts, which use what they have fetched. */
  #keeping = 0;
  /** Operations that finish transactions of hosts. */
  readonly #finishing = new Set<Promise<unknown>>();
  #polling = false;
  #isMeasuring = false;
  #closing: Promise<void> | undefined;
  /** From then on, an answer of the server is not waited for any more. */
  #closeBy = Number.POSITIVE_INFINITY;
  #isOpen = true;
  #turns = 0;
  #batches = 0;
  /** Races that were lost in a row. */
  #losses = 0;
  /** How many writes the next batch takes at most: fewer while one that fails is looked for. */
  #most = batchLimit;
  #loggedAt = Number.NEGATIVE_INFINITY;
  /** How often the server has lost what was known here. */
  #forks = 0;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#answerMs = Math.max(leastAnswerMs, options.busyMs / 2);
    this.#writer = new Session(options.connect, this.#answerMs);
    this.#reader = new Session(options.connect, this.#answerMs);
    this.#sql = new Sql(options.schema, { lockMs: Math.floor(0.8 * this.#answerMs), hasLocks: options.hasLocks });
    this.#listener = new Listener(options.listen, this.#sql.channel, {
      hint: () => this.#look(),
      silence: () =>
        options.logger.warn(
          {},
          'Notifications of the database do not arrive: commits of other processes are looked for every 25 ms. Behind a pooler, name the server as `listenUrl`',
        ),
    });
    this.#chain = new Chain(this.#sql, options.budget, {
      changed: (tables) => this.#waiting.wake(tables),
      forked: () => this.#forked(),
      locking: (work) => this.#locking(work),
      clearing: (work) => this.#clearing(work),
    });
  }

  /** Undefined when the store can be used. */
  async open(): Promise<StorageError | undefined> {
    const deadline = performance.now() + this.#options.busyMs;
    for (let wait = retry.first; ; wait = Math.min(2 * wait, retry.last)) {
      try {
        const refused = await this.#chain.open(this.#writer);
        if (refused !== undefined) await this.close();
        return refused;
      } catch (thrown) {
        const isRefused = !isPassing(thrown) || isRefusedConnection(thrown);
        if (isRefused || performance.now() > deadline) {
          this.#isOpen = false;
          this.#writer.abandon();
          return isRefused ? failureOf(thrown) : this.#busy(thrown);
        }
        await pause(wait);
      }
    }
  }

  storage(): PostgresStorage {
    return {
      ...this.#storage(),
      alongside: (rows) => this.#alongside(rows),
      commitWith: (client) => this.#commitWith(client),
    };
  }

  /** The storage for one operation with rows of the host. */
  #alongside(rows: PostgresRows): Storage {
    const host: { statements: readonly Statement[] } = { statements: [] };
    return this.#forOne('alongside', (work) =>
      this.#submitWrite(
        (view) =>
          work(view).map((value) => {
            host.statements = statementsOf(rows, { value, index: view.index });
            return value;
          }),
        host,
      ),
    );
  }

  /** The storage for one operation that finishes a transaction of the host. */
  #commitWith(client: PgTransaction): Storage {
    assertClient(client);
    if (!this.#options.hasLocks)
      throw new TypeError(
        'commitWith: the store was opened with `advisoryLocks: false`, without which nobody waits for a turn: use alongside',
      );
    return this.#forOne('commitWith', (work) => this.#finishFor(client, work));
  }

  #forOne(name: 'alongside' | 'commitWith', submit: (work: WriteWork) => Promise<Result<unknown, unknown>>): Storage {
    let isUsed = false;
    return {
      ...this.#storage(),
      write: <T, E>(work: (view: WriteView) => Result<T, E>) => {
        const written = isUsed ? Promise.reject(new HostTransactionError(usedTwice(name))) : submit(work);
        isUsed = true;
        return new ResultAsync(written as Promise<Result<Written<T>, E | StorageError>>);
      },
    };
  }

  #finishFor(client: PgTransaction, work: WriteWork): Promise<Result<unknown, unknown>> {
    if (this.#closing !== undefined) return Promise.resolve(err(closedFailure()));
    const { busyMs } = this.#options;
    const finishing = new HostCommit(
      {
        ...{ chain: this.#chain, sql: this.#sql, busyMs },
        look: (run) =>
          this.#read(run).then(
            (result): Outcome => ({ result }),
            (thrown: unknown): Outcome => ({ thrown }),
          ),
        atLock: (waiting) => this.#locking(waiting),
        keeping: async (turn) => {
          this.#keeping += 1;
          try {
            return await turn();
          } finally {
            this.#keeping -= 1;
          }
        },
        wasAppended: async (batch) => {
          const session = new Session(this.#options.connect, this.#answerMs);
          return this.#outcomeOf(session, batch).finally(() => session.close());
        },
        stored: () => this.#listener.notify(),
      },
      client,
      work,
    ).run();
    const settled = (): void => {
      this.#finishing.delete(finishing);
    };
    this.#finishing.add(finishing);
    finishing.then(settled, settled);
    return finishing;
  }

  #storage(): Storage {
    return {
      read: <T>(work: (view: ReadView) => T) =>
        new ResultAsync(this.#submitRead(work) as Promise<Result<T, StorageError>>),
      write: <T, E>(work: (view: WriteView) => Result<T, E>) =>
        new ResultAsync(this.#submitWrite(work) as Promise<Result<Written<T>, E | StorageError>>),
      waitForChange: (tables, after, signal) =>
        this.#waitForChange(
          tables.map(({ name }) => name),
          after,
          signal,
        ),
      now: () => this.#now(),
      figures: () => new ResultAsync(this.#submitFigures()),
      close: () => this.close(),
    };
  }

  close(): Promise<void> {
    this.#closeBy = Math.min(this.#closeBy, performance.now() + this.#options.busyMs);
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    while (this.#writing !== undefined || this.#reading !== undefined || this.#finishing.size > 0) {
      await Promise.allSettled(this.#finishing);
      await this.#writing;
      await this.#reading;
    }
    this.#isOpen = false;
    this.#waiting.releaseAll();
    this.#listener.close();
    this.#writer.close();
    this.#reader.close();
  }

  // Reads.

  #submitRead(work: ReadWork): Promise<Result<unknown, unknown>> {
    if (this.#closing !== undefined) return Promise.resolve(err(closedFailure()));
    return this.#read((snapshot) => runRead(snapshot, work, () => undefined) as Outcome);
  }

  #read(run: WaitingRead['run']): Promise<Result<unknown, unknown>> {
    return new Promise((resolve, reject) => {
      this.#reads.push({ run, progress: new Progress(), since: performance.now(), resolve, reject });
      this.#reading ??= this.#readAll();
    });
  }

  /** All reads that wait are confirmed together, and what they miss is read together. */
  async #readAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    let misses = new Misses();
    let wait = retry.first;
    while (this.#reads.length > 0 || this.#figures.length > 0) {
      if (this.#figures.length > 0) await this.#answerFigures();
      const asked = this.#reads;
      this.#reads = [];
      try {
        if (misses.isEmpty) await this.#chain.pull(this.#reader);
        else await this.#learn(this.#reader, misses);
        misses = this.#runReads(asked);
        this.#isFetching = !misses.isEmpty;
        if (this.#writing === undefined) this.#trim();
        wait = retry.first;
      } catch (thrown) {
        misses = new Misses();
        this.#isFetching = false;
        this.#reader.abandon();
        this.#reads = [...asked, ...this.#reads];
        if (!isPassing(thrown)) this.#failReads(failureOf(thrown));
        else {
          this.#away(thrown);
          this.#reads = this.#expired(this.#reads);
          await pause(wait);
          wait = Math.min(2 * wait, retry.last);
        }
      }
    }
    this.#reading = undefined;
  }

  #submitFigures(): Promise<Result<StoreFigures, StorageError>> {
    if (this.#closing !== undefined) return Promise.resolve(err(closedFailure()));
    return new Promise((resolve) => {
      this.#figures.push(resolve);
      this.#reading ??= this.#readAll();
    });
  }

  /** On the connection that reads, between reads. They are not tried again. */
  async #answerFigures(): Promise<void> {
    const asked = this.#figures.splice(0);
    let result: Result<StoreFigures, StorageError>;
    try {
      const { families, notes } = await readFigures(this.#reader, this.#sql);
      result = ok({ families: [...families, ...countFigures(this.#counts, [this.#writer, this.#reader])], notes });
    } catch (thrown) {
      this.#reader.abandon();
      result = err(failureOf(thrown));
    }
    for (const resolve of asked) resolve(result);
  }

  /** What those have missed that could not be answered yet. */
  #runReads(asked: readonly WaitingRead[]): Misses {
    const misses = new Misses();
    for (const each of asked) {
      const snapshot = new ReplicaSnapshot(this.#chain.replica, (table) => this.#chain.catalog.isPrepared(table));
      const outcome = each.run(snapshot);
      if (snapshot.misses.isEmpty) {
        settle(each, outcome);
        continue;
      }
      try {
        each.progress.note(snapshot);
        misses.add(snapshot.misses);
        this.#reads.push(each);
      } catch (endless) {
        each.reject(endless);
      }
    }
    return misses;
  }

  #failReads(error: StorageError): void {
    for (const each of this.#reads.splice(0)) each.resolve(err(error));
  }

  // Writes.

  #submitWrite(work: WriteWork, host?: WaitingWrite['host']): Promise<Result<unknown, unknown>> {
    if (this.#closing !== undefined) return Promise.resolve(err(closedFailure()));
    return new Promise((resolve, reject) => {
      this.#writes.push({ work, since: performance.now(), resolve, reject, ...(host === undefined ? {} : { host }) });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    // Callers that come in the same turn of the event loop share a batch.
    await new Promise((resolve) => setImmediate(resolve));
    let wait = retry.first;
    while (this.#writes.length > 0) {
      try {
        await this.#writeBatch();
        wait = retry.first;
      } catch (thrown) {
        this.#chain.loseTurn(this.#writer);
        // A transaction that has failed may still be open there.
        if (!(thrown instanceof HostStatementError)) this.#writer.abandon();
        if (isPassing(thrown)) {
          this.#away(thrown);
          this.#writes = this.#expired(this.#writes);
          await pause(wait * (0.5 + Math.random() / 2));
          wait = Math.min(2 * wait, retry.last);
        } else this.#failWrites(thrown);
      }
      if (this.#writes.length === 0) await this.#chain.endTurn(this.#writer).catch(() => this.#writer.abandon());
    }
    this.#writing = undefined;
  }

  /** One batch, run on what is known until nothing is missing and nobody has committed meanwhile. */
  async #writeBatch(): Promise<void> {
    const { replica, catalog } = this.#chain;
    this.#trim();
    const progress = new Progress();
    for (;;) {
      if (this.#turns > 0 && !this.#chain.isInTurn) await this.#beginTurn();
      if (!this.#chain.isCatalogCurrent) await this.#chain.refresh(this.#writer);
      const snapshot = new ReplicaSnapshot(replica, (table) => catalog.isPrepared(table));
      const run = this.#run(snapshot);
      if (snapshot.misses.isEmpty) {
        if (await this.#commit(run, snapshot.misses)) return;
        continue;
      }
      try {
        progress.note(snapshot);
      } catch (endless) {
        // The others of its batch are none the worse for it.
        const [write] = this.#writes.splice(run.missing, 1);
        write?.reject(endless);
        return;
      }
      await this.#learn(this.#writer, snapshot.misses);
    }
  }

  /** What a run has missed. Tables come first: without them, nothing else could be looked for. */
  async #learn(session: Session, misses: Misses): Promise<void> {
    if (misses.unprepared.size > 0) await this.#chain.prepare(session, misses.unprepared);
    else await this.#chain.fetch(session, misses);
  }

  async #beginTurn(): Promise<void> {
    const { seq } = this.#chain.replica.tip;
    await this.#chain.beginTurn(this.#writer);
    this.#turns = this.#chain.replica.tip.seq === seq ? this.#turns - 1 : turnsAfterLoss;
  }

  #run(snapshot: ReplicaSnapshot): BatchRun {
    const taken: WaitingWrite[] = [];
    let missing = 0;
    const started = performance.now();
    const { outcomes, changes } = runOn(snapshot, () => {
      if (snapshot.misses.isEmpty) missing = taken.length;
      const next = this.#writes[taken.length];
      if (next === undefined || taken.length >= this.#most) return undefined;
      // Rows of a host are committed with their operation alone.
      if (taken.length > 0 && (next.host ?? taken[0]?.host) !== undefined) return undefined;
      if (taken.length > 0 && performance.now() - started > batchMs) return undefined;
      taken.push(next);
      return next.work;
    });
    return { tip: this.#chain.replica.tip, taken: taken.length, missing, outcomes, changes };
  }

  /** Forgets what is too much, unless somebody is about to use what was fetched. */
  #trim(): void {
    if (!this.#isFetching && this.#keeping === 0) this.#chain.replica.trim();
  }

  /** False when it has to run again. */
  async #commit(run: BatchRun, misses: Misses): Promise<boolean> {
    const { taken, outcomes, changes } = run;
    const [first] = outcomes;
    const host = this.#writes[0]?.host;
    if (host !== undefined && first !== undefined && 'result' in first && first.result.isOk()) {
      // Also without a change: what was committed can be looked for.
      if (!(await this.#store(run, misses, host.statements))) return false;
    } else if (changes.isChanged) {
      if (!(await this.#store(run, misses))) return false;
    } else if (this.#chain.isInTurn) await this.#chain.endTurn(this.#writer);
    else if (!(await this.#isCurrent(run))) return false;
    for (const [at, waiting] of this.#writes.slice(0, taken).entries()) settle(waiting, outcomes[at] as Outcome);
    this.#writes = this.#writes.slice(taken);
    this.#most = Math.min(batchLimit, 2 * this.#most);
    return true;
  }

  /** False when it was not stored, because somebody has committed before. */
  async #store(run: BatchRun, misses: Misses, host?: readonly Statement[]): Promise<boolean> {
    const chain = this.#chain;
    const { changes } = run;
    const batch = chain.batchOf(changes);
    const mode = chain.isInTurn ? 'turn' : 'optimistic';
    try {
      const committing =
        host === undefined
          ? chain.commit(this.#writer, batch, changes)
          : chain.commitWith(this.#writer, host, batch, changes);
      if (await committing) {
        this.#counts[mode] += 1;
        await this.#stored();
        return true;
      }
    } catch (thrown) {
      if (thrown instanceof ConnectionLost) return this.#lookFor(batch, run.taken);
      await this.#afterRefusal(thrown, run, misses);
      return false;
    }
    await this.#lostRace();
    return false;
  }

  /** Who has lost asks for turns, or waits a random time where there are no locks. */
  async #lostRace(): Promise<void> {
    this.#counts.racesLost += 1;
    if (this.#options.hasLocks) {
      this.#turns = turnsAfterLoss;
      return;
    }
    this.#losses = Math.min(this.#losses + 1, mostLosses);
    await pause(Math.random() * 2 ** this.#losses);
    await this.#chain.pull(this.#writer);
  }

  /** Whether nobody has committed since the state that it has run on. Reads may have learnt of it meanwhile. */
  async #isCurrent({ tip }: BatchRun): Promise<boolean> {
    await this.#chain.pull(this.#writer);
    return this.#chain.replica.tip.id === tip.id;
  }

  /** The server has refused a batch, which may be because of what others have committed. Rejects if it is not. */
  async #afterRefusal(thrown: unknown, run: BatchRun, misses: Misses): Promise<void> {
    if (thrown instanceof HostRowsLocked) {
      // Before the lock is taken, they can be waited for.
      this.#turns = 0;
      return;
    }
    if (thrown instanceof HostStatementError && !thrown.isFinal && !(await this.#isCurrent(run))) {
      await this.#lostRace();
      return;
    }
    if (!isServerError(thrown) || thrown.code !== '23505') throw thrown;
    // A row was taken for new that is there.
    this.#chain.loseTurn(this.#writer);
    for (const [table, keys] of misses.assumedNew) for (const key of keys) misses.row(table, key);
    await this.#chain.fetch(this.#writer, misses);
  }

  async #stored(): Promise<void> {
    this.#losses = 0;
    this.#listener.notify();
    this.#batches += 1;
    if (this.#batches % shortenEvery !== 0) return;
    // The batch is stored whatever becomes of this.
    await this.#chain.shorten(this.#writer).catch((thrown: unknown) => {
      if (!isServerError(thrown)) this.#writer.abandon();
    });
  }

  /** Whoever holds the lock for long without working has been stopped, or has vanished: its session is ended. */
  async #locking<T>(work: Promise<T>): Promise<T> {
    const end = async (): Promise<void> => {
      const session = new Session(this.#options.connect, longWaitMs);
      await session.run([this.#sql.endIdleHolders()]).catch(() => undefined);
      session.close();
    };
    const timer = setInterval(() => void end(), longWaitMs);
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }

  async #clearing<T>(work: Promise<T>): Promise<T> {
    const session = new Session(this.#options.connect, longWaitMs);
    let isOver = !this.#options.hasLocks;
    const cancel = async (): Promise<void> => {
      while (!isOver) {
        await session.run([this.#sql.cancelWaiting()]).catch(() => undefined);
        await pause(clearEveryMs);
      }
      session.close();
    };
    void cancel();
    try {
      return await work;
    } finally {
      isOver = true;
    }
  }

  async #lookFor(batch: Batch, taken: number): Promise<boolean> {
    this.#chain.loseTurn(this.#writer);
    return this.#outcomeOf(this.#writer, batch, () => {
      // Nothing of the others was sent.
      this.#writes = [...this.#writes.slice(0, taken), ...this.#expired(this.#writes.slice(taken))];
    });
  }

  /** A commit without an answer may have happened: it is never repeated, and never called failed, before that is known. */
  async #outcomeOf(session: Session, batch: Batch, waiting = nothing): Promise<boolean> {
    for (let wait = retry.first; ; wait = Math.min(2 * wait, retry.last)) {
      try {
        const isThere = await this.#chain.wasAppended(session, batch);
        await this.#chain.pull(session);
        return isThere;
      } catch (thrown) {
        if (!isPassing(thrown)) throw thrown;
        // Whoever closes the store reads what has happened when it is opened again.
        if (performance.now() > this.#closeBy) throw new OutcomeUnknown();
        session.abandon();
        this.#away(thrown);
        waiting();
        await pause(wait * (0.5 + Math.random() / 2));
      }
    }
  }

  /** The one that cannot be stored is found by halves, so that only it fails. */
  #failWrites(thrown: unknown): void {
    if (thrown instanceof HostStatementError) {
      this.#writes.shift()?.reject(thrown.original);
      return;
    }
    const error = failureOf(thrown);
    const failed = Math.min(this.#most, this.#writes.length);
    if (failed > 1 && error.reason === 'invalid_record') {
      this.#most = Math.ceil(failed / 2);
      return;
    }
    for (const each of this.#writes.splice(0, failed)) each.resolve(err(error));
    this.#most = batchLimit;
  }

  // Waiting.

  async #waitForChange(tables: readonly string[], after: number, signal: AbortSignal): Promise<number> {
    const highest = (): number =>
      tables.reduce((most, name) => Math.max(most, this.#chain.replica.tableIndex(name)), 1);
    let isFirst = true;
    const forks = this.#forks;
    // After a fork the index may never become as high as the caller has seen it.
    while (this.#closing === undefined && !signal.aborted && forks === this.#forks && highest() <= after) {
      const woken = this.#waiting.wait(tables, signal);
      // What was committed before it waited has woken nobody; where notifications arrive, it has been read since.
      if (isFirst && !this.#listener.isProven) this.#look();
      isFirst = false;
      this.#poll();
      await woken;
    }
    return highest();
  }

  /** Looks for others' commits. */
  #look(): void {
    this.#submitRead(() => undefined).then(nothing, nothing);
  }

  #poll(): void {
    this.#listener.start();
    if (this.#polling) return;
    this.#polling = true;
    const look = (): void => {
      if (!this.#isOpen || this.#waiting.count() === 0) {
        this.#polling = false;
        return;
      }
      const next = (): void => {
        setTimeout(look, this.#listener.isProven ? poll.notified : poll.blind).unref();
      };
      this.#submitRead(() => undefined).then(next, next);
    };
    setTimeout(look, poll.blind).unref();
  }

  #forked(): void {
    this.#forks += 1;
    this.#waiting.releaseAll();
    this.#options.logger.error(
      {},
      'The database has lost writes that were confirmed: another server has taken over, or a backup was restored',
    );
  }

  /** Wall time of the server. Whoever asks for it gets it measured again. */
  #now(): number {
    const { time } = this.#chain;
    if (time.isDue && !this.#isMeasuring && this.#closing === undefined) {
      this.#isMeasuring = true;
      const measured = (): void => {
        this.#isMeasuring = false;
      };
      this.#submitRead(() => undefined).then(measured, measured);
    }
    return time.now();
  }

  // While the server is away.

  #busy(thrown?: unknown): StorageError {
    const reason = thrown instanceof Error && thrown.message !== '' ? `: ${thrown.message}` : '.';
    return storageFailure('busy', `${awayMessage} ${this.#options.busyMs / 1000} s${reason}`);
  }

  /** Fails those who have waited for too long. */
  #expired<W extends Waiting>(waiting: readonly W[]): W[] {
    const deadline = performance.now() - this.#options.busyMs;
    for (const each of waiting) if (each.since <= deadline) each.resolve(err(this.#busy()));
    return waiting.filter(({ since }) => since > deadline);
  }

  #away(thrown: unknown): void {
    if (thrown instanceof TryAgain || isInTheWay(thrown)) return;
    const now = performance.now();
    if (now - this.#loggedAt < logEveryMs || this.#closing !== undefined) return;
    this.#loggedAt = now;
    const error = messageOf(thrown);
    this.#options.logger.warn({ error }, 'The database server cannot be reached; it is tried again');
  }
}

/** The store was closed while the server could not say whether a commit had happened. */
class OutcomeUnknown extends Error {
  constructor() {
    super('the store was closed before the server could say whether the write had happened: read it again');
  }
}

interface BatchRun {
  /** The state that it has run on. */
  readonly tip: Replica['tip'];
  /** How many writes have run. */
  readonly taken: number;
  /** Place of the first that has missed something, if any has. */
  readonly missing: number;
  readonly outcomes: readonly Outcome[];
  readonly changes: Overlay;
}

function settle(waiting: Waiting, outcome: Outcome): void {
  if ('result' in outcome) waiting.resolve(outcome.result);
  else waiting.reject(outcome.thrown);
}
