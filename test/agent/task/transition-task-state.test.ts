import { describe, expect, it } from 'vitest';
import { type TaskHappening, transitionTaskState } from '../../../src/agent/task/task-event.js';
import type { TaskState } from '../../../src/scheduler/allocation.js';
import { pendingTask } from '../../../src/scheduler/allocation.js';

const now = Date.UTC(2026, 0, 1, 12);
const at = new Date(now).toISOString();
const before = new Date(now - 60_000).toISOString();

const running: TaskState = { ...pendingTask, State: 'running', StartedAt: before };
const dead: TaskState = { ...running, State: 'dead', FinishedAt: before };

const change = (state: TaskState, happening: TaskHappening) => {
  const { Events: _, ...after } = transitionTaskState(state, happening, now);
  return after;
};
const { Events: _pending, ...pendingMembers } = pendingTask;
const { Events: _running, ...runningMembers } = running;

describe('the state of a task', () => {
  it.each<[string, TaskState, TaskHappening, Partial<TaskState>]>([
    ['runs from its start', pendingTask, { type: 'started' }, { State: 'running', StartedAt: at }],
    [
      'has not finished once it starts again',
      dead,
      { type: 'started' },
      { State: 'running', StartedAt: at, FinishedAt: null },
    ],
    [
      'waits for its restart, which counts',
      { ...running, Restarts: 2 },
      { type: 'restarting', after: 5, reason: '' },
      { State: 'pending', Restarts: 3, LastRestart: at },
    ],
    ['waits for the next agent', running, { type: 'interrupted' }, { State: 'pending' }],
    ['has failed for good', running, { type: 'gave_up', reason: 'r' }, { State: 'dead', Failed: true, FinishedAt: at }],
    [
      'has failed before its start',
      pendingTask,
      { type: 'setup_failed', message: 'm' },
      { State: 'dead', Failed: true, FinishedAt: at },
    ],
    ['has succeeded', running, { type: 'succeeded' }, { State: 'dead', FinishedAt: at }],
    ['was killed, which is no failure', running, { type: 'killed' }, { State: 'dead', FinishedAt: at }],
  ])('%s', (_what, state, happening, expected) => {
    const { Events: _events, ...members } = state;
    expect(change(state, happening)).toEqual({ ...members, ...expected });
  });

  it.each<TaskHappening>([
    { type: 'received' },
    { type: 'setup' },
    { type: 'refused', message: 'm' },
    { type: 'download_failed', message: 'm' },
    { type: 'ended', exit: { type: 'exited', code: 1, signal: 0 } },
    { type: 'killing', timeout: 5000 },
    { type: 'sibling_failed', sibling: 'other' },
    { type: 'leader_dead' },
    { type: 'main_dead' },
    { type: 'restored' },
  ])('is only told of by $type', (happening) => {
    expect(change(pendingTask, happening)).toEqual(pendingMembers);
    expect(change(running, happening)).toEqual(runningMembers);
    expect(transitionTaskState(running, happening, now).Events).toHaveLength(1);
  });

  it('keeps the last ten events', () => {
    let state = pendingTask;
    for (let at = 1; at <= 12; at += 1)
      state = transitionTaskState(state, { type: 'driver_message', message: `${at}` }, now);
    expect(state.Events?.map(({ DriverMessage }) => DriverMessage)).toEqual(
      Array.from({ length: 10 }, (_, index) => `${index + 3}`),
    );
  });
});
