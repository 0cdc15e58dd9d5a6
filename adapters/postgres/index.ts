import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { checkArgument, checkOptions, type OptionTable } from '../../src/options/check-options.js';
import { amount, either, milliseconds, optional, port, text, textLike } from '../../src/options/option-kinds.js';
import type { Logger } from '../../src/ports/logger.js';
import type { StorageError } from '../../src/ports/storage.js';
import { storageFailure } from '../../src/storage/failures.js';
import { type PostgresStorage, PostgresStore } from './postgres-storage.js';
import type { Lent } from './session.js';
import type { PgClient } from './wire.js';

export { HostTransactionError } from '../storage-kit/index.js';
export type { PgTransaction } from './host-commit.js';
export type { PostgresOutcome, PostgresRows, PostgresStatements, PostgresValue } from './host-rows.js';
export type { PostgresStorage } from './postgres-storage.js';

/** A pool of the `pg` package. A store holds three of its connections while it is open. */
export interface PgPool {
  /** Lends a connection; `release` takes it back, and ends it when it gets true. */
  connect(): Promise<{ query(query: never): unknown; release(end?: boolean): void }>;
}

/** Where a store is in its database, and how long the server is waited for. */
export interface PostgresStorageOptions {
  /** The schema that holds the tables of the store; default: `signalbox`. It is created if it does not exist. */
  readonly schema?: string;
  /** Milliseconds that reads and writes wait for the server before they fail as `busy`; default: 10 s. */
  readonly busyMs?: number;
  /** Characters of rows and indexes that are kept in memory; default: 64 million. */
  readonly cacheSize?: number;
  /**
   * A URL past a pooler in transaction mode, which lets no notifications through; default: the server itself. Without notifications,
   * commits of other processes are noticed within 25 ms.
   */
  readonly listenUrl?: string;
  /** Logs that the server cannot be reached, once a second at most, and that it has lost what it had confirmed. */
  readonly logger?: Pick<Logger, 'warn' | 'error'>;
}

const optionTable: OptionTable<PostgresStorageOptions> = {
  schema: optional(textLike(/^[^\0]{1,63}$/, 'a string of 1 to 63 characters')),
  busyMs: optional(milliseconds),
  cacheSize: optional(amount),
  listenUrl: optional(text),
  logger: optional(port('a logger', 'warn', 'error')),
};

const defaultBusyMs = 10_000;
const defaultCacheSize = 64_000_000;

/**
 * A durable store in a schema of a PostgreSQL database (14 or later), which any number of processes on any hosts may share. Pass a URL, as
 * `postgres://user@host/database`, or a pool of `pg`, which stays open at `close`. The `pg` package is needed. An acknowledged write
 * is as durable as the server makes its commits. Throws a TypeError for mistyped arguments. Fails with `too_new` for a store of a
 * later version, and with `busy` when the server cannot be reached within `busyMs`.
 */
export function postgresStorage(
  server: string | PgPool,
  options: PostgresStorageOptions = {},
): ResultAsync<PostgresStorage, StorageError> {
  checkArgument('postgresStorage', 'server', server, either(text, port('a pool', 'connect')));
  checkOptions('postgresStorage', options, optionTable);
  return new ResultAsync(opened(server, options));
}

async function opened(
  server: string | PgPool,
  {
    schema = 'signalbox',
    busyMs = defaultBusyMs,
    cacheSize = defaultCacheSize,
    listenUrl,
    logger = silent,
  }: PostgresStorageOptions,
): Promise<Result<PostgresStorage, StorageError>> {
  let connect: () => Promise<Lent>;
  let listen: () => Promise<Lent>;
  try {
    if (hasPipeline(server))
      throw new Error(
        'the pool has `pipeline: true`, with which `pg` refuses the queries of the store: use one without it',
      );
    connect = typeof server === 'string' ? await connectionsTo(server) : () => lentBy(server);
    listen = listenUrl === undefined ? connect : await connectionsTo(listenUrl);
  } catch (thrown) {
    return err(storageFailure('io', `PostgreSQL: ${thrown instanceof Error ? thrown.message : String(thrown)}`));
  }
  const store = new PostgresStore({ schema, busyMs, budget: cacheSize, connect, listen, logger });
  const refused = await store.open();
  return refused === undefined ? ok(store.storage()) : err(refused);
}

const silent: Pick<Logger, 'warn' | 'error'> = { warn: () => undefined, error: () => undefined };

/** Longer than this, a connection is not waited for. */
const connectMs = 10_000;

async function connectionsTo(url: string): Promise<() => Promise<Lent>> {
  const { default: pg } = await import('pg').catch(() => {
    throw new Error('the package `pg` is not installed: npm install pg');
  });
  return async () => {
    const client = new pg.Client({
      ...{ connectionString: url, application_name: 'signalbox', connectionTimeoutMillis: connectMs },
      keepAlive: true,
    });
    // Until it is connected, its errors are the rejection of `connect`.
    client.on('error', () => undefined);
    await client.connect();
    const own = client as unknown as PgClient & { readonly connection: { readonly stream: { destroy(): void } } };
    return {
      client: own,
      giveBack: (broken) => {
        if (broken) own.connection.stream.destroy();
        else client.end().catch(() => undefined);
      },
    };
  };
}

/** `pg` then sends each query alone. */
function hasPipeline(server: string | PgPool): boolean {
  const { options } = server as { readonly options?: { readonly pipeline?: unknown } };
  return options?.pipeline === true;
}

async function lentBy(pool: PgPool): Promise<Lent> {
  const client = await pool.connect();
  return { client: client as unknown as PgClient, giveBack: (broken) => client.release(broken) };
}
