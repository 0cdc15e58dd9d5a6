import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { StorageError } from '../../src/ports/storage.js';
import { type PostgresStorage, PostgresStore } from './postgres-storage.js';
import type { Lent } from './session.js';
import type { PgClient } from './wire.js';

/** A pool of the `pg` package, or one that behaves like it. */
export interface PgPool {
  connect(): Promise<PgClient & { release(error?: boolean | Error): void }>;
}

/** Which schema, and how long the server is waited for. */
export interface PostgresStorageOptions {
  /** The schema that holds the tables of the store; default: `signalbox`. A store has a schema of its own. */
  readonly schema?: string;
  /** Milliseconds that reads and writes wait for the server before they fail as `busy`; default: 10 s. */
  readonly busyMs?: number;
}

/** A store in a schema of a PostgreSQL database, which any number of processes on any hosts may share. */
export function postgresStorage(
  server: string | PgPool,
  options: PostgresStorageOptions = {},
): ResultAsync<PostgresStorage, StorageError> {
  return new ResultAsync(opened(server, options));
}

async function opened(
  server: string | PgPool,
  { schema = 'signalbox', busyMs = 10_000 }: PostgresStorageOptions,
): Promise<Result<PostgresStorage, StorageError>> {
  const connect = typeof server === 'string' ? await connectionsTo(server) : () => lentBy(server);
  const quiet = { warn: () => undefined, error: () => undefined };
  const store = new PostgresStore({ schema, busyMs, budget: 64_000_000, connect, listen: connect, logger: quiet });
  const refused = await store.open();
  return refused === undefined ? ok(store.storage()) : err(refused);
}

async function connectionsTo(url: string): Promise<() => Promise<Lent>> {
  const { default: pg } = await import('pg');
  return async () => {
    const client = new pg.Client({ connectionString: url, application_name: 'signalbox' });
    await client.connect();
    return {
      client: client as unknown as PgClient,
      giveBack: (broken) => {
        if (broken) (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
        else void client.end();
      },
    };
  };
}

async function lentBy(pool: PgPool): Promise<Lent> {
  const client = await pool.connect();
  return { client, giveBack: (broken) => client.release(broken) };
}

export { HostTransactionError } from '../storage-kit/host-transaction-error.js';
export type { PostgresOutcome, PostgresRows, PostgresStatements, PostgresValue } from './host-rows.js';
export type { PostgresStorage } from './postgres-storage.js';
