import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Milliseconds, millisecondsFromNanos } from '../../shared/duration.js';
import type { CheckState } from './check-state.js';

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
