import type { Job } from '../../jobs/document/job.js';
import type { RestartPolicy } from '../../jobs/document/policies.js';
import type { Task } from '../../jobs/document/task.js';
import type { TaskState } from '../../scheduler/allocation.js';
import { pendingTask } from '../../scheduler/allocation.js';
import { type Milliseconds, millisecondsFromNanos, second } from '../../shared/duration.js';
import type { RestartCount, TaskExit } from './decide-restart.js';
import { type TaskHappening, transitionTaskState } from './task-event.js';

/*
 * The life of one task on its node.
 *
 *   idle ── begin ──▶ preparing ── prepared ──▶ starting ── started ──▶ running
 *     │                   ▲                        │                      │
 *     │                   └──── waiting ◀──────────┴──── exited ──────────┤   restart policy
 *     │                                                                   │
 *     └── begin, after the agent restarted: recovering ── found ──────────┘
 *
 *   from anywhere:  end ──▶ ending (delayed ▶ asked ▶ forced) ──▶ over
 *
 * A step that waits for a driver's answer ends with that answer or with a timeout: a driver that never answers, or answers
 * twice, blocks only its own task.
 */

type TaskStep =
  | { readonly type: 'idle' }
  | { readonly type: 'preparing' }
  | { readonly type: 'starting' }
  | { readonly type: 'recovering' }
  | { readonly type: 'running' }
  /** Waiting for its restart. */
  | { readonly type: 'waiting' }
  | { readonly type: 'ending'; readonly stage: EndingStage; readonly end: TaskEnd }
  /** Dead with the outcome in its record, or left to the next agent. */
  | { readonly type: 'over'; readonly as: 'dead' | 'interrupted' | 'released' };

/**
 * `preparing`, `starting` and `recovering` wait for the driver's answer before anything can be ended; `delayed` is the
 * shutdown delay; `asked`: the kill signal was sent; `forced`: killed, but the exit is not reported yet.
 */
export type EndingStage = 'preparing' | 'starting' | 'recovering' | 'delayed' | 'asked' | 'forced';

/** Why a task is ended, and how. `fail`: it must not continue, regardless of its restart policy. */
export interface TaskEnd {
  readonly purpose: 'die' | 'fail' | 'interrupt' | 'restart' | 'restart_as_failure';
  readonly skipDelay: boolean;
  /** Milliseconds that replace the kill timeout. */
  readonly within?: Milliseconds;
}

export interface TaskLife {
  readonly record: TaskRecord;
  readonly step: TaskStep;
  /** Number of the current timer; earlier timers are ignored. */
  readonly timer: number;
}

/** Why a task cannot start, by the failed step. `refused`: the driver rejected the configuration. */
export interface StartFault {
  readonly kind: 'setup' | 'download' | 'refused' | 'driver';
  readonly message: string;
  readonly recoverable: boolean;
}

export type TaskLifeEvent =
  /** The task may start now. */
  | { readonly type: 'begin' }
  | { readonly type: 'prepared' }
  | { readonly type: 'not_prepared'; readonly fault: StartFault }
  | { readonly type: 'started'; readonly attempt: number }
  | { readonly type: 'not_started'; readonly attempt: number; readonly fault: StartFault }
  /** The start was recovered and continues. */
  | { readonly type: 'found'; readonly attempt: number }
  /** The start had not begun and never will. */
  | { readonly type: 'never_started'; readonly attempt: number }
  | { readonly type: 'exited'; readonly attempt: number; readonly exit: TaskExit }
  | { readonly type: 'timer'; readonly timer: number }
  | { readonly type: 'end'; readonly end: TaskEnd; readonly reasons: readonly TaskHappening[] }
  /** The agent ends and the task continues. */
  | { readonly type: 'release' }
  | { readonly type: 'restart'; readonly reason: string; readonly asFailure: boolean }
  /** A restart of all tasks begins or is cancelled. */
  | { readonly type: 'restart_of_all'; readonly begins: boolean }
  /** A dead task starts again from its beginning, as part of a restart of all tasks. */
  | { readonly type: 'revive' }
  /** An event that is recorded without changing the step. */
  | { readonly type: 'report'; readonly happening: TaskHappening };

/** A command to a performer, which answers with events. */
export type TaskEffect =
  | { readonly type: 'prepare'; readonly again: boolean }
  /** Cancel a preparation or start that is still waiting. */
  | { readonly type: 'cancel_preparation' }
  | { readonly type: 'start'; readonly attempt: number }
  | { readonly type: 'recover'; readonly attempt: number }
  | { readonly type: 'signal'; readonly attempt: number; readonly signal: string }
  | { readonly type: 'destroy'; readonly attempt: number }
  | { readonly type: 'release'; readonly attempt: number }
  | { readonly type: 'timer'; readonly timer: number; readonly after: Milliseconds };

/** How long a driver may take to report a task's end after a kill, or to answer while a task is ending, in milliseconds. */
export const driverTimeout: Milliseconds = 15 * second;

export function newTaskLife(record: TaskRecord): TaskLife {
  return { record, step: record.outcome === null ? { type: 'idle' } : { type: 'over', as: 'dead' }, timer: 0 };
}

/** Whether one of its starts may have left a process whose end was not observed. */
export function mayHaveProcess(life: TaskLife): boolean {
  return life.record.outcome === null && life.record.attempt > life.record.endedAttempt;
}

