import { describe, expect, it } from 'vitest';
import type { AllocationUse } from '../../../src/scheduler/cluster/capacity.js';
import { type Asks, use, victimsOf } from './contests.js';

type Use = Parameters<typeof use>[1];

describe('who may be preempted', () => {
  const full = (more: Use) => [use('v', { cpu: 1000, ...more })];

  it.each<[string, Use, number, readonly string[] | undefined]>([
    ['a priority that is lower by ten', { priority: 40 }, 50, ['v']],
    ['a priority that is lower by nine', { priority: 41 }, 50, undefined],
    ['the own job', { priority: 1, jobId: 'web' }, 50, undefined],
    ['a job of the same name in another namespace', { priority: 1, jobId: 'web', namespace: 'apps' }, 50, ['v']],
    ['another job in the same namespace', { priority: 1 }, 50, ['v']],
  ])('%s', (_what, more, priority, victims) => {
    expect(victimsOf({ priority }, full(more))).toEqual(victims);
  });

  it('is nobody where there is room, or where all of them would not be enough', () => {
    expect(victimsOf({ cpu: 900 }, [use('v')])).toBeUndefined();
    expect(victimsOf({ cpu: 600 }, [use('v', { cpu: 500 }), use('w', { cpu: 500, priority: 80 })])).toBeUndefined();
  });
});

describe('room for processor, memory and disk', () => {
  it.each<[string, Asks, readonly AllocationUse[], readonly string[] | undefined]>([
    [
      'comes from the lowest priority',
      { cpu: 500 },
      [use('a', { cpu: 500, priority: 30 }), use('b', { cpu: 500 })],
      ['b'],
    ],
    [
      'comes from the next priority, when one is not enough',
      { cpu: 600 },
      [use('a', { cpu: 500, priority: 30 }), use('b', { cpu: 500 })],
      ['a', 'b'],
    ],
    [
      'comes from the one that is closest in size',
      { cpu: 300 },
      [use('a', { cpu: 600 }), use('b', { cpu: 300 }), use('c', { cpu: 100 })],
      ['b'],
    ],
    [
      'is compared in memory',
      { memory: 300 },
      [use('a', { memory: 600 }), use('b', { memory: 300 }), use('c', { memory: 100 })],
      ['b'],
    ],
    [
      'is compared in disk',
      { disk: 300 },
      [use('a', { disk: 600 }), use('b', { disk: 300 }), use('c', { disk: 100 })],
      ['b'],
    ],
    [
      'is compared as shares of what is asked',
      { cpu: 200, memory: 800 },
      [use('a', { cpu: 100, memory: 600 }), use('b', { cpu: 700, memory: 400 })],
      ['a', 'b'],
    ],
    ['takes the first of equals', { cpu: 500 }, [use('b', { cpu: 500 }), use('a', { cpu: 500 })], ['a']],
    [
      'fits exactly',
      { cpu: 500, memory: 500, disk: 500 },
      [use('a', { cpu: 500, memory: 500, disk: 500 }), use('b', { cpu: 500, memory: 500, disk: 500, priority: 90 })],
      ['a'],
    ],
    [
      'looks at what is still needed after each',
      { cpu: 500 },
      [use('a', { cpu: 450 }), use('b', { cpu: 400 }), use('c', { cpu: 60 }), use('d', { cpu: 90 })],
      ['a', 'c'],
    ],
    [
      'leaves those that turn out to be needless',
      { cpu: 400 },
      [use('a', { cpu: 300 }), use('b', { cpu: 700, priority: 30 })],
      ['b'],
    ],
    [
      'spares a group of which enough were preempted',
      { cpu: 500, preempted: { app: 1 } },
      [use('a', { cpu: 500, parallel: 1 }), use('b', { cpu: 480, group: 'rest' })],
      ['b'],
    ],
    [
      'does not spare one of which more may be',
      { cpu: 500, preempted: { app: 1 } },
      [use('a', { cpu: 500, parallel: 2 }), use('b', { cpu: 480, group: 'rest' })],
      ['a'],
    ],
    [
      'does not spare one without a limit',
      { cpu: 500, preempted: { app: 9 } },
      [use('a', { cpu: 500 }), use('b', { cpu: 480, group: 'rest' })],
      ['a'],
    ],
    [
      'takes from a spared group rather than from a higher priority',
      { cpu: 500, preempted: { app: 1 } },
      [use('a', { cpu: 500, parallel: 1 }), use('b', { cpu: 500, group: 'rest', priority: 30 })],
      ['a'],
    ],
    [
      'spares a group the more, the more were preempted',
      { cpu: 500, preempted: { app: 1, rest: 2 } },
      [use('a', { cpu: 480, parallel: 1 }), use('b', { cpu: 500, parallel: 1, group: 'rest' })],
      ['a'],
    ],
  ])('%s', (_what, asks, uses, victims) => {
    expect(victimsOf(asks, uses)?.toSorted()).toEqual(victims);
  });
});
