import { expect, it } from 'vitest';
import { firstStart, type TaskEvent, type TaskState } from '../../src/scheduler/allocation.js';

const at = Date.parse('2026-03-01T00:00:00Z');
const event = (Type: string, second: number): TaskEvent => ({
  ...{ Type, Time: (at + second * 1000) * 1e6, Message: '', DisplayMessage: '', Details: {}, FailsTask: false },
  ...{ RestartReason: '', SetupError: '', DriverError: '', DriverMessage: '', ExitCode: 0, Signal: 0, KillReason: '' },
  ...{ KillTimeout: 0, KillError: '', StartDelay: 0, DownloadError: '', ValidationError: '', DiskLimit: 0 },
  ...{ FailedSibling: '', VaultError: '', TaskSignalReason: '', TaskSignal: '', GenericSource: '' },
});

/** A task that started last in a second, if at all; these are its starts among its events. */
function task(last: number | null, ...starts: readonly number[]): TaskState {
  const StartedAt = last === null ? null : new Date(at + last * 1000).toISOString();
  const Events = starts.flatMap((second) => [event('Received', second - 1), event('Started', second)]);
  return {
    State: 'dead',
    Failed: false,
    Restarts: 0,
    LastRestart: null,
    StartedAt,
    FinishedAt: null,
    Events,
    Paused: '',
  };
}

it.each([
  { title: 'none without allocations', tasks: [], first: undefined },
  { title: 'none without a task that started', tasks: [{ a: task(null) }], first: undefined },
  { title: 'that of the state', tasks: [{ a: task(5) }], first: 5 },
  { title: 'that before a restart', tasks: [{ a: task(9, 3, 9) }], first: 3 },
  { title: 'that of another task', tasks: [{ a: task(9), b: task(4) }], first: 4 },
  { title: 'that of another allocation', tasks: [{ a: task(9) }, { a: task(2, 2) }], first: 2 },
])('the first start is $title', ({ tasks, first }) => {
  const started = firstStart([...tasks.map((TaskStates) => ({ TaskStates })), {}]);
  expect(started).toBe(first === undefined ? undefined : at + first * 1000);
});
