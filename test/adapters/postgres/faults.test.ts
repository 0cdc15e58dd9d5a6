import { randomBytes, randomUUID } from 'node:crypto';
import { ok } from 'neverthrow';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type PostgresStorageOptions, postgresStorage } from '../../../adapters/postgres/index.js';
import type { Storage } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';
import {
  assertFailed,
  commit,
  errorOf,
  look,
  never,
  store,
  things,
  valueFrom,
} from '../../conformance/storage/storage-subject.js';
import { type PostgresServer, postgresServer } from './postgres-server.js';
import { TcpProxy } from './tcp-proxy.js';

const url = inject('postgres');
const admin = new pg.Client({ connectionString: url });
beforeAll(() => admin.connect());
afterAll(() => admin.end());

const newSchema = (): string => `f${randomUUID().replaceAll('-', '')}`;

async function open(schema: string, options: PostgresStorageOptions = {}, at = url): Promise<Storage> {
  return valueFrom(await postgresStorage(at, { schema, ...options }));
}

/** Lines of a log, by level. */
function recorded(): { logger: NonNullable<PostgresStorageOptions['logger']>; lines: string[] } {
  const lines: string[] = [];
  const note = (level: string) => (_fields: object, message: string) => void lines.push(`${level}: ${message}`);
  return { logger: { warn: note('warn'), error: note('error') }, lines };
}

describe('what cannot be stored', () => {
  test('fails alone, and its neighbours in the batch are committed', async () => {
    const storage = await open(newSchema());
    // Random, so that it cannot be compressed into an index.
    const long = randomBytes(6000).toString('hex');
    const writes = Array.from({ length: 40 }, (_, at) =>
      storage.write((view) => ok(view.put(things, { key: [at === 17 ? long : at] }))),
    );
    const results = await Promise.all(writes);
    for (const [at, result] of results.entries())
      if (at === 17) assertFailed(result, 'invalid_record');
      else expect(result.isOk()).toBe(true);
    expect(await look(storage, (view) => view.list(things).length)).toBe(39);
    await storage.close();
  });

  test('a store of a later version is refused, and not changed', async () => {
    const schema = newSchema();
    const storage = await open(schema);
    await store(storage, { key: ['a'] });
    await storage.close();
    await admin.query(`UPDATE ${schema}.sb_store SET format = 99`);
    assertFailed(await postgresStorage(url, { schema }), 'too_new');
    await admin.query(`UPDATE ${schema}.sb_store SET format = 1`);
    const again = await open(schema);
    expect(await look(again, (view) => view.list(things).length)).toBe(1);
    await again.close();
  });

  test('missing tables are damage', async () => {
    const schema = newSchema();
    const storage = await open(schema);
    await store(storage, { key: ['a'] });
    await admin.query(`DROP SCHEMA ${schema} CASCADE`);
    assertFailed(await storage.read((view) => view.get(things, ['b'])), 'corrupt');
    assertFailed(await storage.write((view) => ok(view.put(things, { key: ['b'] }))), 'corrupt');
    await storage.close();
  });
});

