import { durationTextFromNanos } from '../../shared/duration.js';
import { regularExpression } from '../../shared/regular-expression.js';
import { quoted } from '../../shared/values.js';
import { parseVersionConstraint } from '../../versions/version-constraint.js';
import { type Nanoseconds, secondNanos } from '../document/document-values.js';
import type { Affinity, Constraint, Spread } from '../document/placement.js';
import {
  type DisconnectStrategy,
  disconnectBlock,
  type MigrateStrategy,
  migrateBlock,
  type ReschedulePolicy,
  type RestartPolicy,
  rescheduleBlock,
  restartBlock,
  type ScalingPolicy,
  type UpdateStrategy,
  updateBlock,
} from '../document/policies.js';
import { choiceProblem, type Report, reportIf } from './problems.js';

/** A report for one element of a list. */
type At = (place: string) => Report;

const comparisons = new Set(['=', '==', 'is', '!=', 'not', '<', '<=', '>', '>=']);
const sets = new Set(['set_contains', 'set_contains_all', 'set_contains_any']);

/** `where` is the level: only jobs and groups may require distinct nodes. */
export function validateConstraints(
  constraints: readonly Constraint[] | null,
  where: 'job' | 'group' | 'task' | 'device',
  at: At,
): void {
  constraints?.forEach((constraint, index) => {
    const report = at(`constraint ${index + 1}`);
    const isDistinct = constraint.Operand === 'distinct_hosts' || constraint.Operand === 'distinct_property';
    if (isDistinct && where === 'device') {
      report(`${constraint.Operand} is for jobs and groups, not for a device`);
      return;
    }
    validateConstraint(constraint, report);
    if (isDistinct && where === 'task') report(`${constraint.Operand} is for jobs and groups, not for a task`);
  });
}

function validateConstraint(constraint: Constraint, report: Report): void {
  const { Operand, LTarget, RTarget } = constraint;
  if (Operand === '') report('an operator is required');
  if (Operand === 'distinct_hosts') return;
  if (Operand === 'distinct_property') validateLimit(RTarget, report);
  else if (Operand === 'is_set' || Operand === 'is_not_set') {
    if (RTarget !== '') report(`${Operand} does not accept a value`);
  } else validateMatcher(Operand, RTarget, report);
  validateTarget(LTarget, report);
}

/** How many allocations may share a value of the property; 1 when not given. */
function validateLimit(text: string, report: Report): void {
  if (text === '') return;
  if (!/^[0-9]{1,20}$/.test(text) || BigInt(text) >= 2n ** 64n) {
    report(`distinct_property needs a whole number of at least 1, not ${quoted(text)}`);
  } else if (BigInt(text) === 0n) report('distinct_property needs a number of at least 1');
}

/** Operators that constraints and affinities share. */
function validateMatcher(operand: string, value: string, report: Report): void {
  if (comparisons.has(operand) || sets.has(operand)) {
    if (value === '') report(`the operator ${operand} needs a value`);
  } else if (operand === 'regexp') {
    const expression = regularExpression(value);
    if (expression.isErr()) report(`the value is not a regular expression: ${expression.error}`);
  } else if (operand === 'version' || operand === 'semver') {
    const constraint = parseVersionConstraint(value, operand === 'version' ? 'loose' : 'semver');
    if (constraint.isErr()) report(`${quoted(value)} is not a valid ${operand} constraint such as ">= 1.2.0"`);
  } else {
    report(`unknown operator ${quoted(operand)}`);
  }
}

const knownTargets = new Set(['node.unique.id', 'node.unique.name', 'node.datacenter', 'node.class', 'node.pool']);
const targetPrefixes = ['attr.', 'meta.', 'device.'];

/** A string that begins with `$` must be an interpolation of a node attribute; any other string is a literal. */
function validateTarget(target: string, report: Report): void {
  if (target === '') report('an attribute is required');
  else if (target.startsWith('$')) {
    const name = target.startsWith('${') && target.endsWith('}') ? target.slice(2, -1) : undefined;
    const isKnown =
      name !== undefined && (targetPrefixes.some((prefix) => name.startsWith(prefix)) || knownTargets.has(name));
    if (!isKnown) report(`${quoted(target)} is not an attribute of a node`);
  }
}

export function validateAffinities(affinities: readonly Affinity[] | null, at: At): void {
  affinities?.forEach((affinity, index) => {
    const report = at(`affinity ${index + 1}`);
    if (affinity.Operand === '') report('an operator is required');
    validateMatcher(affinity.Operand, affinity.RTarget, report);
    validateTarget(affinity.LTarget, report);
    if (affinity.Weight === 0) report('a weight of 0 has no effect');
    else if (Math.abs(affinity.Weight) > 100) report(`the weight must be from -100 to 100, not ${affinity.Weight}`);
  });
}

export function validateSpreads(spreads: readonly Spread[] | null, at: At): void {
  spreads?.forEach((spread, index) => {
    const report = at(`spread ${index + 1}`);
    if (spread.Attribute === '') report('an attribute is required');
    if (spread.Weight < 1 || spread.Weight > 100) report(`the weight must be from 1 to 100, not ${spread.Weight}`);
    const seen = new Set<string>();
    let sum = 0;
    for (const target of spread.SpreadTarget ?? []) {
      if (seen.has(target.Value)) report(`the target ${quoted(target.Value)} is named twice`);
      seen.add(target.Value);
      if (target.Percent > 100) report(`the target ${quoted(target.Value)} has more than 100 percent`);
      sum += target.Percent;
    }
    if (sum > 100) report(`the targets add up to ${sum} percent, more than 100`);
  });
}

