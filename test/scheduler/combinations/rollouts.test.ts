import { describe, expect, it } from 'vitest';
import type { Step } from '../../replay/stories/story.js';
import { begin, evaluate, fail, register, storyJob, storyUpdate } from '../../support/stories.js';
import { away, down, draining, jobOf, nodes, outlineOf, second, seconds, settled, sized } from './outline.js';

const service = (group: object) => jobOf('service', group);
const canaried = (cpu: number, more: object = {}) =>
  sized(cpu, { Count: 2, Update: storyUpdate({ Canary: 1 }), ...more });
const rolled = (cpu: number, more: object = {}) => sized(cpu, { Count: 2, Update: storyUpdate(), ...more });
/** Two of version 0 run healthily, and one canary of version 1 beside them. */
const withCanary: Step[] = [service(canaried(100)), ...settled, service(canaried(120)), begin('job')];
const later = seconds(30);

describe('what happens to a rollout meanwhile', () => {
  it('a newer version stops the canary on a lost node, and places one of its own', () => {
    expect(outlineOf(nodes(3), [...withCanary, down('n3'), service(canaried(140))])).toEqual({
      placed: ['job.api[0]#3 v2 canary D3 new'],
      stopped: ['job.api[0]#2'],
      desired: { api: { ignore: 2, stop: 1, canary: 1 } },
    });
  });

  it('a newer version stops the canary on a node out of reach, and places one of its own', () => {
    expect(
      outlineOf(nodes(3), [
        service(canaried(100, { Disconnect: { LostAfter: 300 * second } })),
        ...settled,
        service(canaried(120, { Disconnect: { LostAfter: 300 * second } })),
        begin('job'),
        away('n3'),
        evaluate('job', 'node-update'),
        service(canaried(140, { Disconnect: { LostAfter: 300 * second } })),
      ]),
    ).toEqual({
      placed: ['job.api[0]#3 v2 canary D3 new'],
      stopped: ['job.api[0]#2'],
      desired: { api: { ignore: 2, stop: 1, canary: 1 } },
    });
  });

  it('a count of 0 stops canaries as well', () => {
    expect(outlineOf(nodes(3), [...withCanary, { do: 'scale', job: 'job', group: 'api', count: 0 }])).toEqual({
      stopped: ['job.api[0]#1', 'job.api[0]#2', 'job.api[1]#1'],
      desired: { api: { stop: 3 } },
    });
  });

  it('the way back to the old document stops the canary and updates the rest in place', () => {
    expect(outlineOf(nodes(3), [...withCanary, service(canaried(100))])).toEqual({
      stopped: ['job.api[0]#2'],
      inPlace: ['job.api[0]#1', 'job.api[1]#1'],
      desired: { api: { stop: 1, inPlaceUpdate: 2 } },
    });
  });

  it('a stop of the job ends canaries that are waited for', () => {
    expect(
      outlineOf(nodes(3), [
        service(canaried(100, { Disconnect: { LostAfter: 300 * second } })),
        ...settled,
        service(canaried(120, { Disconnect: { LostAfter: 300 * second } })),
        begin('job'),
        away('n3'),
        evaluate('job', 'node-update'),
        { do: 'stop', job: 'job' },
      ]),
    ).toEqual({ stopped: ['job.api[0]#1', 'job.api[0]#2', 'job.api[1]#1'], desired: { api: { stop: 3 } } });
  });

  it('a lost allocation comes back in its old version beside a canary', () => {
    expect(outlineOf(nodes(3), [...withCanary, down('n2'), evaluate('job', 'node-update')])).toEqual({
      placed: ['job.api[1]#2 v0 D1'],
      stopped: ['job.api[1]#1 lost'],
      desired: { api: { ignore: 2, place: 1, stop: 1 } },
    });
  });

  it('a migrating allocation comes back in its old version beside a canary', () => {
    expect(
      outlineOf(nodes(3), [...withCanary, ...draining('n2', 'job.api[1]#1'), evaluate('job', 'node-drain')]),
    ).toEqual({
      placed: ['job.api[1]#2 v0 D1'],
      stopped: ['job.api[1]#1'],
      desired: { api: { ignore: 2, migrate: 1 } },
    });
  });

  it('a failed allocation comes back in its own version, two versions of canaries later', () => {
    expect(
      outlineOf(nodes(3), [
        ...withCanary,
        service(canaried(140)),
        begin('job'),
        fail('job.api[1]#1'),
        later,
        evaluate('job', 'alloc-failure'),
      ]),
    ).toEqual({
      placed: ['job.api[1]#2 v0 D1 rescheduled'],
      stopped: ['job.api[1]#1'],
      desired: { api: { ignore: 2, place: 1, stop: 1 } },
    });
  });

  it('a failed canary is replaced by a canary when its deployment requests it', () => {
    expect(
      outlineOf(nodes(3), [
        ...withCanary,
        fail('job.api[0]#2'),
        { do: 'transition', allocs: ['job.api[0]#2'], reschedule: true },
        later,
        evaluate('job', 'deployment-watcher'),
      ]),
    ).toEqual({
      placed: ['job.api[0]#3 v1 canary D2 rescheduled'],
      stopped: ['job.api[0]#2'],
      desired: { api: { ignore: 2, place: 1, stop: 1 } },
    });
  });

  it('a canary on a draining node goes without another one while the deployment is paused', () => {
    expect(
      outlineOf(nodes(3), [
        ...withCanary,
        { do: 'deployment', deployment: 'D2', action: 'pause' },
        { do: 'transition', allocs: ['job.api[0]#2'], migrate: true },
        evaluate('job', 'node-drain'),
      ]),
    ).toEqual({ stopped: ['job.api[0]#2'], desired: { api: { ignore: 2 } } });
  });

  it('more canaries than the count come in two evaluations', () => {
    expect(
      outlineOf(nodes(3), [
        service(canaried(100)),
        ...settled,
        service(canaried(120, { Update: storyUpdate({ Canary: 3 }) })),
        begin('job'),
        evaluate('job', 'deployment-watcher'),
      ]),
    ).toEqual({ placed: ['job.api[2]#1 v1 canary D2 new'], desired: { api: { ignore: 4, canary: 1 } } });
  });

  it('a group without canaries rolls on while another one waits for its promotion', () => {
    expect(
      outlineOf(nodes(3), [
        register(storyJob('job', 'service', [canaried(100, { Name: 'a' }), rolled(100, { Name: 'b' })])),
        ...settled,
        register(storyJob('job', 'service', [canaried(120, { Name: 'a' }), rolled(120, { Name: 'b' })])),
        ...settled,
      ]),
    ).toEqual({
      placed: ['job.b[1]#2 v1 D2'],
      stopped: ['job.b[1]#1'],
      desired: { a: { ignore: 3 }, b: { ignore: 1, destructiveUpdate: 1 } },
    });
  });

  it('a renamed group is another group', () => {
    expect(
      outlineOf(nodes(2), [
        service(rolled(100)),
        begin('job', { healthy: true }),
        service(rolled(100, { Name: 'web' })),
      ]),
    ).toEqual({
      placed: ['job.web[0]#1 v1 D2 new', 'job.web[1]#1 v1 D2 new'],
      stopped: ['job.api[0]#1', 'job.api[1]#1'],
      desired: { web: { place: 2 }, api: { stop: 2 } },
    });
  });

  it('a group that is gone stops what waits for its replacement', () => {
    expect(
      outlineOf(nodes(2), [
        register(storyJob('job', 'service', [sized(100), sized(100, { Name: 'b' })])),
        begin('job'),
        fail('job.b[0]#1'),
        evaluate('job', 'alloc-failure'),
        service(sized(100)),
      ]),
    ).toEqual({
      stopped: ['job.b[0]#1'],
      inPlace: ['job.api[0]#1'],
      desired: { api: { inPlaceUpdate: 1 }, b: { stop: 1 } },
    });
  });

  it('without a limit of parallel updates a due replacement comes with all of them', () => {
    expect(
      outlineOf(nodes(2), [
        service(sized(100, { Count: 3 })),
        begin('job'),
        fail('job.api[1]#1'),
        later,
        service(sized(120, { Count: 3 })),
      ]),
    ).toEqual({
      placed: ['job.api[0]#2 v1', 'job.api[1]#2 v1 rescheduled', 'job.api[2]#2 v1'],
      stopped: ['job.api[0]#1', 'job.api[1]#1', 'job.api[2]#1'],
      desired: { api: { place: 1, stop: 1, destructiveUpdate: 2 } },
    });
  });

  it('a stagger alone is an update in place, with a deployment', () => {
    expect(
      outlineOf(nodes(2), [
        service(rolled(100)),
        ...settled,
        service(rolled(100, { Update: storyUpdate({ Stagger: 60 * second }) })),
      ]),
    ).toEqual({ inPlace: ['job.api[0]#1', 'job.api[1]#1'], desired: { api: { inPlaceUpdate: 2 } } });
  });

  it('a failed deployment moves what a drain moves, in the newest version', () => {
    expect(
      outlineOf(nodes(3), [
        service(rolled(100)),
        ...settled,
        service(rolled(120)),
        begin('job'),
        { do: 'deployment', deployment: 'D2', action: 'fail' },
        ...draining('n2', 'job.api[1]#1'),
        evaluate('job', 'node-drain'),
      ]),
    ).toEqual({ placed: ['job.api[1]#2 v1'], stopped: ['job.api[1]#1'], desired: { api: { ignore: 1, migrate: 1 } } });
  });

  it('a paused deployment replaces what is lost, and nothing else', () => {
    expect(
      outlineOf(nodes(3), [
        service(rolled(100)),
        ...settled,
        service(rolled(120)),
        begin('job'),
        { do: 'deployment', deployment: 'D2', action: 'pause' },
        down('n2'),
        evaluate('job', 'node-update'),
      ]),
    ).toEqual({
      placed: ['job.api[1]#2 v1 D2'],
      stopped: ['job.api[1]#1 lost'],
      desired: { api: { ignore: 1, place: 1, stop: 1 } },
    });
  });
});
