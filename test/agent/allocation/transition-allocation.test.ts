import { describe, expect, it } from 'vitest';
import type { TaskRecord } from '../../../src/agent/task/task-life.js';
import type { Job } from '../../../src/jobs/document/job.js';
import { AllocationPlay, exited, type PlayOptions, plainScript, type Script } from '../../support/allocation-play.js';
import { jobFrom } from '../../support/jobs.js';

const second = 1e9;

interface TaskShape {
  readonly hook?: 'prestart' | 'poststart' | 'poststop';
  readonly sidecar?: boolean;
  readonly leader?: boolean;
  readonly shutdownDelay?: number;
  readonly attempts?: number;
}

function jobWith(tasks: Readonly<Record<string, TaskShape>>, type = 'batch'): Job {
  const Tasks = Object.entries(tasks).map(([Name, { hook, sidecar = false, leader = false, ...rest }]) => ({
    Name,
    Driver: 'raw_exec',
    Config: { command: '/bin/true' },
    Leader: leader,
    KillTimeout: 5 * second,
    ShutdownDelay: (rest.shutdownDelay ?? 0) * second,
    RestartPolicy: { Attempts: rest.attempts ?? 0, Interval: 600 * second, Delay: second, Mode: 'fail' },
    ...(hook === undefined ? {} : { Lifecycle: { Hook: hook, Sidecar: sidecar } }),
  }));
  return jobFrom({ Type: type, TaskGroups: [{ Name: 'app', Tasks }] });
}

function play(tasks: Readonly<Record<string, TaskShape>>, options: PlayOptions = {}, type = 'batch'): AllocationPlay {
  return new AllocationPlay(jobWith(tasks, type), options);
}

/** The order in which tasks were started, signalled and killed, without moments and numbers. */
const order = (played: AllocationPlay): string[] =>
  played.asked.map((line) => line.replace(/^\d+ /, '').replace(/ \d+$/, ''));

describe('the order of tasks', () => {
  it('begins main tasks after prestart tasks and beside their sidecars, and poststart tasks after them', () => {
    const played = play(
      {
        main: {},
        before: { hook: 'prestart' },
        beside: { hook: 'prestart', sidecar: true },
        after: { hook: 'poststart' },
        last: { hook: 'poststop' },
      },
      { script: plainScript({ before: { for: 100 }, main: { for: 500 }, after: { for: 50 }, last: { for: 10 } }) },
    );
    played.advance(10_000);
    expect(played.asked).toEqual([
      '0 before start 1',
      '0 beside start 1',
      '100 main start 1',
      '100 after start 1',
      '600 beside signal 1',
      '600 last start 1',
    ]);
    expect(played.status).toBe('complete');
    expect(played.eventsOf('beside')).toContain('Main Tasks Dead');
  });

  it('begins main tasks only when the sidecars of prestart hooks have started', () => {
    const script = plainScript();
    const played = play(
      { main: {}, beside: { hook: 'prestart', sidecar: true } },
      {
        script: (task, effect) => {
          const slowly = task === 'beside' && effect.type === 'start';
          return script(task, effect).map((each) => (slowly ? { ...each, after: each.after + 300 } : each));
        },
      },
    );
    played.advance(1000);
    expect(played.asked).toEqual(['0 beside start 1', '300 main start 1']);
  });

  it('runs a poststart task of a main task that ended at once', () => {
    const played = play(
      { main: {}, after: { hook: 'poststart' } },
      { script: plainScript({ main: { for: 0 }, after: { for: 50 } }) },
    );
    played.advance(1000);
    expect(order(played)).toEqual(['main start', 'after start']);
    expect(played.status).toBe('complete');
  });

  it('fails the allocation by a prestart task that fails, and never begins the main task', () => {
    const played = play(
      {
        main: {},
        before: { hook: 'prestart' },
        beside: { hook: 'prestart', sidecar: true },
        last: { hook: 'poststop' },
      },
      { script: plainScript({ before: { for: 10, code: 1 }, last: { for: 10 } }) },
    );
    played.advance(60_000);
    expect(order(played)).toEqual(['before start', 'beside start', 'beside signal', 'last start']);
    expect(played.status).toBe('failed');
    expect(played.eventsOf('main')).toEqual(['Received', 'Sibling Task Failed', 'Killed']);
  });

  it('ends an allocation that is stopped while its prestart task runs', () => {
    const played = play({ main: {}, before: { hook: 'prestart' } });
    played.advance(100);
    expect(played.status).toBe('running');
    played.handle({ type: 'stop', cause: 'stopped', skipDelay: false });
    played.advance(100);
    expect(order(played)).toEqual(['before start', 'before signal']);
    expect(played.status).toBe('complete');
  });

  it('runs no poststop task when nothing had started', () => {
    const script = plainScript();
    const played = play(
      { main: {}, last: { hook: 'poststop' } },
      {
        script: (task, effect) =>
          effect.type === 'start'
            ? [
                {
                  after: 0,
                  event: {
                    type: 'not_started',
                    attempt: effect.attempt,
                    fault: { kind: 'driver', message: 'no', recoverable: false },
                  },
                },
              ]
            : script(task, effect),
      },
    );
    played.advance(1000);
    expect(order(played)).toEqual(['main start']);
    expect([played.status, played.stateOf('last')?.State]).toEqual(['failed', 'dead']);
  });

  it('takes the others with a leader that ends', () => {
    const played = play({ main: { leader: true }, follower: {} }, { script: plainScript({ main: { for: 1000 } }) });
    played.advance(60_000);
    expect(played.eventsOf('follower')).toEqual([
      'Received',
      'Task Setup',
      'Started',
      'Leader Task Dead',
      'Killing',
      'Terminated',
      'Killed',
    ]);
    expect(played.status).toBe('complete');
  });

  it('stops the leader first, then the others, then the sidecars', () => {
    const script = plainScript();
    const slowly: Script = (task, effect) => script(task, effect).map((each) => ({ ...each, after: 100 }));
    const played = play(
      { side: { hook: 'prestart', sidecar: true }, other: {}, main: { leader: true }, last: { hook: 'poststop' } },
      { script: slowly },
    );
    played.advance(1000);
    played.handle({ type: 'stop', cause: 'stopped', skipDelay: false });
    played.advance(60_000);
    expect(order(played).slice(3)).toEqual(['main signal', 'other signal', 'side signal', 'last start']);
  });
});

