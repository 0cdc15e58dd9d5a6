import { toldState } from '../../src/agent/allocation/client-status.js';
import {
  type AllocationEffect,
  type AllocationEvent,
  type AllocationLife,
  isAtRest,
  newAllocationLife,
  transitionAllocation,
} from '../../src/agent/allocation/transition-allocation.js';
import {
  type DecisionInputs,
  freshTaskRecord,
  newTaskLife,
  type TaskEffect,
  type TaskLifeEvent,
  type TaskPlan,
  type TaskRecord,
  taskPlan,
} from '../../src/agent/task/task-life.js';
import type { Job } from '../../src/jobs/document/job.js';

/** A scripted driver: for each effect, events after a number of milliseconds. */
export type Script = (
  task: string,
  effect: TaskEffect,
) => readonly { readonly after: number; readonly event: TaskLifeEvent }[];

/** A driver whose tasks start immediately, run for this time, and stop immediately on request. */
export function plainScript(
  runs: Readonly<Record<string, { readonly for?: number; readonly code?: number }>> = {},
): Script {
  return (task, effect) => {
    const { for: duration, code = 0 } = runs[task] ?? {};
    switch (effect.type) {
      case 'prepare':
        return [{ after: 0, event: { type: 'prepared' } }];
      case 'start':
        return [
          { after: 0, event: { type: 'started', attempt: effect.attempt } },
          ...(duration === undefined ? [] : [{ after: duration, event: exited(effect.attempt, code) }]),
        ];
      case 'recover':
        return [{ after: 0, event: { type: 'found', attempt: effect.attempt } }];
      case 'signal':
        return [{ after: 0, event: exited(effect.attempt, 130, 2) }];
      case 'destroy':
        return [{ after: 0, event: exited(effect.attempt, 137, 9) }];
      case 'cancel_preparation':
      case 'release':
      case 'timer':
        return [];
    }
  };
}

export function exited(attempt: number, code: number, signal = 0): TaskLifeEvent {
  return { type: 'exited', attempt, exit: { type: 'exited', code, signal } };
}

export interface PlayOptions {
  readonly script?: Script;
  readonly shutdownDelay?: number;
  readonly records?: Readonly<Record<string, TaskRecord>>;
}

/** Simulates an allocation in virtual time, and records the requests to the driver with their times. */
export class AllocationPlay {
  life: AllocationLife;
  now = 0;
  readonly asked: string[] = [];
  readonly #script: Script;
  #waiting: { readonly at: number; readonly order: number; readonly event: AllocationEvent }[] = [];
  #order = 0;

  constructor(job: Job, { script = plainScript(), shutdownDelay = 0, records = {} }: PlayOptions = {}) {
    this.#script = script;
    const tasks = (job.TaskGroups[0]?.Tasks ?? []).map((task): TaskPlan => taskPlan(job, task, false));
    const record = (name: string): TaskRecord => records[name] ?? freshTaskRecord(undefined, this.#moment());
    this.life = newAllocationLife(
      { tasks, shutdownDelay },
      tasks.map(({ name }) => newTaskLife(record(name))),
    );
    this.handle({ type: 'assigned' });
  }

  get isAtRest(): boolean {
    return isAtRest(this.life);
  }

  get status(): string {
    return toldState(this.life).clientStatus;
  }

  get description(): string {
    return toldState(this.life).clientDescription;
  }

  eventsOf(task: string): string[] {
    return (toldState(this.life).taskStates[task]?.Events ?? []).map(({ Type }) => Type);
  }

  stateOf(task: string) {
    return toldState(this.life).taskStates[task];
  }

  handle(event: AllocationEvent): void {
    const { next, effects } = transitionAllocation(this.life, event, this.#moment());
    this.life = next;
    for (const effect of effects) this.#perform(effect);
  }

  /** Advances the time by this many milliseconds and handles everything that becomes due. */
  advance(milliseconds: number): void {
    const until = this.now + milliseconds;
    for (;;) {
      this.#waiting.sort((left, right) => left.at - right.at || left.order - right.order);
      const next = this.#waiting[0];
      if (next === undefined || next.at > until) break;
      this.#waiting.shift();
      this.now = Math.max(this.now, next.at);
      this.handle(next.event);
    }
    this.now = until;
  }

  #perform(effect: AllocationEffect): void {
    if (effect.type === 'timer') {
      this.#later(effect.after, { type: 'timer', timer: effect.timer });
      return;
    }
    const { task, effect: asked } = effect;
    if (asked.type === 'timer') {
      this.#later(asked.after, { type: 'task', task, event: { type: 'timer', timer: asked.timer } });
      return;
    }
    const number = 'attempt' in asked ? ` ${asked.attempt}` : '';
    if (asked.type !== 'prepare') this.asked.push(`${this.now} ${task} ${asked.type}${number}`);
    for (const { after, event } of this.#script(task, asked)) this.#later(after, { type: 'task', task, event });
  }

  #later(after: number, event: AllocationEvent): void {
    this.#order += 1;
    this.#waiting.push({ at: this.now + after, order: this.#order, event });
  }

  #moment(): DecisionInputs {
    return { now: 1_767_225_600_000 + this.now, monotonic: this.now, timeline: 'play', fraction: 0 };
  }
}
