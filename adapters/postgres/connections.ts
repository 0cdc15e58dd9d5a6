import { err, ok, type Result } from 'neverthrow';
import type { StorageError } from '../../src/ports/storage.js';
import { failureOf, type Lent, Session } from './session.js';
import { Sql } from './sql.js';
import type { PgClient } from './wire.js';

/** Milliseconds that a connection is waited for: as long as callers wait, within these. */
const connectMs = { least: 1000, most: 10_000 };

/** Connections of `pg` to a URL, for callers that wait for `busyMs`. Rejects when `pg` is missing or cannot use the URL. */
export async function connectionsTo(url: string, busyMs: number = connectMs.most): Promise<() => Promise<Lent>> {
  const { default: pg } = await import('pg').catch(() => {
    throw new Error('the package `pg` is not installed: npm install pg');
  });
  const waitMs = Math.min(connectMs.most, Math.max(connectMs.least, busyMs));
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

/** Whether the schema of the database has a store. Nothing is created. */
export async function hasPostgresStore(url: string, schema: string): Promise<Result<boolean, StorageError>> {
  let session: Session | undefined;
  try {
    session = new Session(await connectionsTo(url), connectMs.most);
    const [found] = await session.run([new Sql(schema).hasStore()]);
    return ok(found?.rows[0]?.[0] === 't');
  } catch (thrown) {
    return err(failureOf(thrown));
  } finally {
    session?.close();
  }
}
