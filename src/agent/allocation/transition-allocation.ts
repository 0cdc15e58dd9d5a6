import type { Milliseconds } from '../../shared/duration.js';
import { allTasksRestart, type TaskHappening } from '../task/task-event.js';
import {
  type DecisionInputs,
  hasStarted,
  isOver,
  type TaskEffect,
  type TaskEnd,
  type TaskLife,
  type TaskLifeEvent,
  type TaskPhase,
  type TaskPlan,
} from '../task/task-life.js';
import { transitionTask } from '../task/transition-task.js';

interface AllocationTransition {
  readonly next: AllocationLife;
  readonly effects: readonly AllocationEffect[];
}

/** Applies one event to an allocation, with its consequences for the tasks. */
export function transitionAllocation(
  life: AllocationLife,
  event: AllocationEvent,
  inputs: DecisionInputs,
): AllocationTransition {
  const transition = new AllocationTransitionBuilder(life, inputs);
  handlers[event.type](transition, event as never);
  transition.settle();
  return { next: transition.life, effects: transition.effects };
}

/** Collects the changes and effects of one event. */
class AllocationTransitionBuilder {
  life: AllocationLife;
  readonly effects: AllocationEffect[] = [];
  readonly #inputs: DecisionInputs;

  constructor(life: AllocationLife, inputs: DecisionInputs) {
    this.life = life;
    this.#inputs = inputs;
  }

  change(change: Partial<AllocationLife>): void {
    this.life = { ...this.life, ...change };
  }

  timer(after: number): void {
    const timer = this.life.timer + 1;
    this.change({ timer });
    this.effects.push({ type: 'timer', timer, after });
  }

  task(name: string, event: TaskLifeEvent): void {
    const at = this.life.plan.tasks.findIndex((plan) => plan.name === name);
    const plan = this.life.plan.tasks[at];
    const task = this.life.tasks[at];
    if (plan === undefined || task === undefined) return;
    const { next, effects } = transitionTask(task, event, plan, this.#inputs);
    for (const effect of effects) this.effects.push({ type: 'task', task: name, effect });
    if (next !== task) this.change({ tasks: this.life.tasks.with(at, next) });
  }

  everyTask(event: TaskLifeEvent): void {
    for (const { name } of this.life.plan.tasks) this.task(name, event);
  }

  /** Sends commands until each task does what it should. Each round ends or starts a task, so the number of rounds is bounded. */
  settle(): void {
    for (let round = 0; round <= 3 * this.life.tasks.length; round += 1) {
      const before = this.life;
      for (const [name, command] of taskCommands(standings(this.life), this.life.stage)) this.#perform(name, command);
      this.#endRestart();
      if (this.life === before) return;
    }
  }

  #perform(name: string, command: TaskCommand): void {
    const task = this.life.tasks[this.life.plan.tasks.findIndex((plan) => plan.name === name)];
    if (task === undefined) return;
    switch (command.type) {
      case 'begin':
        this.task(name, { type: 'begin' });
        break;
      case 'leave':
        this.task(name, leave);
        break;
      case 'end': {
        const end: TaskEnd = { purpose: 'die', skipDelay: this.life.skipDelay };
        if (!isAlreadyEnding(task, end)) this.task(name, { type: 'end', end, reasons: command.reasons });
      }
    }
  }

  /** All tasks have ended, possibly except a started poststop task: they start again. */
  #endRestart(): void {
    if (this.life.stage !== 'restarting') return;
    const ended = this.life.tasks.every(
      ({ record, step }, at) =>
        record.outcome !== null || (this.life.plan.tasks[at]?.phase === 'poststop' && step.type === 'idle'),
    );
    if (!ended) return;
    this.everyTask({ type: 'revive' });
    this.change({ stage: 'running' });
  }
}

const leave: TaskLifeEvent = { type: 'end', end: { purpose: 'interrupt', skipDelay: true }, reasons: [] };

type Handler<T extends AllocationEvent['type']> = (
  transition: AllocationTransitionBuilder,
  event: Extract<AllocationEvent, { readonly type: T }>,
) => void;

