import fc from 'fast-check';
import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { hostPrincipal, type JobListStub, type Principal } from '../../../../src/index.js';
import { jobStubs } from '../../../../src/jobs/status/job-summary.js';
import { minute } from '../../../../src/shared/duration.js';
import { fakeCluster } from '../../../support/fake-agents.js';
import { batchJob, group, parameterizedJob, serviceJob, type World, world } from '../world.js';

const jobsOf = ({ engine }: Pick<World, 'engine'>, principal: Principal = hostPrincipal) => engine.as(principal).jobs;

async function listed(w: Pick<World, 'engine'>, options = {}): Promise<string[]> {
  const { value } = (await jobsOf(w).list(options))._unsafeUnwrap();
  return value.items.map(({ ID }) => ID);
}

async function threeJobs(): Promise<World> {
  const w = world();
  for (const [id, Priority] of [
    ['b', 30],
    ['a', 70],
    ['c', 50],
  ] as const)
    (await jobsOf(w).register(serviceJob(id, { Priority, Meta: { team: id } })))._unsafeUnwrap();
  return w;
}

describe('a sorted list of jobs', () => {
  it.each([
    ['id', 'abc'],
    ['-id', 'cba'],
    ['priority', 'bca'],
    ['-priority', 'acb'],
    ['changed', 'bac'],
    ['-changed', 'cab'],
    ['next_launch', 'abc'],
    ['-last_run', 'abc'],
  ])('by %s', async (sort, expected) => {
    const w = await threeJobs();
    expect((await listed(w, { sort })).join('')).toBe(expected);
    expect((await listed(w, { sort, reverse: true })).length).toBe(3);
  });

  it('takes filters, prefixes and meta', async () => {
    const w = await threeJobs();
    expect(await listed(w, { sort: '-priority', filter: 'Meta.team != b' })).toEqual(['a', 'c']);
    expect(await listed(w, { sort: '-priority', prefix: 'b' })).toEqual(['b']);
    const { value } = (await jobsOf(w).list({ sort: 'id', meta: true }))._unsafeUnwrap();
    expect(value.items.map(({ Meta }) => Meta)).toEqual([{ team: 'a' }, { team: 'b' }, { team: 'c' }]);
  });

  it.each([
    [{ sort: 'constructor' }, 'invalid_request'],
    [{ sort: '' }, 'invalid_request'],
    [{ sort: '--id' }, 'invalid_request'],
    [{ lastOutcome: 'toString' }, 'invalid_request'],
    [{ sort: 'id', filter: 'Nope == 1' }, 'filter_evaluation'],
    [{ sort: 'id', filter: '((' }, 'filter_syntax'],
  ])('refuses %j', async (options, type) => {
    expect((await jobsOf(await threeJobs()).list(options))._unsafeUnwrapErr().type).toBe(type);
  });

  it('shows no jobs of namespaces that the caller may not list', async () => {
    const w = await threeJobs();
    (await w.engine.as(hostPrincipal).namespaces.put('other'))._unsafeUnwrap();
    (await jobsOf(w).register(serviceJob('hidden', { Namespace: 'other' })))._unsafeUnwrap();
    const reader = { ...hostPrincipal, management: false, namespaces: { default: { capabilities: ['list-jobs'] } } };
    const { value } = (await jobsOf(w, reader as Principal).list({ sort: 'id', namespace: '*' }))._unsafeUnwrap();
    expect(value.items.map(({ ID }) => ID)).toEqual(['a', 'b', 'c']);
    expect(await listed(w, { sort: 'id', namespace: 'other' })).toEqual(['hidden']);
  });

  it('is the same in pages of any size, in both orders, for any names', async () => {
    const sorts = fc.constantFrom('id', '-id', 'priority', '-priority', '-last_outcome', 'next_launch');
    const stubs = fc.uniqueArray(
      fc.record({ ID: fc.string({ minLength: 1, unit: 'grapheme' }), Priority: fc.nat(3) }),
      {
        selector: ({ ID }) => ID,
        maxLength: 12,
      },
    );
    const w = await threeJobs();
    const sample = (await w.rows(jobStubs))[0] as JobListStub;
    await fc.assert(
      fc.asyncProperty(sorts, stubs, fc.integer({ min: 1, max: 5 }), async (sort, some, perPage) => {
        await w.engine.storage.write((view) => {
          for (const { record } of view.list(jobStubs)) view.remove(jobStubs, jobStubs.key(record));
          for (const stub of some) view.put(jobStubs, { ...sample, ...stub });
          return ok(undefined);
        });
        const whole = await listed(w, { sort });
        expect([...whole].sort()).toEqual(some.map(({ ID }) => ID).sort());
        const found: string[] = [];
        for (let nextToken = '', pages = 0; pages === 0 || nextToken !== ''; pages += 1) {
          const { value } = (await jobsOf(w).list({ sort, perPage, nextToken }))._unsafeUnwrap();
          found.push(...value.items.map(({ ID }) => ID));
          nextToken = value.nextToken;
        }
        expect(found).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the last run and the next launch', () => {
  it('are in the list, in its order and its selection, with neutral names', async () => {
    const once = group({ RestartPolicy: { Attempts: 0, Mode: 'fail' }, ReschedulePolicy: { Attempts: 0 } });
    await using w = fakeCluster({
      behaviour: ({ JobID }) => ({ ends: JobID.startsWith('bad') ? 'failed' : 'complete', after: minute }),
    });
    await w.addNode('n1');
    const { jobs } = w.engine.as(hostPrincipal);
    for (const id of ['bad', 'good']) {
      (await jobs.register(parameterizedJob(id, {}, { TaskGroups: [once] })))._unsafeUnwrap();
      (await jobs.dispatch(id))._unsafeUnwrap();
      await w.clock.advance(3 * minute);
    }
    (await jobs.register(batchJob('cron', { Periodic: { Specs: ['0 3 * * *'] } })))._unsafeUnwrap();
    const all = (await jobs.list({ prefix: '' }))._unsafeUnwrap().value.items;
    const of = (id: string) => all.find(({ ID }) => ID === id);
    expect(of('bad')?.LastRun).toMatchObject({ ID: expect.stringMatching(/^bad\/dispatch-/), Outcome: 'failed' });
    expect(of('good')?.LastRun?.Outcome).toBe('succeeded');
    expect(of('cron')?.NextLaunch).toBe('2026-01-01T03:00:00.000Z');
    expect(await listed(w, { lastOutcome: 'failed', filter: 'ParentID == ""' })).toEqual(['bad']);
    const byRun = await listed(w, { sort: '-last_run', filter: 'ParentID == ""' });
    expect(byRun).toEqual(['good', 'bad', 'cron']);
    (await jobs.stop('cron'))._unsafeUnwrap();
    expect((await jobs.list({ prefix: 'cron' }))._unsafeUnwrap().value.items[0]).not.toHaveProperty('NextLaunch');
  });
});
