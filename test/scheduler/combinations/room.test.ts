import { describe, expect, it } from 'vitest';
import {
  begin,
  evaluate,
  fail,
  register,
  storyGroup,
  storyJob,
  storyNode,
  storyTask,
  storyUpdate,
} from '../../support/stories.js';
import { distinctHosts, gentle, ineligible, jobOf, nodes, outlineOf, seconds, settled, sized } from './outline.js';

const every = { config: { preemption: { service: true, batch: true, system: true, sysbatch: true } } };
const later = seconds(30);
const rack = { Constraints: [{ LTarget: `\${meta.rack}`, Operand: 'distinct_property', RTarget: '' }] };
const racks = [storyNode('n1', { meta: { rack: 'a' } }), storyNode('n2', { meta: { rack: 'b' } })];
const ported = (Value: number, tasks: readonly object[] = [storyTask(100)]) =>
  storyGroup({ Networks: [{ ReservedPorts: [{ Label: 'p', Value }] }], Tasks: tasks });
const withGpus = (Count: number) =>
  storyTask(100, { Resources: { CPU: 100, MemoryMB: 100, Devices: [{ Name: 'gpu', Count }] } });
const gpuNode = [storyNode('n1', { devices: [{ vendor: 'acme', type: 'gpu', name: 'a10', healthy: 2 }] })];
const other = (ID: string, Priority: number, group: object) =>
  register(storyJob(ID, 'service', [group as never], { Priority }));

describe('room and its holders', () => {
  it('on ineligible nodes, what runs is updated in place, and what has failed finds no place', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('service', sized(100, { Count: 2 })),
        begin('job'),
        ineligible('n1'),
        ineligible('n2'),
        fail('job.api[1]#1'),
        later,
        jobOf('service', gentle({ Count: 2 })),
      ]),
    ).toEqual({
      inPlace: ['job.api[0]#1'],
      notPlaced: ['job.api[1]#1'],
      evals: ['queued-allocs blocked'],
      desired: { api: { place: 1, stop: 1, inPlaceUpdate: 1 } },
    });
  });

  it('a failed allocation does not hold its node against distinct_hosts', () => {
    expect(
      outlineOf(nodes(1), [
        jobOf('service', sized(100, distinctHosts)),
        begin('job'),
        fail('job.api[0]#1'),
        later,
        evaluate('job', 'alloc-failure'),
      ]),
    ).toEqual({
      placed: ['job.api[0]#2 v0 rescheduled'],
      stopped: ['job.api[0]#1'],
      desired: { api: { place: 1, stop: 1 } },
    });
  });

  it('an update in place keeps its value of distinct_property', () => {
    expect(
      outlineOf(racks, [
        jobOf('service', sized(100, { Count: 2, ...rack })),
        begin('job'),
        jobOf('service', gentle({ Count: 2, ...rack })),
      ]),
    ).toEqual({ inPlace: ['job.api[0]#1', 'job.api[1]#1'], desired: { api: { inPlaceUpdate: 2 } } });
  });

  it('a replacement takes over the value of distinct_property', () => {
    expect(
      outlineOf(racks, [
        jobOf('service', sized(100, { Count: 2, ...rack })),
        begin('job'),
        jobOf('service', sized(120, { Count: 2, ...rack })),
      ]),
    ).toEqual({
      placed: ['job.api[0]#2 v1', 'job.api[1]#2 v1'],
      stopped: ['job.api[0]#1', 'job.api[1]#1'],
      desired: { api: { destructiveUpdate: 2 } },
    });
  });

  it('holders of a port and of devices are both preempted, and nobody else', () => {
    expect(
      outlineOf(
        gpuNode,
        [
          other('a', 20, ported(8080)),
          other('b', 30, storyGroup({ Tasks: [withGpus(2)] })),
          other('c', 10, storyGroup()),
          other('job', 80, ported(8080, [withGpus(1)])),
        ],
        every,
      ),
    ).toEqual({
      placed: ['job.api[0]#1 v0 new'],
      preempted: ['a.api[0]#1', 'b.api[0]#1'],
      desired: { api: { place: 1, preemptions: 2 } },
    });
  });

  it('nobody is preempted when the holder of the port may not be', () => {
    expect(
      outlineOf(
        gpuNode,
        [
          other('a', 75, ported(8080)),
          other('b', 30, storyGroup({ Tasks: [withGpus(2)] })),
          other('job', 80, ported(8080, [withGpus(1)])),
        ],
        every,
      ),
    ).toEqual({ evals: ['queued-allocs blocked'], desired: { api: { place: 1 } } });
  });

  it('the holder of the port makes room as well', () => {
    expect(
      outlineOf(
        nodes(1, { cpu: 1000 }),
        [
          other('a', 20, ported(8080, [storyTask(500)])),
          other('b', 10, sized(400)),
          other('job', 80, ported(8080, [storyTask(600)])),
        ],
        every,
      ),
    ).toEqual({
      placed: ['job.api[0]#1 v0 new'],
      preempted: ['a.api[0]#1'],
      desired: { api: { place: 1, preemptions: 1 } },
    });
  });

  it('a canary finds no place where the port is held by what it may not replace yet', () => {
    expect(
      outlineOf(nodes(1), [
        jobOf('service', { ...ported(80), Update: storyUpdate({ Canary: 1 }) }),
        ...settled,
        jobOf('service', { ...ported(80, [storyTask(120)]), Update: storyUpdate({ Canary: 1 }) }),
      ]),
    ).toEqual({ evals: ['queued-allocs blocked'], desired: { api: { ignore: 1, canary: 1 } } });
  });
});