export function validateUpdate(update: UpdateStrategy, jobType: string, report: Report): void {
  if (jobType !== 'service' && jobType !== 'system') report(`a ${jobType} job cannot have an update block`);
  reportIf(report, choiceProblem('health_check', updateBlock.fields.HealthCheck, update.HealthCheck));
  for (const [isBroken, problem] of updateRules) if (isBroken(update)) report(problem);
}

const updateRules: readonly (readonly [isBroken: (update: UpdateStrategy) => boolean, problem: string])[] = [
  [({ MaxParallel }) => MaxParallel < 0, 'max_parallel must not be negative'],
  [({ Canary }) => Canary < 0, 'canary must not be negative'],
  [({ Canary, AutoPromote }) => Canary === 0 && AutoPromote, 'auto_promote needs a canary count above 0'],
  [({ MinHealthyTime }) => MinHealthyTime < 0, 'min_healthy_time must not be negative'],
  [({ HealthyDeadline }) => HealthyDeadline <= 0, 'healthy_deadline must be longer than 0'],
  [({ ProgressDeadline }) => ProgressDeadline < 0, 'progress_deadline must not be negative'],
  [
    ({ MinHealthyTime, HealthyDeadline }) => MinHealthyTime >= HealthyDeadline,
    'min_healthy_time must be shorter than healthy_deadline',
  ],
  [
    ({ HealthyDeadline, ProgressDeadline }) => ProgressDeadline !== 0 && HealthyDeadline >= ProgressDeadline,
    'healthy_deadline must be shorter than progress_deadline',
  ],
  [({ Stagger }) => Stagger <= 0, 'stagger must be longer than 0'],
];

export function validateMigrate(migrate: MigrateStrategy, jobType: string, report: Report): void {
  if (jobType !== 'service') {
    report(`a ${jobType} job cannot have a migrate block`);
    return;
  }
  if (migrate.MaxParallel < 0) report('max_parallel must not be negative');
  if (migrate.HealthCheck !== '' || migrate.MaxParallel > 0) {
    reportIf(report, choiceProblem('health_check', migrateBlock.fields.HealthCheck, migrate.HealthCheck));
  }
  if (migrate.MinHealthyTime < 0) report('min_healthy_time must not be negative');
  if (migrate.HealthyDeadline < 0) report('healthy_deadline must not be negative');
  if (migrate.MinHealthyTime > migrate.HealthyDeadline)
    report('min_healthy_time must not be longer than healthy_deadline');
}

export function validateRestart(restart: RestartPolicy, report: Report): void {
  reportIf(report, choiceProblem('mode', restartBlock.fields.Mode, restart.Mode));
  if (restart.Attempts === 0 && restart.Mode !== 'fail') report('0 attempts require mode fail');
  if (restart.Interval < 5 * secondNanos) report('interval must be at least 5 seconds');
  if (restart.Attempts * restart.Delay > restart.Interval) {
    report(`${restart.Attempts} attempts with this delay do not fit in the interval`);
  }
}

export function validateDisconnect(disconnect: DisconnectStrategy, jobType: string, report: Report): void {
  if (disconnect.LostAfter < 0) report('lost_after must not be negative');
  if (disconnect.StopOnClientAfter !== null) {
    if (disconnect.StopOnClientAfter < 0) report('stop_on_client_after must not be negative');
    if (jobType !== 'service' && jobType !== 'batch') report(`a ${jobType} job cannot have stop_on_client_after`);
    if (disconnect.LostAfter > 0) report('lost_after and stop_on_client_after cannot be combined');
  }
  if (disconnect.Reconcile === '') return;
  reportIf(report, choiceProblem('reconcile', disconnectBlock.fields.Reconcile, disconnect.Reconcile));
}

/** The policy of a group, against the group's count. */
export function validateGroupScaling(policy: ScalingPolicy, count: number, report: Report): void {
  if (policy.Type !== 'horizontal') report(`the type of a group's policy is horizontal, not ${quoted(policy.Type)}`);
  validateBounds(policy, report);
  if (count > policy.Max) report(`the count ${count} is above the maximum ${policy.Max}`);
  if (count < policy.Min) report(`the count ${count} is below the minimum ${policy.Min}`);
}

export function validateTaskScaling(policy: ScalingPolicy, report: Report): void {
  if (policy.Type !== 'vertical_cpu' && policy.Type !== 'vertical_mem') {
    report(`the type of a task's policy is vertical_cpu or vertical_mem, not ${quoted(policy.Type)}`);
  }
  validateBounds(policy, report);
}

function validateBounds(policy: ScalingPolicy, report: Report): void {
  if (policy.Max < 0) report('the maximum must not be negative');
  else if (policy.Max < policy.Min) report(`the maximum ${policy.Max} is below the minimum ${policy.Min}`);
  if (policy.Min < 0) report('the minimum must not be negative');
}

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
