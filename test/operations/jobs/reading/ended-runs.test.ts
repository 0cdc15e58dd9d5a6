import { describe, expect, it } from 'vitest';
import { createFunctions, defineFunction } from '../../../../src/functions.js';
import { hostPrincipal, type Principal } from '../../../../src/index.js';
import { endedRuns } from '../../../../src/jobs/runs/job-run.js';
import type { SettingsOverrides } from '../../../../src/settings.js';
import { day, hour, minute } from '../../../../src/shared/duration.js';
import { type Behaviour, fakeCluster } from '../../../support/fake-agents.js';
import { batchJob, group, parameterizedJob, serviceJob } from '../world.js';

const once = group({
  RestartPolicy: { Attempts: 0, Mode: 'fail' },
  ReschedulePolicy: { Attempts: 0, Unlimited: false },
});
const reader: Principal = {
  ...hostPrincipal,
  management: false,
  namespaces: { default: { capabilities: ['read-job'] } },
};

/** All runs end after a minute, in this way. */
async function worldOf(settings: SettingsOverrides = {}, ends: Behaviour['ends'] = 'failed') {
  const cluster = fakeCluster({ settings, behaviour: () => ({ ends, after: minute }) });
  await cluster.addNode('n1');
  const { jobs, maintenance } = cluster.engine.as(hostPrincipal);
  (await jobs.register(parameterizedJob('report', {}, { TaskGroups: [once] })))._unsafeUnwrap();
  const dispatch = async (): Promise<string> => {
    const { dispatchedJobId } = (await jobs.dispatch('report'))._unsafeUnwrap();
    await cluster.clock.advance(3 * minute);
    return dispatchedJobId;
  };
  const runs = async (options = {}) => (await jobs.runs(options))._unsafeUnwrap().value;
  return { ...cluster, jobs, maintenance, dispatch, runs };
}

