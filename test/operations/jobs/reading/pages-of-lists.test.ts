import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { jobs } from '../../../../src/jobs/job-record.js';
import { listJobStatuses } from '../../../../src/operations/jobs/reading/list-job-statuses.js';
import { listEvaluations } from '../../../../src/operations/jobs/reading/read-evaluations.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { type Evaluation, evaluations } from '../../../../src/scheduler/evaluation.js';
import type { TableName } from '../../../../src/shared/table.js';
import { countedLists } from '../../../support/counted-lists.js';
import { serviceJob, type World, world } from '../world.js';

/* What a page reads depends on its size, not on that of the store. */

const size = 5;

/** The same world, and how many rows of the table each list has read. */
function counted(made: World, table: TableName) {
  const read: number[] = [];
  return { read, context: { ...made.engine, storage: countedLists(made.engine.storage, table, read) } };
}

interface Page {
  readonly items: readonly { readonly ID: string }[];
  readonly nextToken: string;
}

/** The IDs of each page, one after the other. */
async function walked(readPage: (nextToken: string) => Promise<Page>): Promise<string[][]> {
  const pages: string[][] = [];
  for (let token = ''; pages.length < 100; ) {
    const { items, nextToken } = await readPage(token);
    pages.push(items.map(({ ID }) => ID));
    if (nextToken === '') return pages;
    token = nextToken;
  }
  throw new Error('the pages do not end');
}

describe.each([false, true])('reversed: %s', (reverse) => {
  it('a page of the statuses of jobs reads its own jobs', async () => {
    const made = world();
    for (let at = 0; at < 60; at += 1) {
      (await registerJob(made.engine, hostPrincipal, { job: serviceJob(`job-${at}`) }))._unsafeUnwrap();
    }
    const { context, read } = counted(made, jobs);
    const pages = await walked(async (nextToken) => {
      const page = await listJobStatuses(context, hostPrincipal, { perPage: size, nextToken, reverse });
      return page._unsafeUnwrap().value as Page;
    });
    const newestFirst = Array.from({ length: 60 }, (_none, at) => `job-${59 - at}`);
    expect(pages.flat()).toEqual(reverse ? newestFirst.toReversed() : newestFirst);
    expect(new Set(pages.map(({ length }) => length))).toEqual(new Set([size]));
    expect(Math.max(...read)).toBeLessThanOrEqual(2 * size);
  });

  it('a page of evaluations that one write made reads its own evaluations', async () => {
    const made = world();
    (await registerJob(made.engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
    const [pattern] = (await made.rows(evaluations)) as [Evaluation];
    const ids = Array.from({ length: 60 }, (_none, at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`);
    const stored = await made.engine.storage.write((view) => {
      view.remove(evaluations, [pattern.ID]);
      for (const ID of ids) view.put(evaluations, { ...pattern, ID, CreateIndex: view.index });
      return ok(undefined);
    });
    stored._unsafeUnwrap();
    const { context, read } = counted(made, evaluations);
    for (const namespace of ['default', '*']) {
      const pages = await walked(async (nextToken) => {
        const page = await listEvaluations(context, hostPrincipal, { namespace, perPage: size, nextToken, reverse });
        const { items, nextToken: next } = page._unsafeUnwrap().value;
        return { items: items.map(({ record }) => record), nextToken: next };
      });
      expect(pages.flat()).toEqual(reverse ? ids.toReversed() : ids);
    }
    expect(Math.max(...read)).toBeLessThanOrEqual(2 * size);
  });
});

it.each([false, true])(
  'pages of statuses give each job once when one write changed more than a page holds; reversed: %s',
  async (reverse) => {
    const made = world();
    const ids = ['a', 'b.c', 'd', 'e', 'f', 'g', 'h'];
    for (const id of ids) (await registerJob(made.engine, hostPrincipal, { job: serviceJob(id) }))._unsafeUnwrap();
    const stored = await made.engine.storage.write((view) => {
      for (const { record } of view.list(jobs, { to: ['default', 'h'] })) {
        view.put(jobs, { ...record, ModifyIndex: view.index });
      }
      return ok(undefined);
    });
    stored._unsafeUnwrap();
    const pages = await walked(async (nextToken) => {
      const page = await listJobStatuses(made.engine, hostPrincipal, { perPage: 2, nextToken, reverse });
      return page._unsafeUnwrap().value as Page;
    });
    expect(pages.flat().toSorted()).toEqual(ids);
  },
);

it('a page of statuses begins with all jobs of the write that the token names, and a token that names none gives none', async () => {
  const made = world();
  for (const id of ['a', 'b', 'c', 'd']) {
    (await registerJob(made.engine, hostPrincipal, { job: serviceJob(id) }))._unsafeUnwrap();
  }
  const stored = await made.engine.storage.write((view) => {
    for (const { record } of view.list(jobs, { from: ['default', 'b'] })) {
      view.put(jobs, { ...record, ModifyIndex: view.index });
    }
    return ok(view.index);
  });
  const index = stored._unsafeUnwrap().value;
  const page = async (nextToken: string, reverse = false) =>
    (await listJobStatuses(made.engine, hostPrincipal, { nextToken, reverse }))
      ._unsafeUnwrap()
      .value.items.map((item) => (item as { readonly ID: string }).ID);
  expect((await page(String(index))).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  expect((await page(String(index), true)).toSorted()).toEqual(['b', 'c', 'd']);
  expect((await page(String(index - 1))).toSorted()).toEqual(['a']);
  expect(await page('x')).toEqual([]);
});
