import { expect, it } from 'vitest';
import { taskPlan } from '../../../src/agent/task/task-life.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';

const types = ['service', 'system', 'batch', 'sysbatch'] as const;

function planOf(task: object, Type: (typeof types)[number] = 'service') {
  const job = jobFrom({
    Type,
    TaskGroups: [
      groupDocument({
        Tasks: [
          { Name: 'main', Driver: 'exec' },
          { Name: 't', Driver: 'exec', ...task },
        ],
      }),
    ],
  });
  const made = job.TaskGroups[0]?.Tasks.find(({ Name }) => Name === 't');
  if (made === undefined) throw new Error('no task');
  return taskPlan(job, made, false);
}

it.each([
  [{}, { killSignal: 'SIGINT', killTimeout: 5000, shutdownDelay: 0 }],
  [{ KillSignal: 'SIGTERM' }, { killSignal: 'SIGTERM' }],
  [
    { KillSignal: 'SIGUSR1', KillTimeout: 12e9 },
    { killSignal: 'SIGUSR1', killTimeout: 12_000 },
  ],
  [{ KillTimeout: 30e9 }, { killTimeout: 30_000 }],
  [{ KillTimeout: 31e9 }, { killTimeout: 30_000 }],
  [{ ShutdownDelay: 60e9 }, { shutdownDelay: 60_000 }],
])('a task is ended as it says, within half a minute: %j', (task, expected) => {
  expect(planOf(task)).toMatchObject(expected);
});

it.each([
  [null, ['service', 'system']],
  [{ Hook: 'prestart', Sidecar: false }, []],
  [{ Hook: 'prestart', Sidecar: true }, types],
  [{ Hook: 'poststart', Sidecar: false }, []],
  [{ Hook: 'poststart', Sidecar: true }, types],
  [{ Hook: 'poststop', Sidecar: false }, []],
])('a task with the lifecycle %j that has ended well begins again in jobs of the types %j', (Lifecycle, again) => {
  expect(types.filter((type) => planOf({ Lifecycle }, type).restartsOnSuccess)).toEqual(again);
});
