import type { Milliseconds } from '../../shared/duration.js';
import { decideRestart, restartReasons, type TaskExit } from './decide-restart.js';
import type { TaskHappening } from './task-happening.js';
import {
  driverPatience,
  type EndingStage,
  mayHaveProcess,
  type StartFault,
  type TaskEffect,
  type TaskEnd,
  type TaskLife,
  type TaskLifeEvent,
  type TaskStep,
} from './task-life.js';
import type { TaskPlan } from './task-plan.js';
import type { Moment, TaskRecord } from './task-record.js';
import { transitionTaskState } from './transition-task-state.js';

export interface TaskTransition {
  readonly next: TaskLife;
  readonly effects: readonly TaskEffect[];
}

/** Moves a task by one event. An event that means nothing in the present step changes nothing. */
export function transitionTask(life: TaskLife, event: TaskLifeEvent, plan: TaskPlan, moment: Moment): TaskTransition {
  const course = new Course(life, plan, moment);
  return handlers[event.type](course, event as never).transition();
}

/** Collects what one event changes. */
class Course {
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
    return this.note({ state });
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

type Handler<T extends TaskLifeEvent['type']> = (
  course: Course,
  event: Extract<TaskLifeEvent, { readonly type: T }>,
) => Course;

const handlers: { readonly [T in TaskLifeEvent['type']]: Handler<T> } = {
  begin(course) {
    if (course.step.type !== 'idle') return course;
    return mayHaveProcess(course.life) ? recover(course) : prepare(course, course.record.attempt > 0);
  },
  prepared(course) {
    if (isEnding(course, 'preparing')) return finishEnd(course);
    return course.step.type === 'preparing' ? start(course) : course;
  },
  not_prepared(course, { fault }) {
    if (isEnding(course, 'preparing')) return finishEnd(course);
    return course.step.type === 'preparing' ? afterFault(course, fault) : course;
  },
  started(course, { attempt }) {
    return answers(course, 'starting', attempt) ? isUp(course, [{ type: 'started' }]) : isLate(course, attempt);
  },
  not_started(course, { attempt, fault }) {
    if (!answers(course, 'starting', attempt)) return course;
    return course.step.type === 'ending' ? finishEnd(course) : afterFault(course, fault);
  },
  found(course, { attempt }) {
    if (!answers(course, 'recovering', attempt)) return isLate(course, attempt);
    const missed: TaskHappening[] = course.record.state.State === 'running' ? [] : [{ type: 'started' }];
    return isUp(course, [...missed, { type: 'restored' }]);
  },
  never_started(course, { attempt }) {
    if (!answers(course, 'recovering', attempt)) return course;
    course.note({ endedAttempt: attempt });
    return course.step.type === 'ending' ? finishEnd(course) : prepare(course, true);
  },
  exited(course, { attempt, exit }) {
    if (attempt !== course.record.attempt || !hasProcess(course.step)) return course;
    if (missedStart(course, exit)) course.tell({ type: 'started' });
    return course.step.type === 'ending' ? finishEnd(course, exit) : afterExit(course, exit, false);
  },
  timer(course, { timer }) {
    if (timer !== course.life.timer) return course;
    if (course.step.type === 'waiting') return prepare(course, true);
    return course.step.type === 'ending' ? nextStage(course, course.step.stage, course.step.end) : course;
  },
  end(course, { end, reasons }) {
    if (course.step.type === 'over') return course;
    if (course.step.type === 'ending') return endSooner(course, course.step.stage, course.step.end, end);
    return beginEnd(course.tell(...reasons), end);
  },
  release(course) {
    if (course.step.type === 'over') return course;
    if (hasProcess(course.step)) course.effect({ type: 'release', attempt: course.record.attempt });
    return course.take({ type: 'over', as: 'released' });
  },
  restart(course, { reason, asFailure }) {
    const { type } = course.step;
    if (type !== 'waiting' && type !== 'running') return course;
    course.tell({ type: 'restart_asked', reason });
    if (type === 'waiting') return prepare(course, true);
    return beginEnd(course, { purpose: asFailure ? 'restart_as_failure' : 'restart', skipDelay: true });
  },
  revive(course) {
    if (course.step.type !== 'over' || course.step.as !== 'dead') return course;
    const state = { ...course.record.state, State: 'pending' as const, Failed: false, FinishedAt: null };
    const happening = { type: 'restarting', after: 0, reason: 'All tasks restart' } as const;
    return course.note({ outcome: null, state }).tell(happening).take({ type: 'idle' });
  },
  tell: (course, { happening }) => course.tell(happening),
};

function isEnding(course: Course, stage: EndingStage): boolean {
  return course.step.type === 'ending' && course.step.stage === stage;
}

/** Whether the step waits for this answer of the driver, whether to go on or to end. */
function answers(course: Course, step: 'starting' | 'recovering', attempt: number): boolean {
  return attempt === course.record.attempt && (course.step.type === step || isEnding(course, step));
}

/** Steps in which an exit of the present attempt may come. */
function hasProcess(step: TaskStep): boolean {
  if (step.type === 'ending') return step.stage !== 'preparing' && step.stage !== 'starting';
  return step.type === 'running' || step.type === 'recovering';
}

/** It started and ended while the agent was away: its start was never told. */
function missedStart(course: Course, exit: TaskExit): boolean {
  const recovering = course.step.type === 'recovering' || isEnding(course, 'recovering');
  return recovering && exit.type === 'exited' && course.record.state.State !== 'running';
}

function prepare(course: Course, again: boolean): Course {
  if (!again) course.tell({ type: 'setup' });
  return course.take({ type: 'preparing' }).effect({ type: 'prepare', again });
}

/** The number is in the record before the effect: whoever performs it notes the record first. */
function start(course: Course): Course {
  const attempt = course.record.attempt + 1;
  return course.note({ attempt }).take({ type: 'starting' }).effect({ type: 'start', attempt });
}

function recover(course: Course): Course {
  return course.take({ type: 'recovering' }).effect({ type: 'recover', attempt: course.record.attempt });
}

function isUp(course: Course, happenings: readonly TaskHappening[]): Course {
  course.tell(...happenings);
  return course.step.type === 'ending' ? endProcess(course, course.step.end) : course.take({ type: 'running' });
}

/** A start that is answered too late must not be left running. */
function isLate(course: Course, attempt: number): Course {
  if (attempt === course.record.attempt && hasProcess(course.step)) return course;
  const released = course.step.type === 'over' && course.step.as === 'released';
  return course.effect({ type: released ? 'release' : 'destroy', attempt });
}

function afterFault(course: Course, fault: StartFault): Course {
  const { kind, message, recoverable } = fault;
  if (kind === 'setup') return die(course.tell({ type: 'setup_failed', message }), 'failed');
  const exit: TaskExit = { type: 'start_failed', message, recoverable };
  if (kind === 'download') course.tell({ type: 'download_failed', message });
  else if (kind === 'refused') course.tell({ type: 'refused', message });
  else course.tell({ type: 'ended', exit });
  return followPolicy(course, exit, false);
}

function afterExit(course: Course, exit: TaskExit, asFailure: boolean): Course {
  return followPolicy(course.tell({ type: 'ended', exit }), exit, asFailure);
}

/** Applies the restart policy. The end and what follows from it are one record. */
function followPolicy(course: Course, exit: TaskExit, asFailure: boolean): Course {
  const { plan, record, moment } = course;
  const verdict = decideRestart(
    plan.restartPolicy,
    { exit, restartsOnSuccess: plan.restartsOnSuccess, asFailure },
    record.counted,
    { now: moment.monotonic, fraction: moment.fraction },
  );
  course.note({ counted: verdict.next, endedAttempt: record.attempt });
  switch (verdict.type) {
    case 'succeeded':
      return die(course.tell({ type: 'succeeded' }), 'succeeded');
    case 'failed':
      return die(course.tell({ type: 'gave_up', reason: verdict.reason }), 'failed');
    case 'restart': {
      const { after, reason } = verdict;
      return course.tell({ type: 'restarting', after, reason }).take({ type: 'waiting' }).timer(after);
    }
  }
}

function die(course: Course, outcome: NonNullable<TaskRecord['outcome']>): Course {
  return course.note({ outcome, endedAttempt: course.record.attempt }).take({ type: 'over', as: 'dead' });
}

function beginEnd(course: Course, end: TaskEnd): Course {
  const { step } = course;
  switch (step.type) {
    case 'idle':
      if (!mayHaveProcess(course.life)) return finishEndAs(course, end, undefined);
      course.effect({ type: 'recover', attempt: course.record.attempt });
      return awaitDriver(course, 'recovering', end);
    case 'preparing':
    case 'starting':
      course.effect({ type: 'cancel_preparation' });
      return awaitDriver(course, step.type, end);
    case 'recovering':
      return awaitDriver(course, 'recovering', end);
    case 'running':
      return endProcess(course, end);
    case 'waiting':
    case 'ending':
    case 'over':
      return finishEndAs(course, end, undefined);
  }
}

/** The end goes on when the driver has answered, or without it. */
function awaitDriver(course: Course, stage: 'preparing' | 'starting' | 'recovering', end: TaskEnd): Course {
  return course.take({ type: 'ending', stage, end }).timer(driverPatience);
}

/** Shutdown delay, kill signal, kill timeout, and then by force. */
function endProcess(course: Course, end: TaskEnd): Course {
  const { shutdownDelay: delay } = course.plan;
  if (delay <= 0 || end.purpose !== 'die') return ask(course, end);
  if (end.skipDelay) return ask(course.tell({ type: 'shutdown_delay_skipped' }), end);
  return course.tell({ type: 'shutdown_delay', delay }).take({ type: 'ending', stage: 'delayed', end }).timer(delay);
}

function ask(course: Course, end: TaskEnd): Course {
  const { killSignal: signal, killTimeout } = course.plan;
  const timeout = end.within ?? killTimeout;
  if (end.purpose === 'die' || end.purpose === 'fail') course.tell({ type: 'killing', timeout });
  return course
    .take({ type: 'ending', stage: 'asked', end })
    .effect({ type: 'signal', attempt: course.record.attempt, signal })
    .timer(timeout);
}

function nextStage(course: Course, stage: EndingStage, end: TaskEnd): Course {
  switch (stage) {
    case 'delayed':
      return ask(course, end);
    case 'asked':
      return course
        .effect({ type: 'destroy', attempt: course.record.attempt })
        .take({ type: 'ending', stage: 'forced', end })
        .timer(driverPatience);
    case 'preparing':
    case 'starting':
    case 'recovering':
    case 'forced':
      return giveUp(course);
  }
}

/** The driver has not answered: the task counts as killed, whatever became of it. */
function giveUp(course: Course): Course {
  const error = 'The driver did not answer in time; what became of the task is not known';
  course.tell({ type: 'killed', error }).effect({ type: 'destroy', attempt: course.record.attempt });
  return die(course, 'killed');
}

/** A second order to end: the stronger of the two holds, and a shutdown delay may be cut short. */
function endSooner(course: Course, stage: EndingStage, before: TaskEnd, after: TaskEnd): Course {
  const end = before.purpose === 'die' ? { ...before, skipDelay: before.skipDelay || after.skipDelay } : after;
  return stage === 'delayed' && end.skipDelay ? ask(course, end) : course.correct({ type: 'ending', stage, end });
}

function finishEnd(course: Course, exit?: TaskExit): Course {
  return course.step.type === 'ending' ? finishEndAs(course, course.step.end, exit) : course;
}

function finishEndAs(course: Course, end: TaskEnd, exit: TaskExit | undefined): Course {
  const endedAttempt = course.record.attempt;
  const tellsExit = end.purpose === 'die' || end.purpose === 'fail' || end.purpose === 'restart';
  if (exit !== undefined && tellsExit) course.tell({ type: 'ended', exit });
  switch (end.purpose) {
    case 'die':
      return die(course.tell({ type: 'killed' }), 'killed');
    case 'fail':
      return die(course.tell({ type: 'gave_up', reason: restartReasons.unrecoverable }), 'failed');
    case 'interrupt':
      if (course.step.type !== 'idle') course.tell({ type: 'interrupted' });
      return course.note({ endedAttempt }).take({ type: 'over', as: 'interrupted' });
    case 'restart':
      return prepare(course.tell({ type: 'restarting', after: 0, reason: '' }).note({ endedAttempt }), true);
    case 'restart_as_failure':
      return exit === undefined ? prepare(course, true) : afterExit(course, exit, true);
  }
}
