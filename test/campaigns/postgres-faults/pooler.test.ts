import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresStorageOptions, postgresStorage } from '../../../adapters/postgres/index.js';
import type { Storage } from '../../../src/ports/storage.js';
import {
  freePort,
  isRoot,
  nobody,
  type PostgresServer,
  postgresServer,
} from '../../adapters/postgres/postgres-server.js';
import { commit, look, never, things, valueFrom } from '../../conformance/storage/storage-subject.js';

/*
 * Processes that reach the server over PgBouncer (Debian's package `pgbouncer`), which swallows notifications in transaction mode.
 */

let server: PostgresServer;
beforeAll(async () => {
  server = await postgresServer(['-c max_connections=60', '-c fsync=off']);
});
afterAll(() => server.remove());

let pooler: { process: ChildProcess; folder: string } | undefined;
afterEach(() => {
  pooler?.process.kill('SIGKILL');
  if (pooler !== undefined) rmSync(pooler.folder, { recursive: true, force: true });
});

/** The URL of a pooler with few connections to the server. */
async function poolerOf(mode: 'session' | 'transaction', size: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-pooler-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const settings = [
    ...['[databases]', `postgres = host=127.0.0.1 port=${server.port} user=postgres`, '[pgbouncer]'],
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'auth_type = any', 'unix_socket_dir ='],
    ...[`pool_mode = ${mode}`, `default_pool_size = ${size}`, 'max_client_conn = 200'],
  ];
  writeFileSync(join(folder, 'settings.ini'), `${settings.join('\n')}\n`);
  const child = spawn('pgbouncer', [join(folder, 'settings.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot ? nobody : {}),
  });
  pooler = { process: child, folder };
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  let failed: string | undefined;
  child.once('error', () => {
    failed = 'pgbouncer is not installed: apt-get install pgbouncer';
  });
  child.once('exit', (code) => {
    failed ??= `pgbouncer has ended with ${code}: ${output}`;
  });
  for (;;) {
    if (failed !== undefined) throw new Error(failed);
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return `postgres://postgres@127.0.0.1:${port}/postgres`;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

let schemas = 0;

/** Several processes count at once; gives their warnings. */
async function work(url: string, options: PostgresStorageOptions): Promise<string[]> {
  schemas += 1;
  const schema = `pooled${schemas}`;
  const lines: string[] = [];
  const note = (_: object, message: string) => void lines.push(message);
  const open = async (): Promise<Storage> =>
    valueFrom(await postgresStorage(url, { schema, logger: { warn: note, error: note }, ...options }));
  const storages = [await open(), await open(), await open()] as const;
  const [first, second] = storages;
  const count = (storage: Storage) =>
    commit(storage, (view) => {
      const next = Number(view.get(things, ['count'])?.record.text ?? 0) + 1;
      view.put(things, { key: ['count'], text: String(next) });
    });
  await Promise.all(
    storages.map(async (storage) => {
      for (let at = 0; at < 40; at += 1) await Promise.all([count(storage), count(storage)]);
    }),
  );
  for (const storage of storages)
    expect(await look(storage, (view) => view.get(things, ['count'])?.record.text)).toBe('240');
  // Long enough that an own notification has arrived, or is given up.
  const { index } = await count(first);
  const waiting = second.waitForChange([things], index, never);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const { index: later } = await count(first);
  const began = performance.now();
  expect(await waiting).toBe(later);
  expect(performance.now() - began).toBeLessThan(1000);
  await Promise.all(storages.map((storage) => storage.close()));
  return lines;
}

describe('PgBouncer', () => {
  test.each(['session', 'transaction'] as const)(
    'in %s mode: it is not known that notifications arrive, which each process reports once',
    async (mode) => {
      const lines = await work(await poolerOf(mode, mode === 'session' ? 20 : 5), {});
      expect(new Set(lines)).toEqual(new Set([expect.stringContaining('Notifications of the database do not arrive')]));
      expect(lines.length).toBeLessThanOrEqual(3);
    },
  );

  test('in transaction mode, with a URL for notifications', async () => {
    expect(await work(await poolerOf('transaction', 5), { listenUrl: server.url })).toEqual([]);
  });

  test('that restarts is a server that goes away for a while', async () => {
    const url = await poolerOf('transaction', 5);
    const storage = valueFrom(await postgresStorage(url, { busyMs: 60_000, listenUrl: server.url }));
    const put = (key: number) => commit(storage, (view) => view.put(things, { key: [key] }));
    await put(0);
    pooler?.process.kill('SIGKILL');
    const written = [put(1), put(2)];
    const settings = readFileSync(join(pooler?.folder ?? '', 'settings.ini'), 'utf8');
    expect(settings).toContain('transaction');
    const child = spawn('pgbouncer', [join(pooler?.folder ?? '', 'settings.ini')], {
      stdio: 'ignore',
      ...(isRoot ? nobody : {}),
    });
    pooler = { process: child, folder: pooler?.folder ?? '' };
    await Promise.all(written);
    expect(await look(storage, (view) => view.list(things).length)).toBe(3);
    await storage.close();
  });
});
