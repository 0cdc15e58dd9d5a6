import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import { createEngine, hostPrincipal, orThrow } from '../../../src/index.js';
import { jobs as jobRows } from '../../../src/jobs/job-record.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { collectGarbage } from '../../../src/operations/maintenance/collect.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { commit, look, things, valueFrom } from '../../conformance/storage/storage-subject.js';
import { parameterizedJob } from '../../operations/jobs/world.js';

const admin = new pg.Client({ connectionString: inject('postgres') });
beforeAll(() => admin.connect());
afterAll(() => admin.end());

/** A store whose chain has so many older batches, of an hour ago or of now. */
async function withChain(batches: number, isOld: boolean): Promise<string> {
  const schema = `k${randomUUID().replaceAll('-', '')}`;
  const storage = valueFrom(await postgresStorage(inject('postgres'), { schema }));
  await commit(storage, (view) => view.put(things, { key: ['kept'] }));
  await storage.close();
  await admin.query(`UPDATE ${schema}.sb_chain SET seq = seq + ${batches}`);
  await admin.query(
    `INSERT INTO ${schema}.sb_chain (seq, last, id, at, changes) SELECT n, 1, gen_random_uuid(), clock_timestamp() - interval '${isOld ? 1 : 0} hour', '[]' FROM generate_series(0, ${batches - 1}) n`,
  );
  return schema;
}

const chainOf = async (schema: string): Promise<{ low: number; n: number }> => {
  const { rows } = await admin.query(`SELECT min(seq)::int AS low, count(*)::int AS n FROM ${schema}.sb_chain`);
  return rows[0] as { low: number; n: number };
};

test.each([
  ['old batches are removed, down to ten thousand', 12_000, true, 10_000],
  ['new batches are kept for some minutes', 12_000, false, 12_000],
  ['of new batches, too, no more than fifty thousand are kept', 52_000, false, 50_000],
])('%s', async (_name, batches, isOld, kept) => {
  const schema = await withChain(batches, isOld);
  const storage = valueFrom(await postgresStorage(inject('postgres'), { schema }));
  const written = 300;
  const before = await chainOf(schema);
  for (let n = 0; n < written; n += 1) await commit(storage, (view) => view.put(things, { key: [n % 3] }));
  const { low, n } = await chainOf(schema);
  // From the oldest on, without a gap, at most 250 for a hundred batches.
  expect(n).toBe(before.n + written - low);
  expect(low).toBe(kept < batches ? 750 : 0);
  expect(n).toBeGreaterThan(kept);
  expect(await look(storage, (view) => view.list(things).length)).toBe(4);
  await storage.close();
});

test('tables are vacuumed when a small part of their rows is dead', async () => {
  const schema = await withChain(100, false);
  const { rows } = await admin.query(
    `SELECT relname, array_to_string(reloptions, ',') AS options FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE nspname = $1 AND relkind = 'r' AND relname ~ '^sb_(rows|chain)'`,
    [schema],
  );
  expect(rows.length).toBe(2);
  for (const { options } of rows as { options: string }[])
    expect(options).toContain('autovacuum_vacuum_scale_factor=0.02');
});

test('two processes that remove what has ended at once, while others dispatch, remove all of it and nothing else', async () => {
  const schema = `k${randomUUID().replaceAll('-', '')}`;
  const clock = systemClock();
  const open = async () => {
    const storage = valueFrom(await postgresStorage(inject('postgres'), { schema }));
    const engine = createEngine({ storage, clock, ids: randomIds(), delivery: recordingDelivery({ clock }) });
    engine.start();
    return engine;
  };
  const [one, other] = [await open(), await open()];
  const { jobs } = one.as(hostPrincipal);
  await orThrow(jobs.register(parameterizedJob('invoice') as never));
  const dispatch = async () => (await orThrow(jobs.dispatch('invoice'))).dispatchedJobId;
  const ended = await Promise.all(Array.from({ length: 150 }, dispatch));
  await Promise.all(ended.map((jobId) => orThrow(stopJob(one, hostPrincipal, { jobId }))));
  const statuses = () => look(one.storage, (view) => view.list(evaluations).map(({ record }) => record.Status));
  await expect.poll(async () => (await statuses()).includes('pending'), { timeout: 20_000 }).toBe(false);
  const [fresh] = await Promise.all([
    Promise.all(Array.from({ length: 40 }, dispatch)),
    orThrow(collectGarbage(one)),
    orThrow(collectGarbage(other)),
  ]);
  await Promise.all([one.stop(), other.stop()]);
  for (const engine of [one, other]) {
    const left = await look(engine.storage, (view) => view.list(jobRows).map(({ record }) => record.ID));
    expect(left.sort()).toEqual(['invoice', ...fresh].sort());
    const evaluated = await look(engine.storage, (view) => view.list(evaluations).map(({ record }) => record.JobID));
    expect(new Set(evaluated)).toEqual(new Set(fresh));
  }
  await Promise.all([one.storage.close(), other.storage.close()]);
});
