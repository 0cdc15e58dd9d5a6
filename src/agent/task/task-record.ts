import type { TaskState } from '../../scheduler/allocation.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { RestartCount } from './decide-restart.js';
import { pendingTask } from './transition-task-state.js';

type TaskOutcome = 'succeeded' | 'failed' | 'killed';

/** The data that a restarted agent has about a task. */
export interface TaskRecord {
  readonly state: TaskState;
  /** Number of the last start; 0 before the first. */
  readonly attempt: number;
  /** The last start whose end has been handled. Stored together with what follows from that end. */
  readonly endedAttempt: number;
  readonly counted: RestartCount;
  /** The timeline of the clock that `counted` was read from. */
  readonly timeline: string;
  /** Null while the task is not dead. */
  readonly outcome: TaskOutcome | null;
  /**
   * A restart of all tasks under way, so that another agent continues it. `ending`: the task ends, to begin again. `awaiting_start`: it has
   * not started since. Notes of earlier agents have none.
   */
  readonly restartOfAll?: 'ending' | 'awaiting_start' | null;
}

/** A reading of both clocks, and a random number for decisions. */
export interface Moment {
  /** Wall time, for what people read. */
  readonly now: number;
  /** The monotonic clock, for intervals. */
  readonly monotonic: Milliseconds;
  readonly timeline: string;
  /** A random number in [0, 1). */
  readonly fraction: number;
}

/** `reported` is the last report to the server about the task, by this agent or by an earlier one whose notes were lost. */
export function freshTaskRecord(reported: TaskState | undefined, moment: Moment): TaskRecord {
  return {
    state: reported ?? pendingTask,
    attempt: 0,
    endedAttempt: 0,
    counted: { intervalStart: moment.monotonic, count: 0 },
    timeline: moment.timeline,
    outcome: reported === undefined ? null : outcomeOf(reported),
  };
}

/** A record that was read again: an interval of another timeline begins again and keeps its count. */
export function recalledTaskRecord(record: TaskRecord, moment: Moment): TaskRecord {
  if (record.timeline === moment.timeline) return record;
  return {
    ...record,
    timeline: moment.timeline,
    counted: { intervalStart: moment.monotonic, count: record.counted.count },
  };
}

/** Whether it has started since all tasks began, for the first time or again. */
export function hasStarted({ state, restartOfAll }: TaskRecord): boolean {
  return state.StartedAt !== null && restartOfAll !== 'awaiting_start';
}

/** Whether it was ever started; the server may know of a start although the notes of the agent were lost. */
export function hasBegun({ attempt, state }: TaskRecord): boolean {
  return attempt > 0 || state.StartedAt !== null;
}

function outcomeOf(state: TaskState): TaskOutcome | null {
  if (state.State !== 'dead') return null;
  return state.Failed ? 'failed' : 'succeeded';
}
