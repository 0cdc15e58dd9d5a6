import { constants } from 'node:os';
import type { Result } from 'neverthrow';
import type { CommandInput, CommandOutput, CommandRefused, TaskUsage } from '../../../src/agent/link/node-command.js';
import type { StreamEnd } from '../../../src/agent/output/output-tail.js';
import type { TaskExit } from '../../../src/agent/task/decide-restart.js';
import type { TaskPaths } from '../disk/task-target.js';
import type { LogLimits } from '../logs/log-collector.js';

/** The arguments for starting a task. */
export interface TaskStart {
  readonly allocationId: string;
  readonly task: string;
  /** Number of this start, from 1. */
  readonly attempt: number;
  /** The task's `Config`, with references interpolated. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Null if the runner has no directory. */
  readonly paths: TaskPaths | null;
  /** Decoded dispatch payload; null if there is none. */
  readonly payload: Uint8Array | null;
  readonly meta: Readonly<Record<string, string>>;
  readonly logs: LogLimits;
  /** Receives the error of a failed function, on one line, for the runner's log. */
  readonly failed?: (error: string) => void;
}

/** A started task. An exception of a member affects only this task. */
export interface RunningTask {
  /** Resolves with the exit result. A rejection counts as a failure. */
  readonly exited: Promise<TaskExit>;
  /** Sends a signal to the task. */
  signal(name: string): void | Promise<void>;
  /** Kills it. */
  destroy(): void | Promise<void>;
  /** Releases the task without ending it, for a runner that stops and starts again. */
  release(): void | Promise<void>;
  /** Current resource usage; absent if it cannot be measured. */
  usage?(): Promise<TaskUsage>;
  /** The last output of both streams, for alerts; absent if it is in log files. */
  lastOutput?(): { readonly stdout: StreamEnd; readonly stderr: StreamEnd };
}

/** The running task, or why it could not be started. */
export type StartOutcome =
  | { readonly type: 'running'; readonly task: RunningTask }
  /** `refused`: the configuration is invalid for the driver. `recoverable`: the fault is temporary. */
  | {
      readonly type: 'start_failed';
      readonly message: string;
      readonly recoverable: boolean;
      readonly refused?: boolean;
    };

/** The state of a start that was under way when the runner was killed. */
export type RecoverOutcome =
  | { readonly type: 'running'; readonly task: RunningTask }
  | { readonly type: 'exited'; readonly exit: TaskExit }
  /** It had not started and never will: it is safe to start again. */
  | { readonly type: 'never_started' };

/** A command to run in the environment of a running task (exec). */
export interface ExecRequest {
  readonly command: readonly string[];
  readonly terminal: boolean;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: AsyncIterable<CommandInput>;
  /** Aborts when the caller disconnects, which ends the command. */
  readonly signal: AbortSignal;
  /** Aborts when the task has ended: the command ends, and the caller is notified. */
  readonly taskEnded: AbortSignal;
  /**
   * What happens to processes left in the command's process group when its first process ends: `end` ends them, for
   * repeated commands; otherwise they continue until the task ends.
   */
  readonly leftovers?: 'end';
  /** Called with the first process of the command; the returned function is called at its end. */
  readonly begun: (pid: number) => () => void;
}

/** The caller's part of an exec request; the driver adds the rest. */
export type CommandRequest = Omit<ExecRequest, 'directory' | 'environment' | 'taskEnded' | 'begun'>;

/** Runs tasks of one kind. */
export interface TaskDriver {
  readonly name: string;
  /** Whether tasks survive the runner's process. */
  readonly survives: boolean;
  /** The allowed values of `Config.function`; absent for drivers that do not run functions. */
  readonly functions?: readonly string[];
  /**
   * Starts the task. A rejection with an error whose `code` is a temporary shortage (`ENOSPC`, `EMFILE`,
   * `EAGAIN`, …) means that nothing was started: the call is repeated until it resolves or the task is no longer wanted.
   */
  start(start: TaskStart): Promise<StartOutcome>;
  /** Finds a start of an earlier runner. A rejection of the same kind means that its state is still unknown: the call is repeated. */
  recover(start: TaskStart): Promise<RecoverOutcome>;
  /** Runs a command in the environment of a running task; absent if the driver does not support exec. */
  exec?(start: TaskStart, request: CommandRequest): Promise<Result<AsyncIterable<CommandOutput>, CommandRefused>>;
}

/** The full name of a signal of this system, written with or without `SIG`; undefined for an unknown signal. */
export function knownSignal(name: string): NodeJS.Signals | undefined {
  const full = name.startsWith('SIG') ? name : `SIG${name}`;
  return Object.hasOwn(constants.signals, full) ? (full as NodeJS.Signals) : undefined;
}
