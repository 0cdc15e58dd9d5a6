import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  afterError,
  afterWait,
  type ErrorGroup,
  lateness,
  messageOf,
  type ReportedRun,
  waitsSince,
  waitText,
} from '../../src/functions/reports.js';
import type { StoredRun } from '../../src/functions/run.js';
import { day, hour, minute } from '../../src/shared/duration.js';

const run = (number: number, more: Partial<ReportedRun> = {}): ReportedRun => ({
  function: 'work',
  number,
  state: 'failed',
  attempt: 5,
  enqueuedAt: 0,
  error: { name: 'Error', message: 'no answer', stack: '' },
  ...more,
});

/** What is sent of errors at these times, and of waits that are looked at every minute until an hour after the last one. */
function sentOf(times: readonly number[]): { readonly at: number; readonly number: number; readonly others: number }[] {
  const sent: { at: number; number: number; others: number }[] = [];
  let group: ErrorGroup | undefined;
  const note = (at: number, step: ReturnType<typeof afterError>): void => {
    group = step.group;
    if (step.sends !== undefined) sent.push({ at, number: step.sends.run.number, others: step.sends.others });
  };
  let looked = 0;
  const look = (until: number): void => {
    for (; looked <= until; looked += minute) if (group !== undefined) note(looked, afterWait(group, looked));
  };
  for (const [number, at] of times.entries()) {
    look(at - 1);
    note(at, afterError(group, run(number), at));
  }
  look((times.at(-1) ?? 0) + hour);
  return sent;
}

describe('events of errors', () => {
  const many = (count: number, every: number, from = 0) => Array.from({ length: count }, (_, at) => from + at * every);

  test.each([
    ['one', [0], [[0, 0, 0]]],
    ['ten at once, each on its own', many(10, 0), many(10, 1).map((at) => [0, at, 0])],
    ['the eleventh, after five minutes', many(11, 0), [...many(10, 1).map((at) => [0, at, 0]), [5 * minute, 10, 0]]],
    [
      'a thousand at once: the others are counted in the next one',
      many(1000, 0),
      [...many(10, 1).map((at) => [0, at, 0]), [5 * minute, 999, 989]],
    ],
    [
      'two storms with a quiet time between them: the first ten of each',
      [...many(11, 0), ...many(11, 0, hour)],
      [
        ...many(10, 1).map((at) => [0, at, 0]),
        [5 * minute, 10, 0],
        ...many(10, 1).map((at) => [hour, 11 + at, 0]),
        [hour + 5 * minute, 21, 0],
      ],
    ],
    ['one every six minutes, each on its own', many(30, 6 * minute), many(30, 1).map((at) => [at * 6 * minute, at, 0])],
  ])('%s', (_name, times, expected) => {
    expect(sentOf(times).map(({ at, number, others }) => [at, number, others])).toEqual(expected);
  });

  test('of a lasting fault are one every five minutes', () => {
    const sent = sentOf(many(day / minute, minute));
    expect(sent.length).toBeLessThan(10 + day / (5 * minute) + 2);
  });

  test('are each sent or counted once, and never more than ten and one every five minutes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20 * minute), { maxLength: 300 }), (steps) => {
        let at = 0;
        const times = steps.map((step) => {
          at += step > 10 * minute ? step : step % 100;
          return at;
        });
        const sent = sentOf(times);
        expect(sent.reduce((sum, { others }) => sum + others + 1, 0)).toBe(times.length);
        for (const { at: from } of sent) {
          const within = sent.filter((one) => one.at >= from && one.at < from + 5 * minute);
          expect(within.length).toBeLessThanOrEqual(11);
        }
      }),
    );
  });

  test('are not held back by a clock that was set back', () => {
    const group: ErrorGroup = { sent: 10, sentAt: hour, held: 3, last: run(1) };
    expect(afterError(group, run(2), minute).sends).toMatchObject({ others: 3 });
  });
});

describe('a late function', () => {
  test.each([
    ['nothing waits', undefined, undefined, undefined],
    ['less than ten minutes', undefined, hour - 10 * minute + 1, undefined],
    ['ten minutes', undefined, hour - 10 * minute, 'begins'],
    ['still late', 0, hour - 20 * minute, undefined],
    ['around the bound it is one time', 0, hour - 9 * minute, undefined],
    ['no longer', 0, hour - 5 * minute + 1, 'ends'],
    ['nothing waits any more', 0, undefined, 'ends'],
  ] as const)('%s', (_name, lateSince, since, expected) => {
    expect(lateness(lateSince === undefined ? {} : { lateSince }, since, hour)).toBe(expected);
  });

  test('a run that was given back waits since its last start', () => {
    const stored = { dueAt: 5, startedAt: null } as StoredRun;
    expect(waitsSince(stored)).toBe(5);
    expect(waitsSince({ ...stored, startedAt: 9 })).toBe(9);
  });

  test.each([
    [10 * minute, '10 minutes'],
    [119.9 * minute, '119 minutes'],
    [2 * hour, '2 hours'],
  ])('%d ms are %s', (wait, expected) => {
    expect(waitText(wait)).toBe(expected);
  });
});

describe('the message of a run', () => {
  const error = (message: string) => ({ error: { name: 'TypeError', message, stack: '' } });
  test.each([
    ['before its first attempt', run(1, { state: 'queued', attempt: 0 }), 0, 'work'],
    ['an earlier error of a run that goes on', run(1, { state: 'running', attempt: 2 }), 0, 'work, attempt 2'],
    ['an earlier error of a run that succeeded', run(1, { state: 'succeeded', attempt: 2 }), 0, 'work, attempt 2'],
    ['the first line', run(1, error('\nno answer\nat line 3')), 0, 'work, attempt 5: no answer'],
    ['an error without a message', run(1, error(' ')), 0, 'work, attempt 5: TypeError'],
    ['one other', run(1), 1, 'work, attempt 5: no answer (and 1 other since the last notification)'],
    ['others', run(1), 89, 'work, attempt 5: no answer (and 89 others since the last notification)'],
  ])('%s', (_name, of, others, expected) => {
    expect(messageOf(of, others)).toBe(expected);
  });
});
