import { describe, expect, it } from 'vitest';
import {
  changedJob,
  changeFrom,
  changeQuery,
  differenceOf,
  isNoChange,
  replacements,
  sizeOf,
  stepsOf,
  suggestedSize,
} from '../../../web/rules/group-change.js';

const job = {
  ID: 'web',
  TaskGroups: [
    {
      Name: 'cache',
      Count: 2,
      Tasks: [
        { Name: 'redis', Resources: { CPU: 20, MemoryMB: 1024 }, Driver: 'raw_exec' },
        { Name: 'log', Resources: { CPU: 50, MemoryMB: 64 } },
      ],
    },
    { Name: 'other', Tasks: [{ Name: 'redis' }] },
  ],
};
const present = sizeOf(job, 'cache');

it('is made in the group that it names, and nowhere else', () => {
  const changed = changedJob(job, { group: 'cache', count: 1, tasks: { redis: { memory: 512 }, none: { cpu: 1 } } });
  expect(changed.TaskGroups[0]).toEqual({
    ...job.TaskGroups[0],
    Count: 1,
    Tasks: [{ Name: 'redis', Resources: { CPU: 20, MemoryMB: 512 }, Driver: 'raw_exec' }, job.TaskGroups[0]?.Tasks[1]],
  });
  expect(changed.TaskGroups[1]).toBe(job.TaskGroups[1]);
  expect(Object.keys(changed)).toEqual(Object.keys(job));
});

it('is what differs from the present size', () => {
  expect(present).toEqual({
    group: 'cache',
    count: 2,
    tasks: { redis: { memory: 1024, cpu: 20 }, log: { memory: 64, cpu: 50 } },
  });
  expect(sizeOf(job, 'other')).toEqual({ group: 'other', count: 1, tasks: { redis: { memory: 0, cpu: 0 } } });
  expect(isNoChange(differenceOf(present, present))).toBe(true);
  const after = { ...present, count: 1, tasks: { ...present.tasks, redis: { memory: 512, cpu: 20 } } };
  expect(differenceOf(present, after)).toEqual({ group: 'cache', count: 1, tasks: { redis: { memory: 512 } } });
});

describe('the size that a node would take', () => {
  const change = (subject: string, from: string, to: string, of = 'job') => ({ changes: [{ of, subject, from, to }] });
  it.each([
    {
      name: 'less memory of the largest task',
      obstacles: [change('Resources.MemoryMB', '1088 MB', '576 MB')],
      redis: { memory: 512, cpu: 20 },
    },
    {
      name: 'less CPU of another',
      obstacles: [change('Resources.CPU', '70 MHz', '40 MHz'), change('free memory', '1', '2', 'node')],
      log: { memory: 64, cpu: 20 },
    },
    { name: 'nothing if a task had nothing left', obstacles: [change('Resources.MemoryMB', '1088 MB', '10 MB')] },
    {
      name: 'nothing for what is no size',
      obstacles: [change('constraint', 'a', 'b'), change('Resources.MemoryMB', '', '')],
    },
  ])('$name', ({ obstacles, redis = present.tasks['redis'], log = present.tasks['log'] }) => {
    expect(suggestedSize(present, obstacles)).toEqual({ ...present, tasks: { redis, log } });
  });
});

describe('in an address', () => {
  it.each([
    { group: 'cache', count: 0, tasks: {} },
    { group: 'a b', tasks: { 'redis.x': { memory: 512, cpu: 20 }, log: { cpu: 1 } } },
  ])('survives: %j', (change) => expect(changeFrom(new URLSearchParams(changeQuery(change)))).toEqual(change));

  it.each([
    '',
    'group=g',
    'count=1',
    'group=g&count=-1',
    'group=g&memory.t=1e3',
    'group=g&count=9999999999',
    'group=g&disk.t=1',
  ])('is none: %s', (query) => expect(changeFrom(new URLSearchParams(query))).toBeUndefined());
});

it('is made one value at a time', () => {
  const change = { group: 'cache', count: 1, tasks: { redis: { memory: 512, cpu: 10 } } };
  expect(stepsOf(change, present).map(({ attribute, from, to }) => [attribute, from, to])).toEqual([
    ['count', 2, 1],
    ['memory', 1024, 512],
    ['cpu', 20, 10],
  ]);
});

it('finds the places of a source that have the value', () => {
  const text = 'memory = 300\n  memory=300 # 300\nmemory_max = 300\nmemory = 3000\nmemory = 300.5\nxmemory = 300';
  expect(replacements(text, 'memory', 300, 64)).toEqual([
    text.replace('memory = 300', 'memory = 64'),
    text.replace('memory=300', 'memory=64'),
  ]);
  expect(replacements('memory = 1\n'.repeat(100), 'memory', 1, 2)).toHaveLength(16);
});
