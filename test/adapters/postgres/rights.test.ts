import { randomUUID } from 'node:crypto';
import { ok } from 'neverthrow';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import { assertFailed, commit, look, store, things, valueFrom } from '../../conformance/storage/storage-subject.js';

const url = inject('postgres');
const admin = new pg.Client({ connectionString: url });
beforeAll(() => admin.connect());
afterAll(() => admin.end());

test('a role with rights on its schema alone is enough; without them calls fail, and work again when they are back', async () => {
  const schema = `r${randomUUID().replaceAll('-', '')}`;
  await admin.query(`CREATE ROLE ${schema} LOGIN`);
  await admin.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${schema}`);
  const storage = valueFrom(await postgresStorage(url.replace('postgres@', `${schema}@`), { schema }));
  await store(storage, { key: ['a'] }, { key: ['b'] });
  const other = valueFrom(await postgresStorage(url, { schema }));
  await store(other, { key: ['c'], text: 'x'.repeat(1000) });
  await admin.query(`ALTER TABLE ${schema}.sb_chain OWNER TO postgres`);
  assertFailed(await storage.write((view) => ok(view.list(things).length)), 'io');
  assertFailed(await storage.read((view) => view.list(things).length), 'io');
  await admin.query(`ALTER TABLE ${schema}.sb_chain OWNER TO ${schema}`);
  expect((await commit(storage, (view) => view.list(things).length)).value).toBe(3);
  await store(storage, { key: ['d'] });
  expect(await look(storage, (view) => view.list(things).length)).toBe(4);
  await Promise.all([storage.close(), other.close()]);
});