describe('an error of the server', () => {
  /** A store whose next two commits run into something. */
  async function troubled(trouble: string): Promise<{ storage: Storage; count: () => Promise<unknown>; role: string }> {
    const schema = newSchema();
    await admin.query(`CREATE ROLE ${schema} LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION ${schema}`);
    const storage = await open(schema, { busyMs: 60_000 }, url.replace('postgres@', `${schema}@`));
    await store(storage, { key: ['count'], text: '0' });
    await admin.query(`CREATE SEQUENCE ${schema}.commits; GRANT ALL ON SEQUENCE ${schema}.commits TO ${schema}`);
    await admin.query(
      `CREATE FUNCTION ${schema}.trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('${schema}.commits') <= 2 THEN ${trouble}; END IF; RETURN NEW; END $$`,
    );
    await admin.query(
      `CREATE TRIGGER trouble BEFORE INSERT ON ${schema}.sb_chain FOR EACH ROW EXECUTE FUNCTION ${schema}.trouble()`,
    );
    const count = async (): Promise<unknown> => {
      const written = await storage.write((view) => {
        const next = Number(view.get(things, ['count'])?.record.text) + 1;
        view.put(things, { key: ['count'], text: String(next) });
        return ok(next);
      });
      return written.isOk() ? written.value.value : (written.error as { reason: string }).reason;
    };
    return { storage, count, role: schema };
  }

  const raised = (code: string): string => `RAISE EXCEPTION 'injected' USING ERRCODE = '${code}'`;

  test.each(['40001', '40P01', '55P03', '57014', '25006', '53200', '53300', '57P01', '25P04'])(
    '%s passes: the batch runs again, and is written once',
    async (code) => {
      const { storage, count } = await troubled(raised(code));
      expect([await count(), await count()]).toEqual([1, 2]);
      await storage.close();
    },
  );

  test.each([
    ['53100', 'full'],
    ['42501', 'io'],
    ['58030', 'io'],
    ['XX001', 'io'],
  ])('%s is reported as %s, and the store works again when it is over', async (code, reason) => {
    const { storage, count } = await troubled(raised(code));
    expect([await count(), await count(), await count()]).toEqual([reason, reason, 1]);
    expect(await look(storage, (view) => view.list(things).length)).toBe(1);
    await storage.close();
  });

  test('a timeout of statements that the role has is waited out', async () => {
    const { storage, count, role } = await troubled('PERFORM pg_sleep(60)');
    await admin.query(`ALTER ROLE ${role} SET statement_timeout = '100ms'`);
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
    expect([await count(), await count()]).toEqual([1, 2]);
    await storage.close();
  });
});

test('a role whose transactions are of another kind is refused', async () => {
  const schema = newSchema();
  await admin.query(`CREATE ROLE ${schema} LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION ${schema}`);
  await admin.query(`ALTER ROLE ${schema} SET default_transaction_isolation = 'serializable'`);
  assertFailed(await postgresStorage(url.replace('postgres@', `${schema}@`), { schema }), 'io');
});

describe('processes that create a store, its tables and indexes at the same time, and write to it', () => {
  test.each([
    ['with', true],
    ['without', false],
  ])('%s advisory locks', async (_name, advisoryLocks) => {
    const schema = newSchema();
    const storages = await Promise.all(Array.from({ length: 4 }, () => open(schema, { advisoryLocks })));
    const count = (storage: Storage) =>
      commit(storage, (view) => {
        const next = Number(view.get(things, ['count'])?.record.text ?? 0) + 1;
        view.put(things, { key: ['count'], text: String(next) });
      });
    await Promise.all(
      storages.map(async (storage) => {
        for (let at = 0; at < 25; at += 1) await count(storage);
      }),
    );
    for (const storage of storages)
      expect(await look(storage, (view) => view.get(things, ['count'])?.record.text)).toBe('100');
    await Promise.all(storages.map((storage) => storage.close()));
  });
});

test('a table that is read for long delays the process that adds an index to it, and not the others', async () => {
  const schema = newSchema();
  const plain = table<{ readonly id: number }>('plain', ({ id }) => [id]);
  const indexed = table<{ readonly id: number }>('plain', ({ id }) => [id], {
    byHalf: { version: 1, key: ({ id }) => [id % 2] },
  });
  const [newer, older] = [await open(schema, { busyMs: 1000 }), await open(schema)];
  await commit(older, (view) => view.put(plain, { id: 1 }));
  const dump = new pg.Client({ connectionString: url });
  await dump.connect();
  await dump.query('BEGIN');
  await dump.query(`SELECT count(*) FROM ${schema}.sb_rows_1`);
  const list = () => newer.read((view) => view.list(indexed, { index: 'byHalf' }).length);
  let isOver = false;
  const refused = (async () => {
    const result = await list();
    isOver = true;
    return result;
  })();
  let writes = 0;
  while (!isOver) {
    writes += 1;
    await commit(older, (view) => view.put(plain, { id: 1 + writes }));
  }
  assertFailed(await refused, 'busy');
  expect(writes).toBeGreaterThan(3);
  await dump.end();
  expect(valueFrom(await list())).toBe(1 + writes);
  await Promise.all([newer.close(), older.close()]);
});

test('a pool without a free connection is waited for, and then the store is busy', async () => {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const storage = valueFrom(await postgresStorage(pool, { schema: newSchema(), busyMs: 100 }));
  await store(storage, { key: ['a'] });
  assertFailed(await storage.read((view) => view.get(things, ['a'])), 'busy');
  await store(storage, { key: ['b'] });
  await storage.close();
  await pool.end();
});

