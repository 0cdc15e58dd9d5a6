import { randomBytes, randomUUID } from 'node:crypto';
import { err, ok, type Result } from 'neverthrow';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest';
import { type PostgresStorage, postgresStorage } from '../../../adapters/postgres/index.js';
import { HostTransactionError } from '../../../adapters/storage-kit/index.js';
import type { Storage, WriteView } from '../../../src/ports/storage.js';
import { look, store, things, valueFrom } from '../../conformance/storage/storage-subject.js';

const url = inject('postgres');
const pool = new pg.Pool({ connectionString: url, max: 40 });
afterAll(() => pool.end());

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Box {
  readonly storage: PostgresStorage;
  readonly schema: string;
  readonly orders: string;
}

/** A store, and tables of the host in the same database. */
async function box(options: { readonly busyMs?: number } = {}): Promise<Box> {
  const schema = `w${randomUUID().replaceAll('-', '')}`;
  const orders = `orders_${schema}`;
  await pool.query(`CREATE TABLE ${orders} (id text PRIMARY KEY, at int NOT NULL DEFAULT 0)`);
  const storage = valueFrom(await postgresStorage(url, { schema, ...options }));
  ends.push(() => storage.close());
  return { storage, schema, orders };
}

async function another({ schema }: Box): Promise<PostgresStorage> {
  const storage = valueFrom(await postgresStorage(url, { schema }));
  ends.push(() => storage.close());
  return storage;
}

/** A client with an open transaction, until the test ends. */
async function begun(begin = 'BEGIN'): Promise<pg.PoolClient> {
  const client = await pool.connect();
  client.on('error', () => undefined);
  ends.push(() => client.release(true));
  await client.query(begin);
  return client;
}

const rowsIn = async (table: string): Promise<string[]> =>
  (await pool.query(`SELECT id FROM ${table} ORDER BY id`)).rows.map(({ id }) => id);

/** Whether a transaction is open on the client, and has not failed. */
const isOpen = async (client: pg.ClientBase): Promise<boolean> => {
  const { rows } = await client.query('SELECT now() = statement_timestamp() AS fresh');
  return rows[0].fresh === false;
};

const put = (key: string) => (view: WriteView) => ok(view.put(things, { key: [key] }));
const count = (view: WriteView): Result<number, never> => {
  const next = Number(view.get(things, ['count'])?.record.text ?? 0) + 1;
  view.put(things, { key: ['count'], text: String(next) });
  return ok(next);
};
const keys = (storage: Storage) => look(storage, (view) => view.list(things).map(({ record }) => record.key[0]));

