import { randomUUID } from 'node:crypto';
import { ok } from 'neverthrow';
import { type PostgresStorageOptions, postgresStorage } from '../../../adapters/postgres/index.js';
import { Session } from '../../../adapters/postgres/session.js';
import { numbers, type PgClient, type Statement, texts } from '../../../adapters/postgres/wire.js';
import { defineFunction } from '../../../src/functions.js';
import type { Storage } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';
import type { Slice } from './store-slices.js';

/*
 * What the scenarios of PostgreSQL write: four new rows of 2.9 KB in all, as a registration does. The floor puts the same rows into four tables
 * with the same three indexes, all that waits in one transaction and one round trip.
 */

interface Row {
  readonly id: string;
  readonly at: number;
  readonly text: string;
}

const kinds = ['jobs', 'versions', 'evaluations', 'summaries'] as const;
const sizes = [1200, 1200, 400, 100];

const tables = kinds.map((name, at) =>
  table<Row>(
    `bench_${name}`,
    ({ id }) => [id],
    at < 3 ? { byTime: { version: 1, key: (row) => [row.at, row.id] } } : {},
  ),
);
const [jobs, , evaluations] = tables as [(typeof tables)[0], (typeof tables)[0], (typeof tables)[0]];
/** Small rows that all processes share. */
export const shared = table<Row>('bench_shared', ({ id }) => [id]);

/** A function that never ends. */
export const endless = (began: (n: number) => void) =>
  defineFunction<{ n: number }, { n: number }, void>({ name: 'endless', retry: { attempts: 3 } }, ({ n }) => {
    began(n);
    return new Promise(() => undefined);
  });

/** The address of the server that the bench runs on. */
export const address = (): string => {
  const url = process.env['SIGNALBOX_BENCH_POSTGRES'];
  if (url === undefined) throw new Error('there is no server');
  return url;
};

export const newSchema = (): string => `bench_${randomUUID().replaceAll('-', '')}`;

export async function storeIn(schema: string, options: PostgresStorageOptions = {}, url = address()): Promise<Storage> {
  return (await postgresStorage(url, { schema, ...options }))._unsafeUnwrap();
}

let serial = 0;
/** Random-looking keys, as identifiers are. */
export function newId(): string {
  serial += 1;
  return `${((serial * 2_654_435_761) % 4_294_967_296).toString(36)}-${process.pid}-${serial}`;
}

const rowOf = (at: number, id: string): Row => ({ id, at: serial, text: 'x'.repeat(sizes[at] as number) });

/** As a registration writes. `reads`: it looks first for what there was, which is not known here. */
export async function register(storage: Storage, reads = false): Promise<void> {
  const id = newId();
  const written = await storage.write((view) => {
    if (reads) {
      view.get(jobs, [id]);
      view.list(evaluations, { index: 'byTime', prefix: [id] });
    }
    for (const [at, each] of tables.entries()) view.put(each, rowOf(at, id));
    return ok(undefined);
  });
  written._unsafeUnwrap();
}

export async function putShared(storage: Storage, id: string, text: string): Promise<number> {
  const written = await storage.write((view) => ok(view.put(shared, { id, at: 0, text })));
  return written._unsafeUnwrap().index;
}

/** Calls of so many callers, each after the other, for some milliseconds. */
export function byCallers(callers: number, call: () => Promise<unknown>): Slice {
  return async (milliseconds) => {
    const end = performance.now() + milliseconds;
    let done = 0;
    const caller = async (): Promise<void> => {
      while (performance.now() < end) {
        await call();
        done += 1;
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return done;
  };
}

/** A connection of `pg`. */
export async function connection(url = address()) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

export async function drop(schema: string): Promise<void> {
  const client = await connection();
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await client.end();
}

/** The same rows by hand. */
export async function floorIn(schema: string) {
  const client = await connection();
  await client.query(`CREATE SCHEMA ${schema}`);
  for (const [at, name] of kinds.entries()) {
    await client.query(
      `CREATE TABLE ${schema}.${name} (key text COLLATE "C" PRIMARY KEY, at bigint, modified bigint NOT NULL, doc text NOT NULL)`,
    );
    if (at < 3) await client.query(`CREATE INDEX ON ${schema}.${name} (at, key)`);
  }
  const lent = { client: client as unknown as PgClient, giveBack: () => void client.end() };
  const session = new Session(() => Promise.resolve(lent), 60_000);
  let waiting: { readonly id: string; readonly resolve: () => void }[] = [];
  let isWriting = false;
  const flush = async (): Promise<void> => {
    isWriting = true;
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      await session.run(
        kinds.map((name, at): Statement => {
          const rows = taken.map(({ id }) => rowOf(at, id)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
          return {
            text: `INSERT INTO ${schema}.${name} SELECT * FROM unnest($1::text[], $2::int8[], $3::int8[], $4::text[])`,
            values: [
              texts(rows.map(({ id }) => id)),
              numbers(rows.map((row) => row.at)),
              numbers(rows.map((row) => row.at)),
              texts(rows.map((row) => JSON.stringify(row))),
            ],
            isFrequent: true,
          };
        }),
        true,
      );
      for (const { resolve } of taken) resolve();
    }
    isWriting = false;
  };
  return {
    write: (): Promise<void> =>
      new Promise((resolve) => {
        waiting.push({ id: newId(), resolve });
        if (!isWriting) void flush();
      }),
    close: () => session.close(),
  };
}
