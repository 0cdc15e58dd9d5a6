import type { Task } from '../../jobs/document/task.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { millisecondsFromNanos } from '../../shared/duration.js';
import { type Instant, instantFromUnixNanos } from '../../shared/instant.js';
import type { Allocation, TaskState } from '../allocation.js';

/** Health derived from task states. */
export interface MeasuredHealth {
  /** Undefined: unknown so far. */
  readonly healthy: boolean | undefined;
  /** When it may become known if no state changes before. */
  readonly next: Instant | undefined;
}

const unknown: MeasuredHealth = { healthy: undefined, next: undefined };

/**
 * The health of an allocation for its deployment where its node does not measure it: healthy when every required task has
 * run without a restart for the group's `min_healthy_time`; unhealthy when a task has failed, or when the
 * `healthy_deadline` has passed before. Health that is set manually is never derived here.
 */
export function measureHealth(allocation: Allocation, group: TaskGroup, now: Instant): MeasuredHealth {
  const { Update: update } = group;
  if (hasFailed(allocation)) return { healthy: false, next: undefined };
  if (update === null || update.HealthCheck === 'manual') return unknown;
  const deadline = instantFromUnixNanos(allocation.CreateTime) + millisecondsFromNanos(update.HealthyDeadline);
  const since = upSince(allocation, group.Tasks ?? []);
  const from = since === undefined ? Number.POSITIVE_INFINITY : since + millisecondsFromNanos(update.MinHealthyTime);
  if (from <= Math.min(now, deadline)) return { healthy: true, next: undefined };
  if (deadline <= now) return { healthy: false, next: undefined };
  return { healthy: undefined, next: Math.min(from, deadline) };
}

/** A failed task ends the others; the allocation fails when they have ended. */
function hasFailed({ ClientStatus, TaskStates }: Allocation): boolean {
  return ClientStatus === 'failed' || Object.values(TaskStates ?? {}).some(({ Failed }) => Failed);
}

/** Whether service checks decide, which only the node can run: those that an update does not ignore (`on_update`). */
export function isMeasuredByChecks(group: TaskGroup): boolean {
  if (group.Update?.HealthCheck !== 'checks') return false;
  const services = [...(group.Services ?? []), ...(group.Tasks ?? []).flatMap((task) => task.Services ?? [])];
  return services.some(({ Checks }) => (Checks ?? []).some(({ OnUpdate }) => OnUpdate !== 'ignore'));
}

/** Since when all required tasks have been running; undefined while one is not. */
function upSince(allocation: Allocation, tasks: readonly Task[]): Instant | undefined {
  if (allocation.ClientStatus !== 'running') return undefined;
  let since = Number.NEGATIVE_INFINITY;
  for (const task of tasks) {
    const state = allocation.TaskStates?.[task.Name];
    const began = beganAt(task, state);
    if (began === undefined) return undefined;
    since = Math.max(since, began);
  }
  return Number.isFinite(since) ? since : undefined;
}

/** Since when the task has been in the state that its lifecycle requires; undefined when it is not. */
function beganAt({ Lifecycle: lifecycle }: Task, state: TaskState | undefined): Instant | undefined {
  const hook = lifecycle === null || lifecycle.Sidecar ? '' : lifecycle.Hook;
  if (hook === 'poststop') return Number.NEGATIVE_INFINITY;
  if (state === undefined) return undefined;
  const moments = [state.StartedAt, state.LastRestart].map((at) => Date.parse(at ?? '')).filter(Number.isFinite);
  const began = moments.length === 0 ? undefined : Math.max(...moments);
  if (state.State === 'running') return hook === 'prestart' ? undefined : began;
  return state.State === 'dead' && (hook === 'prestart' || hook === 'poststart') ? began : undefined;
}
