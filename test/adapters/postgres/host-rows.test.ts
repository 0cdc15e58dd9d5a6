import { randomUUID } from 'node:crypto';
import { err, ok } from 'neverthrow';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type PostgresStorage, postgresStorage } from '../../../adapters/postgres/index.js';
import { HostTransactionError } from '../../../adapters/storage-kit/index.js';
import { look, store, things, valueFrom } from '../../conformance/storage/storage-subject.js';

const url = inject('postgres');
const host = new pg.Client({ connectionString: url });
beforeAll(() => host.connect());
afterAll(() => host.end());

/** A store, and a table of the host in the same database. */
async function box(): Promise<{ storage: PostgresStorage; schema: string; orders: string; close(): Promise<void> }> {
  const schema = `h${randomUUID().replaceAll('-', '')}`;
  const orders = `orders_${schema}`;
  await host.query(`CREATE TABLE ${orders} (id text PRIMARY KEY, at int NOT NULL)`);
  const storage = valueFrom(await postgresStorage(url, { schema }));
  return { storage, schema, orders, close: () => storage.close() };
}

const rowsIn = async (table: string): Promise<unknown[]> =>
  (await host.query(`SELECT id, at FROM ${table} ORDER BY id`)).rows;

describe('rows of the host', () => {
  test('are committed with the operation, which they may depend on', async () => {
    const { storage, orders, close } = await box();
    const written = await storage
      .alongside((sql, { value, index }) => sql.run(`INSERT INTO ${orders} VALUES ($1, $2)`, String(value), index))
      .write((view) => {
        view.put(things, { key: ['a'] });
        return ok('order');
      });
    const { index } = valueFrom(written);
    expect(await rowsIn(orders)).toEqual([{ id: 'order', at: index }]);
    expect(await look(storage, (view) => view.get(things, ['a'])?.createIndex)).toBe(index);
    await close();
  });

  test('are committed when the operation changes nothing', async () => {
    const { storage, orders, close } = await box();
    valueFrom(await storage.alongside((sql) => sql.run(`INSERT INTO ${orders} VALUES ('a', 1)`)).write(() => ok(1)));
    expect(await rowsIn(orders)).toEqual([{ id: 'a', at: 1 }]);
    await close();
  });

  test('are not executed when the operation is refused', async () => {
    const { storage, orders, close } = await box();
    const refused = await storage
      .alongside((sql) => sql.run(`INSERT INTO ${orders} VALUES ('a', 1)`))
      .write((view) => {
        view.put(things, { key: ['a'] });
        return err('no');
      });
    expect(refused._unsafeUnwrapErr()).toBe('no');
    expect(await rowsIn(orders)).toEqual([]);
    await close();
  });

  test('a violated constraint is the error of the host, and nothing is stored', async () => {
    const { storage, orders, close } = await box();
    await host.query(`INSERT INTO ${orders} VALUES ('a', 0)`);
    const both = storage
      .alongside((sql) => sql.run(`INSERT INTO ${orders} VALUES ('a', 1)`))
      .write((view) => ok(view.put(things, { key: ['a'] })));
    await expect(Promise.resolve(both)).rejects.toMatchObject({ code: '23505', table: orders });
    expect(await look(storage, (view) => view.list(things))).toEqual([]);
    await store(storage, { key: ['b'] });
    await close();
  });

  test('an exception of the function is its own, and nothing is stored', async () => {
    const { storage, orders, close } = await box();
    const mistake = new Error('mistake');
    const both = storage
      .alongside((sql) => {
        sql.run(`INSERT INTO ${orders} VALUES ('a', 1)`);
        throw mistake;
      })
      .write((view) => ok(view.put(things, { key: ['a'] })));
    await expect(Promise.resolve(both)).rejects.toBe(mistake);
    expect(await rowsIn(orders)).toEqual([]);
    expect(await look(storage, (view) => view.list(things))).toEqual([]);
    await close();
  });

  test.each([
    ['ends the transaction', 'COMMIT'],
    ['changes the session', 'SET search_path = public'],
    ['names a table of the store', 'DELETE FROM x.sb_chain'],
  ])('a statement that %s is refused', async (_what, text) => {
    const { storage, close } = await box();
    const both = storage.alongside((sql) => sql.run(text)).write((view) => ok(view.put(things, { key: ['a'] })));
    await expect(Promise.resolve(both)).rejects.toBeInstanceOf(HostTransactionError);
    expect(await look(storage, (view) => view.list(things))).toEqual([]);
    await close();
  });

  test('an asynchronous function and a second write are refused', async () => {
    const { storage, close } = await box();
    const waiting = storage.alongside((async () => undefined) as never).write(() => ok(1));
    await expect(Promise.resolve(waiting)).rejects.toBeInstanceOf(HostTransactionError);
    const once = storage.alongside(() => undefined);
    valueFrom(await once.write(() => ok(1)));
    await expect(Promise.resolve(once.write(() => ok(2)))).rejects.toBeInstanceOf(HostTransactionError);
    await close();
  });

  test('two processes that race lose no statement and execute none twice', async () => {
    const { storage, schema, orders, close } = await box();
    const other = valueFrom(await postgresStorage(url, { schema }));
    const both = Array.from({ length: 60 }, async (_, at) => {
      const of = at % 2 === 0 ? storage : other;
      const written = await of
        .alongside((sql, { value, index }) => sql.run(`INSERT INTO ${orders} VALUES ($1, $2)`, `${value}`, index))
        .write((view) => {
          const count = Number(view.get(things, ['count'])?.record.text ?? 0) + 1;
          view.put(things, { key: ['count'], text: String(count) });
          return ok(count);
        });
      return valueFrom(written);
    });
    const written = await Promise.all(both);
    const found = await rowsIn(orders);
    expect(found).toHaveLength(60);
    expect(found).toEqual(
      written.map(({ value, index }) => ({ id: String(value), at: index })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
    expect(await look(storage, (view) => view.get(things, ['count'])?.record.text)).toBe('60');
    await other.close();
    await close();
  });
});
