import { type Nanoseconds, secondNanos } from '../document/document-values.js';
import type {
  DisconnectStrategy,
  MigrateStrategy,
  ReschedulePolicy,
  RestartPolicy,
  ScalingPolicy,
  UpdateStrategy,
} from '../document/policies.js';
import { quoted, type Report } from './problem-texts.js';

export function validateUpdate(update: UpdateStrategy, jobType: string, report: Report): void {
  if (jobType !== 'service' && jobType !== 'system') report(`a ${jobType} job takes no update block`);
  if (!['checks', 'task_states', 'manual'].includes(update.HealthCheck)) {
    report(`health_check must be checks, task_states or manual, not ${quoted(update.HealthCheck)}`);
  }
  if (update.MaxParallel < 0) report('max_parallel must not be negative');
  if (update.Canary < 0) report('canary must not be negative');
  if (update.Canary === 0 && update.AutoPromote) report('auto_promote needs a canary count above 0');
  if (update.MinHealthyTime < 0) report('min_healthy_time must not be negative');
  if (update.HealthyDeadline <= 0) report('healthy_deadline must be longer than 0');
  if (update.ProgressDeadline < 0) report('progress_deadline must not be negative');
  if (update.MinHealthyTime >= update.HealthyDeadline) report('min_healthy_time must be shorter than healthy_deadline');
  if (update.ProgressDeadline !== 0 && update.HealthyDeadline >= update.ProgressDeadline) {
    report('healthy_deadline must be shorter than progress_deadline');
  }
  if (update.Stagger <= 0) report('stagger must be longer than 0');
}

export function validateMigrate(migrate: MigrateStrategy, jobType: string, report: Report): void {
  if (jobType !== 'service') report(`a ${jobType} job takes no migrate block`);
  if (migrate.MaxParallel < 0) report('max_parallel must not be negative');
  if (!['checks', 'task_states'].includes(migrate.HealthCheck)) {
    report(`health_check must be checks or task_states, not ${quoted(migrate.HealthCheck)}`);
  }
  if (migrate.MinHealthyTime < 0) report('min_healthy_time must not be negative');
  if (migrate.HealthyDeadline < 0) report('healthy_deadline must not be negative');
  if (migrate.MinHealthyTime > migrate.HealthyDeadline)
    report('min_healthy_time must not be longer than healthy_deadline');
}

export function validateRestart(restart: RestartPolicy, report: Report): void {
  if (restart.Mode !== 'delay' && restart.Mode !== 'fail') {
    report(`mode must be delay or fail, not ${quoted(restart.Mode)}`);
  }
  if (restart.Attempts === 0 && restart.Mode !== 'fail') report('0 attempts make sense only with mode fail');
  if (restart.Attempts < 0) report('attempts must not be negative');
  if (restart.Interval < 5 * secondNanos) report('interval must be at least 5 seconds');
  if (restart.Attempts * restart.Delay > restart.Interval) {
    report(`${restart.Attempts} attempts with this delay do not fit in the interval`);
  }
}

const delayFunctions = ['constant', 'exponential', 'fibonacci'];

export function validateReschedule(policy: ReschedulePolicy, jobType: string, report: Report): void {
  if (jobType === 'system' || jobType === 'sysbatch') {
    report(`a ${jobType} job is never rescheduled`);
    return;
  }
  if (policy.Attempts <= 0 && !policy.Unlimited) return;
  if (policy.Attempts > 0 && policy.Interval <= 0) report('limited attempts need an interval');
  if (policy.Attempts > 0 && policy.Unlimited) report('attempts and unlimited exclude each other');
  let isPlausible = true;
  const problem = (text: string): void => {
    isPlausible = false;
    report(text);
  };
  if (policy.Delay < 5 * secondNanos) problem('delay must be at least 5 seconds');
  if (!delayFunctions.includes(policy.DelayFunction)) {
    problem(`delay_function must be one of ${delayFunctions.join(', ')}, not ${quoted(policy.DelayFunction)}`);
  } else if (policy.DelayFunction !== 'constant') {
    if (policy.MaxDelay < 5 * secondNanos) problem('max_delay must be at least 5 seconds');
    if (policy.MaxDelay < policy.Delay) problem('max_delay must not be shorter than delay');
  }
  if (policy.Unlimited) return;
  if (policy.Interval < 15 * secondNanos) report('interval must be at least 15 seconds');
  if (isPlausible && policy.Attempts > 0 && neededInterval(policy) > policy.Interval) {
    report(`${policy.Attempts} attempts do not fit in the interval; give a longer interval or fewer attempts`);
  }
}

/**
 * The shortest interval in which the attempts can happen: the delay before the last one, plus one longest delay for every
 * attempt after the delays have reached it.
 */
function neededInterval(policy: ReschedulePolicy): Nanoseconds {
  if (policy.DelayFunction === 'constant') return policy.Attempts * policy.Delay;
  let previous = 0;
  let delay = policy.Delay;
  for (let attempt = 1; attempt < policy.Attempts; attempt++) {
    if (delay >= policy.MaxDelay) return policy.MaxDelay * (policy.Attempts - attempt + 1);
    const next = policy.DelayFunction === 'exponential' ? delay * 2 : attempt === 1 ? delay : delay + previous;
    previous = delay;
    delay = next;
  }
  return Math.min(delay, policy.MaxDelay);
}

export function validateDisconnect(disconnect: DisconnectStrategy, jobType: string, report: Report): void {
  if (disconnect.LostAfter < 0) report('lost_after must not be negative');
  if (disconnect.StopOnClientAfter !== null) {
    if (disconnect.StopOnClientAfter < 0) report('stop_on_client_after must not be negative');
    if (jobType !== 'service' && jobType !== 'batch') report(`a ${jobType} job takes no stop_on_client_after`);
    if (disconnect.LostAfter > 0) report('lost_after and stop_on_client_after exclude each other');
  }
  const known = ['', 'best_score', 'longest_running', 'keep_original', 'keep_replacement'];
  if (!known.includes(disconnect.Reconcile)) {
    report(`reconcile must be one of ${known.slice(1).join(', ')}, not ${quoted(disconnect.Reconcile)}`);
  }
}

/** The policy of a group, against the group's count. */
export function validateGroupScaling(policy: ScalingPolicy, count: number, report: Report): void {
  if (policy.Type !== 'horizontal') report(`the type of a group's policy is horizontal, not ${quoted(policy.Type)}`);
  if (!validateBounds(policy, report)) return;
  if (count < policy.Min) report(`the count ${count} is below the minimum ${policy.Min}`);
  if (count > policy.Max) report(`the count ${count} is above the maximum ${policy.Max}`);
}

export function validateTaskScaling(policy: ScalingPolicy, report: Report): void {
  if (policy.Type !== 'vertical_cpu' && policy.Type !== 'vertical_mem') {
    report(`the type of a task's policy is vertical_cpu or vertical_mem, not ${quoted(policy.Type)}`);
  }
  validateBounds(policy, report);
}

function validateBounds(policy: ScalingPolicy, report: Report): boolean {
  if (policy.Max < 0) {
    report('a maximum that is not negative is needed');
    return false;
  }
  if (policy.Min < 0) report('the minimum must not be negative');
  if (policy.Max < policy.Min) report(`the maximum ${policy.Max} is below the minimum ${policy.Min}`);
  return true;
}
