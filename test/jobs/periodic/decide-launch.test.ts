import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import { decideForcedLaunch, decideLaunch, scheduleLaunches } from '../../../src/jobs/periodic/decide-launch.js';
import { launchedChild, type PeriodicLaunch } from '../../../src/jobs/periodic/periodic-launch.js';
import { day, hour, minute, second } from '../../../src/shared/duration.js';
import { jobFrom } from '../../support/jobs.js';

const noon = Date.UTC(2024, 1, 1, 12);
const hourly = (block: Record<string, unknown> = {}, stored: Partial<Job> = {}): Job =>
  jobFrom({ ID: 'report', Type: 'batch', Periodic: { Specs: ['0 * * * *'], ...block } }, stored);
const recordOf = (job: Job, now: number): PeriodicLaunch => {
  const record = scheduleLaunches(job, now);
  if (record === undefined) throw new Error('not launched by the clock');
  return record;
};

describe('registering', () => {
  it('counts launches from now on', () => {
    expect(scheduleLaunches(hourly(), noon + minute)).toEqual({
      Namespace: 'default',
      ID: 'report',
      launchedAt: noon + minute,
      dueAt: noon + hour,
    });
  });

  it.each([
    ['a disabled one', hourly({ Enabled: false })],
    ['a stopped one', hourly({}, { Stop: true })],
    ['a job that is not periodic', jobFrom({ Type: 'batch' })],
    [
      'one that is dispatched first',
      hourly({}, { ParameterizedJob: { Payload: '', MetaRequired: null, MetaOptional: null } }),
    ],
    ['one that is over', hourly({ Specs: ['0 0 1 1 * 2000'] })],
  ])('makes no record of %s', (_, job) => {
    expect(scheduleLaunches(job, noon)).toBeUndefined();
  });

  it('makes one of a dispatched instance', () => {
    const ParameterizedJob = { Payload: '', MetaRequired: null, MetaOptional: null };
    expect(scheduleLaunches(hourly({}, { ParameterizedJob, Dispatched: true }), noon)?.dueAt).toBe(noon + hour);
  });
});

describe('deciding', () => {
  it('waits until the time that is due', () => {
    const job = hourly();
    const record = recordOf(job, noon);
    expect(decideLaunch(job, record, false, noon + hour - 1)).toEqual({ kind: 'wait', until: noon + hour });
  });

  it('launches for the time that was due, however late the look is', () => {
    const job = hourly();
    const decision = decideLaunch(job, recordOf(job, noon), false, noon + hour + 59 * minute);
    expect(decision).toEqual({
      kind: 'launch',
      at: noon + hour,
      next: { Namespace: 'default', ID: 'report', launchedAt: noon + hour, dueAt: noon + 2 * hour },
    });
  });

  it('launches once for all that was missed', () => {
    const job = hourly({ Specs: ['* * * * * * *'] });
    const decision = decideLaunch(job, recordOf(job, noon), false, noon + 400 * day + 123);
    expect(decision).toMatchObject({
      kind: 'launch',
      at: noon + 400 * day,
      next: { launchedAt: noon + 400 * day, dueAt: noon + 400 * day + second },
    });
  });

  it('finds the last of few missed times too', () => {
    const job = hourly({ Specs: ['0 3 29 2 *'] });
    const decision = decideLaunch(job, recordOf(job, Date.UTC(2019, 0)), false, Date.UTC(2031, 0));
    expect(decision).toMatchObject({
      kind: 'launch',
      at: Date.UTC(2028, 1, 29, 3),
      next: { dueAt: Date.UTC(2032, 1, 29, 3) },
    });
  });

  it('leaves a launch out while an instance runs, when overlap is prohibited', () => {
    const job = hourly({ ProhibitOverlap: true });
    const record = recordOf(job, noon);
    expect(decideLaunch(job, record, true, noon + hour)).toEqual({
      kind: 'skip',
      at: noon + hour,
      next: { ...record, dueAt: noon + 2 * hour },
    });
    expect(decideLaunch(job, record, false, noon + hour).kind).toBe('launch');
    expect(decideLaunch(hourly(), record, true, noon + hour).kind).toBe('launch');
  });

  it('gives the same instance to a second try', () => {
    const job = hourly();
    const record = recordOf(job, noon);
    const first = decideLaunch(job, record, false, noon + hour + 1);
    const second = decideLaunch(job, record, false, noon + hour + 30 * minute);
    expect(first).toEqual(second);
  });

  it('does not repeat a launch when the clock is put back', () => {
    const job = hourly();
    const launch = decideLaunch(job, recordOf(job, noon), false, noon + hour);
    if (launch.kind !== 'launch' || launch.next === undefined) throw new Error('it is due');
    expect(decideLaunch(job, launch.next, false, noon + 30 * minute).kind).toBe('wait');
  });

  it('has no next launch after the last', () => {
    const job = hourly({ Specs: ['0 13 1 2 * 2024'] });
    expect(decideLaunch(job, recordOf(job, noon), false, noon + day)).toMatchObject({
      kind: 'launch',
      next: undefined,
    });
  });

  it('forgets what the clock does not launch any more', () => {
    const record = recordOf(hourly(), noon);
    for (const job of [undefined, hourly({}, { Stop: true }), jobFrom({ Type: 'batch' })]) {
      expect(decideLaunch(job, record, false, noon + hour)).toEqual({ kind: 'forget' });
    }
  });

  it('plays a year of an hourly job, in processes that come and go', () => {
    const job = hourly({ TimeZone: 'Europe/Berlin' });
    const launched = new Set<number>();
    let record: PeriodicLaunch | undefined = recordOf(job, noon);
    for (
      let now = noon;
      record !== undefined && now < noon + 365 * day;
      now = Math.max(record?.dueAt ?? 0, now + minute)
    ) {
      const decision = decideLaunch(job, record, false, now);
      if (decision.kind !== 'launch') continue;
      expect(launched.has(decision.at)).toBe(false);
      launched.add(decision.at);
      record = decision.next;
    }
    expect(launched.size).toBe(365 * 24 - 1);
  });
});

describe('forcing', () => {
  it('launches at the second, overlap or not', () => {
    expect(decideForcedLaunch(hourly({ ProhibitOverlap: true }), noon + 123)._unsafeUnwrap()).toBe(noon);
  });

  it.each([
    ['not_periodic', jobFrom({ Type: 'batch' })],
    ['not_tracked', hourly({ Enabled: false })],
    ['not_tracked', hourly({}, { Stop: true })],
  ])('is refused: %s', (reason, job) => {
    expect(decideForcedLaunch(job, noon)._unsafeUnwrapErr()).toMatchObject({ type: 'force_refused', reason });
  });
});

it('makes an instance of the parent', () => {
  const parent = hourly({}, { Meta: { kind: 'cron' }, Version: 3, Stable: true });
  expect(launchedChild(parent, noon, 9, noon + 5)).toEqual({
    ...parent,
    ID: 'report/periodic-1706788800',
    Name: 'report/periodic-1706788800',
    ParentID: 'report',
    Periodic: null,
    Status: 'pending',
    StatusDescription: '',
    SubmitTime: (noon + 5) * 1e6,
    CreateIndex: 9,
    ModifyIndex: 9,
    JobModifyIndex: 9,
  });
});
