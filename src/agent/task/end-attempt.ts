import { afterExit, die, prepare } from './begin-attempt.js';
import { restartReasons, type TaskExit } from './decide-restart.js';
import type { Course } from './task-course.js';
import { driverPatience, type EndingStage, mayHaveProcess, type TaskEnd } from './task-life.js';

/* The end of a task's attempt, stage by stage: the driver's answer, the shutdown delay, the kill signal, and force. */

export function beginEnd(course: Course, end: TaskEnd): Course {
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

/** Ending continues when the driver has answered, or without an answer. */
function awaitDriver(course: Course, stage: 'preparing' | 'starting' | 'recovering', end: TaskEnd): Course {
  return course.take({ type: 'ending', stage, end }).timer(driverPatience);
}

/** Shutdown delay, kill signal, kill timeout, and then by force. */
export function endProcess(course: Course, end: TaskEnd): Course {
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

export function nextStage(course: Course, stage: EndingStage, end: TaskEnd): Course {
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

/** The driver has not answered: the task counts as killed, although that is not certain. */
function giveUp(course: Course): Course {
  const error = 'The driver did not answer in time; what became of the task is not known';
  course.tell({ type: 'killed', error }).effect({ type: 'destroy', attempt: course.record.attempt });
  return die(course, 'killed');
}

/** A second order to end: the stronger of the two holds, and a shutdown delay may be cut short. */
export function endSooner(course: Course, stage: EndingStage, before: TaskEnd, after: TaskEnd): Course {
  const end = before.purpose === 'die' ? { ...before, skipDelay: before.skipDelay || after.skipDelay } : after;
  return stage === 'delayed' && end.skipDelay ? ask(course, end) : course.correct({ type: 'ending', stage, end });
}

export function finishEnd(course: Course, exit?: TaskExit): Course {
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
