import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import type { Deployment, DeploymentState } from '../../../src/scheduler/deployment/deployment.js';
import {
  type DeploymentEvent,
  type DeploymentStep,
  progressDeadlineOf,
  transitionDeployment,
  type WatchedDeployment,
  watchedAllocations,
} from '../../../src/scheduler/deployment/transition-deployment.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';

const now = Date.parse('2026-01-01T12:00:00Z');
const moment = { now, index: 50 };
const iso = (minutes: number) => new Date(now + minutes * 60_000).toISOString();

type State = Partial<DeploymentState>;

/** A deployment of the groups, with 10 minutes to make progress; the next 5 of them are left. */
function watched(groups: Readonly<Record<string, State>>, allocations: readonly Allocation[] = []): WatchedDeployment {
  const whole: DeploymentState = {
    AutoRevert: false,
    AutoPromote: false,
    ProgressDeadline: 600e9,
    RequireProgressBy: iso(5),
    Promoted: false,
    PlacedCanaries: null,
    DesiredCanaries: 0,
    DesiredTotal: 2,
    PlacedAllocs: 0,
    HealthyAllocs: 0,
    UnhealthyAllocs: 0,
  };
  const TaskGroups = Object.fromEntries(Object.entries(groups).map(([name, state]) => [name, { ...whole, ...state }]));
  const job = (Version: number, more: Partial<Job> = {}): Job =>
    jobFrom({ TaskGroups: Object.keys(groups).map((Name) => groupDocument({ Name })) }, { Version, ...more });
  const deployment = {
    ID: 'd',
    Status: 'running',
    StatusDescription: 'as before',
    TaskGroups,
  } as unknown as Deployment;
  return {
    ...watchedAllocations(deployment, allocations),
    deployment,
    job: job(2, { Priority: 60 }),
    version: job(2),
    versions: () => [job(1, { Stable: true })],
    evaluatedIndex: 45,
  };
}

const allocation = (ID: string, TaskGroup: string, Healthy: boolean | null, change: object = {}): Allocation =>
  ({
    ID,
    TaskGroup,
    DeploymentID: 'd',
    DesiredStatus: 'run',
    ClientStatus: 'running',
    DesiredTransition: {},
    DeploymentStatus: { Healthy, Timestamp: iso(-1), Canary: true, ModifyIndex: 40 },
    ...change,
  }) as unknown as Allocation;

const step = (before: WatchedDeployment, event: DeploymentEvent): DeploymentStep =>
  transitionDeployment(before, event, moment)._unsafeUnwrap();
const effectsOf = ({ effects }: DeploymentStep) => effects.map(({ type }) => type);
const canaries = (PlacedCanaries: readonly string[], more: State = {}): State => ({
  PlacedCanaries,
  DesiredCanaries: PlacedCanaries.length,
  ...more,
});

describe('the groups whose failure brings the job back to its stable version', () => {
  const reverting = { AutoRevert: true };
  it.each<[string, WatchedDeployment, DeploymentEvent, boolean]>([
    [
      'that of the unhealthy allocation, which has no attempt left',
      watched({ a: { ...reverting, ProgressDeadline: 0 }, b: {} }, [allocation('1', 'a', false)]),
      { type: 'allocations_changed' },
      true,
    ],
    [
      'no other than that',
      watched({ a: { ProgressDeadline: 0 }, b: reverting }, [allocation('1', 'a', false)]),
      { type: 'allocations_changed' },
      false,
    ],
    [
      'that of the allocation that is told to be unhealthy',
      watched({ a: reverting, b: {} }, [allocation('1', 'a', null)]),
      { type: 'set_health', healthy: [], unhealthy: ['1'] },
      true,
    ],
    [
      'not that of one that is told to be healthy',
      watched({ a: reverting, b: {} }, [allocation('1', 'a', null), allocation('2', 'b', null)]),
      { type: 'set_health', healthy: ['1'], unhealthy: ['2'] },
      false,
    ],
    ['any, when it is failed by hand', watched({ a: {}, b: reverting }), { type: 'fail' }, true],
    ['none, when none says so', watched({ a: {}, b: {} }), { type: 'fail' }, false],
    [
      'one that is late',
      watched({ a: { ...reverting, RequireProgressBy: iso(-1) }, b: {} }),
      { type: 'deadline' },
      true,
    ],
    [
      'one that is not done when another is late',
      watched({ a: { RequireProgressBy: iso(-1) }, b: reverting }),
      { type: 'deadline' },
      true,
    ],
    [
      'not one that is done when another is late',
      watched({ a: { RequireProgressBy: iso(-1) }, b: { ...reverting, HealthyAllocs: 2 } }),
      { type: 'deadline' },
      false,
    ],
  ])('%s', (_what, before, event, reverts) => {
    const after = step(before, event);
    expect(after.deployment.Status).toBe('failed');
    expect(effectsOf(after)).toEqual(reverts ? ['revert', 'evaluate'] : ['evaluate']);
    expect(after.deployment.StatusDescription.endsWith('rolling back to job version 1')).toBe(reverts);
  });

  it('go back to a version that was tagged since, unless nothing else differs', () => {
    const before = watched({ a: { AutoRevert: true } });
    const tag = { Name: 'good', Description: '', TaggedTime: 1 };
    const same = { ...before.job, Version: 1, Stable: true, VersionTag: tag } as Job;
    expect(effectsOf(step({ ...before, versions: () => [same] }, { type: 'fail' }))).toEqual(['evaluate']);
    const other = { ...same, Priority: 50 };
    expect(effectsOf(step({ ...before, versions: () => [other] }, { type: 'fail' }))).toEqual(['revert', 'evaluate']);
  });
});