describe('the runs that have ended', () => {
  it('stay when their jobs have been collected', async () => {
    const w = await worldOf();
    const [first, second] = [await w.dispatch(), await w.dispatch()];
    (await w.maintenance.collectGarbage())._unsafeUnwrap();
    expect((await w.jobs.list({ prefix: 'report/' }))._unsafeUnwrap().value.items).toEqual([]);
    const { items } = await w.runs({ jobId: 'report' });
    expect(items.map(({ jobId }) => jobId)).toEqual([second, first]);
    expect(items[0]).toMatchObject({
      namespace: 'default',
      parentId: 'report',
      number: 2,
      outcome: 'failed',
      failure: { allocationId: expect.any(String), task: 't' },
    });
    const { createdAt = '', startedAt = '', endedAt = '' } = items[0] ?? {};
    expect(Date.parse(endedAt) - Date.parse(startedAt)).toBe(minute);
    expect(Date.parse(createdAt)).toBeLessThan(Date.parse(startedAt));
    expect((await w.runs({ jobId: first })).items.map(({ number }) => number)).toEqual([1]);
    await w.engine.stop();
  });

  it('started when their first task did, also when an allocation was placed again', async () => {
    const w = await worldOf();
    const again = {
      Attempts: 2,
      Interval: day * 1e6,
      Delay: minute * 1e6,
      DelayFunction: 'constant',
      Unlimited: false,
    };
    const often = group({ RestartPolicy: { Attempts: 0, Mode: 'fail' }, ReschedulePolicy: again });
    (await w.jobs.register(batchJob('often', { TaskGroups: [often] })))._unsafeUnwrap();
    await w.clock.advance(30 * minute);
    const [{ createdAt = '', startedAt = '', endedAt = '' } = {}] = (await w.runs({ jobId: 'often' })).items;
    expect(Date.parse(startedAt) - Date.parse(createdAt)).toBeLessThan(minute);
    // Three tries of a minute, with a pause before the second and the third.
    expect(Date.parse(endedAt) - Date.parse(startedAt)).toBeGreaterThanOrEqual(5 * minute);
    await w.engine.stop();
  });

  it('have no failure when they succeeded; services have no runs', async () => {
    const w = await worldOf({}, 'complete');
    (await w.jobs.register(batchJob('once', { TaskGroups: [once] })))._unsafeUnwrap();
    (await w.jobs.register(serviceJob('web')))._unsafeUnwrap();
    await w.clock.advance(3 * minute);
    (await w.jobs.stop('web'))._unsafeUnwrap();
    await w.clock.advance(minute);
    expect((await w.runs()).items).toMatchObject([{ jobId: 'once', parentId: 'once', outcome: 'succeeded' }]);
    expect((await w.runs()).items[0]).not.toHaveProperty('failure');
    await w.engine.stop();
  });

  it('are read in pages, by outcome, and wait for the next one', async () => {
    const w = await worldOf();
    const ids = [await w.dispatch(), await w.dispatch(), await w.dispatch()].reverse();
    for (const scope of [{}, { jobId: 'report' }]) {
      const found: string[] = [];
      for (let nextToken = '', pages = 0; pages === 0 || nextToken !== ''; pages += 1) {
        const page = await w.runs({ ...scope, perPage: 2, nextToken });
        found.push(...page.items.map(({ jobId }) => jobId));
        nextToken = page.nextToken;
      }
      expect(found).toEqual(ids);
    }
    expect((await w.runs({ outcome: 'succeeded' })).items).toEqual([]);
    expect((await w.jobs.runs({ outcome: 'none' }))._unsafeUnwrapErr().type).toBe('invalid_request');
    expect((await w.jobs.runs({ perPage: 1001 }))._unsafeUnwrapErr().type).toBe('invalid_request');
    const { index } = (await w.jobs.runs())._unsafeUnwrap();
    const waiting = w.jobs.runs({ index, wait: '10m' });
    const next = await w.dispatch();
    expect((await waiting)._unsafeUnwrap().value.items[0]?.jobId).toBe(next);
    await w.engine.stop();
  });

  it('are bounded in number and age, and go with a purge', async () => {
    const w = await worldOf({ jobs: { keptRuns: 2, runsKeptFor: day } });
    const ids = [await w.dispatch(), await w.dispatch(), await w.dispatch()];
    expect((await w.rows(endedRuns)).map(({ jobId }) => jobId)).toEqual(ids.slice(1));
    await w.clock.advance(23 * hour);
    (await w.jobs.register(batchJob('other', { TaskGroups: [once] })))._unsafeUnwrap();
    await w.clock.advance(2 * hour);
    const last = await w.dispatch();
    expect((await w.rows(endedRuns)).map(({ jobId }) => jobId)).toEqual(['other', last]);
    (await w.jobs.stop('report', { purge: true }))._unsafeUnwrap();
    expect((await w.rows(endedRuns)).map(({ jobId }) => jobId)).toEqual(['other']);
    await w.engine.stop();
  });

  it('are counted once, whatever is done with a job that has ended; a further allocation is a further run', async () => {
    const w = await worldOf({}, 'complete');
    const job = (priority: number) => batchJob('once', { Priority: priority, TaskGroups: [once] });
    const numbers = async (act: () => Promise<unknown>) => {
      await act();
      await w.clock.advance(3 * minute);
      return (await w.runs({ jobId: 'once' })).items.map(({ number }) => number);
    };
    expect(await numbers(async () => w.jobs.register(job(50)))).toEqual([1]);
    expect(await numbers(async () => w.jobs.evaluate('once'))).toEqual([1]);
    expect(await numbers(async () => w.jobs.register(job(50)))).toEqual([1]);
    expect(await numbers(async () => w.jobs.stop('once'))).toEqual([1]);
    expect(await numbers(async () => w.jobs.register(job(50)))).toEqual([2, 1]);
    await w.engine.stop();
  });

  it('go with their namespace', async () => {
    const w = await worldOf();
    const { namespaces } = w.engine.as(hostPrincipal);
    (await namespaces.put('other'))._unsafeUnwrap();
    (await w.jobs.register(batchJob('hidden', { Namespace: 'other', TaskGroups: [once] })))._unsafeUnwrap();
    await w.clock.advance(3 * minute);
    expect((await w.runs({ namespace: 'other' })).items).toHaveLength(1);
    (await namespaces.remove('other'))._unsafeUnwrap();
    (await namespaces.put('other'))._unsafeUnwrap();
    expect((await w.runs({ namespace: 'other' })).items).toEqual([]);
    await w.engine.stop();
  });

  it('are not kept where none are to be', async () => {
    const w = await worldOf({ jobs: { keptRuns: 0 } });
    await w.dispatch();
    expect(await w.rows(endedRuns)).toEqual([]);
    await w.engine.stop();
  });

  it('of other namespaces are hidden, and are not counted', async () => {
    const w = await worldOf();
    (await w.engine.as(hostPrincipal).namespaces.put('other'))._unsafeUnwrap();
    (await w.jobs.register(batchJob('hidden', { Namespace: 'other', TaskGroups: [once] })))._unsafeUnwrap();
    await w.clock.advance(3 * minute);
    const { jobs } = w.engine.as(reader);
    expect((await jobs.runs({ namespace: '*' }))._unsafeUnwrap().value.items).toEqual([]);
    expect((await jobs.failures({ namespace: '*' }))._unsafeUnwrap().causes).toEqual([]);
    expect((await jobs.runs({ namespace: 'other' }))._unsafeUnwrapErr().type).toBe('permission_denied');
    expect((await w.runs({ namespace: '*' })).items).toHaveLength(1);
    expect((await w.runs()).items).toEqual([]);
    await w.engine.stop();
  });
});

describe('failures by cause', () => {
  it('count runs of jobs and of functions since a time', async () => {
    const w = await worldOf();
    const ids = [await w.dispatch(), await w.dispatch()];
    const broken = defineFunction<string>({ name: 'mail/send', retry: { attempts: 1 } }, (name) => {
      throw new Error(`no address for ${JSON.stringify(name)}`);
    });
    const functions = createFunctions(w.engine, [broken]);
    await functions.start();
    await functions.enqueue(broken, 'ada');
    await functions.enqueue(broken, 'bob');
    await w.clock.advance(minute);
    const { causes, failures, isCut } = (await w.jobs.failures())._unsafeUnwrap();
    expect([failures, isCut]).toEqual([4, false]);
    expect(causes.map(({ count, jobs }) => [count, jobs[0]?.jobId])).toEqual(
      expect.arrayContaining([
        [2, 'report'],
        [2, 'mail/send'],
      ]),
    );
    expect(causes.find(({ jobs }) => jobs[0]?.jobId === 'report')?.example.id).toBe(ids[1]);
    const ofMail = (await w.jobs.failures({ jobId: 'mail/send' }))._unsafeUnwrap();
    expect(ofMail.causes).toMatchObject([{ cause: 'Error: no address for "…"', share: 1 }]);
    const later = (await w.jobs.failures({ since: w.clock.now() }))._unsafeUnwrap();
    expect(later.failures).toBe(0);
    await functions.stop();
    await w.engine.stop();
  });
});
