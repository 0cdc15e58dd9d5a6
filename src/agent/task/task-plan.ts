import type { Job } from '../../jobs/document/job.js';
import type { RestartPolicy } from '../../jobs/document/policies.js';
import type { Task } from '../../jobs/document/task.js';
import type { TaskState } from '../../scheduler/allocation.js';
import { type Milliseconds, millisecondsFromNanos, second } from '../../shared/duration.js';
import type { RestartCount } from './decide-restart.js';
import { pendingTask } from './transition-task-state.js';

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
