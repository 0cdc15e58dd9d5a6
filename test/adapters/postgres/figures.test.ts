import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import type { Storage, StoreFigures } from '../../../src/ports/storage.js';
import { commit, things, valueFrom } from '../../conformance/storage/storage-subject.js';
import { endAll, signalbox } from '../cli/cli-process.js';
import { typed } from '../cli/typed-commands.js';

/* What operators see of a store in PostgreSQL. */

// A separate database: other tests keep snapshots of the shared one.
const database = `figures_${randomUUID().slice(0, 8)}`;
const url = Object.assign(new URL(inject('postgres')), { pathname: `/${database}` }).href;
const admin = new pg.Pool({ connectionString: url, max: 3 });
beforeAll(async () => {
  const client = new pg.Client({ connectionString: inject('postgres') });
  await client.connect();
  await client.query(`CREATE DATABASE ${database}`);
  await client.end();
});
afterAll(() => admin.end());
afterEach(endAll);
const newSchema = (): string => `f${randomUUID().replaceAll('-', '')}`;

async function figuresOf(storage: Storage): Promise<StoreFigures> {
  if (storage.figures === undefined) throw new Error('the store has no figures');
  return valueFrom(await storage.figures());
}

function figure({ families }: StoreFigures, name: string, ...labels: readonly string[]): number | undefined {
  const found = families
    .find((family) => family.name === `signalbox.store.${name}`)
    ?.measured.find((one) => labels.every((label) => Object.values(one.labels).includes(label)));
  return found?.value;
}

/** A session that keeps a snapshot until it is released, as a report does. */
async function snapshotHeld(application: string): Promise<{ pid: number; release(): Promise<void> }> {
  const client = new pg.Client({ connectionString: url, application_name: application });
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const { rows } = await client.query("SELECT pg_backend_pid() AS pid, 'secret of a query'");
  return { pid: (rows[0] as { pid: number }).pid, release: () => client.end() };
}

test('figures name who holds the oldest snapshot, and count rows, batches and lost races', async () => {
  const schema = newSchema();
  const storage = valueFrom(await postgresStorage(url, { schema }));
  const other = valueFrom(await postgresStorage(url, { schema }));
  const put = async (into: Storage, times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) await commit(into, (view) => view.put(things, { key: [n % 5], text: `${n}` }));
  };
  await put(storage, 20);
  const before = await figuresOf(storage);
  expect(figure(before, 'batches', 'optimistic')).toBe(20);
  expect(figure(before, 'races.lost')).toBe(0);
  expect(figure(before, 'connections')).toBe(2);
  const held = await snapshotHeld('a long report');
  await Promise.all([put(storage, 100), put(other, 100)]);
  await expect.poll(async () => figure(await figuresOf(storage), 'table.rows', 'things', 'dead')).toBeGreaterThan(100);
  const during = await figuresOf(storage);
  expect(figure(during, 'snapshot.age')).toBeGreaterThan(0);
  const note = during.notes.find((each) => each.includes(`session ${held.pid} (a long report, idle in transaction)`));
  expect(note).toBeDefined();
  expect(JSON.stringify(during)).not.toContain('secret of a query');
  const [optimistic, turns] = [figure(during, 'batches', 'optimistic'), figure(during, 'batches', 'turn')] as number[];
  expect((optimistic as number) + (turns as number)).toBe(120);
  expect(turns).toBeGreaterThan(0);
  expect(figure(during, 'races.lost')).toBeGreaterThan(0);
  // The batches of both, those that have created tables, and the first one.
  expect(figure(during, 'chain.length')).toBeGreaterThanOrEqual(221);
  expect(figure(during, 'chain.age')).toBeGreaterThan(0);
  expect(figure(during, 'size', 'tables')).toBeGreaterThan(8191);
  expect(figure(during, 'table.size', 'sb_chain')).toBeGreaterThan(8191);
  await held.release();
  await expect.poll(async () => (await figuresOf(storage)).notes.join()).not.toContain(`session ${held.pid} `);
  await Promise.all([storage.close(), other.close()]);
  expect((await storage.figures?.())?._unsafeUnwrapErr()).toMatchObject({ reason: 'closed' });
});

