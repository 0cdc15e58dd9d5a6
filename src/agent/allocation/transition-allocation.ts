import type { TaskEnd, TaskLife, TaskLifeEvent } from '../task/task-life.js';
import type { DecisionInputs } from '../task/task-plan.js';
import { transitionTask } from '../task/transition-task.js';
import {
  type AllocationEffect,
  type AllocationEvent,
  type AllocationLife,
  type AllocationPlan,
  type EndCause,
  isDone,
} from './allocation-life.js';
import { type TaskCommand, type TaskStanding, taskCommands } from './task-commands.js';

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