describe('a server that has lost confirmed batches', () => {
  test('is noticed: what was known is forgotten, waiters are answered, and the host is told', async () => {
    const schema = newSchema();
    const { logger, lines } = recorded();
    const storage = await open(schema, { logger });
    await store(storage, { key: ['kept'] });
    // As on a standby that has not received the second one.
    const before = await admin.query(`SELECT max(seq) AS seq FROM ${schema}.sb_chain`);
    const { index } = await store(storage, { key: ['lost'] });
    const waiting = storage.waitForChange([things], index, never);
    await admin.query(`DELETE FROM ${schema}.sb_chain WHERE seq > ${before.rows[0].seq}`);
    await admin.query(
      `DELETE FROM ${schema}.sb_rows_${(await admin.query(`SELECT id FROM ${schema}.sb_tables WHERE name = 'things'`)).rows[0].id} WHERE key LIKE '%lost%'`,
    );
    expect(await look(storage, (view) => view.list(things).map(({ record }) => record.key))).toEqual([['kept']]);
    const other = await open(schema);
    const later = await store(other, { key: ['other'] });
    expect(later.index).toBe(index);
    await store(other, { key: ['another'] });
    expect(await waiting).toBe(index - 1);
    expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
    await Promise.all([storage.close(), other.close()]);
  });
});

test('a process that was paused until the chain was shortened past what it knows begins again, and reports no loss', async () => {
  const schema = newSchema();
  const { logger, lines } = recorded();
  const [paused, other] = [await open(schema, { logger }), await open(schema)];
  await store(paused, { key: [0], text: 'old' });
  expect(await look(paused, (view) => view.get(things, [0])?.record.text)).toBe('old');
  for (let at = 0; at < 70; at += 1) await store(other, { key: [at], text: `new ${at}` });
  await admin.query(
    `DELETE FROM ${schema}.sb_chain WHERE seq < (SELECT max(seq) FROM ${schema}.sb_chain WHERE indexes IS NOT NULL)`,
  );
  expect(await look(paused, (view) => view.get(things, [0])?.record.text)).toBe('new 0');
  expect(await look(paused, (view) => view.list(things).length)).toBe(70);
  await store(paused, { key: [70] });
  expect(await look(other, (view) => view.list(things).length)).toBe(71);
  expect(lines).toEqual([]);
  await Promise.all([paused.close(), other.close()]);
});

test('writers that take turns begin again when history has changed', async () => {
  const schema = newSchema();
  const { logger, lines } = recorded();
  const [one, other] = [await open(schema, { logger }), await open(schema)];
  const count = (storage: Storage) =>
    commit(storage, (view) => {
      const next = Number(view.get(things, ['count'])?.record.text ?? 0) + 1;
      view.put(things, { key: ['count'], text: String(next) });
      return next;
    });
  await Promise.all(Array.from({ length: 100 }, (_, at) => count(at % 2 === 0 ? one : other)));
  const seen = (storage: Storage) => look(storage, (view) => view.get(things, ['count'])?.record.text);
  const known = [await seen(one), await seen(other)];
  await admin.query(
    `UPDATE ${schema}.sb_chain SET id = gen_random_uuid() WHERE seq = (SELECT max(seq) FROM ${schema}.sb_chain)`,
  );
  // Both know the batch that is lost.
  expect(known).toEqual(['100', '100']);
  expect((await count(one)).value).toBe(101);
  expect((await count(other)).value).toBe(102);
  expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
  // A table that is new here is prepared on the history that is there.
  await admin.query(
    `UPDATE ${schema}.sb_chain SET id = gen_random_uuid() WHERE seq = (SELECT max(seq) FROM ${schema}.sb_chain)`,
  );
  const fresh = table<{ readonly id: number }>('fresh', ({ id }) => [id]);
  await commit(one, (view) => view.put(fresh, { id: 1 }));
  expect(await look(other, (view) => view.list(fresh).length)).toBe(1);
  await Promise.all([one.close(), other.close()]);
});