describe('restarts', () => {
  it('follow the policy, and then take the siblings with them', () => {
    const played = play({ main: { attempts: 2 }, other: {} }, { script: plainScript({ main: { for: 10, code: 3 } }) });
    played.advance(60_000);
    expect(played.asked).toEqual([
      '0 main start 1',
      '0 other start 1',
      '1010 main start 2',
      '2020 main start 3',
      '2030 other signal 1',
    ]);
    expect(played.stateOf('main')).toMatchObject({ State: 'dead', Failed: true, Restarts: 2 });
    expect(played.status).toBe('failed');
  });

  it('that were asked for do not count, and leave the other tasks alone', () => {
    const played = play({ main: {}, other: {} }, {}, 'service');
    played.advance(10);
    for (let n = 0; n < 5; n += 1) {
      played.handle({ type: 'restart', tasks: ['main'], reason: 'User requested running tasks to restart' });
      played.advance(1000);
    }
    expect(played.stateOf('main')).toMatchObject({ State: 'running', Restarts: 5 });
    expect(played.stateOf('other')).toMatchObject({ State: 'running', Restarts: 0 });
    expect(played.eventsOf('main').slice(-4)).toEqual(['Restart Signaled', 'Terminated', 'Restarting', 'Started']);
  });

  it('of all tasks begin again with the prestart tasks', () => {
    const played = play(
      { main: {}, before: { hook: 'prestart' }, last: { hook: 'poststop' } },
      { script: plainScript({ before: { for: 10 } }) },
      'service',
    );
    played.advance(1000);
    played.handle({ type: 'restart', tasks: 'all', reason: 'asked' });
    played.advance(1000);
    expect(order(played)).toEqual(['before start', 'main start', 'main signal', 'before start', 'main start']);
    expect(played.status).toBe('running');
  });
});

