import type { TaskExit } from '../../src/index.js';
import type { TaskPaths } from './task-memory.js';

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
  readonly logs: { readonly maximumFiles: number; readonly maximumFileBytes: number; readonly disabled: boolean };
}

export interface RunningTask {
  /** Never rejects. */
  readonly exited: Promise<TaskExit>;
  /** Asks the task to end. */
  signal(name: string): void;
  /** Ends it whatever it does. */
  destroy(): void;
  /** Lets go of the task without ending it, for a runner that stops and comes back. */
  release(): void;
}

export type StartOutcome =
  | { readonly type: 'running'; readonly task: RunningTask }
  | { readonly type: 'start_failed'; readonly message: string; readonly recoverable: boolean };

/** What became of a start after the runner was killed. */
export type RecoverOutcome =
  | { readonly type: 'running'; readonly task: RunningTask }
  | { readonly type: 'exited'; readonly exit: TaskExit }
  /** It had not begun, and it never will: starting anew cannot double it. */
  | { readonly type: 'never_started' };

/** Runs tasks of one kind. */
export interface TaskDriver {
  readonly name: string;
  /** Whether tasks outlive the runner's process. */
  readonly survives: boolean;
  start(start: TaskStart): Promise<StartOutcome>;
  recover(start: TaskStart): Promise<RecoverOutcome>;
}
