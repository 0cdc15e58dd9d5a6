import { randomUUID } from 'node:crypto';
import { ok } from 'neverthrow';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import { Listener } from '../../../adapters/postgres/listener.js';
import { Session } from '../../../adapters/postgres/session.js';
import type { Storage } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';
import { assertFailed, commit, look, type Thing, valueFrom } from '../../conformance/storage/storage-subject.js';
import { type RoundTrip, watchedPool } from './watched-pool.js';

const url = inject('postgres');
const newSchema = (): string => `k${randomUUID().replaceAll('-', '')}`;

const older = table<Thing>('mixed', (thing) => thing.key);
const newer = table<Thing>('mixed', (thing) => thing.key, {
  byText: { version: 1, key: ({ text }) => (text === undefined ? undefined : [text]) },
});

const changesRows = ({ texts }: RoundTrip): boolean =>
  texts.some((text) => /^(INSERT INTO|UPDATE) \S+sb_rows/.test(text));

/** Adds one to a counter, and gives it. */
const count = async (storage: Storage, of: typeof older): Promise<number> => {
  const { value } = await commit(storage, (view) => {
    const next = Number(view.get(of, ['count'])?.record.text ?? 0) + 1;
    view.put(of, { key: ['count'], text: String(next) });
    return next;
  });
  return value;
};

const put = (storage: Storage, of: typeof older, ...keys: readonly number[]) =>
  commit(storage, (view) => {
    for (const key of keys) view.put(of, { key: [key], text: `t${key % 7}` });
  });

const indexed = (storage: Storage) => look(storage, (view) => view.list(newer, { index: 'byText' }).length);

describe('a connection that ends at any step of creating, extending and completing a store', () => {
  const faults: Record<string, (trip: RoundTrip) => void> = {
    'before it': (trip) => void trip.drop(),
    'after it': (trip) => trip.lose(),
  };

  /** Creates a store, adds an index to a table with rows, and completes what another program has left out. Gives the number of round trips. */
  async function play(at: number, fault: (trip: RoundTrip) => void): Promise<number> {
    const schema = newSchema();
    let trips = 0;
    const pool = watchedPool(url, (trip) => {
      trips += 1;
      if (trips === at) fault(trip);
      else trip.pass();
    });
    const storage = valueFrom(await postgresStorage(pool, { schema, busyMs: 60_000 }));
    const other = valueFrom(await postgresStorage(url, { schema }));
    await put(other, older, ...Array.from({ length: 520 }, (_, key) => key));
    expect(await count(other, older)).toBe(1);
    expect(await indexed(storage)).toBe(521);
    expect(await count(storage, newer)).toBe(2);
    await put(other, older, 600, 601, 602);
    expect(await count(other, older)).toBe(3);
    expect(await indexed(storage)).toBe(524);
    expect(await count(storage, newer)).toBe(4);
    const fresh = valueFrom(await postgresStorage(url, { schema }));
    expect(await indexed(fresh)).toBe(524);
    await Promise.all([storage.close(), other.close(), fresh.close()]);
    return trips;
  }

  // `SIGNALBOX_POSTGRES_STEPS=all` for each of them in both ways.
  const every = process.env['SIGNALBOX_POSTGRES_STEPS'] === 'all' ? 1 : 2;
  test.each(Object.entries(faults).map(([name, fault], at) => ({ name, fault, at })))(
    '$name: nothing is lost, done twice or left out',
    async ({ fault, at: first }) => {
      const trips = await play(0, fault);
      const steps = Array.from({ length: trips }, (_, at) => at + 1).filter((at) => at % every === first % every);
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let at = steps.pop(); at !== undefined; at = steps.pop()) await play(at, fault);
        }),
      );
    },
  );
});

describe('the connection of a host that ends at any step of `commitWith`', () => {
  const faults: Record<string, (trip: RoundTrip) => void> = {
    'before it': (trip) => void trip.drop(),
    'after it': (trip) => trip.lose(),
  };

  /** A transaction that loses as many races as `races`. Gives the number of round trips on the connection of the host. */
  async function play(at: number, fault: (trip: RoundTrip) => void, races: number): Promise<number> {
    const schema = newSchema();
    const storage = valueFrom(await postgresStorage(url, { schema }));
    const other = valueFrom(await postgresStorage(url, { schema }));
    expect(await count(other, older)).toBe(1);
    let trips = 0;
    let others = 1;
    const pool = watchedPool(url, async (trip) => {
      trips += 1;
      const isFaulty = trips === at;
      if (changesRows(trip) && others <= races) others = await count(other, older);
      if (isFaulty) fault(trip);
      else trip.pass();
    });
    const client = (await pool.connect()) as unknown as pg.PoolClient;
    await client.query(`CREATE TABLE ${schema}.orders (id text)`);
    await client.query('BEGIN');
    await client.query(`INSERT INTO ${schema}.orders VALUES ('of the host')`);
    const finished = await storage.commitWith(client).write((view) => {
      const next = Number(view.get(older, ['count'])?.record.text) + 1;
      view.put(older, { key: ['count'], text: String(next) });
      return ok(next);
    });
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const { rowCount } = await admin.query(`SELECT FROM ${schema}.orders`);
    const counted = await look(storage, (view) => Number(view.get(older, ['count'])?.record.text));
    // Both, and then it is known, or neither.
    expect({ finished: finished.isOk(), rows: rowCount, counted }).toEqual(
      finished.isOk()
        ? { finished: true, rows: 1, counted: others + 1 }
        : { finished: false, rows: 0, counted: others },
    );
    client.release();
    await Promise.all([storage.close(), other.close(), admin.end()]);
    return trips;
  }

  // After three it takes the lock first.
  for (const races of [0, 1, 3])
    test.each(Object.entries(faults))(
      `%s, after ${races} lost races: both are committed, or neither`,
      async (_, fault) => {
        const trips = await play(0, fault, races);
        expect(trips).toBeGreaterThan(races);
        for (let at = 1; at <= trips; at += 1) await play(at, fault, races);
      },
    );
});