const handlers: { readonly [T in AllocationEvent['type']]: Handler<T> } = {
  assigned(transition) {
    for (const [at, plan] of transition.life.plan.tasks.entries()) {
      const isUnreported = transition.life.tasks[at]?.record.state.Events === null;
      if (isUnreported) transition.task(plan.name, { type: 'report', happening: { type: 'received' } });
    }
  },
  stop(transition, { cause, skipDelay }) {
    stop(transition, cause, skipDelay);
  },
  updated(transition, { plan }) {
    transition.change(sameTasks(transition.life.plan, plan) ? { plan } : {});
  },
  restart(transition, { tasks, reason }) {
    // The end may already have been sent to the server, which does not revert it.
    if (transition.life.stage !== 'running' || isDone(transition.life)) return;
    if (tasks === 'all') {
      transition.everyTask({ type: 'restart_of_all', begins: true });
      transition.change({ stage: 'restarting' });
    } else for (const name of tasks) transition.task(name, { type: 'restart', reason, asFailure: false });
  },
  close(transition) {
    if (transition.life.stage === 'running' || transition.life.stage === 'restarting')
      transition.change({ stage: 'closing' });
  },
  interrupt(transition, { within }) {
    const end: TaskEnd = { purpose: 'interrupt', skipDelay: true, within };
    if (transition.life.cause === null) transition.change({ stage: 'closing' });
    transition.everyTask({ type: 'end', end, reasons: [] });
  },
  release(transition) {
    transition.change({ stage: 'closing' });
    for (const plan of transition.life.plan.tasks) if (plan.survives) transition.task(plan.name, { type: 'release' });
  },
  timer(transition, { timer }) {
    if (timer === transition.life.timer && transition.life.stage === 'delaying') transition.change({ stage: 'ending' });
  },
  task(transition, { task, event }) {
    transition.task(task, event);
  },
};

/** A second stop may only shorten a delay. */
function stop(transition: AllocationTransitionBuilder, cause: EndCause, skipDelay: boolean): void {
  const { life } = transition;
  if (life.stage === 'restarting') transition.everyTask({ type: 'restart_of_all', begins: false });
  transition.change({ cause: life.cause ?? cause, skipDelay: life.skipDelay || skipDelay });
  const delays = life.plan.shutdownDelay > 0 && !transition.life.skipDelay && isUp(life);
  if (!delays) {
    transition.change({ stage: 'ending' });
  } else if (life.stage !== 'delaying' && life.stage !== 'ending') {
    transition.change({ stage: 'delaying' });
    transition.timer(life.plan.shutdownDelay);
  }
}

function isUp(life: AllocationLife): boolean {
  return life.tasks.some(({ step, record }) => step.type === 'running' || record.state.State === 'running');
}

/** Whether the task is already ending as requested, so that the command would change nothing. */
function isAlreadyEnding(task: TaskLife, end: TaskEnd): boolean {
  if (task.step.type !== 'ending') return false;
  const { end: current } = task.step;
  return current.purpose === 'die' && (current.skipDelay || !end.skipDelay);
}

function sameTasks(before: AllocationPlan, after: AllocationPlan): boolean {
  return (
    before.tasks.length === after.tasks.length && before.tasks.every((plan, at) => plan.name === after.tasks[at]?.name)
  );
}

function standings(life: AllocationLife): TaskStanding[] {
  return life.plan.tasks.map((plan, at) => ({ plan, life: life.tasks[at] as TaskLife }));
}

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

/** One task of an allocation, with its plan and its current state. */
interface TaskStanding {
  readonly plan: TaskPlan;
  readonly life: TaskLife;
}

/**
 * Stage of the allocation as a whole. `delaying`: it is to end, and its services are deregistered first.
 * `restarting`: all tasks end and start again. `closing`: the agent is stopping; running tasks may finish, and none starts.
 */
type AllocationStage = 'running' | 'delaying' | 'ending' | 'restarting' | 'closing';

type TaskCommand =
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
function taskCommands(tasks: readonly TaskStanding[], stage: AllocationStage): ReadonlyMap<string, TaskCommand> {
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
