import fc from 'fast-check';
import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../../src/access/principal.js';
import type { Job } from '../../../../src/jobs/document/job.js';
import { jobs } from '../../../../src/jobs/job-record.js';
import { jobListStub, jobStubs, jobSummaries } from '../../../../src/jobs/status/job-summary.js';
import { setJobStability } from '../../../../src/operations/jobs/job-versions.js';
import { type ListJobsInput, listJobs } from '../../../../src/operations/jobs/reading/list-jobs.js';
import {
  listEvaluations,
  listJobEvaluations,
  readEvaluation,
} from '../../../../src/operations/jobs/reading/read-evaluations.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { putNamespace } from '../../../../src/operations/namespaces/namespaces.js';
import { evaluations } from '../../../../src/scheduler/evaluation.js';
import { parameterizedJob, serviceJob, type World, world } from '../world.js';

async function withJobs(jobKeys: readonly (readonly [string, string])[]): Promise<World> {
  const w = world();
  for (const name of new Set(jobKeys.map(([namespace]) => namespace))) {
    (await putNamespace(w.engine, hostPrincipal, { name }))._unsafeUnwrap();
  }
  for (const [namespace, id] of jobKeys) {
    const job = parameterizedJob(id, {}, { Meta: { at: namespace } });
    (await registerJob(w.engine, hostPrincipal, { job, namespace }))._unsafeUnwrap();
  }
  return w;
}

const list = async (w: World, input: ListJobsInput = {}, caller: Principal = hostPrincipal) =>
  (await listJobs(w.engine, caller, input))._unsafeUnwrap();
const names = async (w: World, input: ListJobsInput = {}, caller: Principal = hostPrincipal) =>
  (await list(w, input, caller)).value.items.map(({ record: stub }) => `${stub.Namespace}:${stub.ID}`);

const texts = async (w: World, input: ListJobsInput) => (await list(w, input)).value.items.map(({ text }) => text);
/** Any write that changes a job. */
const changeJob = (w: World) => setJobStability(w.engine, hostPrincipal, { jobId: 'b', version: 0, stable: true });

const jobKeys = [
  ['default', 'b'],
  ['default', 'a/x'],
  ['default', 'a'],
  ['default', 'B'],
  ['a', 'c'],
  ['a-b', 'a'],
] as const;

