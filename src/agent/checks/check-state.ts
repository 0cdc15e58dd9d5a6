import type { ServiceCheck } from '../../jobs/document/service.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Milliseconds, millisecondsFromNanos } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';

/** The result of one run of a check. */
export interface CheckResult {
  readonly passed: boolean;
  /** Output of the check, for display. */
  readonly output: string;
  /** Status code of an HTTP response; 0 for other checks. */
  readonly statusCode: number;
}

/** The state of a check after all its runs. */
export interface CheckState {
  readonly status: 'pending' | 'success' | 'failure';
  readonly output: string;
  readonly statusCode: number;
  readonly at: Instant;
  /** Number of consecutive runs with this result. */
  readonly passes: number;
  readonly failures: number;
}

export const uncheckedState: CheckState = {
  status: 'pending',
  output: '',
  statusCode: 0,
  at: 0,
  passes: 0,
  failures: 0,
};

/** The state of a check before its first run. */
export function initialCheckState({ InitialStatus }: Pick<ServiceCheck, 'InitialStatus'>): CheckState {
  if (InitialStatus === 'passing') return { ...uncheckedState, status: 'success' };
  return InitialStatus === 'critical' ? { ...uncheckedState, status: 'failure' } : uncheckedState;
}

/** A check passes after `success_before_passing` successful runs in a row, and fails after more than `failures_before_critical` failed ones. */
export function checkStateAfter(
  state: CheckState,
  result: CheckResult,
  thresholds: Pick<ServiceCheck, 'SuccessBeforePassing' | 'FailuresBeforeCritical'>,
  at: Instant,
): CheckState {
  const passes = result.passed ? state.passes + 1 : 0;
  const failures = result.passed ? 0 : state.failures + 1;
  const settled = result.passed
    ? passes >= thresholds.SuccessBeforePassing
    : failures > Math.max(0, thresholds.FailuresBeforeCritical);
  const status = settled ? (result.passed ? 'success' : 'failure') : state.status;
  return { status, output: result.output, statusCode: result.statusCode, at, passes, failures };
}

/** Consecutive failed runs that count towards a restart (`check_restart`); runs within the grace period do not. `upFor` in milliseconds. */
export function strikesAfter(
  strikes: number,
  { passed }: Pick<CheckResult, 'passed'>,
  { CheckRestart: rule }: Pick<ServiceCheck, 'CheckRestart'>,
  upFor: Milliseconds,
): number {
  const isNew = rule !== null && upFor * 1_000_000 < rule.Grace;
  return passed || isNew ? 0 : strikes + 1;
}

/** Whether a check has failed often enough for its task to be restarted. */
export function restartIsDue({ CheckRestart: rule }: Pick<ServiceCheck, 'CheckRestart'>, strikes: number): boolean {
  return rule !== null && rule.Limit > 0 && strikes >= rule.Limit;
}

/** The inputs of an allocation's health. All times are on one clock. */
export interface HealthEvidence {
  readonly tasks: 'up' | 'coming' | 'failed';
  readonly checks: readonly CheckState['status'][];
  /** Since when all tasks and checks have been good; undefined while they are not. */
  readonly wellSince: Milliseconds | undefined;
  /** When the allocation was created. */
  readonly createdAt: Milliseconds;
  readonly now: Milliseconds;
}

interface HealthVerdict {
  /** Undefined: unknown so far. */
  readonly healthy: boolean | undefined;
  /** When it may become known if nothing changes before. */
  readonly next: Milliseconds | undefined;
}

export function isWell({ tasks, checks }: Pick<HealthEvidence, 'tasks' | 'checks'>): boolean {
  return tasks === 'up' && checks.every((status) => status === 'success');
}

/**
 * Healthy when all tasks have run and all checks have passed for `min_healthy_time`; unhealthy when a task has failed, or
 * when `healthy_deadline` has passed before.
 */
export function healthVerdict(update: NonNullable<TaskGroup['Update']>, evidence: HealthEvidence): HealthVerdict {
  if (evidence.tasks === 'failed') return { healthy: false, next: undefined };
  const deadline = evidence.createdAt + millisecondsFromNanos(update.HealthyDeadline);
  const from = (evidence.wellSince ?? Number.POSITIVE_INFINITY) + millisecondsFromNanos(update.MinHealthyTime);
  if (from <= Math.min(evidence.now, deadline)) return { healthy: true, next: undefined };
  if (deadline <= evidence.now) return { healthy: false, next: undefined };
  return { healthy: undefined, next: Math.min(from, deadline) };
}
