import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AllocationEvent } from '../../src/agent/allocation/transition-allocation.js';
import type { TaskEffect, TaskLifeEvent } from '../../src/agent/task/task-life.js';
import { AllocationPlay, exited, plainScript, type Script } from '../support/allocation-play.js';
import { jobFrom } from '../support/jobs.js';

/*
 * A driver that throws, rejects, never answers or answers twice at each of its steps leaves the other tasks untouched, and
 * an allocation that is to end comes to its end.
 */

const answersTo = (effect: TaskEffect): TaskLifeEvent[] => {
  const attempt = 'attempt' in effect ? effect.attempt : 0;
  const fault = { kind: 'driver', message: 'no', recoverable: true } as const;
  return [
    { type: 'prepared' },
    { type: 'not_prepared', fault: { ...fault, kind: 'download' } },
    { type: 'not_prepared', fault: { ...fault, kind: 'setup', recoverable: false } },
    { type: 'started', attempt },
    { type: 'started', attempt: attempt - 1 },
    { type: 'not_started', attempt, fault },
    { type: 'not_started', attempt, fault: { ...fault, recoverable: false } },
    { type: 'found', attempt },
    { type: 'never_started', attempt },
    exited(attempt, 0),
    exited(attempt, 1),
    exited(attempt - 1, 1),
    { type: 'timer', timer: 1 },
  ];
};

/** For each effect in turn: which answers come, and after how many milliseconds. */
const hostility = fc.array(fc.array(fc.tuple(fc.nat(12), fc.nat(40_000)), { maxLength: 3 }), { maxLength: 40 });

const interference: fc.Arbitrary<AllocationEvent> = fc.constantFrom<AllocationEvent>(
  { type: 'restart', tasks: ['hostile'], reason: 'asked' },
  { type: 'restart', tasks: 'all', reason: 'asked' },
  { type: 'stop', cause: 'stopped', skipDelay: false },
  { type: 'stop', cause: 'stopped', skipDelay: true },
  { type: 'close' },
  { type: 'interrupt', within: 1000 },
);

function hostileScript(turns: readonly (readonly (readonly [number, number])[])[]): Script {
  const plain = plainScript({ good: { for: 60_000 } });
  let turn = 0;
  return (task, effect) => {
    if (task !== 'hostile') return plain(task, effect);
    const answers = turns[turn] ?? [];
    turn += 1;
    return answers.flatMap(([which, after]) => {
      const event = answersTo(effect)[which];
      return event === undefined ? [] : [{ after, event }];
    });
  };
}

const task = (Name: string, change: Record<string, unknown> = {}) => ({
  Name,
  Driver: 'raw_exec',
  Config: { command: '/bin/true' },
  KillTimeout: 5e9,
  RestartPolicy: { Attempts: 2, Interval: 600e9, Delay: 1e9, Mode: 'delay' },
  ...change,
});

it('ends an allocation whatever its driver does, and starts no task beside itself', () => {
  const job = jobFrom({
    Type: 'batch',
    TaskGroups: [{ Name: 'app', Tasks: [task('hostile', { ShutdownDelay: 2e9 }), task('good')] }],
  });
  fc.assert(
    fc.property(hostility, fc.array(fc.tuple(fc.nat(90_000), interference), { maxLength: 4 }), (turns, events) => {
      const play = new AllocationPlay(job, { script: hostileScript(turns), shutdownDelay: 3000 });
      for (const [after, event] of events) {
        play.advance(after);
        play.handle(event);
      }
      play.handle({ type: 'stop', cause: 'stopped', skipDelay: false });
      // Group delay, task delay, kill timeout and twice the patience with the driver; restarts of the good task end with it.
      play.advance(3000 + 2000 + 5000 + 2 * 15_000 + 30_000);
      expect(play.isAtRest).toBe(true);
      const starts = play.asked
        .filter((line) => line.includes('hostile start'))
        .map((line) => Number(line.split(' ')[3]));
      expect(starts).toEqual(starts.map((_, at) => at + 1));
    }),
    { numRuns: 300 },
  );
});

it('leaves the other tasks of the group as they are while a hostile one misbehaves', () => {
  const job = jobFrom({
    Type: 'batch',
    TaskGroups: [
      {
        Name: 'app',
        Tasks: [
          task('hostile', { RestartPolicy: { Attempts: 1000, Interval: 1e15, Delay: 1e9, Mode: 'delay' } }),
          task('good'),
        ],
      },
    ],
  });
  fc.assert(
    fc.property(hostility, (turns) => {
      const play = new AllocationPlay(job, { script: hostileScript(turns) });
      play.advance(59_999);
      const hostile = play.life.tasks[0]?.record.outcome;
      // Only the documented consequence of a task that failed for good may reach the other one.
      if (hostile === 'failed') return;
      expect(play.stateOf('good')).toMatchObject({ State: 'running', Restarts: 0 });
      play.advance(1);
      expect(play.stateOf('good')).toMatchObject({ State: 'dead', Failed: false });
    }),
    { numRuns: 300 },
  );
});
