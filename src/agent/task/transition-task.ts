import { decideRestart, restartReasons, type TaskExit } from './decide-restart.js';
import { allTasksRestart, type TaskHappening } from './task-event.js';
import {
  type DecisionInputs,
  driverTimeout,
  type EndingStage,
  hasProcess,
  isEnding,
  mayHaveProcess,
  type StartFault,
  type TaskEnd,
  type TaskLife,
  type TaskLifeEvent,
  type TaskPlan,
  type TaskRecord,
  type TaskTransition,
  TaskTransitionBuilder,
} from './task-life.js';

/** Applies one event to a task. Events that do not apply to the current step change nothing. */
export function transitionTask(
  life: TaskLife,
  event: TaskLifeEvent,
  plan: TaskPlan,
  inputs: DecisionInputs,
): TaskTransition {
  const transition = new TaskTransitionBuilder(life, plan, inputs);
  return handlers[event.type](transition, event as never).build();
}

type Handler<T extends TaskLifeEvent['type']> = (
  transition: TaskTransitionBuilder,
  event: Extract<TaskLifeEvent, { readonly type: T }>,
) => TaskTransitionBuilder;

const handlers: { readonly [T in TaskLifeEvent['type']]: Handler<T> } = {
  begin(transition) {
    if (transition.step.type !== 'idle') return transition;
    return mayHaveProcess(transition.life) ? recover(transition) : prepare(transition, transition.record.attempt > 0);
  },
  prepared(transition) {
    if (isEnding(transition, 'preparing')) return finishEnd(transition);
    return transition.step.type === 'preparing' ? start(transition) : transition;
  },
  not_prepared(transition, { fault }) {
    if (isEnding(transition, 'preparing')) return finishEnd(transition);
    return transition.step.type === 'preparing' ? afterFault(transition, fault) : transition;
  },
  started(transition, { attempt }) {
    return answers(transition, 'starting', attempt)
      ? isUp(transition, [{ type: 'started' }])
      : isLate(transition, attempt);
  },
  not_started(transition, { attempt, fault }) {
    if (!answers(transition, 'starting', attempt)) return transition;
    return transition.step.type === 'ending' ? finishEnd(transition) : afterFault(transition, fault);
  },
  found(transition, { attempt }) {
    if (!answers(transition, 'recovering', attempt)) return isLate(transition, attempt);
    const missed: TaskHappening[] = transition.record.state.State === 'running' ? [] : [{ type: 'started' }];
    return isUp(transition, [...missed, { type: 'restored' }]);
  },
  never_started(transition, { attempt }) {
    if (!answers(transition, 'recovering', attempt)) return transition;
    transition.note({ endedAttempt: attempt });
    return transition.step.type === 'ending' ? finishEnd(transition) : prepare(transition, true);
  },
  exited(transition, { attempt, exit }) {
    if (attempt !== transition.record.attempt || !hasProcess(transition.step)) return transition;
    if (missedStart(transition, exit)) transition.report({ type: 'started' });
    return transition.step.type === 'ending' ? finishEnd(transition, exit) : afterExit(transition, exit, false);
  },
  timer(transition, { timer }) {
    if (timer !== transition.life.timer) return transition;
    if (transition.step.type === 'waiting') return prepare(transition, true);
    return transition.step.type === 'ending'
      ? nextStage(transition, transition.step.stage, transition.step.end)
      : transition;
  },
  end(transition, { end, reasons }) {
    if (transition.step.type === 'over') return transition;
    if (transition.step.type === 'ending')
      return endSooner(transition, transition.step.stage, transition.step.end, end);
    return beginEnd(transition.report(...reasons), end);
  },
  release(transition) {
    if (transition.step.type === 'over') return transition;
    if (hasProcess(transition.step)) transition.effect({ type: 'release', attempt: transition.record.attempt });
    return transition.enter({ type: 'over', as: 'released' });
  },
  restart(transition, { reason, asFailure }) {
    const { type } = transition.step;
    if (type !== 'waiting' && type !== 'running') return transition;
    transition.report({ type: 'restart_asked', reason });
    if (type === 'waiting') return prepare(transition, true);
    return beginEnd(transition, { purpose: asFailure ? 'restart_as_failure' : 'restart', skipDelay: true });
  },
  restart_of_all: (transition, { begins }) => transition.note({ restartOfAll: begins ? 'ending' : null }),
  revive(transition) {
    if (transition.step.type !== 'over' || transition.step.as !== 'dead')
      return transition.note({ restartOfAll: null });
    const state = { ...transition.record.state, State: 'pending' as const, Failed: false, FinishedAt: null };
    const happening = { type: 'restarting', after: 0, reason: allTasksRestart } as const;
    return transition
      .note({ outcome: null, state, restartOfAll: 'awaiting_start' })
      .report(happening)
      .enter({ type: 'idle' });
  },
  report: (transition, { happening }) => transition.report(happening),
};

