import { describe, expect, it } from 'vitest';
import type { TaskGroup } from '../../../src/jobs/document/task-group.js';
import type { Allocation, TaskState } from '../../../src/scheduler/allocation.js';
import { withReportedHealth } from '../../../src/scheduler/allocation-reports.js';
import { isMeasuredByChecks, measureHealth } from '../../../src/scheduler/deployment/measure-health.js';
import { unixNanosFromInstant } from '../../../src/shared/instant.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';

const noon = Date.parse('2026-01-01T12:00:00Z');
const second = 1000;
const ago = (seconds: number) => new Date(noon - seconds * second).toISOString();

const task = (Name: string, Lifecycle: object | null = null) => ({
  Name,
  Lifecycle,
  Driver: 'raw_exec',
  Config: { command: '/bin/true' },
  Resources: { CPU: 20, MemoryMB: 20 },
});

/** A group whose allocations are healthy after 10 s, and have 300 s for that. */
function groupOf(update: object | null, tasks: readonly object[] = [task('main')]): TaskGroup {
  const times = { MaxParallel: 1, MinHealthyTime: 10e9, HealthyDeadline: 300e9, ProgressDeadline: 600e9 };
  const group = groupDocument({ Tasks: tasks, ...(update === null ? {} : { Update: { ...times, ...update } }) });
  const [made] = jobFrom({ TaskGroups: [group] }).TaskGroups;
  if (made === undefined) throw new Error('no group');
  return update === null ? { ...made, Update: null } : made;
}

const running = (since: number, more: Partial<TaskState> = {}) => ({
  State: 'running',
  Failed: false,
  StartedAt: ago(since),
  LastRestart: null,
  ...more,
});
const dead = (since: number, Failed = false) => ({ State: 'dead', Failed, StartedAt: ago(since), LastRestart: null });

/** Made so many seconds ago. */
const allocationOf = (TaskStates: object, change: object = {}, age = 100): Allocation =>
  ({
    ClientStatus: 'running',
    CreateTime: unixNanosFromInstant(noon - age * second),
    TaskStates,
    ...change,
  }) as unknown as Allocation;

const byStates = groupOf({ HealthCheck: 'task_states' });
const besides = (hook: string, sidecar = false) =>
  groupOf({ HealthCheck: 'task_states' }, [task('main'), task('aside', { Hook: hook, Sidecar: sidecar })]);