describe('the moment by which a deployment has to have made progress', () => {
  const healthy = (group: string, ...ids: string[]) => ids.map((ID) => allocation(ID, group, true));
  it.each<[string, Readonly<Record<string, State>>, readonly Allocation[], number | undefined]>([
    ['is the earliest of its groups', { a: { RequireProgressBy: iso(7) }, b: { RequireProgressBy: iso(3) } }, [], 3],
    ['leaves out groups without one', { a: { RequireProgressBy: null }, b: {} }, [], 5],
    ['leaves out groups that are done', { a: { RequireProgressBy: iso(3) }, b: {} }, healthy('a', '1', '2'), 5],
    ['counts each group by its own', { a: { RequireProgressBy: iso(3) }, b: {} }, healthy('b', '1', '2'), 3],
    [
      'counts live allocations only',
      { a: {} },
      [allocation('1', 'a', true), allocation('2', 'a', true, { ClientStatus: 'failed' })],
      5,
    ],
    [
      'leaves out groups whose canaries are healthy',
      { a: canaries(['1'], { HealthyAllocs: 1, RequireProgressBy: iso(3) }), b: {} },
      [],
      5,
    ],
    ['is none when all are done', { a: { HealthyAllocs: 2 } }, [], undefined],
  ])('%s', (_what, groups, allocations, minutes) => {
    const expected = minutes === undefined ? undefined : now + minutes * 60_000;
    expect(progressDeadlineOf(watched(groups, allocations))).toBe(expected);
  });
});

