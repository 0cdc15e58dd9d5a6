import type { Task } from '../../jobs/document/task.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { millisecondsFromNanos } from '../../shared/duration.js';
import { type Instant, instantFromUnixNanos } from '../../shared/instant.js';
import type { Allocation, TaskState } from '../allocation.js';

/** Health by the states of tasks, as far as it is known. */
export interface MeasuredHealth {
  /** Undefined: not known yet. */
  readonly healthy: boolean | undefined;
  /** When it may be known, if nothing changes before. */
  readonly next: Instant | undefined;
}

const unknown: MeasuredHealth = { healthy: undefined, next: undefined };

/**
 * The health of an allocation for its deployment where its node does not measure it: healthy when every task that has to run has done
 * so, without a restart, for the group's `min_healthy_time`; unhealthy when a task has failed, or when that was not reached
 * by the `healthy_deadline`. Health that is checked by hand is never known here.
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

/** A task that has failed ends the others; the allocation fails when they have ended. */
function hasFailed({ ClientStatus, TaskStates }: Allocation): boolean {
  return ClientStatus === 'failed' || Object.values(TaskStates ?? {}).some(({ Failed }) => Failed);
}

/** Whether checks of services decide, which only the node can ask: those that an update does not ignore (`on_update`). */
export function isMeasuredByChecks(group: TaskGroup): boolean {
  if (group.Update?.HealthCheck !== 'checks') return false;
  const services = [...(group.Services ?? []), ...(group.Tasks ?? []).flatMap((task) => task.Services ?? [])];
  return services.some(({ Checks }) => (Checks ?? []).some(({ OnUpdate }) => OnUpdate !== 'ignore'));
}

/** Since when everything that has to run does so; undefined while something does not. */
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

/** Since when the task is in the state that its lifecycle requires; undefined when it is not. */
function beganAt({ Lifecycle: lifecycle }: Task, state: TaskState | undefined): Instant | undefined {
  const hook = lifecycle === null || lifecycle.Sidecar ? '' : lifecycle.Hook;
  if (hook === 'poststop') return Number.NEGATIVE_INFINITY;
  if (state === undefined) return undefined;
  const moments = [state.StartedAt, state.LastRestart].map((at) => Date.parse(at ?? '')).filter(Number.isFinite);
  const began = moments.length === 0 ? undefined : Math.max(...moments);
  if (state.State === 'running') return hook === 'prestart' ? undefined : began;
  return state.State === 'dead' && (hook === 'prestart' || hook === 'poststart') ? began : undefined;
}
