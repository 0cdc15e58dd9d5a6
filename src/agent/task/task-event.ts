import type { TaskEvent, TaskState } from '../../scheduler/allocation.js';
import { durationTextFromNanos, type Milliseconds } from '../../shared/duration.js';
import { type Instant, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import type { TaskExit } from './decide-restart.js';

/** An empty event. Events always have all members (job interface, TaskEvent). */
const emptyEvent: TaskEvent = {
  Type: '',
  Time: 0,
  Message: '',
  DisplayMessage: '',
  Details: {},
  FailsTask: false,
  RestartReason: '',
  SetupError: '',
  DriverError: '',
  ExitCode: 0,
  Signal: 0,
  KillTimeout: 0,
  KillError: '',
  KillReason: '',
  StartDelay: 0,
  DownloadError: '',
  ValidationError: '',
  DiskLimit: 0,
  FailedSibling: '',
  VaultError: '',
  TaskSignalReason: '',
  TaskSignal: '',
  DriverMessage: '',
  GenericSource: '',
};

/** The content of an event: its type, a sentence for display, and its members. */
type EventContent = Partial<Omit<TaskEvent, 'Time'>> & Pick<TaskEvent, 'Type' | 'DisplayMessage'>;

/** The event that reports a happening; undefined for one that only changes the state. */
export function taskEvent(happening: TaskHappening, now: Instant): TaskEvent | undefined {
  const content = contentOf(happening);
  return content === undefined ? undefined : { ...emptyEvent, Time: unixNanosFromInstant(now), ...shortened(content) };
}

/** Maximum length of a string: values of drivers and job names are unbounded, and servers reject reports with longer ones. */
const longestText = 4096;

function shortened(content: EventContent): EventContent {
  const { Details, ...members } = content;
  const texts = shortTexts(members);
  return Details === undefined || Details === null ? texts : { ...texts, Details: shortTexts(Details) };
}

function shortTexts<T extends object>(texts: T): T {
  const entries = Object.entries(texts).map(([name, value]: [string, unknown]) => [name, shortText(value)]);
  return Object.fromEntries(entries) as T;
}

function shortText(value: unknown): unknown {
  return typeof value === 'string' && value.length > longestText ? `${value.slice(0, longestText)}…` : value;
}

type Writer<T extends TaskHappening['type']> = (
  happening: Extract<TaskHappening, { readonly type: T }>,
) => EventContent | undefined;

/** Strings that existing clients show are written as they expect them. */
const writers: { readonly [T in TaskHappening['type']]: Writer<T> } = {
  received: () => ({ Type: 'Received', DisplayMessage: 'Task received by client' }),
  setup: () => message('Task Setup', 'Building Task Directory'),
  setup_failed: ({ message: text }) => ({
    Type: 'Setup Failure',
    DisplayMessage: text,
    SetupError: text,
    FailsTask: true,
    Details: { setup_error: text, fails_task: 'true' },
  }),
  refused: ({ message: text }) => ({
    Type: 'Failed Validation',
    DisplayMessage: text,
    ValidationError: text,
    Details: { validation_error: text },
  }),
  downloading: () => ({ Type: 'Downloading Artifacts', DisplayMessage: 'Downloading the artifacts of the task' }),
  download_failed: ({ message: text }) => ({
    Type: 'Failed Artifact Download',
    DisplayMessage: text,
    DownloadError: text,
    Details: { download_error: text },
  }),
  started: () => ({ Type: 'Started', DisplayMessage: 'Task started by client' }),
  ended: ({ exit }) => (exit.type === 'start_failed' ? driverFailure(exit.message) : terminated(exit)),
  restarting: ({ after, reason }) => restarting(nanosFrom(after), reason),
  gave_up: ({ reason }) => ({
    Type: 'Not Restarting',
    DisplayMessage: reason,
    RestartReason: reason,
    FailsTask: true,
    Details: { restart_reason: reason, fails_task: 'true' },
  }),
  succeeded: () => undefined,
  restart_asked: ({ reason }) => ({
    Type: 'Restart Signaled',
    DisplayMessage: reason,
    RestartReason: reason,
    Details: { restart_reason: reason },
  }),
  signalling: ({ signal, reason }) => ({
    Type: 'Signaling',
    DisplayMessage: reason === '' ? `Sending signal ${signal} to the task` : `Sending signal ${signal}: ${reason}`,
    TaskSignal: signal,
    TaskSignalReason: reason,
    Details: { task_signal: signal, task_signal_reason: reason },
  }),
  shutdown_delay: ({ delay }) =>
    message('Waiting for shutdown delay', `Waiting ${durationTextFromNanos(nanosFrom(delay))} before ending the task`),
  shutdown_delay_skipped: () => message('Skipping shutdown delay', 'Shutdown delay skipped on request'),
  killing: ({ timeout, reason }) => killing(nanosFrom(timeout), reason),
  killed: ({ error }) =>
    error === undefined
      ? { Type: 'Killed', DisplayMessage: 'Task successfully killed' }
      : { Type: 'Killed', DisplayMessage: error, KillError: error, Details: { kill_error: error } },
  sibling_failed: ({ sibling }) => ({
    Type: 'Sibling Task Failed',
    DisplayMessage: `Task ${JSON.stringify(sibling)} of the group failed`,
    FailedSibling: sibling,
    Details: { failed_sibling: sibling },
  }),
  leader_dead: () => ({ Type: 'Leader Task Dead', DisplayMessage: 'The leader task of the group is dead' }),
  main_dead: () => ({ Type: 'Main Tasks Dead', DisplayMessage: 'The main tasks of the group are dead' }),
  restored: () => ({ Type: 'Reconnected', DisplayMessage: 'Task recovered after a restart of its agent' }),
  interrupted: () => message('Interrupted', 'The agent stopped while the task ran; it runs again under the next agent'),
  driver_message: ({ message: text }) => ({
    Type: 'Driver',
    DisplayMessage: text,
    DriverMessage: text,
    Details: { driver_message: text },
  }),
  hook_message: ({ message: text }) => message('Task hook message', text),
  unhealthy: ({ reason }) => message('Alloc Unhealthy', reason),
};

function contentOf(happening: TaskHappening): EventContent | undefined {
  // Each kind of happening has its own writer type, so the lookup needs a cast.
  return (writers[happening.type] as (of: TaskHappening) => EventContent | undefined)(happening);
}

function message(Type: string, text: string): EventContent {
  return { Type, DisplayMessage: text, Message: text, Details: { message: text } };
}

function driverFailure(text: string): EventContent {
  return { Type: 'Driver Failure', DisplayMessage: text, DriverError: text, Details: { driver_error: text } };
}

function terminated(exit: Extract<TaskExit, { readonly type: 'exited' }>): EventContent {
  const { code, signal, message: text, outOfMemory = false } = exit;
  const withSignal = signal === 0 ? `Exit Code: ${code}` : `Exit Code: ${code}, Signal: ${signal}`;
  return {
    Type: 'Terminated',
    DisplayMessage: text === undefined ? withSignal : `${withSignal}, Exit Message: ${JSON.stringify(text)}`,
    Message: text ?? '',
    ExitCode: code,
    Signal: signal,
    Details: {
      exit_code: String(code),
      signal: String(signal),
      oom_killed: String(outOfMemory),
      ...(text === undefined ? {} : { exit_message: text }),
    },
  };
}

function restarting(delay: number, reason: string): EventContent {
  const soon = `Task restarting in ${durationTextFromNanos(delay)}`;
  return {
    Type: 'Restarting',
    DisplayMessage: reason === '' || reason === 'Restart within policy' ? soon : `${reason} - ${soon}`,
    RestartReason: reason,
    StartDelay: delay,
    Details: { restart_reason: reason, start_delay: String(delay) },
  };
}

function killing(timeout: number, reason: string | undefined): EventContent {
  const waiting = `Sent interrupt. Waiting ${durationTextFromNanos(timeout)} before force killing`;
  return {
    Type: 'Killing',
    DisplayMessage: reason === undefined ? waiting : `${reason}. ${waiting}`,
    KillTimeout: timeout,
    KillReason: reason ?? '',
    Details: {
      kill_timeout: durationTextFromNanos(timeout),
      ...(reason === undefined ? {} : { kill_reason: reason }),
    },
  };
}

function nanosFrom(milliseconds: Milliseconds): number {
  return Math.round(milliseconds * 1_000_000);
}

/** The restart reason when the whole allocation is restarted. */
export const allTasksRestart = 'All tasks restart';

/** The events of a task, each with its data. */
export type TaskHappening =
  | { readonly type: 'received' }
  | { readonly type: 'setup' }
  | { readonly type: 'setup_failed'; readonly message: string }
  /** The driver rejected the task's configuration. */
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'downloading' }
  | { readonly type: 'download_failed'; readonly message: string }
  | { readonly type: 'started' }
  | { readonly type: 'ended'; readonly exit: TaskExit }
  | { readonly type: 'restarting'; readonly after: Milliseconds; readonly reason: string }
  | { readonly type: 'gave_up'; readonly reason: string }
  | { readonly type: 'succeeded' }
  | { readonly type: 'restart_asked'; readonly reason: string }
  | { readonly type: 'signalling'; readonly signal: string; readonly reason: string }
  | { readonly type: 'shutdown_delay'; readonly delay: Milliseconds }
  | { readonly type: 'shutdown_delay_skipped' }
  | { readonly type: 'killing'; readonly timeout: Milliseconds; readonly reason?: string }
  /** `error`: why it is uncertain whether the task really ended. */
  | { readonly type: 'killed'; readonly error?: string }
  | { readonly type: 'sibling_failed'; readonly sibling: string }
  | { readonly type: 'leader_dead' }
  | { readonly type: 'main_dead' }
  | { readonly type: 'restored' }
  /** The agent stopped while the task ran and will run it again: not an end, and not a used attempt. */
  | { readonly type: 'interrupted' }
  | { readonly type: 'driver_message'; readonly message: string }
  | { readonly type: 'hook_message'; readonly message: string }
  /** The deadline for becoming healthy has passed. */
  | { readonly type: 'unhealthy'; readonly reason: string };

const rememberedEvents = 10;

/** The task's state after a happening, with the event that reports it appended (job interface, TaskState). */
export function transitionTaskState(state: TaskState, happening: TaskHappening, now: Instant): TaskState {
  const event = taskEvent(happening, now);
  const events = event === undefined ? state.Events : [...(state.Events ?? []), event].slice(-rememberedEvents);
  return { ...state, ...changeOf(state, happening, isoFromInstant(now)), Events: events };
}

/** The members of the state that a happening changes; the others are events only. */
function changeOf(state: TaskState, { type }: TaskHappening, at: string): Partial<TaskState> {
  const changes: { readonly [T in TaskHappening['type']]?: Partial<TaskState> } = {
    started: { State: 'running', StartedAt: at, FinishedAt: null },
    restarting: { State: 'pending', Restarts: state.Restarts + 1, LastRestart: at },
    interrupted: { State: 'pending' },
    setup_failed: { State: 'dead', Failed: true, FinishedAt: at },
    gave_up: { State: 'dead', Failed: true, FinishedAt: at },
    succeeded: { State: 'dead', FinishedAt: at },
    killed: { State: 'dead', FinishedAt: at },
  };
  return changes[type] ?? {};
}
