import { describe, expect, it } from 'vitest';
import type { Allocation, AllocationDeploymentStatus } from '../../../src/scheduler/allocation.js';
import { withAllocation } from '../../../src/scheduler/deployment/count-allocations.js';
import type { Deployment, DeploymentState } from '../../../src/scheduler/deployment/deployment.js';
import { unixNanosFromInstant } from '../../../src/shared/instant.js';

const noon = Date.parse('2026-01-01T12:00:00Z');
const minute = 60_000;
const iso = (at: number) => new Date(at).toISOString();

const deploymentOf = (app: Partial<DeploymentState> = {}): Deployment =>
  ({
    ID: 'd',
    TaskGroups: {
      app: {
        ProgressDeadline: 600e9,
        RequireProgressBy: null,
        PlacedCanaries: null,
        PlacedAllocs: 0,
        HealthyAllocs: 0,
        UnhealthyAllocs: 0,
        ...app,
      },
      other: { PlacedAllocs: 7 },
    },
  }) as unknown as Deployment;

/** An allocation of the deployment, changed at noon; its health was found out a minute before. */
const allocation = (Healthy: boolean | null, change: object = {}, status: Partial<AllocationDeploymentStatus> = {}) =>
  ({
    ID: 'a',
    DeploymentID: 'd',
    TaskGroup: 'app',
    CreateTime: unixNanosFromInstant(noon - 5 * minute),
    ModifyTime: unixNanosFromInstant(noon),
    DeploymentStatus: { Healthy, Timestamp: iso(noon - minute), Canary: false, ModifyIndex: 40, ...status },
    ...change,
  }) as unknown as Allocation;

/** What the write changes of the group's state. */
function changes(state: Partial<DeploymentState>, before: Allocation | undefined, after: Allocation) {
  const deployment = deploymentOf(state);
  const counted = withAllocation(deployment, before, after).TaskGroups;
  expect(counted['other']).toBe(deployment.TaskGroups['other']);
  const was = Object.entries(deployment.TaskGroups['app'] ?? {});
  const is: Readonly<Record<string, unknown>> = { ...counted['app'] };
  return Object.fromEntries(was.flatMap(([name, value]) => (is[name] === value ? [] : [[name, is[name]]])));
}

const running = { RequireProgressBy: iso(noon + 3 * minute) };
const elsewhere = allocation(null, { DeploymentID: 'c' });

describe('the state of a group after the write of an allocation', () => {
  it.each<[string, Partial<DeploymentState>, Allocation | undefined, Allocation, Partial<DeploymentState>]>([
    [
      'the first one is placed: it counts, and the deadline begins with its write',
      {},
      undefined,
      allocation(null),
      { PlacedAllocs: 1, RequireProgressBy: iso(noon + 10 * minute) },
    ],
    ['a further one is placed: it counts', running, undefined, allocation(null), { PlacedAllocs: 1 }],
    ['one of another deployment joins: it counts', running, elsewhere, allocation(null), { PlacedAllocs: 1 }],
    ['placed without a deadline', { ProgressDeadline: 0 }, undefined, allocation(null), { PlacedAllocs: 1 }],
    [
      'it becomes healthy: the deadline counts from when that was found out',
      running,
      allocation(null),
      allocation(true),
      { HealthyAllocs: 1, RequireProgressBy: iso(noon + 9 * minute) },
    ],
    [
      'it becomes healthy, and the deadline is later already',
      { RequireProgressBy: iso(noon + 20 * minute) },
      allocation(null),
      allocation(true),
      { HealthyAllocs: 1 },
    ],
    [
      'it becomes healthy without a deadline',
      { ProgressDeadline: 0 },
      allocation(null),
      allocation(true),
      { HealthyAllocs: 1 },
    ],
    ['it becomes unhealthy', running, allocation(null), allocation(false), { UnhealthyAllocs: 1 }],
    [
      'it was healthy and is not any more',
      { ...running, HealthyAllocs: 2, UnhealthyAllocs: 1 },
      allocation(true),
      allocation(false),
      { HealthyAllocs: 1, UnhealthyAllocs: 2 },
    ],
    [
      'one joins healthy',
      running,
      elsewhere,
      allocation(true),
      { PlacedAllocs: 1, HealthyAllocs: 1, RequireProgressBy: iso(noon + 9 * minute) },
    ],
    ['its health stays', running, allocation(true), allocation(true, {}, { ModifyIndex: 50 }), {}],
    [
      'a canary is placed: it is listed',
      running,
      undefined,
      allocation(null, {}, { Canary: true }),
      { PlacedAllocs: 1, PlacedCanaries: ['a'] },
    ],
    [
      'another canary is placed: it is listed behind the others',
      { ...running, PlacedCanaries: ['b'] },
      undefined,
      allocation(null, {}, { Canary: true }),
      { PlacedAllocs: 1, PlacedCanaries: ['b', 'a'] },
    ],
    [
      'a listed canary becomes unhealthy: it is listed once',
      { ...running, PlacedCanaries: ['a'] },
      allocation(null, {}, { Canary: true }),
      allocation(false, {}, { Canary: true }),
      { UnhealthyAllocs: 1 },
    ],
    ['of another deployment', running, undefined, elsewhere, {}],
    ['of a group that the deployment has not', running, undefined, allocation(null, { TaskGroup: 'constructor' }), {}],
  ])('%s', (_what, state, before, after, expected) => {
    expect(changes(state, before, after)).toEqual(expected);
  });

  it('is the same object where nothing changes', () => {
    const deployment = deploymentOf(running);
    expect(withAllocation(deployment, allocation(true), allocation(true))).toBe(deployment);
    expect(withAllocation(deployment, undefined, elsewhere)).toBe(deployment);
  });
});