describe('a restart of all tasks', () => {
  const everyKind: Readonly<Record<string, TaskShape>> = {
    before: { hook: 'prestart' },
    beside: { hook: 'prestart', sidecar: true },
    main: {},
    after: { hook: 'poststart' },
    along: { hook: 'poststart', sidecar: true },
    last: { hook: 'poststop' },
  };
  const runs = { before: { for: 100 }, after: { for: 10 } };
  const restartAll = { type: 'restart', tasks: 'all', reason: 'asked' } as const;
  const firstStart = ['before start', 'beside start', 'main start', 'after start', 'along start'];

  const recordsOf = ({ life }: AllocationPlay) =>
    Object.fromEntries(life.plan.tasks.map(({ name }, at) => [name, life.tasks[at]?.record as TaskRecord]));

  it('has the order of a first start', () => {
    const played = play(everyKind, { script: plainScript(runs) }, 'service');
    played.advance(1000);
    expect(order(played)).toEqual(firstStart);
    const begun = played.asked.length;
    played.handle(restartAll);
    played.advance(1000);
    expect(order(played).slice(begun)).toEqual(['main signal', 'beside signal', 'along signal', ...firstStart]);
    expect(played.asked.slice(begun + 3)).toEqual([
      ...[
        '1000 before start 2',
        '1000 beside start 2',
        '1100 main start 2',
        '1100 after start 2',
        '1100 along start 2',
      ],
    ]);
    expect(played.status).toBe('running');
    const states = Object.keys(everyKind).map((task) => played.stateOf(task)?.State);
    expect(states).toEqual(['dead', 'running', 'running', 'dead', 'running', 'pending']);
    played.handle({ type: 'stop', cause: 'stopped', skipDelay: true });
    played.advance(1000);
    expect(order(played).slice(-1)).toEqual(['last start']);
  });

  it('starts poststart tasks only when the main tasks have started again', () => {
    let answers = true;
    const script = plainScript(runs);
    const slow: Script = (task, effect) =>
      task === 'main' && effect.type === 'start' && !answers ? [] : script(task, effect);
    const played = play(everyKind, { script: slow }, 'service');
    played.advance(1000);
    answers = false;
    const begun = played.asked.length;
    played.handle(restartAll);
    played.advance(5000);
    expect(order(played).slice(begun + 3)).toEqual(['before start', 'beside start', 'main start']);
    played.handle({ type: 'task', task: 'main', event: { type: 'started', attempt: 2 } });
    played.advance(1000);
    expect(order(played).slice(begun + 6)).toEqual(['after start', 'along start']);
  });

  it('starts nothing but poststop tasks after a prestart task that fails', () => {
    const script = plainScript(runs);
    const failsAgain: Script = (task, effect) =>
      task === 'before' && effect.type === 'start' && effect.attempt > 1
        ? plainScript({ before: { for: 100, code: 1 } })(task, effect)
        : script(task, effect);
    const played = play(everyKind, { script: failsAgain }, 'service');
    played.advance(1000);
    const begun = played.asked.length + 3;
    played.handle(restartAll);
    played.advance(1000);
    expect(order(played).slice(begun)).toEqual(['before start', 'beside start', 'beside signal', 'last start']);
    expect(played.stateOf('main')?.State).toBe('dead');
  });

  it('that cannot even set up its first task runs the poststop tasks, since the tasks had started before', () => {
    const script = plainScript(runs);
    const fault = { kind: 'setup', message: 'no room', recoverable: false } as const;
    const unprepared: Script = (task, effect) =>
      effect.type === 'prepare' && effect.again && task !== 'last'
        ? [{ after: 0, event: { type: 'not_prepared', fault } }]
        : script(task, effect);
    const played = play({ before: { hook: 'prestart' }, main: {}, last: { hook: 'poststop' } }, { script: unprepared });
    played.advance(1000);
    played.handle(restartAll);
    played.advance(1000);
    expect(order(played)).toEqual(['before start', 'main start', 'main signal', 'last start']);
  });

  it('waits for the end of a poststop task that runs, and runs it again at the end', () => {
    const script = plainScript({ main: { for: 10 }, last: { for: 500 } });
    const played = play({ main: {}, last: { hook: 'poststop' } }, { script });
    played.advance(100);
    played.handle(restartAll);
    played.advance(5000);
    expect(played.asked).toEqual(['0 main start 1', '10 last start 1', '510 main start 2', '520 last start 2']);
    expect(played.status).toBe('complete');
  });

  it.each([0, 1000, 1100, 1150, 2000, 2100, 2105, 3000])(
    'is finished by the next agent when the agent is killed %d ms after it was asked for',
    (after) => {
      const script = plainScript(runs);
      // Main tasks take a second to end.
      const slow: Script = (task, effect) =>
        task === 'main' && effect.type === 'signal'
          ? [{ after: 1000, event: exited(effect.attempt, 0) }]
          : script(task, effect);
      const first = play(everyKind, { script: slow }, 'service');
      first.advance(1000);
      first.handle(restartAll);
      first.advance(after);
      const records = recordsOf(first);
      // A process that runs is found, and runs on as it would have.
      const found: Script = (task, effect) =>
        effect.type === 'recover'
          ? [
              { after: 0, event: { type: 'found', attempt: effect.attempt } },
              ...(task === 'before' || task === 'after' ? [{ after: 5, event: exited(effect.attempt, 0) }] : []),
            ]
          : slow(task, effect);
      const second = play(everyKind, { script: found, records }, 'service');
      second.advance(10_000);
      expect(second.status).toBe('running');
      const states = Object.keys(everyKind).map((task) => second.stateOf(task)?.State);
      expect(states).toEqual(['dead', 'running', 'running', 'dead', 'running', 'pending']);
      const starts = [...order(first), ...order(second)].filter((line) => line.endsWith(' start'));
      expect(starts.filter((line) => line === 'main start')).toHaveLength(2);
      expect(starts.lastIndexOf('after start')).toBeGreaterThan(starts.lastIndexOf('main start'));
      expect(starts.lastIndexOf('main start')).toBeGreaterThan(starts.lastIndexOf('before start'));
    },
  );

  it('is given up when the allocation is stopped', () => {
    const script = plainScript(runs);
    const slow: Script = (task, effect) =>
      task === 'main' && effect.type === 'signal'
        ? [{ after: 1000, event: exited(effect.attempt, 0) }]
        : script(task, effect);
    const played = play(everyKind, { script: slow }, 'service');
    played.advance(1000);
    played.handle(restartAll);
    played.advance(100);
    played.handle({ type: 'stop', cause: 'stopped', skipDelay: true });
    played.advance(5000);
    expect(played.status).toBe('running');
    expect(order(played).slice(-1)).toEqual(['last start']);
    const next = play(everyKind, { script: slow, records: recordsOf(played) }, 'service');
    next.advance(1000);
    expect(order(next)).toEqual(['last recover']);
  });
});

