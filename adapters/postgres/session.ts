import { err, ok, type Result } from 'neverthrow';
import type { StorageError } from '../../src/ports/storage.js';
import { messageOf } from '../../src/shared/values.js';
import { storageFailure } from '../../src/storage/records.js';
import { Sql } from './sql.js';
import {
  KeptStatements,
  type PgClient,
  type Pipeline,
  PipelineQuery,
  type Statement,
  type StatementResult,
} from './wire.js';

/** A pool of the `pg` package. A store holds three of its connections while it is open. */
export interface PgPool {
  /** Lends a connection; `release` takes it back, and ends it when it gets true. */
  connect(): Promise<{ query(query: never): unknown; release(end?: boolean): void }>;
}

/** Milliseconds that a connection is waited for: as long as callers wait, within these. */
const waitMsOf = (busyMs: number): number => Math.min(10_000, Math.max(1000, busyMs));

/** Connections of `pg` to a URL, for callers that wait for `busyMs`. Rejects when `pg` is missing or cannot use the URL. */
export async function connectionsTo(url: string, busyMs = 10_000): Promise<() => Promise<Lent>> {
  const { default: pg } = await import('pg').catch(() => {
    throw new Error('the package `pg` is not installed: npm install pg');
  });
  const waitMs = waitMsOf(busyMs);
  const newClient = () =>
    new pg.Client({
      ...{ connectionString: url, application_name: 'signalbox', connectionTimeoutMillis: waitMs },
      keepAlive: true,
    });
  // Reads the URL, and the files that it names.
  newClient();
  return async () => {
    const client = newClient();
    // Until it is connected, its errors are the rejection of `connect`.
    client.on('error', () => undefined);
    await client.connect();
    const own = client as typeof client & PgClient;
    return {
      client: own,
      giveBack: (broken) => {
        if (broken) own.connection?.stream?.destroy?.();
        else client.end().catch(() => undefined);
      },
    };
  };
}

/** A connection of a pool. If all are in use, it may never lend one. */
export async function lentBy(pool: PgPool, busyMs: number): Promise<Lent> {
  const lending = pool.connect();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), waitMsOf(busyMs));
  });
  const client = await Promise.race([lending, timeout]).finally(() => clearTimeout(timer));
  if (client !== undefined)
    return { client: client as typeof client & PgClient, giveBack: (broken) => client.release(broken) };
  lending.then(
    (late) => late.release(),
    () => undefined,
  );
  throw new Error('The pool has no free connection.');
}

/** Whether the schema of the database has a store. Nothing is created. */
export async function hasPostgresStore(url: string, schema: string): Promise<Result<boolean, StorageError>> {
  let session: Session | undefined;
  try {
    session = new Session(await connectionsTo(url), 10_000);
    const [found] = await session.run([new Sql(schema).hasStore()]);
    return ok(found?.rows[0]?.[0] === 't');
  } catch (thrown) {
    return err(failureOf(thrown));
  } finally {
    session?.close();
  }
}

/** A connection that is used by nobody else, until it is given back. */
export interface Lent {
  readonly client: PgClient;
  /** `broken`: it must not be used any more. */
  giveBack(broken: boolean): void;
}

/** The connection was lost: what was sent last may have happened. */
export class ConnectionLost extends Error {}

/** Nothing was done, and the server is not to blame: another process was first, or a pooler has handed out another connection. */
export class TryAgain extends Error {}

/** There is no connection: nothing was sent. */
class NotConnected extends Error {
  /** Trying again does not help: the two ends do not agree on how they identify themselves. */
  readonly isRefusal: boolean;

  constructor(thrown: unknown) {
    const { code = '', message = '' }: { readonly code?: unknown; readonly message?: string } = thrown ?? {};
    const said = message === '' ? String(code) : message;
    super(/password must be a string/.test(said) ? 'the server asks for a password, and none is given' : said);
    this.isRefusal = /CERT|TLS|SSL/.test(String(code)) || /^SASL|does not support SSL|certificate/.test(said);
  }
}

/** The server cannot be reached, and that will not pass without a change of settings. */
export const isRefusedConnection = (thrown: unknown): boolean => thrown instanceof NotConnected && thrown.isRefusal;

/** An error that the server has answered with: nothing of the transaction has happened. */
interface ServerError extends Error {
  /** SQLSTATE. */
  readonly code: string;
  readonly table?: string;
  /** See `PipelineQuery.handleError`. */
  readonly completed?: number;
}

export const isServerError = (thrown: unknown): thrown is ServerError =>
  thrown instanceof Error && 'code' in thrown && /^[0-9A-Z]{5}$/.test(String(thrown.code));

/** Milliseconds that a statement may take which reads a whole table. */
const longMs = 24 * 3_600_000;

/** One connection to the server, opened when it is needed, and again after it was lost. */
export class Session {
  readonly #connect: () => Promise<Lent>;
  readonly #answerMs: number;
  /** How many connections were opened, and how often statements were sent. */
  opened = 0;
  roundTrips = 0;
  #lent: Lent | undefined;
  #fail: ((error: Error) => void) | undefined;
  #drop: ((error?: Error) => void) | undefined;
  #isHeld = false;
  /** The statements that the connection keeps. */
  #kept = new KeptStatements();
  /** A pooler has handed out a connection that does not have them. */
  #keepsNothing = false;

  /** `answerMs`: a connection is given up when nothing of an answer has arrived for so long. */
  constructor(connect: () => Promise<Lent>, answerMs: number) {
    this.#connect = connect;
    this.#answerMs = answerMs;
  }

