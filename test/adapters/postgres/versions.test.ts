import { randomUUID } from 'node:crypto';
import { err } from 'neverthrow';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import type { Storage } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';
import { commit, look, type Thing, valueFrom } from '../../conformance/storage/storage-subject.js';

const older = table<Thing>('mixed', (thing) => thing.key);
const newer = table<Thing>('mixed', (thing) => thing.key, {
  byText: { version: 1, key: ({ text }) => (text === undefined ? undefined : [text]) },
});

test('entries that an older program has left out are there for good, also when the write that needed them is refused', async () => {
  const schema = `v${randomUUID().replaceAll('-', '')}`;
  // The newer program remembers nothing between its writes.
  const now = valueFrom(await postgresStorage(inject('postgres'), { schema, cacheSize: 0 }));
  const before = valueFrom(await postgresStorage(inject('postgres'), { schema }));
  await look(now, (view) => view.list(newer, { index: 'byText' }));
  const addAll = async (storage: Storage, of: typeof older, times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) await commit(storage, (view) => view.put(of, { key: ['n'], text: `${n}` }));
  };
  for (let n = 0; n < 5; n += 1) {
    // They are in each other's way, so that the newer one asks for turns.
    await Promise.all([addAll(now, newer, 10), addAll(before, older, 60)]);
    // Too long to travel with the batch.
    const text = `${n} `.repeat(400);
    await commit(before, (view) => view.put(older, { key: ['long', n], text }));
    const refused = await now.write((view) => err(view.list(newer, { index: 'byText' }).length));
    expect(refused._unsafeUnwrapErr()).toBe(n + 2);
    for (let time = 0; time < 3; time += 1)
      expect(await look(now, (view) => view.list(newer, { index: 'byText' }).length)).toBe(n + 2);
  }
  await Promise.all([now.close(), before.close()]);
});

test.each([
  ['small', ''],
  ['large', 'x'.repeat(2000)],
])(
  'an index is read and written by while an older program writes without a pause (%s rows)',
  async (_name, filling) => {
    const schema = `v${randomUUID().replaceAll('-', '')}`;
    const now = valueFrom(await postgresStorage(inject('postgres'), { schema }));
    const before = valueFrom(await postgresStorage(inject('postgres'), { schema }));
    await commit(now, (view) => view.put(newer, { key: ['first'], text: 'a' }));
    let isOver = false;
    let count = 0;
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      while (!isOver) {
        count += 1;
        await commit(before, (view) => view.put(older, { key: [writer, count % 50], text: `b${count}${filling}` }));
      }
    });
    for (let time = 0; time < 10; time += 1) {
      await look(now, (view) => view.list(newer, { index: 'byText' }).length);
      await commit(now, (view) =>
        view.put(newer, { key: ['n'], text: `c${view.list(newer, { index: 'byText' }).length}` }),
      );
    }
    expect(count).toBeGreaterThan(0);
    isOver = true;
    await Promise.all(writing);
    const inOrder = await look(now, (view) => view.list(newer, { index: 'byText' }).map(({ record }) => record.text));
    const all = await look(now, (view) => view.list(newer).map(({ record }) => record.text));
    expect(inOrder).toEqual(all.toSorted());
    await Promise.all([now.close(), before.close()]);
  },
);

test('it is used by readers, writers and transactions of hosts at once while an older program writes without a pause', async () => {
  const schema = `v${randomUUID().replaceAll('-', '')}`;
  const now = valueFrom(await postgresStorage(inject('postgres'), { schema }));
  const before = valueFrom(await postgresStorage(inject('postgres'), { schema }));
  const client = new pg.Client({ connectionString: inject('postgres') });
  await client.connect();
  await commit(now, (view) => view.put(newer, { key: ['first'], text: 'a' }));
  let isOver = false;
  const without = Array.from({ length: 4 }, async (_, writer) => {
    for (let n = 0; !isOver; n += 1)
      await commit(before, (view) => view.put(older, { key: [writer, n % 50], text: `b${n}${'x'.repeat(2000)}` }));
  });
  const reading = (async () => {
    while (!isOver) await look(now, (view) => view.list(newer, { index: 'byText' }).length);
  })();
  for (let time = 0; time < 8; time += 1) {
    const put = (storage: Storage, by: string) =>
      commit(storage, (view) =>
        view.put(newer, { key: [by, time], text: `c${view.list(newer, { index: 'byText' }).length}` }),
      );
    await put(now, 'own');
    await client.query('BEGIN');
    await put(now.commitWith(client), 'host');
  }
  isOver = true;
  await Promise.all([...without, reading]);
  const keys = await look(now, (view) => view.list(newer, { index: 'byText' }).map(({ record }) => record.key[0]));
  expect(keys.filter((by) => by === 'own' || by === 'host')).toHaveLength(16);
  await Promise.all([now.close(), before.close(), client.end()]);
});
