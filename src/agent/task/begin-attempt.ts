import { decideRestart, type TaskExit } from './decide-restart.js';
import type { Course } from './task-course.js';
import type { StartFault } from './task-life.js';
import type { TaskRecord } from './task-record.js';

/* The steps of a task's attempts: preparation, start, recovery, and what follows from their failure or from the end of the process. */

export function prepare(course: Course, again: boolean): Course {
  if (!again) course.tell({ type: 'setup' });
  return course.take({ type: 'preparing' }).effect({ type: 'prepare', again });
}

/** The number is in the record before the effect is carried out: the record is stored first. */
export function start(course: Course): Course {
  const attempt = course.record.attempt + 1;
  return course.note({ attempt }).take({ type: 'starting' }).effect({ type: 'start', attempt });
}

export function recover(course: Course): Course {
  return course.take({ type: 'recovering' }).effect({ type: 'recover', attempt: course.record.attempt });
}

export function afterFault(course: Course, fault: StartFault): Course {
  const { kind, message, recoverable } = fault;
  if (kind === 'setup') return die(course.tell({ type: 'setup_failed', message }), 'failed');
  const exit: TaskExit = { type: 'start_failed', message, recoverable };
  if (kind === 'download') course.tell({ type: 'download_failed', message });
  else if (kind === 'refused') course.tell({ type: 'refused', message });
  else course.tell({ type: 'ended', exit });
  return followPolicy(course, exit, false);
}

export function afterExit(course: Course, exit: TaskExit, asFailure: boolean): Course {
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

export function die(course: Course, outcome: NonNullable<TaskRecord['outcome']>): Course {
  return course.note({ outcome, endedAttempt: course.record.attempt }).take({ type: 'over', as: 'dead' });
}
