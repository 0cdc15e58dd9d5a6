import { describe, expect, it } from 'vitest';
import { type Allocation, noTransition, type TaskState } from '../../../src/scheduler/allocation.js';
import type { Deployment } from '../../../src/scheduler/deployment/deployment.js';
import { filterReschedules } from '../../../src/scheduler/reconcile/reschedule.js';
import { ago, allocationWith, jobWith, now, situationWith, unknownSince } from './situations.js';

const policy = { ReschedulePolicy: { Unlimited: true, Delay: 60e9, DelayFunction: 'constant' } };
const used = { ReschedulePolicy: { Attempts: 0, Unlimited: false } };
const task = (State: TaskState['State'], Failed: boolean, finished: number | null) =>
  ({ State, Failed, FinishedAt: finished === null ? null : ago(finished) }) as TaskState;
const failed = (seconds: number): Partial<Allocation> => ({
  ClientStatus: 'failed',
  TaskStates: { main: task('dead', true, seconds) },
});
const wish = (flag: string) => ({ DesiredTransition: { ...noTransition, [flag]: true } });
const notPlaced = { RescheduleTracker: { Events: [], LastReschedule: 'no placement' as const } };
const placed = { RescheduleTracker: { Events: [], LastReschedule: 'ok' as const } };
const stopped = { DesiredStatus: 'stop' } as const;
const replaced = { NextAllocation: 'next' };
const succeeded = { TaskStates: { a: task('dead', false, 5), b: task('dead', false, 5) } };
const oneFailed = { TaskStates: { a: task('dead', false, 5), b: task('dead', true, 5) } };
const oneRuns = { TaskStates: { a: task('dead', false, 5), b: task('running', false, null) } };

type Verdict = 'dropped' | 'kept' | 'now' | number;

/** A number: seconds until the replacement. */
function verdictOn(
  change: Partial<Allocation>,
  {
    type = 'service',
    group = policy,
    deployment,
    disconnecting = false,
  }: { type?: 'service' | 'batch'; group?: object; deployment?: Partial<Deployment>; disconnecting?: boolean } = {},
): Verdict {
  const situation = situationWith(jobWith({ ...group }, { Type: type }));
  const allocation = allocationWith({ JobType: type, ...change });
  const verdicts = filterReschedules([allocation], situation, deployment as Deployment | undefined, disconnecting);
  const [later] = verdicts.later;
  if (later !== undefined) {
    expect(verdicts.kept).toEqual([allocation]);
    return (later.at - now) / 1000;
  }
  return verdicts.now.length > 0 ? 'now' : verdicts.kept.length > 0 ? 'kept' : 'dropped';
}

describe('allocations of a service', () => {
  it.each<[string, Partial<Allocation>, Verdict]>([
    ['one that runs', {}, 'kept'],
    ['one that completed', { ClientStatus: 'complete' }, 'dropped'],
    ['one that was lost', { ClientStatus: 'lost' }, 'dropped'],
    ['one that failed and waits', failed(10), 50],
    ['one that failed and has waited', failed(60), 'now'],
    ['one that is due within a second', failed(59), 'now'],
    ['one that is due in more than a second', failed(58.999), 1.001],
    ['one that this evaluation was made for', { ...failed(10), FollowupEvalID: 'this' }, 'now'],
    ['one that another evaluation was made for', { ...failed(10), FollowupEvalID: 'other' }, 'kept'],
    ['one that another evaluation was made for, due', { ...failed(60), FollowupEvalID: 'other' }, 'now'],
    ['one that failed and has its replacement', { ...failed(60), ...replaced }, 'dropped'],
    ['one that runs and has its replacement', replaced, 'kept'],
    ['one that was stopped', { ...failed(60), ...stopped }, 'dropped'],
    ['one that was stopped after it was placed again', { ...failed(60), ...stopped, ...placed }, 'dropped'],
    ['one that was stopped and not placed again', { ...failed(60), ...stopped, ...notPlaced }, 'now'],
    ['one that was evicted', { ...failed(60), DesiredStatus: 'evict' }, 'dropped'],
    ['one that failed and is forced', { ...failed(10), ...wish('ForceReschedule') }, 'now'],
    ['one that runs and is forced', wish('ForceReschedule'), 'kept'],
    ['one that runs and is to be replaced', wish('Reschedule'), 'kept'],
  ])('%s: %s', (_what, change, expected) => {
    expect(verdictOn(change)).toBe(expected);
  });

  it('without attempts are replaced by force only', () => {
    expect(verdictOn(failed(60), { group: used })).toBe('kept');
    expect(verdictOn({ ...failed(60), ...wish('ForceReschedule') }, { group: used })).toBe('now');
  });

  it('of a deployment that goes on are replaced at its request', () => {
    const of = { ...failed(60), DeploymentID: 'd' };
    for (const Status of ['running', 'paused'] as const) {
      expect(verdictOn(of, { deployment: { ID: 'd', Status } })).toBe('kept');
      expect(verdictOn({ ...of, ...wish('ForceReschedule') }, { deployment: { ID: 'd', Status } })).toBe('kept');
      expect(verdictOn({ ...of, ...wish('Reschedule') }, { deployment: { ID: 'd', Status } })).toBe('now');
    }
    expect(verdictOn(of, { deployment: { ID: 'd', Status: 'failed' } })).toBe('now');
    expect(verdictOn(of, { deployment: { ID: 'e', Status: 'running' } })).toBe('now');
  });
});