describe('listJobs', () => {
  it('asks a filter of the stored jobs before it counts a page', async () => {
    const w = await withJobs(jobKeys);
    expect(await names(w, { filter: 'Meta.at == "default" and ID != "a"' })).toEqual([
      'default:B',
      'default:a/x',
      'default:b',
    ]);
    const first = await list(w, { filter: 'ID matches "^[a-z]"', perPage: 2 });
    expect(first.value.items.map(({ record }) => record.ID)).toEqual(['a', 'a/x']);
    expect(first.value.nextToken).toBe('default.b');
    expect(await names(w, { filter: 'ID matches "^[a-z]"', perPage: 2, nextToken: first.value.nextToken })).toEqual([
      'default:b',
    ]);
    expect(await names(w, { namespace: '*', filter: 'TaskGroups is not empty and Namespace == a' })).toEqual(['a:c']);
  });

  it('asks no filter of jobs that the caller may not list', async () => {
    const w = await withJobs(jobKeys);
    const filter = 'Meta.at == "default" or Nothing == "x"';
    const reader: Principal = {
      ...hostPrincipal,
      management: false,
      namespaces: { default: { capabilities: ['list-jobs'] } },
    };
    expect(await names(w, { namespace: '*', filter }, reader)).toHaveLength(4);
    expect((await listJobs(w.engine, hostPrincipal, { namespace: '*', filter }))._unsafeUnwrapErr()).toMatchObject({
      type: 'filter_evaluation',
    });
  });

  it('answers an error of a filter at once, whatever index the reader has', async () => {
    const w = await withJobs(jobKeys);
    const waiting = { after: 1_000, wait: 60_000 };
    const refused = async (filter: string) =>
      (await listJobs(w.engine, hostPrincipal, { filter, waiting }))._unsafeUnwrapErr();
    expect(await refused('ID = "x"')).toMatchObject({ type: 'filter_syntax', line: 1 });
    expect(await refused('Nope == "x"')).toMatchObject({ type: 'filter_evaluation' });
  });

  it('keeps the order of namespaces for a prefix over all of them', async () => {
    const w = await withJobs(jobKeys);
    expect(await names(w, { prefix: 'a', namespace: '*', reverse: true })).toEqual([
      'a-b:a',
      'default:a',
      'default:a/x',
    ]);
  });

  it('orders by namespace and ID, case-sensitive', async () => {
    const w = await withJobs(jobKeys);
    expect(await names(w)).toEqual(['default:B', 'default:a', 'default:a/x', 'default:b']);
    expect(await names(w, { namespace: '*' })).toEqual([
      'a:c',
      'a-b:a',
      'default:B',
      'default:a',
      'default:a/x',
      'default:b',
    ]);
    expect(await names(w, { reverse: true })).toEqual(['default:b', 'default:a/x', 'default:a', 'default:B']);
    expect(await names(w, { namespace: 'nowhere' })).toEqual([]);
  });

  it('takes a prefix, the exact match first', async () => {
    const w = await withJobs(jobKeys);
    expect(await names(w, { prefix: 'a' })).toEqual(['default:a', 'default:a/x']);
    expect(await names(w, { prefix: 'a', namespace: '*' })).toEqual(['a-b:a', 'default:a', 'default:a/x']);
    expect(await names(w, { prefix: 'zz' })).toEqual([]);
  });

  it('shows meta only when asked, and the summary always', async () => {
    const w = await withJobs([['default', 'a']]);
    const [plain] = (await list(w)).value.items.map(({ record }) => record);
    const [full] = (await list(w, { meta: true })).value.items.map(({ record }) => record);
    expect(plain).not.toHaveProperty('Meta');
    expect(full?.Meta).toEqual({ at: 'default' });
    expect(plain).toMatchObject({ ParameterizedJob: true, Periodic: false, JobSummary: { Namespace: 'default' } });
  });

  it('shows in * only the namespaces that the caller may list', async () => {
    const w = await withJobs(jobKeys);
    const caller: Principal = {
      ...hostPrincipal,
      management: false,
      namespaces: { 'a*': { capabilities: ['list-jobs'] } },
    };
    expect(await names(w, { namespace: '*' }, caller)).toEqual(['a:c', 'a-b:a']);
    expect(await names(w, { namespace: '*', perPage: 1 }, caller)).toEqual(['a:c']);
    expect((await w.engine.as(caller).jobs.list()).isErr()).toBe(true);
  });

  it('names the next item, which the next page begins with', async () => {
    const w = await withJobs(jobKeys);
    const first = await list(w, { perPage: 2 });
    expect(first.value.nextToken).toBe('default.a/x');
    expect(await names(w, { perPage: 2, nextToken: first.value.nextToken })).toEqual(['default:a/x', 'default:b']);
    expect((await list(w, { perPage: 4 })).value.nextToken).toBe('');
    expect(await names(w, { perPage: 2, nextToken: 'default.a/a' })).toEqual(['default:a/x', 'default:b']);
    expect(await names(w, { nextToken: 'garbage' })).toEqual([]);
    expect(await names(w, { nextToken: '' })).toHaveLength(4);
    expect(await names(w, { perPage: -1 })).toHaveLength(4);
  });

  it('gives every job once over all pages, in both directions', async () => {
    const unit = fc.constantFrom('a', 'b', '/', '-', 'é');
    // Dots stand beside a letter: a part that is "." or ".." is refused.
    const id = fc.string({ minLength: 1, maxLength: 4, unit: fc.oneof(unit, fc.constant('a.')) });
    const jobKey = fc.tuple(fc.constantFrom('a', 'a-b', 'ab', 'default'), id);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(jobKey, { selector: ([n, i]) => `${n}:${i}`, maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        fc.constantFrom('*', 'default'),
        fc.constantFrom('', 'a'),
        async (chosen, perPage, reverse, namespace, prefix) => {
          const w = await withJobs(chosen);
          const whole = await names(w, { namespace, prefix, reverse });
          const paged: string[] = [];
          for (let nextToken = ''; ; ) {
            const page = (await list(w, { namespace, prefix, reverse, perPage, nextToken })).value;
            paged.push(...page.items.map(({ record: stub }) => `${stub.Namespace}:${stub.ID}`));
            expect(page.items.length === perPage || page.nextToken === '').toBe(true);
            nextToken = page.nextToken;
            if (nextToken === '') break;
          }
          expect(paged).toEqual(whole);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('gives the same texts on a store that was used without stubs, and completes them with the first write', async () => {
    const old = await withJobs(jobKeys);
    const w = world();
    const [jobRows, summaryRows] = [await old.rows(jobs), await old.rows(jobSummaries)];
    const copied = await w.engine.storage.write((view) => {
      for (const row of jobRows) view.put(jobs, row);
      for (const row of summaryRows) view.put(jobSummaries, row);
      view.put(jobStubs, jobListStub({ ...(jobRows[0] as Job), ID: 'gone' }, undefined, false));
      return ok(undefined);
    });
    copied._unsafeUnwrap();
    // As a version without stubs leaves it: it changes a job, and what lists show of it stays as it was.
    const touched = await w.engine.storage.write((view) => ok(view.put(jobs, jobRows[0] as Job)));
    touched._unsafeUnwrap();
    const expected = await texts(old, { namespace: '*' });
    expect(await texts(w, { namespace: '*' })).toEqual(expected);
    expect((await w.rows(jobStubs)).length).toBe(1);
    (await changeJob(w))._unsafeUnwrap();
    expect((await w.rows(jobStubs)).map((stub) => JSON.stringify(stub)).sort()).toEqual(
      (await texts(w, { namespace: '*', filter: 'ID != ""' })).sort(),
    );
    expect(await names(w, { namespace: '*', prefix: 'a' })).toEqual(await names(old, { namespace: '*', prefix: 'a' }));
  });

  it('waits until a job appears', async () => {
    const w = await withJobs([]);
    const index = (await list(w)).index;
    const waiting = list(w, { waiting: { after: index } });
    await registerJob(w.engine, hostPrincipal, { job: serviceJob('late') });
    expect((await waiting).value.items).toMatchObject([{ record: { ID: 'late' } }]);
    await w.engine.stop();
  });
});

describe('listEvaluations', () => {
  async function withEvaluations(count: number): Promise<World> {
    const w = world();
    for (let i = 0; i < count; i++) {
      (await registerJob(w.engine, hostPrincipal, { job: serviceJob(`job-${i % 3}`) }))._unsafeUnwrap();
    }
    // Several of one write, in an order of IDs that is not that of making.
    await w.engine.storage
      .write((view) => {
        const [first] = view.list(evaluations).map((row) => row.record);
        for (const ID of ['c', 'a', 'b'].map((digit) => `${digit}0000000-0000-4000-8000-000000000000`)) {
          if (first !== undefined)
            view.put(evaluations, { ...first, ID, CreateIndex: view.index, ModifyIndex: view.index });
        }
        return ok(undefined);
      })
      .match(
        () => undefined,
        () => undefined,
      );
    return w;
  }

  it('pages by creation and ID in both directions', async () => {
    const w = await withEvaluations(5);
    const whole = await w.rows(evaluations);
    const expected = [...whole]
      .sort((a, b) => a.CreateIndex - b.CreateIndex || (a.ID < b.ID ? -1 : 1))
      .map((e) => e.ID);
    for (const reverse of [false, true]) {
      for (const namespace of ['*', 'default']) {
        for (const perPage of [1, 2, 3, 100]) {
          const paged: string[] = [];
          for (let nextToken = ''; ; ) {
            const input = { namespace, reverse, perPage, nextToken };
            const page = (await listEvaluations(w.engine, hostPrincipal, input))._unsafeUnwrap().value;
            paged.push(...page.items.map((row) => row.record.ID));
            nextToken = page.nextToken;
            if (nextToken === '') break;
          }
          expect(paged).toEqual(reverse ? [...expected].reverse() : expected);
        }
      }
    }
  });

  it('takes a prefix of IDs, a status and a job', async () => {
    const w = await withEvaluations(4);
    const ids = async (input: object) =>
      (await listEvaluations(w.engine, hostPrincipal, input))._unsafeUnwrap().value.items.map((row) => row.record.ID);
    expect(await ids({ prefix: 'e0000002' })).toHaveLength(1);
    expect(await ids({ prefix: 'e' })).toHaveLength(4);
    expect(await ids({ prefix: 'e', perPage: 2, nextToken: 'e0000003-0000-4000-8000-000000000003' })).toHaveLength(2);
    expect(await ids({ job: 'job-1' })).toHaveLength(1);
    expect(await ids({ status: 'complete' })).toEqual([]);
    const ofJob = (await listJobEvaluations(w.engine, hostPrincipal, { jobId: 'job-0' }))._unsafeUnwrap();
    expect(ofJob.value.length).toBeGreaterThanOrEqual(2);
  });

  it('reads one by its whole ID', async () => {
    const w = await withEvaluations(1);
    const [first] = await w.rows(evaluations);
    const read = (id: string) => readEvaluation(w.engine, hostPrincipal, { id });
    const missing = '00000000-0000-4000-8000-000000000000';
    expect((await read('abc'))._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_request' });
    expect((await read(missing))._unsafeUnwrap().value).toBeUndefined();
    expect((await read(first?.ID ?? ''))._unsafeUnwrap().value?.record.ID).toBe(first?.ID);
  });
});
