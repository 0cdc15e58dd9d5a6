import { describe, expect, it } from 'vitest';
import { flaky, manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, type Engine } from '../../../src/engine.js';
import { hostPrincipal } from '../../../src/index.js';
import type { Job } from '../../../src/jobs/document/job.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { periodicLaunches } from '../../../src/jobs/periodic/periodic-launch.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { forceLaunch } from '../../../src/operations/periodic/launches.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type Evaluation, evaluations } from '../../../src/scheduler/evaluation.js';
import { day, hour, minute, second } from '../../../src/shared/duration.js';
import { batchJob } from '../jobs/world.js';

const clockAt = Date.UTC(2026, 0, 1);

function cluster(storage: Storage = memoryStorage()) {
  const clock = manualClock(clockAt);
  const ids = sequentialIds();
  const engine = (): Engine => createEngine({ storage, clock, ids, delivery: recordingDelivery() });
  return { clock, storage, engine };
}

async function register(engine: Engine, periodic: object, more: object = {}): Promise<void> {
  const job = batchJob('report', { Periodic: { Specs: ['0 * * * *'], ...periodic }, ...more });
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
}

async function children(storage: Storage): Promise<readonly Job[]> {
  const query = { index: 'by_parent', prefix: ['default', 'report'] };
  return (await storage.read((view) => view.list(jobs, query).map(({ record }) => record)))._unsafeUnwrap();
}

async function instances(storage: Storage): Promise<readonly string[]> {
  return (await children(storage)).map(({ ID }) => new Date(Number(ID.split('-').at(-1)) * 1000).toISOString());
}

async function listed(storage: Storage): Promise<readonly Evaluation[]> {
  return (await storage.read((view) => view.list(evaluations).map(({ record }) => record)))._unsafeUnwrap();
}

