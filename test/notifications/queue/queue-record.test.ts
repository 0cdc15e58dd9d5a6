import { describe, expect, test } from 'vitest';
import {
  afterArrival,
  newQueue,
  type QueueRecord,
  queues,
  touched,
  waitOf,
  withBreakerClosed,
  withCancellation,
} from '../../../src/notifications/queue/queue-record.js';
import { queueTime, wallTimeOf } from '../../../src/queue/process.js';
import { delivery } from './delivery-samples.js';

const open = { type: 'open', since: 1, until: 500, pause: 100 } as const;
const closed = { type: 'closed', failures: 0 } as const;
const idle = newQueue('nc-1', 'ws-1');
const cancellation = { through: 5, at: 3, reason: 'configuration_disabled' } as const;
/** As the version before wrote them. */
const old: QueueRecord = { ...idle, position: 7, lease: null };
const leased: QueueRecord = { ...old, lease: { owner: 'engine', until: 90 } };

describe('a queue', () => {
  test('comes up for what arrives, when its breaker lets it', () => {
    expect(afterArrival(idle, 800).wakeAt).toBe(0);
    expect(afterArrival({ ...idle, breaker: open }, 800).wakeAt).toBe(500);
    expect(afterArrival({ ...idle, breaker: open, wakeAt: 900 }, 800).wakeAt).toBe(500);
    const early = { ...idle, wakeAt: 0 };
    expect(afterArrival(early, 800)).toBe(early);
  });
  test('that is paused comes up when the first of what waits is over by its age', () => {
    const paused = { ...idle, pausedAt: 1 };
    expect(afterArrival(paused, 800).wakeAt).toBe(800);
    expect(afterArrival({ ...paused, breaker: open }, 800).wakeAt).toBe(800);
    const earlier = { ...paused, wakeAt: 700 };
    expect(afterArrival(earlier, 800)).toBe(earlier);
  });
  test('comes up at once for what a person asked for', () => {
    expect(touched({ ...idle, breaker: open }).wakeAt).toBe(0);
    expect(withBreakerClosed({ ...idle, breaker: open, failingSince: 4 })).toMatchObject({
      breaker: closed,
      failingSince: null,
    });
    expect(withCancellation(idle, cancellation)).toMatchObject({ wakeAt: 0, cancellation });
  });
  test.each([
    ['nothing is left of', idle, undefined],
    ['has a time', { ...idle, wakeAt: 8 }, [8, 'nc-1']],
    ['was written before deliveries had rows', { ...old, wakeAt: 8 }, [0, 'nc-1']],
    ['was worked on then', leased, [0, 'nc-1']],
    ['had nothing unread then', old, undefined],
  ])('that %s is found by its time', (_what, queue, expected) => {
    expect(queues.indexes['by_wake']?.key(queue)).toEqual(expected);
  });
  test('of the version before keeps its position until all its deliveries have rows', () => {
    expect(afterArrival(leased, 800)).toBe(leased);
    expect(touched(leased)).toMatchObject({ position: 7, wakeAt: 0 });
    expect(afterArrival(old, 800)).toEqual({ ...idle, wakeAt: 0 });
    expect(touched(old)).toEqual({ ...idle, wakeAt: 0 });
  });
});

describe('why a delivery waits', () => {
  const served = { rate: 0, heldUntil: null, servedUntil: 1000 };
  const waiting = delivery(6, 'a');
  const retryAt = (dueAt: number) => delivery(6, 'a', { state: { type: 'waiting', dueAt, attempted: 2 } });
  const retry = retryAt(300);
  const manual = delivery(6, 'a', {
    state: { type: 'manual', dueAt: 0, requestedAt: 1, before: { type: 'delivered', at: 1 } },
  });
  test.each([
    ['a retry', retry, idle, served, { reason: 'retry', until: 300 }],
    ['an open breaker', waiting, { ...idle, breaker: open }, served, { reason: 'breaker', until: 500 }],
    [
      'an earlier one of its run',
      delivery(6, 'a', { state: { type: 'behind' } }),
      idle,
      served,
      { reason: 'order', until: null },
    ],
    ['its turn', waiting, idle, served, { reason: 'queue', until: null }],
    ['the rate', waiting, idle, { ...served, rate: 1 }, { reason: 'rate', until: null }],
    ['an engine', waiting, idle, { ...served, servedUntil: null }, { reason: 'engine', until: null }],
    ['the lease of one that is gone', waiting, idle, { ...served, servedUntil: 90 }, { reason: 'engine', until: 90 }],
    ['nothing: it is being cancelled', delivery(5, 'a'), { ...idle, cancellation }, served, null],
    ['nothing: it is over', delivery(6, 'a', { state: { type: 'delivered', at: 1 } }), idle, served, null],
  ])('for %s', (_what, given, queue, pace, expected) => {
    expect(waitOf(given, queue, pace, 100)).toEqual(expected);
  });
  test.each([
    ['what is due', waiting, idle, { reason: 'rate', until: 700 }],
    ['one asked for by a person', manual, idle, { reason: 'rate', until: 700 }],
    ['a retry before its end', retry, idle, { reason: 'rate', until: 700 }],
    ['no engine: the hook is left alone by all', waiting, idle, { reason: 'rate', until: 700 }],
    ['a pause', waiting, { ...idle, pausedAt: 1 }, { reason: 'paused', until: null }],
    [
      'a longer pause of the breaker',
      waiting,
      { ...idle, breaker: { ...open, until: 900 } },
      { reason: 'breaker', until: 900 },
    ],
    ['a later retry', retryAt(800), idle, { reason: 'retry', until: 800 }],
  ] as const)('for a hook that asked to be left alone: %s', (_what, given, queue, expected) => {
    expect(waitOf(given, queue, { ...served, rate: 1, heldUntil: 700 }, 100)).toEqual(expected);
    expect(waitOf(waiting, idle, { ...served, rate: 1, heldUntil: 100 }, 100)).toEqual({ reason: 'rate', until: null });
  });
});

test('the queues keep a time that does not step', () => {
  const timeline = { timeline: 'boot', offset: 1_000_000 };
  expect(queueTime(timeline, 500)).toBe(1_000_500);
  // The wall clock has been set forward by an hour since.
  expect(wallTimeOf(1_000_700, { wall: 4_600_500, queue: 1_000_500 })).toBe(4_600_700);
});
