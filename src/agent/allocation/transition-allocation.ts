import type { TaskEnd, TaskLife, TaskLifeEvent } from '../task/task-life.js';
import type { Moment } from '../task/task-record.js';
import { transitionTask } from '../task/transition-task.js';
import {
  type AllocationEffect,
  type AllocationEvent,
  type AllocationLife,
  type AllocationPlan,
  type EndCause,
  isDone,
} from './allocation-life.js';
import { type TaskOrder, type TaskStanding, taskOrders } from './task-orders.js';

interface AllocationTransition {
  readonly next: AllocationLife;
  readonly effects: readonly AllocationEffect[];
}

/** Moves an allocation by one event, and its tasks by what follows from it. */
export function transitionAllocation(
  life: AllocationLife,
  event: AllocationEvent,
  moment: Moment,
): AllocationTransition {
  const walk = new Walk(life, moment);
  handlers[event.type](walk, event as never);
  walk.settle();
  return { next: walk.life, effects: walk.effects };
}

/** Collects what one event changes. */
class Walk {
  life: AllocationLife;
  readonly effects: AllocationEffect[] = [];
  readonly #moment: Moment;

  constructor(life: AllocationLife, moment: Moment) {
    this.life = life;
    this.#moment = moment;
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
    const { next, effects } = transitionTask(task, event, plan, this.#moment);
    for (const effect of effects) this.effects.push({ type: 'task', task: name, effect });
    if (next !== task) this.change({ tasks: this.life.tasks.with(at, next) });
  }

  everyTask(event: TaskLifeEvent): void {
    for (const { name } of this.life.plan.tasks) this.task(name, event);
  }

  /** Gives orders until the tasks do what they should. Each round ends or begins a task, so the number of rounds is limited. */
  settle(): void {
    for (let round = 0; round <= 3 * this.life.tasks.length; round += 1) {
      const before = this.life;
      for (const [name, order] of taskOrders(standings(this.life), this.life.course)) this.#give(name, order);
      this.#endRestart();
      if (this.life === before) return;
    }
  }

  #give(name: string, order: TaskOrder): void {
    const task = this.life.tasks[this.life.plan.tasks.findIndex((plan) => plan.name === name)];
    if (task === undefined) return;
    switch (order.type) {
      case 'begin':
        this.task(name, { type: 'begin' });
        break;
      case 'leave':
        this.task(name, leave);
        break;
      case 'end': {
        const end: TaskEnd = { purpose: 'die', skipDelay: this.life.skipDelay };
        if (!isToldAlready(task, end)) this.task(name, { type: 'end', end, reasons: order.reasons });
      }
    }
  }

  /** Everything has ended, also a poststop task that had begun: it begins again. */
  #endRestart(): void {
    if (this.life.course !== 'restarting') return;
    const ended = this.life.tasks.every(
      ({ record, step }, at) =>
        record.outcome !== null || (this.life.plan.tasks[at]?.phase === 'poststop' && step.type === 'idle'),
    );
    if (!ended) return;
    this.everyTask({ type: 'revive' });
    this.change({ course: 'running' });
  }
}

const leave: TaskLifeEvent = { type: 'end', end: { purpose: 'interrupt', skipDelay: true }, reasons: [] };

type Handler<T extends AllocationEvent['type']> = (
  walk: Walk,
  event: Extract<AllocationEvent, { readonly type: T }>,
) => void;

const handlers: { readonly [T in AllocationEvent['type']]: Handler<T> } = {
  assigned(walk) {
    for (const [at, plan] of walk.life.plan.tasks.entries()) {
      const untold = walk.life.tasks[at]?.record.state.Events === null;
      if (untold) walk.task(plan.name, { type: 'tell', happening: { type: 'received' } });
    }
  },
  stop(walk, { cause, skipDelay }) {
    stop(walk, cause, skipDelay);
  },
  updated(walk, { plan }) {
    walk.change(sameTasks(walk.life.plan, plan) ? { plan } : {});
  },
  restart(walk, { tasks, reason }) {
    // An end may be on its way to the server, which takes nothing back.
    if (walk.life.course !== 'running' || isDone(walk.life)) return;
    if (tasks === 'all') {
      walk.everyTask({ type: 'restart_of_all', begins: true });
      walk.change({ course: 'restarting' });
    } else for (const name of tasks) walk.task(name, { type: 'restart', reason, asFailure: false });
  },
  close(walk) {
    if (walk.life.course === 'running' || walk.life.course === 'restarting') walk.change({ course: 'closing' });
  },
  interrupt(walk, { within }) {
    const end: TaskEnd = { purpose: 'interrupt', skipDelay: true, within };
    if (walk.life.cause === null) walk.change({ course: 'closing' });
    walk.everyTask({ type: 'end', end, reasons: [] });
  },
  release(walk) {
    walk.change({ course: 'closing' });
    for (const plan of walk.life.plan.tasks) if (plan.survives) walk.task(plan.name, { type: 'release' });
  },
  timer(walk, { timer }) {
    if (timer === walk.life.timer && walk.life.course === 'delaying') walk.change({ course: 'ending' });
  },
  task(walk, { task, event }) {
    walk.task(task, event);
  },
};

/** A second order may only cut a delay short. */
function stop(walk: Walk, cause: EndCause, skipDelay: boolean): void {
  const { life } = walk;
  if (life.course === 'restarting') walk.everyTask({ type: 'restart_of_all', begins: false });
  walk.change({ cause: life.cause ?? cause, skipDelay: life.skipDelay || skipDelay });
  const delays = life.plan.shutdownDelay > 0 && !walk.life.skipDelay && isUp(life);
  if (!delays) {
    walk.change({ course: 'ending' });
  } else if (life.course !== 'delaying' && life.course !== 'ending') {
    walk.change({ course: 'delaying' });
    walk.timer(life.plan.shutdownDelay);
  }
}

function isUp(life: AllocationLife): boolean {
  return life.tasks.some(({ step, record }) => step.type === 'running' || record.state.State === 'running');
}

/** An order that would change nothing is not given again. */
function isToldAlready(task: TaskLife, end: TaskEnd): boolean {
  if (task.step.type !== 'ending') return false;
  const { end: told } = task.step;
  return told.purpose === 'die' && (told.skipDelay || !end.skipDelay);
}

function sameTasks(before: AllocationPlan, after: AllocationPlan): boolean {
  return (
    before.tasks.length === after.tasks.length && before.tasks.every((plan, at) => plan.name === after.tasks[at]?.name)
  );
}

function standings(life: AllocationLife): TaskStanding[] {
  return life.plan.tasks.map((plan, at) => ({ plan, life: life.tasks[at] as TaskLife }));
}
