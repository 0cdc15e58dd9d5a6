import fc from 'fast-check';
import { ok, type ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../src/access/principal.js';
import { jobSubmissions } from '../../src/jobs/changes/submissions.js';
import type { Job } from '../../src/jobs/document/job.js';
import { isLauncher, jobs, jobVersions } from '../../src/jobs/job-record.js';
import { type JobListStub, jobListStub, jobSummaries } from '../../src/jobs/status/job-summary.js';
import { commit } from '../../src/operations/commit.js';
import { dispatchJob } from '../../src/operations/jobs/dispatch-job.js';
import { evaluateJob } from '../../src/operations/jobs/evaluate-job.js';
import { revertJob, setJobStability } from '../../src/operations/jobs/job-versions.js';
import { listJobs } from '../../src/operations/jobs/reading/list-jobs.js';
import { registerJob } from '../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../src/operations/jobs/stop-job.js';
import { hasCurrentStubs } from '../../src/operations/reactions/jobs.js';
import { readJobVersions } from '../../src/operations/records/jobs/job-rows.js';
import { processEvaluation } from '../../src/operations/scheduling/process-evaluation.js';
import { evaluations } from '../../src/scheduler/evaluation.js';
import { tables } from '../../src/tables.js';
import { batchJob, parameterizedJob, type World, world } from '../operations/jobs/world.js';

/*
 * Whatever callers do in whatever order: indexes only rise, what belongs together is there together, limits hold, and a
 * refused request leaves no trace.
 */

type Step = (w: World) => ResultAsync<unknown, unknown>;

const jobId = fc.constantFrom('a', 'b', 'p', 'q');
const host = hostPrincipal;

const step: fc.Arbitrary<readonly [string, Step]> = fc.oneof(
  fc
    .tuple(jobId, fc.integer({ min: 0, max: 102 }), fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }))
    .map(([id, Priority, jobModifyIndex]) => {
      const document = id === 'a' || id === 'b' ? batchJob(id, { Priority }) : parameterizedJob(id, {}, { Priority });
      const input = {
        job: document,
        submission: { Source: `${Priority}`, Format: 'json', VariableFlags: null, Variables: '' },
        ...(jobModifyIndex === undefined ? {} : { enforceIndex: jobModifyIndex }),
      };
      return [
        `register ${id} ${Priority} ${jobModifyIndex}`,
        (w: World) => registerJob(w.engine, host, input),
      ] as const;
    }),
  fc.tuple(jobId, fc.boolean()).map(([id, purge]) => {
    return [`stop ${id} ${purge}`, (w: World) => stopJob(w.engine, host, { jobId: id, purge })] as const;
  }),
  fc.tuple(jobId, fc.constantFrom('', 't1', 't2'), fc.boolean()).map(([id, idempotencyToken, spoiled]) => {
    const input = { jobId: id, idempotencyToken, meta: spoiled ? { no: '1' } : null };
    return [`dispatch ${id} ${idempotencyToken} ${spoiled}`, (w: World) => dispatchJob(w.engine, host, input)] as const;
  }),
  fc.tuple(jobId, fc.integer({ min: 0, max: 4 }), fc.boolean()).map(([id, version, stable]) => {
    return [
      `stable ${id} ${version} ${stable}`,
      (w: World) => setJobStability(w.engine, host, { jobId: id, version, stable }),
    ] as const;
  }),
  fc.tuple(jobId, fc.integer({ min: 0, max: 4 })).map(([id, version]) => {
    return [`revert ${id} ${version}`, (w: World) => revertJob(w.engine, host, { jobId: id, version })] as const;
  }),
  jobId.map((id) => [`process ${id}`, (w: World) => processOf(w, id)] as const),
  jobId.map((id) => [`evaluate ${id}`, (w: World) => evaluateJob(w.engine, host, { jobId: id })] as const),
);

/** What the scheduler does with the oldest open evaluation of a job. */
function processOf(w: World, id: string): ResultAsync<unknown, unknown> {
  return commit(w.engine, host, (tx) => {
    const [open] = tx.list(evaluations, { index: 'open_by_job', prefix: ['default', id, 'pending'], limit: 1 });
    return ok(open === undefined ? undefined : processEvaluation(tx, open.record).evaluation.ID);
  });
}