describe('a promotion', () => {
  const two = { a: canaries(['1'], { HealthyAllocs: 1 }), b: canaries(['2'], { HealthyAllocs: 1 }) };
  const healthy = [allocation('1', 'a', true), allocation('2', 'b', true)];

  it('is of all groups, and gives them anew the time to make progress', () => {
    const { deployment, allocations, effects } = step(watched({ ...two, c: {} }, healthy), { type: 'promote' });
    expect(deployment).toMatchObject({ Status: 'running', StatusDescription: 'Deployment is running' });
    for (const group of ['a', 'b', 'c']) {
      expect(deployment.TaskGroups[group]).toMatchObject({ Promoted: true, RequireProgressBy: iso(10) });
    }
    expect(allocations.map(({ ID, DeploymentStatus, ModifyIndex }) => [ID, DeploymentStatus, ModifyIndex])).toEqual([
      ['1', { Healthy: true, Timestamp: iso(-1), Canary: false, ModifyIndex: 40 }, 50],
      ['2', { Healthy: true, Timestamp: iso(-1), Canary: false, ModifyIndex: 40 }, 50],
    ]);
    expect(deployment.TaskGroups['a']?.PlacedCanaries).toEqual(['1']);
    expect(effects).toEqual([{ type: 'evaluate' }]);
  });

  it('of some groups leaves the others, and still says what they wait for', () => {
    const { deployment, allocations } = step(watched(two, healthy), { type: 'promote', groups: ['a'] });
    expect(deployment).toMatchObject({
      StatusDescription: 'as before',
      TaskGroups: { a: { Promoted: true }, b: { Promoted: false, RequireProgressBy: iso(5) } },
    });
    expect(allocations.map(({ ID }) => ID)).toEqual(['1']);
  });

  it('of the last group ends the wait', () => {
    const rest = { a: { ...two.a, Promoted: true }, b: two.b };
    const { deployment } = step(watched(rest, healthy), { type: 'promote', groups: ['b'] });
    expect(deployment.StatusDescription).toBe('Deployment is running');
  });

  it('begins no deadline before the first placement', () => {
    const { deployment } = step(watched({ ...two, c: { RequireProgressBy: null } }, healthy), { type: 'promote' });
    expect(deployment.TaskGroups['c']).toMatchObject({ Promoted: true, RequireProgressBy: null });
  });

  it.each<[string, readonly Allocation[]]>([
    ['that are not healthy', [allocation('1', 'a', null), allocation('2', 'b', true)]],
    ['that have ended', [allocation('1', 'a', true, { ClientStatus: 'failed' }), allocation('2', 'b', true)]],
    ['that were stopped', [allocation('1', 'a', true, { DesiredStatus: 'stop' }), allocation('2', 'b', true)]],
    ['while others are', [allocation('3', 'a', true), allocation('2', 'b', true)]],
  ])('is refused for canaries %s', (_what, allocations) => {
    const refused = transitionDeployment(watched(two, allocations), { type: 'promote' }, moment)._unsafeUnwrapErr();
    expect(refused).toMatchObject({ type: 'canaries_not_healthy', groups: [{ group: 'a', healthy: 0, wanted: 1 }] });
    const other = transitionDeployment(watched(two, allocations), { type: 'promote', groups: ['b'] }, moment);
    expect(other.isOk()).toBe(true);
  });

  it.each<[string, Readonly<Record<string, State>>, readonly Allocation[], boolean]>([
    [
      'comes by itself when every group leaves it to that',
      { a: { ...two.a, AutoPromote: true }, b: { ...two.b, AutoPromote: true } },
      healthy,
      true,
    ],
    ['does not come by itself when one does not', { a: { ...two.a, AutoPromote: true }, b: two.b }, healthy, false],
    [
      'does not come by itself while canaries of one are missing',
      { a: { ...two.a, AutoPromote: true }, b: canaries(['2'], { AutoPromote: true, DesiredCanaries: 2 }) },
      healthy,
      false,
    ],
    ['does not ask groups without canaries', { a: { ...two.a, AutoPromote: true }, c: {} }, healthy, true],
  ])('%s', (_what, groups, allocations, promotes) => {
    const { deployment } = step(watched(groups, allocations), { type: 'allocations_changed' });
    expect(deployment.TaskGroups['a']?.Promoted).toBe(promotes);
  });
});

describe('health that is told', () => {
  it('is counted, with its time and index, and an evaluation follows', () => {
    const before = watched({ a: canaries(['1']) }, [allocation('1', 'a', null), allocation('2', 'a', true)]);
    const { deployment, allocations, effects } = step(before, { type: 'set_health', healthy: ['1'], unhealthy: [] });
    expect(deployment.TaskGroups['a']).toMatchObject({ HealthyAllocs: 1, UnhealthyAllocs: 0, PlacedCanaries: ['1'] });
    expect(allocations).toMatchObject([
      { ID: '1', DeploymentStatus: { Healthy: true, Timestamp: iso(0), Canary: true, ModifyIndex: 50 } },
    ]);
    expect(effects).toEqual([{ type: 'evaluate' }]);
  });

  it('that turns bad is counted before the deployment fails', () => {
    const before = watched({ a: { HealthyAllocs: 1 } }, [allocation('1', 'a', true)]);
    const { deployment, allocations } = step(before, { type: 'set_health', healthy: [], unhealthy: ['1'] });
    expect(deployment).toMatchObject({ Status: 'failed', TaskGroups: { a: { HealthyAllocs: 0, UnhealthyAllocs: 1 } } });
    expect(allocations).toMatchObject([{ DeploymentStatus: { Healthy: false } }]);
  });
});

describe('an allocation in a group that the deployment has not', () => {
  it.each<[string, Allocation]>([
    ['unhealthy', allocation('1', 'c', false)],
    ['failed after it was healthy', allocation('1', 'c', true, { ClientStatus: 'failed' })],
  ])('may be replaced, and fails no deployment: %s', (_what, failed) => {
    const { deployment, allocations, effects } = step(watched({ a: {} }, [failed]), { type: 'allocations_changed' });
    expect(deployment.Status).toBe('running');
    expect(allocations).toMatchObject([{ ID: '1', DesiredTransition: { Reschedule: true } }]);
    expect(effects).toEqual([{ type: 'evaluate' }]);
  });

  it('waits like the others where it is merely late', () => {
    const { allocations } = step(watched({ a: {} }, [allocation('1', 'c', null)]), { type: 'allocations_changed' });
    expect(allocations).toEqual([]);
  });
});