/** Whether the agent has nothing more to do for the task. */
export function isOver(life: TaskLife): boolean {
  return life.step.type === 'over';
}

type TaskOutcome = 'succeeded' | 'failed' | 'killed';

/** A task's record, from which a restarted agent continues. */
export interface TaskRecord {
  readonly state: TaskState;
  /** Number of the last start; 0 before the first. */
  readonly attempt: number;
  /** The last start whose end has been handled. Stored together with the consequences of that end. */
  readonly endedAttempt: number;
  readonly counted: RestartCount;
  /** The timeline of the clock on which `counted` was read. */
  readonly timeline: string;
  /** Null until the task is dead. */
  readonly outcome: TaskOutcome | null;
  /**
   * State of a restart of all tasks, so that another agent continues it. `ending`: the task ends, to start again. `awaiting_start`: it has
   * not started since. Absent from records of earlier agents.
   */
  readonly restartOfAll?: 'ending' | 'awaiting_start' | null;
}

/** Readings of both clocks, and a random number, for decisions. */
export interface DecisionInputs {
  /** Wall time, for display. */
  readonly now: number;
  /** Monotonic time, for intervals. */
  readonly monotonic: Milliseconds;
  readonly timeline: string;
  /** A random number in [0, 1). */
  readonly fraction: number;
}

/** `reported` is the task's last reported state, from this agent or from an earlier one whose records were lost. */
export function freshTaskRecord(reported: TaskState | undefined, inputs: DecisionInputs): TaskRecord {
  return {
    state: reported ?? pendingTask,
    attempt: 0,
    endedAttempt: 0,
    counted: { intervalStart: inputs.monotonic, count: 0 },
    timeline: inputs.timeline,
    outcome: reported === undefined ? null : outcomeOf(reported),
  };
}

/** Restores a stored record: an interval of another timeline starts over and keeps its count. */
export function restoredTaskRecord(record: TaskRecord, inputs: DecisionInputs): TaskRecord {
  if (record.timeline === inputs.timeline) return record;
  return {
    ...record,
    timeline: inputs.timeline,
    counted: { intervalStart: inputs.monotonic, count: record.counted.count },
  };
}

/** Whether it has started since all tasks began, for the first time or again. */
export function hasStarted({ state, restartOfAll }: TaskRecord): boolean {
  return state.StartedAt !== null && restartOfAll !== 'awaiting_start';
}

/** Whether it has ever started. The server may have recorded a start that the agent's lost records do not show. */
export function hasBegun({ attempt, state }: TaskRecord): boolean {
  return attempt > 0 || state.StartedAt !== null;
}

function outcomeOf(state: TaskState): TaskOutcome | null {
  if (state.State !== 'dead') return null;
  return state.Failed ? 'failed' : 'succeeded';
}

/** What the agent needs to know about a task to decide its life. */
export interface TaskPlan {
  readonly name: string;
  readonly phase: TaskPhase;
  readonly leader: boolean;
  readonly restartPolicy: RestartPolicy;
  /** Whether the task runs permanently, so that it restarts after a success. */
  readonly restartsOnSuccess: boolean;
  /** With the prefix `SIG`. */
  readonly killSignal: string;
  readonly killTimeout: Milliseconds;
  readonly shutdownDelay: Milliseconds;
  /** Whether it continues when its agent ends, and can be recovered. */
  readonly survives: boolean;
}

/** Maximum kill timeout: a node never waits longer for a task to end. */
const maximumKillTimeout = 30 * second;

export function taskPlan(job: Pick<Job, 'Type'>, task: Task, survives: boolean): TaskPlan {
  const phase = taskPhase(task);
  return {
    name: task.Name,
    phase,
    leader: task.Leader,
    restartPolicy: task.RestartPolicy,
    restartsOnSuccess: restartsOnSuccess(job, phase),
    killSignal: signalName(task.KillSignal === '' ? 'SIGINT' : task.KillSignal),
    killTimeout: Math.min(millisecondsFromNanos(task.KillTimeout), maximumKillTimeout),
    shutdownDelay: millisecondsFromNanos(task.ShutdownDelay),
    survives,
  };
}

/** The full signal name in capitals; `term` and `TERM` become `SIGTERM`. */
export function signalName(text: string): string {
  const name = text.toUpperCase();
  return name.startsWith('SIG') ? name : `SIG${name}`;
}

/** When a task runs within its allocation. */
export type TaskPhase = 'prestart' | 'prestart_sidecar' | 'main' | 'poststart' | 'poststart_sidecar' | 'poststop';

export function taskPhase(task: Pick<Task, 'Lifecycle'>): TaskPhase {
  const lifecycle = task.Lifecycle;
  if (lifecycle === null) return 'main';
  switch (lifecycle.Hook) {
    case 'prestart':
      return lifecycle.Sidecar ? 'prestart_sidecar' : 'prestart';
    case 'poststart':
      return lifecycle.Sidecar ? 'poststart_sidecar' : 'poststart';
    case 'poststop':
      return 'poststop';
    default:
      return 'main';
  }
}

/** Whether a task restarts after a success: main tasks of services and sidecars run permanently. */
export function restartsOnSuccess(job: Pick<Job, 'Type'>, phase: TaskPhase): boolean {
  if (phase === 'main') return job.Type === 'service' || job.Type === 'system';
  return phase === 'prestart_sidecar' || phase === 'poststart_sidecar';
}

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
