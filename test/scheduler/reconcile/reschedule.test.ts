import { describe, expect, it } from 'vitest';
import type { ReschedulePolicy } from '../../../src/jobs/document/policies.js';
import { noTransition, type TaskState } from '../../../src/scheduler/allocation.js';
import {
  failureTime,
  hasAttemptsLeft,
  nextDelay,
  nextReschedule,
  type Reschedulable,
  trackerAfterReschedule,
} from '../../../src/scheduler/reconcile/reschedule.js';
import { isoFromInstant, unixNanosFromInstant } from '../../../src/shared/instant.js';
import { at, failed, policyOf, second, start } from './failures.js';

describe('the delay before a replacement', () => {
  const fibonacci = policyOf({ delay: 5, max: 60, DelayFunction: 'fibonacci' });
  const exponential = policyOf({ delay: 5, max: 60, DelayFunction: 'exponential' });

  it.each<[string, ReschedulePolicy, [number, number][], number, number]>([
    ['the first', exponential, [], 100, 5],
    ['a constant one', policyOf({ delay: 5 }), [[0, 5]], 100, 5],
    ['a constant one above the ceiling', policyOf({ delay: 70, max: 60 }), [[0, 70]], 100, 70],
    ['an unknown function', policyOf({ delay: 5, max: 3, DelayFunction: 'x' }), [[0, 9]], 100, 5],
    ['twice the last one', exponential, [[0, 10]], 20, 20],
    [
      'that reaches the ceiling exactly',
      policyOf({ delay: 15, max: 60, DelayFunction: 'exponential' }),
      [[0, 30]],
      500,
      60,
    ],
    ['beyond the ceiling', exponential, [[0, 40]], 60, 60],
    ['beyond the ceiling after a run as long as that', exponential, [[0, 40]], 60, 60],
    ['beyond the ceiling after a longer run', exponential, [[0, 40]], 61, 5],
    ['without a ceiling', policyOf({ delay: 5, DelayFunction: 'exponential' }), [[0, 400]], 9000, 800],
    ['the second of a sum', fibonacci, [[0, 5]], 20, 5],
    [
      'the sum of two',
      fibonacci,
      [
        [0, 5],
        [5, 10],
      ],
      20,
      15,
    ],
    [
      'the first after the ceiling was left',
      fibonacci,
      [
        [0, 60],
        [90, 5],
      ],
      100,
      5,
    ],
    [
      'the sum after the base delay, but not after the ceiling',
      fibonacci,
      [
        [0, 55],
        [90, 5],
      ],
      100,
      60,
    ],
    [
      'a sum beyond the ceiling',
      fibonacci,
      [
        [0, 35],
        [40, 40],
      ],
      60,
      60,
    ],
  ])('%s', (_what, policy, past, finishedAt, seconds) => {
    expect(nextDelay(failed(finishedAt, past), policy)).toBe(seconds * second);
  });
});

