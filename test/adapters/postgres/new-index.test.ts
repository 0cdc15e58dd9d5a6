import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import { readPostgres } from '../../../adapters/postgres/postgres-contents.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type Key, table } from '../../../src/shared/table.js';
import { commit, look, type Thing, valueFrom } from '../../conformance/storage/storage-subject.js';

/* An index that is declared for a table that has rows. */

const older = table<Thing>('grown', (thing) => thing.key);
const newer = table<Thing>('grown', (thing) => thing.key, {
  byText: { version: 1, key: ({ text }) => (text === undefined ? undefined : [text]) },
});
const url = inject('postgres');
const admin = new pg.Pool({ connectionString: url, max: 2 });
afterAll(() => admin.end());

const opened = async (schema: string, name = 'signalbox'): Promise<Storage> =>
  valueFrom(await postgresStorage(`${url}?application_name=${name}`, { schema }));
const newSchema = (): string => `n${randomUUID().replaceAll('-', '')}`;

/** What the index lists, and what it should list. */
async function listed(storage: Storage) {
  return look(storage, (view) => {
    const by = (rows: readonly { readonly record: Thing }[]) => rows.map(({ record }) => JSON.stringify(record));
    const all = view.list(newer).filter(({ record }) => record.text !== undefined);
    return { found: by(view.list(newer, { index: 'byText' })).sort(), right: by(all).sort() };
  });
}

test('is complete for whoever lists it, while others commit, remove and add rows and sessions end', {
  timeout: 120_000,
}, async () => {
  const schema = newSchema();
  const name = `n${randomUUID().slice(0, 8)}`;
  const before = await opened(schema);
  const rows = 2000;
  for (let at = 0; at < rows; at += 500)
    await commit(before, (view) => {
      view.put(older, { key: [], text: 'first' });
      for (let n = at; n < at + 500; n += 1)
        view.put(older, { key: [n], ...(n % 3 === 0 ? {} : { text: `${n % 50} ${'x'.repeat(300)}` }) });
    });
  const now = [await opened(schema, name), await opened(schema)] as const;
  let isDone = false;
  let commits = 0;
  const change = async (storage: Storage, of: typeof older): Promise<void> => {
    for (let n = 1; !isDone; n += 1) {
      await commit(storage, (view) => {
        const key: Key = [(n * 7919) % (rows + 500)];
        if (n % 4 === 0) view.remove(of, key);
        else view.put(of, { key, ...(n % 5 === 0 ? {} : { text: `changed ${n}` }) });
      });
      commits += 1;
    }
  };
  const changing = [change(before, older), change(await opened(schema), newer)];
  const ended = (async () => {
    for (let n = 0; n < 3; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [name]);
    }
  })();
  for (let round = 0; round < 2; round += 1)
    for (const storage of now) {
      const { found, right } = await listed(storage);
      expect(found).toEqual(right);
      expect(found).toContain(JSON.stringify({ key: [], text: 'first' }));
    }
  await ended;
  expect(commits).toBeGreaterThan(5);
  isDone = true;
  await Promise.all(changing);
  for (const storage of now) {
    const { found, right } = await listed(storage);
    expect(found).toEqual(right);
    await storage.close();
  }
  await before.close();
});

test('others commit while its entries are made, and the rows without an entry are noted in the store until then', async () => {
  const schema = newSchema();
  const before = await opened(schema);
  await commit(before, (view) => {
    for (let n = 0; n < 3000; n += 1) view.put(older, { key: [n], text: `${n}` });
  });
  const now = await opened(schema);
  // Nothing is listed by the index yet.
  await commit(now, (view) => view.put(newer, { key: ['new'], text: 'new' }));
  const reader = valueFrom(await readPostgres({ url, schema }));
  const [kept] = reader.tables.filter((each) => each.name === 'grown');
  let lacking = 0;
  if (kept !== undefined)
    for await (const batch of reader.rows(kept))
      lacking += batch.filter(({ entries }) => entries[0] === undefined).length;
  await reader.close();
  expect(lacking).toBe(3000);
  const states: number[] = [];
  const listing = look(now, (view) => view.list(newer, { index: 'byText' }).length);
  let isDone = false;
  const counted = (async () => {
    while (!isDone) {
      await commit(before, (view) => view.put(older, { key: ['beside'], text: 'beside' }));
      const { rows } = await admin.query(`SELECT count(i1)::int AS n FROM ${schema}.sb_rows_1`);
      states.push((rows[0] as { n: number }).n);
    }
  })();
  expect(await listing).toBeGreaterThanOrEqual(3001);
  isDone = true;
  await counted;
  // Some commits happened when a part of the entries was there.
  expect(states.filter((n) => n > 1 && n < 3001).length).toBeGreaterThan(0);
  await Promise.all([before.close(), now.close()]);
});

test('a random history over three programs lists what a complete index would', { timeout: 300_000 }, async () => {
  const step = fc.record({
    by: fc.nat(2),
    key: fc.nat(12),
    action: fc.constantFrom('put', 'put', 'bare', 'remove', 'list'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const schema = newSchema();
      const programs = [await opened(schema), await opened(schema), await opened(schema)] as const;
      for (const [at, { by, key, action }] of steps.entries()) {
        // The second one knows the index, the third one after a while.
        const of = by === 1 || (by === 2 && at > 30) ? newer : older;
        const storage = programs[by] as Storage;
        if (action === 'list') {
          const { found, right } = await listed(programs[1]);
          expect(found).toEqual(right);
        } else
          await commit(storage, (view) => {
            if (action === 'remove') view.remove(of, [key]);
            else view.put(of, { key: [key], ...(action === 'put' ? { text: `${at % 5}` } : {}) });
          });
      }
      const { found, right } = await listed(programs[1]);
      expect(found).toEqual(right);
      for (const storage of programs) await storage.close();
    }),
    { numRuns: Number(process.env['SIGNALBOX_POSTGRES_PROGRAMS'] ?? 10) },
  );
});
