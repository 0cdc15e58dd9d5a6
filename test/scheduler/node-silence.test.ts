import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Allocation } from '../../src/scheduler/allocation.js';
import {
  type Heartbeat,
  isOutOfReach,
  newSilenceWatch,
  observeHeartbeats,
  silentStatus,
} from '../../src/scheduler/node-silence.js';
import { allocationWith, jobWith, now, unknownSince } from './reconcile/situations.js';

const ttl = 30;
const beat = (token: number, at?: number): Heartbeat => ({ nodeId: 'n', token, at });
const silentOf = (observed: ReturnType<typeof observeHeartbeats>) => observed.silent.map(({ nodeId }) => nodeId);

describe('observeHeartbeats', () => {
  it('takes a node for silent one time to live after its last heartbeat', () => {
    const first = observeHeartbeats(newSilenceWatch(0), [beat(1, 5)], ttl, 10);
    expect([silentOf(first), first.next]).toEqual([[], 35]);
    expect(silentOf(observeHeartbeats(first.watch, [beat(1, 5)], ttl, 34))).toEqual([]);
    expect(silentOf(observeHeartbeats(first.watch, [beat(1, 5)], ttl, 35))).toEqual(['n']);
    expect(observeHeartbeats(first.watch, [beat(2, 20)], ttl, 35)).toMatchObject({ silent: [], next: 50 });
  });

  it('never asks to be asked again at once, whatever the fractions of milliseconds', () => {
    const times = fc.tuple(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.double({ min: 1, max: 1e6, noNaN: true }));
    fc.assert(
      fc.property(times, ([at, timeToLive]) => {
        const watch = newSilenceWatch(at);
        const { next = 0 } = observeHeartbeats(watch, [beat(1, at)], timeToLive, at);
        const then = observeHeartbeats({ ...watch, expected: next }, [beat(1, at)], timeToLive, next);
        expect([silentOf(then), then.next]).toEqual([['n'], undefined]);
      }),
    );
  });

  it('gives every node one full time to live after its own start, however old the heartbeat is', () => {
    const started = newSilenceWatch(1000);
    const first = observeHeartbeats(started, [beat(1, 5), { nodeId: 'other', token: 3, at: undefined }], ttl, 1000);
    expect([silentOf(first), first.next]).toEqual([[], 1030]);
    expect(silentOf(observeHeartbeats(first.watch, [beat(1, 5)], ttl, 1030))).toEqual(['n']);
  });

  it('takes a gap in its own progress for its own absence', () => {
    const first = observeHeartbeats(newSilenceWatch(0), [beat(1, 0)], ttl, 0);
    expect(first.next).toBe(30);
    // Meant to look at 30, came at 100.
    const late = observeHeartbeats(first.watch, [beat(1, 0)], ttl, 100);
    expect([silentOf(late), late.next]).toEqual([[], 130]);
    expect(silentOf(observeHeartbeats(late.watch, [beat(1, 0)], ttl, 130))).toEqual(['n']);
    // A little late is not absent.
    expect(silentOf(observeHeartbeats(first.watch, [beat(1, 0)], ttl, 40))).toEqual(['n']);
  });

  it('counts from the first sight of a heartbeat that was taken down on another timeline', () => {
    const first = observeHeartbeats(newSilenceWatch(0), [beat(7)], ttl, 10);
    expect(first.next).toBe(40);
    const again = observeHeartbeats(first.watch, [beat(7)], ttl, 30);
    expect(again.next).toBe(40);
    expect(observeHeartbeats(again.watch, [beat(8)], ttl, 40)).toMatchObject({ silent: [], next: 70 });
    expect(silentOf(observeHeartbeats(again.watch, [beat(7)], ttl, 40))).toEqual(['n']);
  });

  it('never calls a node silent that was heard of within the time to live, or that it could not hear for so long', () => {
    const step = fc.record({
      pass: fc.integer({ min: 0, max: 60 }),
      beats: fc.boolean(),
      foreign: fc.boolean(),
      stopped: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let now = 0;
        let heartbeat = beat(1, 0);
        let heard = 0;
        let able = 0;
        let watch = newSilenceWatch(0);
        for (const { pass, beats, foreign, stopped } of steps) {
          // A watcher that runs looks when it meant to; one that was stopped comes later by much.
          const planned = Math.max(watch.expected, now);
          now = stopped ? planned + 11 + pass : Math.min(now + pass, planned);
          if (stopped) able = now;
          if (beats) {
            heard = now;
            heartbeat = beat(heartbeat.token + 1, foreign ? undefined : now);
          }
          const observed = observeHeartbeats(watch, [heartbeat], ttl, now);
          if (observed.silent.length > 0) expect(now - Math.max(heard, able)).toBeGreaterThanOrEqual(ttl);
          else if (heartbeat.at !== undefined) expect(now - Math.max(heard, able)).toBeLessThan(ttl);
          watch = observed.watch;
        }
      }),
    );
  });
});

const [patient] = jobWith({ Disconnect: { LostAfter: 600e9 } }).TaskGroups;
const [hasty] = jobWith().TaskGroups;
const [ending] = jobWith({ Disconnect: { StopOnClientAfter: 600e9 } }).TaskGroups;
const of = (group: typeof patient, change: Partial<Allocation> = {}) => ({ allocation: allocationWith(change), group });
const unknown = (seconds: number): Partial<Allocation> => ({ ClientStatus: 'unknown', ...unknownSince(seconds) });

it.each([
  ['a node without allocations', [], 'down'],
  ['a group that waits', [of(patient)], 'disconnected'],
  ['an allocation that has not begun', [of(patient, { ClientStatus: 'pending' })], 'disconnected'],
  ['a group that does not wait', [of(hasty)], 'down'],
  ['a group whose allocations end by themselves', [of(ending)], 'down'],
  ['a group that is not known any more', [of(undefined)], 'down'],
  ['one that waits among others', [of(hasty), of(patient)], 'disconnected'],
  ['an allocation that was told to stop', [of(patient, { DesiredStatus: 'stop' })], 'down'],
  ['an allocation that was preempted', [of(patient, { DesiredStatus: 'evict' })], 'down'],
  ['an allocation that has ended', [of(patient, { ClientStatus: 'failed' })], 'down'],
  ['one that is waited for already', [of(patient, unknown(599))], 'disconnected'],
  ['one that was waited for too long', [of(patient, unknown(600))], 'down'],
] as const)('silence: %s', (_what, unfinished, status) => {
  expect(silentStatus(unfinished, now)).toBe(status);
});

it('a node out of reach registers again', () => {
  const statuses = ['initializing', 'ready', 'down', 'disconnected'] as const;
  expect(statuses.filter((Status) => isOutOfReach({ Status }))).toEqual(['down', 'disconnected']);
});