describe('a transaction of the host', () => {
  test('is finished with the operation', async () => {
    const { storage, orders } = await box();
    const client = await begun();
    await client.query(`INSERT INTO ${orders} VALUES ('a')`);
    const written = valueFrom(await storage.commitWith(client).write(put('a')));
    expect(written).toMatchObject({ changed: true });
    expect(await rowsIn(orders)).toEqual(['a']);
    expect(await look(storage, (view) => view.get(things, ['a'])?.createIndex)).toBe(written.index);
    await client.query('BEGIN');
    await client.query(`INSERT INTO ${orders} VALUES ('b')`);
    valueFrom(await storage.commitWith(client).write(put('b')));
    expect(await rowsIn(orders)).toEqual(['a', 'b']);
    // It is an ordinary client again.
    expect(await isOpen(client)).toBe(false);
    expect((await client.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
  });

  test('is finished when the operation changes nothing', async () => {
    const { storage, orders } = await box();
    const client = await begun();
    await client.query(`INSERT INTO ${orders} VALUES ('a')`);
    expect(valueFrom(await storage.commitWith(client).write(() => ok('nothing')))).toMatchObject({ changed: false });
    expect(await rowsIn(orders)).toEqual(['a']);
  });

  test('is open and as it was when the operation is refused', async () => {
    const { storage, orders } = await box();
    const client = await begun();
    await client.query(`INSERT INTO ${orders} VALUES ('a')`);
    const refused = await storage.commitWith(client).write((view) => {
      view.put(things, { key: ['a'] });
      return err('no');
    });
    expect(refused._unsafeUnwrapErr()).toBe('no');
    expect(await isOpen(client)).toBe(true);
    await client.query(`INSERT INTO ${orders} VALUES ('b')`);
    await client.query('COMMIT');
    expect(await rowsIn(orders)).toEqual(['a', 'b']);
    expect(await keys(storage)).toEqual([]);
  });

  test('is open and as it was when the work throws', async () => {
    const { storage, orders } = await box();
    const client = await begun();
    await client.query(`INSERT INTO ${orders} VALUES ('a')`);
    const mistake = new Error('mistake');
    const thrown = storage.commitWith(client).write(() => {
      throw mistake;
    });
    await expect(Promise.resolve(thrown)).rejects.toBe(mistake);
    expect(await isOpen(client)).toBe(true);
    await client.query('ROLLBACK');
    expect(await rowsIn(orders)).toEqual([]);
  });

  test('is read to decide what others see only later: the operation reads the store', async () => {
    const own = await box();
    const client = await begun();
    await store(own.storage, { key: ['before'] });
    const written = await own.storage.commitWith(client).write((view) => {
      view.put(things, { key: ['b'] });
      return ok(view.list(things).map(({ record }) => record.key[0]));
    });
    expect(valueFrom(written).value).toEqual(['b', 'before']);
  });

  test.each([
    ['none is open', 'SELECT 1', /no transaction is open/],
    ['REPEATABLE READ', 'BEGIN ISOLATION LEVEL REPEATABLE READ', /READ COMMITTED/],
    ['SERIALIZABLE', 'BEGIN ISOLATION LEVEL SERIALIZABLE', /READ COMMITTED/],
    ['read-only', 'BEGIN READ ONLY', /read-only/],
  ])('is refused: %s', async (_what, begin, message) => {
    const { storage } = await box();
    await store(storage, { key: ['first'] });
    const client = await begun(begin);
    const wasOpen = await isOpen(client);
    const refused = Promise.resolve(storage.commitWith(client).write(put('a')));
    await expect(refused).rejects.toBeInstanceOf(HostTransactionError);
    await expect(refused).rejects.toThrow(message);
    expect(await isOpen(client)).toBe(wasOpen);
    await client.query('ROLLBACK');
    expect(await keys(storage)).toEqual(['first']);
  });

  test('is refused when it has failed', async () => {
    const { storage } = await box();
    const client = await begun();
    await client.query('SELECT 1 / 0').catch(() => undefined);
    await expect(Promise.resolve(storage.commitWith(client).write(put('a')))).rejects.toThrow(/has failed/);
    await client.query('ROLLBACK');
    expect(await keys(storage)).toEqual([]);
  });

  test.each([false, true])(
    'is refused when it is one of another database, with a store there: %s',
    async (hasStore) => {
      const own = await box();
      await store(own.storage, { key: ['first'] });
      const name = `d${randomUUID().replaceAll('-', '')}`;
      await pool.query(`CREATE DATABASE ${name}`);
      const elsewhere = new URL(url);
      elsewhere.pathname = `/${name}`;
      if (hasStore) {
        const other = valueFrom(await postgresStorage(elsewhere.href, { schema: own.schema }));
        await store(other, { key: ['theirs'] });
        await other.close();
      }
      const client = new pg.Client({ connectionString: elsewhere.href });
      await client.connect();
      ends.push(() => client.end());
      await client.query('BEGIN');
      const refused = Promise.resolve(own.storage.commitWith(client).write(put('a')));
      await expect(refused).rejects.toBeInstanceOf(HostTransactionError);
      await expect(refused).rejects.toThrow(/another database/);
      expect(await isOpen(client)).toBe(true);
      expect(await keys(own.storage)).toEqual(['first']);
    },
  );

  test('a deferred constraint that fails at COMMIT rolls both back, with its own error', async () => {
    const { storage, orders } = await box();
    await pool.query(`CREATE TABLE lines_${orders} (of text REFERENCES ${orders} DEFERRABLE INITIALLY DEFERRED)`);
    const client = await begun();
    await client.query(`INSERT INTO lines_${orders} VALUES ('missing')`);
    const refused = Promise.resolve(storage.commitWith(client).write(put('a')));
    await expect(refused).rejects.toMatchObject({ code: '23503', table: `lines_${orders}` });
    expect(await isOpen(client)).toBe(false);
    expect(await keys(storage)).toEqual([]);
    await store(storage, { key: ['b'] });
  });

  test('is for one operation, on a client', async () => {
    const { storage } = await box();
    const client = await begun();
    const once = storage.commitWith(client);
    valueFrom(await once.write(put('a')));
    await expect(Promise.resolve(once.write(put('b')))).rejects.toBeInstanceOf(HostTransactionError);
    for (const wrong of [undefined, null, {}, { query: () => undefined }, 'client'])
      expect(() => storage.commitWith(wrong as never)).toThrow(/the client of `pg`/);
    expect(() => storage.commitWith(pool)).toThrow(/not its pool/);
    const pipelined = Object.assign(new pg.Client(), { pipeline: true });
    expect(() => storage.commitWith(pipelined)).toThrow(/pipeline: true/);
  });

  test('a pool whose clients have `pipeline: true` cannot be used for a store either', async () => {
    const pipelined = new pg.Pool(Object.assign({ connectionString: url }, { pipeline: true }));
    const refused = await postgresStorage(pipelined);
    expect(refused._unsafeUnwrapErr()).toMatchObject({
      reason: 'io',
      message: expect.stringContaining('pipeline: true'),
    });
    await pipelined.end();
  });

  test('a row that was taken for new, and is not, is looked up', async () => {
    const own = await box();
    await store(own.storage, { key: ['a'], text: 'first' });
    const fresh = await another(own);
    // The table is known there, and the row is not.
    await look(fresh, (view) => view.get(things, ['other']));
    const client = await begun();
    await client.query(`INSERT INTO ${own.orders} VALUES ('a')`);
    valueFrom(await fresh.commitWith(client).write((view) => ok(view.put(things, { key: ['a'], text: 'second' }))));
    expect(await rowsIn(own.orders)).toEqual(['a']);
    expect(await look(own.storage, (view) => view.get(things, ['a'])?.record.text)).toBe('second');
  });

  test('a record that cannot be stored leaves it open', async () => {
    const { storage, orders } = await box();
    const client = await begun();
    await client.query(`INSERT INTO ${orders} VALUES ('a')`);
    const refused = await storage.commitWith(client).write(put(randomBytes(6000).toString('hex')));
    expect(refused._unsafeUnwrapErr()).toMatchObject({ reason: 'invalid_record' });
    expect(await isOpen(client)).toBe(true);
  });

  test('waiters of other processes are woken, and writes of this one continue', async () => {
    const own = await box();
    const other = await another(own);
    await store(own.storage, { key: ['first'] });
    const index = await look(other, (view) => view.tableIndex(things));
    const woken = other.waitForChange([things], index, new AbortController().signal);
    const client = await begun();
    // Holds a row that is of no interest to the store.
    await client.query(`INSERT INTO ${own.orders} VALUES ('a')`);
    await store(own.storage, { key: ['meanwhile'] });
    valueFrom(await own.storage.commitWith(client).write(put('a')));
    expect(await woken).toBeGreaterThan(index);
    await store(own.storage, { key: ['after'] });
    expect(await keys(other)).toEqual(['a', 'after', 'first', 'meanwhile']);
  });
});

describe('a lost race', () => {
  /** Somebody commits each time before the host does. */
  async function racing(own: Box, losses: number) {
    const other = await another(own);
    await store(other, { key: ['prepared'] });
    const client = await begun();
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    let lost = 0;
    const disturbed = new Proxy(client, {
      get(target, name) {
        if (name !== 'query') {
          const member: unknown = Reflect.get(target, name);
          return typeof member === 'function' ? member.bind(target) : member;
        }
        return (statement: { submit?: unknown }, ...rest: unknown[]) => {
          if (typeof statement.submit !== 'function' || lost >= losses) return query(statement, ...rest);
          lost += 1;
          void store(other, { key: [`by another ${lost}`] }).then(() => query(statement, ...rest));
          return undefined;
        };
      },
    });
    return { client, disturbed, lost: () => lost };
  }

  test.each([1, 2, 3, 4])('does not lose the statements of the host: %d', async (losses) => {
    const own = await box();
    const { client, disturbed, lost } = await racing(own, losses);
    await client.query(`INSERT INTO ${own.orders} VALUES ('a')`);
    let runs = 0;
    const written = await own.storage.commitWith(disturbed).write((view) => {
      runs += 1;
      return count(view);
    });
    expect(valueFrom(written).value).toBe(1);
    expect(lost()).toBe(losses);
    expect(runs).toBeGreaterThan(1);
    expect(await rowsIn(own.orders)).toEqual(['a']);
    expect((await keys(own.storage)).filter((key) => String(key).startsWith('by'))).toHaveLength(losses);
  });

  test('an operation that is then refused leaves the transaction open', async () => {
    const own = await box();
    const { client, disturbed } = await racing(own, 1);
    await client.query(`INSERT INTO ${own.orders} VALUES ('a')`);
    const refused = await own.storage.commitWith(disturbed).write((view) => {
      if (view.list(things).length > 1) return err('somebody was first');
      view.put(things, { key: ['mine'] });
      return ok(undefined);
    });
    expect(refused._unsafeUnwrapErr()).toBe('somebody was first');
    expect(await isOpen(client)).toBe(true);
    await client.query('COMMIT');
    expect(await rowsIn(own.orders)).toEqual(['a']);
  });

  test('of many hosts in several processes: their rows are what was committed, exactly', async () => {
    const own = await box();
    const stores = [own.storage, await another(own), await another(own)];
    const work = async (at: number): Promise<number> => {
      const storage = stores[at % 3] as PostgresStorage;
      const name = `host ${at}`;
      if (at % 4 === 3) return valueFrom(await storage.write(count)).value;
      if (at % 4 === 2) {
        const rows = storage.alongside((sql) => sql.run(`INSERT INTO ${own.orders} (id) VALUES ($1)`, name));
        return valueFrom(await rows.write(count)).value;
      }
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await client.query(`INSERT INTO ${own.orders} (id) VALUES ($1)`, [name]);
        return valueFrom(await storage.commitWith(client).write(count)).value;
      } finally {
        client.release();
      }
    };
    const all = Array.from({ length: 120 }, (_, at) => at);
    const values = await Promise.all(all.map(work));
    expect(values.toSorted((a, b) => a - b)).toEqual(all.map((at) => at + 1));
    const names = all.filter((at) => at % 4 !== 3).map((at) => `host ${at}`);
    expect(await rowsIn(own.orders)).toEqual(names.toSorted());
  });
});

describe('rows of the host that others have locked', () => {
  /** A process that has just lost a race, so that it takes the lock of the store before it runs anything. */
  async function inTurns(own: Box): Promise<PostgresStorage> {
    const other = await another(own);
    await Promise.all(Array.from({ length: 30 }, (_, at) => (at % 2 === 0 ? own.storage : other).write(count)));
    return other;
  }

  test.each(['optimistic', 'in turns'])('statements alongside wait for them outside of the lock: %s', async (how) => {
    const own = await box();
    await pool.query(`INSERT INTO ${own.orders} VALUES ('row')`);
    await store(own.storage, { key: ['prepared'] });
    const other = how === 'optimistic' ? await another(own) : await inTurns(own);
    const client = await begun();
    await client.query(`UPDATE ${own.orders} SET at = 1 WHERE id = 'row'`);
    const waiting = other
      .alongside((sql) => sql.run(`UPDATE ${own.orders} SET at = at + 10 WHERE id = 'row'`))
      .write(put('theirs'));
    const settled = Promise.resolve(waiting);
    await expect.poll(async () => (await blocked()).length).toBeGreaterThan(0);
    const started = performance.now();
    valueFrom(await own.storage.commitWith(client).write(put('mine')));
    expect(performance.now() - started).toBeLessThan(5000);
    valueFrom(await settled);
    const { rows } = await pool.query(`SELECT at FROM ${own.orders}`);
    expect(rows).toEqual([{ at: 11 }]);
  });

  const blocked = async () =>
    (await pool.query(`SELECT 1 FROM pg_stat_activity WHERE query LIKE '%at + 10%' AND wait_event_type = 'Lock'`)).rows;

  test('that COMMIT waits for are given up in time, and the transaction stays open', async () => {
    const own = await box({ busyMs: 1500 });
    await store(own.storage, { key: ['prepared'] });
    // Somebody holds the lock of the store, and never ends: only a session that works may.
    const other = await pool.connect();
    ends.push(() => other.release(true));
    const [locked] = (
      await pool.query(`SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = 0`)
    ).rows;
    expect(locked).toBe(undefined);
    const client = await begun();
    await client.query(`INSERT INTO ${own.orders} VALUES ('a')`);
    await other.query('BEGIN');
    await other.query(`LOCK TABLE ${own.schema}.sb_chain IN ACCESS EXCLUSIVE MODE`);
    const refused = await own.storage.commitWith(client).write(put('a'));
    expect(refused._unsafeUnwrapErr()).toMatchObject({ reason: 'busy' });
    await other.query('ROLLBACK');
    expect(await isOpen(client)).toBe(true);
    await client.query('COMMIT');
    expect(await rowsIn(own.orders)).toEqual(['a']);
    expect(await keys(own.storage)).toEqual(['prepared']);
  });
});

describe('a connection that is lost', () => {
  type Cut = 'before' | 'answer';

  /** At the given statements of the store: the server ends the session before it gets them, or their answer does not arrive. */
  function cut(client: pg.PoolClient, at: number, how: Cut): pg.PoolClient {
    let sent = 0;
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
    return new Proxy(client, {
      get(target, name) {
        if (name !== 'query') {
          const member: unknown = Reflect.get(target, name);
          return typeof member === 'function' ? member.bind(target) : member;
        }
        return (statement: { submit?: unknown; callback?: (...given: unknown[]) => void }) => {
          sent += 1;
          if (sent !== at) return query(statement);
          if (how === 'before') {
            connection.stream.destroy();
            return query(statement);
          }
          const { callback } = statement;
          statement.callback = () => {
            connection.stream.destroy();
            callback?.(new Error('cut'));
          };
          return query(statement);
        };
      },
    });
  }

  test.each<[Cut, number]>([
    ['before', 1],
    ['answer', 1],
  ])('its outcome is looked for: %s %d', async (how, at) => {
    const own = await box();
    await store(own.storage, { key: ['prepared'] });
    const client = await begun();
    await client.query(`INSERT INTO ${own.orders} VALUES ('a')`);
    const written = await own.storage.commitWith(cut(client, at, how)).write(put('a'));
    if (how === 'answer') {
      const { index } = valueFrom(written);
      expect(await look(own.storage, (view) => view.get(things, ['a'])?.createIndex)).toBe(index);
      expect(await rowsIn(own.orders)).toEqual(['a']);
    } else {
      expect(written._unsafeUnwrapErr()).toMatchObject({ type: 'storage_failed', reason: 'io' });
      expect(await rowsIn(own.orders)).toEqual([]);
      expect(await keys(own.storage)).toEqual(['prepared']);
    }
    await store(own.storage, { key: ['after'] });
  });
});
