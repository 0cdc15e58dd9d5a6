import { durationTextFromNanos } from '../../shared/duration.js';
import { type Nanoseconds, secondNanos } from '../document/document-values.js';
import { rescheduleBlock } from '../document/fields/policy-fields.js';
import type { ReschedulePolicy } from '../document/policies.js';
import { choiceProblem } from './problem-texts.js';
import { type Report, reportIf } from './problems.js';

export function validateReschedule(policy: ReschedulePolicy, jobType: string, report: Report): void {
  if (jobType === 'system' || jobType === 'sysbatch') {
    report(`a ${jobType} job is never rescheduled`);
    return;
  }
  if (policy.Attempts <= 0 && !policy.Unlimited) return;
  if (policy.Attempts > 0) {
    if (policy.Interval <= 0) report('limited attempts need an interval');
    if (policy.Unlimited) {
      report(`${policy.Attempts} attempts and unlimited = true contradict each other`);
      report('attempts above 0 need unlimited = false');
    }
  }
  const isPlausible = validateDelays(policy, report);
  if (policy.Unlimited) return;
  if (policy.Interval < 15 * secondNanos) report('interval must be at least 15 seconds');
  if (isPlausible) validateInterval(policy, report);
}

/** Whether the delays are valid, so that they can be compared with the interval. */
function validateDelays(policy: ReschedulePolicy, report: Report): boolean {
  let isPlausible = true;
  const problem: Report = (text) => {
    isPlausible = false;
    report(text);
  };
  if (policy.Delay < 5 * secondNanos) problem('delay must be at least 5 seconds');
  reportIf(problem, choiceProblem('delay_function', rescheduleBlock.fields.DelayFunction, policy.DelayFunction));
  if (policy.DelayFunction !== 'constant') {
    if (policy.MaxDelay < 5 * secondNanos) problem('max_delay must be at least 5 seconds');
    if (policy.MaxDelay < policy.Delay) problem('max_delay must not be shorter than delay');
  }
  return isPlausible;
}

function validateInterval(policy: ReschedulePolicy, report: Report): void {
  const needed = neededInterval(policy);
  // An interval that ends with the last doubled delay no longer counts that attempt.
  const fits = policy.DelayFunction === 'exponential' ? needed < policy.Interval : needed <= policy.Interval;
  if (fits) return;
  report(`${policy.Attempts} attempts do not fit in the interval ${durationTextFromNanos(policy.Interval)}`);
  report(`an interval of at least ${durationTextFromNanos(needed)} is required for ${policy.Attempts} attempts`);
}

/** The shortest interval in which all attempts can happen: up to the last delay, and longer where delays reached their maximum. */
function neededInterval(policy: ReschedulePolicy): Nanoseconds {
  switch (policy.DelayFunction) {
    case 'exponential':
      return doubled(policy);
    case 'fibonacci':
      return summed(policy);
    default:
      return policy.Attempts * policy.Delay;
  }
}

/** The last delay that is below the maximum, plus the maximum for every attempt after it. */
function doubled({ Attempts, Delay, MaxDelay }: ReschedulePolicy): Nanoseconds {
  let last = 0;
  for (let attempt = 0; attempt < Attempts; attempt++) {
    const delay = Delay * 2 ** attempt;
    if (delay > MaxDelay) return last + (Attempts - attempt) * MaxDelay;
    last = delay;
  }
  return last;
}

/** Each delay is the sum of the two before it. The first that would exceed the maximum is the maximum; from then on it is added. */
function summed({ Attempts, Delay, MaxDelay }: ReschedulePolicy): Nanoseconds {
  let [before, last] = [Delay, Delay];
  for (let attempt = 2; attempt < Attempts; attempt++) {
    const next = last + before;
    if (next > MaxDelay) return MaxDelay * (Attempts - attempt);
    [before, last] = [last, next];
  }
  return last;
}
