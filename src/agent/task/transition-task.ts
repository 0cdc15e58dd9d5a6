import {
  afterExit,
  afterFault,
  beginEnd,
  endProcess,
  endSooner,
  finishEnd,
  nextStage,
  prepare,
  recover,
  start,
} from './attempts.js';
import type { TaskExit } from './decide-restart.js';
import { allTasksRestart, type TaskHappening } from './task-event.js';
import { mayHaveProcess, type TaskLife, type TaskLifeEvent } from './task-life.js';
import type { DecisionInputs, TaskPlan } from './task-plan.js';
import { hasProcess, isEnding, type TaskTransition, TaskTransitionBuilder } from './task-transition-builder.js';

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
