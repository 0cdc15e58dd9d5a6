import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import { withAllocation } from '../../../src/scheduler/deployment/count-allocations.js';
import type { Deployment, DeploymentState } from '../../../src/scheduler/deployment/deployment.js';
import {
  type DeploymentEvent,
  progressDeadlineOf,
  transitionDeployment,
  type WatchedDeployment,
  watchedAllocations,
} from '../../../src/scheduler/deployment/transition-deployment.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';

const now = Date.parse('2026-01-01T12:00:00Z');
const moment = { now, index: 50 };
const soon = '2026-01-01T12:05:00.000Z';
const past = '2026-01-01T11:59:00.000Z';

const stateWith = (change: Partial<DeploymentState> = {}): DeploymentState => ({
  AutoRevert: false,
  AutoPromote: false,
  ProgressDeadline: 600e9,
  RequireProgressBy: soon,
  Promoted: false,
  PlacedCanaries: null,
  DesiredCanaries: 0,
  DesiredTotal: 2,
  PlacedAllocs: 2,
  HealthyAllocs: 0,
  UnhealthyAllocs: 0,
  ...change,
});

const job = (Version: number, change: Partial<Job> = {}): Job =>
  jobFrom({ TaskGroups: [groupDocument({ Count: 2 })] }, { Version, Priority: 50 + Version, ...change });

const allocation = (ID: string, Healthy: boolean | null, change: Partial<Allocation> = {}): Allocation =>
  ({
    ID,
    DeploymentID: 'd',
    TaskGroup: 'app',
    DesiredStatus: 'run',
    ClientStatus: 'running',
    DesiredTransition: {},
    DeploymentStatus: { Healthy, Timestamp: past, Canary: false, ModifyIndex: 40 },
    ...change,
  }) as unknown as Allocation;

function watched(
  state: Partial<DeploymentState>,
  change: Partial<WatchedDeployment & Pick<Deployment, 'Status'>> = {},
): WatchedDeployment {
  const { Status = 'running', ...rest } = change;
  const deployment = {
    ID: 'd',
    JobVersion: 2,
    Status,
    StatusDescription: '',
    TaskGroups: { app: stateWith(state) },
    ModifyIndex: 1,
  };
  return {
    ...watchedAllocations(deployment as unknown as Deployment, rest.allocations ?? []),
    deployment: deployment as unknown as Deployment,
    job: job(2),
    version: job(2),
    versions: () => [],
    evaluatedIndex: 45,
    ...rest,
  };
}

/** Status with its description, effects, and what became of allocations. */
function outcome(before: WatchedDeployment, event: DeploymentEvent) {
  return transitionDeployment(before, event, moment).match(
    ({ deployment, effects, allocations }) => ({
      status: `${deployment.Status}: ${deployment.StatusDescription}`,
      effects: effects.map((effect) => (effect.type === 'revert' ? `revert to ${effect.version}` : effect.type)),
      same: deployment === before.deployment,
      allocations: allocations.map(({ ID }) => ID),
    }),
    (error) => error.type,
  );
}

const canaries = (PlacedCanaries: readonly string[], change: Partial<DeploymentState> = {}) => ({
  PlacedCanaries,
  DesiredCanaries: PlacedCanaries.length,
  ...change,
});
const reverting = { AutoRevert: true, ProgressDeadline: 0 };

/** As it is after the last of these was reported. */
function counted(state: Partial<DeploymentState>, all: readonly Allocation[], evaluatedIndex: number) {
  const before = watched({ ...state, PlacedAllocs: 0 });
  const joining = all.map((one) => ({ ...one, DeploymentStatus: { ...one.DeploymentStatus, Healthy: null } }));
  const placed = joining.reduce((so, one) => withAllocation(so, undefined, one as Allocation), before.deployment);
  const deployment = all.reduce((so, one, at) => withAllocation(so, joining[at] as Allocation, one), placed);
  return { ...before, ...watchedAllocations(deployment, all), deployment, evaluatedIndex };
}

it('comes to the same, whether it is told which allocations have changed or looks at all of them', () => {
  const allocations = fc
    .array(fc.record({ health: fc.constantFrom(true, false, null), seen: fc.integer({ min: 30, max: 50 }) }), {
      minLength: 1,
    })
    .map((all) =>
      all.map(({ health, seen }, at) =>
        allocation(`a${at}`, health, {
          DeploymentStatus: { Healthy: health, Timestamp: past, Canary: at < 2, ModifyIndex: seen },
        }),
      ),
    );
  const states = fc.constantFrom({}, reverting, { ProgressDeadline: 0 }, canaries(['a0', 'a1'], { AutoPromote: true }));
  fc.assert(
    fc.property(allocations, states, fc.integer({ min: 30, max: 50 }), (all, state, evaluated) => {
      const before = counted(state, all, evaluated);
      const last = all.slice(-1);
      const told = transitionDeployment(before, { type: 'allocations_changed', changed: last }, moment);
      expect(told).toEqual(transitionDeployment(before, { type: 'allocations_changed' }, moment));
    }),
  );
});

