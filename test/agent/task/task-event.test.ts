import { expect, it } from 'vitest';
import { type TaskHappening, taskEvent } from '../../../src/agent/task/task-event.js';

/** Each kind of happening once: one that is missing here does not compile. */
const happenings: { readonly [T in TaskHappening['type']]: Extract<TaskHappening, { readonly type: T }> } = {
  received: { type: 'received' },
  setup: { type: 'setup' },
  setup_failed: { type: 'setup_failed', message: 'm' },
  refused: { type: 'refused', message: 'm' },
  downloading: { type: 'downloading' },
  download_failed: { type: 'download_failed', message: 'm' },
  started: { type: 'started' },
  ended: { type: 'ended', exit: { type: 'exited', code: 1, signal: 0 } },
  restarting: { type: 'restarting', after: 5, reason: 'r' },
  gave_up: { type: 'gave_up', reason: 'r' },
  succeeded: { type: 'succeeded' },
  restart_asked: { type: 'restart_asked', reason: 'r' },
  signalling: { type: 'signalling', signal: 'SIGHUP', reason: 'r' },
  shutdown_delay: { type: 'shutdown_delay', delay: 5 },
  shutdown_delay_skipped: { type: 'shutdown_delay_skipped' },
  killing: { type: 'killing', timeout: 5 },
  killed: { type: 'killed' },
  sibling_failed: { type: 'sibling_failed', sibling: 's' },
  leader_dead: { type: 'leader_dead' },
  main_dead: { type: 'main_dead' },
  restored: { type: 'restored' },
  interrupted: { type: 'interrupted' },
  driver_message: { type: 'driver_message', message: 'm' },
  hook_message: { type: 'hook_message', message: 'm' },
  unhealthy: { type: 'unhealthy', reason: 'r' },
};

/** All members of a task event (job interface), which clients expect to be there, empty or not. */
const members = [
  ...['Type', 'Time', 'Message', 'DisplayMessage', 'Details', 'FailsTask', 'RestartReason', 'SetupError'],
  ...['DriverError', 'ExitCode', 'Signal', 'KillTimeout', 'KillError', 'KillReason', 'StartDelay', 'DownloadError'],
  ...['ValidationError', 'DiskLimit', 'FailedSibling', 'VaultError', 'TaskSignalReason', 'TaskSignal'],
  ...['DriverMessage', 'GenericSource'],
].sort();

it.each(Object.values(happenings))('an event of $type has all members, and a sentence', (happening) => {
  const event = taskEvent(happening, 0);
  if (happening.type === 'succeeded') {
    expect(event).toBeUndefined();
    return;
  }
  const printed = JSON.parse(JSON.stringify(event));
  expect(Object.keys(printed).sort()).toEqual(members);
  expect(printed.DisplayMessage).not.toBe('');
});
