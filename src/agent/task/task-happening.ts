import type { Milliseconds } from '../../shared/duration.js';
import type { TaskExit } from './decide-restart.js';

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
