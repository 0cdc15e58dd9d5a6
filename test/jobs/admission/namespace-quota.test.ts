import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Demand,
  demandOf,
  noDemand,
  type QuotaRule,
  quotaExcess,
  quotaOf,
  takeDispatch,
} from '../../../src/jobs/admission/namespace-quota.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { JobInput } from '../../../src/jobs/document/job-input.js';
import { prepareJob } from '../../../src/jobs/prepare-job.js';
import { minute, second } from '../../../src/shared/duration.js';
import { batchJob, parameterizedJob } from '../../operations/jobs/world.js';

const sized = (count: number, cpu: number, memory: number): object => ({
  Name: `g${count}`,
  Count: count,
  Tasks: [
    { Name: 'a', Driver: 'raw_exec', Config: { command: '/bin/true' }, Resources: { CPU: cpu, MemoryMB: memory } },
    { Name: 'b', Driver: 'raw_exec', Config: { command: '/bin/true' }, Resources: { CPU: 10, MemoryMB: 20 } },
  ],
});
const reserving = {
  Name: 'g',
  Count: 2,
  Tasks: [{ Name: 'a', Driver: 'raw_exec', Config: { command: '/bin/true' }, Resources: { Cores: 3, MemoryMB: 10 } }],
};
const stored = (document: object, more: Partial<Job> = {}): Job => ({
  ...prepareJob(document as JobInput)._unsafeUnwrap(),
  Status: 'pending',
  ...more,
});
const work = batchJob('work', { TaskGroups: [sized(3, 100, 200), sized(1, 50, 60)] });

describe('demandOf', () => {
  it.each<[string, Job, Demand]>([
    ['the tasks of all instances', stored(work), { jobs: 1, cpu: 3 * 110 + 60, cores: 0, memoryMB: 3 * 220 + 80 }],
    ['cores, too', stored(batchJob('c', { TaskGroups: [reserving] })), { jobs: 1, cpu: 0, cores: 6, memoryMB: 20 }],
    ['a run: resources, and no job', stored(work, { ParentID: 'p' }), { jobs: 0, cpu: 390, cores: 0, memoryMB: 740 }],
    ['a parent of instances: a job, and no resources', stored(parameterizedJob('p')), { ...noDemand, jobs: 1 }],
    ['a stopped job: nothing', stored(work, { Stop: true }), noDemand],
    ['a dead job: nothing', stored(work, { Status: 'dead' }), noDemand],
  ])('%s', (_what, job, demand) => expect(demandOf(job)).toEqual(demand));
});

describe('quotaOf', () => {
  const rules = [
    { namespace: 'team-a', jobs: 1 },
    { namespace: 'team-*', jobs: 2 },
  ];
  it.each([
    ['team-a', 1],
    ['team-b', 2],
    ['other', undefined],
  ])('%s', (namespace, jobs) => expect(quotaOf(rules, namespace)?.jobs).toBe(jobs));
});

describe('quotaExcess', () => {
  const used: Demand = { jobs: 2, cpu: 900, cores: 1, memoryMB: 500 };
  it.each<[string, Omit<QuotaRule, 'namespace'>, Demand, string | undefined]>([
    ['fits exactly', { jobs: 3, cpu: 1000 }, { jobs: 1, cpu: 100, cores: 0, memoryMB: 0 }, undefined],
    ['one job too many', { jobs: 2 }, { jobs: 1, cpu: 0, cores: 0, memoryMB: 0 }, '3 jobs of 2'],
    [
      'two limits at once',
      { cpu: 950, memoryMB: 510 },
      { jobs: 1, cpu: 100, cores: 0, memoryMB: 20 },
      '1000 MHz of CPU of 950, 520 MiB of memory of 510',
    ],
    ['nothing more than before, beyond the limit', { cpu: 100 }, { jobs: 1, cpu: 0, cores: 0, memoryMB: 5 }, undefined],
    ['less than before, beyond the limit', { cpu: 100 }, { jobs: 0, cpu: -1, cores: 0, memoryMB: 0 }, undefined],
    ['cores beyond their limit', { cores: 2 }, { ...noDemand, cores: 2 }, '3 cores of 2'],
    ['cores where only MHz are limited', { cpu: 5000 }, { ...noDemand, cores: 1 }, '2 cores of 0'],
    ['cores where both are limited', { cpu: 5000, cores: 4 }, { ...noDemand, cores: 3 }, undefined],
    ['a limit of nothing', { jobs: 0 }, { jobs: 1, cpu: 0, cores: 0, memoryMB: 0 }, '3 jobs of 0'],
  ])('%s', (_what, rule, more, told) => {
    const excess = quotaExcess({ namespace: 'n', rule: { namespace: 'n', ...rule }, used }, more);
    expect(excess?.message).toBe(
      told === undefined ? undefined : `the quota of namespace "n" would be exceeded: ${told}`,
    );
  });
});

describe('takeDispatch', () => {
  const rate = { namespace: 'n', perMinute: 6 };
  const taken = (times: readonly number[]): readonly boolean[] => {
    let until = 0;
    return times.map((now) => {
      const result = takeDispatch(rate, until, now);
      if (!('type' in result)) until = result.until;
      return !('type' in result);
    });
  };

  it('lets a minute’s worth through at once, then one for each share of a minute', () => {
    const now = 1e12;
    expect(taken(Array.from({ length: 7 }, () => now))).toEqual([...Array.from({ length: 6 }, () => true), false]);
    expect(taken([now, now, now, now, now, now, now + 9 * second, now + 10 * second, now + 10 * second])).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      false,
      true,
      false,
    ]);
  });

  it('says when to come again', () => {
    const full = takeDispatch(rate, 1e12 + minute, 1e12);
    expect(full).toMatchObject({
      type: 'dispatch_rate_exceeded',
      message: 'namespace "n" may dispatch 6 times a minute; try again in 10 s',
    });
    expect(takeDispatch({ ...rate, perMinute: 0 }, 0, 1e12)).toMatchObject({
      message: 'namespace "n" may dispatch 0 times a minute',
    });
  });

  it('forgets what a clock that was set back left behind', () => {
    expect(takeDispatch(rate, 1e12 + 3600 * second, 1e12)).toMatchObject({
      message: expect.stringContaining('in 10 s'),
    });
  });

  it('lets no more through in a minute than twice the rate, and the rate in the long run', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 }), (waits) => {
        let now = 1e12;
        const times = waits.map((wait) => (now += wait));
        const passed = taken(times);
        const count = passed.filter(Boolean).length;
        const span = (times.at(-1) ?? now) - (times[0] ?? now);
        expect(count).toBeLessThanOrEqual(6 + Math.floor(span / (10 * second)));
      }),
    );
  });
});
