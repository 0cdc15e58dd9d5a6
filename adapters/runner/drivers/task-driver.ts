import type { Result } from 'neverthrow';
import type { CommandInput, CommandOutput, CommandRefused, TaskUsage } from '../../../src/agent/link/node-command.js';
import type { StreamEnd } from '../../../src/agent/output/output-tail.js';
import type { TaskExit } from '../../../src/agent/task/decide-restart.js';
import type { TaskPaths } from '../disk/task-paths.js';
import type { LogLimits } from '../logs/log-files.js';

/** What a driver is given to start a task. */
export interface TaskStart {
  readonly allocationId: string;
  readonly task: string;
  /** Number of this start, from 1. */
  readonly attempt: number;
  /** The task's `Config`, with references filled in. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Null when the runner has no disk. */
  readonly paths: TaskPaths | null;
  /** Decoded dispatch payload; null when the job was not dispatched with one. */
  readonly payload: Uint8Array | null;
  readonly meta: Readonly<Record<string, string>>;
  readonly logs: LogLimits;
  /** Takes what made a function of this process fail, on one line, for the log of the runner. */
  readonly failed?: (error: string) => void;
}

/** A task that was started. Whatever a member throws concerns this task only. */
export interface RunningTask {
  /** How it ended; once. A rejection counts as a failure. */
  readonly exited: Promise<TaskExit>;
  /** Sends a signal to the task. */
  signal(name: string): void | Promise<void>;
  /** Ends it whatever it does. */
  destroy(): void | Promise<void>;
  /** Lets go of the task without ending it, for a runner that stops and comes back. */
  release(): void | Promise<void>;
  /** Current resource usage; absent if it cannot be measured. */
  usage?(): Promise<TaskUsage>;
  /** The ends of its output, for alerts; absent where the log files have them. */
  lastOutput?(): { readonly stdout: StreamEnd; readonly stderr: StreamEnd };
}

/** A task that runs, or why it could not be started. */
export type StartOutcome =
  | { readonly type: 'running'; readonly task: RunningTask }
  /** `refused`: the driver cannot use the configuration. `recoverable`: the fault may pass. */
  | {
      readonly type: 'start_failed';
      readonly message: string;
      readonly recoverable: boolean;
      readonly refused?: boolean;
    };

/** The state of a start that a runner had begun before it was killed. */
export type RecoverOutcome =
  | { readonly type: 'running'; readonly task: RunningTask }
  | { readonly type: 'exited'; readonly exit: TaskExit }
  /** It had not begun, and it never will: starting anew cannot double it. */
  | { readonly type: 'never_started' };

/** A command to run beside a task. */
export interface ExecRequest {
  readonly command: readonly string[];
  readonly terminal: boolean;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: AsyncIterable<CommandInput>;
  /** Aborts when the caller disconnects, which ends the command. */
  readonly signal: AbortSignal;
  /** Aborts when the task has ended: the command ends with it, and the caller is notified. */
  readonly taskEnded: AbortSignal;
  /**
   * What becomes of processes that the command has left in its process group when its first process ends: `end` ends them, as for
   * commands that are repeated; otherwise they continue until the task ends.
   */
  readonly leftovers?: 'end';
  /** Notified of the first process of the command; the function that it gives is called at the end of that. */
  readonly begun: (pid: number) => () => void;
}

/** The request for a command beside a task; the driver adds the rest. */
export type CommandRequest = Omit<ExecRequest, 'directory' | 'environment' | 'taskEnded' | 'begun'>;

/** Runs tasks of one kind. */
export interface TaskDriver {
  readonly name: string;
  /** Whether tasks outlive the runner's process. */
  readonly survives: boolean;
  /** The names that tasks of this driver can have in `Config.function`; absent for drivers of other things. */
  readonly functions?: readonly string[];
  /**
   * Starts the task. A rejection with an error whose `code` says that the system lacks something for now (`ENOSPC`, `EMFILE`,
   * `EAGAIN`, …) means that nothing was started: it is asked again, until it answers or the task is no longer wanted.
   */
  start(start: TaskStart): Promise<StartOutcome>;
  /** Says what became of a start. A rejection of the same kind means that it is unknown yet: it is asked again. */
  recover(start: TaskStart): Promise<RecoverOutcome>;
  /** Runs a command beside a running task; absent if the driver does not support it. */
  exec?(start: TaskStart, request: CommandRequest): Promise<Result<AsyncIterable<CommandOutput>, CommandRefused>>;
}