describe('allocations of a batch job', () => {
  it.each<[string, Partial<Allocation>, Verdict]>([
    ['one that runs', {}, 'kept'],
    ['one that completed', { ClientStatus: 'complete' }, 'kept'],
    ['one that was lost', { ClientStatus: 'lost' }, 'kept'],
    ['one that failed and waits', failed(10), 50],
    ['one that failed and has waited', failed(60), 'now'],
    ['one that failed and has its replacement', { ...failed(60), ...replaced }, 'dropped'],
    ['one that a drain ended for good', { ...failed(60), ...wish('MigrateDisablePlacement') }, 'kept'],
    [
      'one that runs and is to be replaced',
      { ...wish('Reschedule'), TaskStates: { main: task('dead', false, 10) } },
      50,
    ],
    ['one that was evicted', { ...failed(60), DesiredStatus: 'evict' }, 'dropped'],
    [
      'one that was evicted and is to be replaced',
      { ...failed(60), DesiredStatus: 'evict', ...wish('Reschedule') },
      'now',
    ],
    ['one that was stopped', { ...failed(60), ...stopped }, 'dropped'],
    ['one that was stopped when it had succeeded', { ...stopped, ...succeeded, ClientStatus: 'complete' }, 'kept'],
    ['one that was stopped when one task had failed', { ...stopped, ...oneFailed, ClientStatus: 'failed' }, 'dropped'],
    ['one that was stopped while one task ran', { ...stopped, ...oneRuns }, 'dropped'],
    ['one that was stopped without a task', { ...stopped, TaskStates: {} }, 'dropped'],
    ['one that was stopped and not placed again', { ...failed(60), ...stopped, ...notPlaced }, 'now'],
  ])('%s: %s', (_what, change, expected) => {
    expect(verdictOn(change, { type: 'batch' })).toBe(expected);
  });
});

describe('allocations out of reach', () => {
  it.each<['service' | 'batch']>([['service'], ['batch']])('are taken for failed just now: %s', (type) => {
    const away = { type, disconnecting: true };
    expect(verdictOn({}, away)).toBe(60);
    expect(verdictOn({ FollowupEvalID: 'other' }, away)).toBe(60);
    expect(verdictOn({ FollowupEvalID: 'this' }, away)).toBe('now');
    expect(verdictOn({}, { ...away, group: { ReschedulePolicy: { ...policy.ReschedulePolicy, Delay: 0 } } })).toBe(
      'now',
    );
    expect(verdictOn({}, { ...away, group: used })).toBe('kept');
    expect(verdictOn({}, { ...away, group: { ...policy, Disconnect: { LostAfter: 9e9, Replace: false } } })).toBe(
      'kept',
    );
    expect(verdictOn({ ClientStatus: 'unknown', ...unknownSince(60) }, away)).toBe('dropped');
  });

  it.each<['service' | 'batch']>([['service'], ['batch']])('are replaced by the evaluation made for it: %s', (type) => {
    const away = { ClientStatus: 'unknown', ...unknownSince(60) } as const;
    expect(verdictOn({ ...away, FollowupEvalID: 'this' }, { type })).toBe('now');
    expect(verdictOn({ ...away, FollowupEvalID: 'other' }, { type })).toBe('kept');
    expect(verdictOn(away, { type })).toBe('kept');
    expect(verdictOn({ ...away, FollowupEvalID: 'this' }, { type, group: used })).toBe('kept');
  });
});
