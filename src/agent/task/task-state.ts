import type { TaskEvent, TaskState } from '../../scheduler/allocation.js';
import { type Instant, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import type { TaskExit } from './decide-restart.js';

/** What can happen to a task, each with its data. */
export type TaskHappening =
  | { readonly type: 'received' }
  | { readonly type: 'setup' }
  | { readonly type: 'setup_failed'; readonly message: string }
  | { readonly type: 'started' }
  | { readonly type: 'ended'; readonly exit: TaskExit }
  | { readonly type: 'restarting'; readonly after: number; readonly reason: string }
  | { readonly type: 'gave_up'; readonly reason: string }
  | { readonly type: 'succeeded' }
  | { readonly type: 'shutdown_delay'; readonly delay: number }
  | { readonly type: 'killing'; readonly reason: string; readonly timeout: number }
  | { readonly type: 'killed' }
  | { readonly type: 'sibling_failed'; readonly sibling: string }
  | { readonly type: 'leader_dead' }
  | { readonly type: 'main_dead' }
  | { readonly type: 'restored' };

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

/** The task's state after something happened to it, with the event of that name appended. */
export function transitionTask(state: TaskState, happening: TaskHappening, now: Instant): TaskState {
  const event = eventOf(happening, now);
  const events = event === undefined ? state.Events : [...(state.Events ?? []), event].slice(-rememberedEvents);
  return { ...state, ...changeOf(state, happening, now), Events: events };
}

function changeOf(state: TaskState, happening: TaskHappening, now: Instant): Partial<TaskState> {
  const at = isoFromInstant(now);
  switch (happening.type) {
    case 'started':
      return { State: 'running', StartedAt: at, FinishedAt: null };
    case 'restarting':
      return { State: 'pending', Restarts: state.Restarts + 1, LastRestart: at };
    case 'setup_failed':
    case 'gave_up':
      return { State: 'dead', Failed: true, FinishedAt: at };
    case 'succeeded':
    case 'killed':
      return { State: 'dead', FinishedAt: at };
    case 'received':
    case 'setup':
    case 'ended':
    case 'shutdown_delay':
    case 'killing':
    case 'sibling_failed':
    case 'leader_dead':
    case 'main_dead':
    case 'restored':
      return {};
  }
}

function eventOf(happening: TaskHappening, now: Instant): TaskEvent | undefined {
  switch (happening.type) {
    case 'received':
      return taskEvent('Received', 'The node has taken the task', now);
    case 'setup':
      return taskEvent('Task Setup', 'Building the task directory', now, { message: 'Building the task directory' });
    case 'setup_failed':
      return {
        ...taskEvent('Setup Failure', happening.message, now, { setup_error: happening.message, fails_task: 'true' }),
        FailsTask: true,
      };
    case 'started':
      return taskEvent('Started', 'The task has started', now);
    case 'ended':
      return endedEvent(happening.exit, now);
    case 'restarting':
      return {
        ...taskEvent('Restarting', `${happening.reason}; it starts in ${Math.round(happening.after)} ms`, now, {
          restart_reason: happening.reason,
          start_delay: String(Math.round(happening.after * 1_000_000)),
        }),
        RestartReason: happening.reason,
        StartDelay: Math.round(happening.after * 1_000_000),
      };
    case 'gave_up':
      return {
        ...taskEvent('Not Restarting', happening.reason, now, { restart_reason: happening.reason, fails_task: 'true' }),
        RestartReason: happening.reason,
        FailsTask: true,
      };
    case 'shutdown_delay':
      return taskEvent('Waiting for shutdown delay', `Waiting ${happening.delay} ms before the task is killed`, now);
    case 'killing':
      return taskEvent('Killing', happening.reason, now, {
        kill_reason: happening.reason,
        kill_timeout: `${happening.timeout}ms`,
      });
    case 'killed':
      return taskEvent('Killed', 'The task was killed', now);
    case 'sibling_failed':
      return taskEvent('Sibling Task Failed', `Task ${happening.sibling} failed`, now, {
        failed_sibling: happening.sibling,
      });
    case 'leader_dead':
      return taskEvent('Leader Task Dead', 'The leader task of the group is dead', now);
    case 'main_dead':
      return taskEvent('Main Tasks Dead', 'The main tasks of the group are dead', now);
    case 'restored':
      return taskEvent('Reconnected', 'The task was found again after the agent had stopped', now);
    case 'succeeded':
      return undefined;
  }
}

function endedEvent(exit: TaskExit, now: Instant): TaskEvent {
  if (exit.type === 'start_failed') {
    return {
      ...taskEvent('Driver Failure', exit.message, now, { driver_error: exit.message }),
      DriverError: exit.message,
    };
  }
  const { code, signal, message } = exit;
  const status = signal === 0 ? `Exit code ${code}` : `Exit code ${code}, signal ${signal}`;
  const text = message === undefined ? status : `${status}: ${message}`;
  const details = {
    exit_code: String(code),
    signal: String(signal),
    ...(message === undefined ? {} : { exit_message: message }),
  };
  return { ...taskEvent('Terminated', text, now, details), ExitCode: code, Signal: signal };
}

function taskEvent(
  type: string,
  message: string,
  now: Instant,
  details: Readonly<Record<string, string>> = {},
): TaskEvent {
  return {
    Type: type,
    Time: unixNanosFromInstant(now),
    Message: '',
    DisplayMessage: message,
    Details: details,
    ExitCode: 0,
    Signal: 0,
    FailsTask: false,
    RestartReason: '',
    DriverError: '',
    StartDelay: 0,
  };
}
