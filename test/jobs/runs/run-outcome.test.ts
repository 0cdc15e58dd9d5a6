import { describe, expect, it } from 'vitest';
import {
  type AllocationOfRun,
  allocationOutcome,
  type EndedAllocation,
  exceededDuration,
  firstStart,
  lostServer,
  outcomeWords,
  type RunOutcome,
  runOutcome,
  stoppedEarly,
} from '../../../src/jobs/runs/job-run.js';
import { canonicalJob } from '../canonical-job.js';

const ended = (ClientStatus: string, ClientDescription = '', DesiredStatus = 'run', JobType = 'batch') => ({
  JobType,
  DesiredStatus,
  ClientStatus,
  ClientDescription,
});
const done = 'All tasks have completed';

describe('the outcome of an allocation', () => {
  it.each<[string, EndedAllocation, RunOutcome | undefined]>([
    ['one that waits', ended('pending'), undefined],
    ['one that runs', ended('running'), undefined],
    ['one that runs and is to stop', ended('running', '', 'stop'), undefined],
    ['one whose node is out of reach', ended('unknown'), undefined],
    ['one whose tasks have ended', ended('complete', done), 'succeeded'],
    ['one that is stopped after its end', ended('complete', done, 'stop'), 'succeeded'],
    ['one that failed', ended('failed', 'Failed tasks'), 'failed'],
    ['one that failed and was replaced', ended('failed', 'Failed tasks', 'stop'), 'failed'],
    ['one that was stopped', ended('complete', stoppedEarly, 'stop'), 'stopped'],
    ['one that was preempted', ended('complete', stoppedEarly, 'evict'), 'stopped'],
    ['one that its agent stopped, and describes nothing', ended('complete', '', 'stop'), 'stopped'],
    ['a service that was stopped', ended('complete', done, 'stop', 'service'), 'stopped'],
    ['a system job that was stopped', ended('complete', done, 'stop', 'system'), 'stopped'],
    ['one that took too long', ended('complete', exceededDuration), 'timed_out'],
    ['one that took too long and was stopped then', ended('complete', exceededDuration, 'stop'), 'timed_out'],
    ['one whose node is down', ended('lost', 'alloc was lost since its node is down', 'stop'), 'lost'],
    ['one whose node had lost the server', ended('failed', lostServer), 'lost'],
  ])('%s', (_name, allocation, outcome) => {
    expect(allocationOutcome(allocation)).toBe(outcome);
  });

  it('is read as words', () => {
    expect(Object.values(outcomeWords)).toEqual(['succeeded', 'failed', 'stopped', 'timed out', 'lost']);
  });
});

const at = (index: number, ClientStatus: string, more: Partial<AllocationOfRun> = {}): AllocationOfRun => ({
  ...ended(ClientStatus),
  Name: `etl.g[${index}]`,
  NodeID: 'n',
  TaskGroup: 'g',
  CreateIndex: 1,
  ...more,
});

