import { beforeEach, describe, expect, it } from 'vitest';
import type { Keyboard } from '../../../../adapters/cli/terminal.js';
import { orThrow } from '../../../../src/client/index.js';
import type { AllocationListStub } from '../../../../src/scheduler/index.js';
import { servedCommands } from '../served-commands.js';

/** `job restart` against a server with a runner; a job of two groups, one with two allocations. */

const served = servedCommands();
const { run, given } = served;

const keyboard: Keyboard = {
  setRaw: () => undefined,
  size: () => ({ rows: 24, columns: 80 }),
  onResize: () => () => undefined,
};

const forever = "trap 'exit 0' TERM INT; while true; do sleep 0.1; done";

function groupOf(name: string, count: number, tasks: Readonly<Record<string, string>>) {
  return {
    Name: name,
    Count: count,
    Update: null,
    RestartPolicy: { Attempts: 0, Mode: 'fail' as const },
    ReschedulePolicy: { Attempts: 0, Unlimited: false },
    Tasks: Object.entries(tasks).map(([Name, script]) => ({
      Name,
      Driver: 'raw_exec',
      Config: { command: '/bin/sh', args: ['-c', script] },
      Resources: { CPU: 20, MemoryMB: 16 },
    })),
  };
}

let number = 0;
let job = '';

beforeEach(async () => {
  number += 1;
  job = `job-${number}`;
});

async function register(...groups: readonly ReturnType<typeof groupOf>[]): Promise<void> {
  await orThrow(
    served.box.jobs.register({ ID: job, Type: 'service', Datacenters: ['*'], TaskGroups: [...groups] } as never),
  );
  const wanted = groups.reduce((sum, { Count, Tasks }) => sum + Count * Tasks.length, 0);
  for (let waiting = {}; ; ) {
    const { value, index } = await orThrow(served.box.jobs.allocations(job, waiting));
    if (value?.flatMap(runningTasks).length === wanted) return;
    waiting = { index, wait: '10s' };
  }
}

/** The tasks of an allocation that run. Its own status says only that one of them does. */
const runningTasks = ({ TaskStates }: AllocationListStub) =>
  Object.values(TaskStates ?? {}).filter(({ State }) => State === 'running');

/** How often each task was restarted, by group: one text for each allocation that is wanted, in the order of their names. */
async function restarts(group: string): Promise<readonly string[]> {
  const { value } = await orThrow(served.box.jobs.allocations(job));
  return (value ?? [])
    .filter(({ TaskGroup, DesiredStatus }) => TaskGroup === group && DesiredStatus === 'run')
    .sort((a, b) => (a.Name < b.Name ? -1 : 1))
    .map(({ TaskStates }) =>
      Object.entries(TaskStates ?? {})
        .map(([name, { Restarts }]) => `${name} ${Restarts}`)
        .sort()
        .join(', '),
    );
}

