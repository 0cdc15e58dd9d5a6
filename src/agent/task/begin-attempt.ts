import { decideRestart, type TaskExit } from './decide-restart.js';
import type { StartFault } from './task-life.js';
import type { TaskRecord } from './task-record.js';
import type { TaskTransitionBuilder } from './task-transition-builder.js';

/* The steps of a task's attempts: preparation, start, recovery, and the consequences of a failure or of the process's end. */

export function prepare(transition: TaskTransitionBuilder, again: boolean): TaskTransitionBuilder {
  if (!again) transition.report({ type: 'setup' });
  return transition.enter({ type: 'preparing' }).effect({ type: 'prepare', again });
}

/** The attempt number is recorded before the effect is carried out: the record is stored first. */
export function start(transition: TaskTransitionBuilder): TaskTransitionBuilder {
  const attempt = transition.record.attempt + 1;
  return transition.note({ attempt }).enter({ type: 'starting' }).effect({ type: 'start', attempt });
}

export function recover(transition: TaskTransitionBuilder): TaskTransitionBuilder {
  return transition.enter({ type: 'recovering' }).effect({ type: 'recover', attempt: transition.record.attempt });
}

export function afterFault(transition: TaskTransitionBuilder, fault: StartFault): TaskTransitionBuilder {
  const { kind, message, recoverable } = fault;
  if (kind === 'setup') return die(transition.report({ type: 'setup_failed', message }), 'failed');
  const exit: TaskExit = { type: 'start_failed', message, recoverable };
  if (kind === 'download') transition.report({ type: 'download_failed', message });
  else if (kind === 'refused') transition.report({ type: 'refused', message });
  else transition.report({ type: 'ended', exit });
  return followPolicy(transition, exit, false);
}

export function afterExit(
  transition: TaskTransitionBuilder,
  exit: TaskExit,
  asFailure: boolean,
): TaskTransitionBuilder {
  return followPolicy(transition.report({ type: 'ended', exit }), exit, asFailure);
}

/** Applies the restart policy. The end and its consequence are one record. */
function followPolicy(transition: TaskTransitionBuilder, exit: TaskExit, asFailure: boolean): TaskTransitionBuilder {
  const { plan, record, inputs } = transition;
  const verdict = decideRestart(
    plan.restartPolicy,
    { exit, restartsOnSuccess: plan.restartsOnSuccess, asFailure },
    record.counted,
    { now: inputs.monotonic, fraction: inputs.fraction },
  );
  transition.note({ counted: verdict.next, endedAttempt: record.attempt });
  switch (verdict.type) {
    case 'succeeded':
      return die(transition.report({ type: 'succeeded' }), 'succeeded');
    case 'failed':
      return die(transition.report({ type: 'gave_up', reason: verdict.reason }), 'failed');
    case 'restart': {
      const { after, reason } = verdict;
      return transition.report({ type: 'restarting', after, reason }).enter({ type: 'waiting' }).timer(after);
    }
  }
}

export function die(
  transition: TaskTransitionBuilder,
  outcome: NonNullable<TaskRecord['outcome']>,
): TaskTransitionBuilder {
  return transition.note({ outcome, endedAttempt: transition.record.attempt }).enter({ type: 'over', as: 'dead' });
}