describe('a server that goes away', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await postgresServer(['-c fsync=off']);
  });
  afterAll(() => server.remove());

  test('is waited for: writes before, while and after it restarts are all there', async () => {
    const { logger, lines } = recorded();
    const storage = await open(newSchema(), { busyMs: 60_000, logger }, server.url);
    await store(storage, { key: [-1] });
    const writes = Array.from({ length: 20 }, (_, at) => store(storage, { key: [at] }));
    server.stop('immediate');
    const during = [store(storage, { key: [100] }), store(storage, { key: [101] })];
    const read = look(storage, (view) => view.get(things, [-1])?.record.key);
    await server.start();
    await Promise.all([...writes, ...during]);
    expect(await read).toEqual([-1]);
    expect(await look(storage, (view) => view.list(things).length)).toBe(23);
    expect(lines.length).toBeLessThan(20);
    await storage.close();
  });

  test('is busy after the time that callers wait, and serves again when it is back', async () => {
    const storage = await open(newSchema(), { busyMs: 200 }, server.url);
    await store(storage, { key: ['a'] });
    const bystander = new pg.Client({ connectionString: server.url });
    bystander.on('error', () => undefined);
    await bystander.connect();
    const isNoticed = new Promise<void>((resolve) => bystander.once('end', resolve));
    server.stop('fast');
    // So are the ends of all connections that were opened before.
    await isNoticed;
    const failed = await storage.write((view) => ok(view.put(things, { key: ['b'] })));
    expect(errorOf(failed)).toMatchObject({ reason: 'busy' });
    assertFailed(await storage.read((view) => view.get(things, ['a'])), 'busy');
    assertFailed(await postgresStorage(server.url, { busyMs: 100 }), 'busy');
    await server.start();
    await commit(storage, (view) => view.put(things, { key: ['c'] }));
    expect(await look(storage, (view) => view.list(things).map(({ record }) => record.key))).toEqual([['a'], ['c']]);
    await storage.close();
  });

  test('a write whose outcome is not known when the store is closed says so', async () => {
    const storage = await open(newSchema(), { busyMs: 200 }, server.url);
    await store(storage, { key: ['a'] });
    server.stop('immediate');
    // On a connection whose end is not noticed yet.
    const written = storage.write((view) => ok(view.put(things, { key: ['b'] })));
    await storage.close();
    expect(errorOf(await written)).toMatchObject({ reason: 'io' });
    await server.start();
  });

  test('no free connection is waited for', async () => {
    const few = await postgresServer(['-c fsync=off', '-c max_connections=5', '-c superuser_reserved_connections=0']);
    try {
      const clients = Array.from({ length: 5 }, () => new pg.Client({ connectionString: few.url }));
      for (const client of clients) {
        client.on('error', () => undefined);
        await client.connect();
      }
      assertFailed(await postgresStorage(few.url, { busyMs: 100 }), 'busy');
      const opening = postgresStorage(few.url, { busyMs: 60_000 });
      for (const client of clients) await client.end();
      const storage = valueFrom(await opening);
      await store(storage, { key: ['a'] });
      await storage.close();
    } finally {
      few.remove();
    }
  });
});

describe('a connection that is cut', () => {
  test.each(['up', 'down'] as const)(
    'in the middle of a commit (%s): it is written once, at every byte',
    async (way) => {
      const proxy = new TcpProxy(Number(new URL(url).port));
      const port = await proxy.open();
      const schema = newSchema();
      const storage = await open(schema, { busyMs: 60_000 }, `postgres://postgres@127.0.0.1:${port}/postgres`);
      await store(storage, { key: ['count'], text: '0' });
      let count = 0;
      for (let bytes = 0; bytes < (way === 'up' ? 1600 : 260); bytes += way === 'up' ? 37 : 7) {
        proxy.left[way] = bytes;
        const written = storage.write((view) => {
          const next = Number(view.get(things, ['count'])?.record.text) + 1;
          view.put(things, { key: ['count'], text: String(next) });
          return ok(next);
        });
        setTimeout(() => proxy.release(), 15);
        count += 1;
        expect(valueFrom(await written).value).toBe(count);
      }
      const other = await open(schema);
      expect(await look(other, (view) => view.get(things, ['count'])?.record.text)).toBe(String(count));
      await Promise.all([storage.close(), other.close(), proxy.close()]);
    },
  );
});
