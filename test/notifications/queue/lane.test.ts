import { describe, expect, test } from 'vitest';
import type { Delivery } from '../../../src/notifications/delivery/delivery.js';
import { concludeAttempt, mergeOutcome, outcomeOf } from '../../../src/notifications/delivery/transition-delivery.js';
import {
  admits,
  afterReport,
  blockedUntil,
  endByAge,
  inOrderOfDue,
  newQueue,
  nextLimit,
  timeLeft,
} from '../../../src/notifications/queue/queue-record.js';
import { initialLimit } from '../../../src/queue/limits.js';
import { claimed, freed } from '../../../src/queue/process.js';
import { delivery, report } from './delivery-samples.js';

const rules = {
  maximumAge: 100_000,
  breaker: { failures: 3, pause: 1000, maximumPause: 4000 },
  limit: { initial: 4, maximum: 8 },
  retry: { generic: [50, 100, 200], chat: [], email: [] },
  jitter: 0,
  maximumRetryAfter: 10_000,
};
const open = { type: 'open', since: 0, until: 5000, pause: 1000 } as const;
const queue = newQueue('nc-1', 'ws-1');
const waiting = (sequence: number, dueAt: number, attempted = 1) =>
  delivery(sequence, null, { state: { type: 'waiting', dueAt, attempted } });

test('what comes next is what is due longest: first attempts since they were accepted', () => {
  const order = inOrderOfDue([delivery(4, null), delivery(6, null)], [waiting(2, 5), waiting(1, 9)]);
  expect(order.map(({ sequence }) => sequence)).toEqual([4, 2, 6, 1]);
});

test.each([
  ['a working destination', {}, 0, 'all'],
  ['an open breaker', { breaker: open }, 4999, 'none'],
  ['one that is to be tried', { breaker: open }, 5000, 'one'],
  ['a pause', { pausedAt: 1 }, 0, 'none'],
  ['a pause and a breaker that could be tried', { pausedAt: 1, breaker: open }, 6000, 'none'],
])('%s', (_what, given, now, expected) => {
  expect(admits({ ...queue, ...given }, now)).toBe(expected);
});

describe('age', () => {
  test('a clock that was set forward makes nothing old, one that was set back lets it last', () => {
    expect(timeLeft(1, { now: 500, wall: 200_000 }, rules)).toBe(99_501);
    expect(endByAge(1, { now: 500, wall: 200_000 }, rules)).toBe(100_001);
    expect(endByAge(1, { now: 500, wall: -4990 }, rules)).toBe(105_491);
  });
  test.each([
    ['nothing waits', open, null, 5000],
    ['what waits is young', open, 0, 5000],
    ['the oldest is over before the trial', { ...open, until: 500_000 }, 0, 100_000],
    ['the oldest is over and under way', { ...open, until: 500_000 }, -100_000, 61_000],
  ])('of a queue that nothing is sent of: %s', (_what, breaker, oldest, expected) => {
    expect(blockedUntil({ ...queue, breaker }, oldest, { now: 1000, wall: 1000 }, rules)).toBe(expected);
  });
  test('a wait never goes beyond the age', () => {
    const end = { at: 99_990, wall: 99_990, fraction: 0.5, timeLeft: 11 };
    const { after } = concludeAttempt(delivery(1, null), report('server_error'), rules, end);
    expect(after.state).toMatchObject({ type: 'waiting', dueAt: 100_001 });
  });
});