async function everything(w: World): Promise<string> {
  const all = [];
  for (const { table } of tables.filter(({ watched }) => watched)) all.push(await w.rows(table));
  return JSON.stringify(all);
}

const storeIndex = async (w: World) => (await w.engine.storage.read((view) => view.index))._unsafeUnwrap();

async function checkInvariants(w: World): Promise<void> {
  const [rows, summaries, submissions, index] = await Promise.all([
    w.rows(jobs),
    w.rows(jobSummaries),
    w.rows(jobSubmissions),
    storeIndex(w),
  ]);
  const alive = new Map(rows.map((job) => [job.ID, job]));
  expect(summaries.map((summary) => summary.JobID)).toEqual(rows.map((job) => job.ID));
  for (const job of rows) {
    expect(job.ModifyIndex).toBeGreaterThanOrEqual(job.JobModifyIndex);
    expect(job.JobModifyIndex).toBeGreaterThanOrEqual(job.CreateIndex);
    expect(job.ModifyIndex).toBeLessThanOrEqual(index);
    const versions = (
      await w.engine.storage.read((view) => readJobVersions(view, job.Namespace, job.ID).map((row) => row.record))
    )._unsafeUnwrap();
    expect(versions[0]).toEqual(job);
    checkVersions(versions);
    expect(submissions.filter((submission) => submission.JobID === job.ID).length).toBeLessThanOrEqual(6);
    if (isLauncher(job)) checkParent(job, rows, summaries.find((summary) => summary.JobID === job.ID)?.Children);
  }
  await checkLists(
    w,
    rows.map((job) =>
      jobListStub(
        job,
        summaries.find((summary) => summary.JobID === job.ID),
        false,
      ),
    ),
  );
  for (const version of await w.rows(jobVersions)) expect(alive.has(version.ID)).toBe(true);
  for (const submission of submissions) expect(alive.has(submission.JobID)).toBe(true);
}

/** A list relays stored texts: they are those that the jobs and summaries give. */
async function checkLists(w: World, stubs: readonly JobListStub[]): Promise<void> {
  expect((await w.engine.storage.read(hasCurrentStubs))._unsafeUnwrap()).toBe(true);
  const listed = (await listJobs(w.engine, host, {}))._unsafeUnwrap().value.items;
  expect(listed.map(({ text }) => text)).toEqual(stubs.map((stub) => JSON.stringify(stub)));
}

function checkVersions(versions: readonly Job[]): void {
  const numbers = versions.map((version) => version.Version);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => b - a));
  // The newest stable one may be kept beyond the six only instead of another.
  expect(versions.length).toBeLessThanOrEqual(6);
  expect(new Set(versions.map((version) => version.CreateIndex)).size).toBe(1);
}

function checkParent(job: Job, rows: readonly Job[], children: object | undefined): void {
  expect(job.Status).toBe(job.Stop ? 'dead' : 'running');
  const own = rows.filter((each) => each.ParentID === job.ID && each.CreateIndex > job.CreateIndex);
  const pending = own.filter((each) => each.Status === 'pending').length;
  expect(children).toMatchObject({ Running: 0 });
  // Children of an earlier registration of the parent are not counted by this one, unless they change.
  expect((children as { Pending: number }).Pending).toBeLessThanOrEqual(pending);
  const tokens = rows.filter((each) => each.ParentID === job.ID && each.DispatchIdempotencyToken !== '');
  expect(new Set(tokens.map((each) => each.DispatchIdempotencyToken)).size).toBe(tokens.length);
}

describe('jobs under any sequence of requests', () => {
  it('keep their invariants, and a refused request changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const w = world();
        let last = await storeIndex(w);
        for (const [, run] of steps) {
          const before = await everything(w);
          const result = await run(w);
          const index = await storeIndex(w);
          expect(index).toBeGreaterThanOrEqual(last);
          if (result.isErr()) expect(await everything(w)).toBe(before);
          last = index;
        }
        await checkInvariants(w);
      }),
      { numRuns: 60 },
    );
  });
});
