import { ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/access/principal.js';
import { noticeBatches } from '../../../src/events/changes.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { jobStubs, jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { commit, rehearse } from '../../../src/operations/commit.js';
import type { Transaction } from '../../../src/operations/write-transaction.js';
import { jobFrom } from '../../support/jobs.js';
import { world } from '../jobs/world.js';

const web = (more: Parameters<typeof jobFrom>[1] = {}) => jobFrom({ ID: 'web' }, more);

async function written(work: (tx: Transaction) => void) {
  const w = world();
  const result = await commit(w.engine, hostPrincipal, (tx) => {
    work(tx);
    return ok(undefined);
  });
  return { ...w, index: result._unsafeUnwrap().index };
}

it('follows a row that an operation has only put', async () => {
  const w = await written((tx) => tx.put(jobs, web()));
  expect(await w.rows(jobSummaries)).toMatchObject([{ JobID: 'web', CreateIndex: w.index }]);
  expect(await w.rows(jobStubs)).toMatchObject([{ ID: 'web', Status: 'pending' }]);
});

it('follows what is left at the end, and nothing of a row that came and went', async () => {
  const w = await written((tx) => {
    tx.put(jobs, web());
    tx.remove(jobs, ['default', 'web']);
  });
  expect(await w.rows(jobSummaries)).toEqual([]);
  expect(await w.rows(jobStubs)).toEqual([]);
  expect(await w.rows(noticeBatches)).toEqual([]);
});

it('follows the changes of each index at that index', async () => {
  const w = await written((tx) => {
    tx.put(jobs, web());
    tx.nextIndex();
    tx.put(jobs, jobFrom({ ID: 'later' }));
  });
  const made = (await w.rows(jobSummaries)).map(({ JobID, CreateIndex }) => [JobID, CreateIndex]);
  expect(made.sort()).toEqual([
    ['later', w.index],
    ['web', w.index - 1],
  ]);
});

it('tells of a row that changed at two indexes once, as it was before and as it is afterwards', async () => {
  const w = await written((tx) => {
    tx.put(jobs, web());
    tx.nextIndex();
    tx.put(jobs, { ...web(), Stable: true });
  });
  const notices = (await w.rows(noticeBatches)).flatMap(({ Index, Notices }) => Notices.map(({ Key }) => [Index, Key]));
  expect(notices.filter(([, key]) => key === 'web')).toEqual([[w.index, 'web']]);
});

it('is left out of a rehearsal', async () => {
  const { engine } = world();
  const rows = await rehearse(engine, hostPrincipal, (tx) => {
    tx.put(jobs, web());
    return ok(tx.list(jobSummaries).length);
  });
  expect(rows._unsafeUnwrap()).toBe(0);
});
