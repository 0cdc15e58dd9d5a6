import { describe, expect, test } from 'vitest';
import { type DeliveringQueue, positionAfter } from '../../../src/notifications/queue/held-queue.js';
import {
  apply,
  delivery,
  empty,
  ended,
  fresh,
  portion,
  queueOf,
  recorded,
  startAll,
  written,
} from './queue-samples.js';

describe('notifications of one run', () => {
  test('wait for the one under way, others do not', () => {
    const { queue, sequences } = startAll(queueOf([fresh(1, 'a'), fresh(2, 'a'), fresh(3, 'b'), fresh(4)]));
    expect(sequences).toEqual([1, 3, 4]);
    expect(startAll(apply(queue, ended(1))).sequences).toEqual([2]);
  });

  test('wait in the store while the first waits for another attempt', () => {
    const { queue } = startAll(queueOf([fresh(1, 'a'), fresh(2, 'a')]));
    const failed = apply(queue, ended(1, 'server_error'));
    expect(written(failed)).toEqual(['1 attempt_failed → waiting', '2 put_behind → behind']);
    const later = startAll(
      apply(failed, { type: 'arrived', fresh: [fresh(1001, 'a'), fresh(1002, 'b')], through: 1003 }),
    );
    expect(later.sequences).toEqual([1002]);
    expect(written(later.queue).at(-1)).toBe('1001 put_behind → behind');
  });

  test('go on with the next one in the store when the first is over', () => {
    const { queue } = startAll(queueOf([fresh(1, 'a'), fresh(2, 'a')]));
    const failed = apply(queue, ended(1, 'server_error'));
    const stored = apply(failed, recorded(failed));
    expect(stored.nextDue).toBe(1050);
    const retry = delivery(1, 'a', { state: { type: 'waiting', dueAt: 1050, attempted: 1 } });
    const again = startAll(apply(stored, { type: 'filled', portion: portion({ rows: [retry] }) }), 1050);
    expect(again.sequences).toEqual([1]);
    const done = apply(again.queue, ended(1, null, 1050));
    expect([...done.releases]).toEqual(['a']);
    const released = apply(done, recorded(done, new Map([['a', { sequence: 2, dueAt: 1050 }]])));
    expect(released.releases.size).toBe(0);
    expect(released.nextDue).toBe(1050);
    const next = delivery(2, 'a', { state: { type: 'waiting', dueAt: 1050, attempted: 0 } });
    expect(startAll(apply(released, { type: 'filled', portion: portion({ rows: [next] }) }), 1050).sequences).toEqual([
      2,
    ]);
  });

  test('go on when the next one was read after the write that released it, and before that was told', () => {
    const retry = delivery(1, 'a', { state: { type: 'waiting', dueAt: 900, attempted: 1 } });
    const { queue } = startAll(queueOf([], { rows: [retry], storedHeads: new Map([['a', 1]]) }));
    const done = apply(queue, ended(1));
    const next = delivery(2, 'a', { state: { type: 'waiting', dueAt: 1000, attempted: 0 } });
    const early = startAll(apply(done, { type: 'filled', portion: portion({ rows: [next] }) }));
    expect(early.sequences).toEqual([]);
    const released = apply(early.queue, recorded(done, new Map([['a', { sequence: 2, dueAt: 1000 }]])));
    expect(written(released)).toEqual([]);
    expect(released.nextDue).toBe(1000);
    expect(startAll(apply(released, { type: 'filled', portion: portion({ rows: [next] }) })).sequences).toEqual([2]);
  });

  test('are released by the next write when the rows behind were not written yet', () => {
    const { queue } = startAll(queueOf([fresh(1, 'a'), fresh(2, 'a')]));
    const failed = apply(queue, ended(1, 'server_error'));
    const first = { ...failed, releases: new Set(['a']) };
    const wrote = apply(first, {
      type: 'recorded',
      recorded: { count: 1, position: 0, released: new Map([['a', null]]) },
    });
    expect([...wrote.releases]).toEqual(['a']);
  });

  test('are released when the store has nothing before them any more, unless their head is under way', () => {
    const left = { storedHeads: new Map([['a', 7]]), unreleased: ['a'] };
    expect([...queueOf([], left).releases]).toEqual(['a']);
    const head = { delivery: delivery(5, 'a'), stored: true, event: null };
    const underWay = { ...empty(), running: empty().running.with(5, head) };
    expect(apply(underWay, { type: 'filled', portion: portion(left) }).releases.size).toBe(0);
  });

  test('of a store with too many runs to read are released in the same way', () => {
    const partial = { runsRead: 'partial' } as const;
    const left = portion({ ...partial, storedHeads: new Map([['a', 7]]), unreleased: ['a'] });
    const filled = (queue: DeliveringQueue) => apply(queue, { type: 'filled', portion: left }).releases;
    expect([...filled(queueOf([], partial))]).toEqual(['a']);
    expect(filled(startAll(queueOf([fresh(5, 'a')], partial)).queue).size).toBe(0);
  });

  test('a later one that is due first waits all the same', () => {
    const early = delivery(1, 'a', { state: { type: 'waiting', dueAt: 900, attempted: 3 } });
    const queue = queueOf([fresh(2, 'a')], { rows: [early], storedHeads: new Map([['a', 1]]) });
    expect(startAll(queue).sequences).toEqual([1]);
  });

  test('an earlier one that has no row yet goes before what the store has of its run', () => {
    // For example after a redelivery of the later one has failed.
    const { queue, sequences } = startAll(
      queueOf([fresh(3, 'a')], { rows: [delivery(7, 'a')], storedHeads: new Map([['a', 7]]) }),
    );
    expect(sequences).toEqual([3]);
    expect(written(queue)).toEqual(['7 put_behind → behind']);
  });

  test('too many behind one that is under way go to the store, and their head with them', () => {
    const many = Array.from({ length: 80 }, (_none, n) => fresh(n + 1, 'a'));
    const { queue, sequences } = startAll(queueOf(many));
    expect(sequences).toEqual([1]);
    expect(written(queue)[0]).toBe('1 under_way → waiting');
    expect(written(queue)).toHaveLength(80);
    expect(positionAfter(queue)).toBe(1000);
  });
});

describe('the position', () => {
  test('stands before the first delivery that has no row', () => {
    const { queue } = startAll(queueOf([fresh(1), fresh(2), fresh(3)]));
    expect(positionAfter(apply(queue, ended(3)))).toBe(0);
    expect(positionAfter(apply(queue, ended(1), ended(3)))).toBe(1);
    expect(positionAfter(apply(queue, ended(1), ended(2), ended(3)))).toBe(1000);
    expect(positionAfter(apply(queue, { type: 'attempts_take_long', sequences: [1, 2] }, ended(3)))).toBe(1000);
  });
});
