import { describe, expect, it } from 'vitest';
import type { Step } from '../../replay/stories/story.js';
import { begin, evaluate, fail, register, storyJob, storyNode, storyUpdate } from '../../support/stories.js';
import {
  away,
  distinctHosts,
  down,
  draining,
  gentle,
  ineligible,
  jobOf,
  nodes,
  outlineOf,
  second,
  settled,
  sized,
} from './outline.js';

const ready = (name: string): Step => ({ do: 'node', name, status: 'ready' });
const runs = (alloc: string): Step => ({
  do: 'report',
  allocs: [alloc],
  client: 'running',
  tasks: { main: { state: 'running', startedAgo: 0 } },
});
const completes = (alloc: string): Step => ({
  do: 'report',
  allocs: [alloc],
  client: 'complete',
  tasks: { main: { state: 'dead', startedAgo: 10, finishedAgo: 0 } },
});
const disconnect = { Disconnect: { LostAfter: 300 * second } };

/** One of three is out of reach and not rescheduled, and then the count is lowered to two. */
const unreplaced = (Count: number) =>
  sized(100, { Count, ...disconnect, ...distinctHosts, ReschedulePolicy: { Attempts: 0, Unlimited: false } });
const lowered: Step[] = [
  jobOf('service', unreplaced(3)),
  begin('job'),
  away('n1'),
  evaluate('job', 'node-update'),
  jobOf('service', unreplaced(2)),
];

describe('a new version while a node is out of reach', () => {
  const group = (cpu: number) => sized(cpu, { Count: 2, ...disconnect, ...distinctHosts });

  it('replaces an allocation there, which is unknown and stopped', () => {
    const steps = [jobOf('service', group(100)), begin('job'), away('n1'), jobOf('service', group(120))];
    expect(outlineOf(nodes(3), steps)).toMatchObject({
      unknown: ['job.api[0]#1'],
      stopped: ['job.api[0]#1', 'job.api[1]#1'],
      desired: { api: { disconnect: 1, destructiveUpdate: 2 } },
    });
  });

  it('updates an allocation there in place, which is unknown with the new version', () => {
    const more = { Count: 2, ...disconnect, ...distinctHosts };
    const steps = [jobOf('service', group(100)), begin('job'), away('n1'), jobOf('service', gentle(more))];
    expect(outlineOf(nodes(2), steps)).toMatchObject({
      unknown: ['job.api[0]#1'],
      inPlace: ['job.api[0]#1', 'job.api[1]#1'],
      desired: { api: { disconnect: 1, inPlaceUpdate: 2 } },
    });
  });
});

