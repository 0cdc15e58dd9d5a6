import { quoted } from '../../shared/values.js';
import { secondNanos } from '../document/document-values.js';
import { disconnectBlock, migrateBlock, restartBlock, updateBlock } from '../document/fields/policy-fields.js';
import type {
  DisconnectStrategy,
  MigrateStrategy,
  RestartPolicy,
  ScalingPolicy,
  UpdateStrategy,
} from '../document/policies.js';
import { choiceProblem } from './problem-texts.js';
import { type Report, reportIf } from './problems.js';

export function validateUpdate(update: UpdateStrategy, jobType: string, report: Report): void {
  if (jobType !== 'service' && jobType !== 'system') report(`a ${jobType} job cannot have an update block`);
  reportIf(report, choiceProblem('health_check', updateBlock.fields.HealthCheck, update.HealthCheck));
  for (const { isBroken, problem } of updateRules) if (isBroken(update)) report(problem);
}

interface UpdateRule {
  readonly isBroken: (update: UpdateStrategy) => boolean;
  readonly problem: string;
}

const updateRules: readonly UpdateRule[] = [
  { isBroken: ({ MaxParallel }) => MaxParallel < 0, problem: 'max_parallel must not be negative' },
  { isBroken: ({ Canary }) => Canary < 0, problem: 'canary must not be negative' },
  {
    isBroken: ({ Canary, AutoPromote }) => Canary === 0 && AutoPromote,
    problem: 'auto_promote needs a canary count above 0',
  },
  { isBroken: ({ MinHealthyTime }) => MinHealthyTime < 0, problem: 'min_healthy_time must not be negative' },
  { isBroken: ({ HealthyDeadline }) => HealthyDeadline <= 0, problem: 'healthy_deadline must be longer than 0' },
  { isBroken: ({ ProgressDeadline }) => ProgressDeadline < 0, problem: 'progress_deadline must not be negative' },
  {
    isBroken: ({ MinHealthyTime, HealthyDeadline }) => MinHealthyTime >= HealthyDeadline,
    problem: 'min_healthy_time must be shorter than healthy_deadline',
  },
  {
    isBroken: ({ HealthyDeadline, ProgressDeadline }) => ProgressDeadline !== 0 && HealthyDeadline >= ProgressDeadline,
    problem: 'healthy_deadline must be shorter than progress_deadline',
  },
  { isBroken: ({ Stagger }) => Stagger <= 0, problem: 'stagger must be longer than 0' },
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
