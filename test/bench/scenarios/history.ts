import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { systemClock } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { textOfRows } from '../../../src/api/answers.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { commit, rehearse } from '../../../src/operations/commit.js';
import { listJobs } from '../../../src/operations/jobs/reading/list-jobs.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { processEvaluation } from '../../../src/operations/scheduling/process-evaluation.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../../src/scheduler/evaluation.js';
import { asCost, compareRates, type Measured, type Slice } from './store-slices.js';

const ended = 100_000;
const listed = 10_000;

/** What grows with the years: a job that has had many runs, and a list of many jobs (on SQLite). */
export async function run(): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  const storage = (await sqliteStorage(join(folder, 'history.db'), { durability: 'relaxed' }))._unsafeUnwrap();
  try {
    return [await evaluations100k(engineOver(memoryStorage())), await pages(engineOver(storage))];
  } finally {
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function engineOver(storage: Storage): Engine {
  return createEngine({ storage, clock: systemClock(), ids: sequentialIds(), delivery: recordingDelivery() });
}

async function evaluations100k(engine: Engine): Promise<Measured> {
  await register(engine, 'new');
  await register(engine, 'old');
  await storeRuns(engine, 'old');
  const [old, fresh] = [evaluated(engine, 'old'), evaluated(engine, 'new')];
  return asCost(await compareRates('schedule: 100,000 ended runs', old, fresh, { max: 1.25 }, { clock: 'cpu' }));
}

async function register(engine: Engine, ID: string): Promise<void> {
  const TaskGroups = [{ Name: 'app', Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } }] }];
  const registered = await registerJob(engine, hostPrincipal, {
    job: { ID, Type: 'service', Datacenters: ['*'], TaskGroups },
  });
  registered._unsafeUnwrap();
}

/** Runs that failed and were replaced, the way a service that crashes for years leaves them. */
async function storeRuns(engine: Engine, jobId: string): Promise<void> {
  for (let from = 0; from < ended; from += 1000) {
    const stored = await commit(engine, hostPrincipal, (tx) => {
      for (let n = from; n < from + 1000; n += 1) tx.put(allocations, endedRun(jobId, n));
      return ok(undefined);
    });
    stored._unsafeUnwrap();
  }
}

function endedRun(JobID: string, n: number): Allocation {
  return {
    ID: `a-${n}`,
    Namespace: 'default',
    EvalID: 'e',
    Name: `${JobID}.app[0]`,
    NodeID: 'n',
    NodeName: 'n',
    JobID,
    JobType: 'service',
    JobVersion: 0,
    JobCreateIndex: 0,
    TaskGroup: 'app',
    AllocatedResources: { Tasks: {}, TaskLifecycles: {}, Shared: { Networks: null, DiskMB: 0, Ports: null } },
    DesiredStatus: 'run',
    DesiredTransition: {},
    ClientStatus: 'failed',
    NextAllocation: `a-${n + 1}`,
    CreateIndex: n,
    ModifyIndex: n,
    AllocModifyIndex: n,
    CreateTime: 0,
    ModifyTime: 0,
  } as unknown as Allocation;
}

/** The job's evaluation, decided again and again on rows that are thrown away. */
function evaluated(engine: Engine, jobId: string): Slice {
  return async (milliseconds) => {
    const until = performance.now() + milliseconds;
    let done = 0;
    for (; performance.now() < until; done += 1) {
      const decided = await rehearse(engine, hostPrincipal, (tx) => {
        const [row] = tx.list(evaluations, { index: 'by_job', prefix: ['default', jobId], limit: 1 });
        return ok(processEvaluation(tx, row?.record as Evaluation).evaluation.Status);
      });
      decided._unsafeUnwrap();
    }
    return done;
  };
}

/** A hundred of ten thousand jobs, by prefix and page, as the text of an answer; beside printing them alone. */
async function pages(engine: Engine): Promise<Measured> {
  for (let from = 0; from < listed; from += 250) {
    const names = Array.from({ length: 250 }, (_, n) => `job-${String(from + n).padStart(5, '0')}`);
    await Promise.all(names.map((name) => register(engine, name)));
  }
  const page = async (nextToken: string) =>
    (await listJobs(engine, hostPrincipal, { prefix: 'job-', perPage: 100, nextToken }))._unsafeUnwrap().value;
  const items = (await page('default.job-05000')).items.map(({ record }) => record);
  const ours: Slice = async (milliseconds) => {
    const until = performance.now() + milliseconds;
    let done = 0;
    for (; performance.now() < until; done += 1) {
      const first = ((done * 37) % 99) * 100;
      textOfRows((await page(`default.job-${String(first).padStart(5, '0')}`)).items);
    }
    return done;
  };
  const printing: Slice = (milliseconds) => {
    const until = performance.now() + milliseconds;
    let done = 0;
    for (; performance.now() < until; done += 1) JSON.stringify(items);
    return done;
  };
  const measured = asCost(await compareRates('list: 100 of 10,000 jobs', ours, printing, {}, { clock: 'cpu' }));
  return {
    ...measured,
    ours: measured.ours / 1e6,
    floor: measured.floor / 1e6,
    unit: 'ms',
    limit: { max: 2 },
  };
}
