import { describe, expect, it } from 'vitest';
import {
  type CheckState,
  checkStateAfter,
  type HealthEvidence,
  healthVerdict,
  initialCheckState,
  restartIsDue,
  strikesAfter,
  uncheckedState,
} from '../../../src/agent/checks/check-state.js';
import type { UpdateStrategy } from '../../../src/jobs/document/policies.js';

const second = 1_000_000_000;
const update = { MinHealthyTime: 10 * second, HealthyDeadline: 60 * second } as UpdateStrategy;
const good = { passed: true, output: 'ok', statusCode: 200 };
const bad = { passed: false, output: 'no', statusCode: 500 };

function stateAfter(looks: string, thresholds = { SuccessBeforePassing: 0, FailuresBeforeCritical: 0 }): CheckState {
  return [...looks].reduce(
    (state, look, at) => checkStateAfter(state, look === '+' ? good : bad, thresholds, at as never),
    uncheckedState,
  );
}

describe('a check', () => {
  it.each([
    ['', 'pending'],
    ['warning', 'pending'],
    ['passing', 'success'],
    ['critical', 'failure'],
  ])('with the initial status %j is %s before the first look', (InitialStatus, status) => {
    expect(initialCheckState({ InitialStatus }).status).toBe(status);
  });

  it.each([
    ['', 'pending'],
    ['+', 'success'],
    ['-', 'failure'],
    ['+-', 'failure'],
    ['-+', 'success'],
  ])('after %j is %s', (looks, status) => expect(stateAfter(looks).status).toBe(status));

  it.each([
    ['+', 'pending'],
    ['++', 'success'],
    ['++--', 'success'],
    ['++---', 'failure'],
    ['++---+', 'failure'],
    ['++---++', 'success'],
  ])('with thresholds, after %j is %s', (looks, status) =>
    expect(stateAfter(looks, { SuccessBeforePassing: 2, FailuresBeforeCritical: 2 }).status).toBe(status),
  );

  it('asks for a restart after so many failures in a row, and not in its grace', () => {
    const rule = { CheckRestart: { Limit: 2, Grace: 5 * second, IgnoreWarnings: false } };
    const strikes = (looks: string, firstAt: number) =>
      [...looks].reduce(
        (before, look, at) => strikesAfter(before, look === '+' ? good : bad, rule, firstAt + at * 1000),
        0,
      );
    expect(strikes('-', 60_000)).toBe(1);
    expect(strikes('--+-', 60_000)).toBe(1);
    expect(strikes('---', 3999)).toBe(1);
    expect(strikes('---', 3000)).toBe(1);
    expect(strikesAfter(4, bad, { CheckRestart: null }, 0)).toBe(5);
    expect([0, 1, 2, 3].map((count) => restartIsDue(rule, count))).toEqual([false, false, true, true]);
    expect(restartIsDue({ CheckRestart: { ...rule.CheckRestart, Limit: 0 } }, 5)).toBe(false);
    expect(restartIsDue({ CheckRestart: null }, 5)).toBe(false);
  });
});

describe('health by checks', () => {
  const verdict = (change: Partial<HealthEvidence>) =>
    healthVerdict(update, { tasks: 'up', checks: ['success'], wellSince: 5000, createdAt: 0, now: 5000, ...change });

  it.each([
    ['while it is new', {}, { healthy: undefined, next: 15_000 }],
    ['after the least time', { now: 15_000 }, { healthy: true, next: undefined }],
    ['while something is not well', { wellSince: undefined }, { healthy: undefined, next: 60_000 }],
    ['at its deadline', { wellSince: undefined, now: 60_000 }, { healthy: false, next: undefined }],
    ['well too late', { wellSince: 55_000, now: 60_000 }, { healthy: false, next: undefined }],
    ['with a task that has failed', { tasks: 'failed', now: 15_000 }, { healthy: false, next: undefined }],
  ] as const)('%s', (_name, change, expected) => expect(verdict(change)).toEqual(expected));
});
