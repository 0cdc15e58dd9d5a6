import type { StorageError } from '../../src/ports/storage.js';
import { storageFailure } from '../../src/storage/failures.js';
import { KeptStatements, type PgClient, PipelineQuery, type Statement, type StatementResult } from './wire.js';

/** A connection that is used by nobody else, until it is given back. */
export interface Lent {
  readonly client: PgClient;
  /** `broken`: it must not be used any more. */
  giveBack(broken: boolean): void;
}

/** The connection was lost: what was sent last may have happened. */
export class ConnectionLost extends Error {}

/** There is no connection: nothing was sent. */
class NotConnected extends Error {}

/** An error that the server has answered with: nothing of the transaction has happened. */
interface ServerError extends Error {
  /** SQLSTATE. */
  readonly code: string;
}

export const isServerError = (thrown: unknown): thrown is ServerError =>
  thrown instanceof Error && /^[0-9A-Z]{5}$/.test(String((thrown as { code?: unknown }).code));

/** One connection to the server, opened when it is needed, and again after it was lost. */
export class Session {
  readonly #connect: () => Promise<Lent>;
  readonly #answerMs: number;
  #lent: Lent | undefined;
  #fail: ((error: Error) => void) | undefined;
  #drop: ((error: Error) => void) | undefined;
  /** The statements that the connection keeps. */
  #kept = new KeptStatements();
  /** A pooler has handed out a connection that does not have them. */
  #keepsNothing = false;

  /** `answerMs`: a connection that has not answered by then is given up. */
  constructor(connect: () => Promise<Lent>, answerMs: number) {
    this.#connect = connect;
    this.#answerMs = answerMs;
  }

  /** Runs statements in one round trip, see `Pipeline`. Not while others run. */
  async run(statements: readonly Statement[], isBoundFirst = false): Promise<StatementResult[]> {
    const { client } = this.#lent ?? (await this.#open());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#drop?.(new Error('The server has not answered.')), this.#answerMs);
      const settle = (): void => {
        clearTimeout(timer);
        this.#fail = undefined;
      };
      this.#fail = (error) => {
        settle();
        reject(new ConnectionLost(error.message));
      };
      const finish = (error: unknown, results?: StatementResult[]): void => {
        settle();
        if (results !== undefined) resolve(results);
        else if (isServerError(error) && error.code === missingStatement) {
          this.#keepsNothing = true;
          this.#drop?.(error);
          reject(
            new NotConnected('The pooler has handed out another connection: statements have no names from now on.'),
          );
        } else if (isServerError(error) && !isFatal(error)) reject(error);
        else {
          this.#drop?.(error as Error);
          reject(new ConnectionLost((error as Error).message));
        }
      };
      const query = new PipelineQuery(
        { statements, isBoundFirst },
        finish,
        this.#keepsNothing ? undefined : this.#kept,
      );
      client.query(query);
    });
  }

  async #open(): Promise<Lent> {
    const lent = await this.#connect().catch((thrown: unknown) => {
      throw isServerError(thrown)
        ? thrown
        : new NotConnected(thrown instanceof Error ? thrown.message : String(thrown));
    });
    this.#lent = lent;
    this.#kept = new KeptStatements();
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
    this.#release = () => {
      client.removeListener('error', dropped);
      client.removeListener('end', dropped);
      this.#lent = undefined;
      lent.giveBack(false);
    };
    return lent;
  }

  #release: (() => void) | undefined;

  /** Gives the connection back. Nothing may be under way. */
  close(): void {
    if (this.#lent !== undefined) this.#release?.();
  }

  /** Ends the connection: what state the server has it in is not known. */
  abandon(): void {
    this.#drop?.(new Error('The connection was given up.'));
  }
}

const missingStatement = '26000';

/** The server ends the connection with it. */
const isFatal = ({ code }: ServerError): boolean => code.startsWith('57P') || code.startsWith('08') || code === '25P03';

/** What passes on its own: the server restarts or has no connection left, or transactions were in each other's way. */
export function isPassing(thrown: unknown): boolean {
  if (thrown instanceof ConnectionLost || thrown instanceof NotConnected) return true;
  return isServerError(thrown) && passing.test(thrown.code);
}

const passing = /^(08...|57P0.|53300|53200|40001|40P01|55P03|25006|25P03|25P04)$/;

/** A failure of the server as such, whichever statement meets it. */
export const isOfStore = ({ code }: ServerError): boolean => /^(53|58|XX|57014)/.test(code);

/** The port's error for an error of the server or of its connection. */
export function failureOf(thrown: unknown): StorageError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
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
