import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  nextReschedule,
  type Reschedulable,
  trackerAfterReschedule,
} from '../../../src/scheduler/reconcile/reschedule.js';
import { at, failed, policyOf } from './failures.js';

interface Past {
  readonly at: number;
  readonly delay: number;
}

/** Seconds of wait after a failure, told from all that was replaced before. */
function modelDelay({ delay, max, kind }: Model, past: readonly Past[], failedAt: number): number {
  const [before, last] = [past.at(-2), past.at(-1)];
  if (last === undefined || kind === 'constant') return delay;
  let wanted = delay;
  if (kind === 'exponential') wanted = 2 * last.delay;
  else if (before !== undefined && !(last.delay === delay && before.delay === max)) wanted = last.delay + before.delay;
  if (max === 0 || wanted <= max) return wanted;
  return failedAt - last.at > max ? delay : max;
}

interface Model {
  readonly kind: 'constant' | 'exponential' | 'fibonacci';
  readonly delay: number;
  readonly max: number;
  readonly attempts: number;
  readonly interval: number;
  readonly unlimited: boolean;
}

const model: fc.Arbitrary<Model> = fc.record({
  kind: fc.constantFrom('constant', 'exponential', 'fibonacci'),
  delay: fc.integer({ min: 1, max: 20 }),
  max: fc.constantFrom(0, 20, 40, 90),
  attempts: fc.constantFrom(0, 0, 1, 2, 3, 7),
  interval: fc.integer({ min: 20, max: 400 }),
  unlimited: fc.boolean(),
});

test('a row of failures is replaced as a model with its whole history replaces it', () => {
  fc.assert(
    fc.property(model, fc.array(fc.nat(120), { minLength: 1, maxLength: 15 }), (policy, runs) => {
      const stored = policyOf({
        delay: policy.delay,
        max: policy.max,
        interval: policy.interval,
        DelayFunction: policy.kind,
        Attempts: policy.attempts,
        Unlimited: policy.unlimited,
      });
      let now = 0;
      let past: readonly Past[] = [];
      let tracker: Reschedulable['RescheduleTracker'];
      for (const run of runs) {
        const failedAt = now + run;
        const delay = modelDelay(policy, past, failedAt);
        const recent = past.filter((one) => failedAt - one.at < policy.interval).length;
        const limited = policy.attempts > 0 && past.length > 0;
        const eligible = limited
          ? recent < policy.attempts && delay < policy.interval
          : policy.unlimited || policy.attempts > 0;
        const allocation = failed(failedAt, [], tracker === undefined ? {} : { RescheduleTracker: tracker });
        const next = nextReschedule(allocation, stored);
        expect(next?.eligible ?? false).toBe(eligible);
        if (!eligible) return;
        expect(next?.at).toBe(at(failedAt + delay));
        now = failedAt + delay;
        if (policy.attempts > 0) past = past.filter((one) => now - one.at <= policy.interval);
        past = [...past, { at: now, delay }];
        tracker = trackerAfterReschedule(allocation, stored, at(now));
      }
    }),
    { numRuns: 500 },
  );
});
