import { type Milliseconds, second } from '../../shared/duration.js';
import type { TaskExit } from './decide-restart.js';
import type { TaskHappening } from './task-event.js';
import type { TaskRecord } from './task-plan.js';

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

export type TaskStep =
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
