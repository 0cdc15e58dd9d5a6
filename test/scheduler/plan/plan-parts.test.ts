import { expect, it } from 'vitest';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import { partsInSteps, type SchedulingResult } from '../../../src/scheduler/plan/outcome.js';
import { finish } from '../../../src/scheduler/steps.js';

const allocation = (ID: string, links: Pick<Allocation, 'NextAllocation' | 'PreviousAllocation'> = {}): Allocation =>
  ({ ID, ...links }) as Allocation;

/** Changed ones first, as a plan lists them. */
const replacing = (number: number): [Allocation, Allocation] => [
  allocation(`old-${number}`, { NextAllocation: `new-${number}` }),
  allocation(`new-${number}`, { PreviousAllocation: `old-${number}` }),
];

function parts(allocations: readonly Allocation[], size: number) {
  const result = { allocations } as unknown as SchedulingResult;
  return finish(partsInSteps(result, size)).map(({ allocations: own, first, last }) => [
    own.map(({ ID }) => ID),
    first,
    last,
  ]);
}

it('leaves a plan whole that is small enough, also one that changes nothing', () => {
  expect(parts([allocation('a'), allocation('b')], 2)).toEqual([[['a', 'b'], true, true]]);
  expect(parts([], 2)).toEqual([[[], true, true]]);
});

it('cuts a plan in the order of its allocations', () => {
  expect(
    parts(
      ['a', 'b', 'c', 'd', 'e'].map((id) => allocation(id)),
      2,
    ),
  ).toEqual([
    [['a', 'b'], true, false],
    [['c', 'd'], false, false],
    [['e'], false, true],
  ]);
});

it('writes an allocation with its successor, when the successor is placed', () => {
  const pairs = [replacing(1), replacing(2), replacing(3)];
  const all = [...pairs.map(([old]) => old), allocation('stopped'), ...pairs.map(([, next]) => next)];
  expect(parts(all, 2).map(([ids]) => ids)).toEqual([
    ['stopped'],
    ['old-1', 'new-1'],
    ['old-2', 'new-2'],
    ['old-3', 'new-3'],
  ]);
  expect(parts(all, 1).map(([ids]) => ids)).toEqual([
    ['stopped'],
    ['old-1', 'new-1'],
    ['old-2', 'new-2'],
    ['old-3', 'new-3'],
  ]);
});

it('takes links to allocations outside of the plan for none', () => {
  const successor = allocation('new', { PreviousAllocation: 'gone' });
  const replaced = allocation('old', { NextAllocation: 'before' });
  expect(parts([replaced, successor], 1).map(([ids]) => ids)).toEqual([['old'], ['new']]);
});

it('writes an allocation with what is preempted for it, and with what it replaces', () => {
  const victims = (by: string, ...ids: string[]) =>
    ids.map((ID) => ({ ID, DesiredStatus: 'evict', PreemptedByAllocation: by }) as Allocation);
  const [old, next] = replacing(1);
  const preempting = { ...next, PreemptedAllocations: ['v1', 'v2', 'gone'] };
  const another = { ...allocation('another'), PreemptedAllocations: ['v3'] };
  const all = [old, ...victims('new-1', 'v1', 'v2'), ...victims('another', 'v3'), preempting, another];
  expect(parts(all, 1).map(([ids]) => ids)).toEqual([
    ['v1', 'v2', 'old-1', 'new-1'],
    ['v3', 'another'],
  ]);
});
