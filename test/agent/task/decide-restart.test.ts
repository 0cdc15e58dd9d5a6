import { describe, expect, it } from 'vitest';
import { decideRestart, type RestartCount, type TaskExit } from '../../../src/agent/task/decide-restart.js';
import type { RestartPolicy } from '../../../src/jobs/document/policies.js';

const second = 1e9;
const policy = (change: Partial<RestartPolicy> = {}): RestartPolicy => ({
  Attempts: 2,
  Interval: 60 * second,
  Delay: 5 * second,
  Mode: 'fail',
  RenderTemplates: false,
  ...change,
});
const exit = (code: number): TaskExit => ({ type: 'exited', code, signal: 0 });
const fault = (recoverable: boolean): TaskExit => ({ type: 'start_failed', message: 'no', recoverable });
const none: RestartCount = { intervalStart: 0, count: 0 };

const decide = (
  given: Partial<RestartPolicy>,
  again: boolean,
  end: TaskExit,
  counted = none,
  now = 1000,
  asFailure = false,
) => decideRestart(policy(given), { exit: end, restartsOnSuccess: again, asFailure }, counted, { now, fraction: 0.5 });

describe('the restart policy', () => {
  it.each([
    ['a success of a task that may end', {}, false, exit(0), none, 'succeeded'],
    ['a success of a task that is not supposed to end', {}, true, exit(0), none, 'restart'],
    ['a failure within the policy', {}, false, exit(1), none, 'restart'],
    ['an end by a signal', {}, false, { type: 'exited', code: 0, signal: 9 }, none, 'restart'],
    ['one failure too many', {}, false, exit(1), { intervalStart: 0, count: 2 }, 'failed'],
    ['one failure too many, waiting', { Mode: 'delay' }, false, exit(1), { intervalStart: 0, count: 2 }, 'restart'],
    ['a start that may succeed later', {}, false, fault(true), none, 'restart'],
    ['a start that cannot succeed', {}, false, fault(false), none, 'failed'],
    ['no attempts, a success', { Attempts: 0 }, false, exit(0), none, 'succeeded'],
    ['no attempts, a success of a service', { Attempts: 0 }, true, exit(0), none, 'failed'],
    ['no attempts, a failure', { Attempts: 0 }, false, exit(1), none, 'failed'],
  ] satisfies [string, Partial<RestartPolicy>, boolean, TaskExit, RestartCount, string][])(
    '%s',
    (_name, given, again, end, counted, verdict) => {
      expect(decide(given, again, end, counted).type).toBe(verdict);
    },
  );

  it('waits the delay and a random quarter of it', () => {
    expect(decide({}, false, exit(1))).toMatchObject({ after: 5000 * (1 + 0.5 * 0.25) });
  });

  it('counts every end, and anew in a new interval, which begins strictly after the old one', () => {
    expect(decide({}, false, exit(0)).next).toEqual({ intervalStart: 0, count: 1 });
    expect(decide({}, false, exit(1), { intervalStart: 0, count: 2 }, 60_000).type).toBe('failed');
    expect(decide({}, false, exit(1), { intervalStart: 0, count: 2 }, 60_001)).toMatchObject({
      type: 'restart',
      next: { intervalStart: 60_001, count: 1 },
    });
  });

  it('waits for the end of the interval where the mode is not fail', () => {
    const verdict = decide({ Mode: 'delay' }, false, exit(1), { intervalStart: 0, count: 2 }, 20_000);
    expect(verdict).toMatchObject({ type: 'restart', after: 40_000 });
  });

  it('counts an end brought about for bad health as a failure', () => {
    expect(decide({}, false, exit(0), none, 1000, true).type).toBe('restart');
    expect(decide({ Attempts: 0 }, false, exit(0), none, 1000, true).type).toBe('failed');
  });

  it('says what clients show', () => {
    const beyond = decide({ Interval: 90_061_005_000_000 }, false, exit(1), { intervalStart: 0, count: 2 });
    expect(beyond.reason).toBe('Exceeded allowed attempts 2 in interval 25h1m1.005s and mode is "fail"');
  });
});