/** Whether the step waits for this answer of the driver, either to continue or to end. */
function answers(transition: TaskTransitionBuilder, step: 'starting' | 'recovering', attempt: number): boolean {
  return attempt === transition.record.attempt && (transition.step.type === step || isEnding(transition, step));
}

/** Whether it started and ended while the agent was not running, so that its start was not reported. */
function missedStart(transition: TaskTransitionBuilder, exit: TaskExit): boolean {
  const recovering = transition.step.type === 'recovering' || isEnding(transition, 'recovering');
  return recovering && exit.type === 'exited' && transition.record.state.State !== 'running';
}

function isUp(transition: TaskTransitionBuilder, happenings: readonly TaskHappening[]): TaskTransitionBuilder {
  transition.report(...happenings);
  return transition.step.type === 'ending'
    ? endProcess(transition, transition.step.end)
    : transition.enter({ type: 'running' });
}

/** A task that starts too late must not be left running. */
function isLate(transition: TaskTransitionBuilder, attempt: number): TaskTransitionBuilder {
  if (attempt === transition.record.attempt && hasProcess(transition.step)) return transition;
  const released = transition.step.type === 'over' && transition.step.as === 'released';
  return transition.effect({ type: released ? 'release' : 'destroy', attempt });
}

/* The steps of a task's attempts: preparation, start, recovery, and the consequences of a failure or of the process's end. */

function prepare(transition: TaskTransitionBuilder, again: boolean): TaskTransitionBuilder {
  if (!again) transition.report({ type: 'setup' });
  return transition.enter({ type: 'preparing' }).effect({ type: 'prepare', again });
}

/** The attempt number is recorded before the effect is carried out: the record is stored first. */
function start(transition: TaskTransitionBuilder): TaskTransitionBuilder {
  const attempt = transition.record.attempt + 1;
  return transition.note({ attempt }).enter({ type: 'starting' }).effect({ type: 'start', attempt });
}

function recover(transition: TaskTransitionBuilder): TaskTransitionBuilder {
  return transition.enter({ type: 'recovering' }).effect({ type: 'recover', attempt: transition.record.attempt });
}

function afterFault(transition: TaskTransitionBuilder, fault: StartFault): TaskTransitionBuilder {
  const { kind, message, recoverable } = fault;
  if (kind === 'setup') return die(transition.report({ type: 'setup_failed', message }), 'failed');
  const exit: TaskExit = { type: 'start_failed', message, recoverable };
  if (kind === 'download') transition.report({ type: 'download_failed', message });
  else if (kind === 'refused') transition.report({ type: 'refused', message });
  else transition.report({ type: 'ended', exit });
  return followPolicy(transition, exit, false);
}

