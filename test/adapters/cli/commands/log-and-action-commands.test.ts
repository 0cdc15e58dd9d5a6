import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { orThrow } from '../../../../src/client/index.js';
import { signalbox, temporaryFolder } from '../cli-process.js';
import { servedCommands } from '../served-commands.js';

/** Commands for what the tasks of a job write and can do, against a server with a real runner. */

const served = servedCommands();
const { run, given } = served;

interface TaskInput {
  readonly script: string;
  readonly actions?: Readonly<Record<string, string>>;
}

function groupOf(name: string, tasks: Readonly<Record<string, TaskInput>>) {
  return {
    Name: name,
    RestartPolicy: { Attempts: 0, Mode: 'fail' as const },
    ReschedulePolicy: { Attempts: 0, Unlimited: false },
    Tasks: Object.entries(tasks).map(([Name, { script, actions = {} }]) => ({
      Name,
      Driver: 'raw_exec',
      Config: { command: '/bin/sh', args: ['-c', script] },
      Resources: { CPU: 20, MemoryMB: 16 },
      Actions: Object.entries(actions).map(([action, text]) => ({
        Name: action,
        Command: '/bin/sh',
        Args: ['-c', text],
      })),
    })),
  };
}

async function register(id: string, groups: readonly ReturnType<typeof groupOf>[], more = {}): Promise<void> {
  await orThrow(
    served.box.jobs.register({ ID: id, Type: 'batch', Datacenters: ['*'], TaskGroups: [...groups], ...more }),
  );
}

/** Waits until an allocation of the job has the status; gives its ID. */
async function reached(job: string, status: string): Promise<string> {
  for (let waiting = {}; ; ) {
    const { value, index } = await orThrow(served.box.jobs.allocations(job, waiting));
    const found = value?.find(({ ClientStatus }) => ClientStatus === status);
    if (found !== undefined) return found.ID;
    waiting = { index, wait: '10s' };
  }
}

/** Waits until each of the groups has one allocation of the kind. */
async function counted(job: string, kind: 'Running' | 'Complete', groups: readonly string[]): Promise<void> {
  for (let waiting = {}; ; ) {
    const { value, index } = await orThrow(served.box.jobs.summary(job, waiting));
    if (groups.every((group) => value?.Summary[group]?.[kind] === 1)) return;
    waiting = { index, wait: '10s' };
  }
}

