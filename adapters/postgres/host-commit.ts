import { err, type Result } from 'neverthrow';
import type { StorageError } from '../../src/ports/storage.js';
import { isRecord } from '../../src/shared/values.js';
import type { Overlay } from '../../src/storage/overlay.js';
import { storageFailure } from '../../src/storage/records.js';
import {
  assertOfHost,
  assertSynchronous,
  HostTransactionError,
  type Outcome,
  runBatch,
  type StoreOwned,
  type WriteWork,
} from '../storage-kit/index.js';
import type { Batch } from './batch.js';
import type { Chain } from './chain.js';
import { type Misses, Progress, ReplicaSnapshot } from './replica.js';
import { ConnectionLost, failureOf, isOfStore, isPassing, isServerError, Session } from './session.js';
import type { Sql } from './sql.js';
import { type Parameter, type PgClient, PipelineQuery, type Statement, type StatementResult } from './wire.js';

/** A value of a statement, as its parameter's type reads it: a Date as its ISO form, a Buffer or Uint8Array as `bytea`. */
export type PostgresValue = string | number | bigint | boolean | Date | Uint8Array | null;

/** The host's statements on its own tables, in the transaction of a write. */
export interface PostgresStatements {
  /** Adds a statement, with `$1` and so on for its values. It is executed with the commit, and gives no rows. */
  run(sql: string, ...values: PostgresValue[]): void;
}

/** The result of the operation, before it is durable: its value, and the index of its write. */
export interface PostgresOutcome {
  readonly value: unknown;
  readonly index: number;
}

/**
 * Gives statements for the host's own rows, synchronously. Runs after the operation has succeeded, not if it is refused. May run again if the
 * store repeats the transaction; only one run is committed. An exception also rolls the operation back.
 */
export type PostgresRows = (sql: PostgresStatements, outcome: PostgresOutcome) => void;

/** What the host's function asks for. Throws its exception, or a `HostTransactionError` if it is misused. */
export function statementsOf(rows: PostgresRows, outcome: PostgresOutcome): Statement[] {
  const statements: Statement[] = [];
  let isOpen = true;
  const sql: PostgresStatements & { all(): never } = {
    run(text, ...values) {
      assertOfHost(text, isOpen, owned);
      statements.push({ text, values: values.map(parameterOf) });
    },
    // What a function for rows in SQLite may call.
    all() {
      throw new HostTransactionError(
        'Statements are executed with the commit, which gives no rows: read before the operation, or let a statement decide.',
      );
    },
  };
  const given: unknown = rows(sql, outcome);
  isOpen = false;
  assertSynchronous(given);
  return statements;
}

function parameterOf(value: PostgresValue): Parameter {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  return value instanceof Uint8Array ? Buffer.from(value) : String(value);
}

const owned: StoreOwned = {
  verbs: new Set([
    ...['BEGIN', 'START', 'COMMIT', 'END', 'ROLLBACK', 'ABORT', 'SAVEPOINT', 'RELEASE', 'PREPARE'],
    ...['SET', 'RESET', 'LISTEN', 'UNLISTEN', 'COPY', 'VACUUM', 'DISCARD'],
  ]),
  tables: /\bsb_(store|tables|indexes|chain|behind|rows_\d+)\b/i,
  tableNames: 'sb_…',
};

/*
 * The host has begun a transaction on its own connection and has made statements in it. The store finishes it: what it appends, its rows
 * and COMMIT are one round trip, so that nobody holds the lock of the store while it waits for a client. What the store does before is done
 * after a savepoint: after a lost race it returns there, and the statements of the host remain.
 */

/** A client of `pg` on which the host has begun a transaction. */
export interface PgTransaction {
  query(query: never): unknown;
}

/** What finishing a transaction needs of its store. */
interface FinishingStore {
  readonly chain: Chain;
  readonly sql: Sql;
  /** Milliseconds until an operation that cannot be committed fails. */
  readonly busyMs: number;
  /** Runs on the current state until nothing is missing there, and gives the outcome of the last run. */
  look(run: (snapshot: ReplicaSnapshot) => Outcome): Promise<Outcome>;
  /** Sessions that hold the lock without working are ended until it settles. */
  atLock<T>(work: Promise<T>): Promise<T>;
  /** While it runs, nothing that is known is forgotten. */
  keeping<T>(work: () => Promise<T>): Promise<T>;
  /** Whether a batch was appended whose acknowledgement was lost. From then on it is certain. */
  wasAppended(batch: Batch): Promise<boolean>;
  /** A batch was appended. */
  stored(): void;
}