describe('an attempt says about the destination', () => {
  const told = (failure: Parameters<typeof report>[0], given = {}, sent = delivery(1, null)) =>
    afterReport({ ...queue, ...given }, { delivery: sent, report: report(failure), at: 5000 }, rules);
  const failing = { breaker: { type: 'closed', failures: 2 } as const, failingSince: 7 };
  test.each([
    ['that it works', null, failing, { breaker: { type: 'closed', failures: 0 }, failingSince: null }],
    ['that it fails', 'server_error', {}, { breaker: { type: 'closed', failures: 1 }, failingSince: 5000 }],
    ['that it keeps failing', 'server_error', failing, { breaker: { type: 'open', until: 6000 }, failingSince: 7 }],
    ['that the trial failed', 'server_error', { breaker: open }, { breaker: { since: 0, until: 7000 } }],
    ['nothing, when it is our proxy', 'proxy_failed', failing, { ...failing, hindered: { since: 5000 } }],
    ['nothing, when it was aborted', 'aborted', failing, failing],
    ['nothing about a mail server that refuses an address', 'mail_rejected', failing, { breaker: failing.breaker }],
  ] as const)('%s', (_what, failure, given, expected) => {
    expect(told(failure, given)).toMatchObject(expected);
  });
  test('nothing, when a person asked for it in vain', () => {
    const state = { type: 'manual', dueAt: 0, requestedAt: 1, before: { type: 'delivered', at: 1 } } as const;
    expect(told('server_error', failing, delivery(1, null, { state }))).toMatchObject(failing);
  });
  test.each([
    ['rate_limited', 429, true],
    ['server_error', 503, true],
    ['server_error', 500, false],
    ['total_timeout', null, true],
    ['client_error', 404, false],
  ] as const)('%s %s: too much at once: %s', (failure, status, expected) => {
    const limit = initialLimit(rules.limit);
    const next = nextLimit(limit, report(failure, status), { full: true, at: 1000 }, rules);
    expect(next.limit < limit.limit).toBe(expected);
  });
});

describe('the row after an outcome', () => {
  const begun = claimed(delivery(1, 'a'), 'p1');
  const end = { at: 1000, wall: 1000, fraction: 0.5, timeLeft: 50_000 };
  const failed = concludeAttempt(begun, report('server_error'), rules, end);
  const delivered = concludeAttempt(begun, report(), rules, end);
  const before = { type: 'waiting', dueAt: 1, attempted: 0 } as const;
  const asked: Delivery = { ...begun, state: { type: 'manual', dueAt: 0, requestedAt: 9, before } };
  const taken = claimed(freed(begun), 'p2');
  test('is free, with the attempt in its log', () => {
    expect(mergeOutcome(begun, failed, true)).toMatchObject({ state: { type: 'waiting', dueAt: 1050, attempted: 1 } });
    expect(mergeOutcome(begun, failed, true).holder).toBeUndefined();
    expect(mergeOutcome(begun, failed, true).attempts).toHaveLength(1);
  });
  test('keeps a redelivery that was requested meanwhile, and the outcome behind it', () => {
    expect(mergeOutcome(asked, failed, true)).toMatchObject({
      state: { type: 'manual', before: { type: 'waiting', attempted: 1 } },
    });
    expect(mergeOutcome(asked, delivered, true).state.type).toBe('delivered');
  });
  test('that another process has taken keeps its holder and its state, but what was delivered is delivered', () => {
    expect(mergeOutcome(taken, failed, false)).toMatchObject({ holder: 'p2', starts: 2, state: begun.state });
    expect(mergeOutcome(taken, failed, false).attempts).toHaveLength(1);
    expect(mergeOutcome(taken, delivered, false)).toMatchObject({ holder: 'p2', state: { type: 'delivered' } });
  });
  test('keeps nothing of the answer when the content was erased meanwhile', () => {
    const state = { type: 'cancelled', at: 9, reason: 'content_erased' } as const;
    const merged = mergeOutcome({ ...begun, state, erased: true }, failed, true);
    expect(merged).toMatchObject({ state, attempts: [{ body: '', headers: {} }] });
    expect(merged.body).toBeUndefined();
  });
  test('a delivery that was not attempted changes its state alone', () => {
    const { after } = outcomeOf(delivery(1, null), { type: 'cancelled', at: 5, reason: 'no_recipients' });
    expect(after).toEqual({ ...delivery(1, null), state: { type: 'cancelled', at: 5, reason: 'no_recipients' } });
  });
});
