import { assertOfHost, assertSynchronous, HostTransactionError, type StoreOwned } from '../storage-kit/index.js';
import type { Parameter, Statement } from './wire.js';

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
  const given: unknown = (rows as (sql: PostgresStatements, outcome: PostgresOutcome) => unknown)(
    {
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
    } as PostgresStatements,
    outcome,
  );
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
