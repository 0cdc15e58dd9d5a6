import { afterExit, afterFault, prepare, recover, start } from './begin-attempt.js';
import type { TaskExit } from './decide-restart.js';
import { beginEnd, endProcess, endSooner, finishEnd, nextStage } from './end-attempt.js';
import { Course, hasProcess, isEnding, type TaskTransition } from './task-course.js';
import { allTasksRestart, type TaskHappening } from './task-happening.js';
import { mayHaveProcess, type TaskLife, type TaskLifeEvent } from './task-life.js';
import type { TaskPlan } from './task-plan.js';
import type { Moment } from './task-record.js';

/** Moves a task by one event. An event that means nothing in the present step changes nothing. */
export function transitionTask(life: TaskLife, event: TaskLifeEvent, plan: TaskPlan, moment: Moment): TaskTransition {
  const course = new Course(life, plan, moment);
  return handlers[event.type](course, event as never).transition();
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
  restart_of_all: (course, { begins }) => course.note({ restartOfAll: begins ? 'ending' : null }),
  revive(course) {
    if (course.step.type !== 'over' || course.step.as !== 'dead') return course.note({ restartOfAll: null });
    const state = { ...course.record.state, State: 'pending' as const, Failed: false, FinishedAt: null };
    const happening = { type: 'restarting', after: 0, reason: allTasksRestart } as const;
    return course.note({ outcome: null, state, restartOfAll: 'awaiting_start' }).tell(happening).take({ type: 'idle' });
  },
  tell: (course, { happening }) => course.tell(happening),
};

/** Whether the step waits for this answer of the driver, whether to continue or to end. */
function answers(course: Course, step: 'starting' | 'recovering', attempt: number): boolean {
  return attempt === course.record.attempt && (course.step.type === step || isEnding(course, step));
}

/** It started and ended while the agent was not running, so its start was not reported. */
function missedStart(course: Course, exit: TaskExit): boolean {
  const recovering = course.step.type === 'recovering' || isEnding(course, 'recovering');
  return recovering && exit.type === 'exited' && course.record.state.State !== 'running';
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