const seenAt = (ModifyIndex: number, Healthy: boolean | null) =>
  allocation('a0', Healthy, { DeploymentStatus: { Healthy, Timestamp: past, Canary: false, ModifyIndex } });

it.each<[string, WatchedDeployment, Allocation, readonly string[]]>([
  ['one has become healthy', watched({ HealthyAllocs: 1 }), seenAt(50, true), ['evaluate']],
  ['one has become healthy after another was not', watched({ UnhealthyAllocs: 1 }), seenAt(50, true), ['evaluate']],
  ['one is unhealthy', watched({ UnhealthyAllocs: 1 }), seenAt(50, false), []],
  ['canaries wait', watched(canaries(['a0', 'a1'], { AutoPromote: true })), seenAt(50, true), ['evaluate']],
])('does not look at all allocations when %s', (_what, before, changed, effects) => {
  const unread = Object.defineProperty(before, 'allocations', {
    get: () => expect.unreachable('the allocations were read'),
  });
  expect(outcome(unread, { type: 'allocations_changed', changed: [changed] })).toMatchObject({ effects });
});
const unhealthy = { allocations: [allocation('a', false)] };

describe('a deployment whose allocations change', () => {
  it.each<[string, WatchedDeployment, string, string[], string[]]>([
    ['goes on while nothing is known', watched({}, { allocations: [allocation('a', null)] }), 'running: ', [], []],
    [
      'goes on with health that was seen before',
      watched({}, { allocations: [allocation('a', true)] }),
      'running: ',
      [],
      [],
    ],
    [
      'is looked at again with new health',
      watched({}, { allocations: [allocation('a', true)], evaluatedIndex: 39 }),
      'running: ',
      ['evaluate'],
      [],
    ],
    ['replaces what is unhealthy', watched({}, unhealthy), 'running: ', ['evaluate'], ['a']],
    [
      'does not do so twice',
      watched({}, { allocations: [allocation('a', false, { DesiredTransition: { Reschedule: true } } as never)] }),
      'running: ',
      [],
      [],
    ],
    [
      'fails when nothing may be replaced',
      watched({ ProgressDeadline: 0 }, unhealthy),
      'failed: Failed due to unhealthy allocations',
      ['evaluate'],
      [],
    ],
    [
      'fails when no attempt is left',
      watched(
        {},
        {
          ...unhealthy,
          version: jobFrom({ TaskGroups: [groupDocument({ ReschedulePolicy: { Attempts: 0, Unlimited: false } })] }),
        },
      ),
      'failed: Failed due to unhealthy allocations',
      ['evaluate'],
      [],
    ],
    [
      'fails and has nothing to go back to',
      watched(reverting, unhealthy),
      'failed: Failed due to unhealthy allocations - no stable job version to auto revert to',
      ['evaluate'],
      [],
    ],
    [
      'fails and goes back to the newest stable version',
      watched(reverting, {
        ...unhealthy,
        versions: () => [job(2), job(1, { Stable: true }), job(0, { Stable: true })],
      }),
      'failed: Failed due to unhealthy allocations - rolling back to job version 1',
      ['revert to 1', 'evaluate'],
      [],
    ],
    [
      'fails and stays, being what it would go back to',
      watched(reverting, { ...unhealthy, versions: () => [job(1, { Stable: true, Priority: 52 })] }),
      'failed: Failed due to unhealthy allocations - not rolling back to stable job version 1 as current job has same specification',
      ['evaluate'],
      [],
    ],
    [
      'waits for a promotion by hand',
      watched(canaries(['a']), { allocations: [allocation('a', true)] }),
      'running: ',
      [],
      [],
    ],
    [
      'waits for all canaries before it promotes',
      watched(canaries(['a', 'b'], { AutoPromote: true }), {
        allocations: [allocation('a', true), allocation('b', null)],
      }),
      'running: ',
      [],
      [],
    ],
    [
      'is over and stays as it is',
      watched({ ProgressDeadline: 0 }, { ...unhealthy, Status: 'successful' }),
      'successful: ',
      [],
      [],
    ],
  ])('%s', (_what, before, status, effects, allocations) => {
    expect(outcome(before, { type: 'allocations_changed' })).toMatchObject({ status, effects, allocations });
  });

  it('promotes by itself once all canaries are healthy', () => {
    const before = watched(canaries(['a'], { AutoPromote: true }), { allocations: [allocation('a', true)] });
    const step = transitionDeployment(before, { type: 'allocations_changed' }, moment)._unsafeUnwrap();
    expect(step.deployment.TaskGroups['app']?.Promoted).toBe(true);
    expect(step.effects).toEqual([{ type: 'evaluate' }]);
  });
});

