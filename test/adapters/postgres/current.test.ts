import { randomUUID } from 'node:crypto';
import { err, ok } from 'neverthrow';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { type PgPool, postgresStorage } from '../../../adapters/postgres/index.js';
import type { ReadView } from '../../../src/ports/storage.js';
import { commit, look, things, valueFrom } from '../../conformance/storage/storage-subject.js';

test('a write that is refused has seen all that was acknowledged before it, also while reads of its process learn of it', async () => {
  const schema = `c${randomUUID().replaceAll('-', '')}`;
  const [one, other] = [
    valueFrom(await postgresStorage(inject('postgres'), { schema })),
    valueFrom(await postgresStorage(inject('postgres'), { schema })),
  ];
  let acknowledged = 0;
  let isOver = false;
  const counting = async (): Promise<void> => {
    for (let n = 1; n <= 400; n += 1) {
      await commit(other, (view) => view.put(things, { key: ['n'], text: String(n) }));
      acknowledged = n;
    }
    isOver = true;
  };
  const reading = async (): Promise<void> => {
    while (!isOver) await look(one, (view) => view.get(things, ['n'])?.record.text);
  };
  const refused = async (): Promise<void> => {
    while (!isOver) {
      const before = acknowledged;
      const result = await one.write((view) => err(Number(view.get(things, ['n'])?.record.text ?? 0)));
      expect(result._unsafeUnwrapErr()).toBeGreaterThanOrEqual(before);
    }
  };
  await Promise.all([counting(), reading(), reading(), refused(), refused()]);
  await Promise.all([one.close(), other.close()]);
});

test('a pooler that has prepared statements only where they were parsed gets the same answers', async () => {
  const pool = new pg.Pool({ connectionString: inject('postgres'), max: 3 });
  let isPooling = false;
  const forgetful: PgPool = {
    connect: async () => {
      const client = await pool.connect();
      const query = client.query.bind(client) as (asked: never) => Promise<unknown>;
      return Object.assign(client, {
        query: (asked: never) => {
          if (isPooling) query('DEALLOCATE ALL' as never).catch(() => undefined);
          return query(asked);
        },
      });
    },
  };
  const storage = valueFrom(await postgresStorage(forgetful, { schema: `c${randomUUID().replaceAll('-', '')}` }));
  for (let n = 0; n < 20; n += 1) {
    isPooling = n >= 10;
    await commit(storage, (view) => {
      const before = view.get(things, ['n'])?.record.text ?? '0';
      view.put(things, { key: ['n'], text: String(Number(before) + 1) });
    });
    expect(await look(storage, (view) => view.get(things, ['n'])?.record.text)).toBe(String(n + 1));
  }
  await storage.close();
  await pool.end();
});

test.each(['before', 'after'])(
  'what a work keeps for as long as the index of a table stays the same is whole: index %s rows',
  async (order) => {
    const schema = `c${randomUUID().replaceAll('-', '')}`;
    const one = valueFrom(await postgresStorage(inject('postgres'), { schema }));
    for (const key of ['a', 'b', 'c']) await commit(one, (view) => view.put(things, { key: [key] }));
    // It knows nothing yet: its first run finds nothing.
    const other = valueFrom(await postgresStorage(inject('postgres'), { schema }));
    let kept: { readonly index: number; readonly keys: readonly unknown[] } | undefined;
    const cached = (view: ReadView): readonly unknown[] => {
      const keys = (): readonly unknown[] => view.list(things).map(({ record }) => record.key[0]);
      if (order === 'before') {
        const index = view.tableIndex(things);
        if (kept?.index !== index) kept = { index, keys: keys() };
        return kept.keys;
      }
      if (kept === undefined) {
        const found = keys();
        kept = { keys: found, index: view.tableIndex(things) };
      }
      return kept.keys;
    };
    expect(await look(other, cached)).toEqual(['a', 'b', 'c']);
    await Promise.all([one.close(), other.close()]);
  },
);

test('a function that asks for other rows each time that it is run fails alone; one that follows rows to rows does not', async () => {
  const schema = `c${randomUUID().replaceAll('-', '')}`;
  const before = valueFrom(await postgresStorage(inject('postgres'), { schema }));
  const links = 1200;
  await commit(before, (view) => {
    for (let n = 0; n < links; n += 1) view.put(things, { key: ['link', n], text: String(n + 1) });
  });
  await before.close();
  const storage = valueFrom(await postgresStorage(inject('postgres'), { schema }));
  const chain = (view: ReadView): number => {
    let at = 0;
    for (let next = view.get(things, ['link', at]); next !== undefined; next = view.get(things, ['link', at]))
      at = Number(next.record.text);
    return at;
  };
  const endless = (view: ReadView) => view.get(things, [randomUUID()]);
  const client = new pg.Client({ connectionString: inject('postgres') });
  await client.connect();
  await client.query('BEGIN');
  const outcomes = await Promise.allSettled([
    storage.write((view) => ok(endless(view))),
    storage.write((view) => ok(view.put(things, { key: ['put'], text: String(chain(view)) }))),
    storage.read(endless),
    look(storage, chain),
    storage.commitWith(client).write((view) => ok(endless(view))),
  ]);
  const refused = { status: 'rejected', reason: { message: expect.stringContaining('asked for other rows each') } };
  expect(outcomes).toMatchObject([
    refused,
    { status: 'fulfilled' },
    refused,
    { status: 'fulfilled', value: links },
    refused,
  ]);
  expect(await look(storage, (view) => view.get(things, ['put'])?.record.text)).toBe(String(links));
  // The transaction of the host is still open.
  expect((await client.query('SELECT now() = statement_timestamp() AS fresh')).rows).toEqual([{ fresh: false }]);
  await client.end();
  await storage.close();
});