describe('job restart', () => {
  it('restarts everything that runs, one allocation after the other', async () => {
    await register(groupOf('web', 2, { main: forever, side: forever }), groupOf('db', 1, { main: forever }));
    const { code, out, error } = await run('job', 'restart', job);
    expect([code, error]).toEqual([0, '']);
    expect(out).toMatch(
      new RegExp(
        `^3 allocations of job ${job} in 3 batches\nbatch 1 of 3: \\w{8}\n  allocation \\w{8} runs again\nbatch 2`,
      ),
    );
    expect(out).toMatch(/\n3 allocations restarted, 0 failed, 0 unchanged\n$/);
    expect(await restarts('web')).toEqual(['main 1, side 1', 'main 1, side 1']);
    expect(await restarts('db')).toEqual(['main 1']);
  });

  it('restarts one task of one group, all at once', async () => {
    await register(groupOf('web', 2, { main: forever, side: forever }), groupOf('db', 1, { main: forever }));
    const { code, out, error } = await run('job', 'restart', '-group=web', '-task=side', '-batch-size=100%', job);
    expect([code, error]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`^2 allocations of job ${job} in 1 batch\n`));
    expect(await restarts('web')).toEqual(['main 0, side 1', 'main 0, side 1']);
    expect(await restarts('db')).toEqual(['main 0']);
  });

  it('replaces allocations by others, and tells it as JSON', async () => {
    await register(groupOf('web', 2, { main: forever }));
    const before = (await orThrow(served.box.jobs.allocations(job))).value?.map(({ ID }) => ID) ?? [];
    const { code, out } = await run('job', 'restart', '-reschedule', '-batch-wait', '1ms', '-json', job);
    expect(code).toBe(0);
    const answer = JSON.parse(out);
    expect(answer).toMatchObject({ Failed: [], Left: 0 });
    expect(answer.Restarted.map(({ ID }: { ID: string }) => ID).sort()).toEqual([...before].sort());
    for (const { NextAllocation } of answer.Restarted) {
      expect((await orThrow(served.box.allocations.read(NextAllocation))).value?.ClientStatus).toBe('running');
    }
  });

  it.each([
    ['fail', '0 allocations restarted, 1 failed, 1 unchanged'],
    ['continue', '0 allocations restarted, 2 failed, 0 unchanged'],
  ])('with -on-error %s: %s', async (what, outcome) => {
    await register(groupOf('web', 2, { main: forever }));
    const [node] = (await orThrow(served.box.nodes.list())).value.items;
    const id = node?.ID ?? '';
    await orThrow(served.box.nodes.setEligibility(id, 'ineligible'));
    const { code, out, error } = await run('job', 'restart', '-reschedule', '-on-error', what, job);
    await orThrow(served.box.nodes.setEligibility(id, 'eligible'));
    expect([code, out.split('\n').at(-2)]).toEqual([1, outcome]);
    expect(error).toMatch(/^ {2}allocation \w{8} is not replaced: .*\S\n/);
  });

  it('asks between batches, and goes on when told so', async () => {
    await register(groupOf('web', 2, { main: forever }));
    const words = ['job', 'restart', '-batch-wait=ask', job];
    const no = await given({ keyboard, input: ['n\n'] }, ...words);
    expect([no.code, no.error]).toEqual([1, 'continue with the next batch? [y/N] ']);
    expect(no.out).toMatch(/1 allocation restarted, 0 failed, 1 unchanged\n$/);
    expect((await given({ keyboard, input: ['y\n'] }, ...words)).code).toBe(0);
    expect((await run('job', 'restart', '-yes', '-batch-wait=ask', job)).code).toBe(0);
    expect((await run(...words)).error).toBe('signalbox: cannot prompt: stdin is not a terminal (use -yes)\n');
  });

  it.each([
    [['-task=a', '-all-tasks'], 2, 'give one of --task and --all-tasks'],
    [['-no-shutdown-delay'], 2, '--no-shutdown-delay needs --reschedule'],
    [['-on-error=shrug'], 2, '--on-error takes fail, continue or ask, not "shrug"'],
    [['-batch-size=0'], 2, '--batch-size takes a number'],
    [['-batch-wait=soon'], 2, '--batch-wait takes a duration such as 30s, not "soon"'],
    [['-group=none'], 1, 'has no group none'],
    [['-task=none'], 1, 'has no task none'],
  ])('%j is refused', async (options, code, message) => {
    await register(groupOf('web', 1, { main: forever }));
    const refused = await run('job', 'restart', ...options, job);
    expect(refused.code).toBe(code);
    expect(refused.error).toContain(message);
    expect(await restarts('web')).toEqual(['main 0']);
  });

  it('tells that nothing runs', async () => {
    expect((await run('job', 'restart', 'nobody')).error).toBe('signalbox: there is no job nobody\n');
    await register(groupOf('web', 1, { main: forever }));
    await run('job', 'stop', job);
    expect((await run('job', 'restart', job)).error).toMatch(`signalbox: job ${job} has no running allocation\n`);
  });
});
