import type { ServiceCheck } from '../../jobs/document/service.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';

/** What one look at a service came to. */
export interface CheckResult {
  readonly passed: boolean;
  /** What was seen, for people. */
  readonly output: string;
  /** Of an HTTP answer; 0 for others. */
  readonly statusCode: number;
}

/** Where a check stands after all its looks. */
export interface CheckState {
  readonly status: 'pending' | 'success' | 'failure';
  readonly output: string;
  readonly statusCode: number;
  readonly at: Instant;
  /** Looks of one kind in a row. */
  readonly passes: number;
  readonly failures: number;
}

export const uncheckedState: CheckState = {
  status: 'pending',
  output: '',
  statusCode: 0,
  at: 0 as Instant,
  passes: 0,
  failures: 0,
};

/** Where a check stands before the first look. */
export function initialCheckState({ InitialStatus }: Pick<ServiceCheck, 'InitialStatus'>): CheckState {
  if (InitialStatus === 'passing') return { ...uncheckedState, status: 'success' };
  return InitialStatus === 'critical' ? { ...uncheckedState, status: 'failure' } : uncheckedState;
}

type Thresholds = Pick<ServiceCheck, 'SuccessBeforePassing' | 'FailuresBeforeCritical'>;

/** A check passes after `success_before_passing` more good looks than that, and fails after as many bad ones. */
export function checkStateAfter(
  state: CheckState,
  result: CheckResult,
  thresholds: Thresholds,
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

/** Failed looks in a row that count towards a restart (`check_restart`): those while the task is new do not. `upFor` in milliseconds. */
export function strikesAfter(
  strikes: number,
  { passed }: Pick<CheckResult, 'passed'>,
  { CheckRestart: rule }: Pick<ServiceCheck, 'CheckRestart'>,
  upFor: Milliseconds,
): number {
  const isNew = rule !== null && upFor * 1_000_000 < rule.Grace;
  return passed || isNew ? 0 : strikes + 1;
}

/** Whether a service has failed so often that its task has to begin again. */
export function restartIsDue({ CheckRestart: rule }: Pick<ServiceCheck, 'CheckRestart'>, strikes: number): boolean {
  return rule !== null && rule.Limit > 0 && strikes >= rule.Limit;
}