describe('system jobs and nodes that leave', () => {
  it('a system job leaves an ineligible node with a new version, and its deployment does not count it', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('system', sized(100, { Update: storyUpdate() })),
        ...settled,
        ineligible('n2'),
        jobOf('system', sized(120, { Update: storyUpdate() })),
      ]),
    ).toEqual({
      placed: ['job.api[0]@n1#2 v1 D2'],
      stopped: ['job.api[0]@n1#1', 'job.api[0]@n2#1'],
      desired: { api: { place: 1, stop: 1, destructiveUpdate: 1 } },
    });
  });

  it("a node that joins gets a system job's new version while its canary waits", () => {
    expect(
      outlineOf(nodes(4), [
        jobOf('system', sized(100, { Update: storyUpdate({ Canary: 50 }) })),
        ...settled,
        jobOf('system', sized(120, { Update: storyUpdate({ Canary: 50 }) })),
        { do: 'node-add', node: storyNode('n5') },
        evaluate('job', 'node-update'),
      ]),
    ).toEqual({
      placed: ['job.api[0]@n5#1 v1 D2 new'],
      desired: { api: { ignore: 1, place: 5, destructiveUpdate: 3, canary: 1 } },
    });
  });

  it("a system job's canary on a lost node is made up for on another one", () => {
    expect(
      outlineOf(nodes(4), [
        jobOf('system', sized(100, { Update: storyUpdate({ Canary: 50, MaxParallel: 2 }) })),
        ...settled,
        jobOf('system', sized(120, { Update: storyUpdate({ Canary: 50, MaxParallel: 2 }) })),
        begin('job'),
        down('n1'),
        evaluate('job', 'node-update'),
      ]),
    ).toEqual({
      placed: ['job.api[0]@n3#2 v1 canary D2'],
      stopped: ['job.api[0]@n1#1 lost', 'job.api[0]@n1#2 lost', 'job.api[0]@n3#1'],
      desired: { api: { ignore: 1, place: 3, destructiveUpdate: 2, canary: 2 } },
    });
  });

  it('a system job of no allocations stops them all', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('system', sized(100, { Update: storyUpdate() })),
        begin('job', { healthy: true }),
        jobOf('system', sized(100, { Count: 0, Update: storyUpdate() })),
      ]),
    ).toEqual({ stopped: ['job.api[0]@n1#1', 'job.api[0]@n2#1'], desired: { api: { stop: 2 } } });
  });

  it('a failed run of a sysbatch job stays with a version in place', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('sysbatch', sized(100)),
        begin('job'),
        fail('job.api[0]@n1#1'),
        jobOf('sysbatch', gentle({})),
      ]),
    ).toEqual({ inPlace: ['job.api[0]@n2#1'], desired: { api: { inPlaceUpdate: 2 } } });
  });

  it('a sysbatch job runs again with another version, where it has finished, where it runs and where it is new', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('sysbatch', sized(100)),
        begin('job'),
        completes('job.api[0]@n1#1'),
        { do: 'node-add', node: storyNode('n3') },
        jobOf('sysbatch', sized(120)),
      ]),
    ).toEqual({
      placed: ['job.api[0]@n1#2 v1', 'job.api[0]@n2#2 v1', 'job.api[0]@n3#1 v1 new'],
      stopped: ['job.api[0]@n1#1', 'job.api[0]@n2#1'],
      desired: { api: { place: 1, destructiveUpdate: 2 } },
    });
  });

  it('an allocation that is back has to move when its node drains', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('service', sized(100, disconnect)),
        begin('job'),
        away('n1'),
        evaluate('job', 'node-update'),
        ready('n1'),
        ...draining('n1', 'job.api[0]#1'),
        runs('job.api[0]#1'),
        evaluate('job', 'reconnect'),
      ]),
    ).toEqual({ placed: ['job.api[0]#2 v0'], stopped: ['job.api[0]#1'], desired: { api: { migrate: 1 } } });
  });

  it('one that has to move is waited for when its node is out of reach', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('service', sized(100, disconnect)),
        begin('job'),
        ...draining('n1', 'job.api[0]#1'),
        away('n1'),
        evaluate('job', 'node-update'),
      ]),
    ).toEqual({
      unknown: ['job.api[0]#1'],
      evals: ['alloc-reschedule 30000', 'max-disconnect-timeout 300000'],
      desired: { api: { ignore: 1, disconnect: 1, rescheduleLater: 1 } },
    });
  });

  it('a failed one on a draining node waits for its replacement by the policy', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('service', sized(100)),
        begin('job'),
        fail('job.api[0]#1'),
        ...draining('n1', 'job.api[0]#1'),
        evaluate('job', 'node-drain'),
      ]),
    ).toEqual({ evals: ['alloc-reschedule 30000'], desired: { api: { ignore: 1, rescheduleLater: 1 } } });
  });

  it('one that has to move is moved also when its node is down', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('service', sized(100)),
        begin('job'),
        ...draining('n1', 'job.api[0]#1'),
        down('n1'),
        evaluate('job', 'node-update'),
      ]),
    ).toEqual({ placed: ['job.api[0]#2 v0'], stopped: ['job.api[0]#1'], desired: { api: { migrate: 1 } } });
  });

  it('an unknown one is beside a count that was lowered', () => {
    expect(outlineOf(nodes(3), lowered)).toEqual({
      inPlace: ['job.api[0]#1', 'job.api[1]#1', 'job.api[2]#1'],
      desired: { api: { inPlaceUpdate: 3 } },
    });
  });

  it('and when it is back, the highest name goes', () => {
    expect(outlineOf(nodes(3), [...lowered, ready('n1'), runs('job.api[0]#1'), evaluate('job', 'reconnect')])).toEqual({
      stopped: ['job.api[2]#1'],
      reconnected: ['job.api[0]#1'],
      desired: { api: { ignore: 2, stop: 1, reconnect: 1 } },
    });
  });

  it('batch work that completed out of reach leaves its replacement running', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('batch', sized(100, disconnect)),
        begin('job'),
        away('n1'),
        evaluate('job', 'node-update'),
        { do: 'advance', ms: 5000 },
        { do: 'evaluate', eval: 'E1' },
        begin('job'),
        ready('n1'),
        completes('job.api[0]#1'),
        evaluate('job', 'reconnect'),
      ]),
    ).toEqual({ desired: { api: { ignore: 1 } } });
  });

  it.each([
    ['keep_original', 'job.api[0]#3'],
    ['keep_replacement', 'job.api[0]#1'],
  ])('batch work that is back, whose replacement was replaced, goes by %s', (Reconcile, stopped) => {
    const group = sized(100, {
      Disconnect: { LostAfter: 300 * second, Reconcile },
      ReschedulePolicy: { Attempts: 5, Interval: 3600 * second, Delay: 5 * second, DelayFunction: 'constant' },
    });
    const told = outlineOf(nodes(2), [
      jobOf('batch', group),
      begin('job'),
      away('n1'),
      evaluate('job', 'node-update'),
      { do: 'advance', ms: 5000 },
      { do: 'evaluate', eval: 'E1' },
      begin('job'),
      fail('job.api[0]#2'),
      { do: 'advance', ms: 5000 },
      evaluate('job', 'alloc-failure'),
      begin('job'),
      ready('n1'),
      runs('job.api[0]#1'),
      evaluate('job', 'reconnect'),
    ]);
    expect(told).toMatchObject({ stopped: [stopped], desired: { api: { stop: 1 } } });
  });

  it('batch work that a drain ended for good runs again with a new version', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('batch', sized(100, { Count: 2 })),
        begin('job'),
        { do: 'transition', allocs: ['job.api[0]#1'], migrate: true, migrateDisablePlacement: true },
        { do: 'node', name: 'n1', drain: true },
        evaluate('job', 'node-drain'),
        { do: 'report', allocs: ['job.api[0]#1'], client: 'complete' },
        jobOf('batch', sized(120, { Count: 2 })),
      ]),
    ).toEqual({
      placed: ['job.api[0]#2 v1 new', 'job.api[1]#2 v1'],
      stopped: ['job.api[1]#1'],
      desired: { api: { ignore: 1, place: 1, destructiveUpdate: 1 } },
    });
  });

  it('a lower count takes what has to move before the highest name', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('service', sized(100, { Count: 3 })),
        begin('job'),
        { do: 'transition', allocs: ['job.api[0]#1'], migrate: true },
        jobOf('service', sized(100, { Count: 2 })),
      ]),
    ).toEqual({
      stopped: ['job.api[0]#1'],
      inPlace: ['job.api[1]#1', 'job.api[2]#1'],
      desired: { api: { stop: 1, inPlaceUpdate: 2 } },
    });
  });

  it('what nodes out of reach stop themselves holds up its own group only', () => {
    expect(
      outlineOf(nodes(2), [
        register(
          storyJob('job', 'service', [
            sized(100, { Name: 'a', Disconnect: { StopOnClientAfter: 60 * second } }),
            sized(100, { Name: 'b' }),
          ]),
        ),
        begin('job'),
        down('n1'),
        evaluate('job', 'node-update'),
      ]),
    ).toEqual({
      placed: ['job.b[0]#2 v0'],
      stopped: ['job.a[0]#1 lost', 'job.b[0]#1 lost'],
      evals: ['alloc-failure 65000'],
      desired: { a: { stop: 1 }, b: { place: 1, stop: 1 } },
    });
  });
});
