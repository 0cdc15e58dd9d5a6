import type { TaskState } from '../../scheduler/allocation.js';
import { type Instant, isoFromInstant } from '../../shared/instant.js';
import { type TaskHappening, taskEvent } from './task-event.js';

/** The initial state of a task: pending, without events. */
export const pendingTask: TaskState = {
  State: 'pending',
  Failed: false,
  Restarts: 0,
  LastRestart: null,
  StartedAt: null,
  FinishedAt: null,
  Events: null,
  Paused: '',
};

const rememberedEvents = 10;

/** The task's state after a happening, with the event that reports it appended (job interface, TaskState). */
export function transitionTaskState(state: TaskState, happening: TaskHappening, now: Instant): TaskState {
  const event = taskEvent(happening, now);
  const events = event === undefined ? state.Events : [...(state.Events ?? []), event].slice(-rememberedEvents);
  return { ...state, ...changeOf(state, happening, isoFromInstant(now)), Events: events };
}

function changeOf(state: TaskState, happening: TaskHappening, at: string): Partial<TaskState> {
  switch (happening.type) {
    case 'started':
      return { State: 'running', StartedAt: at, FinishedAt: null };
    case 'restarting':
      return { State: 'pending', Restarts: state.Restarts + 1, LastRestart: at };
    case 'interrupted':
      return { State: 'pending' };
    case 'setup_failed':
    case 'gave_up':
      return { State: 'dead', Failed: true, FinishedAt: at };
    case 'succeeded':
    case 'killed':
      return { State: 'dead', FinishedAt: at };
    case 'received':
    case 'setup':
    case 'refused':
    case 'downloading':
    case 'download_failed':
    case 'ended':
    case 'restart_asked':
    case 'signalling':
    case 'shutdown_delay':
    case 'shutdown_delay_skipped':
    case 'killing':
    case 'sibling_failed':
    case 'leader_dead':
    case 'main_dead':
    case 'restored':
    case 'driver_message':
    case 'hook_message':
    case 'unhealthy':
      return {};
  }
}