/** Lost races before the lock is taken first. */
const optimisticTries = 3;
/** Waits between tries, in milliseconds. */
const retry = { first: 5, last: 250 };
/** How much longer than a lock a connection is waited for, in milliseconds. */
const answerMs = 5000;

const mark: Statement = { text: 'SAVEPOINT sb_commit' };
const backToMark: Statement = { text: 'ROLLBACK TO SAVEPOINT sb_commit' };
const unmark: Statement = { text: 'RELEASE SAVEPOINT sb_commit' };
const commitStatement: Statement = { text: 'COMMIT' };
/** Otherwise a process that stands still would hold the lock. Ends with the savepoint. */
const shortTurn: Statement = { text: "SET LOCAL idle_in_transaction_session_timeout = '500ms'" };

/** Fails (22012) in a transaction that cannot see what was committed while it waited. */
const isolationCheck: Statement = {
  text: "SELECT 1 / (current_setting('transaction_isolation') IN ('read committed', 'read uncommitted'))::int",
};

/** Undefined: it is tried again. */
type Ended = Outcome | undefined;

/** Throws a TypeError for anything but a client that runs a query object alone. */
export function assertClient(client: PgTransaction): void {
  const given: unknown = client;
  const { query, on, removeListener, totalCount, pipeline }: Readonly<Record<string, unknown>> = isRecord(given)
    ? given
    : {};
  if (![query, on, removeListener].every((method) => typeof method === 'function'))
    throw new TypeError('commitWith: the argument is the client of `pg` on which your transaction is open');
  if (totalCount !== undefined)
    throw new TypeError('commitWith: pass the client on which your transaction is open, not its pool');
  if (pipeline === true)
    throw new TypeError(
      'commitWith: the client has `pipeline: true`, with which `pg` lets nobody send a whole commit: use one without it',
    );
}

/** Runs works on a snapshot, without storing anything. */
export function runOn(
  snapshot: ReplicaSnapshot,
  more: () => WriteWork | undefined,
): { readonly outcomes: readonly Outcome[]; readonly changes: Overlay } {
  let changes: Overlay | undefined;
  const { outcomes } = runBatch(
    {
      begin: () => snapshot,
      commit: (overlay) => {
        changes = overlay;
      },
      prepare: () => undefined,
      rollBack: () => undefined,
      failureOf: () => undefined,
    },
    more,
  );
  return { outcomes, changes: changes as Overlay };
}

/** One operation that finishes a transaction of the host. */
export class HostCommit {
  readonly #store: FinishingStore;
  readonly #session: HostSession;
  readonly #work: WriteWork;
  readonly #deadline: number;
  /** The savepoint is there. */
  #isMarked = false;
  /** Rows that were taken for new and are not. */
  #suspects: Misses['assumedNew'] = new Map();
  /** A commit that was sent, and what came of it. */
  #sent: Promise<Ended> | undefined;
  /** How often the history of the store was not found on the host's connection. */
  #strange = 0;

  constructor(store: FinishingStore, client: PgTransaction, work: WriteWork) {
    this.#store = store;
    this.#session = new HostSession(client as PgTransaction & PgClient, store.busyMs + answerMs);
    this.#work = work;
    this.#deadline = performance.now() + store.busyMs;
  }

  /** The result of the operation. Rejects with the host's own error, or with a `HostTransactionError`. */
  async run(): Promise<Result<unknown, unknown>> {
    try {
      const outcome = await this.#untilEnded();
      if ('thrown' in outcome) throw outcome.thrown;
      if (outcome.result.isErr()) await this.#leave();
      return outcome.result;
    } catch (thrown) {
      await this.#leave();
      throw thrown;
    }
  }

