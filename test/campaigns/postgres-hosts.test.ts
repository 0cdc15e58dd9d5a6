import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ok } from 'neverthrow';
import pg from 'pg';
import { expect, test } from 'vitest';
import { postgresStorage } from '../../adapters/postgres/index.js';
import { postgresServer } from '../adapters/postgres/postgres-server.js';
import { valueFrom } from '../conformance/storage/storage-subject.js';
import { hotRows, type Kind, type Logged, log, totals } from './postgres-hosts/tables.js';

/*
 * Hosts in three processes commit rows of their own with operations: in transactions that they have begun, with statements alongside, and not
 * at all, while processes are killed and stopped and sessions are ended. The rows of the hosts are what the store says, exactly.
 * `SIGNALBOX_POSTGRES_HOSTS=100000` for more operations.
 */

const wanted = Number(process.env['SIGNALBOX_POSTGRES_HOSTS'] ?? 400);
const processes = 3;
const schema = 'hosts';

interface Noted {
  readonly id: string;
  readonly kind: Kind;
  readonly index?: number;
  readonly total?: number;
  readonly error?: string;
  readonly code?: string;
}

test('rows of hosts are those of committed operations, exactly', { timeout: 4 * 3_600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-hosts-'));
  const notes = join(folder, 'notes');
  const server = await postgresServer(['-c max_connections=80']);
  const children: ChildProcess[] = [];
  const faults = { kill: 0, stop: 0, terminate: 0 };
  try {
    await withClient(server.url, async (client) => {
      await client.query('CREATE TABLE orders (id text PRIMARY KEY, kind text NOT NULL)');
      await client.query('CREATE TABLE lines (of text REFERENCES orders DEFERRABLE INITIALLY DEFERRED)');
      await client.query('CREATE TABLE hot (id int PRIMARY KEY, n int NOT NULL)');
      await client.query('INSERT INTO hot SELECT id, 0 FROM generate_series(1, $1) AS id', [hotRows]);
    });
    let started = 0;
    const begin = async (at: number): Promise<void> => {
      started += 1;
      const program = join(import.meta.dirname, 'postgres-hosts/client.ts');
      const about = [server.url, schema, `c${started}`, String(started * 7919), notes];
      const child = fork(program, about, { execArgv: ['--import', 'tsx'] });
      children[at] = child;
      await new Promise((resolve, reject) => {
        child.once('message', resolve);
        child.once('exit', (code) => reject(new Error(`a process has ended with ${code} before it worked`)));
      });
    };
    for (let at = 0; at < processes; at += 1) await begin(at);
    while (countLines(notes) < wanted) {
      await pause(100 + random(300));
      const fault = (['kill', 'stop', 'terminate', 'none', 'none'] as const)[random(5)];
      const at = random(processes);
      if (fault === 'kill') {
        children[at]?.kill('SIGKILL');
        await begin(at);
      } else if (fault === 'stop') {
        const child = children[at];
        child?.kill('SIGSTOP');
        setTimeout(() => child?.kill('SIGCONT'), 50 + random(1500));
      } else if (fault === 'terminate') await endSessions(server.url);
      if (fault !== undefined && fault !== 'none') faults[fault] += 1;
    }
    for (const child of children) child.kill('SIGKILL');
    await check(server.url, notes);
    process.stderr.write(`${countLines(notes)} operations of hosts, ${JSON.stringify(faults)}\n`);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function check(url: string, notes: string): Promise<void> {
  // Looks at the lock once: what was under way has ended then.
  const storage = valueFrom(await postgresStorage(url, { schema }));
  valueFrom(await storage.write((view) => ok(view.put(totals, { key: 'end', count: 0 }))));
  await expect.poll(() => openTransactions(url)).toBe(0);
  const { logged, total } = valueFrom(
    await storage.read((view) => ({
      logged: view.list(log).map(({ record }) => record),
      total: view.get(totals, ['all'])?.record.count ?? 0,
    })),
  );
  const { orders, hot } = await withClient(url, async (client) => ({
    orders: (await client.query<{ id: string; kind: Kind }>('SELECT id, kind FROM orders')).rows,
    hot: (await client.query<{ id: number; n: number }>('SELECT id, n FROM hot ORDER BY id')).rows,
  }));
  await storage.close();
  // Each operation was decided on all that were committed before it.
  expect(total).toBe(logged.length);
  expect(logged.map((each) => each.total).toSorted((a, b) => a - b)).toEqual(logged.map((_, at) => at + 1));
  const withRows = logged.filter(({ kind }) => kind !== 'plain');
  const alone = orders.filter(({ kind }) => kind === 'alone');
  expect(
    orders
      .filter(({ kind }) => kind !== 'alone')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(withRows.map(({ id }) => id).toSorted());
  expect(hot.reduce((sum, { n }) => sum + n, 0)).toBe(withRows.length + alone.length);
  for (const { id, n } of hot) expect(n).toBeGreaterThanOrEqual(withRows.filter((each) => each.hot === id).length);
  checkNotes(notes, new Map(logged.map((each) => [each.id, each])));
}

/** What was acknowledged is there, and what has failed is not: no outcome was guessed. */
function checkNotes(notes: string, logged: ReadonlyMap<string, Logged>): void {
  for (const line of readFileSync(notes, 'utf8').split('\n')) {
    if (line === '') continue;
    const note = JSON.parse(line) as Noted;
    const found = logged.get(note.id);
    if (note.error === undefined) {
      assert.equal(found?.index, note.index, `acknowledged: ${line}`);
      assert.equal(found?.total, note.total);
    } else assert.equal(found, undefined, `failed: ${line}`);
  }
}

async function openTransactions(url: string): Promise<number> {
  const other = "application_name LIKE 'signalbox%' AND xact_start IS NOT NULL";
  return withClient(url, async (client) => {
    const { rows } = await client.query(`SELECT count(*)::int AS n FROM pg_stat_activity WHERE ${other}`);
    return rows[0].n;
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function endSessions(url: string): Promise<void> {
  await withClient(url, (client) =>
    client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'signalbox%' AND random() < 0.3",
    ),
  );
}

let seed = 4711;
function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (seed >>> 8) % below;
}

function countLines(file: string): number {
  return existsSync(file) ? readFileSync(file, 'latin1').split('\n').length - 1 : 0;
}
