import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { checkArgument, checkOptions, type OptionTable } from '../../src/options/check-options.js';
import { amount, either, flag, milliseconds, optional, port, text, textLike } from '../../src/options/option-kinds.js';
import type { Logger } from '../../src/ports/logger.js';
import type { StorageError } from '../../src/ports/storage.js';
import { messageOf } from '../../src/shared/values.js';
import { storageFailure } from '../../src/storage/records.js';
import { type PostgresStorage, PostgresStore } from './postgres-storage.js';
import { connectionsTo, type Lent, lentBy, type PgPool } from './session.js';

export { HostTransactionError } from '../storage-kit/index.js';
export type { PgTransaction, PostgresOutcome, PostgresRows, PostgresStatements, PostgresValue } from './host-commit.js';
export type { PostgresStorage } from './postgres-storage.js';
export type { PgPool } from './session.js';

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
  /**
   * Whether the engine has advisory locks, as PostgreSQL does; default: true. Without them, the primary key of a table lets one of several
   * commits through and the others are repeated: correct, but slower when several processes write at once.
   */
  readonly advisoryLocks?: boolean;
  /** Logs that the server cannot be reached, once a second at most, and that it has lost what it had confirmed. */
  readonly logger?: Pick<Logger, 'warn' | 'error'>;
}

const optionTable: OptionTable<PostgresStorageOptions> = {
  schema: optional(textLike(/^[^\0]{1,63}$/, 'a string of 1 to 63 characters')),
  busyMs: optional(milliseconds),
  cacheSize: optional(amount),
  listenUrl: optional(text),
  advisoryLocks: optional(flag),
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
    advisoryLocks: hasLocks = true,
    logger = silent,
  }: PostgresStorageOptions,
): Promise<Result<PostgresStorage, StorageError>> {
  let connect: () => Promise<Lent>;
  let listen: () => Promise<Lent>;
  try {
    if (typeof server !== 'string' && hasPipeline(server))
      throw new Error(
        'the pool has `pipeline: true`, with which `pg` refuses the queries of the store: use one without it',
      );
    connect = typeof server === 'string' ? await connectionsTo(server, busyMs) : () => lentBy(server, busyMs);
    listen = listenUrl === undefined ? connect : await connectionsTo(listenUrl, busyMs);
  } catch (thrown) {
    return err(storageFailure('io', `PostgreSQL: ${messageOf(thrown)}`));
  }
  const store = new PostgresStore({ schema, busyMs, budget: cacheSize, connect, listen, logger, hasLocks });
  const refused = await store.open();
  return refused === undefined ? ok(store.storage()) : err(refused);
}

const silent: Pick<Logger, 'warn' | 'error'> = { warn: () => undefined, error: () => undefined };

/** `pg` then sends each query alone. */
function hasPipeline(server: PgPool & { readonly options?: { readonly pipeline?: unknown } }): boolean {
  return server.options?.pipeline === true;
}