function afterExit(transition: TaskTransitionBuilder, exit: TaskExit, asFailure: boolean): TaskTransitionBuilder {
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

function die(transition: TaskTransitionBuilder, outcome: NonNullable<TaskRecord['outcome']>): TaskTransitionBuilder {
  return transition.note({ outcome, endedAttempt: transition.record.attempt }).enter({ type: 'over', as: 'dead' });
}

/* The end of a task's attempt, stage by stage: the driver's answer, the shutdown delay, the kill signal, and force. */

function beginEnd(transition: TaskTransitionBuilder, end: TaskEnd): TaskTransitionBuilder {
  const { step } = transition;
  switch (step.type) {
    case 'idle':
      if (!mayHaveProcess(transition.life)) return finishEndAs(transition, end, undefined);
      transition.effect({ type: 'recover', attempt: transition.record.attempt });
      return awaitDriver(transition, 'recovering', end);
    case 'preparing':
    case 'starting':
      transition.effect({ type: 'cancel_preparation' });
      return awaitDriver(transition, step.type, end);
    case 'recovering':
      return awaitDriver(transition, 'recovering', end);
    case 'running':
      return endProcess(transition, end);
    case 'waiting':
    case 'ending':
    case 'over':
      return finishEndAs(transition, end, undefined);
  }
}

/** The end continues when the driver has answered, or after the timeout. */
function awaitDriver(
  transition: TaskTransitionBuilder,
  stage: 'preparing' | 'starting' | 'recovering',
  end: TaskEnd,
): TaskTransitionBuilder {
  return transition.enter({ type: 'ending', stage, end }).timer(driverTimeout);
}

/** Shutdown delay, kill signal, kill timeout, then a forced kill. */
function endProcess(transition: TaskTransitionBuilder, end: TaskEnd): TaskTransitionBuilder {
  const { shutdownDelay: delay } = transition.plan;
  if (delay <= 0 || end.purpose !== 'die') return requestKill(transition, end);
  if (end.skipDelay) return requestKill(transition.report({ type: 'shutdown_delay_skipped' }), end);
  return transition
    .report({ type: 'shutdown_delay', delay })
    .enter({ type: 'ending', stage: 'delayed', end })
    .timer(delay);
}

function requestKill(transition: TaskTransitionBuilder, end: TaskEnd): TaskTransitionBuilder {
  const { killSignal: signal, killTimeout } = transition.plan;
  const timeout = end.within ?? killTimeout;
  if (end.purpose === 'die' || end.purpose === 'fail') transition.report({ type: 'killing', timeout });
  return transition
    .enter({ type: 'ending', stage: 'asked', end })
    .effect({ type: 'signal', attempt: transition.record.attempt, signal })
    .timer(timeout);
}

function nextStage(transition: TaskTransitionBuilder, stage: EndingStage, end: TaskEnd): TaskTransitionBuilder {
  switch (stage) {
    case 'delayed':
      return requestKill(transition, end);
    case 'asked':
      return transition
        .effect({ type: 'destroy', attempt: transition.record.attempt })
        .enter({ type: 'ending', stage: 'forced', end })
        .timer(driverTimeout);
    case 'preparing':
    case 'starting':
    case 'recovering':
    case 'forced':
      return giveUp(transition);
  }
}

/** The driver did not answer: the task counts as killed, although this is unconfirmed. */
function giveUp(transition: TaskTransitionBuilder): TaskTransitionBuilder {
  const error = 'The driver did not answer in time; the task may still be running';
  transition.report({ type: 'killed', error }).effect({ type: 'destroy', attempt: transition.record.attempt });
  return die(transition, 'killed');
}

/** A second request to end: the stronger one wins, and a shutdown delay may be shortened. */
function endSooner(
  transition: TaskTransitionBuilder,
  stage: EndingStage,
  before: TaskEnd,
  after: TaskEnd,
): TaskTransitionBuilder {
  const end = before.purpose === 'die' ? { ...before, skipDelay: before.skipDelay || after.skipDelay } : after;
  return stage === 'delayed' && end.skipDelay
    ? requestKill(transition, end)
    : transition.enterKeepingTimer({ type: 'ending', stage, end });
}

function finishEnd(transition: TaskTransitionBuilder, exit?: TaskExit): TaskTransitionBuilder {
  return transition.step.type === 'ending' ? finishEndAs(transition, transition.step.end, exit) : transition;
}

function finishEndAs(
  transition: TaskTransitionBuilder,
  end: TaskEnd,
  exit: TaskExit | undefined,
): TaskTransitionBuilder {
  const endedAttempt = transition.record.attempt;
  const reportsExit = end.purpose === 'die' || end.purpose === 'fail' || end.purpose === 'restart';
  if (exit !== undefined && reportsExit) transition.report({ type: 'ended', exit });
  switch (end.purpose) {
    case 'die':
      return die(transition.report({ type: 'killed' }), 'killed');
    case 'fail':
      return die(transition.report({ type: 'gave_up', reason: restartReasons.unrecoverable }), 'failed');
    case 'interrupt':
      if (transition.step.type !== 'idle') transition.report({ type: 'interrupted' });
      return transition.note({ endedAttempt }).enter({ type: 'over', as: 'interrupted' });
    case 'restart':
      return prepare(transition.report({ type: 'restarting', after: 0, reason: '' }).note({ endedAttempt }), true);
    case 'restart_as_failure':
      return exit === undefined ? prepare(transition, true) : afterExit(transition, exit, true);
  }
}
