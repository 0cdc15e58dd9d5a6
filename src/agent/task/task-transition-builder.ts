import type { Milliseconds } from '../../shared/duration.js';
import type { TaskHappening } from './task-event.js';
import type { EndingStage, TaskEffect, TaskLife, TaskStep } from './task-life.js';
import type { DecisionInputs, TaskPlan, TaskRecord } from './task-plan.js';
import { transitionTaskState } from './transition-task-state.js';

export interface TaskTransition {
  readonly next: TaskLife;
  readonly effects: readonly TaskEffect[];
}

/** Collects the changes and effects of one event. */
export class TaskTransitionBuilder {
  life: TaskLife;
  readonly plan: TaskPlan;
  readonly inputs: DecisionInputs;
  readonly #effects: TaskEffect[] = [];

  constructor(life: TaskLife, plan: TaskPlan, inputs: DecisionInputs) {
    this.life = life;
    this.plan = plan;
    this.inputs = inputs;
  }

  get step(): TaskStep {
    return this.life.step;
  }

  get record(): TaskRecord {
    return this.life.record;
  }

  build(): TaskTransition {
    return { next: this.life, effects: this.#effects };
  }

  report(...happenings: readonly TaskHappening[]): this {
    const { now } = this.inputs;
    const state = happenings.reduce((current, each) => transitionTaskState(current, each, now), this.record.state);
    const isUp = happenings.some(({ type }) => type === 'started') && this.record.restartOfAll === 'awaiting_start';
    return this.note(isUp ? { state, restartOfAll: null } : { state });
  }

  note(change: Partial<TaskRecord>): this {
    this.life = { ...this.life, record: { ...this.record, ...change } };
    return this;
  }

  /** Enters a step. Timers of earlier steps are ignored from now on. */
  enter(step: TaskStep): this {
    this.life = { ...this.life, step, timer: this.life.timer + 1 };
    return this;
  }

  /** Enters a step that keeps the current timer. */
  enterKeepingTimer(step: TaskStep): this {
    this.life = { ...this.life, step };
    return this;
  }

  effect(effect: TaskEffect): this {
    this.#effects.push(effect);
    return this;
  }

  timer(after: Milliseconds): this {
    return this.effect({ type: 'timer', timer: this.life.timer, after });
  }
}

export function isEnding(transition: TaskTransitionBuilder, stage: EndingStage): boolean {
  return transition.step.type === 'ending' && transition.step.stage === stage;
}

/** Whether the current attempt may exit in this step. */
export function hasProcess(step: TaskStep): boolean {
  if (step.type === 'ending') return step.stage !== 'preparing' && step.stage !== 'starting';
  return step.type === 'running' || step.type === 'recovering';
}