describe('the end of a task', () => {
  it('waits the delays, asks, and then kills', () => {
    const script = plainScript();
    const played = play(
      { main: { shutdownDelay: 3 } },
      {
        shutdownDelay: 2000,
        script: (task, effect) => (effect.type === 'signal' ? [] : script(task, effect)),
      },
    );
    played.advance(1000);
    played.handle({ type: 'stop', cause: 'stopped', skipDelay: false });
    played.advance(60_000);
    expect(played.asked).toEqual(['0 main start 1', '6000 main signal 1', '11000 main destroy 1']);
    expect(played.eventsOf('main').slice(3)).toEqual(['Waiting for shutdown delay', 'Killing', 'Terminated', 'Killed']);
  });

  it('leaves out the delays when asked to, also those that have begun', () => {
    const played = play({ main: { shutdownDelay: 30 } }, { shutdownDelay: 30_000 });
    played.advance(1000);
    played.handle({ type: 'stop', cause: 'stopped', skipDelay: false });
    played.advance(1000);
    played.handle({ type: 'stop', cause: 'stopped', skipDelay: true });
    played.advance(1000);
    expect(played.asked.at(-1)).toBe('2000 main signal 1');
    expect(played.status).toBe('complete');
  });

  it.each<[string, Readonly<Record<string, TaskShape>>, PlayOptions, string, string]>([
    ['a batch task', { main: {} }, {}, 'batch', 'Stopped before its tasks had completed'],
    [
      'a batch task before its start',
      { first: { hook: 'prestart' }, main: {} },
      {},
      'batch',
      'Stopped before its tasks had completed',
    ],
    ['a service', { main: {} }, {}, 'service', 'All tasks have completed'],
    [
      'a sidecar whose main task had completed',
      { main: {}, side: { hook: 'prestart', sidecar: true } },
      { script: (task, effect) => (effect.type === 'signal' ? [] : plainScript({ main: { for: 100 } })(task, effect)) },
      'batch',
      'All tasks have completed',
    ],
    [
      'a task whose leader had completed',
      { main: { leader: true }, other: {} },
      { script: (task, effect) => (effect.type === 'signal' ? [] : plainScript({ main: { for: 100 } })(task, effect)) },
      'batch',
      'All tasks have completed',
    ],
  ])('by a stop is described as such: %s', (_name, tasks, options, type, description) => {
    const played = play(tasks, options, type);
    played.advance(1000);
    played.handle({ type: 'stop', cause: 'stopped', skipDelay: false });
    played.advance(60_000);
    expect([played.status, played.description]).toEqual(['complete', description]);
  });

  it('comes by the run limit, and is no failure', () => {
    const played = play({ main: { attempts: 3 } });
    played.advance(1000);
    played.handle({ type: 'stop', cause: 'expired', skipDelay: true });
    played.advance(1000);
    expect([played.status, played.stateOf('main')?.Failed]).toEqual(['complete', false]);
    expect(played.eventsOf('main').slice(3)).toEqual(['Killing', 'Terminated', 'Killed']);
  });

  it('comes by the run limit while the others of a failed task still end, and is no failure either', () => {
    const script = plainScript({ main: { for: 10, code: 1 } });
    const played = play(
      { main: {}, other: {} },
      { script: (task, effect) => (task === 'other' && effect.type === 'signal' ? [] : script(task, effect)) },
    );
    played.advance(1000);
    expect([played.status, played.stateOf('main')?.Failed]).toEqual(['running', true]);
    played.handle({ type: 'stop', cause: 'expired', skipDelay: true });
    played.advance(60_000);
    expect(played.status).toBe('complete');
  });

  it('comes where the node has lost the server, and is a failure of what was not finished', () => {
    const played = play({ main: {} });
    played.advance(1000);
    played.handle({ type: 'stop', cause: 'cut_off', skipDelay: true });
    played.advance(1000);
    expect([played.status, played.stateOf('main')?.Failed]).toEqual(['failed', false]);
    const tidying = play(
      { main: {}, beside: { hook: 'prestart', sidecar: true } },
      {
        script: (task, effect) => (effect.type === 'signal' ? [] : plainScript({ main: { for: 100 } })(task, effect)),
      },
    );
    tidying.advance(1000);
    tidying.handle({ type: 'stop', cause: 'cut_off', skipDelay: true });
    tidying.advance(60_000);
    expect([tidying.stateOf('beside')?.State, tidying.status]).toEqual(['dead', 'complete']);
  });
});

