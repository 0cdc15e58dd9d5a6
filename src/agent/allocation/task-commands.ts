import { allTasksRestart, type TaskHappening } from '../task/task-event.js';
import { isOver, type TaskLife } from '../task/task-life.js';
import { hasStarted, type TaskPhase, type TaskPlan } from '../task/task-plan.js';

/** One task of an allocation, with its plan and its current state. */
export interface TaskStanding {
  readonly plan: TaskPlan;
  readonly life: TaskLife;
}

/**
 * Stage of the allocation as a whole. `delaying`: it is to end, and its services are deregistered first.
 * `restarting`: all tasks end and start again. `closing`: the agent is stopping; running tasks may finish, and none starts.
 */
export type AllocationStage = 'running' | 'delaying' | 'ending' | 'restarting' | 'closing';

export type TaskCommand =
  | { readonly type: 'begin' }
  | { readonly type: 'end'; readonly reasons: readonly TaskHappening[] }
  /** The task is not running and is left to the next agent. */
  | { readonly type: 'leave' };

/**
 * Decides what each task has to do now. The result depends on the current task states only, so that a restarted agent decides
 * the same (job interface, lifecycle order and termination):
 *
 *   phase               begins when                                              ends, besides on its own, when
 *   prestart            at once                                                  the allocation ends or a task failed
 *   prestart sidecar    at once                                                  … or only sidecars are left
 *   main                prestart tasks have succeeded, their sidecars started    … or the leader is dead
 *   poststart           all main tasks have started                              … or the leader is dead
 *   poststart sidecar   all main tasks have started                              … or only sidecars are left
 *   poststop            all others are dead, and one of them had started         never
 *
 * The leader ends before the others, and sidecars after them. Nothing starts while the allocation waits for its end. After a restart of all
 * tasks the order is that of the first start: earlier starts do not count.
 */
export function taskCommands(tasks: readonly TaskStanding[], stage: AllocationStage): ReadonlyMap<string, TaskCommand> {
  const commands = new Map<string, TaskCommand>();
  for (const task of tasks) {
    const command =
      task.plan.phase === 'poststop' ? poststopCommand(task, tasks, stage) : commandFor(task, tasks, stage);
    if (command !== undefined) commands.set(task.plan.name, command);
  }
  return commands;
}

function commandFor(
  task: TaskStanding,
  tasks: readonly TaskStanding[],
  stage: AllocationStage,
): TaskCommand | undefined {
  if (isOver(task.life)) return undefined;
  const reasons = reasonsToEnd(task, tasks, stage);
  if (reasons !== undefined) return mayEndNow(task, tasks) ? { type: 'end', reasons } : undefined;
  if (stage === 'closing') return runsNow(task.life) ? undefined : { type: 'leave' };
  if (stage === 'delaying' || task.life.step.type !== 'idle') return undefined;
  return mayBegin(task.plan.phase, tasks) ? { type: 'begin' } : undefined;
}

/** Poststop tasks run however the others ended, unless none of the others ever started. */
function poststopCommand(
  task: TaskStanding,
  tasks: readonly TaskStanding[],
  stage: AllocationStage,
): TaskCommand | undefined {
  if (isOver(task.life)) return undefined;
  if (stage === 'closing') return runsNow(task.life) ? undefined : { type: 'leave' };
  if (task.life.step.type !== 'idle' || stage === 'restarting') return undefined;
  const others = tasks.filter(({ plan }) => plan.phase !== 'poststop');
  if (!others.every(isDead)) return undefined;
  const anyBegan = others.some(({ life }) => life.record.state.StartedAt !== null);
  return anyBegan ? { type: 'begin' } : { type: 'end', reasons: [] };
}

/** Whether a task is under way, or may have a process to recover; the others only wait. */
function runsNow({ step }: TaskLife): boolean {
  return step.type !== 'idle' && step.type !== 'waiting' && step.type !== 'preparing';
}

function reasonsToEnd(
  task: TaskStanding,
  tasks: readonly TaskStanding[],
  stage: AllocationStage,
): readonly TaskHappening[] | undefined {
  if (stage === 'ending') return [];
  if (stage === 'restarting') return [{ type: 'restart_asked', reason: allTasksRestart }];
  const failed = tasks.find((other) => other !== task && other.life.record.outcome === 'failed');
  if (failed !== undefined) return [{ type: 'sibling_failed', sibling: failed.plan.name }];
  if (tasks.some((other) => other !== task && other.plan.leader && isDead(other))) return [{ type: 'leader_dead' }];
  const onlySidecars = tasks.every((other) => isSidecar(other) || other.plan.phase === 'poststop' || isDead(other));
  return isSidecar(task) && onlySidecars ? [{ type: 'main_dead' }] : undefined;
}

/** Whether it may end now: the leader first, then the others, then the sidecars. */
function mayEndNow(task: TaskStanding, tasks: readonly TaskStanding[]): boolean {
  const wave = waveOf(task);
  return tasks.every((other) => waveOf(other) >= wave || isOver(other.life));
}

function waveOf(task: TaskStanding): number {
  if (task.plan.leader) return 0;
  if (task.plan.phase === 'poststop') return 3;
  return isSidecar(task) ? 2 : 1;
}

function mayBegin(phase: TaskPhase, tasks: readonly TaskStanding[]): boolean {
  switch (phase) {
    case 'prestart':
    case 'prestart_sidecar':
      return true;
    case 'main':
      return tasks.every(
        ({ plan, life }) =>
          (plan.phase !== 'prestart' || life.record.outcome === 'succeeded') &&
          (plan.phase !== 'prestart_sidecar' || hasStarted(life.record)),
      );
    case 'poststart':
    case 'poststart_sidecar':
      return tasks.every(({ plan, life }) => plan.phase !== 'main' || hasStarted(life.record));
    case 'poststop':
      return false;
  }
}

function isSidecar({ plan }: TaskStanding): boolean {
  return plan.phase === 'prestart_sidecar' || plan.phase === 'poststart_sidecar';
}

function isDead({ life }: TaskStanding): boolean {
  return life.record.outcome !== null;
}