describe('a deployment whose deadline comes', () => {
  it.each<[string, WatchedDeployment, string, string[]]>([
    ['fails', watched({ RequireProgressBy: past }), 'failed: Failed due to progress deadline', ['evaluate']],
    [
      'goes back where a late group says so',
      watched({ RequireProgressBy: past, AutoRevert: true }, { versions: () => [job(1, { Stable: true })] }),
      'failed: Failed due to progress deadline - rolling back to job version 1',
      ['revert to 1', 'evaluate'],
    ],
    ['goes on before it', watched({}), 'running: ', []],
    [
      'fails at its very millisecond',
      watched({ RequireProgressBy: '2026-01-01T12:00:00.000Z' }),
      'failed: Failed due to progress deadline',
      ['evaluate'],
    ],
    ['goes on before the first placement', watched({ RequireProgressBy: null }), 'running: ', []],
    ['goes on with everything healthy', watched({ RequireProgressBy: past, HealthyAllocs: 2 }), 'running: ', []],
    [
      'goes on while healthy canaries wait for their promotion',
      watched(canaries(['a'], { RequireProgressBy: past, HealthyAllocs: 1 })),
      'running: ',
      [],
    ],
    [
      'fails while canaries are not healthy',
      watched(canaries(['a'], { RequireProgressBy: past })),
      'failed: Failed due to progress deadline',
      ['evaluate'],
    ],
    [
      'goes on when enough live allocations are healthy',
      watched({ RequireProgressBy: past }, { allocations: [allocation('a', true), allocation('b', true)] }),
      'running: ',
      [],
    ],
    [
      'fails when one of them has ended',
      watched(
        { RequireProgressBy: past },
        { allocations: [allocation('a', true), allocation('b', true, { ClientStatus: 'failed' })] },
      ),
      'failed: Failed due to progress deadline',
      ['evaluate'],
    ],
    ['waits while it is paused', watched({ RequireProgressBy: past }, { Status: 'paused' }), 'paused: ', []],
    ['stays over', watched({ RequireProgressBy: past }, { Status: 'failed' }), 'failed: ', []],
  ])('%s', (_what, before, status, effects) => {
    expect(outcome(before, { type: 'deadline' })).toMatchObject({ status, effects });
  });

  it.each<[string, WatchedDeployment, string | undefined]>([
    ['the group that waits', watched({}), soon],
    ['no group that has what it wants', watched({ HealthyAllocs: 2 }), undefined],
    ['nothing while paused', watched({}, { Status: 'paused' }), undefined],
    ['nothing once it is over', watched({}, { Status: 'cancelled' }), undefined],
  ])('is woken for %s', (_what, before, expected) => {
    expect(progressDeadlineOf(before)).toBe(expected === undefined ? undefined : Date.parse(expected));
  });
});

describe('an action on a deployment', () => {
  const actions: readonly (readonly [DeploymentEvent, string, string[]])[] = [
    [{ type: 'pause' }, 'paused: Deployment is paused', []],
    [{ type: 'resume' }, 'running: Deployment is running', ['evaluate']],
    [{ type: 'fail' }, 'failed: Deployment marked as failed', ['evaluate']],
    [{ type: 'set_health', healthy: ['a'], unhealthy: [] }, 'running: ', ['evaluate']],
    [
      { type: 'set_health', healthy: [], unhealthy: ['a'] },
      'failed: Failed due to unhealthy allocations',
      ['evaluate'],
    ],
  ];

  it.each(actions)('is done while it is under way: %j', (event, status, effects) => {
    const before = watched({}, { allocations: [allocation('a', null)] });
    expect(outcome(before, event)).toMatchObject({ status, effects });
  });

  it.each(
    actions.flatMap(([event]) =>
      (['successful', 'failed', 'cancelled'] as const).map((Status) => [event, Status] as const),
    ),
  )('is refused once it is over: %j, %s', (event, Status) => {
    expect(outcome(watched({}, { Status, allocations: [allocation('a', null)] }), event)).toBe('deployment_over');
  });

  it('gives the time to make progress anew', () => {
    for (const type of ['pause', 'resume'] as const) {
      const step = transitionDeployment(watched({ RequireProgressBy: past }), { type }, moment)._unsafeUnwrap();
      expect(Date.parse(step.deployment.TaskGroups['app']?.RequireProgressBy ?? '')).toBe(now + 600_000);
    }
  });

  it.each<[string, WatchedDeployment, DeploymentEvent]>([
    [
      'a promotion without healthy canaries',
      watched(canaries(['a']), { allocations: [allocation('a', null)] }),
      { type: 'promote' },
    ],
    ['a promotion of a group that it has not', watched(canaries(['a'])), { type: 'promote', groups: ['constructor'] }],
    ['health of nothing', watched({}), { type: 'set_health', healthy: [], unhealthy: [] }],
    [
      'health of an allocation of another deployment',
      watched({}, { allocations: [allocation('a', null, { DeploymentID: 'e' })] }),
      { type: 'set_health', healthy: ['a'], unhealthy: [] },
    ],
  ])('refuses %s', (_what, before, event) => {
    expect(transitionDeployment(before, event, moment).isErr()).toBe(true);
  });
});