describe('launches by the clock', () => {
  it('make an instance with its evaluation and the record of the launch in one write', async () => {
    const { clock, storage, engine } = cluster();
    await using running = engine();
    await register(running, {});
    running.start();
    await clock.advance(hour);
    const [child] = await children(storage);
    expect(child).toMatchObject({
      ID: `report/periodic-${(clockAt + hour) / 1000}`,
      ParentID: 'report',
      Periodic: null,
    });
    const stored = await storage.read((view) => ({
      evaluation: view.list(evaluations).map(({ record }) => record)[0],
      launch: view.get(periodicLaunches, ['default', 'report'])?.record,
      launchIndex: view.get(periodicLaunches, ['default', 'report'])?.modifyIndex,
    }));
    expect(stored._unsafeUnwrap()).toMatchObject({
      evaluation: { TriggeredBy: 'periodic-job', JobID: child?.ID, CreateIndex: child?.CreateIndex },
      launch: { launchedAt: clockAt + hour, dueAt: clockAt + 2 * hour },
      launchIndex: child?.CreateIndex,
    });
  });

  it('play a year in no time, each at its moment, whatever the number of processes', async () => {
    const { clock, storage, engine } = cluster();
    await using first = engine();
    await using second = engine();
    await register(first, { Specs: ['30 6 * * *'] });
    first.start();
    second.start();
    // Evaluations are collected a day after they ended, so they are counted as they come.
    const made = new Set<string>();
    for (let passed = 0; passed < 365; passed += 1) {
      await clock.advance(day);
      for (const { ID, TriggeredBy } of await listed(storage)) if (TriggeredBy === 'periodic-job') made.add(ID);
    }
    const launched = await instances(storage);
    expect(launched).toHaveLength(365);
    expect(launched.every((at) => at.endsWith('T06:30:00.000Z'))).toBe(true);
    expect(made.size).toBe(365);
  });

  it('follow a new specification at once, and end when the job is stopped or purged', async () => {
    const { clock, storage, engine } = cluster();
    await using running = engine();
    running.start();
    await register(running, {});
    await clock.advance(90 * minute);
    await register(running, { Specs: ['40 * * * *'] });
    await clock.advance(hour);
    expect(await instances(storage)).toEqual(['2026-01-01T01:00:00.000Z', '2026-01-01T01:40:00.000Z']);
    (await stopJob(running, hostPrincipal, { jobId: 'report' }))._unsafeUnwrap();
    await clock.advance(day);
    expect(await instances(storage)).toHaveLength(2);
    await register(running, {});
    (await stopJob(running, hostPrincipal, { jobId: 'report', purge: true }))._unsafeUnwrap();
    await clock.advance(day);
    expect(await instances(storage)).toHaveLength(2);
    expect((await storage.read((view) => view.list(periodicLaunches)))._unsafeUnwrap()).toEqual([]);
  });

  it('leave the schedule as it is when the same job is registered again', async () => {
    const { clock, storage, engine } = cluster();
    await using running = engine();
    await register(running, {});
    await clock.advance(50 * minute);
    await register(running, {});
    running.start();
    await clock.advance(10 * minute);
    expect(await instances(storage)).toEqual(['2026-01-01T01:00:00.000Z']);
  });

  it('are left out while an instance runs, if the job says so', async () => {
    const { clock, storage, engine } = cluster();
    await using running = engine();
    // Without a node, the first instance waits for ever.
    await register(running, { ProhibitOverlap: true });
    running.start();
    await clock.advance(day);
    expect(await instances(storage)).toEqual(['2026-01-01T01:00:00.000Z']);
    const [child] = await children(storage);
    (await stopJob(running, hostPrincipal, { jobId: child?.ID ?? '' }))._unsafeUnwrap();
    await clock.advance(hour);
    expect(await instances(storage)).toHaveLength(2);
  });

  it('are those of the instances that were dispatched of a parameterized job, not its own', async () => {
    const { clock, storage, engine } = cluster();
    await using running = engine();
    await register(running, { ProhibitOverlap: true }, { ParameterizedJob: { MetaOptional: ['of'] } });
    running.start();
    await clock.advance(2 * hour);
    expect(await children(storage)).toEqual([]);
    const dispatched = (
      await dispatchJob(running, hostPrincipal, { jobId: 'report', meta: { of: 'x' } })
    )._unsafeUnwrap();
    expect(dispatched.evalId).toBe('');
    const launchedOf = async (parent: string): Promise<readonly Job[]> => {
      const query = { index: 'by_parent', prefix: ['default', parent] };
      return (await storage.read((view) => view.list(jobs, query).map(({ record }) => record)))._unsafeUnwrap();
    };
    await clock.advance(hour);
    const first = await launchedOf(dispatched.dispatchedJobId);
    expect(first).toMatchObject([
      {
        ID: `${dispatched.dispatchedJobId}/periodic-${(clockAt + 3 * hour) / 1000}`,
        Periodic: null,
        Meta: { of: 'x' },
      },
    ]);
    // Without a node it waits for ever, and holds up those after it, but not those of another instance.
    await clock.advance(3 * hour);
    expect(await launchedOf(dispatched.dispatchedJobId)).toHaveLength(1);
    const other = (await dispatchJob(running, hostPrincipal, { jobId: 'report' }))._unsafeUnwrap();
    await clock.advance(hour);
    expect(await launchedOf(other.dispatchedJobId)).toHaveLength(1);
    (await stopJob(running, hostPrincipal, { jobId: first[0]?.ID ?? '' }))._unsafeUnwrap();
    await clock.advance(hour);
    expect(await launchedOf(dispatched.dispatchedJobId)).toHaveLength(2);
  });

  it('leave instances as they are when the job is stopped', async () => {
    const { clock, storage, engine } = cluster();
    await using running = engine();
    await register(running, {});
    running.start();
    await clock.advance(hour);
    (await stopJob(running, hostPrincipal, { jobId: 'report' }))._unsafeUnwrap();
    expect(await children(storage)).toMatchObject([{ Stop: false, Status: 'pending' }]);
  });

  it('come once for all that were missed while no process ran', async () => {
    const { clock, storage, engine } = cluster();
    await using before = engine();
    await register(before, {});
    await clock.advance(10 * day + 20 * minute);
    await using after = engine();
    after.start();
    await clock.advance(minute);
    expect(await instances(storage)).toEqual(['2026-01-11T00:00:00.000Z']);
    await clock.advance(hour);
    expect(await instances(storage)).toEqual(['2026-01-11T00:00:00.000Z', '2026-01-11T01:00:00.000Z']);
  });

  it('do not come again when the wall clock is set back, and come once when it is set forward', async () => {
    const { clock, storage, engine } = cluster();
    await using running = engine();
    await register(running, {});
    running.start();
    await clock.advance(hour);
    await clock.step(-30 * minute);
    await clock.advance(31 * minute);
    expect(await instances(storage)).toHaveLength(1);
    await clock.step(5 * hour);
    await clock.advance(second);
    expect(await instances(storage)).toEqual(['2026-01-01T01:00:00.000Z', '2026-01-01T06:00:00.000Z']);
  });

  it('go on where they were when a write failed, or its acknowledgement was lost', async () => {
    let calls = 0;
    const error = { type: 'storage_failed', reason: 'io', message: 'The disk does not answer.' } as never;
    const sick = flaky(memoryStorage(), { write: { calls: () => ++calls % 2 === 0, when: 'after', error } });
    const { clock, engine } = cluster(sick);
    await using running = engine();
    await register(running, { Specs: ['*/10 * * * *'] });
    running.start();
    await clock.advance(hour + 30 * second);
    expect(await instances(sick)).toHaveLength(6);
  });
});

