import { describe, expect, it } from 'vitest';
import { capacityOf } from '../../src/scheduler/cluster/capacity.js';
import { capacities, groupedBy, percent, shareOf, sumOf, takesRoom } from '../../web/rules/capacity.js';

const amounts = (cpu: number, memory: number) => ({ Cpu: { CpuShares: cpu }, Memory: { MemoryMB: memory } });
const node = (ID: string, NodePool = 'default') => ({
  ID,
  Name: ID,
  NodePool,
  Datacenter: 'dc1',
  NodeClass: '',
  NodeResources: amounts(1000, 512),
  ReservedResources: amounts(100, 12),
});
const allocation = (NodeID: string, ClientStatus = 'running') => ({
  NodeID,
  DesiredStatus: 'run',
  ClientStatus,
  AllocatedResources: { Tasks: { main: amounts(200, 100) }, TaskLifecycles: { main: null } },
});

it('subtracts what is reserved and counts what has not ended', () => {
  const list = capacities(
    [node('a'), node('b')],
    [allocation('a'), allocation('a', 'pending'), allocation('a', 'failed'), allocation('gone')],
  );
  expect(list.map(({ total, allocated, count }) => ({ total, allocated, count }))).toEqual([
    { total: { memory: 500, cpu: 900 }, allocated: { memory: 200, cpu: 400 }, count: 2 },
    { total: { memory: 500, cpu: 900 }, allocated: { memory: 0, cpu: 0 }, count: 0 },
  ]);
  expect(sumOf(list)).toEqual({ total: { memory: 1000, cpu: 1800 }, allocated: { memory: 200, cpu: 400 }, count: 2 });
});

describe('tasks of an allocation', () => {
  const task = (cpu: number, memory: number, Hook?: string, Sidecar = false) => ({
    amounts: amounts(cpu, memory),
    lifecycle: Hook === undefined ? null : { Hook, Sidecar },
  });

  it.each([
    ['add up', [task(100, 50), task(200, 60)], { cpu: 300, memory: 110 }],
    ['share with those that run before them', [task(100, 50), task(70, 60, 'prestart')], { cpu: 100, memory: 60 }],
    ['share with those that run after them', [task(100, 50), task(70, 60, 'poststop')], { cpu: 100, memory: 60 }],
    ['add up with those beside them', [task(100, 50), task(70, 60, 'poststart')], { cpu: 170, memory: 110 }],
    [
      'count a sidecar before them and with them',
      [task(10, 5), task(70, 60, 'prestart', true), task(5, 90, 'prestart'), task(60, 1, 'poststop')],
      { cpu: 80, memory: 150 },
    ],
    ['add up with those that run through', [task(100, 50), task(70, 60, 'prestart', true)], { cpu: 170, memory: 110 }],
  ])('%s', (_, tasks, share) => {
    const named = tasks.map((each, at) => [`t${at}`, each] as const);
    const AllocatedResources = {
      Tasks: Object.fromEntries(named.map(([name, each]) => [name, each.amounts])),
      TaskLifecycles: Object.fromEntries(named.map(([name, each]) => [name, each.lifecycle])),
    };
    expect(shareOf({ ...allocation('a'), AllocatedResources })).toEqual(share);
    const Shared = { DiskMB: 0, Networks: null, Ports: null };
    const whole = Object.entries(AllocatedResources.Tasks).map(([name, { Cpu, Memory }]) => {
      const task = { Cpu: { ...Cpu, ReservedCores: null }, Memory: { ...Memory, MemoryMaxMB: 0 } };
      return [name, { ...task, Networks: null, Devices: null }] as const;
    });
    // As the scheduler counts it.
    expect(capacityOf({ ...AllocatedResources, Tasks: Object.fromEntries(whole), Shared })).toMatchObject(share);
  });
});

it.each([
  ['running', true],
  ['unknown', true],
  ['complete', false],
  ['lost', false],
])('an allocation that is %s takes room: %s', (ClientStatus, takes) => {
  expect(takesRoom({ ClientStatus })).toBe(takes);
});

it('groups by name, in order', () => {
  const grouped = groupedBy([node('a', 'z'), node('b', 'c'), node('d', 'z')], ({ NodePool }) => NodePool);
  expect(grouped.map(([name, list]) => [name, list.map(({ ID }) => ID)])).toEqual([
    ['c', ['b']],
    ['z', ['a', 'd']],
  ]);
});

it.each([
  [1, 3, 33],
  [0, 0, 0],
  [5, 0, 100],
])('%d of %d is %d %%', (part, whole, share) => {
  expect(percent(part, whole)).toBe(share);
});