  /**
   * From now on statements belong to the transaction that was begun on this connection: when it is lost they fail, and are not sent on another
   * one, until `release` or `abandon`.
   */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  /** Runs statements in one round trip, see `Pipeline`. Not while others run. */
  async run(statements: readonly Statement[], isBoundFirst = false): Promise<StatementResult[]> {
    if (this.#lent === undefined && this.#isHeld)
      throw new ConnectionLost('The transaction has ended with its connection.');
    const { client } = this.#lent ?? (await this.#open());
    return this.#send(client, { statements, isBoundFirst });
  }

  #send(client: PgClient, pipeline: Pipeline): Promise<StatementResult[]> {
    this.roundTrips += 1;
    return new Promise((resolve, reject) => {
      const answerMs = pipeline.statements.some(({ isLong }) => isLong) ? longMs : this.#answerMs;
      const timer = setTimeout(() => this.#drop?.(new Error('The server has not answered.')), answerMs);
      const settle = (): void => {
        clearTimeout(timer);
        this.#fail = undefined;
      };
      this.#fail = (error) => {
        settle();
        reject(new ConnectionLost(error.message));
      };
      const settled = (error: Error | undefined, results?: StatementResult[]): void => {
        settle();
        if (results !== undefined) resolve(results);
        else if (isServerError(error) && error.code === missingStatement) {
          this.#keepsNothing = true;
          this.#drop?.(error);
          reject(new TryAgain());
        } else if (isServerError(error) && !isFatal(error)) reject(error);
        else {
          this.#drop?.(error);
          reject(new ConnectionLost(error?.message));
        }
      };
      // A long answer is waited for as long as it arrives.
      const kept = this.#keepsNothing ? undefined : this.#kept;
      client.query(new PipelineQuery(pipeline, settled, { kept, onRow: () => timer.refresh() }));
    });
  }

  /** A connection to a server that can be written to. */
  async #open(): Promise<Lent> {
    try {
      const lent = await this.#connect();
      this.#adopt(lent);
      const [standby] = await this.#send(lent.client, { statements: [isStandby], isBoundFirst: false });
      if (standby?.rows[0]?.[0] !== 't') return lent;
      this.#drop?.(new Error('not used'));
    } catch (thrown) {
      if (isServerError(thrown)) {
        this.#drop?.(thrown);
        throw thrown;
      }
      throw new NotConnected(thrown);
    }
    throw new NotConnected(new Error('The server is a standby, which cannot be written to.'));
  }

  #adopt(lent: Lent): void {
    this.#lent = lent;
    this.#kept = new KeptStatements();
    this.opened += 1;
    const { client } = lent;
    const dropped = (error?: Error): void => {
      if (this.#lent !== lent) return;
      client.removeListener('error', dropped);
      client.removeListener('end', dropped);
      // What comes after it is of no interest, but must not end the process.
      client.on('error', () => undefined);
      this.#lent = undefined;
      lent.giveBack(true);
      this.#fail?.(error ?? new Error('The server has closed the connection.'));
    };
    client.on('error', dropped);
    client.on('end', dropped);
    this.#drop = dropped;
    this.#giveBack = () => {
      client.removeListener('error', dropped);
      client.removeListener('end', dropped);
      this.#lent = undefined;
      lent.giveBack(false);
    };
  }

  #giveBack: (() => void) | undefined;

  /** Gives the connection back. Nothing may be under way. */
  close(): void {
    if (this.#lent !== undefined) this.#giveBack?.();
  }

  /** Ends the connection: what state the server has it in is not known. */
  abandon(): void {
    this.#isHeld = false;
    this.#drop?.(new Error('The connection was given up.'));
  }
}

/** A standby answers queries of a state that may be old. */
const isStandby: Statement = { text: 'SELECT pg_is_in_recovery()' };

const missingStatement = '26000';

/** The server ends the connection with it. */
const isFatal = ({ code }: ServerError): boolean => /^(57P..|08...|25P0[34])$/.test(code);

/**
 * What passes on its own: the server restarts, has no connection left or is not the primary one, transactions were in each other's way, or
 * one was ended because it took too long.
 */
export function isPassing(thrown: unknown): boolean {
  if (thrown instanceof ConnectionLost || thrown instanceof NotConnected || thrown instanceof TryAgain) return true;
  return isServerError(thrown) && passing.test(thrown.code);
}

/** The server answers, but transactions were in each other's way, or one was cancelled for another one. */
export const isInTheWay = (thrown: unknown): boolean =>
  isServerError(thrown) && /^(40001|40P01|55P03|57014)$/.test(thrown.code);

const passing = /^(08...|57P0.|53300|53200|40001|40P01|55P03|57014|25006|25P03|25P04)$/;

/** A failure of the server as such, whichever statement meets it. */
export const isOfStore = ({ code }: ServerError): boolean => /^(53|58|XX)/.test(code);

/** The port's error for an error of the server or of its connection. */
export function failureOf(thrown: unknown): StorageError {
  const message = messageOf(thrown);
  if (!isServerError(thrown)) return storageFailure('io', `PostgreSQL: ${message}`);
  const { code } = thrown;
  if (code === '53100') return storageFailure('full', 'The disk of the database server is full.');
  if (code === '54000' || code === '22021' || code === '22P05')
    return storageFailure('invalid_record', 'A record has a key or a content that PostgreSQL cannot store.');
  if (code === '42P01' || code === '3F000' || code === '42703')
    return storageFailure('corrupt', 'Tables of the store are missing: restore the database from a backup.');
  if (code === '42501' || code.startsWith('28'))
    return storageFailure('io', `PostgreSQL has refused access (${code}): ${message}`);
  return storageFailure('io', `PostgreSQL (${code}): ${message}`);
}
