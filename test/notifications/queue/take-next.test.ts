import { describe, expect, test } from 'vitest';
import { isIdle, nextRead, wantsMore } from '../../../src/notifications/queue/held-queue.js';
import { takeNext } from '../../../src/notifications/queue/take-next.js';
import { apply, delivery, empty, ended, fresh, portion, queueOf, rules, startAll, written } from './queue-samples.js';

const open = { type: 'open', since: 0, until: 5000, pause: 1000 } as const;

describe('what comes next', () => {
  test('redeliveries, then what is due longest', () => {
    const manual = delivery(9, null, {
      state: { type: 'manual', dueAt: 0, requestedAt: 1, before: { type: 'delivered', at: 1 } },
    });
    const retry = delivery(2, null, { state: { type: 'waiting', dueAt: 5, attempted: 1 } });
    const queue = queueOf([fresh(4), fresh(6)], { rows: [retry, manual] });
    expect(startAll(queue).sequences).toEqual([9, 4, 2, 6]);
  });

  test('nothing but redeliveries while the breaker is open, then one at a time', () => {
    const queue = { ...queueOf([fresh(1), fresh(2)]), breaker: open };
    const shut = takeNext(queue, { now: 4999, wall: 4999 }, rules);
    expect(shut).toMatchObject({ candidate: null, until: 5000 });
    const half = startAll(queue, 5000);
    expect(half.sequences).toEqual([1]);
    expect(startAll(apply(half.queue, ended(1, null, 5000)), 5000).sequences).toEqual([2]);
    const again = apply(half.queue, ended(1, 'server_error', 5000));
    expect(again.breaker).toMatchObject({ type: 'open', since: 0, until: 7000 });
  });

  test('what is too old is over, also while the breaker is open', () => {
    const queue = { ...queueOf([fresh(1), fresh(500)]), breaker: { ...open, until: 200_000 } };
    const next = takeNext(queue, { now: 100_100, wall: 100_100 }, rules);
    expect(written(next.queue)).toEqual(['1 expired → dead']);
    expect(next.until).toBe(160_100);
  });

  test('a clock that was set forward makes nothing old', () => {
    const next = takeNext(queueOf([fresh(1)]), { now: 200_000, wall: 500 }, rules);
    expect(next.candidate?.delivery.sequence).toBe(1);
  });

  test('a wait never goes beyond the age', () => {
    const { queue } = startAll(queueOf([fresh(1)]), 99_990);
    const failed = apply(queue, ended(1, 'server_error', 99_990));
    expect(failed.outcomes[0]?.after.state).toMatchObject({ type: 'waiting', dueAt: 100_001 });
  });
});

describe('what is to be read', () => {
  test('more when little is left, and what comes due when there is room', () => {
    expect(wantsMore(empty(), 0, rules)).toBe(true);
    expect(wantsMore(queueOf([]), 0, rules)).toBe(false);
    expect(wantsMore(queueOf([fresh(1)], { complete: false }), 0, rules)).toBe(true);
    expect(wantsMore(queueOf([fresh(1), fresh(2)], { complete: false }), 0, rules)).toBe(false);
    const due = queueOf([], { nextDue: 70 });
    expect([wantsMore(due, 69, rules), wantsMore(due, 70, rules)]).toEqual([false, true]);
    const rows = [1, 2].map((n) => delivery(n, null, { state: { type: 'waiting', dueAt: 0, attempted: 1 } }));
    expect(nextRead(queueOf([], { nextDue: 70, rows }), rules)).toBeNull();
  });

  test('what arrives is added as long as there is room and its order is known', () => {
    const arrival = { type: 'arrived', fresh: [fresh(1001, 'a')], through: 2000 } as const;
    expect(apply(queueOf([]), arrival)).toMatchObject({ complete: true, readThrough: 2000 });
    expect(apply(queueOf([], { runsRead: 'partial' }), arrival)).toMatchObject({ complete: false, readThrough: 1000 });
    const many = { ...arrival, fresh: Array.from({ length: 9 }, (_none, n) => fresh(1001 + n)) };
    expect(apply(queueOf([]), many)).toMatchObject({ complete: false, readThrough: 1000, fresh: [] });
    expect(apply(queueOf([]), { ...arrival, through: 900 })).toMatchObject({ readThrough: 1000, fresh: [] });
  });
});

describe('a queue that was changed by somebody else', () => {
  test('is read again, without what is under way', () => {
    const { queue } = startAll(queueOf([fresh(1), fresh(2, 'a'), fresh(3, 'a')]));
    const touched = apply(queue, { type: 'touched', record: { ...recordOf(), position: 0 } });
    expect(touched).toMatchObject({ runsRead: 'unread', complete: false, readThrough: 0, fresh: [] });
    expect([...touched.unconfirmed].sort()).toEqual([1, 2]);
    const read = apply(touched, {
      type: 'filled',
      portion: portion({ fresh: [fresh(1), fresh(2, 'a'), fresh(3, 'a')] }),
    });
    expect(startAll(read).sequences).toEqual([]);
    expect(startAll(apply(read, ended(2))).queue.releases).toEqual(new Set(['a']));
  });

  test('is lost with its lease; only what is under way still comes in', () => {
    const { queue } = startAll(queueOf([fresh(1), fresh(2)]));
    const lost = apply(queue, { type: 'lost' });
    expect(lost.type).toBe('lost');
    const last = apply(lost, ended(1), ended(2));
    expect(written(last)).toEqual(['1 attempt_delivered → delivered', '2 attempt_delivered → delivered']);
    expect(isIdle(last)).toBe(false);
  });
});

describe('a queue whose configuration was disabled', () => {
  const cancellation = { through: 1000, at: 7, reason: 'configuration_disabled' } as const;
  test('cancels what is unfinished, and what is under way is attempted no more', () => {
    const { queue } = startAll(queueOf([fresh(1)]));
    const closing = apply(queue, { type: 'touched', record: { ...recordOf(), cancellation } });
    expect(closing.type).toBe('cancelling');
    const rows = [delivery(2, null, { state: { type: 'behind' } })];
    const found = apply(closing, { type: 'filled', portion: portion({ rows, fresh: [fresh(1), fresh(3)] }) });
    expect(written(found)).toEqual(['2 cancelled → cancelled', '3 cancelled → cancelled']);
    const last = apply(found, ended(1, 'server_error'), { type: 'filled', portion: portion() });
    expect(written(last).at(-1)).toBe('1 cancelled → cancelled');
    expect(last.outcomes.at(-1)?.after.attempts).toHaveLength(1);
    expect(last.complete).toBe(true);
  });
});

function recordOf() {
  const { configurationId, workspaceId, position, breaker, failingSince } = empty();
  return {
    configurationId,
    workspaceId,
    position,
    breaker,
    failingSince,
    wakeAt: null,
    lease: null,
    cancellation: null,
  };
}
