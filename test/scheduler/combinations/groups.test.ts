import { describe, expect, it } from 'vitest';
import type { Step } from '../../replay/stories/story.js';
import { begin, evaluate, fail, storyUpdate } from '../../support/stories.js';
import { distinctHosts, down, jobOf, nodes, outlineOf, second, seconds, settled, sized } from './outline.js';

const rolled = (cpu: number, more: object = {}, update: Record<string, unknown> = {}) =>
  jobOf('service', sized(cpu, { Count: 3, Update: storyUpdate(update), ...more }));
const look = evaluate('job', 'node-update');
const healthy = (healthy: boolean, ...allocs: string[]): Step => ({ do: 'report', allocs, client: 'running', healthy });
const canaried = (cpu: number, update: Record<string, unknown> = {}) => rolled(cpu, {}, { Canary: 1, ...update });

describe('a group', () => {
  it('does not replace a failed one that the count does not ask for any more', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('service', sized(100, { Count: 3 })),
        begin('job'),
        fail('job.api[0]#1'),
        seconds(30),
        jobOf('service', sized(100, { Count: 2 })),
      ]),
    ).toEqual({
      stopped: ['job.api[0]#1'],
      inPlace: ['job.api[1]#1', 'job.api[2]#1'],
      desired: { api: { stop: 1, inPlaceUpdate: 2 } },
    });
  });

  it('replaces as many failed ones as the count asks for, the lowest names', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('service', sized(100, { Count: 4 })),
        begin('job'),
        fail('job.api[0]#1', 'job.api[2]#1'),
        seconds(30),
        jobOf('service', sized(100, { Count: 3 })),
      ]),
    ).toEqual({
      placed: ['job.api[0]#2 v1 rescheduled'],
      stopped: ['job.api[0]#1', 'job.api[2]#1'],
      inPlace: ['job.api[1]#1', 'job.api[3]#1'],
      desired: { api: { place: 1, stop: 2, inPlaceUpdate: 2 } },
    });
  });

  it('rolls no further when one is unhealthy, however many may be replaced at a time', () => {
    expect(
      outlineOf(nodes(2), [
        rolled(100, { Count: 4 }, { MaxParallel: 3 }),
        ...settled,
        rolled(120, { Count: 4 }, { MaxParallel: 3 }),
        begin('job'),
        healthy(true, 'job.api[0]#2', 'job.api[1]#2'),
        healthy(false, 'job.api[2]#2'),
        evaluate('job', 'deployment-watcher'),
      ]),
    ).toEqual({ desired: { api: { ignore: 4 } } });
  });

  it('rolls on by as many as are healthy', () => {
    expect(
      outlineOf(nodes(2), [
        rolled(100, { Count: 4 }, { MaxParallel: 2 }),
        ...settled,
        rolled(120, { Count: 4 }, { MaxParallel: 2 }),
        begin('job'),
        healthy(true, 'job.api[0]#2'),
        evaluate('job', 'deployment-watcher'),
      ]),
    ).toEqual({
      placed: ['job.api[2]#2 v1 D2'],
      stopped: ['job.api[2]#1'],
      desired: { api: { ignore: 3, destructiveUpdate: 1 } },
    });
  });

  it('runs stopped batch work again by a free name, if that was requested', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('batch', sized(100, { Count: 2 })),
        begin('job'),
        { do: 'transition', allocs: ['job.api[0]#1'], migrate: true, reschedule: true },
        evaluate('job', 'alloc-stop'),
        seconds(5),
        { do: 'evaluate', eval: 'E1' },
      ]),
    ).toEqual({ placed: ['job.api[0]#2 v0 new'], desired: { api: { ignore: 1, place: 1 } } });
  });

  it('moves a service that is stopped with the request to be replaced at once', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('service', sized(100, { Count: 2 })),
        begin('job'),
        { do: 'transition', allocs: ['job.api[0]#1'], migrate: true, reschedule: true },
        evaluate('job', 'alloc-stop'),
      ]),
    ).toEqual({ placed: ['job.api[0]#2 v0'], stopped: ['job.api[0]#1'], desired: { api: { ignore: 1, migrate: 1 } } });
  });

  it('stops the canaries of a deployment that has failed', () => {
    expect(
      outlineOf(nodes(4), [
        canaried(100),
        ...settled,
        canaried(120),
        begin('job'),
        { do: 'deployment', deployment: 'D2', action: 'fail' },
        evaluate('job', 'deployment-watcher'),
      ]),
    ).toEqual({ stopped: ['job.api[0]#2'], desired: { api: { ignore: 3, stop: 1 } } });
  });

  it('places another canary for a lost one, which is not counted as stopped', () => {
    expect(
      outlineOf(nodes(4), [
        rolled(100, distinctHosts),
        ...settled,
        rolled(120, distinctHosts, { Canary: 1 }),
        begin('job'),
        down('n4'),
        look,
      ]),
    ).toEqual({
      stopped: ['job.api[0]#2 lost'],
      evals: ['queued-allocs blocked'],
      desired: { api: { ignore: 3, canary: 1 } },
    });
  });

  it('places no other canary for a promoted one', () => {
    expect(
      outlineOf(nodes(4), [
        rolled(100, distinctHosts),
        ...settled,
        rolled(120, distinctHosts, { Canary: 1 }),
        begin('job'),
        healthy(true, 'job.api[0]#2'),
        { do: 'deployment', deployment: 'D2', action: 'promote' },
        down('n4'),
        look,
      ]),
    ).toEqual({
      placed: ['job.api[0]#3 v1 D2'],
      stopped: ['job.api[0]#1', 'job.api[0]#2 lost'],
      desired: { api: { ignore: 2, destructiveUpdate: 1 } },
    });
  });

  it('gathers replacements within less than five seconds of the first, whatever their order', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('service', sized(100, { Count: 3 })),
        begin('job'),
        seconds(60),
        fail('job.api[1]#1'),
        seconds(5),
        fail('job.api[2]#1'),
        seconds(4),
        fail('job.api[0]#1'),
        evaluate('job', 'alloc-failure'),
      ]),
    ).toEqual({
      evals: ['alloc-failure 26000', 'alloc-reschedule 21000'],
      desired: { api: { ignore: 3, rescheduleLater: 3 } },
    });
  });

  it('replaces a lost one of a settled version without a deployment', () => {
    expect(outlineOf(nodes(3), [rolled(100), ...settled, down('n1'), look])).toEqual({
      placed: ['job.api[0]#2 v0'],
      stopped: ['job.api[0]#1 lost'],
      desired: { api: { ignore: 2, place: 1, stop: 1 } },
    });
  });

  it('replaces a failed one of the old version while the deployment of the new one has failed', () => {
    expect(
      outlineOf(nodes(3), [
        rolled(100),
        ...settled,
        rolled(120),
        begin('job'),
        { do: 'deployment', deployment: 'D2', action: 'fail' },
        fail('job.api[2]#1'),
        seconds(30),
        evaluate('job', 'alloc-failure'),
      ]),
    ).toEqual({
      placed: ['job.api[2]#2 v1 rescheduled'],
      stopped: ['job.api[2]#1'],
      desired: { api: { ignore: 2, place: 1, stop: 1 } },
    });
  });

  it('ends a stopped job, on lost nodes too', () => {
    expect(
      outlineOf(nodes(3), [
        jobOf('service', sized(100, { Count: 3, ...distinctHosts })),
        begin('job'),
        down('n1'),
        { do: 'stop', job: 'job' },
      ]),
    ).toEqual({ stopped: ['job.api[0]#1 lost', 'job.api[1]#1', 'job.api[2]#1'], desired: { api: { stop: 3 } } });
  });

  it('runs nothing of a sysbatch job again that its newest version has finished', () => {
    expect(
      outlineOf(nodes(1), [
        jobOf('sysbatch', sized(100)),
        begin('job'),
        { do: 'report', allocs: ['job.api[0]@n1#1'], client: 'complete' },
        jobOf('sysbatch', sized(120)),
        begin('job'),
        { do: 'report', allocs: ['job.api[0]@n1#2'], client: 'complete' },
        look,
      ]),
    ).toEqual({ desired: { api: { ignore: 1 } } });
  });

  it("waits for a system job's allocation as long as its group says", () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('system', sized(100, { Disconnect: { LostAfter: 60 * second } })),
        begin('job'),
        { do: 'node', name: 'n1', status: 'disconnected' },
        look,
        seconds(59),
        look,
      ]),
    ).toEqual({ desired: { api: { ignore: 2, place: 2 } } });
  });

  it('and gives it up then', () => {
    expect(
      outlineOf(nodes(2), [
        jobOf('system', sized(100, { Disconnect: { LostAfter: 60 * second } })),
        begin('job'),
        { do: 'node', name: 'n1', status: 'disconnected' },
        look,
        seconds(60),
        look,
      ]),
    ).toEqual({ stopped: ['job.api[0]@n1#1 lost'], desired: { api: { ignore: 1, place: 1 } } });
  });

  it("loses a system job's allocation with its node", () => {
    expect(
      outlineOf(nodes(2), [jobOf('system', sized(100)), begin('job'), { do: 'node-remove', name: 'n1' }, look]),
    ).toEqual({ stopped: ['job.api[0]@n1#1 lost'], desired: { api: { ignore: 1, place: 1 } } });
  });
});
