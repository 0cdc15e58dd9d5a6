import { expect, it } from 'vitest';
import type { TaskState } from '../../../src/scheduler/allocation.js';
import { pendingTask } from '../../../src/scheduler/allocation.js';
import { withTimesInLife } from '../../../src/scheduler/nodes/node-owner.js';
import { day, minute, second } from '../../../src/shared/duration.js';
import { isoFromInstant, unixNanosFromInstant } from '../../../src/shared/instant.js';

const created = Date.parse('2026-03-01T00:00:00Z');
const CreateTime = unixNanosFromInstant(created);
const running = (started: number, change: Partial<TaskState> = {}): TaskState => ({
  ...pendingTask,
  State: 'running',
  StartedAt: isoFromInstant(started),
  ...change,
});

it.each([
  ['before the creation', -day, 0],
  ['in the life', second, second],
  ['yet to come', day, minute],
])('a start that is %s is brought into the life', (_what, told, expected) => {
  const { main } = withTimesInLife({ main: running(created + told) }, { CreateTime }, created + minute);
  expect(main?.StartedAt).toBe(isoFromInstant(created + expected));
});

it('a start that is yet to come is not moved by each further report', () => {
  const ahead = running(created + day);
  const TaskStates = withTimesInLife({ main: ahead }, { CreateTime }, created + second);
  const later = withTimesInLife({ main: ahead }, { CreateTime, TaskStates }, created + minute);
  expect(later).toEqual(TaskStates);
  const again = running(created + day + minute, { Restarts: 1, LastRestart: isoFromInstant(created + day + second) });
  const restarted = withTimesInLife({ main: again }, { CreateTime, TaskStates: later }, created + 2 * minute);
  const now = isoFromInstant(created + 2 * minute);
  expect(restarted['main']).toMatchObject({ StartedAt: now, LastRestart: now });
});