describe('job logs', () => {
  it('shows what the newest allocation has written, or its end', async () => {
    await register('count', [groupOf('g', { main: { script: 'seq 1 2000; printf "no end"; echo oops >&2' } })]);
    await reached('count', 'complete');
    const all = await run('job', 'logs', 'count');
    expect(all).toMatchObject({ code: 0, error: '' });
    expect(all.out.split('\n')).toHaveLength(2001);
    expect((await run('job', 'logs', '-n', '3', 'count')).out).toBe('1999\n2000\nno end');
    expect((await run('job', 'logs', '-tail', 'count')).out.split('\n')).toHaveLength(10);
    expect((await run('job', 'logs', '-n', '1900', 'count', 'main')).out).toMatch(/^102\n.*no end$/s);
    expect((await run('job', 'logs', '-n', '5000', 'count')).out).toBe(all.out);
    expect((await run('job', 'logs', '-c', '6', 'count')).out).toBe('no end');
    expect((await run('job', 'logs', '-stderr', '-task', 'main', 'count')).out).toBe('oops\n');
    // What has ended is followed to its end.
    expect((await run('job', 'logs', '-f', 'count')).out).toBe(all.out);
    expect((await run('job', 'logs', '-f', '-n', '2', 'count')).out).toBe('2000\nno end');
    expect((await run('job', 'logs', '-f', '-n', '0', 'count')).out).toBe('');
  });

  it('shows what all allocations write, each line behind whose it is', async () => {
    const go = join(temporaryFolder(), 'all-go');
    const late = `until [ -e '${go}' ]; do sleep 0.05; done; echo late`;
    const one = groupOf('a', {
      main: { script: `echo first; ${late}; echo bad >&2` },
      side: { script: 'printf side' },
    });
    await register('many', [one, groupOf('b', { main: { script: `echo second; ${late}` } })]);
    await counted('many', 'Running', ['a', 'b']);
    const onOutput = (out: string): void => {
      if (out.includes('first') && out.includes('second') && !existsSync(go)) writeFileSync(go, '');
    };
    const followed = await given({ onOutput }, 'job', 'logs', '-all', '-f', 'many');
    const inOrder = (out: string) =>
      out
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(9))
        .sort();
    expect(inOrder(followed.out)).toEqual(['main: first', 'main: late', 'main: late', 'main: second', 'side: side']);
    expect(followed.out).toMatch(/^(\w{8} (main|side): \w+\n){5}$/);
    expect(inOrder((await run('job', 'logs', '-all', 'many')).out)).toEqual(inOrder(followed.out));
    expect(inOrder((await run('job', 'logs', '-all', '-group', 'b', '-n', '1', 'many')).out)).toEqual(['main: late']);
    expect(inOrder((await run('job', 'logs', '-all', '-stderr', 'many', 'main')).out)).toEqual(['main: bad']);
    expect((await run('job', 'logs', '-all', 'many', 'none')).error).toContain('has no task none');
  });

  it('follows a task that is yet to be placed, until it ends', async () => {
    const go = join(temporaryFolder(), 'go');
    await register('parent', [], {
      TaskGroups: [
        groupOf('g', {
          main: { script: `echo begun; until [ -e '${go}' ]; do sleep 0.05; done; echo more; printf last; exit 3` },
        }),
      ],
      ParameterizedJob: {},
    });
    expect(await run('job', 'logs', 'parent')).toMatchObject({
      code: 1,
      error: 'signalbox: job parent has not been launched yet\n',
    });
    await orThrow(served.box.jobs.dispatch('parent', {}));
    const onOutput = (out: string): void => {
      if (out === 'begun\n' && !existsSync(go)) writeFileSync(go, '');
    };
    const followed = await given({ onOutput }, 'job', 'logs', '-f', 'parent');
    expect(followed).toEqual({ code: 0, out: 'begun\nmore\nlast', error: '' });
  });

  it('follows an allocation from its last lines, and ends when nothing was written', async () => {
    const go = join(temporaryFolder(), 'go-on');
    await register('long', [
      groupOf('g', { main: { script: `seq 1 3000; until [ -e '${go}' ]; do sleep 0.05; done; echo more` } }),
    ]);
    const id = await reached('long', 'running');
    await expect.poll(async () => (await run('job', 'logs', '-n', '1', 'long')).out).toBe('3000\n');
    const onOutput = (out: string): void => {
      if (out.endsWith('3000\n') && !existsSync(go)) writeFileSync(go, '');
    };
    const followed = await given({ onOutput }, 'alloc', 'logs', '-f', '-n', '2', id.slice(0, 8));
    expect(followed).toEqual({ code: 0, out: '2999\n3000\nmore\n', error: '' });
    expect(await run('alloc', 'logs', '-f', '-stderr', id)).toEqual({ code: 0, out: '', error: '' });
  });

  it('ends without a word when nobody reads it any more', async () => {
    await register('chatty', [groupOf('g', { main: { script: 'while :; do echo line; sleep 0.05; done' } })]);
    await reached('chatty', 'running');
    const child = signalbox(['job', 'logs', '-f', 'chatty'], { SIGNALBOX_ADDR: served.origin });
    await child.printed(/(line)/);
    child.process.stdout?.destroy();
    expect(await child.ended).toEqual({ code: 141, signal: null });
    expect(child.error()).toBe('');
    await orThrow(served.box.jobs.stop('chatty', {}));
  });

  it('asks for the task or the group when it is not clear', async () => {
    await register('two', [
      groupOf('a', { one: { script: 'echo from a/one' }, two: { script: 'echo from a/two' } }),
      groupOf('b', { one: { script: 'echo from b/one' } }),
    ]);
    await counted('two', 'Complete', ['a', 'b']);
    expect(await run('job', 'logs', 'two')).toMatchObject({
      code: 2,
      error: expect.stringMatching(/name one of its tasks: one, two/),
    });
    expect((await run('job', 'logs', 'two', 'two')).out).toBe('from a/two\n');
    expect((await run('job', 'logs', '-group', 'b', 'two')).out).toBe('from b/one\n');
    expect((await run('job', 'logs', '-group', 'a', '-task', 'one', 'two')).out).toBe('from a/one\n');
    expect((await run('job', 'logs', '-group', 'c', 'two')).error).toBe('signalbox: job two has no group c: a, b\n');
    expect((await run('job', 'logs', 'two', 'three')).error).toBe('signalbox: job two has no task three: one, two\n');
    expect((await run('job', 'logs', '-task', 'one', 'two', 'two')).code).toBe(2);
    expect((await run('job', 'logs', '-n', '1', '-c', '1', 'two', 'two')).code).toBe(2);
    expect((await run('job', 'logs', '-json', 'two', 'two')).error).toMatch(/unknown option --json/);
    expect((await run('job', 'logs', 'nowhere')).error).toBe('signalbox: there is no job nowhere\n');
  });
});

