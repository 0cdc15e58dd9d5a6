import { err, ok, type Result } from 'neverthrow';
import type { StorageError } from '../../src/ports/storage.js';
import { failureOf, type Lent, Session } from './session.js';
import { Sql } from './sql.js';
import type { PgClient } from './wire.js';

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

/** A connection of a pool. If all are in use, it may never lend one. */
export async function lentBy(pool: PgPool, busyMs: number): Promise<Lent> {
  const lending = pool.connect();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), waitMsOf(busyMs));
  });
  const client = await Promise.race([lending, timeout]).finally(() => clearTimeout(timer));
  if (client !== undefined)
    return { client: client as unknown as PgClient, giveBack: (broken) => client.release(broken) };
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
