import type { Milliseconds } from '../../shared/duration.js';
import type { TaskHappening } from './task-happening.js';
import type { EndingStage, TaskEffect, TaskLife, TaskStep } from './task-life.js';
import type { TaskPlan } from './task-plan.js';
import type { Moment, TaskRecord } from './task-record.js';
import { transitionTaskState } from './transition-task-state.js';

export interface TaskTransition {
  readonly next: TaskLife;
  readonly effects: readonly TaskEffect[];
}

/** Collects what one event changes. */
export class Course {
  life: TaskLife;
  readonly plan: TaskPlan;
  readonly moment: Moment;
  readonly #effects: TaskEffect[] = [];

  constructor(life: TaskLife, plan: TaskPlan, moment: Moment) {
    this.life = life;
    this.plan = plan;
    this.moment = moment;
  }

  get step(): TaskStep {
    return this.life.step;
  }

  get record(): TaskRecord {
    return this.life.record;
  }

  transition(): TaskTransition {
    return { next: this.life, effects: this.#effects };
  }

  tell(...happenings: readonly TaskHappening[]): this {
    const { now } = this.moment;
    const state = happenings.reduce((current, each) => transitionTaskState(current, each, now), this.record.state);
    const isUp = happenings.some(({ type }) => type === 'started') && this.record.restartOfAll === 'awaiting_start';
    return this.note(isUp ? { state, restartOfAll: null } : { state });
  }

  note(change: Partial<TaskRecord>): this {
    this.life = { ...this.life, record: { ...this.record, ...change } };
    return this;
  }

  /** Enters a step. The timer of the step before no longer counts. */
  take(step: TaskStep): this {
    this.life = { ...this.life, step, timer: this.life.timer + 1 };
    return this;
  }

  /** Enters a step that keeps the timer of the present one. */
  correct(step: TaskStep): this {
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

export function isEnding(course: Course, stage: EndingStage): boolean {
  return course.step.type === 'ending' && course.step.stage === stage;
}

/** Steps in which an exit of the present attempt may come. */
export function hasProcess(step: TaskStep): boolean {
  if (step.type === 'ending') return step.stage !== 'preparing' && step.stage !== 'starting';
  return step.type === 'running' || step.type === 'recovering';
}
