import type { Milliseconds } from '../../shared/duration.js';
import { isOver, type TaskEffect, type TaskLife, type TaskLifeEvent } from '../task/task-life.js';
import type { TaskPlan } from '../task/task-plan.js';
import type { AllocationStage } from './task-commands.js';

/** The plan that the agent's decisions about an allocation depend on. */
export interface AllocationPlan {
  readonly tasks: readonly TaskPlan[];
  /** Milliseconds between deregistering the services and ending the tasks. */
  readonly shutdownDelay: Milliseconds;
}

/** Why an allocation ends before its tasks do. `expired`: it has reached its maximum run time. `cut_off`: its node lost the server. */
export type EndCause = 'stopped' | 'expired' | 'cut_off';

export interface AllocationLife {
  readonly plan: AllocationPlan;
  /** In the order of the plan's tasks. */
  readonly tasks: readonly TaskLife[];
  readonly stage: AllocationStage;
  /** Null until an end is requested. */
  readonly cause: EndCause | null;
  readonly skipDelay: boolean;
  /** Number of the current timer; others are ignored. */
  readonly timer: number;
}

export type AllocationEvent =
  /** The agent has taken the allocation over, for the first time or again. */
  | { readonly type: 'assigned' }
  | { readonly type: 'stop'; readonly cause: EndCause; readonly skipDelay: boolean }
  /** The job version was replaced by one that the tasks can continue under. */
  | { readonly type: 'updated'; readonly plan: AllocationPlan }
  /** `tasks`: running tasks by name, or `all` tasks from their beginning. */
  | { readonly type: 'restart'; readonly tasks: readonly string[] | 'all'; readonly reason: string }
  /** The agent is stopping: no task starts any more, and running tasks may finish. */
  | { readonly type: 'close' }
  /** The deadline of a stopping agent: unfinished tasks are interrupted and run again under the next agent. */
  | { readonly type: 'interrupt'; readonly within: Milliseconds }
  /** Tasks that can continue without the agent are released. */
  | { readonly type: 'release' }
  | { readonly type: 'timer'; readonly timer: number }
  | { readonly type: 'task'; readonly task: string; readonly event: TaskLifeEvent };

export type AllocationEffect =
  | { readonly type: 'task'; readonly task: string; readonly effect: TaskEffect }
  | { readonly type: 'timer'; readonly timer: number; readonly after: Milliseconds };

export function newAllocationLife(plan: AllocationPlan, tasks: readonly TaskLife[]): AllocationLife {
  const stage = tasks.some(isRestarting) ? 'restarting' : 'running';
  return { plan, tasks, stage, cause: null, skipDelay: false, timer: 0 };
}

function isRestarting({ record }: TaskLife): boolean {
  return record.restartOfAll === 'ending';
}

/** Whether all tasks are dead and none will start any more, so that the end can be reported to the server. */
export function isDone(life: AllocationLife): boolean {
  return life.tasks.every((task) => task.record.outcome !== null && !isRestarting(task));
}

/** Whether the agent has nothing to wait for: each task is dead, or left to the next agent. */
export function isAtRest(life: AllocationLife): boolean {
  return life.tasks.every(isOver);
}

/** Whether a task may soon end on its own: a stopping agent waits for it, up to its deadline. */
export function mayFinish(life: AllocationLife): boolean {
  return life.tasks.some(
    (task, at) =>
      !isOver(task) && life.plan.tasks[at]?.restartsOnSuccess === false && life.plan.tasks[at]?.survives === false,
  );
}