test('a commit that the network delivers after it was looked for is not stored', async () => {
  const schema = newSchema();
  let late: (() => Promise<void>) | undefined;
  let commits = 0;
  const pool = watchedPool(url, async (trip) => {
    const isCommit = changesRows(trip);
    if (isCommit) commits += 1;
    if (isCommit && commits === 1) late = trip.delay();
    else {
      if (isCommit && commits === 2) await late?.();
      trip.pass();
    }
  });
  const storage = valueFrom(await postgresStorage(pool, { schema }));
  expect(await count(storage, older)).toBe(1);
  expect(await count(storage, older)).toBe(2);
  expect(commits).toBeGreaterThan(1);
  expect(await look(storage, (view) => view.get(older, ['count'])?.record.text)).toBe('2');
  await storage.close();
});

test('writes behind one whose outcome is unknown are busy in time; that one waits for the answer', async () => {
  let isLost = false;
  const pool = watchedPool(url, (trip) => {
    if (isLost && changesRows(trip)) {
      pool.isOpen = false;
      trip.lose();
    } else trip.pass();
  });
  const storage = valueFrom(await postgresStorage(pool, { schema: newSchema(), busyMs: 200 }));
  expect(await count(storage, older)).toBe(1);
  isLost = true;
  const first = count(storage, older);
  await expect.poll(() => pool.isOpen).toBe(false);
  assertFailed(await storage.write((view) => ok(view.put(older, { key: ['second'] }))), 'busy');
  isLost = false;
  pool.isOpen = true;
  expect(await first).toBe(2);
  expect(await look(storage, (view) => view.list(older).length)).toBe(1);
  await storage.close();
});

describe('an index that another process adds', () => {
  test('gets the entries of what is written while this process reads that there is one', async () => {
    const schema = newSchema();
    let isWatching = false;
    let resume = (): void => undefined;
    let held = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => {
      held = resolve;
    });
    const pool = watchedPool(url, (trip) => {
      if (isWatching && trip.texts.some((text) => text.includes('sb_indexes'))) {
        isWatching = false;
        resume = trip.pass;
        held();
      } else trip.pass();
    });
    const storage = valueFrom(await postgresStorage(pool, { schema }));
    await put(storage, older, 1);
    const other = valueFrom(await postgresStorage(url, { schema }));
    expect(await indexed(other)).toBe(1);
    isWatching = true;
    const read = look(storage, (view) => view.list(older).length);
    await isHeld;
    await put(storage, older, 2);
    resume();
    expect(await read).toBe(2);
    const fresh = valueFrom(await postgresStorage(url, { schema }));
    expect(await indexed(fresh)).toBe(2);
    await Promise.all([storage.close(), other.close(), fresh.close()]);
  });

  test('is complete for a process that learns of it together with what an older program has left out', async () => {
    const schema = newSchema();
    const before = valueFrom(await postgresStorage(url, { schema }));
    await put(before, older, 1);
    const late = valueFrom(await postgresStorage(url, { schema }));
    const now = valueFrom(await postgresStorage(url, { schema }));
    expect(await indexed(now)).toBe(1);
    await put(before, older, 2);
    expect(await indexed(late)).toBe(2);
    await Promise.all([before.close(), late.close(), now.close()]);
  });
});

test('a long answer is waited for as long as it arrives', async () => {
  const connected = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return { client: client as never, giveBack: () => void client.end() };
  };
  const session = new Session(connected, 1000);
  const [rows] = await session.run([{ text: `SELECT repeat('x', 10000), pg_sleep(0.4) FROM generate_series(1, 5)` }]);
  expect(rows?.rows).toHaveLength(5);
  await expect(session.run([{ text: 'SELECT pg_sleep(2)' }])).rejects.toThrow('has not answered');
  session.close();
});

test('hints arrive again after the session that listens was ended', async () => {
  const channel = `c${randomUUID()}`;
  let hints = 0;
  const listener = new Listener(
    async () => {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect();
      return { client: client as never, giveBack: () => void client.end() };
    },
    channel,
    { hint: () => (hints += 1), silence: () => undefined },
  );
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  listener.start();
  await expect.poll(() => listener.isProven).toBe(true);
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%${channel}%' AND pid <> pg_backend_pid()`,
  );
  await expect.poll(() => hints).toBe(2);
  await admin.query(`NOTIFY "${channel}"`);
  await expect.poll(() => hints).toBe(3);
  listener.close();
  await admin.end();
});
