import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresStorageOptions, postgresStorage } from '../../../adapters/postgres/index.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type PostgresServer, postgresServer } from '../../adapters/postgres/postgres-server.js';
import { TcpProxy } from '../../adapters/postgres/tcp-proxy.js';
import {
  assertFailed,
  commit,
  look,
  never,
  store,
  things,
  valueFrom,
} from '../../conformance/storage/storage-subject.js';

/*
 * A primary server is lost, and its standby takes over at the same address.
 */

const settings = ['-c wal_level=replica', '-c max_connections=60', '-c hot_standby=on'];

const count = async (storage: Storage): Promise<number> => {
  const { value } = await commit(storage, (view) => {
    const next = Number(view.get(things, ['count'])?.record.text ?? 0) + 1;
    view.put(things, { key: ['count'], text: String(next) });
    view.put(things, { key: [next] });
    return next;
  });
  return value;
};

async function query(server: PostgresServer, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Processes reach the primary over one address. */
async function addressOf(server: PostgresServer): Promise<{ proxy: TcpProxy; url: string }> {
  const proxy = new TcpProxy(server.port);
  return { proxy, url: `postgres://postgres@127.0.0.1:${await proxy.open()}/postgres` };
}

describe('a synchronous standby', () => {
  let primary: PostgresServer;
  beforeAll(async () => {
    primary = await postgresServer(settings);
  });
  afterAll(() => primary.remove());

  test('takes over without a loss: every acknowledged write is there, once', async () => {
    const standby = await primary.standby();
    await query(primary, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
    await query(primary, 'SELECT pg_reload_conf()');
    await expect
      .poll(async () => (await query(primary, 'SELECT sync_state FROM pg_stat_replication'))[0]?.['sync_state'])
      .toBe('sync');
    const { proxy, url } = await addressOf(primary);
    const errors: string[] = [];
    const logger = { warn: () => undefined, error: (_: object, message: string) => void errors.push(message) };
    const open = async () => valueFrom(await postgresStorage(url, { busyMs: 60_000, logger }));
    const storages = [await open(), await open()];
    const acknowledged: number[] = [];
    let isOver = false;
    const working = storages.flatMap((storage) =>
      Array.from({ length: 4 }, async () => {
        while (!isOver) acknowledged.push(await count(storage));
      }),
    );
    await expect.poll(() => acknowledged.length).toBeGreaterThan(200);
    // The primary vanishes from the network before it ends: nobody learns what it still commits.
    proxy.hold('up', 'down');
    primary.stop('immediate');
    standby.promote();
    proxy.target = standby.port;
    proxy.cut();
    proxy.release();
    const before = acknowledged.length;
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 200);
    isOver = true;
    await Promise.all(working);
    expect(acknowledged.toSorted((a, b) => a - b)).toEqual(acknowledged.map((_, at) => at + 1));
    const fresh = valueFrom(await postgresStorage(standby.url));
    expect(await look(fresh, (view) => view.list(things).length)).toBe(acknowledged.length + 1);
    expect(errors).toEqual([]);
    await Promise.all([...storages, fresh].map((storage) => storage.close()));
    await proxy.close();
    standby.stop('immediate');
  });
});

describe('a synchronous standby that cannot be reached', () => {
  let primary: PostgresServer;
  beforeAll(async () => {
    primary = await postgresServer(settings);
  });
  afterAll(() => primary.remove());

  test('a commit that only the primary has is not acknowledged, also when its connection ends and it can be read', async () => {
    const following = new TcpProxy(primary.port);
    const standby = await primary.standby(await following.open());
    const { proxy, url } = await addressOf(primary);
    const storage = valueFrom(await postgresStorage(url, { busyMs: 60_000 }));
    expect(await count(storage)).toBe(1);
    await query(primary, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
    await query(primary, 'SELECT pg_reload_conf()');
    await expect
      .poll(async () => (await query(primary, 'SELECT sync_state FROM pg_stat_replication'))[0]?.['sync_state'])
      .toBe('sync');
    expect(await count(storage)).toBe(2);
    following.hold('up', 'down');
    let isAcknowledged = false;
    const pending = count(storage).finally(() => {
      isAcknowledged = true;
    });
    const waiting = async () =>
      (await query(primary, `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)).map(({ pid }) => pid);
    await expect.poll(waiting).toHaveLength(1);
    const [first] = await waiting();
    await query(primary, `SELECT pg_terminate_backend(${first})`);
    // It is visible now; the search for it waits for the standby, too.
    await expect.poll(async () => (await waiting()).filter((pid) => pid !== first)).toHaveLength(1);
    expect(await query(primary, `SELECT doc FROM signalbox.sb_rows_1 WHERE doc LIKE '%"3"%'`)).toHaveLength(1);
    expect(isAcknowledged).toBe(false);
    primary.stop('immediate');
    await following.close();
    standby.promote();
    proxy.target = standby.port;
    proxy.cut();
    expect(await pending).toBe(3);
    expect(await look(storage, (view) => view.list(things).length)).toBe(4);
    await storage.close();
    await proxy.close();
    standby.stop('immediate');
  });
});

describe('an asynchronous standby', () => {
  let primary: PostgresServer;
  beforeAll(async () => {
    primary = await postgresServer(settings);
  });
  afterAll(() => primary.remove());

  test('has lost the last writes: every process forgets them, answers waiters, reports it and continues', async () => {
    const following = new TcpProxy(primary.port);
    const standby = await primary.standby(await following.open());
    const { proxy, url } = await addressOf(primary);
    const errors: string[] = [];
    const logger = { warn: () => undefined, error: (_: object, message: string) => void errors.push(message) };
    const open = async (options: PostgresStorageOptions = {}) =>
      valueFrom(await postgresStorage(url, { busyMs: 60_000, logger, ...options }));
    const [one, other] = [await open(), await open()];
    const short = await open({ busyMs: 300 });
    await store(one, { key: ['kept'] });
    const last = async (server: PostgresServer) =>
      (await query(server, 'SELECT max(seq) AS seq FROM signalbox.sb_chain'))[0]?.['seq'];
    await expect.poll(() => last(standby)).toEqual(await last(primary));
    // From now on the standby receives nothing.
    following.hold('up', 'down');
    for (let at = 0; at < 5; at += 1) await store(one, { key: ['lost', at] });
    const { index } = await store(other, { key: ['lost', 'last'] });
    const waiting = [one, other].map((storage) => storage.waitForChange([things], index, never));
    const seen = (storage: Storage) => look(storage, (view) => view.list(things).map(({ record }) => record.key));
    expect(await seen(one)).toHaveLength(7);
    expect(await seen(other)).toHaveLength(7);
    primary.stop('immediate');
    await following.close();
    // A standby is not read: what it knows is old, and it may never be promoted.
    proxy.target = standby.port;
    proxy.cut();
    await expect.poll(() => standby.log()).toContain('accept read-only connections');
    assertFailed(await short.read((view) => view.list(things).length), 'busy');
    standby.promote();
    expect(await seen(one)).toEqual([['kept']]);
    expect(await seen(other)).toEqual([['kept']]);
    for (const reached of await Promise.all(waiting)) expect(reached).toBeLessThan(index);
    // The third one has never seen what is lost.
    expect(await seen(short)).toEqual([['kept']]);
    expect(errors).toHaveLength(2);
    // Indexes are given out a second time.
    await store(other, { key: ['new'] });
    expect(await seen(one)).toEqual([['kept'], ['new']]);
    await Promise.all([one, other, short].map((storage) => storage.close()));
    await proxy.close();
    standby.stop('immediate');
  });
});