describe('the outcome of a run', () => {
  const job = {
    ...canonicalJob({ ID: 'etl', Type: 'batch', TaskGroups: [{ Name: 'g', Count: 2 }] }),
    Status: 'dead',
  } as const;
  it.each<[string, readonly AllocationOfRun[], RunOutcome]>([
    ['all complete', [at(0, 'complete'), at(1, 'complete')], 'succeeded'],
    ['one failed', [at(0, 'complete'), at(1, 'failed')], 'failed'],
    ['one took too long', [at(0, 'complete'), at(1, 'complete', { ClientDescription: exceededDuration })], 'timed_out'],
    ['one was stopped', [at(0, 'complete'), at(1, 'complete', { ClientDescription: stoppedEarly })], 'stopped'],
    ['one was lost', [at(0, 'complete'), at(1, 'lost')], 'lost'],
    [
      'one failed, one took too long',
      [at(0, 'failed'), at(1, 'complete', { ClientDescription: exceededDuration })],
      'failed',
    ],
    ['one was never placed', [at(0, 'complete')], 'failed'],
    [
      'one that failed was replaced',
      [at(0, 'failed'), at(0, 'complete', { CreateIndex: 2 }), at(1, 'complete')],
      'succeeded',
    ],
    ['the replacement failed', [at(0, 'complete'), at(0, 'failed', { CreateIndex: 2 }), at(1, 'complete')], 'failed'],
  ])('%s', (_name, allocations, outcome) => {
    expect(runOutcome(job, allocations)).toBe(outcome);
  });

  it('is that of the stop for instances that had not ended', () => {
    const stopped = { ...job, Stop: true };
    expect(runOutcome(stopped, [at(0, 'complete'), at(1, 'running', { DesiredStatus: 'stop' })])).toBe('stopped');
    expect(runOutcome(stopped, [])).toBe('stopped');
    expect(runOutcome(stopped, [at(0, 'complete'), at(1, 'complete', { ClientDescription: done })])).toBe('succeeded');
    expect(runOutcome(stopped, [at(0, 'complete'), at(1, 'failed')])).toBe('failed');
  });

  it('is success when nothing was wanted', () => {
    const empty = {
      ...canonicalJob({ ID: 'e', Type: 'batch', TaskGroups: [{ Name: 'g', Count: 0 }] }),
      Status: 'dead',
    } as const;
    expect(runOutcome(empty, [])).toBe('succeeded');
  });

  it('counts each node of a sysbatch job', () => {
    const everywhere = {
      ...canonicalJob({ ID: 'etl', Type: 'sysbatch', TaskGroups: [{ Name: 'g' }] }),
      Status: 'dead',
    } as const;
    const on = (NodeID: string, status: string) => at(0, status, { NodeID, JobType: 'sysbatch' });
    expect(runOutcome(everywhere, [on('a', 'complete'), on('b', 'complete')])).toBe('succeeded');
    expect(runOutcome(everywhere, [on('a', 'complete'), on('b', 'lost')])).toBe('lost');
  });

  it('does not exist while the job lives, nor for jobs that launch others', () => {
    expect(runOutcome({ ...job, Status: 'running' }, [at(0, 'failed')])).toBeUndefined();
    const parent = {
      ...job,
      ParameterizedJob: { Payload: 'optional', MetaRequired: null, MetaOptional: null },
    } as const;
    expect(runOutcome({ ...parent, Stop: true }, [])).toBeUndefined();
  });
});

describe('the first start of a run', () => {
  const started = (StartedAt: string | null, ...times: readonly number[]) => ({
    StartedAt,
    Events: times.flatMap((Time) => [
      { Type: 'Received', Time: Time - 1e9 },
      { Type: 'Started', Time },
    ]),
  });
  const at = Date.parse('2026-03-01T00:00:00Z');
  const nanos = (second: number) => (at + second * 1000) * 1e6;
  const iso = (second: number) => new Date(at + second * 1000).toISOString();

  it.each([
    { title: 'none', allocations: [], first: undefined },
    {
      title: 'none without a task that started',
      allocations: [{ TaskStates: null }, { TaskStates: { a: started(null) } }],
      first: undefined,
    },
    { title: 'that of the state', allocations: [{ TaskStates: { a: started(iso(5)) } }], first: 5 },
    {
      title: 'that before a restart',
      allocations: [{ TaskStates: { a: started(iso(9), nanos(3), nanos(9)) } }],
      first: 3,
    },
    {
      title: 'that of another task',
      allocations: [{ TaskStates: { a: started(iso(9)), b: started(iso(4)) } }],
      first: 4,
    },
    {
      title: 'that of another allocation',
      allocations: [{ TaskStates: { a: started(iso(9)) } }, { TaskStates: { a: started(iso(2), nanos(2)) } }],
      first: 2,
    },
  ])('is $title', ({ allocations, first }) => {
    expect(firstStart(allocations)).toBe(first === undefined ? undefined : at + first * 1000);
  });
});
