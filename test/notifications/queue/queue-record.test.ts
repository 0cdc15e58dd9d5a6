import { describe, expect, test } from 'vitest';
import { recordAfter, wakeAtOf } from '../../../src/notifications/queue/next-record.js';
import {
  afterArrival,
  newQueue,
  queues,
  touched,
  withBreakerClosed,
  withCancellation,
} from '../../../src/notifications/queue/queue-record.js';
import { queueTime, wallTimeOf } from '../../../src/notifications/queue/timeline.js';
import { waitOf } from '../../../src/notifications/queue/wait-reason.js';
import { delivery, empty } from './queue-samples.js';

const open = { type: 'open', since: 1, until: 500, pause: 100 } as const;
const closed = { type: 'closed', failures: 0 } as const;
const idle = newQueue('nc-1', 'ws-1', 7);
const lease = { owner: 'engine', until: 90 };
const cancellation = { through: 5, at: 3, reason: 'configuration_disabled' } as const;

describe('a queue that nobody works on', () => {
  test('comes up for what arrives, when its breaker lets it', () => {
    expect(afterArrival(idle, 800).wakeAt).toBe(0);
    expect(afterArrival({ ...idle, breaker: open }, 800).wakeAt).toBe(500);
    expect(afterArrival({ ...idle, breaker: open, wakeAt: 900 }, 800).wakeAt).toBe(500);
    const early = { ...idle, wakeAt: 0 };
    expect(afterArrival(early, 800)).toBe(early);
    const leased = { ...idle, lease };
    expect(afterArrival(leased, 800)).toBe(leased);
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
  test('is found by its time, one that is worked on by the end of its lease', () => {
    const key = queues.indexes['by_wake']?.key;
    expect([key?.(idle), key?.({ ...idle, wakeAt: 8 }), key?.({ ...idle, wakeAt: 8, lease })]).toEqual([
      undefined,
      [8],
      [90],
    ]);
  });
  test.each([
    ['nothing left', { firstFresh: null, firstDue: null, firstStored: null }, closed, null],
    ['something new', { firstFresh: 3, firstDue: null, firstStored: null }, closed, 0],
    ['a retry', { firstFresh: null, firstDue: 70, firstStored: 1 }, closed, 70],
    ['both', { firstFresh: 3, firstDue: 70, firstStored: 1 }, closed, 0],
    ['something new and an open breaker', { firstFresh: 3, firstDue: null, firstStored: null }, open, 500],
    ['a late retry and an open breaker', { firstFresh: null, firstDue: 700, firstStored: 600 }, open, 700],
    ['something old and an open breaker', { firstFresh: null, firstDue: 60, firstStored: -800 }, open, 200],
    ['a redelivery and an open breaker', { firstFresh: null, firstDue: 0, firstStored: 1 }, open, 0],
  ])('with %s', (_what, remainder, breaker, expected) => {
    const time = { now: 100, wall: 100 };
    expect(wakeAtOf({ breaker, cancellation: null }, remainder, time, { maximumAge: 1000 })).toBe(expected);
    expect(wakeAtOf({ breaker, cancellation }, remainder, time, { maximumAge: 1000 })).toBe(0);
  });
  test('rests as long as the oldest is not over, also when the clock was set back by more than that', () => {
    const remainder = { firstFresh: -5000, firstDue: null, firstStored: null };
    const time = { now: 100, wall: -4990 };
    expect(wakeAtOf({ breaker: closed, cancellation: null, pausedAt: 1 }, remainder, time, { maximumAge: 1000 })).toBe(
      1090,
    );
  });
});

test('a row that somebody else has changed keeps what he wrote, and goes forward', () => {
  const queue = { ...empty(), breaker: open, failingSince: 2 };
  const change = { position: 9, touched: false, cancelled: false, backlog: 0 };
  expect(recordAfter(idle, queue, change)).toMatchObject({ position: 9, breaker: open, failingSince: 2 });
  expect(recordAfter(idle, queue, { ...change, position: 3, touched: true })).toEqual(idle);
  expect(recordAfter({ ...idle, cancellation }, queue, { ...change, cancelled: true }).cancellation).toBeNull();
});

describe('why a delivery waits', () => {
  const waiting = delivery(6, 'a');
  const retryAt = (dueAt: number) => delivery(6, 'a', { state: { type: 'waiting', dueAt, attempted: 2 } });
  const retry = retryAt(300);
  const held = { ...idle, lease: { owner: 'engine', until: 1000 } };
  const manual = delivery(6, 'a', {
    state: { type: 'manual', dueAt: 0, requestedAt: 1, before: { type: 'delivered', at: 1 } },
  });
  test.each([
    ['a retry', retry, held, 0, { reason: 'retry', until: 300 }],
    ['an open breaker', waiting, { ...held, breaker: open }, 0, { reason: 'breaker', until: 500 }],
    [
      'an earlier one of its run',
      delivery(6, 'a', { state: { type: 'behind' } }),
      held,
      0,
      { reason: 'order', until: null },
    ],
    ['its turn', waiting, held, 0, { reason: 'queue', until: null }],
    ['the rate', waiting, held, 1, { reason: 'rate', until: null }],
    ['an engine', waiting, idle, 0, { reason: 'engine', until: null }],
    ['the lease of one that is gone', waiting, { ...idle, lease }, 0, { reason: 'engine', until: 90 }],
    ['nothing: it is being cancelled', delivery(5, 'a'), { ...held, cancellation }, 0, null],
    ['nothing: it is over', delivery(6, 'a', { state: { type: 'delivered', at: 1 } }), held, 0, null],
  ])('for %s', (_what, given, queue, rate, expected) => {
    expect(waitOf(given, queue, { rate, heldUntil: null }, 100)).toEqual(expected);
  });
  test.each([
    ['what is due', waiting, held, { reason: 'rate', until: 700 }],
    ['one asked for by a person', manual, held, { reason: 'rate', until: 700 }],
    ['a retry before its end', retry, held, { reason: 'rate', until: 700 }],
    ['no engine: the hook is left alone by all', waiting, idle, { reason: 'rate', until: 700 }],
    ['a pause', waiting, { ...held, pausedAt: 1 }, { reason: 'paused', until: null }],
    [
      'a longer pause of the breaker',
      waiting,
      { ...held, breaker: { ...open, until: 900 } },
      { reason: 'breaker', until: 900 },
    ],
    ['a later retry', retryAt(800), held, { reason: 'retry', until: 800 }],
  ] as const)('for a hook that asked to be left alone: %s', (_what, given, queue, expected) => {
    expect(waitOf(given, queue, { rate: 1, heldUntil: 700 }, 100)).toEqual(expected);
    expect(waitOf(waiting, held, { rate: 1, heldUntil: 100 }, 100)).toEqual({ reason: 'rate', until: null });
  });
});

test('the queues keep a time that does not step', () => {
  const timeline = { timeline: 'boot', offset: 1_000_000 };
  expect(queueTime(timeline, 500)).toBe(1_000_500);
  // The wall clock has been set forward by an hour since.
  expect(wallTimeOf(1_000_700, { wall: 4_600_500, queue: 1_000_500 })).toBe(4_600_700);
});