describe('whether a replacement is due, and when', () => {
  const twice = policyOf({ Attempts: 2, Unlimited: false, interval: 100, delay: 10 });
  const dueAt = (allocation: Reschedulable, policy: ReschedulePolicy | null): number | undefined => {
    const next = nextReschedule(allocation, policy);
    return next?.eligible === true ? (next.at - start) / 1000 : undefined;
  };

  it.each<[string, Reschedulable, ReschedulePolicy | null, number | undefined]>([
    ['without a policy', failed(7), null, undefined],
    ['with no attempts', failed(7), policyOf({ Unlimited: false, delay: 5 }), undefined],
    [
      'unlimited',
      failed(7, [
        [1, 5],
        [2, 5],
        [3, 5],
      ]),
      policyOf({ delay: 5 }),
      12,
    ],
    ['the first of limited ones', failed(7), twice, 17],
    ['the last of limited ones', failed(7, [[1, 10]]), twice, 17],
    [
      'none left',
      failed(7, [
        [1, 10],
        [2, 10],
      ]),
      twice,
      undefined,
    ],
    [
      'one that lies as far back as the interval',
      failed(101, [
        [1, 10],
        [2, 10],
      ]),
      twice,
      111,
    ],
    [
      'one that lies less far back',
      failed(100.999, [
        [1, 10],
        [2, 10],
      ]),
      twice,
      undefined,
    ],
    [
      'a delay as long as the interval',
      failed(7, [[1, 1]]),
      policyOf({ Attempts: 9, Unlimited: false, interval: 10, delay: 10 }),
      undefined,
    ],
    [
      'the first delay as long as the interval',
      failed(7),
      policyOf({ Attempts: 9, Unlimited: false, interval: 10, delay: 10 }),
      17,
    ],
    ['a lost one', failed(7, [], { ClientStatus: 'lost' }), twice, 17],
    ['one that completed', failed(7, [], { ClientStatus: 'complete' }), twice, undefined],
    ['one that runs', failed(7, [], { ClientStatus: 'running' }), twice, undefined],
    ['one that was stopped', failed(7, [], { DesiredStatus: 'stop' }), twice, undefined],
    [
      'a stopped one that was not placed again',
      failed(7, [], { DesiredStatus: 'stop', RescheduleTracker: { Events: [], LastReschedule: 'no placement' } }),
      twice,
      17,
    ],
    [
      'a batch one that runs and is to be replaced',
      failed(7, [], {
        JobType: 'batch',
        ClientStatus: 'running',
        DesiredStatus: 'stop',
        DesiredTransition: { ...noTransition, Reschedule: true },
      }),
      twice,
      17,
    ],
    [
      'a service that runs and is to be replaced',
      failed(7, [], { ClientStatus: 'running', DesiredTransition: { ...noTransition, Reschedule: true } }),
      twice,
      undefined,
    ],
  ])('%s', (_what, allocation, policy, seconds) => {
    expect(dueAt(allocation, policy)).toBe(seconds);
  });

  it('is reckoned from the last end of a task, else from the last change', () => {
    const ended = (seconds: number | null) =>
      ({ State: 'dead', FinishedAt: seconds === null ? null : isoFromInstant(at(seconds)) }) as TaskState;
    const ModifyTime = unixNanosFromInstant(at(99));
    expect(failureTime({ ModifyTime, TaskStates: { a: ended(3), b: ended(8), c: ended(null), d: ended(5) } })).toBe(
      at(8),
    );
    expect(failureTime({ ModifyTime, TaskStates: { c: ended(null) } })).toBe(at(99));
    expect(failureTime({ ModifyTime })).toBe(at(99));
  });

  it('has attempts left by their number alone', () => {
    const long = policyOf({ Attempts: 1, Unlimited: false, interval: 10, delay: 10 });
    expect(hasAttemptsLeft(failed(0), long, at(0))).toBe(true);
    expect(hasAttemptsLeft(failed(0, [[1, 1]]), long, at(11))).toBe(true);
    expect(hasAttemptsLeft(failed(0, [[1, 1]]), long, at(10.999))).toBe(false);
    expect(hasAttemptsLeft(failed(0, [[1, 1]]), { ...long, Unlimited: true }, at(2))).toBe(true);
    expect(hasAttemptsLeft(failed(0), { ...long, Attempts: 0 }, at(0))).toBe(false);
    expect(hasAttemptsLeft(failed(0), null, at(0))).toBe(false);
  });
});

describe('what a replacement remembers', () => {
  const past = [0, 10, 20, 30, 40, 50, 60].map((seconds) => [seconds, 5] as const);
  const kept = (policy: ReschedulePolicy | null) =>
    trackerAfterReschedule(failed(65, past), policy, at(70)).Events?.map(
      ({ RescheduleTime }) => (RescheduleTime - unixNanosFromInstant(start)) / second,
    );

  it('is the last five without a limit, and those within the interval with one', () => {
    expect(kept(policyOf({ delay: 5 }))).toEqual([20, 30, 40, 50, 60, 70]);
    expect(kept(policyOf({ Attempts: 9, delay: 5, interval: 30 }))).toEqual([40, 50, 60, 70]);
    expect(kept(null)).toEqual([20, 30, 40, 50, 60, 70]);
  });

  it('is where its predecessor was, and how long it waited', () => {
    const tracker = trackerAfterReschedule(failed(65, [[60, 5]]), policyOf({ delay: 9 }), at(70));
    expect(tracker).toMatchObject({ LastReschedule: 'ok', Events: [{}, { PrevAllocID: 'a', PrevNodeID: 'n' }] });
    expect(tracker.Events?.at(-1)?.Delay).toBe(9 * second);
  });
});