describe('launches by request', () => {
  it('make an instance now, whether or not another one runs, and leave the schedule as it is', async () => {
    const { clock, storage, engine } = cluster();
    await using running = engine();
    await register(running, { ProhibitOverlap: true });
    running.start();
    await clock.advance(hour + 5 * minute);
    const forced = (await forceLaunch(running, hostPrincipal, { jobId: 'report' }))._unsafeUnwrap();
    expect(forced).toMatchObject({ jobId: `report/periodic-${(clockAt + hour + 5 * minute) / 1000}` });
    expect(forced.evalId).not.toBe('');
    expect(await instances(storage)).toHaveLength(2);
    const row = await storage.read((view) => view.get(periodicLaunches, ['default', 'report'])?.record);
    expect(row._unsafeUnwrap()).toMatchObject({ launchedAt: clockAt + hour + 5 * minute, dueAt: clockAt + 2 * hour });
  });

  it('make one instance a second, which is evaluated again, and another one from the next second on', async () => {
    const { clock, storage, engine } = cluster();
    await using running = engine();
    await register(running, {});
    const force = async () => (await forceLaunch(running, hostPrincipal, { jobId: 'report' }))._unsafeUnwrap();
    const first = await force();
    await clock.advance(second - 1);
    const again = await force();
    expect(again.jobId).toBe(first.jobId);
    expect(again.evalId).not.toBe(first.evalId);
    const [instance, ...others] = await children(storage);
    expect(others).toEqual([]);
    // It is the same instance: neither a version nor its time of submission is new.
    expect(instance).toMatchObject({ Version: 0, CreateIndex: first.index, JobModifyIndex: first.index });
    const evaluated = (await listed(storage)).filter(({ JobID }) => JobID === first.jobId);
    expect(evaluated.map(({ TriggeredBy }) => TriggeredBy)).toEqual(['periodic-job', 'periodic-job']);

    await clock.advance(1);
    const next = await force();
    expect(next.jobId).toBe(`report/periodic-${clockAt / 1000 + 1}`);
    expect(await instances(storage)).toHaveLength(2);
  });

  it('are refused where there is nothing to launch', async () => {
    const { engine } = cluster();
    await using running = engine();
    const force = async () => (await forceLaunch(running, hostPrincipal, { jobId: 'report' }))._unsafeUnwrapErr();
    expect(await force()).toMatchObject({ type: 'job_not_found' });
    await register(running, { Enabled: false });
    expect(await force()).toMatchObject({ type: 'force_refused', reason: 'not_tracked' });
  });
});