  async #untilEnded(): Promise<Outcome> {
    let wait = retry.first;
    for (let tries = 0; ; tries += 1) {
      try {
        const ended = await (tries < optimisticTries ? this.#try(tries === 0) : this.#takeTurn());
        if (ended !== undefined) return ended;
      } catch (thrown) {
        const ended = this.#ended(thrown);
        if (ended !== undefined) return ended;
        await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random() / 2)));
        wait = Math.min(2 * wait, retry.last);
      }
      if (performance.now() > this.#deadline) return failed(this.#busy());
    }
  }

  /** A failure that does not pass on its own. Throws what the host has to mend. */
  #ended(thrown: unknown): Ended {
    if (thrown instanceof ConnectionLost) return failed(storageFailure('io', `${lost}: ${thrown.message}`));
    if (!isServerError(thrown)) throw thrown;
    const fault = faults[thrown.code];
    if (fault !== undefined) throw new HostTransactionError(fault);
    if (isPassing(thrown) || thrown.code === '57014') return undefined;
    return failed(failureOf(thrown));
  }

  #busy(): StorageError {
    return storageFailure('busy', `The operation could not be committed within ${this.#store.busyMs / 1000} s.`);
  }

  /** Leaves the transaction as the host had it. */
  async #leave(): Promise<void> {
    if (!this.#isMarked) return;
    this.#isMarked = false;
    await this.#session.run([backToMark, unmark]).catch(() => undefined);
  }

  // On what is known here: if somebody has committed meanwhile, nothing of it is stored.

  async #try(isFirst: boolean): Promise<Ended> {
    const { chain } = this.#store;
    this.#sent = undefined;
    const head = (): Statement[] => [this.#isMarked ? backToMark : mark, isolationCheck, ...this.#lock()];
    const run = (snapshot: ReplicaSnapshot): Outcome => this.#decide(snapshot, head());
    // Usually that is everything.
    if (isFirst) run(new ReplicaSnapshot(chain.replica, (table) => chain.catalog.isPrepared(table)));
    if (this.#sent !== undefined) return this.#sent;
    const outcome = await this.#store.look(run);
    return this.#sent ?? (isAccepted(outcome) ? undefined : outcome);
  }

  /**
   * Runs the work, and sends its commit in the same turn of the event loop: nothing can be learnt in between. What misses something or is
   * refused sends nothing.
   */
  #decide(snapshot: ReplicaSnapshot, head: readonly Statement[]): Outcome {
    const { misses } = snapshot;
    for (const [table, keys] of this.#suspects)
      for (const key of keys) if (this.#store.chain.replica.table(table).row(key) === undefined) misses.row(table, key);
    let isTaken = false;
    const { outcomes, changes } = runOn(snapshot, () => {
      if (isTaken) return undefined;
      isTaken = true;
      return this.#work;
    });
    const outcome = outcomes[0] as Outcome;
    // Columns that others have added have to be known before anything is written.
    if (misses.isEmpty && this.#store.chain.isCatalogCurrent && isAccepted(outcome))
      this.#sent = this.#commit({ head, changes, misses, outcome });
    return outcome;
  }

  async #commit({ head, changes, misses, outcome }: Decided): Promise<Ended> {
    const { chain } = this.#store;
    const batch = chain.batchOf(changes);
    const own = chain.statementsOf(batch, changes);
    try {
      await this.#store.atLock(this.#session.run([...head, ...own, commitStatement]));
    } catch (thrown) {
      if (thrown instanceof ConnectionLost) {
        this.#isMarked = false;
        if (!(await this.#store.wasAppended(batch))) throw thrown;
        return outcome;
      }
      return this.#refused(thrown, { misses, first: head.length, last: head.length + own.length });
    }
    this.#isMarked = false;
    chain.committed(batch);
    this.#store.stored();
    return outcome;
  }

  /** The server has refused a statement of a commit. Throws what is not a lost race. */
  #refused(thrown: unknown, { misses, first, last }: Refused): Ended {
    if (!isServerError(thrown)) throw thrown;
    const at = completedBefore(thrown);
    if (at < first) return this.#headRefused(thrown);
    this.#isMarked = at < last;
    // COMMIT itself, because of a deferred constraint of the host for example: the transaction has ended with it.
    if (at === last) return isOfStore(thrown) ? failed(failureOf(thrown)) : { thrown };
    if (at === first + 1 && thrown.code === '22012') return undefined;
    if (thrown.code !== '23505') throw thrown;
    this.#suspects = misses.assumedNew;
    return undefined;
  }

  #headRefused(thrown: unknown): never {
    const at = isServerError(thrown) ? completedBefore(thrown) : 0;
    if (at > 0) this.#isMarked = true;
    if (at === 1 && isServerError(thrown) && thrown.code === '22012') throw new HostTransactionError(wrongIsolation);
    throw thrown;
  }

  // By a turn: nobody else commits from the time that the lock is granted.

  async #takeTurn(): Promise<Ended> {
    const { chain, sql } = this.#store;
    const { tip, epoch } = chain.replica;
    const head = [this.#isMarked ? backToMark : mark, isolationCheck, shortTurn, ...this.#lock(), sql.pull(tip)];
    const results = await this.#store
      .atLock(this.#session.run(head))
      .catch((thrown: unknown) => this.#headRefused(thrown));
    this.#isMarked = true;
    if (await chain.joinTurn(this.#session, { tip, epoch, rows: results.at(-1)?.rows ?? [] })) {
      this.#strange = 0;
      try {
        return await this.#store.keeping(() => this.#inTurn());
      } finally {
        chain.leaveTurn(this.#session);
      }
    }
    await this.#session.run([backToMark]);
    // Where everybody else reads, history may have changed indeed; then it is known now.
    await this.#store.look(() => nothing);
    this.#strange += 1;
    if (this.#strange > 2) throw new HostTransactionError(otherDatabase);
    return undefined;
  }

  async #inTurn(): Promise<Ended> {
    const { chain } = this.#store;
    const progress = new Progress();
    for (;;) {
      this.#sent = undefined;
      const snapshot = new ReplicaSnapshot(chain.replica, (table) => chain.catalog.isPrepared(table));
      const outcome = this.#decide(snapshot, []);
      if (this.#sent !== undefined) return this.#sent;
      const { misses } = snapshot;
      if (misses.isEmpty) return isAccepted(outcome) ? undefined : outcome;
      if (await chain.needsTransaction(this.#session, misses)) {
        // What is created or completed for it is not part of the host's transaction.
        await this.#session.run([backToMark]);
        await this.#store.look((current) => this.#rehearse(current));
        return undefined;
      }
      progress.note(snapshot);
      await chain.fetch(this.#session, misses);
    }
  }

  /** A run whose result does not count: what it needs is known after it. */
  #rehearse(snapshot: ReplicaSnapshot): Outcome {
    let isTaken = false;
    runOn(snapshot, () => {
      if (isTaken) return undefined;
      isTaken = true;
      return this.#work;
    });
    return nothing;
  }

  /** Waits for as long as the operation may. */
  #lock(): Statement[] {
    return this.#store.sql.lock(Math.max(1, Math.ceil(this.#deadline - performance.now())));
  }
}

interface Decided {
  /** What comes before the batch is appended. */
  readonly head: readonly Statement[];
  readonly changes: Overlay;
  readonly misses: Misses;
  readonly outcome: Outcome;
}

interface Refused {
  readonly misses: Misses;
  /** The place of the statement that appends the batch, and that of COMMIT. */
  readonly first: number;
  readonly last: number;
}

const nothing: Outcome = { result: err(undefined) };

const isAccepted = (outcome: Outcome): boolean => 'result' in outcome && outcome.result.isOk();

const failed = (error: StorageError): Outcome => ({ result: err(error) });

const lost = 'The connection of your transaction was lost before it was committed: nothing of it is stored';
const otherDatabase =
  'commitWith: the client is connected to another database than the store, or to a server that was left behind: its tables are not there.';
const wrongIsolation =
  'commitWith: the transaction is REPEATABLE READ or SERIALIZABLE, which cannot see what others have committed meanwhile: begin it as READ COMMITTED.';

/** What the host has to mend, by the error of the server. */
const faults: Readonly<Record<string, string>> = {
  '25P01': 'commitWith: no transaction is open on the client: begin one, or use the store without it.',
  '25P02': 'commitWith: a statement of the transaction has failed, so it can only be rolled back.',
  '25006': 'commitWith: the transaction is read-only.',
  '42P01': otherDatabase,
  '3F000': otherDatabase,
};

/** How many statements of the round trip were executed before the one that has failed. */
const completedBefore = ({ completed = 0 }: { readonly completed?: number }): number => completed;

/** The server ends the connection with it. */
const isFatal = (code: string): boolean => /^(57P..|08...|25P0[34])$/.test(code);

/** The host's connection. It is not opened again, and not given back. */
class HostSession extends Session {
  readonly #client: PgClient;
  readonly #answerMs: number;
  #isLost = false;

  constructor(client: PgClient, ms: number) {
    super(() => Promise.reject(new Error('not used')), ms);
    this.#client = client;
    this.#answerMs = ms;
  }

  override run(statements: readonly Statement[]): Promise<StatementResult[]> {
    const client = this.#client;
    if (this.#isLost) return Promise.reject(new ConnectionLost('The connection was lost before.'));
    return new Promise((resolve, reject) => {
      const isOver = (): void => {
        clearTimeout(timer);
        client.removeListener('error', dropped);
        client.removeListener('end', dropped);
      };
      const dropped = (error?: Error): void => {
        if (this.#isLost) return;
        this.#isLost = true;
        isOver();
        // What comes after it is of no interest, but must not end the process.
        client.on('error', () => undefined);
        client.connection?.stream?.destroy?.();
        reject(new ConnectionLost(error?.message ?? 'the server has closed it'));
      };
      const timer = setTimeout(() => dropped(new Error('the server has not answered')), this.#answerMs);
      client.on('error', dropped);
      client.on('end', dropped);
      const query = new PipelineQuery({ statements, isBoundFirst: false }, (error, results) => {
        if (results === undefined && !(isServerError(error) && !isFatal(error.code))) {
          dropped(error);
          return;
        }
        isOver();
        if (results === undefined) reject(error);
        else resolve(results);
      });
      client.query(query);
    });
  }
}
