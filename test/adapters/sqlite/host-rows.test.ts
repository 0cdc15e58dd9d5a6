import { ok } from 'neverthrow';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { manualClock, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { type HostRows, type SqliteHandle, type SqliteStorage, sqliteStorage } from '../../../adapters/sqlite/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { parameterizedJob } from '../../operations/jobs/world.js';
import { fileOpener } from './sqlite-files.js';

const openFile = fileOpener();

let handle: SqliteHandle;
let storage: SqliteStorage;
let engine: Engine;
const told: string[] = [];
beforeEach(async () => {
  handle = openFile(':memory:', false);
  handle.exec('CREATE TABLE orders (id TEXT PRIMARY KEY, run TEXT)');
  storage = (await sqliteStorage(handle))._unsafeUnwrap();
  engine = createEngine({ storage, clock: manualClock(), ids: sequentialIds(), delivery: recordingDelivery() });
  told.length = 0;
  engine.events.on('job.dispatched', ({ jobId }) => told.push(jobId));
  (await registerJob(engine, hostPrincipal, { job: parameterizedJob('invoice') }))._unsafeUnwrap();
});
afterAll(() => storage.close());

const dispatch = (rows: HostRows, jobId = 'invoice') =>
  dispatchJob({ ...engine, storage: storage.alongside(rows) }, hostPrincipal, { jobId });
const settled = async (dispatched: ReturnType<typeof dispatch>): Promise<unknown> =>
  dispatched.then(
    (result) => result,
    (error: unknown) => error,
  );
const orders = () => handle.prepare('SELECT id, run FROM orders').all();
const runs = async () =>
  (
    await storage.read((view) => view.list(jobs, { prefix: ['default'], textPrefix: 'invoice/' }).length)
  )._unsafeUnwrap();

describe('rows of the host beside an operation', () => {
  it('are committed with it, and can hold what it came to', async () => {
    const dispatched = await dispatch((sql, { value }) => {
      sql.run('INSERT INTO orders VALUES (?, ?)', 'o-1', (value as { dispatchedJobId: string }).dispatchedJobId);
    });
    const { dispatchedJobId } = dispatched._unsafeUnwrap();
    expect(orders()).toEqual([{ id: 'o-1', run: dispatchedJobId }]);
    expect(told).toEqual([dispatchedJobId]);
    expect(await runs()).toBe(1);
  });

  it('are not there when it is refused', async () => {
    const refused = await dispatch((sql) => sql.run("INSERT INTO orders VALUES ('o-1', '')"), 'unknown');
    expect(refused._unsafeUnwrapErr().type).toBe('job_not_found');
    expect(orders()).toEqual([]);
  });

  it('take it with them when they fail, and nothing else', async () => {
    handle.exec("INSERT INTO orders VALUES ('o-1', 'first')");
    const failing = async () =>
      dispatch((sql) => {
        sql.run("INSERT INTO orders VALUES ('o-2', '')");
        sql.run("INSERT INTO orders VALUES ('o-1', 'again')");
      });
    // Both are in one batch with a write that succeeds.
    const outcomes = await Promise.allSettled([
      failing(),
      dispatch((sql) => sql.run("INSERT INTO orders VALUES ('o-3', '')")),
    ]);
    // The error of the host's driver, which is no failure of the store.
    expect(outcomes[0]).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringMatching(/^UNIQUE constraint failed: orders\.id/), code: expect.any(String) },
    });
    expect(await settled(dispatch((sql) => sql.run('INSERT INTO missing VALUES (1)')))).toMatchObject({
      message: expect.stringContaining('no such table: missing'),
    });
    expect(orders()).toEqual([
      { id: 'o-1', run: 'first' },
      { id: 'o-3', run: '' },
    ]);
    expect(await runs()).toBe(1);
    expect(told).toHaveLength(1);
  });

  it('report a full disk as a failure of the store', async () => {
    handle.exec(
      `PRAGMA max_page_count = ${(handle.prepare('PRAGMA page_count').get() as { page_count: number }).page_count}`,
    );
    const full = await dispatch((sql) => sql.run('INSERT INTO orders VALUES (?, ?)', 'o-1', 'x'.repeat(100_000)));
    expect(full._unsafeUnwrapErr()).toMatchObject({ type: 'storage_failed', reason: 'full' });
  });

  it('store nothing of the batch when SQLite has rolled the transaction back because the disk is full', async () => {
    await dispatch(() => undefined);
    const { page_count } = handle.prepare('PRAGMA page_count').get() as { page_count: number };
    // Room for the rows of the store and for part of the first row of the host.
    handle.exec(`PRAGMA max_page_count = ${page_count + 40}`);
    const insert = (id: string, size: number) =>
      settled(dispatch((sql) => sql.run('INSERT INTO orders VALUES (?, ?)', id, 'x'.repeat(size))));
    const [large, ...others] = await Promise.all([insert('o-1', 400_000), insert('o-2', 1), insert('o-3', 1)]);
    expect(large).toMatchObject({ error: { type: 'storage_failed', reason: 'full' } });
    // They may have been in the batch of the first one or in the next batch.
    const stored = others.flatMap((outcome, at) => ('error' in (outcome as object) ? [] : [`o-${at + 2}`]));
    expect(orders().map((row) => (row as { id: string }).id)).toEqual(stored);
    expect(await runs()).toBe(1 + stored.length);
    expect((await dispatch((sql) => sql.run("INSERT INTO orders VALUES ('o-4', '')"))).isOk()).toBe(true);
    expect(await runs()).toBe(2 + stored.length);
  });

  it("reject with the host's own exception", async () => {
    const throwing = async () =>
      dispatch(() => {
        throw new Error('the order is closed');
      });
    await expect(throwing()).rejects.toThrow('the order is closed');
    expect(await runs()).toBe(0);
  });

  const misuses: [string, HostRows, string][] = [
    ['waits', (async () => undefined) as HostRows, 'must be synchronous'],
    ['commits', (sql) => sql.run(' /* now */ commit'), 'COMMIT is not allowed'],
    ['sets the connection up', (sql) => void sql.all('PRAGMA journal_mode'), 'PRAGMA is not allowed'],
    ['changes rows of the store', (sql) => sql.run('DELETE FROM signalbox_tables'), 'belong to the store'],
  ];
  it.each(misuses)('are refused when the function %s', async (_what, rows, message) => {
    await expect((async () => dispatch(rows))()).rejects.toThrow(message);
    expect(await runs()).toBe(0);
    expect((await dispatch(() => undefined)).isOk()).toBe(true);
  });

  it('store nothing when the host ends the transaction behind the store', async () => {
    const ended = await dispatch(() => {
      handle.exec('COMMIT');
    });
    expect(ended._unsafeUnwrapErr()).toMatchObject({
      type: 'storage_failed',
      message: expect.stringContaining('has ended the transaction'),
    });
    expect(await runs()).toBe(0);
    expect((await dispatch(() => undefined)).isOk()).toBe(true);
  });

  it('run in the function only, and for one write', async () => {
    let kept: Parameters<HostRows>[0] | undefined;
    const joined = storage.alongside((sql) => {
      kept = sql;
    });
    const write = async () => joined.write(() => ok(undefined));
    expect((await write()).isOk()).toBe(true);
    expect(() => kept?.run("INSERT INTO orders VALUES ('late', '')")).toThrow('The transaction has ended');
    await expect(write()).rejects.toThrow('one operation with one write');
  });

  it("wait for nothing while a transaction of the host's own is open, and say so", async () => {
    handle.exec('BEGIN');
    const refused = (await dispatchJob(engine, hostPrincipal, { jobId: 'invoice' }))._unsafeUnwrapErr();
    expect(refused).toMatchObject({
      type: 'storage_failed',
      message: expect.stringContaining('Your transaction is open'),
    });
    handle.exec('ROLLBACK');
    expect((await dispatchJob(engine, hostPrincipal, { jobId: 'invoice' })).isOk()).toBe(true);
  });
});