test('what the role of the store may not see is counted as not visible', async () => {
  const schema = newSchema();
  await admin.query(`CREATE ROLE ${schema} LOGIN`);
  await admin.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${schema}`);
  const storage = valueFrom(await postgresStorage(url.replace('postgres@', `${schema}@`), { schema }));
  await commit(storage, (view) => view.put(things, { key: [1] }));
  const held = await snapshotHeld('of another role');
  const seen = await figuresOf(storage);
  expect(figure(seen, 'snapshots.hidden')).toBeGreaterThan(0);
  expect(seen.notes.join()).toContain('are not visible');
  expect(seen.notes.join()).not.toContain('of another role');
  await admin.query(`GRANT pg_read_all_stats TO ${schema}`);
  await expect.poll(async () => (await figuresOf(storage)).notes.join()).toContain('of another role');
  await held.release();
  await storage.close();
});

test('figures that would wait for a lock are left out, and reads go on', async () => {
  const schema = newSchema();
  const storage = valueFrom(await postgresStorage(url, { schema }));
  await commit(storage, (view) => view.put(things, { key: [1] }));
  const client = await admin.connect();
  await client.query(`BEGIN; LOCK TABLE ${schema}.sb_rows_1 IN ACCESS EXCLUSIVE MODE`);
  const locked = await figuresOf(storage);
  expect(figure(locked, 'table.size', 'things')).toBeUndefined();
  expect(figure(locked, 'chain.length')).toBeGreaterThan(0);
  expect(locked.notes.join()).toContain('The figures of sizes cannot be read');
  expect((await storage.read((view) => view.index))._unsafeUnwrap()).toBe(2);
  await client.query('ROLLBACK');
  client.release();
  expect(figure(await figuresOf(storage), 'table.size', 'things')).toBeGreaterThan(0);
  await storage.close();
});

test('a server shows them in its status to operators, and as metrics without names', async () => {
  const server = signalbox([
    'serve',
    '--listen',
    '127.0.0.1:0',
    '--no-runner',
    '--store',
    `${url}?schema=${newSchema()}`,
  ]);
  const origin = await server.origin();
  const token = await server.printed(/management token, shown this once: (\S+)/);
  const held = await snapshotHeld('nightly dump');
  const as = (secret: string, ...words: readonly string[]) =>
    typed(origin, { environment: { SIGNALBOX_TOKEN: secret } }, ...words);
  const status = await as(token, 'status');
  expect(status).toMatchObject({ code: 0, error: '' });
  for (const line of [
    /^Index += \d+$/m,
    /^Size of tables += \d/m,
    /^Oldest snapshot += \d+\.\d s$/m,
    /^Chain += \d+ batches, the oldest of \d+\.\d s ago$/m,
    /^Batches of the server += \d+$/m,
    /^Share of turns += \d+\.\d %$/m,
    /^Lost races += \d+$/m,
    /^The oldest snapshot, \d+\.\d s, is held by session \d+ \(nightly dump, idle in transaction\)\.$/m,
    /^Table +Live rows +Dead rows +Size$/m,
    /^sb_chain +\d+ +\d+ +\d+ kB$/m,
  ])
    expect(status.out).toMatch(line);
  expect(JSON.parse((await as(token, 'status', '-json')).out)).toEqual([]);
  expect((await as(token, 'operator', 'store')).out).toMatch(/^notification_deliveries +\d+ +\d+ +\d+ kB$/m);
  expect(JSON.parse((await as(token, 'operator', 'store', '-json')).out)).toMatchObject({
    Index: expect.any(Number),
    Figures: expect.arrayContaining([
      { Name: 'signalbox.store.races.lost', Unit: '{race}', Labels: {}, Value: expect.any(Number) },
    ]),
  });
  // Only for operators.
  expect(await as('', 'operator', 'store')).toMatchObject({
    code: 1,
    error: expect.stringContaining('permission denied'),
  });
  expect((await as('', 'status')).out).not.toContain('Store');
  const metrics = await fetch(`${origin}/v1/metrics?format=prometheus`).then((answer) => answer.text());
  expect(metrics).toMatch(/^signalbox_store_size_bytes\{part="indexes"\} [1-9]\d*$/m);
  expect(metrics).toMatch(/^signalbox_store_snapshot_age_seconds \d/m);
  expect(metrics).toMatch(/^signalbox_store_table_rows\{table="sb_chain",state="dead"\} \d+$/m);
  expect(metrics.match(/^signalbox_store_races_lost_total \d+$/gm)).toHaveLength(1);
  expect(metrics).not.toContain('nightly dump');
  const open = await fetch(`${origin}/v1/metrics`).then((answer) => answer.text());
  expect(open).not.toContain('nightly dump');
  expect(open).toContain('signalbox.store.chain.length');
  await held.release();
});