describe('an agent that goes', () => {
  it('begins nothing more, lets what runs finish, and leaves the rest to the next one', () => {
    const played = play(
      { before: { hook: 'prestart' }, main: {}, last: { hook: 'poststop' } },
      { script: plainScript({ before: { for: 500 } }) },
    );
    played.advance(100);
    played.handle({ type: 'close' });
    expect(played.isAtRest).toBe(false);
    played.advance(1000);
    expect(played.isAtRest).toBe(true);
    expect(order(played)).toEqual(['before start']);
    expect(played.life.tasks.map(({ record }) => record.outcome)).toEqual(['succeeded', null, null]);
    expect(played.status).toBe('pending');
  });

  it('breaks off what does not finish, and notes no end', () => {
    const played = play({ main: { attempts: 1 } }, {}, 'service');
    played.advance(100);
    played.handle({ type: 'interrupt', within: 1000 });
    played.advance(2000);
    expect(played.eventsOf('main')).toEqual(['Received', 'Task Setup', 'Started', 'Interrupted']);
    expect(played.life.tasks[0]?.record).toMatchObject({
      attempt: 1,
      endedAttempt: 1,
      outcome: null,
      counted: { count: 0 },
    });
  });

  it('comes back to tasks that went on', () => {
    const first = play({ main: {} });
    first.advance(100);
    const record = first.life.tasks[0]?.record;
    const second = play({ main: {} }, record === undefined ? {} : { records: { main: record } });
    second.advance(100);
    expect(second.asked).toEqual(['0 main recover 1']);
    expect(second.eventsOf('main')).toEqual(['Received', 'Task Setup', 'Started', 'Reconnected']);
  });

  it('tells the start of a task that began and ended while it was away', () => {
    const first = play(
      { main: {} },
      { script: (_task, effect) => (effect.type === 'prepare' ? [{ after: 0, event: { type: 'prepared' } }] : []) },
    );
    first.advance(100);
    const record = first.life.tasks[0]?.record;
    const script = plainScript();
    const second = play(
      { main: {} },
      {
        ...(record === undefined ? {} : { records: { main: record } }),
        script: (task, effect) =>
          effect.type === 'recover' ? [{ after: 0, event: exited(effect.attempt, 0) }] : script(task, effect),
      },
    );
    second.advance(100);
    expect(second.eventsOf('main')).toEqual(['Received', 'Task Setup', 'Started', 'Terminated']);
    expect(second.stateOf('main')?.StartedAt).not.toBeNull();
    expect(second.status).toBe('complete');
  });
});