describe('job action', () => {
  beforeAll(async () => {
    const actions = { greet: 'cat; echo "hello from $NOMAD_TASK_NAME"; exit 4', size: 'read x; stty size' };
    await register('acts', [
      groupOf('a', { main: { script: 'exec sleep 1000', actions }, side: { script: 'exec sleep 1000', actions } }),
      groupOf('b', { main: { script: 'exec sleep 1000', actions: { only: 'echo here' } } }),
    ]);
    await counted('acts', 'Running', ['a', 'b']);
  });

  it('lists the actions of a job', async () => {
    const { code, out } = await run('job', 'action', 'acts');
    expect(code).toBe(0);
    expect(out).toMatch(/^Action +Group +Task +Command\ngreet +a +main +\/bin\/sh -c cat/);
    expect(out.trim().split('\n')).toHaveLength(6);
    expect(JSON.parse((await run('job', 'action', '-json', '-group', 'b', 'acts')).out)).toMatchObject([
      { Name: 'only', TaskName: 'main', TaskGroupName: 'b' },
    ]);
  });

  it('runs one, with input, output and exit code', async () => {
    expect(await run('job', 'action', 'acts', 'only')).toEqual({ code: 0, out: 'here\n', error: '' });
    expect(await run('job', 'action', '-task', 'side', 'acts', 'greet')).toEqual({
      code: 4,
      out: 'hello from side\n',
      error: '',
    });
    const input = ['told\n'];
    const greeted = await given({ input }, 'job', 'action', '-i', '-task', 'main', '-group', 'a', 'acts', 'greet');
    expect(greeted).toEqual({ code: 4, out: 'told\nhello from main\n', error: '' });
    const keyboard = {
      setRaw: () => undefined,
      size: () => ({ rows: 31, columns: 97 }),
      onResize: () => () => undefined,
    };
    const sized = await given({ keyboard, input: ['\n'] }, 'job', 'action', '-t', '-task', 'main', 'acts', 'size');
    expect(sized).toMatchObject({ code: 0, out: expect.stringContaining('31 97') });
  });

  it('runs it in the allocation that is named', async () => {
    const [allocation] =
      (await orThrow(served.box.jobs.allocations('acts'))).value?.filter(({ TaskGroup }) => TaskGroup === 'b') ?? [];
    const id = allocation?.ID ?? '';
    expect((await run('job', 'action', '-alloc', id.slice(0, 8), 'acts', 'only')).out).toBe('here\n');
    const other = await run('job', 'action', '-alloc', id, '-task', 'side', 'acts', 'greet');
    expect(other).toMatchObject({ code: 1, error: expect.stringContaining('task side not found in allocation') });
  });

  it('says what it lacks', async () => {
    expect(await run('job', 'action', 'acts', 'greet')).toMatchObject({
      code: 2,
      error: 'signalbox: name one with --task or --group: main of group a, side of group a\n',
    });
    expect((await run('job', 'action', 'acts', 'dance')).error).toBe(
      'signalbox: job acts has no action dance; it has greet, size, only\n',
    );
    expect((await run('job', 'action', 'count', 'dance')).error).toBe('signalbox: job count has no action dance\n');
    expect((await run('job', 'action', 'nowhere')).error).toBe('signalbox: there is no job nowhere\n');
    expect((await run('job', 'action', '-json', 'acts', 'only')).code).toBe(2);
    await orThrow(served.box.jobs.stop('acts', {}));
    await reached('acts', 'complete');
    await expect
      .poll(async () => (await run('job', 'action', 'acts', 'only')).error)
      .toBe('signalbox: no allocation of group b of job acts is running\n');
  });
});