describe('health by the states of tasks', () => {
  it.each<[string, TaskGroup, Allocation, boolean | undefined]>([
    ['is good once every task has run for min_healthy_time', byStates, allocationOf({ main: running(10) }), true],
    ['is not known before that', byStates, allocationOf({ main: running(9) }), undefined],
    ['counts from the last restart', byStates, allocationOf({ main: running(60, { LastRestart: ago(9) }) }), undefined],
    [
      'counts from the start that followed a restart',
      byStates,
      allocationOf({ main: running(10, { LastRestart: ago(60) }) }),
      true,
    ],
    [
      'counts from the start of the last task',
      groupOf({ HealthCheck: 'task_states' }, [task('main'), task('second')]),
      allocationOf({ main: running(60), second: running(9) }),
      undefined,
    ],
    [
      'is not known while a task waits for its start',
      byStates,
      allocationOf({ main: { State: 'pending', Failed: false, StartedAt: null, LastRestart: null } }),
      undefined,
    ],
    [
      'is not known of an allocation that has not begun',
      byStates,
      allocationOf({}, { ClientStatus: 'pending' }),
      undefined,
    ],
    ['is bad when the deadline comes before', byStates, allocationOf({ main: running(9) }, {}, 300), false],
    ['is not known until the deadline', byStates, allocationOf({ main: running(9) }, {}, 299), undefined],
    ['is good when reached at the deadline', byStates, allocationOf({ main: running(10) }, {}, 300), true],
    ['is bad when reached only after the deadline', byStates, allocationOf({ main: running(10) }, {}, 301), false],
    [
      'is bad of an allocation that failed',
      byStates,
      allocationOf({ main: dead(50, true) }, { ClientStatus: 'failed' }),
      false,
    ],
    [
      'is good with a prestart task that has ended',
      besides('prestart'),
      allocationOf({ main: running(20), aside: dead(30) }),
      true,
    ],
    [
      'is not known while a prestart task runs',
      besides('prestart'),
      allocationOf({ main: running(20), aside: running(30) }),
      undefined,
    ],
    [
      'needs the sidecar of a prestart hook to run',
      besides('prestart', true),
      allocationOf({ main: running(20), aside: running(30) }),
      true,
    ],
    [
      'is good with a poststart task that runs',
      besides('poststart'),
      allocationOf({ main: running(30), aside: running(20) }),
      true,
    ],
    [
      'is good with a poststart task that has ended',
      besides('poststart'),
      allocationOf({ main: running(30), aside: dead(20) }),
      true,
    ],
    [
      'is not known while one of two main tasks has ended',
      groupOf({ HealthCheck: 'task_states' }, [task('main'), task('second')]),
      allocationOf({ main: running(20), second: dead(50) }),
      undefined,
    ],
    ['does not look at poststop tasks', besides('poststop'), allocationOf({ main: running(20) }), true],
    [
      'is never known when it is told by hand',
      groupOf({ HealthCheck: 'manual' }),
      allocationOf({ main: running(20) }, {}, 400),
      undefined,
    ],
    [
      'is bad of what failed, also when it is told by hand',
      groupOf({ HealthCheck: 'manual' }),
      allocationOf({}, { ClientStatus: 'failed' }),
      false,
    ],
    ['is never known without an update block', groupOf(null), allocationOf({ main: running(20) }, {}, 400), undefined],
  ])('%s', (_what, group, allocation, expected) => {
    expect(measureHealth(allocation, group, noon).healthy).toBe(expected);
  });

  it.each<[string, TaskGroup, Allocation]>([
    ['the only task', byStates, allocationOf({ main: dead(50, true) })],
    [
      'one of two main tasks',
      groupOf({ HealthCheck: 'task_states' }, [task('main'), task('second')]),
      allocationOf({ main: running(20), second: dead(50, true) }),
    ],
    ['a prestart task', besides('prestart'), allocationOf({ main: running(20), aside: dead(30, true) })],
  ])('is bad at once when a task has failed, while the others still end: %s', (_what, group, allocation) => {
    expect(measureHealth(allocation, group, noon)).toEqual({ healthy: false, next: undefined });
  });

  it('says when it may be known: when everything has run for long enough, or at the deadline', () => {
    const next = (since: number, age: number) =>
      measureHealth(allocationOf({ main: running(since) }, {}, age), byStates, noon).next;
    expect(next(4, 100)).toBe(noon + 6 * second);
    expect(next(4, 298)).toBe(noon + 2 * second);
  });

  it('is left to the node where checks of services decide', () => {
    const check = { Name: 'c', Type: 'tcp', Interval: 10e9, Timeout: 2e9 };
    const service = (...Checks: object[]) => ({ Name: 's', Provider: 'nomad', PortLabel: '80', Checks });
    const withService = (mode: string, ...Checks: object[]) =>
      groupOf({ HealthCheck: mode }, [{ ...task('main'), Services: [service(...Checks)] }]);
    expect(isMeasuredByChecks(withService('checks', check))).toBe(true);
    expect(isMeasuredByChecks(withService('checks'))).toBe(false);
    expect(isMeasuredByChecks(withService('checks', { ...check, OnUpdate: 'ignore' }))).toBe(false);
    expect(isMeasuredByChecks(withService('checks', { ...check, OnUpdate: 'ignore' }, { ...check, Name: 'd' }))).toBe(
      true,
    );
    expect(isMeasuredByChecks(withService('task_states', check))).toBe(false);
  });
});

describe('health that a node reports', () => {
  const moment = { now: noon, index: 50 };
  const reported = (Healthy: boolean | null, change: object = {}) =>
    ({
      DeploymentID: 'd',
      DesiredStatus: 'run',
      ClientStatus: 'running',
      DeploymentStatus: { Healthy, Timestamp: null, Canary: true, ModifyIndex: 40 },
      ...change,
    }) as unknown as Allocation;
  const failed = { ClientStatus: 'failed' };

  it.each<[string, Allocation, boolean | null, boolean]>([
    ['good', reported(null), true, true],
    ['bad', reported(null), false, false],
    ['bad after it was good', reported(true), false, false],
    ['the failure of an allocation whose health was not known', reported(null, failed), null, false],
  ])('is taken over with its time and index: %s', (_what, before, healthy, expected) => {
    expect(withReportedHealth(before, healthy, moment)).toMatchObject({
      DeploymentStatus: { Healthy: expected, Timestamp: new Date(noon).toISOString(), Canary: true, ModifyIndex: 50 },
    });
  });

  it.each<[string, Allocation, boolean | null]>([
    ['bad health, once it is known', reported(false), true],
    ['good health of an allocation that fails later', reported(true, failed), null],
    ['health that is reported again', reported(true), true],
    ['an allocation of which nothing is known', reported(null), null],
    ['an allocation without a deployment', reported(null, { DeploymentID: undefined, ...failed }), false],
  ])('leaves as it is: %s', (_what, before, healthy) => {
    expect(withReportedHealth(before, healthy, moment)).toBe(before);
  });
});
